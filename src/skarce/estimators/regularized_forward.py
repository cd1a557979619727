"""Regularized forward selection."""

from __future__ import annotations

from typing import Any

from skarce._parameters import check_choice
from skarce.criteria import Criterion, OrthogonalGCV, SharedGCV
from skarce.estimators.forward_selection import ForwardRegressor

PENALTIES = ("weights", "orthogonal")


class RegularizedForwardRegressor(ForwardRegressor):
    r"""Forward selection by generalized cross validation, with one ridge for all weights.

    Each step adds the candidate that gives the smallest GCV error at the current ridge. Then the ridge moves to its best value for
    the new set [1]_. The result is the model with the smallest GCV error along the path.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    ridge : "gcv" or float, default="gcv"
        Weight of the penalty. ``"gcv"`` chooses it by GCV after each addition. A number fixes it, in the units of phi'phi: the sum
        of the squares of a candidate over the rows, about its mean if there is an intercept. A single function with phi'phi = ridge
        gets half of its least squares weight.
    penalize : {"weights", "orthogonal"}, default="weights"
        What the ridge penalizes. ``"weights"`` penalizes the squared weights. ``"orthogonal"`` penalizes the weights of the
        functions made orthogonal in the order in which they enter, as Orr's package does. The two give different models.
    patience : int, default=2
        The search ends after this many additions in a row that do not improve on the best model.
    n_basis : int or None, default=None
        Exact number of functions, whatever GCV says. With several targets, it applies to each target. The model has fewer functions
        only if the remaining candidates depend on those in the model. None lets GCV decide.
    size_prior : "auto" or None, default="auto"
        What happens if candidates are more than half as many as rows, and the model uses many degrees of freedom: more than half as
        many as rows if candidates are kernels, or a tenth if they are inputs. ``"auto"`` then compares the model with a few
        functions, which a search finds with a prior on the size of the set. If those are worth more, they are the only candidates.
        None keeps the model, as in the paper. So does `n_basis`.
    keep_path : bool, default=False
        Whether `with_n_basis` and `with_tol` can also return models larger than the final one, as far as the search went.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It uses one degree of freedom, and its uncertainty is part of the predictive std.
    tol : float, default=1e-4
        Smallest relative reduction of GCV that counts as an improvement.
    max_iter : int, default=100000
        Maximum number of steps. A ConvergenceWarning is issued if it is reached.
    max_active : int or None, default=None
        Maximum number of basis functions. With several targets, the limit applies to each target.
    max_time : float or None, default=None
        Time limit in seconds. The best model so far is returned with a ConvergenceWarning.
    weights : {"counts", "relative"}, default="counts"
        What `sample_weight` means. With ``"counts"``, weight 2 equals the same row twice. With ``"relative"``, only ratios matter:
        weights are rescaled so that those of rows with positive weight have mean one.
    effective_samples : float, "auto" or None, default=None
        How many observations the rows are worth together, if they depend on each other. All weights are multiplied by one factor
        for that. None is the sum of the weights, and a number below 1 is a share of it. ``"auto"`` estimates the number from the
        autocorrelation of the residuals of a first fit; rows must be in order of time.
    calibrate_std : {"auto", True, False} or splitter, default="auto"
        Whether to scale the predictive std by what left-out rows say. True fits the model again on five parts of the rows, at the
        same candidates and widths, and scales the std by the root mean square of (target - prediction) / std over left-out rows.
        ``"auto"`` does so if kernels or widths were learned and there are at most 50,000 rows, or if the data determine more than a
        tenth as many weights as there are rows. A splitter of scikit-learn, or an iterable of (train, test) indices, says which
        rows to leave out.
    moments : {"auto", "whole", "columns"}, default="auto"
        How much of the Gram matrix of the candidates is computed. ``"whole"`` computes all of it. ``"columns"`` computes one column
        for each function that enters. ``"auto"`` decides by a cost model and the memory budget (a quarter of scikit-learn's
        ``working_memory``).
    verbose : int, default=0
        Verbosity level. 1 shows progress and prints a few lines, 2 also prints a line for every step.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, for the learning of kernel widths, and for samples of rows. Pass an int for reproducible
        landmarks and widths.

    Attributes
    ----------
    active_ : ndarray of shape (n_active,)
        Indices of the active functions among the candidates, in ascending order. With several targets, the functions that any
        target uses.
    coef_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Weight of each column of the basis, 0 if it is not in the model. Only available if the basis is not one of
        kernels.
    coef_std_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Standard deviation of each of these weights, 0 if a column is not in the model. Only available if the basis is not one of
        kernels.
    dual_coef_ : ndarray of shape (n_active,) or (n_outputs, n_active)
        Weights of the kernels in the model. A weight is 0 if a target does not use the kernel. Only available if the basis is one
        of kernels.
    intercept_ : float or ndarray of shape (n_outputs,)
        Constant of the model. 0.0 if ``fit_intercept=False``.
    weight_precision_ : ndarray of shape (n_active,) or (n_outputs, n_active)
        Precision of the weights: ridge / noise variance, the same for all. With ``penalize="orthogonal"``, that of the
        orthogonalized weights. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise: q / v, the squared error divided by the degrees of freedom left.
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate (with ``penalize="orthogonal"``, each orthogonalized weight), from
        0 (left out) to 1. With several targets, the largest value over the targets.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Generalized cross validation error V = N q / v^2 of the model, in the units of the squared target, summed over the targets.
    criterion_sense_ : int
        -1: a smaller `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each addition, in the order in which functions entered, with the fields ``action``, ``index``, ``criterion`` and
        ``n_active``, and with several targets ``output``. The last rows may be beyond the final model.
    posterior_ : Posterior or list of Posterior
        Posterior distribution of the weights. A list with one entry for each target if `y` is two-dimensional.
    n_iter_ : int
        Number of steps, summed over the targets.
    n_effective_ : float
        Number of observations that the rows are worth: the sum of their weights, or what `effective_samples` has made of it.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    OrthogonalLeastSquaresRegressor : Forward selection without a ridge.
    FastGCVRegressor : GCV with one ridge for each weight. Functions can also leave.
    EvidenceSearchRegressor : Forward and other searches by evidence.

    Notes
    -----
    With :math:`P = I - \Phi(\Phi^T\Phi + \lambda I)^{-1}\Phi^T`, sets are compared by GCV [2]_,

    .. math:: V = N q / v^2, \qquad q = t^TP^2t, \quad v = \operatorname{tr}P.

    With an intercept, v counts from N - 1. In the eigenvectors of the active block, V is a function of :math:`\lambda` alone, and
    its minimum is found by Newton's method.

    The method is fast, and all models along the path are available (`trace_`, `with_n_basis`). A function never leaves, so models
    are larger than those by evidence. GCV does not know that functions were chosen from many candidates, so it keeps too many if
    kernels are narrow; `max_active` or a wider kernel helps. Intervals are a little narrow, because the choice of functions is not
    part of the uncertainty.

    References
    ----------
    .. [1] Orr, M. J. L. (1995). Regularization in the selection of radial basis function centers. Neural Computation 7, 606-623.
    .. [2] Golub, G. H., Heath, M. and Wahba, G. (1979). Generalized cross-validation as a method for choosing a good ridge
       parameter. Technometrics 21, 215-223.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import RegularizedForwardRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = RegularizedForwardRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    9 functions, 1.01 +- 0.10
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        ridge: float | str = "gcv",
        penalize: str = "weights",
        patience: int = 2,
        n_basis: int | None = None,
        size_prior: str | None = "auto",
        keep_path: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100_000,
        max_active: int | None = None,
        max_time: float | None = None,
        weights: str = "counts",
        effective_samples: Any = None,
        calibrate_std: Any = "auto",
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.ridge = ridge
        self.penalize = penalize
        self.patience = patience
        self.n_basis = n_basis
        self.size_prior = size_prior
        self.keep_path = keep_path
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.weights = weights
        self.effective_samples = effective_samples
        self.calibrate_std = calibrate_std
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _criterion(self) -> Criterion:
        check_choice("penalize", self.penalize, PENALTIES)
        return OrthogonalGCV(self.ridge) if self.penalize == "orthogonal" else SharedGCV(self.ridge)

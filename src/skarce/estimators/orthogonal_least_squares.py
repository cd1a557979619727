"""Orthogonal least squares."""

from __future__ import annotations

from typing import Any

from skarce.criteria import Criterion, ExplainedVariance
from skarce.estimators.forward_selection import ForwardRegressor


class OrthogonalLeastSquaresRegressor(ForwardRegressor):
    r"""Orthogonal least squares: forward selection without a penalty.

    Each step adds the candidate that reduces the squared error most, after it is made orthogonal to the functions in the model
    [1]_. The result is the best model along the path by generalized cross validation, or by the rule that `stop` names.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    stop : {"gcv", "bic", "variance"}, default="gcv"
        How models along the path are compared. ``"gcv"`` uses generalized cross validation, N q / v^2. ``"bic"`` uses n log q + L
        log n, which gives smaller models. ``"variance"`` takes the first model that leaves at most the share `unexplained` of the
        variance.
    patience : int, default=2
        The search ends after this many additions in a row that do not improve on the best model. Wide kernels may help only
        together: if a model stops at a few functions, try 16.
    unexplained : float, default=0.01
        Share of the variance that may be left. Only used if ``stop="variance"``.
    n_basis : int or None, default=None
        Exact number of functions, whatever `stop` says. With several targets, it applies to each target. The model has fewer
        functions only if the remaining candidates depend on those in the model. None lets `stop` decide.
    size_prior : "auto" or None, default="auto"
        What happens if candidates are more than half as many as rows, and the model uses many degrees of freedom: more than half as
        many as rows if candidates are kernels, or a tenth if they are inputs. ``"auto"`` then compares the model with a few
        functions, which a search finds with a prior on the size of the set. If those are worth more, they are the only candidates.
        None keeps the model, as in the paper. So do `n_basis` and ``stop="variance"``.
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
        Prior precision of each weight: 0, because there is no prior. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise: the squared error divided by N - L for L functions (N - 1 - L with an intercept). It is unbiased
        except for the choice of functions.
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        1 for functions in the model, 0 for all others.
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
        One row for each addition, in the order in which functions entered, with the fields ``action``, ``index``, ``criterion``
        (GCV for every `stop`) and ``n_active``, and with several targets ``output``. The last rows may be beyond the final model.
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
    RegularizedForwardRegressor : Forward selection with a ridge.
    StepwiseRegressor : Forward and backward steps by F tests.
    BackwardEliminationRegressor : Functions leave one by one, starting from all candidates.

    Notes
    -----
    Let P project away from the functions in the model. A candidate :math:`\varphi` reduces the squared error by

    .. math:: \frac{(\varphi^TPt)^2}{\varphi^TP\varphi}.

    The Cholesky factor of :math:`\Phi^T\Phi` grows by one row for each addition, which is Gram-Schmidt orthogonalization without
    the rows. With L functions, :math:`q = |t - \Phi w|^2` and v = N - L (N - 1 - L with an intercept), the GCV error [2]_ is
    :math:`N q / v^2`.

    The method is simple and fast, and all models along the path are available (`trace_`, `with_n_basis`). Without a penalty it
    needs more rows than functions. GCV does not know that functions were chosen from many candidates, so it keeps too many if
    kernels are narrow; ``stop="bic"``, `max_active` or a wider kernel helps.

    References
    ----------
    .. [1] Chen, S., Cowan, C. F. N. and Grant, P. M. (1991). Orthogonal least squares learning algorithm for radial basis function
       networks. IEEE Transactions on Neural Networks 2, 302-309.
    .. [2] Golub, G. H., Heath, M. and Wahba, G. (1979). Generalized cross-validation as a method for choosing a good ridge
       parameter. Technometrics 21, 215-223.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import OrthogonalLeastSquaresRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = OrthogonalLeastSquaresRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    7 functions, 1.01 +- 0.10
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        stop: str = "gcv",
        patience: int = 2,
        unexplained: float = 0.01,
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
        self.stop = stop
        self.patience = patience
        self.unexplained = unexplained
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
        return ExplainedVariance(self.stop, self.unexplained)

    def _judges_size(self) -> bool:
        return super()._judges_size() and self.stop != "variance"

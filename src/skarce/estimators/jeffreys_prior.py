"""Regression with a Jeffreys prior: adaptive sparseness."""

from __future__ import annotations

from typing import Any

from skarce._parameters import as_number
from skarce._scales import check_parameter
from skarce._text import quoted
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.jeffreys import Jeffreys


class JeffreysPriorRegressor(SparseRegressorBase):
    r"""Adaptive sparseness: a Jeffreys prior on the variance of every weight.

    Expectation maximization starts from a ridge estimate with all candidates. Each weight is penalized by the inverse of its own
    square, so small weights vanish. The noise is estimated at the same time [1]_. Nothing is left to tune.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    initial_ridge : float, default=0.01
        Ridge of the start, in the units of phi'phi: the sum of the squares of a candidate over the rows, about its mean if there is
        an intercept. A larger value keeps fewer functions.
    size_prior : "auto" or None, default="auto"
        What happens if candidates are more than half as many as rows, and the model uses many degrees of freedom: more than half as
        many as rows if candidates are kernels, or a tenth if they are inputs. ``"auto"`` then compares the model with a few
        functions, which a search finds with a prior on the size of the set. If those are worth more, they are the only candidates.
        None keeps the model, as in the paper.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It uses one degree of freedom, and its uncertainty is part of the predictive std.
    tol : float, default=1e-4
        Tolerance. The fit has converged if no weight changes by more than this share of sigma / norm(phi), which would be its
        standard deviation if it were the only weight.
    max_iter : int, default=10000
        Maximum number of iterations. A ConvergenceWarning is issued if it is reached.
    max_active : int or None, default=None
        Maximum number of basis functions. With several targets, the limit applies to each target. If more functions are left, those
        that are missed least are removed one by one, and the iteration goes on with the others.
    max_time : float or None, default=None
        Time limit in seconds. The best model so far is returned with a ConvergenceWarning. No step is started that would not end in
        time. The ridge estimate with all candidates and its std are always computed.
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
        How the Gram matrix of the candidates is computed. The method needs all of it in any case. ``"whole"`` sums it over blocks
        of rows. ``"columns"`` computes it from the stored candidates, if they fit into memory. ``"auto"`` decides by a cost model
        and the memory budget (a quarter of scikit-learn's ``working_memory``).
    verbose : int, default=0
        Verbosity level. 1 shows progress and prints a few lines, 2 also prints a line for every iteration.
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
        Precision of each weight: its ridge divided by the noise variance. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise: q / v, the squared error divided by the degrees of freedom left. (The iteration itself uses q / N,
        which is smaller.)
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate, from 0 (left out) to 1. With several targets, the largest value
        over the targets.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Generalized cross validation error V = N q / v^2 of the model, in the units of the squared target, summed over the targets.
    criterion_sense_ : int
        -1: a smaller `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice. ``NO_NOISE`` means that the candidates fit everything and the noise is at its
        lower bound.
    trace_ : structured ndarray of shape (n_iterations,)
        One row for each iteration, with the fields ``action``, ``index`` (always -1), ``criterion`` and ``n_active``, and with
        several targets ``output``.
    posterior_ : Posterior or list of Posterior
        Posterior distribution of the weights. A list with one entry for each target if `y` is two-dimensional.
    n_iter_ : int
        Number of iterations, summed over the targets.
    n_effective_ : float
        Number of observations that the rows are worth: the sum of their weights, or what `effective_samples` has made of it.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    RelevanceVectorRegressor : One precision for each weight too, but by the evidence.
    LaplacePriorRegressor : A convex penalty, chosen by GCV.
    LocalRidgeRegressor : Another method that starts from all candidates.

    Notes
    -----
    One iteration is

    .. math::
        w \leftarrow U(\sigma^2 I + U\Phi^T\Phi U)^{-1}U\Phi^Tt, \quad U = \operatorname{diag}|w|, \qquad
        \sigma^2 \leftarrow |t - \Phi w|^2/N.

    At a fixed point :math:`\varphi_i^T(t - \Phi w) = \sigma^2/w_i`, or :math:`w_i = 0`.

    The method is good at very small models from few rows, with nothing to choose. The objective has no lower bound and many local
    minima, so the result depends on the start. If all candidates together fit everything (narrow kernels, more inputs than rows),
    the noise goes to its lower bound, and nearly as many functions as rows stay in the model.

    References
    ----------
    .. [1] Figueiredo, M. A. T. (2003). Adaptive sparseness for supervised learning. IEEE Transactions on Pattern Analysis and
       Machine Intelligence 25, 1150-1159.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import JeffreysPriorRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = JeffreysPriorRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    4 functions, 0.99 +- 0.11
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        initial_ridge: float = 0.01,
        size_prior: str | None = "auto",
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000,
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
        self.initial_ridge = initial_ridge
        self.size_prior = size_prior
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

    def _method(self) -> Jeffreys:
        given = self.initial_ridge
        if not 0.0 < as_number(given) < float("inf"):
            raise ValueError(f"initial_ridge must be positive and finite, got {quoted(given)}.")
        return Jeffreys(check_parameter("initial_ridge", given, float(given)), crowded=self._crowded())

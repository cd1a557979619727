"""Orr's local smoothing."""

from __future__ import annotations

from typing import Any

from skarce._parameters import as_number, check_flag
from skarce._scales import check_parameter
from skarce._text import quoted
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.local_ridge import LocalRidge


class LocalRidgeRegressor(SparseRegressorBase):
    r"""Orr's local smoothing: generalized cross validation from the full model.

    All candidates are in the model at the start. Each ridge in turn moves to its smallest GCV error, until a whole cycle brings no
    significant decrease [1]_. Most ridges go to infinity, and the functions that are left are the model.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 1000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    initial_ridge : float or None, default=None
        Ridge of every candidate at the start, in the units of phi'phi. None uses the common ridge that minimizes GCV. The result
        depends on it.
    readmit : bool, default=True
        Whether a candidate whose ridge went to infinity is tried again in later cycles. If True, no single change of the result
        lowers GCV. If False, only changes of the active functions are ruled out.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It uses one degree of freedom, and its uncertainty is part of the predictive std.
    tol : float, default=1e-3
        Tolerance. The fit ends after a cycle that lowers (N/2) log V by at most `tol`.
    max_iter : int, default=1000
        Maximum number of cycles. A ConvergenceWarning is issued if it is reached.
    max_active : int or None, default=None
        Maximum number of basis functions. With several targets, the limit applies to each target. The functions with the largest
        effect are kept.
    max_time : float or None, default=None
        Time limit in seconds. The best model so far is returned with a ConvergenceWarning. The model with all candidates is always
        computed, which takes some seconds for thousands of candidates.
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
        Verbosity level. 1 shows progress and prints a few lines, 2 also prints a line for every cycle.
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
        Variance of the noise: q / v, the squared error divided by the degrees of freedom left.
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
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_cycles,)
        One row for each cycle, with the fields ``action``, ``index`` (always -1), ``criterion`` and ``n_active``, and with several
        targets ``output``.
    posterior_ : Posterior or list of Posterior
        Posterior distribution of the weights. A list with one entry for each target if `y` is two-dimensional.
    n_iter_ : int
        Number of cycles, summed over the targets.
    n_effective_ : float
        Number of observations that the rows are worth: the sum of their weights, or what `effective_samples` has made of it.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    FastGCVRegressor : The same criterion, starting from the empty model. It scales to many candidates.
    RegularizedForwardRegressor : Forward selection by GCV with one ridge for all weights.
    JeffreysPriorRegressor : Another method that starts from all candidates.

    Notes
    -----
    With ridges :math:`Z = \operatorname{diag}\zeta` and :math:`P = I - \Phi(\Phi^T\Phi + Z)^{-1}\Phi^T`, the method minimizes

    .. math:: V = N q / v^2, \qquad q = t^TP^2t, \quad v = \operatorname{tr}P

    one ridge at a time, with the other ridges held (section 2.1 of [2]_). A cycle costs O(n_candidates * n_active^2), so the method
    is meant for up to about 1000 candidates. It often finds the smallest V of all methods, with the largest models. The smallest V
    is not always the best prediction.

    References
    ----------
    .. [1] Orr, M. J. L. (1995). Local smoothing of radial basis function networks. International Symposium on Neural Networks.
    .. [2] Sundararajan, S., Shevade, S. and Keerthi, S. S. Fast generalized cross validation algorithm for sparse model learning.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import LocalRidgeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (100, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 100)
    >>> model = LocalRidgeRegressor().fit(X, y)
    >>> bool(abs(model.predict([[1.5]])[0] - 1.0) < 0.1)
    True
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        initial_ridge: float | None = None,
        readmit: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
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
        self.readmit = readmit
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

    def _method(self) -> LocalRidge:
        given = self.initial_ridge
        if given is not None and not 0.0 < as_number(given) < float("inf"):
            raise ValueError(f"initial_ridge must be positive and finite, or None; got {quoted(self.initial_ridge)}.")
        ridge = None if given is None else check_parameter("initial_ridge", given, float(given))
        check_flag("readmit", self.readmit)
        return LocalRidge(ridge, bool(self.readmit))

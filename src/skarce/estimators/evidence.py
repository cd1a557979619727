"""Regression with all candidates and one precision, by evidence."""

from __future__ import annotations

from typing import Any

from skarce._parameters import check_weight_variance
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.all_candidates import AllCandidates


class EvidenceRegressor(SparseRegressorBase):
    r"""Dense model with all candidates, one weight precision and the noise by evidence.

    This is Bayesian ridge regression on the candidates, or a Gaussian process with covariance Phi Phi'. Sparse models are compared
    with it [2]_ [3]_. With ``KernelBasis(gamma="ard")`` the kernel widths are learned by the same evidence.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
        All of them are in the model.
    weight_variance : "learned" or float, default="learned"
        Prior variance of every weight, in squared units of the target divided by squared units of the candidates. ``"learned"``
        maximizes the evidence.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It is integrated out, and its uncertainty is part of the predictive std.
    tol : float, default=1e-9
        Tolerance. The fit has converged if a step would raise the log evidence by at most `tol`.
    max_iter : int, default=100
        Maximum number of steps. A ConvergenceWarning is issued if it is reached.
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
        Verbosity level. 2 prints a line for every step.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, for the learning of kernel widths, and for samples of rows. Pass an int for reproducible
        landmarks and widths.

    Attributes
    ----------
    active_ : ndarray of shape (n_active,)
        Indices of the active functions among the candidates, in ascending order: all candidates that are not zero (with an
        intercept: not constant). Empty if noise alone explains the target as well.
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
        Prior precision, the same for all weights. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise.
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate, 1 - alpha Sigma_ii, from 0 to 1. With several targets, the largest
        value over the targets.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Log evidence: the log density of the targets in their own units, with all constants (with an intercept: of their N - 1
        contrasts), summed over the targets.
    criterion_sense_ : int
        1: a larger `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice. ``NOTHING_HELPS`` means that the evidence is largest without any signal.
        ``NO_NOISE`` means that it is largest at a noise that cannot be told from rounding. The precision is then at a bound: 1e-13
        of the largest eigenvalue of Phi'Phi, times the precision of the noise.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each step of the search for the precision, with the fields ``action``, ``index`` (always -1), ``criterion`` and
        ``n_active``, and with several targets ``output``.
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
    BackwardEliminationRegressor : Starts from this model and removes functions one by one.
    EvidenceSearchRegressor : The same prior on a few functions that a search chooses.
    RelevanceVectorRegressor : One precision for each weight, which makes the model sparse.
    skarce.model_selection.learn_widths : Kernel widths by the evidence of this model.

    Notes
    -----
    With the eigenvalues :math:`p_j` of :math:`\Phi^T\Phi`, the projections :math:`o_j` of the target, the ridge :math:`\rho`
    (weight precision relative to noise precision) and :math:`s_j = \rho/(p_j + \rho)`, the log evidence with the noise at its best
    value is

    .. math::
        -\tfrac n2\log a(\rho) + \tfrac12\sum_j\log s_j + \text{const}, \qquad a(\rho) = q_0 + \sum_j\frac{o_j^2}{p_j}s_j,

    where :math:`q_0` is the squared error of least squares [1]_. One eigendecomposition makes it a function of a single number, and
    its maximum is found to full precision.

    The method predicts well and its evidence is a good guide to kernel widths, because nothing is selected. It is not sparse:
    memory grows with n_candidates^2 and time with n_candidates^3. Use ``KernelBasis(centers=500)`` for many rows.

    References
    ----------
    .. [1] MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4, 415-447.
    .. [2] Barrio, I., Romero, E. and Belanche, L. Search strategies guided by the evidence for the selection of basis functions in
       regression.
    .. [3] Bo, L., Wang, L. and Jiao, L. Sparse Gaussian processes using backward elimination.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import EvidenceRegressor, KernelBasis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = EvidenceRegressor(KernelBasis(gamma="evidence")).fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    200 functions, 1.00 +- 0.10
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        weight_variance: float | str = "learned",
        fit_intercept: bool = True,
        tol: float = 1e-9,
        max_iter: int = 100,
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
        self.weight_variance = weight_variance
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

    def _method(self) -> AllCandidates:
        return AllCandidates(check_weight_variance(self.weight_variance))

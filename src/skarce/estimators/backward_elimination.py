"""Sparse Gaussian processes by backward elimination."""

from __future__ import annotations

from typing import Any

from skarce._parameters import check_budget, check_choice, check_weight_variance
from skarce._text import quoted
from skarce.estimators.nested import NestedRegressor
from skarce.methods.elimination.method import Elimination
from skarce.methods.elimination.path import DIRECTIONS, STOPS, StopRule
from skarce.posteriors.nested import NestedPath


class BackwardEliminationRegressor(NestedRegressor):
    r"""Sparse Gaussian process by backward elimination.

    The model with all candidates is learned by evidence [2]_: one precision for the weights, the noise, and with
    ``KernelBasis(gamma="ard")`` a width for each input. Then functions are removed one by one. Each step removes the function that
    raises the penalized error least [1]_. The result predicts nearly as well as the full model. `with_n_basis` and `with_tol`
    return other models from the same path.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
        All of them are in the model at first. The method of the paper is ``KernelBasis(gamma="ard")``.
    weight_variance : "learned" or float, default="learned"
        Prior variance of the weights, for targets scaled to [-1, 1]. 1.0 is the model of the paper. Predictions and attributes are
        always in the units of the target. ``"learned"`` maximizes the evidence.
    direction : {"backward", "forward"}, default="backward"
        ``"backward"`` starts from all candidates. ``"forward"`` starts from none and adds the function that lowers the penalized
        error most, until the same rule is met.
    stop : {"total", "step"}, default="total"
        Which model on the path is taken. ``"total"`` takes the smallest model whose penalized error f exceeds that of the full
        model by at most the share `tol`. ``"step"`` takes the last model before a step that would raise f by more than the share
        `tol` of its value (forward: that would lower it by at most this share).
    n_basis : int or None, default=None
        Exact number of functions, whatever `stop` says. With several targets, it applies to each target. None lets `stop` decide.
    keep_path : bool, default=False
        Whether `with_n_basis` and `with_tol` can also return models larger than the final one. This keeps the Gram matrix of all
        candidates.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It is never removed, and its uncertainty is part of the predictive std.
    tol : float, default=0.05
        Tolerance of the `stop` rule. About 0.001 is a good value for ``stop="step"``.
    max_iter : int, default=100000
        Maximum number of steps. A ConvergenceWarning is issued if it is reached. No warning is issued if the model was found
        before.
    max_active : int or None, default=None
        Maximum number of basis functions. With several targets, the limit applies to each target.
    max_time : float or None, default=None
        Time limit in seconds. The best model so far is returned with a ConvergenceWarning. Half of the time is for the learning of
        kernel widths. The full model is always computed, and functions are removed from it as long as there is time.
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
        Prior precision, the same for all weights. Its ratio to the precision of the noise is that of the full model. It is infinite
        if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise, at its best value for the active functions with that ratio held. If `weight_variance` is a number, it
        is \|t - Phi w\|^2 / (n - gamma), with gamma well-determined weights.
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
        Log evidence of the sparse model: the log density of the targets in their own units, with all constants (with an intercept:
        of their N - 1 contrasts), summed over the targets.
    criterion_sense_ : int
        1: a larger `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each step, in the order in which functions left or entered, with the fields ``action``, ``index``, ``criterion``
        (log evidence), ``n_active``, ``increment`` (change of f) and ``objective`` (f, in the units of the squared target), and
        with several targets ``output``. Backward elimination goes on to the empty model.
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
    EvidenceRegressor : The full model, where the elimination starts.
    OrthogonalLeastSquaresRegressor : Functions enter one by one, without a prior.
    SparseRegressor : The same criterion (`PenalizedError`) with any search.
    RelevanceVectorRegressor : Sparse from the start, without a full model.

    Notes
    -----
    With the ridge :math:`\rho` of the full model, functions are removed in the order that keeps

    .. math:: f = \min_w |t - \Phi w|^2 + \rho|w|^2

    smallest in each step. Removing function i raises f by :math:`w_i^2/R_{ii}`, with :math:`R = (\Phi^T\Phi + \rho I)^{-1}`. The
    order does not depend on the rule that stops it, so one path holds the models of all sizes.

    The method is good at predictions close to those of the full Gaussian process, and at models of any size from one fit. It needs
    the Gram matrix of all candidates in memory, so it is meant for up to a few thousand candidates. With the default tolerance its
    models are larger than those of a relevance vector machine.

    References
    ----------
    .. [1] Bo, L., Wang, L. and Jiao, L. Sparse Gaussian processes using backward elimination.
    .. [2] MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4, 415-447.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import BackwardEliminationRegressor, KernelBasis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = BackwardEliminationRegressor(KernelBasis(gamma="evidence")).fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    54 functions, 1.00 +- 0.10
    >>> smaller = model.with_n_basis(7)
    >>> print(f"{len(smaller.active_)} functions, {smaller.predict([[1.5]])[0]:.2f}")
    7 functions, 0.99
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        weight_variance: float | str = "learned",
        direction: str = "backward",
        stop: str = "total",
        n_basis: int | None = None,
        keep_path: bool = False,
        fit_intercept: bool = True,
        tol: float = 0.05,
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
        self.weight_variance = weight_variance
        self.direction = direction
        self.stop = stop
        self.n_basis = n_basis
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

    def _check_limits(self) -> None:
        super()._check_limits()
        for name, known in (("direction", DIRECTIONS), ("stop", STOPS)):
            check_choice(name, getattr(self, name), known)
        check_budget(self.n_basis, self.max_active)

    def _method(self) -> Elimination:
        return Elimination(self._rule(self.tol), check_weight_variance(self.weight_variance), self.n_basis, self.keep_path)

    def _check_streaming(self) -> None:
        if not isinstance(self.weight_variance, str):
            raise AttributeError(
                f"weight_variance={quoted(self.weight_variance)} is in units of the squared range of all targets, which "
                'partial_fit does not keep. Use weight_variance="learned".'
            )

    def _size_with(self, path: NestedPath, tol: float) -> int:
        return self._rule(tol).size(-path.worths, path.least)

    def _rule(self, tol: float) -> StopRule:
        return StopRule(self.stop, tol, self.direction)

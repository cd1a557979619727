"""Regression with a Laplacian prior: an L1 penalty, chosen by generalized cross validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._parameters import check_choice, check_flag
from skarce._text import quoted
from skarce.designs import Design
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.l1.path import L1Path
from skarce.posteriors.posterior import Posterior
from skarce.states.outcome import Outcome

DEGREES_OF_FREEDOM = ("hat", "active")


class LaplacePriorRegressor(SparseRegressorBase):
    r"""Kernel lasso: an L1 penalty, chosen by generalized cross validation.

    This is sparse kernel regression (SKR) [1]_. All penalties share one Gram matrix, and each solution starts from the previous
    one. A whole path of penalties costs little more than one solution, and GCV chooses from it without folds.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
        Columns are not scaled, so the penalty is weaker for columns with a large norm.
    penalty : "gcv", float or array-like of float, default="gcv"
        Weight mu of the L1 penalty. ``"gcv"`` tries 100 values, from the smallest value at which all weights are zero down to 1e-4
        of it, and takes the one with the smallest GCV error. This path ends before models with more functions than half of the
        distinct rows. If GCV is smallest at an end of the path, `outcome_` is ``END_OF_PATH`` or ``HALF_USED``. An array is the
        path to choose from. scikit-learn's `Lasso` calls mu / n_samples alpha, and the paper calls it lambda. 0.0 is the limit from
        above: the least squares solution with the smallest L1 norm, to ten digits.
    degrees_of_freedom : {"hat", "active"}, default="hat"
        What GCV counts as used degrees of freedom. ``"hat"`` is the trace of the hat matrix with fixed reweighting, as in the
        paper. ``"active"`` is the number of active functions, which is correct for an L1 penalty. ``"hat"`` counts fewer and gives
        larger models. Use ``"active"`` for inputs rather than kernels if there are more candidates than rows.
    finish : bool, default=True
        True gives exact minimizers. False gives the result of the paper's iteration (reweighted least squares): nearly the same
        predictions with more functions, whose number depends on `tol`.
    size_prior : "auto" or None, default="auto"
        What happens if candidates are more than half as many as rows, and the model uses many degrees of freedom: more than half as
        many as rows if candidates are kernels, or a tenth if they are inputs. ``"auto"`` then compares the model with a few
        functions, which a search finds with a prior on the size of the set. If those are worth more, they are the only candidates.
        None keeps the model, as in the paper. So does a given `penalty`.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It uses one degree of freedom, and its uncertainty is part of the predictive std.
    tol : float, default=1e-6
        Tolerance. No optimality condition fails by more than this share of mu. With ``finish=False``, the iteration ends if a step
        lowers the objective by at most this share of it.
    max_iter : int, default=10000
        Maximum number of penalties that are tried, and of steps for each of them. A ConvergenceWarning is issued if it is reached.
    max_active : int or None, default=None
        Maximum number of basis functions. With several targets, the limit applies to each target. The path ends before the first
        model with more functions. If a single `penalty` is smaller than that, the model is that of a larger penalty, `penalty_`,
        and a warning is issued. With ``finish=False``, the functions that are missed least are removed from the result one by one.
    max_time : float or None, default=None
        Time limit in seconds. The best model so far is returned with a ConvergenceWarning. A single `penalty` is approached from
        larger ones. If time is too short, the model is that of a larger penalty, `penalty_`.
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
        ``working_memory``). With ``finish=False`` all of it is needed.
    verbose : int, default=0
        Verbosity level. 1 shows progress and prints a few lines, 2 also prints a line for every penalty.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, for the learning of kernel widths, and for samples of rows. Pass an int for reproducible
        landmarks and widths.

    Attributes
    ----------
    penalty_ : float or ndarray of shape (n_outputs,)
        Chosen weight mu of the penalty. NaN if the target does not vary, or if no few functions explain it (`size_prior`).
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
        mu / abs(a) divided by the noise variance: the quadratic penalty that touches the L1 penalty at the solution. The std
        follows from it. It is infinite if a target does not use the function.
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
        v is counted by `degrees_of_freedom`.
    criterion_sense_ : int
        -1: a smaller `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_penalties,)
        One row for each penalty, with the fields ``action``, ``index`` (always -1), ``criterion``, ``n_active``, ``penalty``,
        ``degrees_of_freedom`` and ``steps``, and with several targets ``output``. The last row is the chosen model.
    posterior_ : Posterior or list of Posterior
        Posterior distribution of the weights. A list with one entry for each target if `y` is two-dimensional.
    n_iter_ : int
        Number of penalties that were tried, and one for the choice among them, summed over the targets.
    n_effective_ : float
        Number of observations that the rows are worth: the sum of their weights, or what `effective_samples` has made of it.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    JeffreysPriorRegressor : A prior without a penalty to choose.
    CriterionSearch : Kernel widths by the same criterion.
    VBLSRegressor : Linear models that select inputs, with tests of their weights.
    sklearn.linear_model.LassoCV : The lasso on inputs, with the penalty chosen by folds.

    Notes
    -----
    The method minimizes

    .. math:: J(a) = \tfrac12|t - \Phi a|^2 + \mu|a|_1.

    With the residual r, the minimizer has :math:`\varphi_i^Tr = \mu\operatorname{sign}a_i` for active functions and
    :math:`|\varphi_i^Tr| \le \mu` for all others. For given functions and signs it is linear in :math:`\mu`, so the path is
    followed by exact steps [2]_. GCV is :math:`N q / v^2`, with the squared error q and the degrees of freedom left v.

    The objective is convex, so the solution for a penalty does not depend on the start. The penalty shrinks large weights too, so
    models have more functions than those by evidence. GCV prefers kernels that are too narrow; compare widths by `CriterionSearch`.

    References
    ----------
    .. [1] Park, H. Sparse kernel regression using IRWLS procedure.
    .. [2] Osborne, M. R., Presnell, B. and Turlach, B. A. (2000). A new approach to variable selection in least squares problems.
       IMA Journal of Numerical Analysis 20, 389-403.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import LaplacePriorRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = LaplacePriorRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}, penalty {model.penalty_:.3f}")
    7 functions, 1.01 +- 0.11, penalty 0.002
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        penalty: Any = "gcv",
        degrees_of_freedom: str = "hat",
        finish: bool = True,
        size_prior: str | None = "auto",
        fit_intercept: bool = True,
        tol: float = 1e-6,
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
        self.penalty = penalty
        self.degrees_of_freedom = degrees_of_freedom
        self.finish = finish
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

    def _method(self) -> L1Path:
        check_choice("degrees_of_freedom", self.degrees_of_freedom, DEGREES_OF_FREEDOM)
        check_flag("finish", self.finish)
        penalties = _checked(self.penalty)
        crowded = self._crowded(applies=penalties is None)
        return L1Path(penalties, self.degrees_of_freedom == "active", bool(self.finish), crowded=crowded)

    def _keep(self, posteriors: list[Posterior], design: Design) -> None:
        super()._keep(posteriors, design)
        chosen = _penalties(posteriors)
        self.penalty_ = np.array(chosen) if isinstance(self.posterior_, list) else chosen[0]

    def _warnings(self, posteriors: list[Posterior]) -> list[str]:
        is_one_penalty = np.ndim(self.penalty) == 0 and self.penalty != "gcv"
        pairs = zip(posteriors, _penalties(posteriors), strict=True)
        reached = [penalty for posterior, penalty in pairs if posterior.outcome is Outcome.SIZE_LIMIT]
        if not (is_one_penalty and self.finish and reached):
            return super()._warnings(posteriors)
        return [
            *super()._warnings(posteriors),
            f"max_active={self.max_active} was reached before penalty={quoted(self.penalty)}: the model is that of penalty_="
            f"{max(reached):.6g}, the smallest penalty on the path with at most this many functions. Raise max_active to reach "
            "the penalty that you asked for.",
        ]


def _penalties(posteriors: list[Posterior]) -> list[float]:
    """Return the chosen penalties, from the last row of each trace. NaN if a target does not vary."""
    return [float(p.trace["penalty"][-1]) if len(p.trace) else np.nan for p in posteriors]


def _checked(penalty: Any) -> tuple[float, ...] | None:
    """Return the penalties to choose from. None stands for "gcv"."""
    if isinstance(penalty, str) and penalty == "gcv":
        return None
    try:
        values = np.atleast_1d(np.asarray(penalty))
        values = values.astype(np.float64) if values.dtype.kind in "fiu" else np.empty(0)  # the string "1.0" is not a number
    except ValueError:  # nested lists of different lengths
        values = np.empty(0)
    if values.ndim != 1 or not len(values) or not ((values >= 0.0) & (values < np.inf)).all():
        raise ValueError(
            'penalty must be "gcv", a finite number of at least 0 (the weight mu of |a|_1), or an array of such numbers to '
            f"choose from by GCV, got {quoted(penalty)}."
        )
    return tuple(values)

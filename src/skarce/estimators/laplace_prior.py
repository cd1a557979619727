"""Regression with a Laplacian prior: an L1 penalty, chosen by generalized cross validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce.designs import Design
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.l1.path import L1Path
from skarce.posteriors.posterior import Posterior
from skarce.states.outcome import Outcome

DEGREES_OF_FREEDOM = ("hat", "active")


class LaplacePriorRegressor(SparseRegressorBase):
    """A few functions with an L1 penalty on their weights, the penalty chosen by generalized cross validation (SKR).

    Minimises 1/2 |t - Phi a|^2 + mu |a|_1, the lasso on kernels (Park, Sparse kernel regression using IRWLS procedure). All
    penalties share one Gram matrix, and each solution starts from the last, so a whole path of them costs little more than one;
    GCV then picks one without a fold. The weights satisfy the optimality conditions |phi_i'r| <= mu, with equality for active
    functions.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves (a lasso), a
        transformer its output columns. They are not scaled: the penalty weighs functions by their length.
    penalty : "gcv", float or array of floats, default="gcv"
        mu. ``"gcv"`` tries 100 of them, from the least at which all weights are zero down to 1e-4 of it, and takes the one of
        least GCV; the path ends before minimisers that have more functions than half of the rows, rows that repeat another and
        weights above one not counted. Where GCV is least at its end, `outcome_` is ``END_OF_PATH`` or ``HALF_USED``. An array is
        the path to choose from, all of it. scikit-learn's `Lasso` calls mu / n_samples alpha, and the paper lambda. Zero is the
        limit from above: of all least squares solutions the one whose weights have the least sum of sizes, to ten digits.
    degrees_of_freedom : {"hat", "active"}, default="hat"
        What GCV counts: ``"hat"``, the trace of the hat matrix with the reweighting held, as the paper does; or ``"active"``,
        the number of active functions, the true number for an L1 penalty. The first is smaller, and its models are larger; with
        more candidates than rows that are not alike (inputs rather than kernels) it is far too small, so take the second.
    finish : bool, default=True
        True gives exact minimisers. False gives the paper's iteration (reweighted least squares) where it stops: nearly the same
        predictions, with more functions, how many being a matter of `tol`.
    fit_intercept : bool, default=True
        An unpenalised constant; it takes one degree of freedom.
    tol : float, default=1e-6
        No optimality condition fails by more than this share of mu. With ``finish=False``, the iteration ends when a step lowers
        the objective by no more than this share of it.
    max_iter : int, default=10000
        Steps at most for one penalty.
    max_active : int, default=None
        The path ends before the first model with more functions; where that is before the one penalty that was given, the model is
        that of a larger one, `penalty_`, and a warning says so. With ``finish=False``, of the result those that are missed least
        are taken out one after the other. With several targets, so many for each.
    max_time : float, default=None
        Seconds after which the best model so far is returned, with a warning. A single penalty is approached from larger ones,
        and where time was too short the model is that of a larger one: see `penalty_`.
    moments, verbose, random_state
        As in `RelevanceVectorRegressor`.

    Attributes
    ----------
    penalty_ : float or array of shape (n_outputs,)
        The chosen mu.
    criterion_ : float
        V = N q / v^2 in the units of the squared target, v by `degrees_of_freedom`; smaller is better (`criterion_sense_` is -1).
    noise_variance_ : float or array of shape (n_outputs,)
        q / v, the residual energy over the degrees of freedom left.
    weight_precision_ : array like `coef_`
        mu / |a| over the noise variance: the quadratic that touches the penalty at the solution. The std follows from it.
    trace_ : structured array
        One row for each penalty that was tried, with ``penalty``, ``degrees_of_freedom`` and ``steps`` beside the usual fields; the
        last row is the model that was chosen.
    active_, coef_, intercept_, relevance_, basis_, relevance_vectors_, outcome_, n_iter_, posterior_
        As in `RelevanceVectorRegressor`.

    See Also
    --------
    CriterionSearch : kernel widths by the same criterion.
    JeffreysPriorRegressor : a prior without a penalty to choose.

    References
    ----------
    Park, H. Sparse kernel regression using IRWLS procedure.
    Osborne, M. R., Presnell, B. and Turlach, B. A. (2000). A new approach to variable selection in least squares problems. IMA
    Journal of Numerical Analysis 20, 389-403.

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
        basis: Any = "rbf",
        *,
        penalty: Any = "gcv",
        degrees_of_freedom: str = "hat",
        finish: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.penalty = penalty
        self.degrees_of_freedom = degrees_of_freedom
        self.finish = finish
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> L1Path:
        if self.degrees_of_freedom not in DEGREES_OF_FREEDOM:
            raise ValueError(f"degrees_of_freedom must be one of {list(DEGREES_OF_FREEDOM)}, got {self.degrees_of_freedom!r}.")
        if not isinstance(self.finish, (bool, np.bool_)):
            raise ValueError(f"finish must be True or False, got {self.finish!r}.")
        return L1Path(_checked(self.penalty), self.degrees_of_freedom == "active", bool(self.finish))

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
            f"max_active={self.max_active} was reached before penalty={self.penalty!r}: the model is that of penalty_="
            f"{max(reached):.6g}, the smallest one on the way that has no more functions. Raise max_active for the penalty that "
            "was asked for.",
        ]


def _penalties(posteriors: list[Posterior]) -> list[float]:
    """The last row of a trace is of the model that was chosen; a target that does not vary has none."""
    return [float(p.trace["penalty"][-1]) if len(p.trace) else np.nan for p in posteriors]


def _checked(penalty: Any) -> tuple[float, ...] | None:
    """The penalties to choose from, None for "gcv"."""
    if isinstance(penalty, str) and penalty == "gcv":
        return None
    try:
        values = np.atleast_1d(np.asarray(penalty))
        values = values.astype(np.float64) if values.dtype.kind in "fiu" else np.empty(0)  # "1.0" is no number
    except ValueError:  # lists of several lengths
        values = np.empty(0)
    if values.ndim != 1 or not len(values) or not ((values >= 0.0) & (values < np.inf)).all():
        raise ValueError(
            'penalty must be "gcv", a finite number that is not negative (the multiplier mu of |a|_1), or an array of them to '
            f"choose from by GCV; got {penalty!r}."
        )
    return tuple(values)

"""The penalized error at a fixed ridge, and the smallest set that comes close to the model with all candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from skarce._parameters import as_number, check_not_negative
from skarce._scales import check_parameter
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.criteria.criterion import Criterion
from skarce.criteria.one_precision import fit_of_all
from skarce.moments import Moments
from skarce.states.members import Members
from skarce.states.state import State

ALL_EXPLAINED = 1.0 - 1e-15


@dataclass(frozen=True)
class PenalizedError(Criterion):
    r"""The squared error plus :math:`\rho` times the squared weights; smaller is better.

    Parameters
    ----------
    ridge : "evidence" or float, default="evidence"
        The ridge :math:`\rho`, which is the same for all sets. ``"evidence"`` takes the ridge of largest evidence for the model
        with all candidates. A number fixes the ridge, in the units of phi'phi, the sum of a candidate's squares over the rows.
        (With an intercept, the mean of the candidate is subtracted first.)
    tol : float, default=0.05
        A set is good enough if its penalized error is at most ``1 + tol`` times that of the model with all candidates. `Forward`,
        `Backward`, `PlusTakeAway`, `Floating` and `Oscillating` look for the smallest such set. With their parameter `n_basis` they
        look for the best set of that size. `BestAction` compares single gains, so it adds functions as long as the error falls.

    See Also
    --------
    skarce.BackwardEliminationRegressor : The estimator that uses this error with backward elimination.
    SharedEvidence : The evidence with one precision for all weights.
    SharedGCV : GCV with one ridge for all weights.

    Notes
    -----
    The penalized error of a set is

    .. math:: f = \min_w |t - \Phi w|^2 + \rho|w|^2 = t^TPt .

    One more candidate reduces f by :math:`r^2/(\gamma+\rho)`. One function less adds :math:`w_i^2/h_i` to f ([1]_, Theorem 3.1).
    Here :math:`\gamma=\varphi^TP\varphi`, :math:`r=\varphi^TPt`, and :math:`h_i` is the i-th diagonal entry of :math:`H^{-1}`.

    Every function lowers f, so f alone would always ask for more functions. Therefore a set is good enough if its f is close to
    that of all candidates, and among the sets that are good enough the smallest is best.

    References
    ----------
    .. [1] Bo, L., Wang, L. and Jiao, L. Sparse Gaussian processes using backward elimination.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import PenalizedError
    >>> from skarce.searches import Backward
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", PenalizedError(tol=0.05), Backward()).fit(X, y).active_
    array([1, 3])
    """

    ridge: float | str = "evidence"
    tol: float = 0.05

    sense: ClassVar[int] = -1

    def __post_init__(self) -> None:
        is_rule = isinstance(self.ridge, str) and self.ridge == "evidence"
        if not (is_rule or 0.0 < as_number(self.ridge) < np.inf):
            raise ValueError(
                f'ridge must be "evidence", or a positive finite number in the units of phi\'phi; got {quoted(self.ridge)}.'
            )
        if not is_rule:
            check_parameter("ridge", self.ridge, float(self.ridge))
        check_not_negative("tol", self.tol)

    def prepared(self, moments: Moments) -> PenalizedError:
        """Compute the model with all candidates once, and keep its ridge and its penalized error."""
        return _WithFullModel(self.ridge, self.tol, *self._full_model(moments))

    def with_tol(self, tol: float) -> PenalizedError:
        return replace(self, tol=tol)

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Return all of these functions, at the ridge rho."""
        return members, np.full(len(members), self._full_model(moments)[0])

    def ranking(self, state: State) -> Floats:
        """Return 1 + r^2 / ((gamma + rho) f), which is above 1 for every candidate that lowers f."""
        ranking = 1.0 + self._shares(state, slice(None))
        ranking[state.moments.gram.diagonal <= 0.0] = 0.0
        ranking[state.active] = 0.0
        return ranking

    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        share = float(self._shares(state, candidate))
        return self._ridge(state), -0.5 * state.moments.n_samples * float(np.log1p(-min(share, ALL_EXPLAINED)))

    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        increments = members.weights[positions] ** 2 / members.spread()[positions]
        return -0.5 * n_samples * np.log1p(increments / members.energy)

    def score(self, members: Members, n_samples: float) -> float:
        """Return -n/2 log f."""
        return -0.5 * n_samples * float(np.log(members.energy))

    def worth(self, state: State) -> float:
        """Return -n L if a set of L functions is good enough. Other sets rank below all of these, by f."""
        return float(self.ceiling(state.moments, np.array(state.energy), len(state)))

    def least_ridge(self, moments: Moments) -> float:
        return self._full_model(moments)[0]

    def ceiling(self, moments: Moments, left: Floats, size: int) -> Floats:
        """Return the worth itself, because it is a function of f and of the size."""
        n, full = moments.n_samples, self._full_model(moments)[1]
        too_large = -n * (moments.n_candidates + 1) - 0.5 * n * np.log(left / full)
        return np.where(left <= (1.0 + self.tol) * full, -n * size, too_large)

    def rejudged(self, worths: Floats, least: int, n_samples: float, n_candidates: int, tol: float) -> Floats:
        """Return the worths at a larger `tol`. A smaller one is an error: of sets that are good enough already, f is not known."""
        if tol < self.tol:
            raise ValueError(
                f"with_tol changes the tol of the criterion here, and can only raise it above PenalizedError(tol={self.tol}). To "
                f"lower it, fit again with PenalizedError(tol={tol})."
            )
        sizes = least + np.arange(len(worths))
        log_ratios = -2.0 * (worths / n_samples + n_candidates + 1)
        return np.where(log_ratios <= np.log1p(tol), -n_samples * sizes, worths)

    def value(self, score: Any, n_samples: float, n_total: float, target_scale: float) -> Any:
        """Return f in the units of the squared target."""
        return np.exp(-2.0 * score / n_samples) / target_scale**2 if n_samples > 0.0 else score

    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return f / n, the noise variance of largest evidence at the fixed rho."""
        return members.energy / n_samples

    def _shares(self, state: State, where: Any) -> Any:
        total = np.maximum(state.leftover[where], 0.0) + self._ridge(state)
        return state.alignment[where] ** 2 / (total * state.energy)

    def _ridge(self, state: State) -> float:
        if not isinstance(self.ridge, str):
            return float(self.ridge)
        if len(state):
            return float(state.ridges[0])
        return self._full_model(state.moments)[0]

    def _full_model(self, moments: Moments) -> tuple[float, float]:
        """Return the ridge and the error f of the model with all candidates, or f = t't if the evidence prefers noise alone."""
        _, _, fit = fit_of_all(moments)
        if not len(fit.squared_norms):
            return 1.0, moments.target_energy
        if not isinstance(self.ridge, str):
            return float(self.ridge), fit.energy(float(self.ridge))
        ridge = fit.best_ridge()
        return ridge, moments.target_energy if ridge >= fit.bounds[1] else fit.energy(ridge)


@dataclass(frozen=True)
class _WithFullModel(PenalizedError):  # noqa: N818
    """The criterion during a search, when the model with all candidates is known.

    Parameters
    ----------
    ridge : "evidence" or float, default="evidence"
        The ridge as the user gave it.
    tol : float, default=0.05
        How close to the model with all candidates is good enough.
    full_ridge : float, default=1.0
        The ridge of the model with all candidates.
    full_energy : float, default=1.0
        The penalized error of that model.
    """

    full_ridge: float = 1.0
    full_energy: float = 1.0

    def prepared(self, moments: Moments) -> PenalizedError:
        return self

    def _full_model(self, moments: Moments) -> tuple[float, float]:
        return self.full_ridge, self.full_energy

r"""The penalised error under a ridge that is held, and the smallest set that comes near the model with all candidates.

.. math:: f = \min_w |t - \Phi w|^2 + \rho|w|^2 = t^TPt

One more candidate takes :math:`r^2/(\gamma+\rho)` from f, one function less adds :math:`w_i^2/h_i` to it (Bo, Wang and Jiao,
Theorem 3.1), with r, :math:`\gamma` and h as in `ActiveSet`. Every function lowers f, so f alone never has enough of them:
a set is enough when its f is within a share `tol` of that of all candidates, and of those that are enough the smallest is best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._typing import Floats, Indices
from skarce.criteria.all_or_nothing import AllOrNothing
from skarce.criteria.criterion import Members
from skarce.criteria.one_precision import fit_of_all
from skarce.moments import Moments
from skarce.states.active_set import ActiveSet

ALL_EXPLAINED = 1.0 - 1e-15


@dataclass(frozen=True)
class PenalizedError(AllOrNothing):
    """The squared error plus rho times the squared weights; smaller is better.

    Parameters
    ----------
    ridge : "evidence" or float
        rho: the one of largest evidence for the model with all candidates, or a number in the units of phi'phi, the sum of a
        candidate's squares over the rows (about the mean where there is an intercept).
    tol : float
        A set is enough when its f is above that of all candidates by no more than this share. `Forward`, `Backward`,
        `PlusTakeAway`, `Floating` and `Oscillating` look for the smallest such set; with their `n_basis` for the best one of that
        size. `BestAction`, which asks for single gains, adds functions as long as f falls.
    """

    ridge: float | str = "evidence"
    tol: float = 0.05

    needs_squares = False

    def __post_init__(self) -> None:
        is_number = isinstance(self.ridge, (int, float, np.number)) and not isinstance(self.ridge, bool)
        if not (0.0 < float(self.ridge) < np.inf if is_number else self.ridge == "evidence"):
            raise ValueError(f'ridge must be "evidence", or a positive number (in units of phi\'phi); got {self.ridge!r}.')
        if not self.tol >= 0.0:
            raise ValueError(f"tol must be at least 0, got {self.tol!r}.")

    @property
    def sense(self) -> int:
        """Smaller is better."""
        return -1

    def scaled(self, factor: float) -> PenalizedError:
        """Ridges and shares do not depend on the units of the target."""
        return self

    def new_state(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> ActiveSet:
        """A state that knows the model with all candidates."""
        return MeasuredSet(moments, active, ridges, given=None if isinstance(self.ridge, str) else float(self.ridge))

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Any functions can be in together."""
        return members, np.full(len(members), _full(moments, None if isinstance(self.ridge, str) else float(self.ridge))[0])

    def ranking(self, state: ActiveSet) -> Floats:
        """1 + r^2 / ((gamma + rho) f): above 1 for all that lower f at all."""
        ranking = 1.0 + self._shares(state, slice(None))
        ranking[state.moments.gram.diagonal <= 0.0] = 0.0
        ranking[state.active] = 0.0
        return ranking

    def addition(self, state: ActiveSet, candidate: int) -> tuple[float, float]:
        share = float(self._shares(state, candidate))
        return self._ridge(state), -0.5 * state.moments.n_samples * float(np.log1p(-min(share, ALL_EXPLAINED)))

    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        increments = members.weights[positions] ** 2 / members.spread()[positions]
        return -0.5 * n_samples * np.log1p(increments / members.energy)

    def score(self, members: Members, n_samples: float) -> float:
        """-n/2 log f."""
        return -0.5 * n_samples * float(np.log(members.energy))

    def worth(self, state: ActiveSet) -> float:
        """First of all whether it is enough, then by size; if not, by f. Beside n for each function no gain in f counts."""
        n, size = state.moments.n_samples, len(state)
        full = state.full_energy if isinstance(state, MeasuredSet) else _full(state.moments, self._ridge(state))[1]
        if state.energy <= (1.0 + self.tol) * full:
            return -n * size
        return -n * (state.moments.n_candidates + 1) - 0.5 * n * float(np.log(state.energy / full))

    def rejudged(self, worths: Floats, least: int, n_samples: float, n_candidates: int, tol: float) -> Floats:
        """The worths of sets of `least` functions and more under a larger `tol`; of sets that are enough already f is not known."""
        if tol < self.tol:
            raise ValueError(
                f"with_tol chooses by the tol of the criterion here, and of models within PenalizedError(tol={self.tol}) it is not "
                f"known how near they are: fit again with PenalizedError(tol={tol})."
            )
        sizes = least + np.arange(len(worths))
        log_ratios = -2.0 * (worths / n_samples + n_candidates + 1)
        return np.where(log_ratios <= np.log1p(tol), -n_samples * sizes, worths)

    def value(self, score: Any, n_samples: float, n_total: float, factor: float) -> Any:
        """f in the units of the squared target."""
        return np.exp(-2.0 * score / n_samples) / factor**2 if n_samples > 0.0 else score

    def noise_at(self, members: Members, n_samples: float) -> float:
        """f / n: where the evidence is largest with rho held."""
        return members.energy / n_samples

    def _shares(self, state: ActiveSet, where: Any) -> Any:
        total = np.maximum(state.leftover[where], 0.0) + self._ridge(state)
        return state.alignment[where] ** 2 / (total * state.energy)

    def _ridge(self, state: ActiveSet) -> float:
        if not isinstance(self.ridge, str):
            return float(self.ridge)
        if len(state):
            return float(state.ridges[0])
        return state.full_ridge if isinstance(state, MeasuredSet) else _full(state.moments, None)[0]


class MeasuredSet(ActiveSet):
    """A set beside the model with all candidates: its ridge and its penalised error."""

    def __init__(
        self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None, *, given: float | None = None
    ) -> None:
        super().__init__(moments, active, ridges)
        self.full_ridge, self.full_energy = _full(moments, given)


def _full(moments: Moments, ridge: float | None) -> tuple[float, float]:
    """Ridge and penalised error of the model with all candidates; of none where noise alone is as likely."""
    _, _, fit = fit_of_all(moments)
    if not len(fit.lengths):
        return 1.0, moments.target_energy
    if ridge is None:
        ridge = fit.best_ridge()
        if ridge >= fit.bounds[1]:
            return ridge, moments.target_energy
    return ridge, fit.energy(ridge)

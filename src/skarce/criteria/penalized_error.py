r"""The penalised error under a ridge that is held, and the smallest set that comes near the model with all candidates.

.. math:: f = \min_w |t - \Phi w|^2 + \rho|w|^2 = t^TPt

One more candidate takes :math:`r^2/(\gamma+\rho)` from f, one function less adds :math:`w_i^2/h_i` to it (Bo, Wang and Jiao,
Theorem 3.1), with r, :math:`\gamma` and h as in `ActiveSet`. Every function lowers f, so f alone never has enough of them:
a set is enough when its f is within a share `tol` of that of all candidates, and of those that are enough the smallest is best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from skarce._typing import Floats, Indices
from skarce.criteria.criterion import Criterion
from skarce.criteria.one_precision import fit_of_all
from skarce.moments import Moments
from skarce.states.members import Members
from skarce.states.state import State

ALL_EXPLAINED = 1.0 - 1e-15


@dataclass(frozen=True)
class PenalizedError(Criterion):
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

    sense: ClassVar[int] = -1

    def __post_init__(self) -> None:
        is_number = isinstance(self.ridge, (int, float, np.number)) and not isinstance(self.ridge, bool)
        if not (0.0 < float(self.ridge) < np.inf if is_number else self.ridge == "evidence"):
            raise ValueError(f'ridge must be "evidence", or a positive number (in units of phi\'phi); got {self.ridge!r}.')
        if not self.tol >= 0.0:
            raise ValueError(f"tol must be at least 0, got {self.tol!r}.")

    def prepared(self, moments: Moments) -> PenalizedError:
        """Find the model with all candidates once: its ridge and its penalized error."""
        return _WithFullModel(self.ridge, self.tol, *self._full_model(moments))

    def with_tol(self, tol: float) -> PenalizedError:
        return replace(self, tol=tol)

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Any functions can be in together."""
        return members, np.full(len(members), self._full_model(moments)[0])

    def ranking(self, state: State) -> Floats:
        """1 + r^2 / ((gamma + rho) f): above 1 for all that lower f at all."""
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
        """-n/2 log f."""
        return -0.5 * n_samples * float(np.log(members.energy))

    def worth(self, state: State) -> float:
        """First of all whether it is enough, then by size; if not, by f. Beside n for each function no gain in f counts."""
        n, size = state.moments.n_samples, len(state)
        full = self._full_model(state.moments)[1]
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

    def value(self, score: Any, n_samples: float, n_total: float, target_scale: float) -> Any:
        """f in the units of the squared target."""
        return np.exp(-2.0 * score / n_samples) / target_scale**2 if n_samples > 0.0 else score

    def noise_at(self, members: Members, n_samples: float) -> float:
        """f / n: where the evidence is largest with rho held."""
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
        """Return ridge and penalized error of the model with all candidates; of none if noise alone is as likely."""
        _, _, fit = fit_of_all(moments)
        if not len(fit.squared_norms):
            return 1.0, moments.target_energy
        if not isinstance(self.ridge, str):
            return float(self.ridge), fit.energy(float(self.ridge))
        ridge = fit.best_ridge()
        return ridge, moments.target_energy if ridge >= fit.bounds[1] else fit.energy(ridge)


@dataclass(frozen=True)
class _WithFullModel(PenalizedError):  # noqa: N818
    """The criterion during a search, which knows the model with all candidates."""

    full_ridge: float = 1.0
    full_energy: float = 1.0

    def prepared(self, moments: Moments) -> PenalizedError:
        return self

    def _full_model(self, moments: Moments) -> tuple[float, float]:
        return self.full_ridge, self.full_energy

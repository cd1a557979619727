r"""Generalized cross validation with one ridge for all weights (Orr 1995b, regularised forward selection).

At the ridge of the moment, one more candidate changes V as in `skarce.criteria.gcv` with :math:`x = 1/(\gamma+\lambda)`:

.. math:: q' = q - 2\,r\,\xi\,x + u\,r^2x^2, \qquad v' = v - u\,x .

After an addition the ridge moves to the minimum of V for the set, which is one-dimensional in the eigenvectors of the active block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skarce._typing import Floats, Indices
from skarce.criteria.one_ridge import NO_FREEDOM, SEARCHED, OrthogonalFit
from skarce.criteria.published_gcv import PublishedGCV
from skarce.moments import Moments
from skarce.states.state import DEPENDENT, State, resolved_energy

STILL = 0.01  # a ridge that would move by less than this share stays where it is
PER_DOUBLING = 128  # the ridge is looked at again after every addition, or so often while the number of functions doubles
NONE_LEFT = 1e-15  # the least share of q that rounding may leave


def check_ridge(ridge: Any) -> None:
    """A ridge is "gcv" or a number that is not negative."""
    is_number = isinstance(ridge, (int, float, np.number)) and not isinstance(ridge, bool)
    if not (ridge == "gcv" if not is_number else 0.0 <= float(ridge) < np.inf):
        raise ValueError(f'ridge must be "gcv", or a finite number that is not negative (in units of phi\'phi); got {ridge!r}.')


def first_ranking(state: State) -> Floats:
    """n kappa with kappa = o^2 / (t't p): while nothing is in, each candidate is judged at its own best ridge (FGCV errata 2.4)."""
    usable = state.leftover > 0.0
    ratio = state.alignment**2 * (state.moments.n_samples / state.energy)
    ratio /= np.where(usable, state.leftover, np.inf)
    return ratio


def first_ridge(state: State, candidate: int) -> float:
    """The ridge with the least V of one candidate alone, p (t't p - o^2) / (n o^2 - t't p), within the range that is searched."""
    length, projected = float(state.leftover[candidate]), float(state.alignment[candidate]) ** 2
    lowest, highest = (bound * length for bound in SEARCHED)
    surplus = state.moments.n_samples * projected - state.energy * length
    if not surplus > 0.0:
        return highest
    return min(max(length * (state.energy * length - projected) / surplus, lowest), highest)


def gain_of(improvement: float, n_samples: float) -> float:
    """n/2 log(V / V after)."""
    return 0.5 * n_samples * float(np.log(improvement)) if improvement > 0.0 else -np.inf


@dataclass(frozen=True)
class SharedGCV(PublishedGCV):
    """Generalized cross validation with one ridge for all weights.

    Parameters
    ----------
    ridge : "gcv" or float
        ``"gcv"`` moves the ridge to the least GCV after every addition (`Forward` asks for that); a number fixes it, in the
        units of phi'phi: the sum of a candidate's squares over the rows, about the mean where there is an intercept.
    """

    ridge: float | str = "gcv"

    needs_squares: ClassVar[bool] = True
    shares_ridge: ClassVar[bool] = True
    has_final_penalty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_ridge(self.ridge)

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Any functions can be in together, under the ridge with the least V of them."""
        ridge = self.ridge
        if isinstance(ridge, str):
            gram, projections = moments.gram.block(members, members), moments.projections[members]
            ridge = OrthogonalFit.of_block(gram, projections, resolved_energy(moments), moments.n_samples).best_ridge()
        return members, np.full(len(members), float(ridge))

    def ranking(self, state: State) -> Floats:
        """V without a candidate over V with it, above 1 exactly where adding it helps."""
        if self.ridge == "gcv" and not len(state):
            return first_ranking(state)
        usable = np.flatnonzero(state.remainder > DEPENDENT * state.moments.gram.diagonal)
        ranking = np.zeros(state.moments.n_candidates)
        ranking[usable] = _improvement(state, usable, self._ridge_of(state, -1))
        ranking[state.active] = 0.0
        return ranking

    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        ridge = self._ridge_of(state, candidate)
        return ridge, gain_of(_improvement(state, candidate, ridge), state.moments.n_samples)

    def settle(self, state: State) -> None:
        """Move the ridge to the least V of the set, and the state with it: after every addition while functions are few."""
        size = len(state)
        if self.ridge != "gcv" or not size or size % max(size // PER_DOUBLING, 1):
            return
        ridge = _best_ridge(state, size)
        if abs(ridge - state.ridges[0]) > STILL * ridge:
            state.keep(np.arange(size), np.full(size, ridge))

    def penalty(self, state: State, size: int) -> tuple[Floats, None]:
        """The ridges of the first `size` functions, the best for just these; they penalise the weights themselves."""
        if isinstance(self.ridge, str):
            return np.full(size, _best_ridge(state, size) if size else 0.0), None
        return np.full(size, float(self.ridge)), None

    def _ridge_of(self, state: State, candidate: int) -> float:
        if not isinstance(self.ridge, str):
            return float(self.ridge)
        return float(state.ridges[0]) if len(state) else first_ridge(state, candidate)


def _best_ridge(state: State, size: int) -> float:
    """The ridge with the least V of the first `size` functions."""
    moments, active = state.moments, state.active[:size]
    gram = state.gram_rows[:size, active]
    return OrthogonalFit.of_block(gram, moments.projections[active], resolved_energy(moments), moments.n_samples).best_ridge()


def _improvement(state: State, where: Any, ridge: float) -> Any:
    """V over V with one more candidate at x = 1/(gamma + lambda) (FGCV errata 2.3)."""
    x = 1.0 / (state.leftover[where] + ridge)
    explained = state.alignment[where] * x
    residual = state.residual + explained * (state.remainder[where] * explained - 2.0 * state.overlap[where])
    freedom = state.freedom - state.remainder[where] * x
    return quotient(state.residual, residual, state.freedom, freedom, state.moments.n_samples)


def quotient(residual: float, residual_after: Any, freedom: float, freedom_after: Any, n_samples: float) -> Any:
    """V over V after; 0, and so never chosen, where no freedom is left after."""
    share = np.where(freedom_after > NO_FREEDOM * n_samples, freedom_after / freedom, 0.0)
    return share**2 / np.maximum(residual_after / residual, NONE_LEFT)

"""The interface between searches and criteria."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.basis.centers import AUTO_LANDMARKS
from skarce.criteria.one_ridge import OneRidge
from skarce.moments import Moments
from skarce.states.active_set import ActiveSet
from skarce.states.judge import Judge
from skarce.states.members import Members
from skarce.states.state import State

FIRST_NOISE = 0.1  # the share of the target's variance that we take for noise when a search starts from several functions


class Changes(NamedTuple):
    """The best single change of each active function.

    Attributes
    ----------
    ridges : array of shape (n_active,)
        The best ridge of each function. Infinity means that the function is better left out.
    gains : array of shape (n_active,)
        How much the score rises if this one ridge changes.
    """

    ridges: Floats
    gains: Floats


class CompiledRule(NamedTuple):
    """What the compiled step loop must know about a criterion with one ridge per weight.

    The loop uses generalized cross validation if the state has squares, and the evidence if it does not.

    Attributes
    ----------
    noise_variance : float or None, default=None
        The noise variance if it is fixed. None if every model has its best noise variance.
    lowest_ridge : float, default=0.0
        No ridge is smaller than this.
    """

    noise_variance: float | None = None
    lowest_ridge: float = 0.0


class Criterion(Judge):
    """What makes a set of candidates good. A search needs to know nothing else.

    A new criterion must define how good a set is (`score`, `value`, `noise_at`), which candidate would help (`ranking`,
    `addition`), and how much a removal gains (`removal_gains`). All other methods have a default.

    Attributes
    ----------
    needs_squares : bool
        Whether the criterion needs quantities with P squared from the state.
    has_own_ridges : bool
        Whether each function has its own ridge, which can change while the others stay.
    shares_ridge : bool
        Whether all functions share one ridge, which is estimated again after each step.
    allows_removal : bool
        Whether functions can leave a set.
    has_final_penalty : bool
        Whether the ridges of the chosen set differ from the ridges during the search (see `penalty`).
    most_landmarks : int
        How many landmarks ``KernelBasis(centers="auto")`` offers of many rows. A criterion with slow steps takes fewer.
    """

    needs_squares: ClassVar[bool] = False
    has_own_ridges: ClassVar[bool] = False
    shares_ridge: ClassVar[bool] = False
    allows_removal: ClassVar[bool] = True
    has_final_penalty: ClassVar[bool] = False
    most_landmarks: ClassVar[int] = AUTO_LANDMARKS

    # What every criterion must define ---------------------------------------------------------------------------------------

    @abstractmethod
    def ranking(self, state: State) -> Floats:
        """Return one number per candidate that grows with the gain of adding it. It is above 1 exactly if adding helps."""

    @abstractmethod
    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        """Return the best ridge for one more candidate, and how much adding it gains."""

    @abstractmethod
    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        """Return how much the removal of each single function at `positions` gains."""

    # Methods with a default -------------------------------------------------------------------------------------------------

    def prepared(self, moments: Moments) -> Criterion:
        """Return the criterion with everything it needs to know about the data before a search. Default: itself."""
        return self

    def new_state(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> State:
        """Return the kind of state that suits the criterion. Default: an `ActiveSet`."""
        return ActiveSet(moments, active, ridges, squares=self.needs_squares)

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Return which of these functions can be active together, and their ridges.

        Default: all of them. The ridge is such that together they explain the variance of the target, with a tenth of it as noise.
        """
        return members, np.full(len(members), FIRST_NOISE * moments.gram.diagonal[members].sum() / moments.n_samples)

    def changes(self, members: Members, n_samples: float) -> Changes:
        """Return the best single change of each active function. Default: the only change is a removal."""
        n_active = len(members.ridges)
        return Changes(np.full(n_active, np.inf), self.removal_gains(members, np.arange(n_active), n_samples))

    def superfluous(self, members: Members, n_samples: float) -> NDArray[np.bool_]:
        """Tell which active functions are better left out at any ridge. Default: those whose removal costs nothing."""
        return self.removal_gains(members, np.arange(len(members.ridges)), n_samples) >= 0.0

    def derivatives(self, members: Members, n_samples: float) -> tuple[Floats, Floats, Floats]:
        """Return the gradient, the negative Hessian and a positive scale of the score, in the logarithms of the ridges.

        Default: an error, because the criterion does not have one ridge for each function.
        """
        raise TypeError(
            f"{type(self).__name__} has no ridge for each weight, so joint steps are not possible: use Forward or BestAction."
        )

    def settle(self, state: State) -> None:
        """Adjust the ridges after an addition or a removal. Default: they stay."""
        return

    def state_score(self, state: State) -> float:
        """Return the score of a state. Default: the score of its active functions."""
        return self.score(state, state.moments.n_samples)

    def worth(self, state: State) -> float:
        """Return what a search makes large. Infinite if this model is good enough. Default: the score."""
        return self.state_score(state)

    def penalty(self, state: State, size: int) -> tuple[Floats, Floats | None]:
        """Return the ridges of the first `size` functions, and the matrix M if they penalize M w instead of w.

        Used only if `has_final_penalty` is true. Default: the ridges of the state.
        """
        return state.ridges[:size].copy(), None

    def least_ridge(self, moments: Moments) -> float:
        """Return a ridge that no function has less of, in any set. The energies of `ceiling` are at this ridge. Default: 0."""
        return 0.0

    def ceiling(self, moments: Moments, left: Floats, size: int) -> Floats:
        """Return bounds on the worth of sets of `size` or more functions that leave at least these energies of the target.

        The energies are t'P t at `least_ridge`, and all positive. Default: infinite, because nothing is known about the worth.
        """
        return np.full_like(left, np.inf)

    def score_bound(self, energy: float, log_determinant: float, n_samples: float) -> float:
        """Return a bound on the score of sets with at least this t'P t and this logarithm of det(I + Phi Lambda^-1 Phi').

        The energy is not negative. Default: infinite, because nothing is known about the score.
        """
        return np.inf

    def compiled_rule(self) -> CompiledRule | None:
        """Return what the compiled step loop needs for this criterion. Default: None, the loop cannot be used."""
        return None

    def one_ridge(self) -> type[OneRidge] | None:
        """Return how the criterion chooses one ridge for all functions. Default: None, it does not say."""
        return None

    def with_tol(self, tol: float) -> Self | None:
        """Return the criterion with another tolerance. Default: None, the criterion has no tolerance."""
        return None

    def rejudged(self, worths: Floats, least: int, n_samples: float, n_candidates: int, tol: float) -> Floats:
        """Return the worths of nested sets of `least` or more functions at another tolerance. Default: the same worths."""
        return worths

"""The questions that searches ask of a criterion."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.active_set import ActiveSet
from skarce.states.judge import Judge
from skarce.states.members import Members
from skarce.states.state import State

FIRST_NOISE = 0.1  # share of the target's variance that is noise when all starting functions together explain it


class Changes(NamedTuple):
    """The best single change of each active function: its ridge (infinite: leave it out) and what that gains."""

    ridges: Floats
    gains: Floats


class CompiledRule(NamedTuple):
    """What the compiled step loop must know to take the steps of a criterion with one ridge per weight.

    The loop goes by generalized cross validation if the state has squares, else by the evidence.
    """

    noise_variance: float | None = None
    lowest_ridge: float = 0.0


class Criterion(Judge):
    """What makes a set of candidates good. Searches ask nothing else.

    A new criterion says how good a set is (`score`, `value`, `noise_at`), which candidate would help (`ranking`, `addition`), and
    what a removal gains. All other hooks have a default.
    """

    needs_squares: ClassVar[bool] = False  # whether it asks a state for quantities with P squared
    has_own_ridges: ClassVar[bool] = False  # whether each function has a ridge that can move by itself
    shares_ridge: ClassVar[bool] = False  # whether one ridge of all functions is estimated again after each step
    allows_removal: ClassVar[bool] = True  # whether functions can leave a set
    has_final_penalty: ClassVar[bool] = False  # whether the ridges of a chosen set are not those of the search: see `penalty`

    # What every criterion says ----------------------------------------------------------------------------------------------

    @abstractmethod
    def ranking(self, state: State) -> Floats:
        """Return one number per candidate, monotone in the gain of adding it, and above 1 exactly if adding it helps."""

    @abstractmethod
    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        """Return the best ridge for one more candidate, and what it gains."""

    @abstractmethod
    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        """Return what taking out each of the functions at `positions` gains."""

    # Hooks with a default ---------------------------------------------------------------------------------------------------

    def prepared(self, moments: Moments) -> Criterion:
        """Return the criterion with all that it wants to know of the data before a search. Default: itself."""
        return self

    def new_state(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> State:
        """Return a state of the kind that suits the criterion. Default: an `ActiveSet`."""
        return ActiveSet(moments, active, ridges, squares=self.needs_squares)

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Return which of these functions can be in together, and with which ridges.

        Default: all of them. Together they are given the variance of the target, and a tenth of it is noise.
        """
        return members, np.full(len(members), FIRST_NOISE * moments.gram.diagonal[members].sum() / moments.n_samples)

    def changes(self, members: Members, n_samples: float) -> Changes:
        """Return the best single change of each active function. Default: one can only be left out."""
        n_active = len(members.ridges)
        return Changes(np.full(n_active, np.inf), self.removal_gains(members, np.arange(n_active), n_samples))

    def superfluous(self, members: Members, n_samples: float) -> NDArray[np.bool_]:
        """Tell which active functions are better left out, whatever their ridge. Default: those whose removal costs nothing."""
        return self.removal_gains(members, np.arange(len(members.ridges)), n_samples) >= 0.0

    def derivatives(self, members: Members, n_samples: float) -> tuple[Floats, Floats, Floats]:
        """Return gradient, negative Hessian and a positive scale of the score in the logarithms of the ridges.

        Default: there are no ridges that could move.
        """
        raise TypeError(
            f"{type(self).__name__} has no ridge for each weight that joint steps could move: use Forward or BestAction."
        )

    def settle(self, state: State) -> None:
        """Let the ridges follow an addition or a removal. Default: they stay."""
        return

    def state_score(self, state: State) -> float:
        """Return the score of a state. Default: the score of its members."""
        return self.score(state, state.moments.n_samples)

    def worth(self, state: State) -> float:
        """Return what a search wants large; infinite if this model is enough. Default: the score."""
        return self.state_score(state)

    def penalty(self, state: State, size: int) -> tuple[Floats, Floats | None]:
        """Return the ridges of the first `size` functions, and the mixing if they penalize mixed weights.

        Asked if `has_final_penalty` is true. Default: the ridges of the state.
        """
        return state.ridges[:size].copy(), None

    def compiled_rule(self) -> CompiledRule | None:
        """Return what the compiled step loop needs to take this criterion's steps. Default: None, it cannot."""
        return None

    def with_tol(self, tol: float) -> Self | None:
        """Return the criterion with another tolerance of its own. Default: None, it has none."""
        return None

    def rejudged(self, worths: Floats, least: int, n_samples: float, n_candidates: int, tol: float) -> Floats:
        """Return the worths of nested sets of `least` functions and more under another tolerance. Default: the same."""
        return worths

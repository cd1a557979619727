"""What is common to searches that add and remove one function at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np

from skarce._memory import require
from skarce._parameters import check_count, check_finite_share, check_not_negative, is_count
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.designs.choice import ALL_ONE_BY_ONE, ONE_BY_ONE, Access
from skarce.moments import Moments
from skarce.searches.search import Search, Start
from skarce.searches.standing import Standing
from skarce.searches.walk import LimitReachedError, Walk
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome


@dataclass(frozen=True, kw_only=True, repr=False)
class OneByOne(Search):
    """Base class of searches that add and remove one function at a time. The result is the best model on the way.

    Parameters
    ----------
    patience : int, default=16
        A growing search ends if the model has this many functions more than at its last improvement.
    share : float, default=0.3
        A growing search also waits until the model has grown by this share of the functions it had at its last improvement, plus
        one, if that is more than `patience`. 16 and 0.3 are the rule of Barrio, Romero and Belanche.
    threshold : float, default=0.0
        The smallest improvement that counts. The score must rise by more than ``threshold * n_samples / 2``, and by more than the
        `tol` of the estimator. For GCV criteria, whose score is ``-n_samples / 2 * log(V)``, this is a relative reduction of V.
    n_basis : int, default=None
        Exactly this many functions, whatever the score says. With None the score decides.
    initial : sequence of int, default=None
        Indices of the candidates to start from. With None a growing search starts from the empty model, and a search that goes down
        starts from all candidates.
    always_in : sequence of int, default=None
        Indices of candidates that are in the model from the start and never leave.
    """

    patience: int = 16
    share: float = 0.3
    threshold: float = 0.0
    n_basis: int | None = None
    initial: Sequence[int] | None = None
    always_in: Sequence[int] | None = None

    def __post_init__(self) -> None:
        check_count("patience", self.patience)
        check_finite_share("share", self.share)
        check_not_negative("threshold", self.threshold)
        if self.n_basis is not None and not is_count(self.n_basis):
            raise ValueError(
                f"n_basis must be a whole number of at least 1, or None to let the score decide; got {quoted(self.n_basis)}."
            )

    def __repr__(self) -> str:
        """Return the call that makes this search. Keyword-only arguments appear only if they differ from their default."""
        given = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in signature(type(self)).parameters.items()
            if parameter.kind is not Parameter.KEYWORD_ONLY or repr(getattr(self, name)) != repr(parameter.default)
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def goes_down(self) -> bool:
        """Whether the search starts from all candidates."""
        return False

    @property
    def access(self) -> Access:
        """Columns are read one by one. A search that goes down from all candidates reads all of them."""
        return ALL_ONE_BY_ONE if self.goes_down and self.initial is None else ONE_BY_ONE

    def _run(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Fit:
        """Search from `start` (candidates and their ridges), or from where the parameters say."""
        walk = self._walk(criterion, moments, journal, start)
        try:
            outcome = self._go(walk)
        except LimitReachedError as limit:
            outcome = limit.outcome
        return walk.found(outcome)

    @abstractmethod
    def _go(self, walk: Walk) -> Outcome:
        """Go from model to model until there is a reason to stop. Return that reason."""

    def _walk(self, criterion: Criterion, moments: Moments, journal: Journal, start: Start | None) -> Walk:
        always_in = _checked(self.always_in, moments, "always_in")
        initial = _checked(self.initial, moments, "initial")
        self._check_room(always_in, initial, journal.budget.max_active)
        if start is None:
            members = self._members(moments, always_in, initial)
            start = criterion.starting(moments, members) if len(members) else None
        needed = self._needed(journal.budget.tol, moments.n_samples)
        return Walk(criterion, moments, journal, start, always_in=always_in, n_basis=self.n_basis, needed=needed)

    def replay(self, worths: Floats, least: int, n_samples: float, tol: float) -> int:
        """Return the size it would have chosen at another tolerance, among nested models of `least` or more functions."""
        sizes = range(least, least + len(worths))
        seen = list(zip(sizes, worths.tolist(), strict=True))[:: -1 if self.goes_down else 1]
        standing = Standing(*seen[0], self._needed(tol, n_samples))
        for size, worth in seen[1:]:
            if standing.worth == np.inf or (not self.goes_down and standing.is_past(size - 1, self.patience, self.share)):
                break
            standing.judge(size, worth)
        return standing.size

    def _needed(self, tol: float, n_samples: float) -> float:
        return max(tol, 0.5 * self.threshold * n_samples)

    def _members(self, moments: Moments, always_in: Indices, initial: Indices) -> Indices:
        others = initial
        if self.initial is None and self.goes_down:
            others = np.flatnonzero(moments.gram.diagonal > 0.0)
            if not moments.gram.is_whole:
                what = f"{type(self).__name__}, which starts from all {len(others)} candidates,"
                require(len(others), len(others), what, "Use fewer candidates (KernelBasis(centers=500)), initial=")
        members = np.concatenate([always_in, np.setdiff1d(others, always_in)])
        return members[moments.gram.diagonal[members] > 0.0]

    def _check_room(self, always_in: Indices, initial: Indices, max_active: int | None) -> None:
        """Check that the start fits the limits. A growing search cannot get smaller than its start, or the other way around."""
        n_start = len(np.union1d(initial, always_in))
        for name, most in (("n_basis", self.n_basis), ("max_active", max_active)):
            if most is not None and len(always_in) > most:
                raise ValueError(f"always_in has {len(always_in)} candidates, more than {name}={most} allows.")
            if most is not None and n_start > most and not self.goes_down:
                raise ValueError(
                    f"initial and always_in have {n_start} candidates, more than {name}={most} allows, and {type(self).__name__} "
                    'only grows. Give fewer candidates, or use a search that goes down from them, such as Backward ("backward").'
                )
        if self.n_basis is not None and self.goes_down and self.initial is not None and n_start < self.n_basis:
            raise ValueError(
                f"{type(self).__name__} goes down from initial and always_in, which have {n_start} candidates, fewer than "
                f"n_basis={self.n_basis}. Give more candidates, or use a search that grows."
            )


def _checked(indices: Any, moments: Moments, name: str) -> Indices:
    """Return distinct candidates in ascending order, or raise a ValueError."""
    given = np.asarray([] if indices is None else indices)
    if given.dtype == bool:
        raise ValueError(f"{name} must be indices of candidates, but is a mask of booleans: give np.flatnonzero(mask).")
    chosen = np.unique(given)
    if len(chosen) and chosen.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be indices of candidates, which are whole numbers; got {quoted(chosen[0])} of type {given.dtype}."
        )
    wrong = [int(index) for index in chosen if not 0 <= index < moments.n_candidates]
    if wrong:
        more = f" and {len(wrong) - 1} more outside this range" if len(wrong) > 1 else ""
        raise ValueError(f"{name} must be indices of candidates from 0 to {moments.n_candidates - 1}, got {wrong[0]}{more}.")
    return chosen.astype(np.intp)

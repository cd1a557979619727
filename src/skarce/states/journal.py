"""The record of a search, and whether the search may continue."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skarce._progress import QUIET, Quiet, progress
from skarce._typing import Floats, Indices
from skarce.states.budget import Budget
from skarce.states.outcome import Outcome

TRACE = np.dtype([("action", "U8"), ("index", np.intp), ("criterion", np.float64), ("n_active", np.intp)])
SQUARED_UNITS = ("increment", "objective")  # extra fields of some methods, in units of the squared target


class Journal:
    """The steps of a search in order, and whether the search may continue.

    Parameters
    ----------
    budget : Budget, default=None
        The limits. None takes the default limits.
    own : tuple of str, default=()
        Names of extra fields of the trace that only this method has.
    value : callable, default=float
        Converts a score for the scaled target into the published value in user units. It is used for printing.

    Attributes
    ----------
    n_steps : int
        Steps taken so far. Steps that were taken back count too.
    n_rows : int
        Rows of the trace. Steps that were taken back do not count.
    score : float
        The score after the last step. Larger is better.
    """

    def __init__(self, budget: Budget | None = None, own: tuple[str, ...] = (), value: Callable[[float], float] = float) -> None:
        self.budget = Budget() if budget is None else budget
        self.value = value
        self.n_steps = 0
        self.n_rows = 0
        self.score = -np.inf
        self._n_active = 0
        self._part: Quiet = QUIET
        self._limit: Outcome | None = None
        self._chunks: list[NDArray[np.void]] = []
        self._latest: list[tuple[Any, ...]] = []
        self._dtype = np.dtype([*TRACE.descr, *((name, np.float64) for name in own)]) if own else TRACE

    def note(self, action: str, index: int, score: float, n_active: int, *own: float) -> None:
        """Record a step: the action, the candidate, the score after the step, the size of the model, and the extra fields."""
        self._latest.append((action, index, score, n_active, *own))
        self.n_steps += 1
        self.n_rows += 1
        self.score, self._n_active = score, n_active
        self._tell(action)

    def note_all(self, actions: NDArray[np.str_], indices: Indices, scores: Floats, n_active: Indices) -> None:
        """Record many steps at once."""
        if not len(actions):
            return
        self._flush()
        chunk = np.empty(len(actions), dtype=self._dtype)
        chunk["action"], chunk["index"], chunk["criterion"], chunk["n_active"] = actions, indices, scores, n_active
        self._chunks.append(chunk)
        self.n_steps += len(chunk)
        self.n_rows += len(chunk)
        self.score, self._n_active = float(scores[-1]), int(n_active[-1])
        self._tell(str(actions[-1]))

    @contextmanager
    def shown(self, label: str = "searching") -> Iterator[Journal]:
        """Show the progress of the steps that are noted inside, in this journal and its branches, if there is a screen."""
        with progress(label, unit="steps", at_most=self.budget.max_steps, deadline=self.budget.deadline) as self._part:
            yield self
        self._part = QUIET

    def pass_over(self) -> None:
        """Count a step that leads nowhere. It does not enter the trace."""
        self.n_steps += 1

    def branch(self) -> Journal:
        """Return an empty journal with the same limits, for one of several ways to continue from here."""
        branch = copy(self)
        branch._chunks, branch._latest, branch.n_rows = [], [], 0
        return branch

    def take(self, branch: Journal, other: Journal | None = None) -> None:
        """Continue where `branch` ended. The steps of `other` count against the limits, but do not enter the trace."""
        lost = 0 if other is None else other.n_steps - self.n_steps
        self.n_steps = branch.n_steps + lost
        self._limit = branch._limit or (None if other is None else other._limit)
        self._chunks = [self.trace(), branch.trace()]
        self.n_rows, self.score = self.n_rows + branch.n_rows, branch.score

    def count(self, branch: Journal) -> None:
        """Count the steps of a branch against the limits. They do not enter the trace."""
        self.n_steps, self._limit = branch.n_steps, self._limit or branch._limit

    def rewind(self, n_rows: int, score: float = -np.inf) -> None:
        """Drop all rows after the first `n_rows`, because those steps were taken back. They still count against the limits."""
        self._chunks, self._latest = [self.trace()[:n_rows]], []
        self.n_rows, self.score = n_rows, score

    def trace(self) -> NDArray[np.void]:
        """Return all steps as one structured array."""
        self._flush()
        return np.concatenate(self._chunks) if self._chunks else np.empty(0, dtype=self._dtype)

    def exhausted(self, ahead: float = 0.0) -> Outcome | None:
        """Return the limit that forbids another step of `ahead` seconds, or None if the step is allowed.

        If a limit has forbidden one step, it forbids all that follow. So the outcome can be asked for at the end.
        """
        if self._limit is None and self.n_steps >= self.budget.max_steps:
            self._limit = Outcome.STEP_LIMIT
        deadline = self.budget.deadline
        if self._limit is None and deadline is not None and time.monotonic() + ahead >= deadline:
            self._limit = Outcome.TIME_LIMIT
        return self._limit

    def stopwatch(self, first: float = 0.0) -> Stopwatch:
        """Return a stopwatch for steps that take long, each about as long as the one before, and `first` seconds at first."""
        return Stopwatch(self, first)

    def _flush(self) -> None:
        if self._latest:
            self._chunks.append(np.array(self._latest, dtype=self._dtype))
            self._latest = []

    def _tell(self, action: str) -> None:
        """Show how far the search is, and with ``verbose=2`` print a line."""
        if self._part is not QUIET:
            self._part.to(self.n_steps, self._standing)
        if self.budget.verbose > 1:
            value = self.value(self.score)
            print(f"step {self.n_steps:6d}  {action:>8s}  criterion {value: .6e}  active {self._n_active:5d}", file=sys.stderr)

    def _standing(self) -> str:
        return f"{self._n_active:,} functions, criterion {self.value(self.score):.6g}"


class Stopwatch:
    """Asks the limits between steps that take long: no step begins that would end too late.

    Parameters
    ----------
    journal : Journal
        The record of the search, with its limits.
    first : float, default=0.0
        An estimate of the duration of the first step in seconds.

    Attributes
    ----------
    seconds : float
        The duration of the last step.
    """

    def __init__(self, journal: Journal, first: float = 0.0) -> None:
        self._journal = journal
        self.seconds = first
        self._started = time.monotonic() - first

    def exhausted(self, steps: float = 1.0) -> Outcome | None:
        """Return the limit that forbids `steps` more steps of the length of the last one. The next step begins now."""
        now = time.monotonic()
        self.seconds, self._started = now - self._started, now
        return self._journal.exhausted(ahead=steps * self.seconds)

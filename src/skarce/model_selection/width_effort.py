"""The limits of a search for kernel widths, and climbs within them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skarce._progress import QUIET, Quiet
from skarce._typing import Floats
from skarce.model_selection.ascent import Step, Summit, ascend
from skarce.model_selection.width_objective import RATIO_BOUNDS, WIDTH_BOUNDS, Objective

PATIENCE = 6  # steps after which a climb may be given up as hopeless
HOPE = 20.0  # a climb is hopeless if this many steps like its last one would not bring it to the value to beat


class Progress(NamedTuple):
    """What the callback of `learn_widths` gets after every iteration.

    Attributes
    ----------
    start : int
        The number of the climb, counted from 0: first the starts on few rows, then the best of them on all rows.
    n_rows : int
        The number of rows that this start uses.
    n_evaluations : int
        How often the evidence was evaluated, for all starts so far.
    log_evidence : float
        The largest log evidence so far.
    gamma : float or ndarray of shape (n_features,)
        The widths after this iteration.
    """

    start: int
    n_rows: int
    n_evaluations: int
    log_evidence: float
    gamma: Any


class _OutOfTimeError(Exception):
    """There is no time for another evaluation."""


@dataclass
class Effort:
    """The limits of the search, what it has spent, and whether there is time for another step."""

    tol: float
    max_iter: int
    deadline: float | None
    callback: Callable[[Progress], object] | None
    is_over: bool = False
    has_run_out: bool = False  # whether the time limit has ended anything
    seconds: float = 0.0  # that the last evaluation took
    n_evaluations: int = 0
    n_climbs: int = 0
    part: Quiet = QUIET  # what the user sees of it

    def climb(
        self,
        objective: Objective,
        start: Floats,
        *,
        looseness: float = 1.0,
        curvature: Floats | None = None,
        others: Sequence[Summit] = (),
        to_beat: float = -np.inf,
    ) -> Summit | None:
        """Go from one start to a maximum. Return None if the time is over.

        The climb stops if it runs into the maximum of one of the others, or if it cannot beat a value. If the time is over, only
        the start is evaluated, and only if nothing was evaluated yet.
        """
        number, self.n_climbs = self.n_climbs, self.n_climbs + 1
        if self.is_over or self.is_late():
            if objective.best_at is None:
                self._timed(objective, start)
            return None
        n_steps = 0

        def go_on(step: Step) -> bool:
            nonlocal n_steps
            n_steps += 1
            self._report(objective, number, step)
            is_hopeless = n_steps >= PATIENCE and step.value + HOPE * step.gain < to_beat
            is_known = any(objective.are_alike(step.at, other.at) for other in others)
            return not (self.is_over or self.is_late() or is_hopeless or is_known)

        try:
            return ascend(
                lambda at: self._in_time(objective, at),
                start,
                bounds(len(start)),
                tol=looseness * self.tol,
                max_iter=self.max_iter,
                curvature=curvature,
                go_on=go_on,
            )
        except _OutOfTimeError:
            self.is_over = True
            return None

    def value(self, objective: Objective, at: Floats) -> float:
        """Return the objective at one point; without time for it, minus infinity, unless nothing was evaluated yet."""
        if objective.best_at is not None and (self.is_over or self.is_late()):
            return -np.inf
        return self._timed(objective, at)[0]

    def _report(self, objective: Objective, number: int, step: Step) -> None:
        self.part.to(self.n_evaluations, lambda: f"start {number + 1}, log evidence {objective.log_evidence:.6g}")
        if self.callback is None:
            return
        gamma = objective.scale.gamma(step.at[:-1])
        try:
            self.callback(Progress(number, objective.n_rows, self.n_evaluations, objective.log_evidence, gamma))
        except StopIteration:
            self.is_over = True

    def is_late(self) -> bool:
        """Tell whether the time is over, or another evaluation would take too long."""
        late = self.deadline is not None and time.monotonic() + self.seconds >= self.deadline
        self.has_run_out = self.has_run_out or late
        return late

    def _in_time(self, objective: Objective, at: Floats) -> tuple[float, Floats]:
        """Evaluate the objective, which remembers its best point. The first evaluation is always made."""
        if objective.best_at is not None and self.is_late():
            raise _OutOfTimeError
        return self._timed(objective, at)

    def _timed(self, objective: Objective, at: Floats) -> tuple[float, Floats]:
        started = time.monotonic()
        result = objective(at)
        self.seconds = time.monotonic() - started
        self.n_evaluations += 1
        return result


def bounds(n: int) -> tuple[Floats, Floats]:
    """Return the smallest and largest logarithms of the widths and of the ratio."""
    low, high = np.full((2, n), np.log(WIDTH_BOUNDS)[:, None])
    low[-1], high[-1] = np.log(RATIO_BOUNDS)
    return low, high

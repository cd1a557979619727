"""The search for the widths of largest evidence: a race of starts on few rows, and the best of them finished on all rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skarce._typing import Floats
from skarce.model_selection.ascent import Ending, Step, Summit, ascend
from skarce.model_selection.width_data import Data, Scale
from skarce.model_selection.width_objective import RATIO_BOUNDS, WIDTH_BOUNDS, Model, Objective, Widths
from skarce.model_selection.width_prior import WidthPrior

FIRST_RATIO = 10.0  # the ratio of signal to noise at every start
FACTORS = (1.0, 0.1)  # widths of the first starts, relative to the first guess; then comes the unit start, and random ones follow
SPREAD = 1.5  # standard deviation of the random starts, in the logarithms of the widths
NARROWER = (0.0, np.log(10.0))  # added to the log widths learned with a free weight variance, for starts with a given variance
RACE_LOOSENESS = 10.0  # during the race, the tolerance is this many times `tol`
RACE_ROWS = (200, 300)  # the starts race on at least and at most this many rows, and in between ...
RACE_ROWS_PER_INPUT = 20  # ... on this many for each width
FINISHED = 2  # at most this many of the starts continue with all rows
PATIENCE = 6  # steps after which a climb may be given up as hopeless
HOPE = 20.0  # a climb is hopeless if this many steps like its last one would not bring it to the best one


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

    def climb(
        self,
        objective: Objective,
        start: Floats,
        *,
        looseness: float = 1.0,
        curvature: Floats | None = None,
        others: list[Summit] | None = None,
    ) -> Summit | None:
        """Go from one start to a maximum. Return None if there is no time, or if the maximum of another climb is better.

        If the time is over, only the start is evaluated, and only if nothing was evaluated yet.
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
            return not (self.is_over or self.is_late() or _is_pointless(objective, step, n_steps, others or []))

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


def _is_pointless(objective: Objective, step: Step, n_steps: int, others: list[Summit]) -> bool:
    """Whether a climb runs into the maximum of another one, or is too far below it."""
    return any(
        objective.are_alike(step.at, other.at) or (n_steps >= PATIENCE and step.value + HOPE * step.gain < other.value)
        for other in others
    )


def bounds(n: int) -> tuple[Floats, Floats]:
    """Return the smallest and largest logarithms of the widths and of the ratio."""
    low, high = np.full((2, n), np.log(WIDTH_BOUNDS)[:, None])
    low[-1], high[-1] = np.log(RATIO_BOUNDS)
    return low, high


def starts(scale: Scale, n_starts: int, rng: np.random.RandomState) -> list[Floats]:
    """Return starts as logarithms of widths and ratio.

    The first starts have equal widths; in one of them, each kernel is one standard deviation of its input wide. Others are drawn
    around the first guess.
    """
    ratio, n_inputs = np.log(FIRST_RATIO), len(scale.units)
    factors = (*FACTORS, float(n_inputs) if scale.is_absolute else 0.5 * n_inputs)
    equal = [np.append(np.full(scale.n_widths, np.log(factor)), ratio) for factor in factors[:n_starts]]
    drawn = rng.normal(0.0, SPREAD, (max(n_starts - len(factors), 0), scale.n_widths))
    return equal + [np.append(widths, ratio) for widths in drawn]


@dataclass(frozen=True)
class Search:
    """The search for given rows."""

    data: Data
    scale: Scale
    effort: Effort
    starts: list[Floats]
    few: Data  # the rows of the race

    @classmethod
    def of(cls, data: Data, scale: Scale, effort: Effort, n_starts: int, rng: np.random.RandomState) -> Search:
        """Draw the starts, and the rows of the race."""
        chosen = starts(scale, n_starts, rng)
        n_rows = int(np.clip(RACE_ROWS_PER_INPUT * scale.n_widths, *RACE_ROWS))
        return cls(data, scale, effort, chosen, data.thinned(n_rows, rng))

    def objective(self, data: Data, model: Model) -> Objective:
        return Objective(data, self.scale, model, WidthPrior.of(self.data, self.scale))

    def learn(self, model: Model) -> Widths:
        """Learn the widths, or return the first guess if targets or inputs do not vary."""
        whole = self.objective(self.data, model)
        if not whole.can_tell:
            return whole.first_guess()
        free = whole if model.weight_variance is None else self.objective(self.data, model._replace(weight_variance=None))
        self._finish(free, self._race(model))
        if free is not whole:
            self._climb_under_prior(whole, free)
        return whole.widths(self.effort.n_evaluations)

    def _race(self, model: Model) -> list[Summit]:
        """Climb from all starts on few rows, with the kernel as covariance. Return the maxima, scaled to all rows."""
        race = self.objective(self.few, model._replace(covariance="kernel", weight_variance=None))
        if not race.can_tell:
            race = self.objective(self.data, model._replace(covariance="kernel", weight_variance=None))
        tops: list[Summit] = []
        for start in self.starts:
            top = self.effort.climb(race, start, looseness=RACE_LOOSENESS, others=tops)
            if top is not None and top.ending is not Ending.STOPPED:
                tops.append(top)
        if not tops:
            assert race.best_at is not None
            tops = [Summit.guess(race.best_at)]
        return [top.times(len(self.data.X) / race.n_rows) for top in tops]

    def _finish(self, whole: Objective, tops: list[Summit]) -> None:
        """Continue with all rows from the best few of these points, first from the one that is best there."""
        chosen = sorted(tops, key=lambda top: -top.value)[:FINISHED]
        placed = [whole.from_process(top.at) for top in chosen]
        values = [self.effort.value(whole, at) for at in placed] if len(placed) > 1 else [0.0]
        finished: list[Summit] = []
        for place in np.argsort(values, kind="stable")[::-1]:
            top = self.effort.climb(whole, placed[place], curvature=chosen[place].curvature, others=finished)
            if top is not None:
                finished.append(top)

    def _climb_under_prior(self, whole: Objective, free: Objective) -> None:
        """Learn widths under a given weight variance: all starts use all rows.

        A given variance has local maxima that a free one does not have, and they may not exist on few rows. The first starts are
        the optimum with a free variance, and the same with narrower kernels, because more functions may have to share the signal.
        """
        assert free.best_at is not None
        tops: list[Summit] = []
        for start in [*(whole.start_at(free.best_at[:-1] + shift) for shift in NARROWER), *self.starts]:
            top = self.effort.climb(whole, start, looseness=RACE_LOOSENESS, others=tops)
            if top is not None:
                tops.append(top)
        assert whole.best_at is not None
        best = max(tops, key=lambda top: top.value, default=None)
        self.effort.climb(whole, whole.best_at, curvature=None if best is None else best.curvature)

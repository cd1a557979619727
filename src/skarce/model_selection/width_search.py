"""The search for the widths of largest evidence: a race of starts on few rows, and the best of them finished on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skarce._typing import Floats
from skarce.model_selection.ascent import Ending, Summit
from skarce.model_selection.width_data import Data, Scale
from skarce.model_selection.width_effort import Effort
from skarce.model_selection.width_objective import Model, Objective, Widths
from skarce.model_selection.width_prior import WidthPrior

FIRST_RATIO = 10.0  # the ratio of signal to noise at every start
FACTORS = (1.0, 0.1)  # widths of the first starts, relative to the first guess; then comes the unit start, and random ones follow
SPREAD = 1.5  # standard deviation of the random starts, in the logarithms of the widths
NARROWER = (0.0, np.log(10.0))  # added to the log widths learned with a free weight variance, for starts with a given variance
RACE_LOOSENESS = 3.0  # during the race, the tolerance is this many times `tol`
RACE_ROWS = (250, 400)  # the starts race on at least and at most this many rows, and in between ...
RACE_ROWS_PER_INPUT = 20  # ... on this many for each width
FINISHED = 2  # at most this many of the starts continue with all rows


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
    """The search for given rows.

    Attributes
    ----------
    data : the rows
    few : some of them, for the race of the starts
    scale : the scale of the inputs
    prior : the prior of the widths
    effort : the limits of the search
    starts : logarithms of widths and ratio
    """

    data: Data
    few: Data
    scale: Scale
    prior: WidthPrior
    effort: Effort
    starts: list[Floats]

    @classmethod
    def of(cls, data: Data, scale: Scale, effort: Effort, n_starts: int, rng: np.random.RandomState) -> Search:
        """Draw the starts, and the rows of the race."""
        chosen = starts(scale, n_starts, rng)
        n_rows = int(np.clip(RACE_ROWS_PER_INPUT * scale.n_widths, *RACE_ROWS))
        return cls(data, data.thinned(n_rows, rng), scale, WidthPrior.of(data, scale), effort, chosen)

    def learn(self, models: Sequence[Model]) -> Widths:
        """Learn the widths of the model with the largest evidence. If targets or inputs do not vary, return the first guess."""
        wholes = [Objective(self.data, self.scale, model, self.prior) for model in models]
        if not wholes[0].can_tell:
            return wholes[0].first_guess()
        frees = [
            whole if model.weight_variance is None else self._objective(self.data, model._replace(weight_variance=None))
            for whole, model in zip(wholes, models, strict=True)
        ]
        self._maximize(frees, models)
        for whole, free in zip(wholes, frees, strict=True):
            if free is not whole:
                self._climb_under_prior(whole, free)
        best = max(wholes, key=lambda whole: whole.log_evidence)
        return best.widths(self.effort.n_evaluations)

    def _objective(self, data: Data, model: Model) -> Objective:
        return Objective(data, self.scale, model, self.prior)

    def _maximize(self, wholes: list[Objective], models: Sequence[Model]) -> None:
        """Race the starts with the first model and go on from there with the others. Finish the best model, then the others.

        All but the first race start at what the first one found, and all but the best model start at the better of what their race
        and the best model found. They end as soon as they cannot win any more.
        """
        races = [self._race(models[0], [Summit.start(at) for at in self.starts])]
        for model in models[1:]:
            races.append(self._race(model, races[0], max(top.value for tops in races for top in tops)))
        finished: list[Summit] = []
        for place in np.argsort([-max(top.value for top in tops) for tops in races], kind="stable"):
            top = self._finish(wholes[place], races[place], finished)
            finished += [] if top is None else [top]

    def _race(self, model: Model, begin: list[Summit], to_beat: float = -np.inf) -> list[Summit]:
        """Climb on few rows, with the kernel as covariance. Return the maxima, or the best point if the time is over."""
        race = self._objective(self.few, model.of_process)
        if not race.can_tell:
            race = self._objective(self.data, model.of_process)
        tops: list[Summit] = []
        for start in begin:
            bar = max([to_beat, *(top.value for top in tops)])
            top = self.effort.climb(race, start.at, looseness=RACE_LOOSENESS, curvature=start.curvature, others=tops, to_beat=bar)
            if top is not None and top.ending is not Ending.STOPPED:
                tops.append(top)
        return tops or [race.best_so_far()]

    def _finish(self, whole: Objective, tops: list[Summit], finished: list[Summit]) -> Summit | None:
        """Continue with all rows from the best few of these points, first from the one that is best there.

        If other models were finished, continue from the best of these points or from the maximum of the best of those models.
        """
        rows = len(self.data.X) / len(self.few.X)  # the curvature grows with the number of rows
        chosen = sorted(tops, key=lambda top: -top.value)[: 1 if finished else FINISHED]
        begin = [
            Summit.start(whole.from_process(top.at), None if top.curvature is None else rows * top.curvature) for top in chosen
        ]
        best = max(finished, key=lambda top: top.value, default=None)
        begin += [] if best is None else [best]
        if len(begin) > 1:
            begin.sort(key=lambda start: -self.effort.value(whole, start.at))
        own: list[Summit] = []
        for start in begin[:1] if finished else begin:
            bar = max((top.value for top in (*finished, *own)), default=-np.inf)
            top = self.effort.climb(whole, start.at, curvature=start.curvature, others=own, to_beat=bar)
            own += [] if top is None else [top]
        return max(own, key=lambda top: top.value, default=None)

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
        best = max(tops, key=lambda top: top.value, default=whole.best_so_far())
        self.effort.climb(whole, best.at, curvature=best.curvature)

r"""Sparse kernel regression: models with an L1 penalty on a path of penalties. The one of least GCV is chosen.

Exact minimizers go from large penalties to small ones, and each starts from the previous one (`L1ActiveSet`). The iteration of the
paper (`LaplaceIRLS`) cannot bring a weight back from zero, so it goes from small penalties to large ones (errata 4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np

from skarce._memory import require
from skarce._parallel import on_one_blas_thread
from skarce._scales import check_parameter
from skarce._typing import Floats, Indices
from skarce.criteria.gcv import GCV
from skarce.designs.choice import ALL_ONE_BY_ONE, ONE_BY_ONE, Access
from skarce.designs.problem import Problem
from skarce.designs.repeats import times_counted
from skarce.methods.elimination.removals import most_missed
from skarce.methods.l1.active_set import L1ActiveSet
from skarce.methods.l1.irls import LaplaceIRLS, hat_trace, reweighted
from skarce.methods.method import HALF, MomentMethod
from skarce.moments import Moments
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.members import Members
from skarce.states.outcome import Outcome
from skarce.states.state import RESOLUTION

N_PENALTIES, LEAST_SHARE = 100, 1e-4  # the path of penalty="gcv": this many, down to this share of the largest useful penalty
NEXT, NEXT_UNDER_A_CAP = 0.5, 0.95  # on the way to a distant penalty, each is this share of the previous one
NEXT_TO_NONE = 1e-10  # of the largest penalty: too small to matter, but it still picks one of many solutions
FINAL_SHARE = 2.0  # the degrees of freedom and the posterior of the model that is returned take about as long as this many steps
LEAST_FREEDOM = 1.0  # degrees of freedom that a model must leave; with none it interpolates, and V = 0/0


def score_of(residual: float, freedom: float, n_samples: float) -> float:
    """Return -n/2 log V without its constant, or -inf if hardly a degree of freedom is left."""
    return n_samples * float(np.log(freedom) - 0.5 * np.log(residual)) if freedom >= LEAST_FREEDOM else -np.inf


@dataclass(frozen=True)
class LaplaceGCV(GCV):
    """GCV of a model with an L1 penalty (Park, eq. 5).

    Parameters
    ----------
    penalties : tuple of float or None
        The multipliers mu to choose from. None takes a path that follows from the data.
    counts_active : bool
        Whether every active function counts as one degree of freedom. If False, tr H counts.
    target_scale : float
        The factor that the target was multiplied by.
    times_counted : float
        How often an observation is counted, by its weight or as a repeated row.
    """

    penalties: tuple[float, ...] | None = None
    counts_active: bool = False
    target_scale: float = 1.0
    times_counted: float = 1.0

    def scaled(self, target_scale: float) -> Self:
        """Return the criterion for a scaled target. Penalties are in the units of phi't."""
        penalties = self.penalties
        if penalties is not None:
            penalties = tuple(check_parameter("penalty", penalty, penalty * target_scale) for penalty in penalties)
        return replace(self, penalties=penalties, target_scale=self.target_scale * target_scale)

    def score(self, members: Members, n_samples: float) -> float:
        residual, freedom = self._fit(members, n_samples)
        return score_of(residual, freedom, n_samples)

    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return q / v."""
        residual, freedom = self._fit(members, n_samples)
        return residual / freedom

    def _fit(self, members: Members, n_samples: float) -> tuple[float, float]:
        ridges = members.ridges
        used = len(ridges) if self.counts_active else float((1.0 - ridges * members.spread()).sum())
        residual = members.energy - float(ridges @ members.weights**2)
        return max(residual, RESOLUTION * members.energy), max(n_samples - used, RESOLUTION * n_samples)


@dataclass(frozen=True)
class L1Path(MomentMethod):
    """The L1 penalty, with its multiplier chosen by generalized cross validation.

    Parameters
    ----------
    penalties : tuple of float or None
        The multipliers to choose from. None takes a path that follows from the data.
    counts_active : bool
        Whether every active function counts as one degree of freedom.
    finish : bool
        Whether minimizers are exact. If False, reweighted least squares stops as published.
    criterion : LaplaceGCV
        The criterion without a target; `judge` adds the parameters.
    crowded : float or None
        If the model has more functions than this share of the rows, a few functions may take its place. None keeps the model.
    """

    penalties: tuple[float, ...] | None = None
    counts_active: bool = False
    finish: bool = True
    criterion: LaplaceGCV = field(default_factory=LaplaceGCV)
    crowded: float | None = None

    trace_fields: ClassVar[tuple[str, ...]] = ("penalty", "degrees_of_freedom", "steps")  # penalties in user units

    @property
    def warns_if_half(self) -> bool:
        return self.penalties is None

    @property
    def access(self) -> Access:
        return ONE_BY_ONE if self.finish else ALL_ONE_BY_ONE

    def judge(self, problem: Problem) -> LaplaceGCV:
        counted = times_counted(problem.design.rows) if self.penalties is None else 1.0
        return LaplaceGCV(penalties=self.penalties, counts_active=self.counts_active, times_counted=counted)

    def solve(self, judge: LaplaceGCV, moments: Moments, journal: Journal) -> Fit:
        return run_laplace(judge, moments, journal, self.finish)


class Solver(Protocol):
    """`L1ActiveSet` or `LaplaceIRLS`: the weights of the members are the ridge estimate with ridges penalty / magnitudes."""

    members: Indices
    weights: Floats

    @property
    def magnitudes(self) -> Floats: ...

    def minimize(self, penalty: float, tol: float, max_steps: int, is_late: Callable[[], bool] = ...) -> int: ...


class PathPoint(NamedTuple):
    """The model at one penalty of the path."""

    penalty: float
    members: Indices
    weights: Floats
    magnitudes: Floats
    steps: int
    limit: Outcome | None


@on_one_blas_thread
def run_laplace(criterion: LaplaceGCV, moments: Moments, journal: Journal, finish: bool) -> Fit:
    """Return the model of least GCV among the penalties. A single penalty gives its model."""
    largest = float(np.abs(moments.projections).max(initial=0.0))
    if not largest > 0.0:
        return Fit.empty(Outcome.CONVERGED)
    follow = _Follow(criterion, moments, journal, largest)
    if finish:
        model, outcome = follow.down(L1ActiveSet(moments))
    else:
        model, outcome = follow.up(lambda: _all_candidates(moments))
    if journal.n_steps < journal.budget.max_steps:
        follow.note("choose", model)
    # The weights of a minimizer are known to all digits. Those of the iteration follow from its ridges.
    return Fit(model.members, model.penalty / model.magnitudes, outcome, weights=model.weights if finish else None)


def _penalties(given: tuple[float, ...] | None, largest: float) -> Floats:
    """Return the penalties in descending order. Those too small to matter are raised until they pick one of many solutions."""
    if given is None:
        return largest * np.geomspace(1.0, LEAST_SHARE, N_PENALTIES)
    return np.unique(np.maximum(given, NEXT_TO_NONE * largest))[::-1]


def _all_candidates(moments: Moments) -> LaplaceIRLS:
    m = moments.n_candidates
    what = f"finish=False, which starts from all {m} candidates,"
    require(m, m, what, "Use finish=True, or fewer candidates (KernelBasis(centers=500))")
    usable = np.flatnonzero(moments.gram.diagonal > 0.0)
    gram, projections = moments.gram.block(usable, usable), moments.projections[usable]
    return LaplaceIRLS(usable, gram, projections, moments.target_energy, moments.n_samples)


class _Follow:
    """Moves a solver from one penalty to the next, and keeps the best of the models at the requested penalties."""

    def __init__(self, criterion: LaplaceGCV, moments: Moments, journal: Journal, largest: float) -> None:
        self._criterion, self._moments, self._journal = criterion, moments, journal
        self._largest, self._wanted = largest, _penalties(criterion.penalties, largest)
        self._best: PathPoint | None = None
        self._last: tuple[PathPoint, float] | None = None
        self._best_key = (-np.inf, 0.0)
        self._is_cut = False  # whether the path was cut before models that use too many functions

    def down(self, state: L1ActiveSet) -> tuple[PathPoint, Outcome]:
        """Follow the path from the largest penalty. It ends before the first model with more than `max_active` functions."""
        model, budget = PathPoint(self._largest, state.members, state.weights, state.magnitudes, 0, None), self._journal.budget
        before = self._largest
        for place, wanted in enumerate(self._wanted):
            for penalty in self._marks(before, float(wanted)):
                model_before, model = model, self._at(state, penalty)
                if budget.max_active is not None and len(state.members) > budget.max_active:
                    return self._best or model_before, Outcome.SIZE_LIMIT
                if (limit := self._journal.exhausted()) is not None:
                    return self._best or model, limit
            if self._uses_too_much(model):
                self._cut(place)
                break
            self._consider(model)
            before = min(before, float(wanted))
        return self._chosen()

    def up(self, start: Callable[[], LaplaceIRLS]) -> tuple[PathPoint, Outcome]:
        """Follow the path from the smallest penalty. Then solve the chosen penalty again from the start.

        Predictions and GCV settle long before the last functions are dropped, and functions are dropped all along the path. Solving
        again makes the result independent of the path.
        """
        self._cut_before_minimizers_use_too_much()
        state, limit = start(), None
        for penalty in self._wanted[::-1]:
            self._consider(self._at(state, float(penalty)))
            if (limit := self._journal.exhausted()) is not None:
                break
        model, outcome = self._chosen()
        if limit is None and len(self._wanted) > 1:
            model = self._at(start(), model.penalty)
        return self._capped(model, limit or model.limit or outcome)

    def _cut_before_minimizers_use_too_much(self) -> None:
        """End the path where that of the exact minimizers ends.

        The iteration itself cannot decide this: the number of functions that it has left depends on when it stopped.
        """
        if self._criterion.penalties is not None:
            return
        state = L1ActiveSet(self._moments)
        for place, penalty in enumerate(self._wanted):
            if self._uses_too_much(self._at(state, float(penalty))) or self._journal.exhausted():
                return self._cut(place)

    def _cut(self, place: int) -> None:
        self._wanted, self._is_cut = self._wanted[: max(place, 1)], True

    def _capped(self, model: PathPoint, outcome: Outcome) -> tuple[PathPoint, Outcome]:
        """Keep only the `max_active` functions that are missed most, if there is such a limit."""
        cap = self._journal.budget.max_active
        if cap is None or len(model.members) <= cap:
            return model, outcome
        gram, projections = self._moments.gram.block(model.members, model.members), self._moments.projections[model.members]
        kept = most_missed(gram, projections, np.sqrt(model.magnitudes), model.penalty, cap)
        members, magnitudes = model.members[kept], model.magnitudes[kept]
        weights = reweighted(gram[np.ix_(kept, kept)], projections[kept], magnitudes, model.penalty)
        return model._replace(members=members, weights=weights, magnitudes=magnitudes), Outcome.SIZE_LIMIT

    def _uses_too_much(self, minimizer: PathPoint) -> bool:
        """GCV cannot tell a fit from an interpolation, so the path ends before models with more functions than half of the rows."""
        n_rows = self._moments.n_samples / self._criterion.times_counted
        return self._criterion.penalties is None and len(minimizer.members) > HALF * n_rows

    def _marks(self, before: float, goal: float) -> list[float]:
        """Return the goal, preceded by penalties on the way if it is far."""
        ratio = NEXT if self._journal.budget.max_active is None else NEXT_UNDER_A_CAP
        n_steps = max(int(np.ceil(np.log(goal / before) / np.log(ratio) - 1e-9)), 1)
        return [*map(float, np.geomspace(before, goal, n_steps + 1)[1:-1]), goal] if n_steps > 1 else [goal]

    def _at(self, state: Solver, penalty: float) -> PathPoint:
        budget = self._journal.budget
        is_late, watch = False, self._journal.stopwatch()

        def asked() -> bool:
            nonlocal is_late
            is_late = is_late or watch.exhausted(1.0 + FINAL_SHARE) is Outcome.TIME_LIMIT
            return is_late

        steps = state.minimize(penalty, budget.tol, budget.max_steps, asked)
        limit = Outcome.TIME_LIMIT if is_late else Outcome.STEP_LIMIT if steps >= budget.max_steps else None
        return PathPoint(penalty, state.members, state.weights, state.magnitudes, steps, limit)

    def _consider(self, model: PathPoint) -> None:
        """Keep a model if it is better than the best so far. If scores are equal or undefined, the larger penalty wins."""
        key = self.note("penalty", model), model.penalty
        if self._best is None or key > self._best_key:
            self._best, self._best_key = model, key

    def note(self, action: str, model: PathPoint) -> float:
        """Write a model into the trace, and return its score."""
        moments, members, penalty = self._moments, model.members, model.penalty
        n, total = moments.n_samples, moments.target_energy
        used = float(len(members)) if self._criterion.counts_active else self._used_by(model)
        # |t - Phi a|^2 = t't - 2 b'a + a'G a, and G a = b - mu W a.
        explained = float(model.weights @ (moments.projections[members] + penalty * model.weights / model.magnitudes))
        residual, freedom = max(total - explained, RESOLUTION * total), n - used
        score = score_of(residual, freedom, n)
        self._journal.note(action, -1, score, len(members), penalty / self._criterion.target_scale, used, float(model.steps))
        return score

    def _used_by(self, model: PathPoint) -> float:
        """Return the degrees of freedom of a model. Those of the last one are known."""
        if self._last is None or self._last[0] is not model:
            gram = self._moments.gram.block(model.members, model.members)
            self._last = model, hat_trace(gram, model.magnitudes, model.penalty)
        return self._last[1]

    def _chosen(self) -> tuple[PathPoint, Outcome]:
        assert self._best is not None
        return self._best, self._best.limit or self._ending(self._best)

    def _ending(self, best: PathPoint) -> Outcome:
        """Return an outcome that says whether the criterion is least within the path or at one of its ends."""
        is_last = best.penalty <= self._wanted[-1]
        is_first = self._wanted[0] <= best.penalty < self._largest
        if not len(best.members) or len(self._wanted) == 1 or not (is_last or is_first):
            return Outcome.CONVERGED
        return Outcome.HALF_USED if self._is_cut and is_last else Outcome.END_OF_PATH

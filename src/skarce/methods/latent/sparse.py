"""Sparse Bayesian models of latent functions: which functions are in, and with which precisions, by `Laplace.score`.

B changes whenever the mode moves, so no Gram matrix of the candidates serves for long. The search therefore works on a pool of
candidates whose columns it holds. Only when the pool has nothing more to give are all candidates scanned, in one pass over the
kernel for all targets together, and the strongest violators make the next pool.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from skarce._memory import memory_budget
from skarce._parameters import check_choice
from skarce._typing import Floats, Indices
from skarce.basis.candidates import Evaluation
from skarce.designs.problem import Problem
from skarce.methods.latent.by_passes import ByPasses
from skarce.methods.latent.climb import FINE, Climb
from skarce.methods.latent.em import check_memory, run_em
from skarce.methods.latent.landmarks import HELD, Landmarks, held
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.model import LatentModel
from skarce.methods.latent.pool import ColumnsPool
from skarce.methods.latent.scan import Scan, scan
from skarce.methods.latent.steps import capped
from skarce.methods.method import Method
from skarce.posteriors.latent import LatentFit, LatentPosterior
from skarce.searches.pool_choice import first_pool, first_size, strongest_violators
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

LANDMARKS = Landmarks(most=1000, most_elements=10_000_000)
SOLVERS = ("fast", "em")
LEAST_COLUMNS = 32  # in a pool, however short memory is
PAUSE_MODELS, PAUSE_SECONDS = 10.0, 0.05  # a target goes on after its part of the time only if there is time for some more models


@dataclass(frozen=True)
class SparseLatent(Method[LatentFit]):
    """The relevance vector machine for targets whose likelihood is log concave but not normal, by the Laplace approximation.

    Parameters
    ----------
    solver : ``"fast"`` starts from the empty model, ``"em"`` from what expectation maximization leaves of all candidates
    random_state : seeds the first pool
    pool_size : candidates in the first pool; 4 sqrt(n_candidates) if that is more, fewer if memory is short
    violators : candidates that join the model in a later pool; half its size if that is more
    climb : how a pool is searched
    landmarks : how many landmarks stand for many rows
    """

    solver: str = "fast"
    random_state: int = 0
    pool_size: int = 256
    violators: int = 200
    climb: Climb = field(default_factory=Climb)
    landmarks: Landmarks = LANDMARKS

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, SOLVERS)

    @property
    def sense(self) -> int:
        return 1

    def n_landmarks(self, n_rows: int) -> int:
        return self.landmarks.of(n_rows)

    def run(self, problem: Problem, budget: Budget) -> LatentFit:
        return self.run_all([problem], budget)[0]

    def run_all(self, problems: Sequence[Problem], budget: Budget) -> list[LatentFit]:
        """Fit all targets; candidates are scanned in one pass for all that share their rows."""
        if any(problem.design is not problems[0].design for problem in problems):
            return super().run_all(problems, budget)
        for problem in problems:
            if not problem.likelihood.is_log_concave:
                raise ValueError(
                    f"the Laplace approximation needs a log concave likelihood, and {type(problem.likelihood).__name__} is none."
                )
        if problems[0].design.has_passes:
            return ByPasses(self, problems, budget).run()
        evaluation, means = problems[0].evaluation(HELD)
        evaluation = held(evaluation)
        journals = [Journal(budget) for _ in problems]
        starts, stopped = self._starts(evaluation, problems, journals)
        found = self.search(evaluation, starts, journals) if stopped is None else [(start, stopped) for start in starts]
        return [fit_of(*ended, means, journal) for ended, journal in zip(found, journals, strict=True)]

    def posterior(self, fit: LatentFit, problem: Problem) -> LatentPosterior:
        return LatentPosterior.of(fit, problem.observations.level)

    def search(
        self, evaluation: Evaluation, starts: Sequence[Laplace], journals: Sequence[Journal]
    ) -> list[tuple[Laplace, Outcome]]:
        """Search for every target from its start; candidates are scanned together for all targets that still move.

        The targets share the time that is left. One whose part of it is over goes on in the next round, if there is one.
        """
        limit = journals[0].exhausted()
        if limit is not None:
            return [(start, limit) for start in starts]
        models, outcomes = list(starts), [Outcome.CONVERGED] * len(starts)
        still_open, began = list(range(len(starts))), time.monotonic()
        first = scan(evaluation, models)
        rates = first[0].rate
        scan_seconds = time.monotonic() - began
        others = [self._first_pool(found, model, k) for k, (found, model) in enumerate(zip(first, models, strict=True))]
        all_seen = {k for k, model in enumerate(models) if len(others[k]) + len(model) == evaluation.n_candidates}
        while still_open:
            before = {k: models[k].score for k in still_open}
            for place, k in enumerate(still_open):
                n_left = len(still_open) - place
                models[k], outcomes[k] = self._climbed(evaluation, models[k], others[k], rates, journals[k], n_left)
            paused = [k for k in still_open if outcomes[k] is Outcome.TIME_LIMIT and _has_time(models[k], journals[k])]
            rising = [k for k in still_open if models[k].score > before[k] + FINE * journals[k].budget.tol]
            rising = [k for k in rising if outcomes[k] is Outcome.CONVERGED and k not in all_seen]
            if rising and journals[rising[0]].exhausted(ahead=scan_seconds) is Outcome.TIME_LIMIT:
                rising, outcomes = [], [Outcome.TIME_LIMIT if k in rising else outcome for k, outcome in enumerate(outcomes)]
            scans = scan(evaluation, [models[k] for k in rising], rates) if rising else []
            for k, found in zip(rising, scans, strict=True):
                others[k] = self._violators(found, models[k], journals[k])
            still_open = sorted([*paused, *(k for k in rising if len(others[k]))])
        return list(zip(models, outcomes, strict=True))

    def _climbed(
        self, evaluation: Evaluation, model: Laplace, others: Indices, rates: Floats, journal: Journal, n_left: int
    ) -> tuple[Laplace, Outcome]:
        """Search a pool in the part of the time that the first of `n_left` targets has."""
        whole = journal.budget
        journal.budget = whole.share(n_left)
        try:
            with journal.shown():
                return self.climb.run(model, ColumnsPool.of(evaluation, model, others, rates), journal)
        finally:
            journal.budget = whole

    def _starts(
        self, evaluation: Evaluation, problems: Sequence[Problem], journals: list[Journal]
    ) -> tuple[list[Laplace], Outcome | None]:
        """Return where the search begins for each target, and the limit that was reached already or None."""
        fit_intercept = problems[0].design.fit_intercept
        if self.solver == "fast":
            return [Laplace.empty(problem.observations, fit_intercept=fit_intercept) for problem in problems], None
        check_memory(evaluation)
        pairs = []
        for place, (problem, journal) in enumerate(zip(problems, journals, strict=True)):
            whole, journal.budget = journal.budget, journal.budget.share(len(problems) - place)
            pairs.append(run_em(evaluation, problem.observations, journal, fit_intercept=fit_intercept))
            journal.budget = whole
        starts = [capped(model, journal.budget.max_active) for (model, _), journal in zip(pairs, journals, strict=True)]
        return starts, next((limit for _, limit in pairs if limit is not None), None)

    def _first_pool(self, found: Scan, model: Laplace, number: int) -> Indices:
        """Return a random pool that also holds the candidates that do most by themselves."""
        n_candidates, room = len(found.quality), _room_for_columns(len(model.observations))
        size = min(n_candidates - len(model), first_size(self.pool_size, n_candidates), room)
        return first_pool(found.ratio, model.indices, size, np.random.default_rng([self.random_state, number]))

    def _violators(self, found: Scan, model: Laplace, journal: Journal) -> Indices:
        """Return the candidates that would help most, strongest first; none if none gains more than the tolerance."""
        ratio, gains = found.ratio, found.gains()
        ratio[model.indices] = gains[model.indices] = 0.0
        if gains.max(initial=0.0) <= journal.budget.tol or not journal.budget.room(len(model)):
            return np.empty(0, dtype=np.intp)
        size = min(max(self.violators, len(model) // 2), _room_for_columns(len(model.observations)))
        return strongest_violators(ratio, size)


def fit_of(model: LatentModel, outcome: Outcome, means: Floats, journal: Journal) -> LatentFit:
    """Return the end of a search, with the means of all candidates."""
    if outcome is Outcome.CONVERGED and not len(model):
        outcome = Outcome.NOTHING_HELPS
    return LatentFit.of(
        model.indices,
        model.weights,
        model.precisions,
        model.factor @ model.factor.T,
        means,
        score=model.score,
        outcome=outcome,
        trace=journal.trace(),
    )


def _has_time(model: Laplace, journal: Journal) -> bool:
    """Tell whether a target whose part of the time is over may go on, because others have left some of theirs."""
    return journal.exhausted(ahead=PAUSE_MODELS * model.seconds + PAUSE_SECONDS) is None


def _room_for_columns(n_rows: int) -> int:
    """Return how many columns fit the memory budget, and at least some."""
    return max(LEAST_COLUMNS, int(memory_budget() / (8.0 * n_rows)))

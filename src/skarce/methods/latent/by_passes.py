r"""Sparse models of latent functions whose rows can only be read block by block, by Newton steps that are passes.

Each pass adds up, for every target, the log likelihood at the current model, its slopes and its curvature in the constant and the
weights of all candidates, and :math:`\Phi^T(\rho\circ h)` (see `laplace`). These sums stand for all rows: the search for
functions and precisions runs on them (`on_sums`), from the current model, and ends at another one, about which the next pass
expands. At a fixed point the model is what a search on the rows themselves would end at.

The first model comes from a few rows, by a search on these rows. If the sample has more, passes over the sample follow, which cost
next to nothing, until they gain little. So passes over all rows begin near their end. When the functions have been found, a few
more passes make sums of these alone, until their weights and precisions have converged.

If the sample holds all rows, they are in memory, and so the search is that on the rows themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skarce._device import is_on_device, namespace, ones_before, taken, to_device, to_host
from skarce._progress import progress
from skarce._scales import negligible
from skarce._typing import Floats, Indices
from skarce.designs.design import Rows
from skarce.designs.in_memory import InMemoryDesign
from skarce.designs.latent_stream import Spread
from skarce.designs.problem import Problem
from skarce.designs.work_on_rows import Blocks, work_on_rows
from skarce.likelihoods import Likelihood
from skarce.methods.latent.functions import row_variances, weighted_gram
from skarce.methods.latent.on_sums import SumsModel, SumsOfRows, SumsPool, places_among
from skarce.moments import CONSTANT
from skarce.posteriors.latent import LatentFit
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

if TYPE_CHECKING:
    from skarce.methods.latent.sparse import SparseLatent

MOST_PASSES = 100
LOST = 1.0  # of the log likelihood: a step that loses more, against what was promised, was too long
SHARE_OF_SAMPLE = 4  # the first models may take a quarter of the time
FIRST_ROWS = 2000  # of the sample, on which a search is quick
MOST_SAMPLE_PASSES, ROUGH = 8, 1.0  # searches of the sample end if nothing gains this many nats
MOST_LAST_PASSES, FINEST = 3, 1e-10  # with the functions that were found, until the score rises by less and weights stand still


class Sketch(NamedTuple):
    """The model of one target that a pass expands the log likelihood about.

    Attributes
    ----------
    active : which candidates are in
    weights : their weights, after the constant if there is one
    level : where the constant is counted from
    root : R with R'R = H^-1, of the constant and these weights; None if it is not known yet
    """

    active: Indices
    weights: Floats
    level: float
    root: Floats | None


class Expansion(NamedTuple):
    """Sums over rows: the log likelihood, its slopes and its curvature in the constant and all weights, and Phi'(rho o h).

    All but the first are where the rows are.
    """

    value: float
    slopes: Any
    curvature: Any
    pull: Any

    @classmethod
    def total(cls, parts: Sequence[Expansion]) -> Expansion:
        """Return the sums over all parts, which stay as they are."""
        return cls(*map(_added, zip(*parts, strict=True)))


def _added(values: Sequence[Any]) -> Any:
    """Return the sum of numbers or of arrays, with no more memory than one of them takes."""
    if len(values) == 1:
        return values[0]
    total = values[0] + values[1]
    for value in values[2:]:
        total += value
    return total


def total_of_expansions(parts: Sequence[list[Expansion]]) -> list[Expansion]:
    """Return the expansions of all targets over all parts."""
    return [Expansion.total(of_target) for of_target in zip(*parts, strict=True)]


class Passes(NamedTuple):
    """Which rows passes go over, and when they end.

    Attributes
    ----------
    label : what progress is shown as
    total : adds up over the rows what a pass makes of some of them
    most : how many passes there may be
    """

    label: str
    total: Callable[[Callable[[Any], Any], Callable[[list[Any]], Any]], Any]
    most: int


@dataclass(frozen=True)
class SpreadPass:
    """The first pass: means and squares of the candidates, and means of the targets. Impossible targets raise."""

    candidates: Any
    likelihood: Likelihood
    n_outputs: int

    def __call__(self, rows: Any) -> Spread:
        for output in range(self.n_outputs if rows.targets.shape[0] else 0):
            self.likelihood.check_some_targets(to_host(rows.targets[:, output]))
        return Spread.total_of(work_on_rows(self._of_blocks, self.candidates, rows, operations=20.0))

    def _of_blocks(self, blocks: Blocks) -> Spread:
        m = self.candidates.n_candidates
        spread = Spread(0.0, np.zeros(m), np.zeros(m), np.zeros(self.n_outputs))
        for phi, targets, weights in blocks:
            if float(namespace(weights).sum(weights)) > 0.0:
                spread = spread.joined(Spread.of(phi, targets, weights))
        return spread


@dataclass(frozen=True)
class ExpansionPass:
    """A later pass: the expansions of some targets about their models, in the weights of the candidates that are summed."""

    candidates: Any
    summed: Indices
    likelihood: Likelihood
    means: Floats
    usable: Floats
    fit_intercept: bool
    outputs: list[int]
    sketches: list[Sketch]

    def __call__(self, rows: Any) -> list[Expansion]:
        operations = 2.0 * len(self.summed) ** 2 / len(self.means) * len(self.outputs)
        return total_of_expansions(work_on_rows(self._of_blocks, self.candidates, rows, operations=operations))

    def _of_blocks(self, blocks: Blocks) -> list[Expansion]:
        n = len(self.summed) + int(self.fit_intercept)
        sums: list[Expansion] | None = None
        for values, targets, weights in blocks:
            phi = values if len(self.summed) == len(self.means) else taken(values, self.summed, axis=1)
            phi -= to_device(self.means[self.summed], phi)
            phi *= to_device(self.usable[self.summed], phi)
            functions = ones_before(phi) if self.fit_intercept else phi
            models = zip(self.outputs, self.sketches, strict=True)
            own = [self._expanded(functions, targets[:, output], weights, sketch) for output, sketch in models]
            sums = own if sums is None else total_of_expansions([sums, own])
        return sums or [Expansion(0.0, np.zeros(n), np.zeros((n, n)), np.zeros(n)) for _ in self.outputs]

    def _expanded(self, functions: Floats, targets: Floats, weights: Floats, sketch: Sketch) -> Expansion:
        places = places_among(self.summed, sketch.active, int(self.fit_intercept))
        chosen = taken(functions, places, axis=1)
        latent = chosen @ to_device(sketch.weights, functions) + sketch.level
        slopes = self.likelihood.slopes(targets, latent)
        pull = to_device(np.zeros(functions.shape[1]), functions)
        if sketch.root is not None and len(sketch.root):
            pull = functions.T @ (weights * slopes.third * row_variances(chosen, sketch.root))
        return Expansion(
            float(weights @ self.likelihood.log_density(targets, latent)),
            functions.T @ (weights * slopes.first),
            weighted_gram(functions, weights * slopes.curvature),
            pull,
        )


class ByPasses:
    """The search for all targets of a design that is read block by block."""

    def __init__(self, method: SparseLatent, problems: Sequence[Problem], budget: Budget) -> None:
        self._method, self._problems, self._budget = method, problems, budget
        self._design: Any = problems[0].design
        self._likelihood, self._fit_intercept = problems[0].likelihood, self._design.fit_intercept
        self._summed = np.arange(self._design.candidates.n_candidates)
        m, n_outputs = self._design.candidates.n_candidates, len(problems)
        what = f"a pass, which makes a square matrix of all {m} candidates for each of {n_outputs} latent functions,"
        self._design.require_room(m + 1, (m + 1) * n_outputs, what, "Use fewer candidates (KernelBasis(centers=200))")

    def run(self) -> list[LatentFit]:
        """Return where the search for each target ends."""
        design, first = self._design, SpreadPass(self._design.candidates, self._likelihood, len(self._problems))
        if design.has_all_rows:
            design.set_spread(first(design.rows))
            return self._method.run_all(self._in_memory(design.rows), self._budget)
        spread = design.total(first, Spread.total_of)
        design.set_spread(spread)
        self._means = spread.means * self._fit_intercept
        raw = spread.squares + spread.total * spread.means**2
        energies = spread.squares if self._fit_intercept else raw
        self._energies = np.where(energies > np.maximum(CONSTANT * raw, negligible(spread.total)), energies, 0.0)
        self._rates = self._energies / (2.0 * self._likelihood.latent_scale**2 * spread.total)
        targets = self._first_targets()
        self._take_passes(targets, Passes("Newton steps", design.total, MOST_PASSES))
        self._take_last_passes(targets)
        return [self._fit(target) for target in targets]

    def _in_memory(self, rows: Rows) -> list[Problem]:
        """Return the problems of all targets on some rows alone."""
        design = self._design
        return InMemoryDesign(design.candidates, rows, fit_intercept=self._fit_intercept).problems(self._likelihood)

    def _first_targets(self) -> list[Target]:
        """Return where the passes over all rows begin: at models of the sample."""
        budget, has_more = replace(self._budget.share(SHARE_OF_SAMPLE), verbose=0), len(self._design.rows.targets) > FIRST_ROWS
        if has_more:
            budget = replace(budget, tol=max(ROUGH, budget.tol))
        with progress("fitting a few rows"):
            targets = self._targets_of_few_rows(budget)
        if has_more:
            self._take_passes(targets, Passes("Newton steps, sample", self._total_of_sample, MOST_SAMPLE_PASSES))
        sketches = [target.sketch._replace(root=None) for target in targets]
        return [Target(sketch, target.precisions, Journal(self._budget)) for sketch, target in zip(sketches, targets, strict=True)]

    def _targets_of_few_rows(self, budget: Budget) -> list[Target]:
        """Return what a search on a few rows of the sample finds.

        Rare labels and events may be missing from them. Then the passes begin without functions.
        """
        rows = self._few_rows()
        varied = np.flatnonzero(np.ptp(rows.targets, axis=0) > 0.0).tolist()
        problems = self._in_memory(rows)
        fits = dict(zip(varied, self._method.run_all([problems[k] for k in varied], budget) if varied else (), strict=True))
        journals = [Journal(budget) for _ in self._problems]
        return [
            self._moved(fits[k], problem, problems[k], journal) if k in fits else self._without_functions(problem, journal)
            for k, (problem, journal) in enumerate(zip(self._problems, journals, strict=True))
        ]

    def _few_rows(self) -> Rows:
        rows: Rows = self._design.rows
        n = len(rows.targets)
        if n <= FIRST_ROWS:
            return rows
        return rows.at(np.sort(np.random.default_rng(self._method.random_state).choice(n, FIRST_ROWS, replace=False)))

    def _total_of_sample(self, work: Callable[[Any], Any], add: Callable[[list[Any]], Any]) -> Any:
        return add([work(self._sample)])

    @cached_property
    def _sample(self) -> Rows:
        """The sample of the rows, on the device of the others."""
        rows, like = self._design.rows, self._design.like
        if like is None:
            return rows
        weights = None if rows.weights is None else to_device(rows.weights, like)
        return Rows(to_device(rows.X, like), to_device(rows.targets, like), weights)

    def _without_functions(self, problem: Problem, journal: Journal) -> Target:
        weights = np.zeros(int(self._fit_intercept))
        sketch = Sketch(np.empty(0, dtype=np.intp), weights, problem.observations.level, None)
        return Target(sketch, np.empty(0), journal)

    def _moved(self, fit: LatentFit, problem: Problem, few: Problem, journal: Journal) -> Target:
        """Return a model of a few rows as one about the means of all rows."""
        posterior = self._method.posterior(fit, few)
        level = problem.observations.level
        kept = self._energies[posterior.active] > 0.0
        active, weights = posterior.active[kept], posterior.mean[kept]
        constant = [posterior.intercept + self._means[active] @ weights - level] if self._fit_intercept else []
        sketch = Sketch(active, np.concatenate([constant, weights]), level, None)
        return Target(sketch, posterior.weight_precision[kept], journal)

    def _take_passes(self, targets: list[Target], passes: Passes) -> None:
        """Expand and search in turn until all targets have settled. Those that have take no part in later passes."""
        still_open, began = [k for k, target in enumerate(targets) if target.outcome is None], time.monotonic()
        with progress(passes.label, unit="passes", at_most=passes.most, deadline=self._budget.deadline) as part:
            for number in range(passes.most):
                expansions = passes.total(self._pass(still_open, targets), total_of_expansions)
                for k, expansion in zip(still_open, expansions, strict=True):
                    self._follow(targets[k], expansion)
                part.to(number + 1, lambda: _standing(targets))
                still_open = [k for k in still_open if targets[k].outcome is None]
                seconds = (time.monotonic() - began) / (number + 1)
                for k in still_open:
                    targets[k].outcome = targets[k].journal.exhausted(ahead=seconds)
                still_open = [k for k in still_open if targets[k].outcome is None]
                if not still_open:
                    break

    def _take_last_passes(self, targets: list[Target]) -> None:
        """Let the weights and precisions of the functions that were found converge. The search has ended, so its outcomes stay."""
        found = [target for target in targets if target.outcome is Outcome.CONVERGED and len(target.sketch.active)]
        if not found:
            return
        self._summed = np.unique(np.concatenate([target.sketch.active for target in found]))
        for target in found:
            target.begin_last_passes()
        self._take_passes(targets, Passes("last steps", self._design.total, MOST_LAST_PASSES))
        for target in found:
            target.outcome = Outcome.CONVERGED

    def _follow(self, target: Target, expansion: Expansion) -> None:
        """Search on the sums of a pass, or go back half of the way if the last step was too long."""
        if target.went_too_far(expansion.value):
            target.go_back_half()
            return
        start = self._start(target.sketch, target.precisions, expansion)
        candidates = target.sketch.active if target.is_closed else np.flatnonzero(self._energies > 0.0)
        with target.journal.shown():
            model, outcome = self._method.climb.run(start, SumsPool(start.sums, candidates), target.journal)
        target.step(model, expansion.value)
        if outcome is not Outcome.CONVERGED or target.has_settled(target.journal.budget.tol):
            target.outcome = outcome

    def _pass(self, outputs: list[int], targets: list[Target]) -> ExpansionPass:
        return ExpansionPass(
            self._design.candidates,
            self._summed,
            self._likelihood,
            self._means,
            (self._energies > 0.0).astype(np.float64),
            self._fit_intercept,
            list(outputs),
            [targets[k].sketch for k in outputs],
        )

    def _start(self, sketch: Sketch, precisions: Floats, expansion: Expansion) -> SumsModel:
        """Return the functions that were expanded about, at their precisions, on the sums."""
        value, *there = expansion
        slopes, curvature, pull = (to_host(values) for values in there)
        at = np.zeros(len(slopes))
        at[places_among(self._summed, sketch.active, int(self._fit_intercept))] = sketch.weights
        constant_precision = self._likelihood.latent_scale**-2 if self._fit_intercept else None
        on_device = expansion.curvature if is_on_device(expansion.curvature) else None
        sums = SumsOfRows(value, at, slopes, curvature, pull, self._rates, constant_precision, on_device, self._summed)
        return SumsModel.at_precisions(sums, precisions, sketch.active)

    def _fit(self, target: Target) -> LatentFit:
        from skarce.methods.latent.sparse import fit_of  # which runs this search

        assert target.model is not None
        return fit_of(target.model, target.outcome or Outcome.STEP_LIMIT, self._means, target.journal)


@dataclass
class Target:
    """Where the search for one target is.

    Attributes
    ----------
    sketch : the model that the next pass expands about
    precisions : of its weights
    journal : the steps so far
    model : what the last search has found, on the sums of the last pass
    outcome : how the search has ended, or None
    is_closed : whether no function enters any more, because passes have come back to functions that they had left, or at the end
    """

    sketch: Sketch
    precisions: Floats
    journal: Journal
    model: SumsModel | None = None
    outcome: Outcome | None = None
    is_closed: bool = False
    _left: set[tuple[int, ...]] = field(default_factory=set)  # the functions of models that passes have gone away from
    _before: tuple[Sketch, Floats, float] | None = None  # the model that the last step began at, and its log likelihood
    _moved: float = np.inf  # how far the last step went (see `moved_from`)
    _gained: float = np.inf  # how much its score rose over that of the step before

    def begin_last_passes(self) -> None:
        """Go on with the functions that are in, as closely as numbers tell. There is no way back to others."""
        self.outcome, self.is_closed, self._before = None, True, None
        self.journal.budget = replace(self.journal.budget, tol=min(FINEST, self.journal.budget.tol))

    def step(self, model: SumsModel, value: float) -> None:
        """Go from the model that was expanded about, of this log likelihood, to the one that was found."""
        self._before = self.sketch, self.precisions, value
        self._moved = model.moved_from(model.sums.expanded_at)
        self._gained = np.inf if self.model is None else abs(model.score - self.model.score)
        if self.model is not None and _names(self.model) != _names(model):
            self._gained = np.inf
            self._left.add(_names(self.model))
            self.is_closed |= _names(model) in self._left and model.score >= self.model.score
        self.model, self.precisions = model, model.precisions[model.learned]
        self.sketch = Sketch(model.indices, model.weights, self.sketch.level, model.root)

    def has_settled(self, tol: float) -> bool:
        """Tell whether the last pass has confirmed the model before it."""
        return self._gained <= tol and self._moved <= np.sqrt(tol)

    def went_too_far(self, value: float) -> bool:
        """Tell whether the log likelihood is much below what the quadratic promised, and below where the step began."""
        if self._before is None or self.model is None:
            return False
        promised, before = self.model.log_likelihood, self._before[2]
        return bool(value < before - LOST and promised - value > 0.5 * abs(promised - before))

    def go_back_half(self) -> None:
        """Take the middle between the model and the one that the step began at, with the functions of both."""
        assert self._before is not None
        (old, old_precisions, _), new = self._before, self.sketch
        n_fixed = len(new.weights) - len(new.active)
        active = np.union1d(old.active, new.active)
        weights, precisions = np.zeros(n_fixed + len(active)), np.empty(len(active))
        for sketch, alpha in ((old, old_precisions), (new, self.precisions)):
            places = np.searchsorted(active, sketch.active)
            weights[n_fixed + places] += 0.5 * sketch.weights[n_fixed:]
            weights[:n_fixed] += 0.5 * sketch.weights[:n_fixed]
            precisions[places] = alpha
        self.sketch, self.precisions = Sketch(active, weights, new.level, None), precisions


def _standing(targets: Sequence[Target]) -> str:
    """Return in a few words where the search is."""
    n_functions = [len(target.sketch.active) for target in targets]
    n_settled = sum(target.outcome is not None for target in targets)
    many = f", {n_settled} of {len(targets)} targets settled" if len(targets) > 1 else ""
    return f"{max(n_functions)} functions{many}"


def _names(model: SumsModel) -> tuple[int, ...]:
    return tuple(np.sort(model.indices).tolist())

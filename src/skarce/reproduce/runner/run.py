"""Runs the experiments of a paper on all cores, within a time budget. A run continues where an earlier one stopped."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from statistics import median_low
from typing import Any

from skarce import __version__
from skarce.reproduce.runner.budget import Plan, affordable_plan, full_plan, measured_costs
from skarce.reproduce.runner.paper import Choice, Contender, Experiment, Paper
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.units import Record, Unit, Work, run_units
from skarce.reproduce.runner.workers import n_processes, results_of

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Options:
    """How much to run, and on how many cores (-1: all). `repeats` None means the numbers of the paper."""

    seed: int = 0
    repeats: int | None = None
    budget_seconds: float = 3600.0
    n_jobs: int = -1


class Run:
    """One run of a paper. Results that are already in the store are not computed again.

    The first repeat of every experiment shows what a repeat costs. Then come the repeats that are tuned, and last the repeats that
    reuse the median of the choices found so far. Experiments take turns, so that all of them have results whenever the run ends.
    Only the `chosen` experiments run, but `records` also returns stored results of the others.
    """

    def __init__(
        self,
        paper: Paper,
        store: Store,
        options: Options,
        chosen: Sequence[str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.paper = paper
        self.store = store
        self.options = options
        self._clock = clock
        self._tried: set[Unit] = set()  # this run does not repeat what failed; the next run does
        self._contenders = {contender.name: contender for contender in paper.contenders}
        self._experiments = {experiment.name: experiment for experiment in paper.experiments}
        self._digests = {contender.name: settings_digest(contender, options.seed, paper) for contender in paper.contenders}
        self.wanted = full_plan({e.name: options.repeats or paper.repeats.get(e.name, e.n_repeats) for e in paper.experiments})
        self.plan = {name: share for name, share in self.wanted.items() if chosen is None or name in chosen}

    def run(self, on_progress: Progress = lambda done, total: None) -> None:
        """Compute what is missing. `on_progress` gets the number of finished units and the number of all units."""
        deadline = self._clock() + self.options.budget_seconds
        first = [self._unit(name, 0, method) for name in self.plan for method in self._methods(name)]
        self._work(first, None, on_progress)
        self.plan = self._affordable(first)
        self._work(self._units(self.plan, tuned=True), deadline, on_progress)
        self._work(self._units(self.plan, tuned=False), deadline, on_progress)

    def records(self) -> list[Record]:
        """All results under these settings in a fixed order, including those that the budget would not allow."""
        units = map(self._with_reused_choice, self._units(self.wanted, tuned=True))
        found = [record for unit in units if (record := self.store.find(unit)) and (record.failure or self.store.answers(unit))]
        return sorted(found, key=lambda record: (list(self._experiments).index(record.experiment), record.repeat))

    def _affordable(self, first: Sequence[Unit]) -> Plan:
        costs = measured_costs(record for unit in first if (record := self.store.find(unit)))
        return affordable_plan(self.plan, costs, self.options.budget_seconds, n_processes(self.options.n_jobs))

    def _units(self, plan: Plan, *, tuned: bool) -> list[Unit]:
        """The units of the tuned repeats of a plan, or of the others. Experiments take turns by the share that they have done."""
        repeats = [
            (repeat / share.n_repeats, name, repeat)
            for name, share in plan.items()
            for repeat in (range(share.n_tuned) if tuned else range(share.n_tuned, share.n_repeats))
        ]
        units = [self._unit(name, repeat, method) for _, name, repeat in sorted(repeats) for method in self._methods(name)]
        return units if tuned else [self._with_reused_choice(unit) for unit in units]

    def _methods(self, experiment: str) -> list[str]:
        return [contender.name for contender in self.paper.taking_part(self._experiments[experiment])]

    def _unit(self, experiment: str, repeat: int, method: str) -> Unit:
        return Unit(experiment, repeat, method, self._digests[method])

    def _with_reused_choice(self, unit: Unit) -> Unit:
        """The unit with the median of all choices found so far for its method, or unchanged if there are none."""
        repeats = range(self.wanted[unit.experiment].n_repeats)
        found = [self.store.find(self._unit(unit.experiment, repeat, unit.method)) for repeat in repeats]
        choices = [record.choice for record in found if record and record.tuned and record.choice is not None]
        return replace(unit, choice=median_choice(choices)) if choices else unit

    def _work(self, units: Sequence[Unit], deadline: float | None, on_progress: Progress) -> None:
        """Run those of the units that have no result, and store each result as it arrives. Nothing starts after the deadline."""
        missing = [unit for unit in units if unit not in self._tried and not self.store.answers(unit)]
        self._tried.update(missing)
        done, total = self._progress()
        on_progress(done, total)
        if not missing:
            return
        results = results_of(self._tasks(missing, deadline), n_processes(self.options.n_jobs))
        with closing(results):
            for record in itertools.chain.from_iterable(results):
                self.store.add(record)
                done += 1
                on_progress(min(done, total), total)

    def _tasks(self, units: Iterable[Unit], deadline: float | None) -> Iterator[Callable[[], list[Record]]]:
        for sequence in self._sequences(units):
            if deadline is not None and self._clock() > deadline:
                return
            contenders = {unit.method: self._contenders[unit.method] for unit in sequence}
            first = sequence[0]
            yield partial(run_units, sequence, contenders, self._work_of_repeat(first), self._learned_before(first))

    def _sequences(self, units: Iterable[Unit]) -> list[list[Unit]]:
        """Units that must run one after the other: a method, then those that follow it on the same repeat."""
        sequences: dict[tuple[str, int, str], list[Unit]] = {}
        for unit in units:
            leader = self._contenders[unit.method].follows or unit.method
            sequence = sequences.setdefault((unit.experiment, unit.repeat, leader), [])
            sequence.insert(0 if unit.method == leader else len(sequence), unit)
        return list(sequences.values())

    def _work_of_repeat(self, unit: Unit) -> Work:
        paper, experiment, seed = self.paper, self._experiments[unit.experiment], self.options.seed
        fold = experiment.split(unit.repeat, seed, paper.input_range)
        fold_seed = _fold_seed(experiment, unit.repeat, seed)
        return Work(fold, fold_seed, paper.measure, paper.target_range, paper.n_folds, paper.tuning_rows)

    def _learned_before(self, unit: Unit) -> dict[str, tuple[float, ...]]:
        """What methods have already learned on the repeat of this unit, from the store."""
        found = {name: self.store.find(self._unit(unit.experiment, unit.repeat, name)) for name in self._contenders}
        return {name: record.learned for name, record in found.items() if record and record.learned is not None}

    def _progress(self) -> tuple[int, int]:
        units = [
            self._unit(name, r, m) for name, share in self.plan.items() for r in range(share.n_repeats) for m in self._methods(name)
        ]
        return sum(self.store.find(unit) is not None for unit in units), len(units)


def settings_digest(contender: Contender, seed: int, paper: Paper) -> str:
    """A short hash of everything that decides a result, except the experiment, the repeat and the choice."""
    given = () if contender.follows is None else ((1.0,),)
    estimator = repr(contender.make(contender.choices[0] if contender.choices else None, *given))
    judged: list[Any] = [paper.measure.name, paper.input_range, paper.target_range]
    judged += [] if paper.tuning_rows is None else [paper.tuning_rows]
    content = [__version__, seed, paper.n_folds, contender.name, contender.choices, estimator, *judged, sorted(contender.extras)]
    leaders = [settings_digest(leader, seed, paper) for leader in paper.contenders if leader.name == contender.follows]
    return hashlib.sha256(json.dumps([content, leaders]).encode()).hexdigest()[:12]


def median_choice(choices: Sequence[Choice]) -> Choice:
    """The lower median, which is one of the values that were tried. If choices are tuples, each part has its own median."""
    if any(isinstance(choice, tuple) for choice in choices):
        return tuple(median_low(values) for values in zip(*choices, strict=True))  # type: ignore[arg-type]
    return median_low(choices)  # type: ignore[type-var]


def _fold_seed(experiment: Experiment, repeat: int, seed: int) -> int:
    """The seed of the folds on which choices are compared. It is the same for all methods."""
    return int(experiment.rng(repeat, seed).integers(2**31))

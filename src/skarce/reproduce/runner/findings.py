"""What the records say: the results of each method, which differences are significant, and which of the paper's claims hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skarce.reproduce.runner.pairs import LEVEL, Comparison, Verdict, comparisons, errors_by_repeat, verdict
from skarce.reproduce.runner.paper import Choice, Claim, Contender, Experiment, Pair, Paper, Printed
from skarce.reproduce.runner.units import Record


@dataclass(frozen=True)
class Summary:
    """One method on one experiment, over all repeats that were run. Averages are medians or means, as in the paper."""

    contender: Contender
    n_repeats: int
    n_tuned: int
    n_failed: int
    n_warned: int
    quartiles: tuple[float, float, float] | None
    mean: float | None
    n_functions: float | None
    choice: Choice | None
    fit_seconds: float | None
    time_ratio: float | None
    extras: Mapping[str, float] = field(default_factory=dict)
    printed: Printed = field(default_factory=Printed)


@dataclass(frozen=True)
class Finding:
    """One experiment of a paper: a summary of each method, a comparison of each pair of methods, and the records behind them."""

    paper: Paper
    experiment: Experiment
    summaries: tuple[Summary, ...]
    comparisons: dict[Pair, Comparison]
    records: tuple[Record, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.paper.claims.get(self.experiment.name, ())

    @property
    def n_repeats(self) -> int:
        """How many repeats were run."""
        return max(summary.n_repeats for summary in self.summaries)

    def summary(self, method: str) -> Summary:
        return next(summary for summary in self.summaries if summary.contender.name == method)

    def comparison(self, pair: Pair) -> Comparison | None:
        """The comparison of two methods, in either order."""
        return self.comparisons.get(pair) or self.comparisons.get((pair[1], pair[0]))

    def verdict(self, claim: Claim) -> Verdict:
        return verdict(claim, self.comparison(claim.pair), self.paper.pair_test.least_pairs)

    def standard_error(self, method: str) -> float | None:
        """The standard error of the mean test error over repeats, or None if there are fewer than two."""
        errors = list(errors_by_repeat(self.records, method).values())
        return float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else None


def findings(paper: Paper, records: Sequence[Record]) -> list[Finding]:
    """The finding of every experiment that has records."""
    found = []
    for experiment in paper.experiments:
        own = tuple(record for record in records if record.experiment == experiment.name)
        if own:
            contenders = paper.taking_part(experiment)
            summaries = tuple(_summary(paper, experiment, contender, own) for contender in contenders)
            pairs = comparisons(own, [contender.name for contender in contenders], paper.pair_test)
            found.append(Finding(paper, experiment, summaries, pairs, own))
    return found


def _summary(paper: Paper, experiment: Experiment, contender: Contender, records: Sequence[Record]) -> Summary:
    own = [record for record in records if record.method == contender.name]
    done = [record for record in own if record.error is not None]
    average = np.mean if paper.average == "mean" else np.median
    return Summary(
        contender,
        n_repeats=len(done),
        n_tuned=sum(record.tuned for record in done),
        n_failed=len(own) - len(done),
        n_warned=sum(bool(record.warnings) for record in done),
        quartiles=_quartiles([record.error for record in done if record.error is not None]),
        mean=_statistic(np.mean, [record.error for record in done]),
        n_functions=_statistic(average, [record.n_functions for record in done]),
        choice=_typical_choice([record.choice for record in done if record.choice is not None]),
        fit_seconds=_statistic(average, [record.fit_seconds for record in done]),
        time_ratio=_time_ratio(done, [record for record in records if record.method == paper.baseline]),
        extras=_extras(average, done),
        printed=paper.printed.get(experiment.name, {}).get(contender.name, Printed()),
    )


def _extras(average: Callable[[Any], Any], records: Sequence[Record]) -> dict[str, float]:
    names = dict.fromkeys(name for record in records for name in record.extras)
    return {name: float(average([record.extras[name] for record in records if name in record.extras])) for name in names}


def _typical_choice(choices: Sequence[Choice]) -> Choice | None:
    """The median. If choices are tuples, each part has its own median."""
    if not choices:
        return None
    middle = np.median(np.array(choices), axis=0)
    return float(middle) if middle.ndim == 0 else tuple(map(float, middle))


def _quartiles(values: Sequence[float]) -> tuple[float, float, float] | None:
    if not values:
        return None
    first, median, third = np.quantile(values, (0.25, 0.5, 0.75))
    return float(first), float(median), float(third)


def _statistic(statistic: Callable[[Any], Any], values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(statistic(known)) if known else None


def _time_ratio(records: Sequence[Record], baseline: Sequence[Record]) -> float | None:
    """The median ratio over the splits that both have finished. If the machine is slow for a while, both are slow."""
    theirs = {record.repeat: record.fit_seconds for record in baseline if record.fit_seconds}
    ratios = [r.fit_seconds / theirs[r.repeat] for r in records if r.fit_seconds is not None and r.repeat in theirs]
    return float(np.median(ratios)) if ratios else None


def verdict_counts(found: Sequence[Finding]) -> dict[Verdict, int]:
    """How many of the paper's significant claims have each verdict."""
    verdicts = [finding.verdict(claim) for finding in found for claim in finding.claims if claim.p_value < LEVEL]
    return {kind: verdicts.count(kind) for kind in Verdict if kind in verdicts}

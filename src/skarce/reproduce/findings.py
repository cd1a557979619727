"""What the records say: what each method reached, which differences are significant, and which of the paper's claims hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce.reproduce.paper import Claim, Contender, Experiment, Pair, Paper
from skarce.reproduce.signed_rank import LEVEL, Comparison, Verdict, comparisons, verdict
from skarce.reproduce.units import Record


@dataclass(frozen=True)
class Summary:
    """One method on one experiment, over the repeats that were run; medians where nothing else is said."""

    contender: Contender
    n_repeats: int
    n_tuned: int
    n_failed: int
    n_warned: int
    quartiles: tuple[float, float, float] | None
    mean: float | None
    n_functions: float | None
    gamma: float | None
    fit_seconds: float | None
    time_ratio: float | None


@dataclass(frozen=True)
class Finding:
    """One experiment: its summaries and the comparison of every pair of methods."""

    experiment: Experiment
    summaries: tuple[Summary, ...]
    comparisons: dict[Pair, Comparison]
    claims: tuple[Claim, ...]

    def summary(self, method: str) -> Summary:
        return next(summary for summary in self.summaries if summary.contender.name == method)

    def comparison(self, pair: Pair) -> Comparison | None:
        """The comparison of two methods, whichever is named first."""
        return self.comparisons.get(pair) or self.comparisons.get((pair[1], pair[0]))


def findings(paper: Paper, records: Sequence[Record]) -> list[Finding]:
    """What the records say of every experiment that has any."""
    found = []
    for experiment in paper.experiments:
        own = [record for record in records if record.experiment == experiment.name]
        if own:
            summaries = tuple(_summary(contender, own, paper.baseline) for contender in paper.contenders)
            pairs = comparisons(own, [contender.name for contender in paper.contenders])
            found.append(Finding(experiment, summaries, pairs, paper.claims.get(experiment.name, ())))
    return found


def _summary(contender: Contender, records: Sequence[Record], baseline: str | None) -> Summary:
    own = [record for record in records if record.method == contender.name]
    done = [record for record in own if record.error is not None]
    return Summary(
        contender,
        n_repeats=len(done),
        n_tuned=sum(record.tuned for record in done),
        n_failed=len(own) - len(done),
        n_warned=sum(bool(record.warnings) for record in done),
        quartiles=_quartiles([record.error for record in done if record.error is not None]),
        mean=_statistic(np.mean, done, "error"),
        n_functions=_statistic(np.median, done, "n_functions"),
        gamma=_statistic(np.median, done, "gamma"),
        fit_seconds=_statistic(np.median, done, "fit_seconds"),
        time_ratio=_time_ratio(done, [record for record in records if record.method == baseline]),
    )


def _quartiles(values: Sequence[float]) -> tuple[float, float, float] | None:
    if not values:
        return None
    first, median, third = np.quantile(values, (0.25, 0.5, 0.75))
    return float(first), float(median), float(third)


def _statistic(statistic: Callable[[Any], Any], records: Sequence[Record], name: str) -> float | None:
    known = [value for record in records if (value := getattr(record, name)) is not None]
    return float(statistic(known)) if known else None


def _time_ratio(records: Sequence[Record], baseline: Sequence[Record]) -> float | None:
    """The median over the splits that both have done: what slows a machine down for a while slows both."""
    theirs = {record.repeat: record.fit_seconds for record in baseline if record.fit_seconds}
    ratios = [r.fit_seconds / theirs[r.repeat] for r in records if r.fit_seconds is not None and r.repeat in theirs]
    return float(np.median(ratios)) if ratios else None


def verdict_counts(found: Sequence[Finding]) -> dict[Verdict, int]:
    """How many of the paper's significant claims have each verdict."""
    verdicts = [
        verdict(claim, finding.comparison(claim.pair)) for finding in found for claim in finding.claims if claim.p_value < LEVEL
    ]
    return {kind: verdicts.count(kind) for kind in Verdict if kind in verdicts}

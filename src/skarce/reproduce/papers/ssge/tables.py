"""The tables of the paper on searches guided by the evidence, our numbers next to the printed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from skarce.reproduce.papers.ssge.contenders import EVIDENCE, OPERATIONS, REJECTED, SEARCHES
from skarce.reproduce.papers.ssge.data import LARGEST, prototask_of, size_of
from skarce.reproduce.papers.ssge.printed import FUNCTIONS, ORDERS, WORSE
from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.formatting import beside, duration, markdown_table, marked_if_least, number_text

SAME_EVIDENCE = 1e-3  # log evidences that differ by less count as equal
LEAST_POSITIVE = 1e-12  # stands for zero in geometric means
Number = Callable[[Summary], float | None]


def overview(found: Sequence[Finding]) -> list[str]:
    """Tables I to IV, the evidence that each search reached, and the errors on all tasks."""
    largest = max(size_of(finding) for finding in found)
    at_largest = [finding for finding in found if size_of(finding) == largest]
    rows = f"{largest} training rows" + ("" if largest == LARGEST else f" (the paper has {LARGEST}; its numbers are not shown)")
    return [
        "## Table I: the number of tasks on which the method of the row was worse than that of the column",
        f"There are {len(found)} tasks, {_n_tested(found)} of them with at least two instances. A difference counts if p is below "
        "0.05 in a paired t-test. The paper's numbers, for 40 tasks, are in parentheses.",
        worse_table(found),
        f"## Table II: mean number of functions, {rows}",
        _count_table(at_largest, tuple(FUNCTIONS), lambda s: s.n_functions, lambda s: s.printed.n_functions),
        f"## Table III: mean number of functions added and removed, {rows}",
        _count_table(at_largest, SEARCHES, lambda s: s.extras.get(OPERATIONS), lambda s: s.printed.extras.get(OPERATIONS)),
        _rejected_sentence(at_largest),
        f"## Final evidence: mean log evidence of the models found, {rows}",
        "This is the evidence of a set, eq. (4) of the paper, for scaled targets. Only differences within a column are meaningful. "
        "The paper prints no evidence, but says that SFFS reached the highest.",
        _by_prototask(at_largest, SEARCHES, lambda s: number_text(s.extras.get(EVIDENCE), ".2f")),
        highest_evidence_sentence(found),
        "## Table IV: the searches in order, the best first",
        order_table(found),
        "## Mean NMSE on every task",
        error_table(found),
    ]


def worse_counts(found: Sequence[Finding]) -> dict[str, dict[str, int]]:
    """On how many tasks the first method was significantly worse than the second."""
    counts = {first: {second: 0 for second in WORSE if second != first} for first in WORSE}
    for comparison in (comparison for finding in found for comparison in finding.comparisons.values()):
        if comparison.is_significant and comparison.better is not None and comparison.worse is not None:
            counts[comparison.worse][comparison.better] += 1
    return counts


def worse_table(found: Sequence[Finding]) -> str:
    """Our counts, with the paper's in parentheses."""
    counts, label = worse_counts(found), found[0].paper.label
    rows = [
        [label(row), *("-" if row == column else beside(str(counts[row][column]), str(WORSE[row][column])) for column in WORSE)]
        for row in WORSE
    ]
    return markdown_table(["", *map(label, WORSE)], rows)


def _n_tested(found: Sequence[Finding]) -> int:
    return sum(any(comparison.n_pairs > 1 for comparison in finding.comparisons.values()) for finding in found)


def _count_table(found: Sequence[Finding], methods: Sequence[str], ours: Number, printed: Number) -> str:
    """Our mean counts, with the paper's in parentheses."""
    return _by_prototask(found, methods, lambda s: beside(_count(ours(s)), number_text(printed(s), "g")))


def _count(value: float | None) -> str:
    return number_text(value, ".0f" if value is not None and value >= 100.0 else ".3g")


def _by_prototask(found: Sequence[Finding], methods: Sequence[str], cell: Callable[[Summary], str]) -> str:
    """A row for each method, a column for each prototask."""
    label = found[0].paper.label
    rows = [[label(method), *(cell(finding.summary(method)) for finding in found)] for method in methods]
    return markdown_table(["", *map(prototask_of, found)], rows)


def _rejected_sentence(found: Sequence[Finding]) -> str:
    numbers = [(prototask_of(finding), finding.summary("sffs").extras.get(REJECTED)) for finding in found]
    listed = ", ".join(f"{name} {number:.0f}" for name, number in numbers if number is not None)
    return f"Removals that SFFS tried and rejected, not counted above: {listed}." if listed else "SFFS was not run."


def highest_evidence_sentence(found: Sequence[Finding]) -> str:
    """On how many instances of all tasks each search had the highest evidence. Several searches may share it."""
    wins, n_instances = dict.fromkeys(SEARCHES, 0), 0
    for evidences in (own for finding in found for own in _evidences(finding).values() if len(own) == len(SEARCHES)):
        n_instances += 1
        for method, evidence in evidences.items():
            wins[method] += evidence >= max(evidences.values()) - SAME_EVIDENCE
    label = found[0].paper.label
    listed = ", ".join(f"{label(method)} {n}" for method, n in wins.items())
    highest = f"How often each search had the highest evidence (to {SAME_EVIDENCE:g})"
    return f"{highest} over {n_instances} instances of all tasks: {listed}."


def _evidences(finding: Finding) -> dict[int, dict[str, float]]:
    """The evidence of every search on every instance."""
    found: dict[int, dict[str, float]] = {}
    for record in finding.records:
        if EVIDENCE in record.extras:
            found.setdefault(record.repeat, {})[record.method] = record.extras[EVIDENCE]
    return found


def order_table(found: Sequence[Finding]) -> str:
    """The searches, ordered by the geometric mean over tasks of fit time, size and error."""
    measures: Mapping[str, tuple[Number, Callable[[float], str]]] = {
        "training time": (lambda s: s.fit_seconds, duration),
        "model size": (lambda s: s.n_functions, lambda value: f"{value:.3g}"),
        "prediction error": (lambda s: s.mean, lambda value: f"{value:.4f}"),
    }
    label, rows = found[0].paper.label, []
    for name, (number, written) in measures.items():
        means = {method: typical(found, method, number) for method in SEARCHES}
        ordered = sorted(means, key=lambda method: means[method])
        rows.append([name, ", ".join(f"{label(method)} {written(means[method])}" for method in ordered), ORDERS[name]])
    return markdown_table(["by", "ours (geometric mean over tasks)", "the paper's"], rows, left=(0, 1, 2))


def typical(found: Sequence[Finding], method: str, number: Number) -> float:
    """The geometric mean of a number over the tasks that have it."""
    values = [value for finding in found if (value := number(finding.summary(method))) is not None]
    return float(np.exp(np.mean(np.log(np.maximum(values, LEAST_POSITIVE))))) if values else np.nan


def error_table(found: Sequence[Finding]) -> str:
    """A row for each task, a column for each method. The smallest mean is marked."""
    contenders = found[0].paper.contenders
    rows = []
    for finding in found:
        means = [finding.summary(contender.name).mean for contender in contenders]
        least = min((mean for mean in means if mean is not None), default=None)
        cells = [marked_if_least(mean, least, ".4f", otherwise=" ") for mean in means]
        n_done = f"{finding.n_repeats} of {finding.experiment.n_repeats}"
        rows.append([prototask_of(finding), str(size_of(finding)), n_done, *cells])
    return markdown_table(["task", "rows", "instances", *(contender.label for contender in contenders)], rows)

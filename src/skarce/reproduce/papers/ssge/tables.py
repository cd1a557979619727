"""The tables of the paper on searches guided by the evidence, ours beside the printed ones, and a picture of all tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.page import markdown_table
from skarce.reproduce.runner.summary_table import duration, text

PROTOTASKS = ("puma8fh", "puma8fm", "puma8nh", "puma8nm", "kin8fh", "kin8fm", "kin8nh", "kin8nm")
LARGEST = 1024
OPERATIONS, REJECTED, EVIDENCE = "added + removed", "rejected", "log evidence"
SEARCHES = ("pta10", "pta21", "sffs", "oscillating5")

# Table I: the number of tasks (of 40) on which the method of the row was worse than that of the column.
WORSE = {
    "pta10": {"pta21": 0, "sffs": 0, "oscillating5": 6, "abf": 6, "rvm": 3, "svm": 4, "ols": 0},
    "pta21": {"pta10": 3, "sffs": 0, "oscillating5": 3, "abf": 9, "rvm": 1, "svm": 4, "ols": 0},
    "sffs": {"pta10": 9, "pta21": 5, "oscillating5": 11, "abf": 13, "rvm": 3, "svm": 6, "ols": 0},
    "oscillating5": {"pta10": 4, "pta21": 0, "sffs": 0, "abf": 7, "rvm": 0, "svm": 1, "ols": 0},
    "abf": {"pta10": 1, "pta21": 1, "sffs": 0, "oscillating5": 2, "rvm": 2, "svm": 2, "ols": 0},
    "rvm": {"pta10": 8, "pta21": 3, "sffs": 1, "oscillating5": 6, "abf": 12, "svm": 3, "ols": 0},
    "svm": {"pta10": 5, "pta21": 2, "sffs": 0, "oscillating5": 6, "abf": 5, "rvm": 2, "ols": 0},
    "ols": {"pta10": 21, "pta21": 17, "sffs": 8, "oscillating5": 19, "abf": 19, "rvm": 13, "svm": 11},
}
# Table IV, the best first.
ORDERS = {
    "training time": "PTA(1,0), PTA(2,1), Oscillating(5), SFFS",
    "model size": "SFFS, PTA(2,1), then PTA(1,0) and Oscillating(5)",
    "prediction error": "Oscillating(5), PTA(1,0), PTA(2,1), SFFS",
}


def overview(found: Sequence[Finding]) -> list[str]:
    """Tables I to IV, the evidence that each search reached, and the errors on all tasks."""
    largest = max(size_of(finding) for finding in found)
    at_largest = [finding for finding in found if size_of(finding) == largest]
    rows = f"{largest} training rows" + ("" if largest == LARGEST else f" (the paper has {LARGEST}, and is not shown)")
    functions = _by_prototask(at_largest, METHODS_OF_TABLE_II, lambda s: s.n_functions, lambda s: s.printed.n_functions)
    operations = _by_prototask(at_largest, SEARCHES, lambda s: s.extras.get(OPERATIONS), lambda s: s.printed.extras.get(OPERATIONS))
    return [
        "## Table I: the number of tasks on which the method of the row was worse than that of the column",
        f"Of {len(found)} tasks, {_n_judged(found)} with two instances or more; p below 0.05 in a paired t-test. In brackets the "
        "paper's, of 40 tasks.",
        worse_table(found),
        f"## Table II: mean number of functions, {rows}",
        functions,
        f"## Table III: mean number of functions added and removed, {rows}",
        operations,
        _rejected_sentence(at_largest),
        f"## Final evidence: mean log evidence of the models found, {rows}",
        "The evidence of a set, eq. (4) of the paper, for scaled targets; only differences within a column have a meaning. The "
        "paper prints none, and says that SFFS reached the highest.",
        _by_prototask(at_largest, SEARCHES, lambda s: s.extras.get(EVIDENCE), lambda s: None, ".2f"),
        highest_evidence_sentence(found),
        "## Table IV: the searches in order, the best first",
        order_table(found),
        "## Mean NMSE on every task",
        error_table(found),
    ]


METHODS_OF_TABLE_II = (*SEARCHES, "rvm", "svm", "ols")


def size_of(finding: Finding) -> int:
    return int(finding.experiment.name.rpartition("-")[2])


def prototask_of(finding: Finding) -> str:
    return finding.experiment.name.rpartition("-")[0]


def worse_counts(found: Sequence[Finding]) -> dict[str, dict[str, int]]:
    """How often the first method was significantly worse than the second."""
    counts = {first: {second: 0 for second in WORSE if second != first} for first in WORSE}
    for comparison in (comparison for finding in found for comparison in finding.comparisons.values()):
        if comparison.is_significant and comparison.better is not None and comparison.worse is not None:
            counts[comparison.worse][comparison.better] += 1
    return counts


def worse_table(found: Sequence[Finding]) -> str:
    """Ours, and the paper's in brackets."""
    counts, label = worse_counts(found), found[0].paper.label
    rows = [
        [label(row), *("-" if row == column else f"{counts[row][column]} ({WORSE[row][column]})" for column in WORSE)]
        for row in WORSE
    ]
    return markdown_table(["", *map(label, WORSE)], rows)


def _n_judged(found: Sequence[Finding]) -> int:
    return sum(any(comparison.n_pairs > 1 for comparison in finding.comparisons.values()) for finding in found)


def _by_prototask(
    found: Sequence[Finding],
    methods: Sequence[str],
    ours: Callable[[Summary], float | None],
    theirs: Callable[[Summary], float | None],
    spec: str = ".3g",
) -> str:
    """A row per method and a column per prototask; the paper's number in brackets."""
    label = found[0].paper.label
    rows = [[label(m), *(_beside(ours(s), theirs(s), spec) for s in (finding.summary(m) for finding in found))] for m in methods]
    return markdown_table(["", *map(prototask_of, found)], rows)


def _beside(ours: float | None, theirs: float | None, spec: str) -> str:
    number = text(ours, ".0f" if ours is not None and spec == ".3g" and ours >= 100.0 else spec)
    return number if theirs is None else f"{number} ({theirs:g})"


def _rejected_sentence(found: Sequence[Finding]) -> str:
    numbers = [(prototask_of(finding), finding.summary("sffs").extras.get(REJECTED)) for finding in found]
    listed = ", ".join(f"{name} {number:.0f}" for name, number in numbers if number is not None)
    return f"SFFS tried and rejected so many removals more: {listed}." if listed else "SFFS was not run."


def highest_evidence_sentence(found: Sequence[Finding]) -> str:
    """On how many instances of all tasks each search had the highest evidence; several may share it."""
    wins, n_instances = dict.fromkeys(SEARCHES, 0), 0
    for evidences in (own for finding in found for own in _evidences(finding).values() if len(own) == len(SEARCHES)):
        n_instances += 1
        for method, evidence in evidences.items():
            wins[method] += evidence >= max(evidences.values()) - 1e-3
    label = found[0].paper.label
    listed = ", ".join(f"{label(method)} {n}" for method, n in wins.items())
    return f"Highest of the four (to 0.001) over {n_instances} instances of all tasks: {listed}."


def _evidences(finding: Finding) -> dict[int, dict[str, float]]:
    """The evidence of every search on every instance."""
    found: dict[int, dict[str, float]] = {}
    for record in finding.records:
        if EVIDENCE in record.extras:
            found.setdefault(record.repeat, {})[record.method] = record.extras[EVIDENCE]
    return found


def order_table(found: Sequence[Finding]) -> str:
    """The searches ordered by the geometric mean over tasks of fit time, size and error."""
    measures: Mapping[str, tuple[Callable[[Summary], float | None], Callable[[float], str]]] = {
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


def typical(found: Sequence[Finding], method: str, number: Callable[[Summary], float | None]) -> float:
    """The geometric mean of a number over the tasks that have it; a model without functions counts as one."""
    values = [value for finding in found if (value := number(finding.summary(method))) is not None]
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-12))))) if values else np.nan


def error_table(found: Sequence[Finding]) -> str:
    """One row per task, one column per method; the least mean is marked."""
    contenders = found[0].paper.contenders
    rows = []
    for finding in found:
        means = [finding.summary(contender.name).mean for contender in contenders]
        least = min((mean for mean in means if mean is not None), default=None)
        cells = [text(mean, ".4f") + ("*" if mean is not None and mean == least else " ") for mean in means]
        n_done = max(summary.n_repeats for summary in finding.summaries)
        rows.append([prototask_of(finding), str(size_of(finding)), f"{n_done} of {finding.experiment.n_repeats}", *cells])
    return markdown_table(["task", "rows", "instances", *(contender.label for contender in contenders)], rows)


def draw(found: Sequence[Finding], folder: Path) -> list[str]:
    """Errors over that of all functions, and sizes, by the number of training rows: one file each."""
    from skarce.reproduce.papers.ssge.pictures import draw_lines

    return draw_lines(found, folder)

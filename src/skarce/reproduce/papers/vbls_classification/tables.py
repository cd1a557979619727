"""Tables 6 and 7 of the paper on variational least squares, ours beside the printed ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.page import markdown_table
from skarce.reproduce.runner.summary_table import duration, text

BENCHMARKS = ("ripley", "banana", "pima")
IN_THE_PLANE = ("ripley", "banana")
MNIST_ROWS = (1000, 3000, 5000, 10_000)
N_FIRST = 500
ON_FIRST = f"error on {N_FIRST}"


def mnist_name(n_rows: int) -> str:
    return f"mnist-{n_rows}"


def overview(found: Sequence[Finding]) -> list[str]:
    """The parts of the page for which there are results."""
    by_name = {finding.experiment.name: finding for finding in found}
    benchmarks = [by_name[name] for name in BENCHMARKS if name in by_name]
    images = {n: by_name[name] for n in MNIST_ROWS if (name := mnist_name(n)) in by_name}
    parts: list[str] = []
    if benchmarks:
        parts += [
            "## Table 6: mean test error, per cent",
            "In brackets those of the paper.",
            error_table(benchmarks),
            "Standard errors over trials, mean number of functions (vectors, or inputs of the linear model), mean fit time, and "
            "p-values of the errors against those of VBLS-RVM:",
            detail_table(benchmarks),
        ]
    if images:
        parts += [
            "## Table 7: MNIST, zero against the rest: test error, per cent, and fit time",
            f"On the first {N_FIRST} test images, as many as the paper has (its numbers in brackets), and on 2000.",
            mnist_table(images),
        ]
    return parts


def error_table(found: Sequence[Finding]) -> str:
    """A row per data set, a column per method; the least mean is marked."""
    methods = [summary.contender for summary in found[0].summaries]
    rows = []
    for finding in found:
        least = min((s.mean for s in finding.summaries if s.mean is not None), default=None)
        cells = [_with_mark(s.mean, least) + _brackets(text(s.printed.error, "g")) for s in finding.summaries]
        rows.append([finding.experiment.title, str(_n_trials(finding)), *cells])
    return markdown_table(["", "trials", *(method.label for method in methods)], rows)


def detail_table(found: Sequence[Finding]) -> str:
    """A row per method on each data set."""
    rows = [
        [
            finding.experiment.title,
            summary.contender.label,
            text(summary.mean, ".2f"),
            text(standard_error(finding, summary), ".2f"),
            text(summary.n_functions, ".1f"),
            duration(summary.fit_seconds),
            _p_value(finding, summary),
        ]
        for finding in found
        for summary in finding.summaries
    ]
    return markdown_table(["data", "method", "error", "standard error", "functions", "fit", "p"], rows, left=(0, 1))


def mnist_table(found: dict[int, Finding]) -> str:
    """A row per method and number of training rows; the paper's in brackets."""
    rows = []
    for n, finding in found.items():
        for summary in finding.summaries:
            on_first, printed = summary.extras.get(ON_FIRST), summary.printed.extras.get(ON_FIRST)
            rows.append(
                [
                    str(n),
                    summary.contender.label,
                    text(on_first, ".1f") + _brackets(text(printed, "g")),
                    text(summary.mean, ".2f"),
                    text(summary.n_functions, ".0f"),
                    duration(summary.fit_seconds) + _brackets(duration(summary.printed.fit_seconds)),
                ]
            )
    return markdown_table(["rows", "method", f"error on {N_FIRST}", "on 2000", "functions", "fit"], rows, left=(1,))


def standard_error(finding: Finding, summary: Summary) -> float | None:
    """Of the mean over trials; None where there is but one."""
    errors = [r.error for r in finding.records if r.method == summary.contender.name and r.error is not None]
    if len(errors) < 2:
        return None
    mean = sum(errors) / len(errors)
    variance: float = sum((error - mean) ** 2 for error in errors) / (len(errors) - 1)
    return (variance / len(errors)) ** 0.5


def _n_trials(finding: Finding) -> int:
    return max(summary.n_repeats for summary in finding.summaries)


def _with_mark(value: float | None, least: float | None) -> str:
    return text(value, ".2f") + ("*" if value is not None and value == least else "")


def _brackets(theirs: str) -> str:
    return "" if theirs == "-" else f" ({theirs})"


def _p_value(finding: Finding, summary: Summary) -> str:
    ours = finding.comparison(("vbls-rvm", summary.contender.name))
    return "-" if ours is None or ours.n_pairs < finding.paper.pair_test.least_pairs else text(ours.p_value, ".2g")


def draw(found: Sequence[Finding], folder: Path) -> list[str]:
    """What the methods make of the plane."""
    from skarce.reproduce.papers.vbls_classification.pictures import draw_regions

    chosen = [finding for finding in found if finding.experiment.name in IN_THE_PLANE]
    return [name for finding in chosen if draw_regions(finding, folder / (name := f"{finding.experiment.name}-regions.png"))]

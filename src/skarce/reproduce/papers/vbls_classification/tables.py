"""Tables 6 and 7 of the paper on variational least squares, our numbers next to the printed ones."""

from __future__ import annotations

from collections.abc import Sequence

from skarce.reproduce.papers.vbls_classification.data import MNIST_ROWS, N_FIRST, mnist_name
from skarce.reproduce.papers.vbls_classification.printed import ON_FIRST
from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.formatting import MISSING, beside, duration, markdown_table, marked_if_least, number_text

BENCHMARKS = ("ripley", "banana", "pima")


def overview(found: Sequence[Finding]) -> list[str]:
    """The parts of the page that have results."""
    by_name = {finding.experiment.name: finding for finding in found}
    benchmarks = [by_name[name] for name in BENCHMARKS if name in by_name]
    images = {n: by_name[name] for n in MNIST_ROWS if (name := mnist_name(n)) in by_name}
    parts: list[str] = []
    if benchmarks:
        parts += [
            "## Table 6: mean test error, percent",
            "The paper's numbers are in parentheses.",
            error_table(benchmarks),
            "Standard errors over trials, mean number of functions (vectors, or inputs of the linear model), mean fit time, and "
            "p-values for the comparison with VBLS-RVM:",
            detail_table(benchmarks),
        ]
    if images:
        parts += [
            "## Table 7: MNIST, zero against the rest: test error, percent, and fit time",
            f"Errors on the first {N_FIRST} test images, as many as the paper has (its numbers are in parentheses), and on 2000.",
            mnist_table(images),
        ]
    return parts


def error_table(found: Sequence[Finding]) -> str:
    """A row for each data set, a column for each method. The smallest mean is marked."""
    methods = [summary.contender for summary in found[0].summaries]
    rows = []
    for finding in found:
        least = min((s.mean for s in finding.summaries if s.mean is not None), default=None)
        cells = [beside(marked_if_least(s.mean, least, ".2f"), number_text(s.printed.error, "g")) for s in finding.summaries]
        rows.append([finding.experiment.title, str(finding.n_repeats), *cells])
    return markdown_table(["", "trials", *(method.label for method in methods)], rows)


def detail_table(found: Sequence[Finding]) -> str:
    """A row for each method on each data set."""
    rows = [
        [
            finding.experiment.title,
            summary.contender.label,
            number_text(summary.mean, ".2f"),
            number_text(finding.standard_error(summary.contender.name), ".2f"),
            number_text(summary.n_functions, ".1f"),
            duration(summary.fit_seconds),
            _p_value(finding, summary),
        ]
        for finding in found
        for summary in finding.summaries
    ]
    return markdown_table(["data", "method", "error", "standard error", "functions", "fit", "p"], rows, left=(0, 1))


def mnist_table(found: dict[int, Finding]) -> str:
    """A row for each method and number of training rows."""
    rows = [_mnist_row(n, summary) for n, finding in found.items() for summary in finding.summaries]
    return markdown_table(["rows", "method", ON_FIRST, "on 2000", "functions", "fit"], rows, left=(1,))


def _mnist_row(n: int, summary: Summary) -> list[str]:
    return [
        str(n),
        summary.contender.label,
        beside(number_text(summary.extras.get(ON_FIRST), ".1f"), number_text(summary.printed.extras.get(ON_FIRST), "g")),
        number_text(summary.mean, ".2f"),
        number_text(summary.n_functions, ".0f"),
        beside(duration(summary.fit_seconds), duration(summary.printed.fit_seconds)),
    ]


def _p_value(finding: Finding, summary: Summary) -> str:
    ours = finding.comparison(("vbls-rvm", summary.contender.name))
    too_few = ours is None or ours.n_pairs < finding.paper.pair_test.least_pairs
    return MISSING if ours is None or too_few else number_text(ours.p_value, ".2g")

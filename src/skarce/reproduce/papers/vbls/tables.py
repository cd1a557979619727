"""The tables of the paper on variational least squares, our numbers next to the printed ones."""

from __future__ import annotations

from collections.abc import Sequence

from skarce.reproduce.papers.vbls.contenders import LINEAR, SPARSE
from skarce.reproduce.papers.vbls.data import MIXTURES, N_RELEVANT, NEURON_NOISES, NOISES, neurons_name, synthetic_name
from skarce.reproduce.papers.vbls.printed import NEURON_MATCHES, RATING_ERRORS
from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.formatting import MISSING, beside, duration, markdown_table, marked_if_least, number_text

N_FEW = 20  # test targets of the paper in section 6.1
NMSE_ON_FEW = f"NMSE on {N_FEW}"  # name of the recorded number
BENCHMARKS = ("sinc", "boston", "abalone")
ByMixture = dict[tuple[int, int], Finding]  # by the numbers of redundant and of irrelevant inputs


def overview(found: Sequence[Finding]) -> list[str]:
    """The parts of the page that have results."""
    by_name = {finding.experiment.name: finding for finding in found}
    parts: list[str] = []
    for r2 in NOISES:
        own = {mixture: by_name[name] for mixture in MIXTURES if (name := synthetic_name(*mixture, r2)) in by_name}
        if own:
            parts += [f"## Section 6.1, r2 = {r2:g}: NMSE, and inputs kept / irrelevant ones among them", mixture_table(own)]
            parts += [f"NMSE on the first {N_FEW} test targets, as many as the paper has:", few_targets_table(own)]
    benchmarks = [by_name[name] for name in BENCHMARKS if name in by_name]
    if benchmarks:
        parts += ["## Tables 2, 3 and 4: NMSE, functions and fit times; the paper's in parentheses", benchmark_table(benchmarks)]
    if "ratings" in by_name:
        parts += ["## Table 5: a stand-in for the ratings", ratings_table(by_name["ratings"])]
        parts += [f"Root mean squared errors of the paper, on its own sample: {RATING_ERRORS}."]
    neurons = {r2: by_name[name] for r2 in NEURON_NOISES if (name := neurons_name(r2)) in by_name}
    if neurons:
        parts += ["## Section 6.2: a stand-in for the recordings", neurons_table(neurons)]
        parts += [f"Matches in the paper, on its two sets of recordings: {NEURON_MATCHES}."]
    return parts


def mixture_table(found: ByMixture) -> str:
    """A row for each mixture of inputs, a column for each method. The smallest mean is marked."""
    rows = []
    for (redundant, irrelevant), finding in found.items():
        summaries = [finding.summary(method) for method in LINEAR]
        least = min(summary.mean for summary in summaries if summary.mean is not None)
        cells = [_error_and_inputs(summary, redundant, least) for summary in summaries]
        rows.append([f"{redundant}, {irrelevant}", str(finding.n_repeats), *cells])
    return markdown_table(["redundant, irrelevant", "trials", *_linear_labels(found)], rows)


def few_targets_table(found: ByMixture) -> str:
    """The same on as many test targets as the paper has."""
    rows = [
        [
            f"{redundant}, {irrelevant}",
            *(number_text(finding.summary(method).extras.get(NMSE_ON_FEW), ".4f") for method in LINEAR),
        ]
        for (redundant, irrelevant), finding in found.items()
    ]
    return markdown_table(["redundant, irrelevant", *_linear_labels(found)], rows)


def _linear_labels(found: ByMixture) -> list[str]:
    paper = next(iter(found.values())).paper
    return [paper.label(method) for method in LINEAR]


def _error_and_inputs(summary: Summary, redundant: int, least: float) -> str:
    error = marked_if_least(summary.mean, least, ".4f")
    if summary.contender.name not in SPARSE or summary.n_functions is None:
        return error
    irrelevant = summary.extras.get(f"beyond {N_RELEVANT + redundant}", 0.0)  # with 90 redundant inputs there are no others
    return f"{error} {summary.n_functions:.1f} / {irrelevant:.1f}"


def benchmark_table(found: Sequence[Finding]) -> str:
    """A row for each method on each data set."""
    rows = [
        [
            finding.experiment.title,
            summary.contender.label,
            str(summary.n_repeats),
            beside(number_text(summary.mean, ".4f"), number_text(summary.printed.error, "g")),
            beside(number_text(summary.n_functions, ".1f"), number_text(summary.printed.n_functions, "g")),
            beside(duration(summary.fit_seconds), duration(summary.printed.fit_seconds)),
        ]
        for finding in found
        for summary in finding.summaries
    ]
    return markdown_table(["data", "method", "trials", "NMSE", "functions", "fit"], rows, left=(0, 1))


def ratings_table(finding: Finding) -> str:
    """A row for each method."""
    rows = [
        [
            summary.contender.label,
            str(summary.n_repeats),
            number_text(summary.mean, ".4f"),
            number_text(summary.n_functions, ".0f"),
            beside(duration(summary.fit_seconds), duration(summary.printed.fit_seconds)),
        ]
        for summary in finding.summaries
    ]
    return markdown_table(["method", "trials", "NMSE", "inputs", "fit"], rows)


def neurons_table(found: dict[float, Finding]) -> str:
    """NMSE, the percentage of driving neurons that was found, and the number of other neurons in the model."""
    rows = []
    for r2, finding in found.items():
        for summary in finding.summaries:
            size, others = summary.n_functions, summary.extras.get(f"beyond {N_RELEVANT}")
            hits = MISSING if size is None or others is None else f"{100.0 * (size - others) / N_RELEVANT:.0f} %"
            cells = [number_text(summary.mean, ".4f"), hits, number_text(others, ".1f")]
            rows.append([f"{r2:g}", summary.contender.label, str(summary.n_repeats), *cells])
    return markdown_table(["r2", "method", "muscles", "NMSE", "found", "others"], rows, left=(0, 1))

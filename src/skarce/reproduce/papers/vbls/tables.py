"""The tables of the paper on variational least squares, ours beside the printed ones, and pictures like its figures 9 and 10."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.page import markdown_table
from skarce.reproduce.runner.summary_table import duration, text

MIXTURES = ((0, 90), (30, 60), (60, 30), (90, 0))
NOISES = (0.9, 0.8)
NEURON_NOISES = (0.3, 0.6, 0.9)
LINEAR = ("vbls", "vbls-bound", "vbls-both", "ridge", "stepwise", "pls", "lasso")
SPARSE = ("vbls", "vbls-bound", "vbls-both", "stepwise", "lasso")
FEW = "NMSE on 20"
BENCHMARKS = ("sinc", "boston", "abalone")
# Table 5: root mean squared test errors on the sample of ratings. Table 1: matches with the paper's own search.
PRINTED_RATINGS = "ridge 18.59, stepwise 6.375, PLS 1.328, lasso 1.0594, VBLS 1.0443 (root mean squared errors)"
PRINTED_MATCHES = (
    "stepwise 7.2 and 65.1 %, PLS 7.4 and 42.9 %, lasso 6.4 and 80.6 %, VBLS 94.2 and 94.3 % on its two sets of recordings"
)


def synthetic_name(n_redundant: int, n_irrelevant: int, r2: float) -> str:
    return f"mixed-{n_redundant}-{n_irrelevant}-{r2:g}"


def neurons_name(r2: float) -> str:
    return f"neurons-{r2:g}"


def overview(found: Sequence[Finding]) -> list[str]:
    """The parts of the page for which there are results."""
    by_name = {finding.experiment.name: finding for finding in found}
    parts: list[str] = []
    for r2 in NOISES:
        own = {mixture: by_name[name] for mixture in MIXTURES if (name := synthetic_name(*mixture, r2)) in by_name}
        if own:
            parts += [f"## Section 6.1, r2 = {r2:g}: NMSE, and inputs kept / irrelevant ones among them", mixture_table(own)]
            parts += ["NMSE on the first 20 test targets, as many as the paper has:", few_points_table(own)]
    benchmarks = [by_name[name] for name in BENCHMARKS if name in by_name]
    if benchmarks:
        parts += ["## Tables 2, 3 and 4: NMSE, functions and fit times; the paper's in brackets", benchmark_table(benchmarks)]
    if "ratings" in by_name:
        parts += [
            "## Table 5: a stand-in for the ratings",
            ratings_table(by_name["ratings"]),
            f"The paper, on its sample: {PRINTED_RATINGS}.",
        ]
    neurons = {r2: by_name[name] for r2 in NEURON_NOISES if (name := neurons_name(r2)) in by_name}
    if neurons:
        parts += [
            "## Section 6.2: a stand-in for the recordings",
            neurons_table(neurons),
            f"The paper, matches: {PRINTED_MATCHES}.",
        ]
    return parts


def mixture_table(found: dict[tuple[int, int], Finding]) -> str:
    """A row per mixture, a column per method; the least mean is marked."""
    rows = []
    for (redundant, irrelevant), finding in found.items():
        means = {method: finding.summary(method).mean for method in LINEAR}
        least = min(mean for mean in means.values() if mean is not None)
        cells = [_error_and_inputs(finding.summary(m), redundant, is_least=means[m] == least) for m in LINEAR]
        n = max(summary.n_repeats for summary in finding.summaries)
        rows.append([f"{redundant}, {irrelevant}", str(n), *cells])
    label = next(iter(found.values())).paper.label
    return markdown_table(["redundant, irrelevant", "trials", *map(label, LINEAR)], rows)


def few_points_table(found: dict[tuple[int, int], Finding]) -> str:
    """The same on as many test targets as the paper has."""
    rows = [
        [f"{redundant}, {irrelevant}", *(text(finding.summary(method).extras.get(FEW), ".4f") for method in LINEAR)]
        for (redundant, irrelevant), finding in found.items()
    ]
    label = next(iter(found.values())).paper.label
    return markdown_table(["redundant, irrelevant", *map(label, LINEAR)], rows)


def _error_and_inputs(summary: Summary, redundant: int, *, is_least: bool) -> str:
    error = text(summary.mean, ".4f") + ("*" if is_least else "")
    if summary.contender.name not in SPARSE or summary.n_functions is None:
        return error
    irrelevant = summary.extras.get(f"beyond {10 + redundant}", 0.0)  # with 90 redundant inputs there are no others
    return f"{error} {summary.n_functions:.1f} / {irrelevant:.1f}"


def benchmark_table(found: Sequence[Finding]) -> str:
    """A row per method on each data set."""
    rows = [
        [
            finding.experiment.title,
            summary.contender.label,
            str(summary.n_repeats),
            _beside(text(summary.mean, ".4f"), text(summary.printed.error, "g")),
            _beside(text(summary.n_functions, ".1f"), text(summary.printed.n_functions, "g")),
            _beside(duration(summary.fit_seconds), duration(summary.printed.fit_seconds)),
        ]
        for finding in found
        for summary in finding.summaries
    ]
    return markdown_table(["data", "method", "trials", "NMSE", "functions", "fit"], rows, left=(0, 1))


def ratings_table(finding: Finding) -> str:
    rows = [
        [
            summary.contender.label,
            str(summary.n_repeats),
            text(summary.mean, ".4f"),
            text(summary.n_functions, ".0f"),
            _beside(duration(summary.fit_seconds), duration(summary.printed.fit_seconds)),
        ]
        for summary in finding.summaries
    ]
    return markdown_table(["method", "trials", "NMSE", "inputs", "fit"], rows)


def neurons_table(found: dict[float, Finding]) -> str:
    """NMSE, the share of driving neurons that was found, and how many others were."""
    rows = []
    for r2, finding in found.items():
        for summary in finding.summaries:
            size, others = summary.n_functions, summary.extras.get("beyond 10")
            hits = "-" if size is None or others is None else f"{10.0 * (size - others):.0f} %"
            cells = [text(summary.mean, ".4f"), hits, text(others, ".1f")]
            rows.append([f"{r2:g}", summary.contender.label, str(summary.n_repeats), *cells])
    return markdown_table(["r2", "method", "muscles", "NMSE", "found", "others"], rows, left=(0, 1))


def _beside(ours: str, theirs: str) -> str:
    return ours if theirs in ("-", "") else f"{ours} ({theirs})"


def draw(found: Sequence[Finding], folder: Path) -> list[str]:
    """Pictures like figures 9 and 10."""
    from skarce.reproduce.papers.vbls.pictures import draw_mixtures, draw_sinc

    names = [f"mixed-{r2:g}.png" for r2 in NOISES if draw_mixtures(found, r2, folder / f"mixed-{r2:g}.png")]
    draw_sinc(folder / "sinc.png")
    return [*names, "sinc.png"]

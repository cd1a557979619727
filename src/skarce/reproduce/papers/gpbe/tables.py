"""The tables of the paper on backward elimination, ours beside the printed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.page import markdown_table
from skarce.reproduce.runner.summary_table import text

METHODS = ("gps", "gps-be", "gps-u", "rvm", "svm", "as")
# Table 4.4; the paper does not say in which unit, nor of how many splits.
RUNTIMES = {
    "friedman1": {"gps": 217.53, "gps-be": 228.78, "gps-u": 453.70, "rvm": 1652.05, "svm": 1246.32, "as": 290.35},
    "boston": {"gps": 8012.57, "gps-be": 8439.69, "gps-u": 9946.76, "rvm": 26922.98, "svm": 47005.36, "as": 7639.03},
    "abalone": {"gps": 4457.84, "gps-be": 4687.31, "gps-u": 6922.70, "rvm": 13093.14, "svm": 39631.06, "as": 4440.03},
    "computer-activity": {"gps": 6591.48, "gps-be": 6849.81, "gps-u": 7373.28, "rvm": 15150.28, "svm": 67127.36, "as": 5183.14},
}
BACKWARD_OVER_FORWARD = (0.998, 0.864)  # Table 4.5, last row: error and number of functions


def overview(found: Sequence[Finding]) -> list[str]:
    """Tables 4.2 to 4.5."""
    errors = _table(found, lambda s: s.mean, lambda s: s.printed.error)
    functions = _table(found, lambda s: s.n_functions, lambda s: s.printed.n_functions)
    return [
        "## Table 4.2: mean test error",
        "Mean squared errors; in brackets those of the paper.",
        errors,
        "## Table 4.3: mean number of functions",
        "In brackets those of the paper.",
        functions,
        "## Table 4.4: runtime, over that of GPs",
        "Mean CPU time of all that a method takes on one split, over that of GPs: widths are learned (for GPs-BE by GPs, whose "
        "time is included) or tuned by cross validation (on the splits where they were). In brackets the paper's, of unknown unit.",
        runtime_table(found),
        "## Table 4.5: backward elimination and forward selection, the same rule",
        "Mean error and number of functions. The printed text has no numbers for forward selection, only the means in brackets.",
        direction_table(found),
    ]


def _table(found: Sequence[Finding], ours: Callable[[Summary], float | None], theirs: Callable[[Summary], float | None]) -> str:
    label = found[0].paper.label
    rows = [[finding.experiment.title, *(_beside(ours(s), theirs(s)) for s in map(finding.summary, METHODS))] for finding in found]
    return markdown_table(["", *map(label, METHODS)], rows)


def _beside(ours: float | None, theirs: float | None) -> str:
    return text(ours, ".3g" if ours is None or ours < 999.5 else ".0f") + ("" if theirs is None else f" ({theirs:g})")


def seconds_in_all(finding: Finding, method: str) -> float | None:
    """Mean over splits of fit and tuning; a method that follows another needs that one's too."""
    contender = finding.summary(method).contender
    own = [record for record in finding.records if record.method == method and record.fit_seconds is not None]
    if contender.choices:
        own = [record for record in own if record.tuned]
    if not own:
        return None
    before = 0.0 if contender.follows is None else seconds_in_all(finding, contender.follows)
    return None if before is None else before + float(np.mean([r.tuning_seconds + (r.fit_seconds or 0.0) for r in own]))


def runtime_table(found: Sequence[Finding]) -> str:
    """Seconds of GPs, then ratios."""
    label, rows = found[0].paper.label, []
    for finding in found:
        printed, base = RUNTIMES[finding.experiment.name], seconds_in_all(finding, "gps")
        cells = []
        for method in METHODS[1:]:
            ours = seconds_in_all(finding, method)
            ratio = None if ours is None or not base else ours / base
            cells.append(f"{text(ratio, '.2f')} ({printed[method] / printed['gps']:.2f})")
        rows.append([finding.experiment.title, text(base, ".3g"), *cells])
    return markdown_table(["", "GPs, s", *map(label, METHODS[1:])], rows)


def direction_table(found: Sequence[Finding]) -> str:
    """Errors, sizes, and the mean of their ratios."""
    rows, ratios = [], []
    for finding in found:
        backward, forward = finding.summary("gps-be"), finding.summary("gps-fs")
        numbers = (backward.mean, backward.n_functions, forward.mean, forward.n_functions)
        rows.append([finding.experiment.title, *(text(number, ".4g") for number in numbers)])
        if all(number is not None for number in numbers):
            ratios.append((backward.mean / forward.mean, backward.n_functions / forward.n_functions))  # type: ignore[operator]
    if ratios:
        error, size = np.mean(ratios, axis=0)
        printed_error, printed_size = BACKWARD_OVER_FORWARD
        rows.append(
            ["mean of backward / forward", f"{error:.3f} ({printed_error})", f"{size:.3f} ({printed_size})", "", ""],
        )
    headings = ["", "backward: error", "functions", "forward: error", "functions"]
    return markdown_table(headings, rows)

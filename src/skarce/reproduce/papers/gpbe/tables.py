"""The tables of the paper on backward elimination, our numbers next to the printed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from skarce.reproduce.papers.gpbe.printed import BACKWARD_OVER_FORWARD, RUNTIMES
from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.formatting import MISSING, beside, markdown_table, number_text, short

METHODS = ("gps", "gps-be", "gps-u", "rvm", "svm", "as")


def overview(found: Sequence[Finding]) -> list[str]:
    """Tables 4.2 to 4.5."""
    return [
        "## Table 4.2: mean test error",
        "Mean squared errors, with those of the paper in parentheses.",
        _table(found, lambda s: s.mean, lambda s: s.printed.error),
        "## Table 4.3: mean number of functions",
        "The paper's numbers are in parentheses.",
        _table(found, lambda s: s.n_functions, lambda s: s.printed.n_functions),
        "## Table 4.4: runtime, over that of GPs",
        "Mean CPU time of everything that a method needs on one split, over that of GPs. Widths are learned (for GPs-BE by GPs, "
        "whose time is included) or tuned by cross validation (only tuned splits count). The paper's ratios are in parentheses; "
        "the unit of its times is unknown.",
        runtime_table(found),
        "## Table 4.5: backward elimination and forward selection, the same rule",
        "Mean error and number of functions. The paper prints no numbers for forward selection, only the means in parentheses.",
        direction_table(found),
    ]


def _table(found: Sequence[Finding], ours: Callable[[Summary], float | None], printed: Callable[[Summary], float | None]) -> str:
    def cell(summary: Summary) -> str:
        value = ours(summary)
        return beside(MISSING if value is None else short(value), number_text(printed(summary), "g"))

    rows = [[finding.experiment.title, *(cell(finding.summary(method)) for method in METHODS)] for finding in found]
    return markdown_table(["", *map(found[0].paper.label, METHODS)], rows)


def seconds_in_all(finding: Finding, method: str) -> float | None:
    """The mean over splits of fit and tuning time. If a method follows another, the time of the other one is included."""
    contender = finding.summary(method).contender
    own = [record for record in finding.records if record.method == method and record.fit_seconds is not None]
    if contender.choices:
        own = [record for record in own if record.tuned]
    if not own:
        return None
    before = 0.0 if contender.follows is None else seconds_in_all(finding, contender.follows)
    return None if before is None else before + float(np.mean([r.tuning_seconds + (r.fit_seconds or 0.0) for r in own]))


def runtime_table(found: Sequence[Finding]) -> str:
    """The seconds of GPs, then the ratios of the other methods."""
    label, rows = found[0].paper.label, []
    for finding in found:
        printed, base = RUNTIMES[finding.experiment.name], seconds_in_all(finding, "gps")
        cells = []
        for method in METHODS[1:]:
            ours = seconds_in_all(finding, method)
            ratio = None if ours is None or not base else ours / base
            cells.append(beside(number_text(ratio, ".2f"), f"{printed[method] / printed['gps']:.2f}"))
        rows.append([finding.experiment.title, number_text(base, ".3g"), *cells])
    return markdown_table(["", "GPs, s", *map(label, METHODS[1:])], rows)


def direction_table(found: Sequence[Finding]) -> str:
    """Errors and sizes in both directions, and the mean of their ratios."""
    rows, ratios = [], []
    for finding in found:
        backward, forward = finding.summary("gps-be"), finding.summary("gps-fs")
        numbers = (backward.mean, backward.n_functions, forward.mean, forward.n_functions)
        rows.append([finding.experiment.title, *(number_text(number, ".4g") for number in numbers)])
        if all(number is not None for number in numbers):
            ratios.append((backward.mean / forward.mean, backward.n_functions / forward.n_functions))  # type: ignore[operator]
    if ratios:
        means = zip(np.mean(ratios, axis=0), BACKWARD_OVER_FORWARD, strict=True)
        rows.append(["mean of backward / forward", *(beside(f"{ours:.3f}", str(printed)) for ours, printed in means), "", ""])
    return markdown_table(["", "backward: error", "functions", "forward: error", "functions"], rows)

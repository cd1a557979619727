"""What the means of the summary tables hide: medians of the numbers of kernels, and of the chosen parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skarce.reproduce.papers.skr.contenders import PENALTY, WIDTH
from skarce.reproduce.runner.findings import Finding
from skarce.reproduce.runner.formatting import MISSING, markdown_table, number_text


def overview(found: Sequence[Finding]) -> list[str]:
    """A heading and a table for each experiment."""
    parts = []
    for finding in found:
        rows = [[contender.label, *_medians(finding, contender.name)] for contender in finding.paper.contenders]
        heading = ["method", "kernels, median", "quartiles", "mu, median", "sigma^2, median"]
        parts += [f"## {finding.experiment.title}: numbers of kernels, and what was chosen", markdown_table(heading, rows)]
    return parts


def _medians(finding: Finding, method: str) -> list[str]:
    own = [record for record in finding.records if record.method == method and record.error is not None]
    if not own:
        return [MISSING] * 4
    first, median, third = np.quantile([record.n_functions for record in own if record.n_functions is not None], (0.25, 0.5, 0.75))
    chosen = [[record.extras[name] for record in own if name in record.extras] for name in (PENALTY, WIDTH)]
    return [f"{median:g}", f"{first:g} to {third:g}", *(number_text(float(np.median(c)) if c else None, ".3g") for c in chosen)]

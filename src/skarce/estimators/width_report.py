"""What `verbose` prints about the learning of kernel widths: its climbs, and the kernel that won."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_WIDTHS = 8  # widths in the last line


@dataclass
class WidthReport:
    """Prints one line at the end, and with ``verbose=2`` a line for every iteration of every climb.

    Parameters
    ----------
    names : names of the inputs, or None
    """

    names: Any = None

    def note(self, progress: Any) -> None:
        """Print the progress after an iteration."""
        climb = f"widths  climb {progress.start}  rows {progress.n_rows}  evaluation {progress.n_evaluations:4d}"
        _print(f"{climb}  log evidence {progress.log_evidence:.3f}")

    def end(self, widths: Any) -> None:
        """Print which kernel and widths were found."""
        _print(f"kernel {widths.kernel}  log evidence {widths.log_evidence:.3f}  gamma: {_listed(widths.gamma, self.names)}")


def report_options(verbose: int, names: Any) -> dict[str, Any]:
    """Return options that make the learning of widths report to the user; none if the user does not want it."""
    if not verbose:
        return {}
    report = WidthReport(names)
    return {"on_learned": report.end, **({"callback": report.note} if verbose > 1 else {})}


def _listed(gamma: Any, names: Any) -> str:
    """The widths, each with the name of its input if each input has one; of many widths the first."""
    if np.ndim(gamma) == 0:
        return f"{gamma:.4g}"
    labels = [f"x{place}" for place in range(len(gamma))] if names is None else names
    shown = ", ".join(f"{label} {value:.4g}" for label, value in zip(labels[:MOST_WIDTHS], gamma[:MOST_WIDTHS], strict=True))
    return shown if len(gamma) <= MOST_WIDTHS else f"{shown} and {len(gamma) - MOST_WIDTHS} more in basis_.gamma_"


def _print(line: str) -> None:
    print(line, file=sys.stderr)

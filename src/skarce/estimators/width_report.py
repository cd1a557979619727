"""What `verbose` prints about the learning of kernel widths: its climbs, and the kernel that won."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_WIDTHS = 8  # widths in the last line


@dataclass
class WidthReport:
    """Prints a line for every finished climb, with ``verbose=2`` for every iteration, and one line at the end.

    Parameters
    ----------
    verbose : 1 or more
    names : names of the inputs, or None
    """

    verbose: int
    names: Any = None
    latest: Any = None  # progress of the climb that is not finished
    printed: float | None = None  # the log evidence of the last line

    def note(self, progress: Any) -> None:
        """Take the progress after an iteration. The first one of a climb says that the climb before is finished."""
        if self.verbose > 1:
            _print(f"{_climb(progress)}  log evidence {progress.log_evidence:.3f}")
        elif self.latest is not None and self.latest.start != progress.start:
            self._print_climb()
        self.latest = progress

    def end(self, widths: Any) -> None:
        """Print which kernel and widths were found."""
        if self.verbose == 1 and self.latest is not None:
            self._print_climb()
        self.latest = self.printed = None
        _print(f"kernel {widths.kernel}  log evidence {widths.log_evidence:.3f}  gamma: {_listed(widths.gamma, self.names)}")

    def _print_climb(self) -> None:
        value = self.latest.log_evidence
        _print(_climb(self.latest) + ("  no better" if value == self.printed else f"  log evidence {value:.3f}"))
        self.printed = value


def report_options(verbose: int, names: Any) -> dict[str, Any]:
    """Return options that make the learning of widths report to the user; none if the user does not want it."""
    if not verbose:
        return {}
    report = WidthReport(int(verbose), names)
    return {"callback": report.note, "on_learned": report.end}


def _climb(progress: Any) -> str:
    return f"widths  climb {progress.start}  rows {progress.n_rows}  evaluation {progress.n_evaluations:4d}"


def _listed(gamma: Any, names: Any) -> str:
    """The widths, each with the name of its input if each input has one; of many widths the first."""
    if np.ndim(gamma) == 0:
        return f"{gamma:.4g}"
    labels = [f"x{place}" for place in range(len(gamma))] if names is None else names
    shown = ", ".join(f"{label} {value:.4g}" for label, value in zip(labels[:MOST_WIDTHS], gamma[:MOST_WIDTHS], strict=True))
    return shown if len(gamma) <= MOST_WIDTHS else f"{shown} and {len(gamma) - MOST_WIDTHS} more in basis_.gamma_"


def _print(line: str) -> None:
    print(line, file=sys.stderr)

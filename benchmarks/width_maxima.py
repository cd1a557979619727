"""Compare the maxima that learned widths reach with those of scikit-learn's Gaussian process from its default start.

python -m benchmarks.width_maxima [--tables boston wings] [--rows 250 450] [--splits 1] [--kernels rbf matern32] [--other SRC]

Both are scored by the same function: the log marginal likelihood without any prior, with signal and noise variance at their
optimum. Our model integrates out a constant, the rival's does not; `zero mean` is the rival's model, `contrasts` is ours. A trial
counts as lost if the rival is more than one nat higher in the worse of the two. It is marked if the priors exclude the maximum of
the rival: with them, our widths are better. `--other` names the folder `src` of another version of the library, whose CPU seconds
and evidence (contrasts) stand beside. Everything runs on one BLAS thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.width_trials import REPORTED, TUNED_ON, Found, Trial, learned, of_rival, score, trials
from skarce.model_selection.kernel_slopes import KernelSlopes
from skarce.model_selection.neighbor_prior import NeighborPrior
from skarce.model_selection.width_data import Data, Scale
from skarce.model_selection.width_prior import WidthPrior

LOST = 1.0  # nats
LEARN = """
import json, sys
from benchmarks.width_trials import Trial, learned
print(json.dumps(learned(Trial(*json.loads(sys.argv[1])))))
"""


class Row(NamedTuple):
    """Log likelihoods above that of the rival, CPU seconds, and whether the priors exclude the maximum of the rival."""

    trial: Trial
    zero_mean: float
    contrasts: float
    cpu: float
    cpu_of_rival: float
    excluded: bool
    other: float
    cpu_of_other: float

    @property
    def is_lost(self) -> bool:
        return min(self.zero_mean, self.contrasts) < -LOST

    def line(self) -> str:
        mark = " excluded by the priors" if self.is_lost and self.excluded else " lost" if self.is_lost else ""
        return (
            f"{self.trial.table:<10} {self.trial.kernel:<9} {self.trial.n_rows:>4} {self.trial.split:>2} {self.zero_mean:>10.2f} "
            f"{self.contrasts:>10.2f} {self.other:>10.2f} {self.cpu:>7.2f} {self.cpu_of_other:>7.2f} {self.cpu_of_rival:>7.2f}"
            + mark
        )


def log_prior(trial: Trial, gamma: Any) -> float:
    """Return the log density of the priors on widths and neighbors at these widths, up to a constant."""
    X, y = trial.rows()
    data = Data(X, y[:, None], None, None)
    scale = Scale.of(data, trial.kernel, one_for_all=False)
    rows, widths = scale.inputs(X), np.asarray(gamma) / scale.units
    phi, _ = KernelSlopes(trial.kernel, rows, rows).values_and_slopes(widths)
    return WidthPrior.of(data, scale).at(np.log(widths))[0] + NeighborPrior.of(rows, rows, None).at(phi)[0]


def of_other(trial: Trial, source: str) -> Found:
    """Learn widths in a process that imports another version of the library."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, str(Path(__file__).parents[1])])}
    done = subprocess.run(
        [sys.executable, "-c", LEARN, json.dumps(trial)], capture_output=True, text=True, check=True, env=environment
    )
    return Found(*json.loads(done.stdout.splitlines()[-1])[:2])


def compared(trial: Trial, source: str | None) -> Row:
    ours, rival = learned(trial), of_rival(trial)
    other = Found(ours.gamma, np.nan) if source is None else of_other(trial, source)
    zero_mean = score(trial, ours.gamma) - score(trial, rival.gamma)
    of_contrasts = score(trial, rival.gamma, intercept=True)
    contrasts = score(trial, ours.gamma, intercept=True) - of_contrasts
    excluded = contrasts + log_prior(trial, ours.gamma) > log_prior(trial, rival.gamma)
    of_others = np.nan if source is None else score(trial, other.gamma, intercept=True) - of_contrasts
    return Row(trial, zero_mean, contrasts, ours.cpu, rival.cpu, excluded, of_others, other.cpu)


def summary(rows: list[Row]) -> str:
    kept, seconds = sum(not row.is_lost for row in rows), sum(row.cpu for row in rows)
    return (
        f"{kept} of {len(rows)} trials within {LOST:g} nat of the rival or above it; "
        f"{sum(row.is_lost and row.excluded for row in rows)} of the others excluded by the priors. CPU {seconds:.1f} s, "
        f"other version {sum(row.cpu_of_other for row in rows):.1f} s, rival {sum(row.cpu_of_rival for row in rows):.1f} s."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=[*TUNED_ON, *REPORTED])
    parser.add_argument("--rows", type=int, nargs="+", default=[250, 450, 600])
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--kernels", nargs="+", default=["rbf", "matern32"])
    parser.add_argument("--other", help="the folder src of another version")
    parser.add_argument("--out", type=Path, help="a file for the table")
    arguments = parser.parse_args()
    lines = ["table      kernel    rows split zero mean  contrasts      other   CPU s   other   rival"]
    print(lines[0])
    rows = []
    for trial in trials(arguments.tables, arguments.rows, arguments.splits, arguments.kernels):
        rows.append(compared(trial, arguments.other))
        lines.append(rows[-1].line())
        print(lines[-1], flush=True)
    lines.append(summary(rows))
    print(lines[-1])
    if arguments.out is not None:
        arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

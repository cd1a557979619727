"""Time two versions of the library on the same rows, in processes that alternate.

python -m benchmarks.versions --other ../before/.venv/bin/python [--rounds 5] [--rows ols,L1] [--out versions.txt]

Each process fits every row until a second has passed, or three times, and reports the best. The table has the median over
the rounds and the ratio of this version to the other. Only the public interface is used. Leave the machine alone meanwhile.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from sklearn.datasets import make_friedman1, make_friedman2, make_moons, make_regression

import skarce
from skarce import KernelBasis, designs

ENOUGH_SECONDS, MOST_FITS = 1.0, 60
Row = tuple[Callable[[], Any], Callable[[Any], Any]]  # makes the data, and does the timed work on them


def scaled(X: Any, y: Any) -> tuple[Any, Any]:
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def friedman1(n: int) -> Callable[[], Any]:
    return lambda: scaled(*make_friedman1(n, noise=1.0, random_state=0))


def friedman2(n: int) -> Callable[[], Any]:
    return lambda: scaled(*make_friedman2(n, noise=125.0, random_state=0))


def linear(n: int, p: int) -> Callable[[], Any]:
    return lambda: make_regression(n, p, n_informative=10, noise=50.0, random_state=0)


def moons(n: int) -> Callable[[], Any]:
    return lambda: make_moons(n, noise=0.3, random_state=0)


def fit(make: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda data: make().fit(*data)


def rbf(**params: Any) -> KernelBasis:
    return KernelBasis(gamma=0.1, **params)


def blocks(data: Any) -> Any:
    model = skarce.RelevanceVectorRegressor(KernelBasis(gamma=0.1, centers=200, random_state=0))
    return model.fit(designs.RowBlocks.from_arrays(*data))


def stream(data: Any) -> Any:
    model = skarce.VBLSRegressor()
    for start in range(0, 600, 6):
        model.partial_fit(data[0][start : start + 6], data[1][start : start + 6])


def predict(data: Any) -> Any:
    return skarce.RelevanceVectorRegressor(rbf()).fit(data[0][:500], data[1][:500]).predict(data[0], return_std=True)


def rvm(**params: Any) -> Callable[[Any], Any]:
    return fit(lambda: skarce.RelevanceVectorRegressor(rbf(), **params))


def lasso() -> Any:
    return skarce.LaplacePriorRegressor("passthrough", degrees_of_freedom="active")


def ard() -> Any:
    return skarce.RelevanceVectorRegressor(KernelBasis(gamma="ard", random_state=0))


ROWS: dict[str, Row] = {
    **{f"rvm, Friedman 2, {n}": (friedman2(n), rvm()) for n in (200, 1000, 3000, 10_000)},
    **{f"rvm, Friedman 1, {n}": (friedman1(n), rvm()) for n in (500, 1000, 2000)},
    "rvm, one by one, Friedman 2, 1000": (
        friedman2(1000),
        rvm(solver="sequential"),
    ),
    "rvm, EM, Friedman 2, 500": (friedman2(500), rvm(solver="em")),
    "fgcv, Friedman 2, 1000": (friedman2(1000), fit(lambda: skarce.FastGCVRegressor(rbf()))),
    "fgcv, Friedman 1, 500": (friedman1(500), fit(lambda: skarce.FastGCVRegressor(rbf()))),
    "local smoothing, Friedman 2, 300": (friedman2(300), fit(lambda: skarce.LocalRidgeRegressor(rbf()))),
    "rfs, Friedman 2, 800": (friedman2(800), fit(lambda: skarce.RegularizedForwardRegressor(rbf()))),
    "ols, 100 of 2000": (friedman1(2000), fit(lambda: skarce.OrthogonalLeastSquaresRegressor(rbf(), n_basis=100))),
    "evidence search, forward, 800": (friedman2(800), fit(lambda: skarce.EvidenceSearchRegressor(rbf()))),
    "evidence search, floating, 400": (friedman2(400), fit(lambda: skarce.EvidenceSearchRegressor(rbf(), search="floating"))),
    "all candidates, 1000": (friedman1(1000), fit(lambda: skarce.EvidenceRegressor(rbf()))),
    "elimination, 1000 to 50": (friedman1(1000), fit(lambda: skarce.BackwardEliminationRegressor(rbf(), n_basis=50))),
    "L1, 500 x 1000": (linear(500, 1000), fit(lasso)),
    "L1, 10000 x 100": (linear(10_000, 100), fit(lasso)),
    "Jeffreys, Friedman 2, 500": (friedman2(500), fit(lambda: skarce.JeffreysPriorRegressor(rbf()))),
    "vbls, 1000 x 100": (linear(1000, 100), fit(skarce.VBLSRegressor)),
    "vbls, 3000 x 800": (linear(3000, 800), fit(skarce.VBLSRegressor)),
    "vbls, Student's t, 500 x 50": (linear(500, 50), fit(lambda: skarce.VBLSRegressor(noise="student-t"))),
    "vbls on kernels, Friedman 2, 500": (friedman2(500), fit(lambda: skarce.VBLSRegressor(rbf()))),
    "stepwise, 1000 x 100": (linear(1000, 100), fit(skarce.StepwiseRegressor)),
    "widths per input, 300": (
        friedman1(300),
        fit(ard),
    ),
    **{f"rvm classes, moons, {n}": (moons(n), fit(skarce.RelevanceVectorClassifier)) for n in (500, 1000, 4000)},
    "rvm classes, EM, moons, 300": (moons(300), fit(lambda: skarce.RelevanceVectorClassifier("rbf", solver="em"))),
    "vbls classes, moons, 500": (moons(500), fit(skarce.VBLSClassifier)),
    "100,000 rows in blocks, 200 landmarks": (friedman1(100_000), blocks),
    "partial_fit, 100 batches, 20 inputs": (linear(600, 20), stream),
    "fit 500, predict 100,000 with std": (friedman2(100_000), predict),
}


def best_seconds(work: Callable[[Any], Any], data: Any) -> float:
    """The least time of several runs."""
    times: list[float] = []
    while len(times) < 3 or (sum(times) < ENOUGH_SECONDS and len(times) < MOST_FITS):
        started = time.perf_counter()
        work(data)
        times.append(time.perf_counter() - started)
        if times[0] > 2.0 * ENOUGH_SECONDS:
            break
    return min(times)


def chosen(beginnings: str) -> list[str]:
    """The rows whose names begin with one of these comma-separated texts."""
    return [name for name in ROWS if name.startswith(tuple(beginnings.split(",")))]


def measured(rows: str) -> dict[str, float]:
    """The best time of every row with the version that is imported here."""
    return {name: best_seconds(ROWS[name][1], ROWS[name][0]()) for name in chosen(rows)}


def in_process(python: str, rows: str) -> dict[str, float]:
    """The same in a new process of another interpreter, which runs this very file."""
    done = subprocess.run([python, __file__, "--measure", "--rows", rows], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def table(rounds: list[tuple[dict[str, float], dict[str, float]]]) -> str:
    lines = [f"{'row':<42} {'this, ms':>10} {'other, ms':>10} {'ratio':>7}"]
    for name in rounds[0][0]:
        here, there = (median(each[side][name] for each in rounds) for side in (0, 1))
        lines.append(f"{name:<42} {1e3 * here:10.2f} {1e3 * there:10.2f} {here / there:7.2f}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", help="the interpreter of an environment that holds the other version")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", default="", help="beginnings of names, comma-separated; by default all rows")
    parser.add_argument("--out", type=Path, help="a file for the table")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measured(arguments.rows)))
        return
    if not arguments.other:
        parser.error("--other must name the interpreter of the other version.")
    rounds = []
    for number in range(arguments.rounds):
        rounds.append((in_process(sys.executable, arguments.rows), in_process(arguments.other, arguments.rows)))
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
    text = table(rounds)
    print(text, end="")
    if arguments.out is not None:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()

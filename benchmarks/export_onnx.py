"""Time predictions of ONNX models beside those of Python: ``python -m benchmarks.export_onnx``.

The models of ``benchmarks.export``, fitted to the same 500 rows of Friedman's first function. Microseconds of one call with one
row, and microseconds per row of a call with 1000 rows, the best of several repeats, on one thread. Our model is run by `predict`,
as an ONNX model by onnxruntime, and as a twin. SVR and GaussianProcessRegressor of scikit-learn are run by `predict`, and as ONNX
models of skl2onnx. Bytes are those of the ONNX file. The difference to Python is the largest at 1000 new rows, as a share of the
std of the target. It needs the packages of ``skarce[export-test]``.
"""

from __future__ import annotations

import argparse
import json
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import skl2onnx
from rich.console import Console
from rich.table import Table
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from threadpoolctl import threadpool_limits

from benchmarks.__main__ import machine
from benchmarks.export_models import drawn, fitted_models
from skarce.export import to_onnx, to_sklearn
from skarce.export.onnx.assembly import runner

N_QUERIES, N_REPEATS, SECONDS = 1000, 7, 0.05


class Timed(NamedTuple):
    """A way to predict: what it is, what it calls, its bytes, and how far it is from Python."""

    name: str
    call: Callable[[Any], Any]
    n_bytes: int | None
    error: float | None


def microseconds(call: Callable[[], Any]) -> float:
    """Return the time of one call, the best of several repeats."""
    timer = timeit.Timer(call)
    n_calls = max(1, int(SECONDS / max(timer.timeit(1), 1e-7)))
    return 1e6 * min(timer.repeat(N_REPEATS, n_calls)) / n_calls


def of_python(name: str, call: Callable[[Any], Any]) -> Timed:
    return Timed(name, call, None, None)


def of_onnx(name: str, model: Any, expected: Any, X: Any, size: float, dtype: Any = np.float64) -> Timed:
    run = runner(model)
    entry = model.graph.input[0].name
    found = run({entry: X.astype(dtype)})
    error = max(float(np.abs(own.reshape(len(X), -1)[:, 0] - theirs).max()) for own, theirs in zip(found, expected, strict=True))
    return Timed(name, lambda rows: run({entry: rows.astype(dtype, copy=False)}), len(model.SerializeToString()), error / size)


def ways(X: Any, y: Any, queries: Any) -> list[Timed]:
    size = float(y.std())
    ours, svr, process = fitted_models(X, y)
    twin = to_sklearn(ours)
    both = ours.predict(queries, return_std=True)
    double, single = ([("X", kind([None, X.shape[1]]))] for kind in (DoubleTensorType, FloatTensorType))
    svr_model = skl2onnx.to_onnx(svr, initial_types=single)  # onnxruntime has no SVMRegressor in double precision
    process_model = skl2onnx.to_onnx(process, initial_types=double, target_opset=18)
    n_functions, n_vectors = len(ours.active_), len(svr.support_)
    return [
        of_python(f"skarce, {n_functions} functions, mean and std", lambda rows: ours.predict(rows, return_std=True)),
        of_python("skarce, mean", ours.predict),
        of_python(f"its twin, a {type(twin).__name__}", twin.predict),
        of_onnx("ONNX, double, mean and std", to_onnx(ours), both, queries, size),
        of_onnx("ONNX, double, mean", to_onnx(ours, std=False), both[:1], queries, size),
        of_onnx("ONNX, float, mean and std", to_onnx(ours, real="float"), both, queries, size, np.float32),
        of_python(f"SVR, {n_vectors} vectors, mean", svr.predict),
        of_onnx("SVR by skl2onnx, float, mean", svr_model, [svr.predict(queries)], queries, size, np.float32),
        of_python("Gaussian process, mean and std", lambda rows: process.predict(rows, return_std=True)),
        of_onnx("Gaussian process by skl2onnx, double, mean", process_model, [process.predict(queries)], queries, size),
    ]


def measured() -> list[dict[str, Any]]:
    X, y, (queries, _) = drawn()
    queries = queries[:N_QUERIES]
    with threadpool_limits(1):
        return [
            {
                "name": one.name,
                "one row": microseconds(lambda one=one: one.call(queries[:1])),
                "of 1000 rows": microseconds(lambda one=one: one.call(queries)) / len(queries),
                "bytes": one.n_bytes,
                "difference": one.error,
            }
            for one in ways(X, y, queries)
        ]


def table_of(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Microseconds per prediction")
    for name in ("", "one row", "per row of 1000", "bytes", "from Python"):
        table.add_column(name, justify="left" if not name else "right")
    for row in rows:
        size = "" if row["bytes"] is None else f"{row['bytes']:,}"
        error = "" if row["difference"] is None else f"{row['difference']:.0e}"
        table.add_row(row["name"], f"{row['one row']:.1f}", f"{row['of 1000 rows']:.2f}", size, error)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.export_onnx", description=__doc__)
    parser.add_argument("--out", help="folder for export_onnx.json and export_onnx.txt")
    arguments = parser.parse_args()
    record = {"machine": machine(), "ways": measured()}
    (Console() if sys.stdout.isatty() else Console(width=120)).print(table_of(record["ways"]))
    if arguments.out:
        folder = Path(arguments.out)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "export_onnx.json").write_text(json.dumps(record, indent=1) + "\n")
        with open(folder / "export_onnx.txt", "w") as file:
            Console(file=file, width=120).print(table_of(record["ways"]))


if __name__ == "__main__":
    main()

"""Many rows from Parquet files: ``python -m benchmarks.scale [--rows 1000000 10000000] [--out FOLDER] [--data FOLDER]``.

Friedman's first function of ten inputs with unit noise, in single precision, in files of a million rows. Each contender runs in a
fresh process: a sparse model of 500 candidates by `RowBlocks` and by a Dask cluster of two processes, and what a user would take
instead: scikit-learn's Nystroem features with stochastic gradient descent, one pass and the same number of functions, and boosted
trees of xgboost on the same cluster if it is installed. Seconds are those of `fit`, the basis included and the start of a cluster
not. Memory is the largest sum over all processes, sampled, less that before the fit. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import machine
from benchmarks.large_fit import rows
from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.designs import RowBlocks

ROWS_OF_A_FILE, ROW_GROUP, N_TEST = 1_000_000, 65_536, 20_000
N_CANDIDATES, GAMMA = 500, 1.0
MEGABYTE = 2**20
NAMES = [f"x{number}" for number in range(10)]


# Data ------------------------------------------------------------------------------------------------------------------------


def written(folder: Path, n_rows: int) -> list[Path]:
    """Write the files that are not there yet, and return those with so many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(-(-n_rows // ROWS_OF_A_FILE)):
        path = folder / f"{number:04d}.parquet"
        paths.append(path)
        if not path.exists():
            X, y = rows(number, ROWS_OF_A_FILE)
            table = pa.table({**dict(zip(NAMES, X.T.astype(np.float32), strict=True)), "y": y})
            pq.write_table(table, f"{path}.part", row_group_size=ROW_GROUP, compression="NONE")
            Path(f"{path}.part").rename(path)
    return paths


def test_rows() -> tuple[np.ndarray, np.ndarray]:
    X, y = rows(10**6, N_TEST)
    return X.astype(np.float32), y


# Contenders ------------------------------------------------------------------------------------------------------------------


def model() -> RelevanceVectorRegressor:
    return RelevanceVectorRegressor(KernelBasis(gamma=GAMMA, centers=N_CANDIDATES, random_state=0), calibrate_std=False)


def by_row_blocks(paths: list[Path]) -> Any:
    return timed(lambda: model().fit(RowBlocks.from_parquet(paths, target="y", features=NAMES)))


def by_dask(paths: list[Path]) -> Any:
    import dask.dataframe

    with cluster():
        frame = dask.dataframe.read_parquet([str(path) for path in paths], split_row_groups=4)
        return timed(lambda: model().fit(frame[NAMES], frame["y"]))


def by_gradient_descent(paths: list[Path]) -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDRegressor
    from sklearn.pipeline import make_pipeline

    def fit() -> Any:
        blocks = RowBlocks.from_parquet(paths, target="y", features=NAMES)
        features = Nystroem(gamma=GAMMA, n_components=N_CANDIDATES, random_state=0).fit(blocks.sample(0).X)
        descent = SGDRegressor(random_state=0)
        for block in blocks:
            for start in range(0, len(block.X), 8192):
                part = slice(start, start + 8192)
                descent.partial_fit(features.transform(block.X[part]), block.targets[part, 0])
        return make_pipeline(features, descent)

    return timed(fit)


def by_boosted_trees(paths: list[Path]) -> Any:
    import dask.dataframe
    import xgboost

    with cluster() as client:
        frame = dask.dataframe.read_parquet([str(path) for path in paths], split_row_groups=4)
        return timed(
            lambda: xgboost.dask.DaskXGBRegressor(client=client, n_estimators=200).fit(
                frame[NAMES].to_dask_array(lengths=True), frame["y"].to_dask_array(lengths=True)
            )
        )


CONTENDERS: dict[str, Callable[[list[Path]], Any]] = {
    "RowBlocks": by_row_blocks,
    "Dask, 2 processes": by_dask,
    "Nystroem + SGD": by_gradient_descent,
    "xgboost.dask": by_boosted_trees,
}


@contextmanager
def cluster() -> Iterator[Any]:
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as two, Client(two) as client:
        yield client


# Measuring -------------------------------------------------------------------------------------------------------------------


def timed(fit: Callable[[], Any]) -> dict[str, Any]:
    """Return the seconds and the memory of a fit, and what the model is worth on new rows."""
    X, y = test_rows()
    before = tree_bytes()
    with peak_of_tree() as peak:
        started = time.perf_counter()
        fitted = fit()
        seconds = time.perf_counter() - started
    report = {"seconds": seconds, "peak_mb": (peak[0] - before) / MEGABYTE}
    if isinstance(fitted, RelevanceVectorRegressor):
        mean, std = fitted.predict(X, return_std=True)
        report |= {"functions": len(fitted.active_), "coverage": float(np.mean(np.abs(y - mean) < 1.96 * std))}
    else:
        mean = np.asarray(fitted.predict(X))
    return report | {"error": float(np.sqrt(np.mean((y - mean) ** 2)))}


@contextmanager
def peak_of_tree() -> Iterator[list[int]]:
    """Sample the memory of this process and its children."""
    peak, is_over = [tree_bytes()], threading.Event()

    def watch() -> None:
        while not is_over.wait(0.2):
            peak[0] = max(peak[0], tree_bytes())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        is_over.set()
        watcher.join()


def tree_bytes() -> int:
    import psutil

    own = psutil.Process()
    total = 0
    for process in (own, *own.children(recursive=True)):
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def in_own_process(name: str, folder: Path, n_rows: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale", "--one", name, "--rows", str(n_rows), "--data", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name} with {n_rows} rows failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def shown(results: list[dict[str, Any]]) -> Table:
    table = Table(title="Ten inputs, 500 candidates, from Parquet files")
    for title in ("rows", "method", "seconds", "rows / s", "peak MB", "error", "functions", "coverage"):
        table.add_column(title, justify="left" if title == "method" else "right")
    for one in results:
        coverage = f"{one['coverage']:.3f}" if "coverage" in one else ""
        table.add_row(
            f"{one['rows']:,}",
            one["method"],
            f"{one['seconds']:.1f}",
            f"{one['rows'] / one['seconds']:,.0f}",
            f"{one['peak_mb']:.0f}",
            f"{one['error']:.4f}",
            str(one.get("functions", "")),
            coverage,
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000], help="numbers of rows, in millions of them")
    parser.add_argument("--out", type=Path, help="folder for scale.txt and scale.json")
    parser.add_argument("--data", type=Path, help="folder for the files, which are kept; without it they are temporary")
    parser.add_argument("--methods", nargs="+", choices=list(CONTENDERS), help="contenders (default: all that are installed)")
    parser.add_argument("--one", choices=list(CONTENDERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.data or Path(temporary)
        if options.one:
            print(json.dumps(CONTENDERS[options.one](written(folder, options.rows[0]))))
            return
        names = options.methods or [name for name in CONTENDERS if "xgboost" not in name or find_spec("xgboost")]
        results = []
        for n_rows in options.rows:
            written(folder, n_rows)
            for name in names:
                print(f"{name}, {n_rows:,} rows ...", file=sys.stderr)
                results.append({"rows": n_rows, "method": name, **in_own_process(name, folder, n_rows)})
    console = Console(width=120, record=True)
    console.print(shown(results))
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "scale.txt").write_text(console.export_text())
        (options.out / "scale.json").write_text(json.dumps({"machine": machine(), "results": results}, indent=2))


if __name__ == "__main__":
    main()

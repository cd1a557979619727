"""Many rows from Parquet files: ``python -m benchmarks.scale [--rows 1000000 10000000] [--out FOLDER] [--data FOLDER]``.

Friedman's first function of ten inputs with unit noise, in single precision, in files of a million rows. Each contender runs in a
fresh process: a sparse model of 500 candidates by `RowBlocks`, with a given width, with a calibrated std (at a million rows), and
with widths learned from the sample, and by a Dask cluster of two processes, and what a user would take instead: scikit-learn's
Nystroem features with stochastic gradient descent or with ridge regression from sums, one pass and the same number of functions,
and boosted trees of xgboost on the same cluster if it is installed. ``--labels`` asks whether the function is above its mean, with
200 candidates. Seconds are those of `fit`, the basis included and the start of a cluster not. Memory is the largest of each
process, sampled, less that before the fit: of the client, and of each worker. The size of a model is that of its pickle. Each row
of scale.json says when it was made, and with what. Run nothing else at the same time.
"""

from __future__ import annotations

import argparse
import io
import json
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import machine
from benchmarks.gpu import commit
from benchmarks.large_fit import rows
from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorRegressor
from skarce.designs import RowBlocks

ROWS_OF_A_FILE, ROW_GROUP, N_TEST = 1_000_000, 65_536, 20_000
N_CANDIDATES, N_CANDIDATES_OF_LABELS, GAMMA = 500, 200, 1.0
MEAN = 14.4  # of the function
RIDGE = 1.0
MEGABYTE = 2**20
PACKAGES = ("skarce", "dask", "distributed", "xgboost")
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
            table = pa.table({**dict(zip(NAMES, X.T.astype(np.float32), strict=True)), "y": y, "label": y > MEAN})
            pq.write_table(table, f"{path}.part", row_group_size=ROW_GROUP, compression="NONE")
            Path(f"{path}.part").rename(path)
    return paths


def test_rows(fitted: Any) -> tuple[Any, np.ndarray]:
    """Return new rows, with the names of their columns if a model knows them."""
    import pandas as pd

    X, y = rows(10**6, N_TEST)
    X = X.astype(np.float32)
    return pd.DataFrame(X, columns=NAMES) if hasattr(fitted, "feature_names_in_") else X, y


# Contenders ------------------------------------------------------------------------------------------------------------------


def model(gamma: float | str = GAMMA, *, calibrate_std: bool = False) -> RelevanceVectorRegressor:
    return RelevanceVectorRegressor(KernelBasis(gamma=gamma, centers=N_CANDIDATES, random_state=0), calibrate_std=calibrate_std)


def classifier() -> RelevanceVectorClassifier:
    basis = KernelBasis(gamma=GAMMA, centers=N_CANDIDATES_OF_LABELS, random_state=0)
    return RelevanceVectorClassifier(basis)


def by_row_blocks(paths: list[Path]) -> Any:
    return timed(lambda: model().fit(RowBlocks.from_parquet(paths, target="y", features=NAMES)))


def calibrated(paths: list[Path]) -> Any:
    return timed(lambda: model(calibrate_std=True).fit(RowBlocks.from_parquet(paths, target="y", features=NAMES)))


def with_learned_widths(paths: list[Path]) -> Any:
    return timed(lambda: model("ard").fit(RowBlocks.from_parquet(paths, target="y", features=NAMES)))


def by_dask(paths: list[Path]) -> Any:
    import dask.dataframe

    with cluster():
        frame = dask.dataframe.read_parquet([str(path) for path in paths], split_row_groups=4)
        return timed(lambda: model().fit(frame[NAMES], frame["y"]))


def features_of(blocks: RowBlocks, n_components: int) -> Any:
    from sklearn.kernel_approximation import Nystroem

    return Nystroem(gamma=GAMMA, n_components=n_components, random_state=0).fit(blocks.sample(0).X)


def parts_of(blocks: RowBlocks, features: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield features and targets of a few rows at a time."""
    for block in blocks:
        for start in range(0, len(block.X), 8192):
            part = slice(start, start + 8192)
            yield features.transform(block.X[part]), block.targets[part, 0]


def by_gradient_descent(paths: list[Path]) -> Any:
    from sklearn.linear_model import SGDRegressor
    from sklearn.pipeline import make_pipeline

    def fit() -> Any:
        blocks = RowBlocks.from_parquet(paths, target="y", features=NAMES)
        features, descent = features_of(blocks, N_CANDIDATES), SGDRegressor(random_state=0)
        for phi, targets in parts_of(blocks, features):
            descent.partial_fit(phi, targets)
        return make_pipeline(features, descent)

    return timed(fit)


def by_ridge(paths: list[Path]) -> Any:
    """Add up the normal equations by hand, which scikit-learn's Ridge would make of all rows."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    def fit() -> Any:
        blocks = RowBlocks.from_parquet(paths, target="y", features=NAMES)
        features = features_of(blocks, N_CANDIDATES)
        gram, projections = RIDGE * np.eye(N_CANDIDATES), np.zeros(N_CANDIDATES)
        for phi, targets in parts_of(blocks, features):
            gram += phi.T @ phi
            projections += phi.T @ (targets - MEAN)
        ridge = Ridge(alpha=RIDGE).fit(np.eye(N_CANDIDATES), np.zeros(N_CANDIDATES))
        ridge.coef_, ridge.intercept_ = np.linalg.solve(gram, projections), MEAN
        return make_pipeline(features, ridge)

    return timed(fit)


def labels_by_row_blocks(paths: list[Path]) -> Any:
    return timed_labels(lambda: classifier().fit(RowBlocks.from_parquet(paths, target="label", features=NAMES)))


def labels_by_dask(paths: list[Path]) -> Any:
    import dask.dataframe

    with cluster():
        frame = dask.dataframe.read_parquet([str(path) for path in paths], split_row_groups=4)
        return timed_labels(lambda: classifier().fit(frame[NAMES], frame["label"]))


def labels_by_gradient_descent(paths: list[Path]) -> Any:
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    def fit() -> Any:
        blocks = RowBlocks.from_parquet(paths, target="label", features=NAMES)
        features, descent = features_of(blocks, N_CANDIDATES_OF_LABELS), SGDClassifier("log_loss", random_state=0)
        for phi, labels in parts_of(blocks, features):
            descent.partial_fit(phi, labels, classes=[False, True])
        return make_pipeline(features, descent)

    return timed_labels(fit)


def by_boosted_trees(paths: list[Path]) -> Any:
    import dask.dataframe
    import xgboost.dask

    def fit() -> Any:
        trees = xgboost.dask.DaskXGBRegressor(n_estimators=200)
        trees.client = client
        values = frame[[*NAMES, "y"]].to_dask_array(lengths=True)
        trees.fit(values[:, :-1], values[:, -1])
        local = xgboost.XGBRegressor()
        local.load_model(trees.get_booster().save_raw())
        return local

    with cluster() as client:
        frame = dask.dataframe.read_parquet([str(path) for path in paths], split_row_groups=4)
        return timed(fit)


CONTENDERS: dict[str, Callable[[list[Path]], Any]] = {
    "RowBlocks": by_row_blocks,
    "RowBlocks, calibrated": calibrated,
    "RowBlocks, learned widths": with_learned_widths,
    "Dask, 2 processes": by_dask,
    "Nystroem + SGD": by_gradient_descent,
    "Nystroem + ridge": by_ridge,
    "xgboost.dask": by_boosted_trees,
}
MOST_ROWS = {"RowBlocks, calibrated": 1_000_000}  # what calibration costs shows there already
OF_LABELS: dict[str, Callable[[list[Path]], Any]] = {
    "RowBlocks": labels_by_row_blocks,
    "Dask, 2 processes": labels_by_dask,
    "Nystroem + SGD": labels_by_gradient_descent,
}


@contextmanager
def cluster() -> Iterator[Any]:
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as two, Client(two) as client:
        yield client


# Measuring -------------------------------------------------------------------------------------------------------------------


def timed(fit: Callable[[], Any]) -> dict[str, Any]:
    """Return the seconds and the memory of a fit, and what the model is worth on new rows."""
    fitted, report = measured(fit)
    X, y = test_rows(fitted)
    if isinstance(fitted, RelevanceVectorRegressor):
        mean, std = fitted.predict(X, return_std=True)
        report |= {"functions": len(fitted.active_), "coverage": float(np.mean(np.abs(y - mean) < 1.96 * std))}
    else:
        mean = np.asarray(fitted.predict(X))
    return report | {"error": float(np.sqrt(np.mean((y - mean) ** 2)))}


def timed_labels(fit: Callable[[], Any]) -> dict[str, Any]:
    """Return the same for labels. The error is the log loss."""
    fitted, report = measured(fit)
    X, y = test_rows(fitted)
    share = np.clip(fitted.predict_proba(X)[:, 1].astype(np.float64), 1e-12, 1.0 - 1e-12)
    report |= {"accuracy": float(np.mean((share > 0.5) == (y > MEAN)))}
    if isinstance(fitted, RelevanceVectorClassifier):
        report |= {"functions": len(fitted.active_)}
    return report | {"error": float(-np.mean(np.where(y > MEAN, np.log(share), np.log1p(-share))))}


def measured(fit: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    """Return a fitted model, and the seconds and the memory that it took."""
    before = bytes_of_processes()
    with peaks_of_processes() as peaks:
        started = time.perf_counter()
        fitted = fit()
        seconds = time.perf_counter() - started
    added = [(peak - before.get(pid, 0)) / MEGABYTE for pid, peak in peaks.items()]
    return fitted, {"seconds": seconds, "peak_mb": added, "kilobytes": len(pickle.dumps(fitted)) / 2**10}


@contextmanager
def peaks_of_processes() -> Iterator[dict[int, int]]:
    """Sample the memory of this process, which comes first, and of each of its children."""
    peaks, is_over = bytes_of_processes(), threading.Event()

    def watch() -> None:
        while not is_over.wait(0.2):
            for pid, size in bytes_of_processes().items():
                peaks[pid] = max(peaks.get(pid, 0), size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peaks
    finally:
        is_over.set()
        watcher.join()


def bytes_of_processes() -> dict[int, int]:
    """Return the memory of this process and its children, without that which only tracks what they leave behind."""
    import psutil

    own = psutil.Process()
    sizes = {}
    for process in (own, *own.children(recursive=True)):
        try:
            if not any("resource_tracker" in word for word in process.cmdline()):
                sizes[process.pid] = process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return sizes


def memory_of(one: dict[str, Any]) -> str:
    """Return the memory of the client, and of each worker after a plus sign."""
    return " + ".join(f"{size:,.0f}" for size in one["peak_mb"])


def coverage_of(one: dict[str, Any]) -> str:
    """Return the share of new targets in intervals of 95 %."""
    return f"{one['coverage']:.3f}" if "coverage" in one else "no std"


def accuracy_of(one: dict[str, Any]) -> str:
    """Return the share of new labels that are predicted."""
    return f"{one['accuracy']:.3f}"


SHARES = {"coverage": coverage_of, "accuracy": accuracy_of}


def shares_in(results: list[dict[str, Any]]) -> dict[str, Callable[[dict[str, Any]], str]]:
    """Return how the shares in a table are written, by their names."""
    return {name: written for name, written in SHARES.items() if any(name in one for one in results)}


def in_own_process(name: str, folder: Path, n_rows: int, *more: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale", "--one", name, "--rows", str(n_rows), "--data", str(folder), *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name} with {n_rows} rows failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def shown(results: list[dict[str, Any]], title: str) -> Table:
    table = Table(title=title)
    for name in ("rows", "method", "seconds", "rows / s", "peak MB", "model kB", "error", "functions", "coverage", "accuracy"):
        if name in ("rows", "method", "rows / s", "peak MB", "model kB") or any(name in one for one in results):
            table.add_column(name, justify="left" if name == "method" else "right")
    for one in results:
        more = [written(one) for written in shares_in(results).values()]
        table.add_row(
            f"{one['rows']:,}",
            one["method"],
            f"{one['seconds']:.1f}",
            f"{one['rows'] / one['seconds']:,.0f}",
            memory_of(one),
            f"{one['kilobytes']:,.0f}" if "kilobytes" in one else "",
            f"{one['error']:.4f}",
            str(one.get("functions", "")),
            *more,
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000], help="numbers of rows, such as 1000000")
    parser.add_argument("--labels", action="store_true", help="two classes in place of numbers")
    parser.add_argument("--out", type=Path, help="folder for scale.txt and scale.json, or scale_labels.txt and scale_labels.json")
    parser.add_argument("--data", type=Path, help="folder for the files, which are kept; without it they are temporary")
    parser.add_argument("--methods", nargs="+", choices=list(CONTENDERS), help="contenders (default: all that are installed)")
    parser.add_argument("--add", action="store_true", help="keep what is in scale.json for other rows and methods")
    parser.add_argument("--one", choices=list(CONTENDERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        options.data = options.data or Path(temporary)
        if options.one:
            contenders = OF_LABELS if options.labels else CONTENDERS
            print(json.dumps(contenders[options.one](written(options.data, options.rows[0]))))
        else:
            show_all(options)


def show_all(options: argparse.Namespace) -> None:
    """Measure the contenders one after the other. The table is written after each, so that a long run can be stopped."""
    contenders, name = (OF_LABELS, "scale_labels") if options.labels else (CONTENDERS, "scale")
    names = [one for one in options.methods or contenders if one in contenders and ("xgboost" not in one or find_spec("xgboost"))]
    kept = options.out / f"{name}.json" if options.out is not None else None
    results = kept_results(kept) if options.add and kept is not None and kept.exists() else []
    made = made_with()
    for n_rows in options.rows:
        written(options.data, n_rows)
        for method in (name for name in names if n_rows <= MOST_ROWS.get(name, n_rows)):
            print(f"{method}, {n_rows:,} rows ...", file=sys.stderr)
            one = in_own_process(method, options.data, n_rows, *(["--labels"] if options.labels else []))
            others = [old for old in results if (old["rows"], old["method"]) != (n_rows, method)]
            results = sorted([*others, {"rows": n_rows, "method": method, **one, "made": made}], key=lambda r: r["rows"])
            if kept is not None:
                write(kept, results, options.labels)
    Console(width=130).print(shown(results, title_of(options.labels)))


def made_with() -> dict[str, Any]:
    """Return the date, the commit, the versions of the packages that take part, and the machine."""
    packages = {name: version(name) for name in PACKAGES if find_spec(name)}
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit(), "packages": packages, "machine": machine()}


def kept_results(path: Path) -> list[dict[str, Any]]:
    """Return earlier results. Old files say once for all of them on which machine they were made."""
    kept = json.loads(path.read_text())
    return [{"made": {"machine": kept["machine"]}, **one} if "machine" in kept else one for one in kept["results"]]


def title_of(labels: bool) -> str:
    return (
        f"Ten inputs, {N_CANDIDATES_OF_LABELS if labels else N_CANDIDATES} candidates, from Parquet files{', two classes' * labels}"
    )


def write(path: Path, results: list[dict[str, Any]], labels: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    console = Console(width=130, record=True, file=io.StringIO())
    console.print(shown(results, title_of(labels)))
    path.with_suffix(".txt").write_text(console.export_text())
    path.write_text(json.dumps({"results": results}, indent=2))


if __name__ == "__main__":
    main()

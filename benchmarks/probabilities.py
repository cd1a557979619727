"""Are probabilities right, with learned kernels and with and without a temperature? ``python -m benchmarks.probabilities``.

Classifiers and counts, with ``basis="auto"`` and ``basis="rbf"``, each plain and with ``calibrate_proba``, on real and generated
tables. Log loss of new rows, Brier score (the sum over classes, halved) and calibration error: rows are sorted by the probability
of a class and divided into ten bins of equal count, and the error is the mean distance between what was said and what happened, a
mean over classes. For counts it is the mean distance between levels of 0.1 to 0.9 and the share of counts below the predicted
quantiles; in place of the Brier score stands the share of the deviance that is left. If the truth is known, `best` is its log loss.

What was chosen was chosen on the tables of TUNE. Those of REPORT were only looked at afterwards.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import expit, xlogy
from sklearn.datasets import load_digits, make_blobs, make_circles, make_classification, make_moons
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.timing import cpu_seconds
from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, VBLSClassifier
from skarce.basis.learners import remembering
from skarce.datasets import load
from skarce.likelihoods.poisson import count_log_density, count_quantiles

N_NEW = 2000
OF_NUMBERS = {"likelihood": "gaussian", "noise_share": 1.0}
BASES: dict[str, Any] = {
    "auto": "auto",
    "rbf": "rbf",
    "expanded": KernelBasis("auto", gamma="learned", width_params=OF_NUMBERS),  # two classes as numbers with much noise
    "narrow": KernelBasis(gamma=4.0),  # far too narrow: what a temperature is for
}
CLASSIFIERS = {"rvc": RelevanceVectorClassifier, "vblsc": VBLSClassifier}
COUNTS = {"rvp": RelevanceVectorPoissonRegressor}
KINDS = ("plain", "calibrated")
MEASURES = ("log loss", "error", "score")
N_BINS = 10


class Draw(NamedTuple):
    """Rows in random order, and what is known about them.

    Attributes
    ----------
    X, y : inputs and labels or counts
    truth : probabilities of the classes, or rates; None if they are not known
    """

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray | None = None


# Tables -------------------------------------------------------------------------------------------------------------------


def real(*names: str) -> Callable[[np.random.Generator, int], Draw]:
    """Return a table that is made of these files."""

    def draw(rng: np.random.Generator, n_rows: int) -> Draw:
        parts = [load(name) for name in names]
        X, y = np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts])
        return shuffled(X, y, rng, n_rows)

    return draw


def shuffled(X: np.ndarray, y: np.ndarray, rng: np.random.Generator, n_rows: int) -> Draw:
    order = rng.permutation(len(y))[:n_rows]
    return Draw(X[order], y[order])


def made(make: Callable[..., Any], **options: Any) -> Callable[[np.random.Generator, int], Draw]:
    """Return a table of one of scikit-learn's generators."""
    return lambda rng, n_rows: Draw(*make(n_rows, random_state=int(rng.integers(2**31)), **options)[:2])


def of_log_odds(latent: Callable[[np.ndarray], np.ndarray], n_inputs: int) -> Callable[[np.random.Generator, int], Draw]:
    """Return a table with known log odds."""

    def draw(rng: np.random.Generator, n_rows: int) -> Draw:
        X = rng.uniform(-3.0, 3.0, (n_rows, n_inputs))
        share = expit(latent(X))
        return Draw(X, (rng.uniform(size=n_rows) < share).astype(int), np.column_stack([1.0 - share, share]))

    return draw


def gaussians(rng: np.random.Generator, n_rows: int) -> Draw:
    """Three normal classes with different covariances and shares, of which one is rare, and two inputs that do not matter."""
    means, scales, shares = ((0.0, 0.0), (2.0, 0.5), (-1.0, 2.0)), ((1.0, 0.4), (0.5, 1.5), (0.8, 0.8)), (0.5, 0.4, 0.1)
    y = rng.choice(3, n_rows, p=shares)
    X = rng.normal(np.array(means)[y], np.array(scales)[y])
    densities = [
        share * stats.norm.pdf(X, mean, scale).prod(axis=1) for share, mean, scale in zip(shares, means, scales, strict=True)
    ]
    truth = np.stack(densities, axis=1)
    return Draw(np.column_stack([X, rng.normal(size=(n_rows, 2))]), y, truth / truth.sum(axis=1, keepdims=True))


def counts(n_inputs: int, level: float) -> Callable[[np.random.Generator, int], Draw]:
    """Return counts that depend on the first two inputs (on the only one)."""

    def draw(rng: np.random.Generator, n_rows: int) -> Draw:
        X = rng.uniform(-3.0, 3.0, (n_rows, n_inputs))
        rate = np.exp(level + np.sin(X[:, 0]) + 0.5 * X[:, 1 % n_inputs] * (n_inputs > 1))
        return Draw(X, rng.poisson(rate), rate)

    return draw


THREE = {"n_features": 20, "n_informative": 4, "n_redundant": 2, "n_classes": 3, "n_clusters_per_class": 2, "class_sep": 1.2}
EIGHT = {"n_features": 10, "n_informative": 6, "n_classes": 8, "n_clusters_per_class": 1, "class_sep": 1.5}
TUNE: dict[str, Callable[[np.random.Generator, int], Draw]] = {
    "banana": real("banana"),
    "moons": made(make_moons, noise=0.3),
    "waves": of_log_odds(lambda X: 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1], 4),
    "4 of 20": made(make_classification, **THREE),
    "8 classes": made(make_classification, **EIGHT),
    "counts": counts(1, 1.0),
    "counts, 2 of 5": counts(5, 1.0),
}
REPORT: dict[str, Callable[[np.random.Generator, int], Draw]] = {
    "pima": real("pima_tr", "pima_te"),
    "synth": real("synth_tr", "synth_te"),
    "circles": made(make_circles, noise=0.2, factor=0.5),
    "product": of_log_odds(lambda X: 1.5 * X[:, 0] * X[:, 1] - 1.0, 6),
    "gaussians": gaussians,
    "blobs": made(make_blobs, centers=5, n_features=4, cluster_std=3.5),
    "digits": lambda rng, n_rows: shuffled(*load_digits(return_X_y=True), rng, n_rows),
    "few counts, 2 of 5": counts(5, -1.5),
}
TABLES = {**TUNE, **REPORT}


class Split(NamedTuple):
    """Training rows, new rows, and the truth of the new rows if it is known."""

    X: np.ndarray
    y: np.ndarray
    new_inputs: np.ndarray
    new_targets: np.ndarray
    truth: np.ndarray | None


def split_of(table: str, n_rows: int, seed: int) -> Split:
    """Return standardized rows: `n_rows`, at most two thirds of a short table, and the new ones."""
    X, y, truth = TABLES[table](np.random.default_rng(seed), n_rows + N_NEW)
    n_rows = min(n_rows, 2 * len(y) // 3)
    scaler = StandardScaler().fit(X[:n_rows])
    known = None if truth is None else truth[n_rows:]
    return Split(scaler.transform(X[:n_rows]), y[:n_rows], scaler.transform(X[n_rows:]), y[n_rows:], known)


# Measures -----------------------------------------------------------------------------------------------------------------


def of_classes(shares: np.ndarray, happened: np.ndarray) -> dict[str, float]:
    """Return the measures of probabilities, given zeros and ones, both of shape (n_rows, n_classes)."""
    errors = [calibration_error(said, seen) for said, seen in zip(shares.T, happened.T, strict=True)]
    loss = log_loss(happened.argmax(axis=1), shares, labels=np.arange(shares.shape[1]))
    return {
        "log loss": float(loss),
        "error": float(np.mean(errors)),
        "score": float(np.mean(np.sum((shares - happened) ** 2, axis=1)) / 2),
    }


def calibration_error(share: np.ndarray, happened: np.ndarray) -> float:
    """Return the mean distance between the mean probability of a bin and how often it happened there."""
    bins = np.array_split(np.argsort(share, kind="stable"), N_BINS)
    return float(sum(len(rows) * abs(share[rows].mean() - happened[rows].mean()) for rows in bins) / len(share))


def of_counts(mean: np.ndarray, variance: np.ndarray, counted: np.ndarray) -> dict[str, float]:
    """Return the measures of negative binomial predictions of counts."""
    deviance = lambda rate: np.mean(xlogy(counted, counted) - counted - xlogy(counted, rate) + rate)  # noqa: E731
    return {
        "log loss": -float(np.mean(count_log_density(counted, mean, variance))),
        "error": count_error(mean, variance, counted),
        "score": float(deviance(mean) / deviance(np.full(len(counted), counted.mean()))),
    }


def count_error(mean: np.ndarray, variance: np.ndarray, counted: np.ndarray) -> float:
    """Return the mean distance between a level and the share of counts below the quantile of that level.

    A count at the quantile is below it by the part of its probability that the level needs.
    """
    misses = []
    for level in np.arange(1, N_BINS) / N_BINS:
        at = count_quantiles(level, mean, variance)
        below = np.array([np.exp(count_log_density(np.maximum(at - k, 0.0), mean, variance)) for k in range(int(at.max()) + 1)])
        inside = np.arange(len(below))[:, None] <= at  # counts from the quantile down to zero
        least = np.where(inside[1:], below[1:], 0.0).sum(axis=0)
        misses.append(np.mean((counted < at) + (counted == at) * np.clip((level - least) / below[0], 0.0, 1.0)) - level)
    return float(np.mean(np.abs(misses)))


def measured(model: Any, split: Split) -> dict[str, float]:
    """Return the measures of a model on the new rows."""
    if isinstance(model, RelevanceVectorPoissonRegressor):
        mean, std = model.predict(split.new_inputs, return_std=True)
        return of_counts(mean, std**2, split.new_targets.astype(float))
    return of_classes(model.predict_proba(split.new_inputs), (split.new_targets[:, None] == model.classes_).astype(float))


def compared(make: Any, basis: Any, split: Split) -> dict[str, Any]:
    """Fit a model with a temperature, and measure it with and without it."""
    model = make(basis, calibrate_proba=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = cpu_seconds(lambda: model.fit(split.X, split.y))
        found = {"temperature": model.temperature_, "calibrated": measured(model, split)}
        model.temperature_ = 1.0  # the posterior knows nothing of it
        found["plain"] = measured(model, split)
    return {**found, "functions": len(model.active_), "CPU s": seconds}


def best_loss(split: Split) -> float | None:
    """Return the log loss of the truth."""
    if split.truth is None:
        return None
    if split.truth.ndim == 1:
        return of_counts(split.truth, split.truth, split.new_targets.astype(float))["log loss"]
    return float(log_loss(split.new_targets, split.truth))


def table_record(table: str, arguments: Any) -> dict[str, Any]:
    """Return the numbers of all methods, bases and splits of a table. Methods share learned widths."""
    found: dict[str, Any] = {"best": []}
    methods = COUNTS if "counts" in table else CLASSIFIERS
    for seed in range(arguments.splits):
        split = split_of(table, arguments.rows, seed)
        found["best"].append(best_loss(split))
        with remembering():
            for basis in arguments.bases:
                for method, make in methods.items():
                    found.setdefault(f"{method}, {basis}", []).append(compared(make, BASES[basis], split))
    return found


# Report -------------------------------------------------------------------------------------------------------------------


def mean_of(splits: list[dict[str, Any]], kind: str, measure: str) -> float:
    return float(np.mean([split[kind][measure] for split in splits]))


def lines_of(table: str, found: dict[str, Any]) -> list[str]:
    """Return a line for each method and basis: measures plain / calibrated, and means of the rest."""
    best = "" if found["best"][0] is None else f"  best {np.mean(found['best']):.4f}"
    lines = []
    for name, splits in found.items():
        if name == "best":
            continue
        pairs = ["{:.4f} / {:.4f}".format(*(mean_of(splits, kind, what) for kind in ("plain", "calibrated"))) for what in MEASURES]
        rest = [float(np.mean([split[what] for split in splits])) for what in ("temperature", "functions", "CPU s")]
        lines.append(f"{table:19s} {name:15s} {'   '.join(pairs)}   {rest[0]:5.2f} {rest[1]:5.0f} {rest[2]:6.2f}{best}")
    return lines


def summary(tables: dict[str, Any]) -> list[str]:
    """Return means over tables by method and basis: measures plain / calibrated, and the log loss less that of the first basis."""
    lines = []
    for name in dict.fromkeys(name for found in tables.values() for name in found if name != "best"):
        of = [found for found in tables.values() if name in found]
        means = {(kind, what): np.mean([mean_of(found[name], kind, what) for found in of]) for kind in KINDS for what in MEASURES}
        first = next(other for other in of[0] if other.split(",")[0] == name.split(",")[0])
        losses = np.array([[mean_of(found[each], "calibrated", "log loss") for each in (name, first)] for found in of])
        more = losses[:, 0] - losses[:, 1]
        pairs = [f"{means['plain', what]:.4f} / {means['calibrated', what]:.4f}" for what in MEASURES]
        less = f"{more.mean():+.4f} ({more.min():+.4f} to {more.max():+.4f})"
        lines.append(f"{'mean of ' + str(len(of)):19s} {name:15s} {'   '.join(pairs)}   {less}")
    return lines


def text_of(record: dict[str, Any]) -> str:
    lines = [f"{record['rows']} training rows, {record['splits']} splits. Each pair: plain / with a temperature.", ""]
    for role, names in (("TUNE", TUNE), ("REPORT", REPORT)):
        tables = {table: found for table, found in record["tables"].items() if table in names}
        if tables:
            lines += [f"{role:34s} log loss          calibration error  Brier, deviance   temperature, functions, CPU s"]
            lines += [line for table, found in tables.items() for line in lines_of(table, found)]
            lines += [*summary(tables), ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probabilities", description=__doc__)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES), help="some of the tables")
    parser.add_argument("--rows", type=int, default=400, help="training rows (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=3, help="number of splits of each table (default: %(default)s)")
    parser.add_argument("--tune-only", action="store_true", help="leave out the tables of the report")
    parser.add_argument("--bases", nargs="*", default=["auto", "rbf"], choices=list(BASES), help="default: %(default)s")
    parser.add_argument("--out", type=Path, help="folder for probabilities.json and probabilities.txt (default: none)")
    arguments = parser.parse_args()
    record: dict[str, Any] = {"rows": arguments.rows, "splits": arguments.splits, "tables": {}}
    with threadpool_limits(1):
        for table in arguments.tables:
            if table in TUNE or not arguments.tune_only:
                record["tables"][table] = table_record(table, arguments)
                print("\n".join(lines_of(table, record["tables"][table])), flush=True)
    report = text_of(record)
    print("\n" + report)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "probabilities.json").write_text(json.dumps(record, indent=1) + "\n")
        (arguments.out / "probabilities.txt").write_text(report + "\n")


if __name__ == "__main__":
    main()

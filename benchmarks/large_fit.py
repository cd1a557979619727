"""One large fit from row blocks: ``python -m benchmarks.large_fit [ROWS [LANDMARKS]]``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.timing import peak_megabytes, product_rate
from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.designs import RowBlocks

N_INPUTS, BLOCK = 10, 8192
DEFAULTS = ["1000000", "500"]  # rows and landmarks


def rows(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Generate n rows of Friedman's first function with unit noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, N_INPUTS))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.normal(size=n)


def main() -> None:
    n_rows, n_landmarks = (int(given) for given in (sys.argv[1:] + DEFAULTS[len(sys.argv) - 1 :]))

    def read() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for number, start in enumerate(range(0, n_rows, BLOCK)):
            yield rows(number, min(BLOCK, n_rows - start))

    rate = product_rate()
    started = time.perf_counter()
    for _ in read():
        pass
    making = time.perf_counter() - started
    model = RelevanceVectorRegressor(KernelBasis(gamma=1.0, centers=n_landmarks, random_state=0))
    started = time.perf_counter()
    model.fit(RowBlocks(read))
    seconds = time.perf_counter() - started
    X, y = rows(10**6, 5000)
    operations = float(n_rows) * n_landmarks**2  # for one triangle of Phi'Phi
    report = {
        "rows": n_rows,
        "landmarks": n_landmarks,
        "seconds": seconds,
        "seconds_to_make_the_rows_once": making,
        "rows_per_second": n_rows / seconds,
        "share_of_product_rate": operations / seconds / rate,
        "product_gflops": rate / 1e9,
        "peak_mb": peak_megabytes(),
        "functions": len(model.active_),
        "test_r2": model.score(X, y),
        "noise_std": model.noise_variance_**0.5,
        "outcome": model.outcome_.name,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()

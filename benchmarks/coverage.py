"""How often 95 % intervals cover new targets, on a sine with noise 0.3: ``python -m benchmarks.coverage``."""

from __future__ import annotations

import numpy as np

from skarce import KernelBasis, RelevanceVectorRegressor

DRAWS, N_TEST = 200, 200


def coverage(n_rows: int) -> tuple[float, float]:
    """Return the share of new targets inside their interval, and the mean number of functions, over many draws."""
    inside, sizes = [], []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-6, 6, (n_rows + N_TEST, 1))
        y = np.sin(X[:, 0]) + rng.normal(0, 0.3, len(X))
        model = RelevanceVectorRegressor(KernelBasis(gamma=0.5)).fit(X[:n_rows], y[:n_rows])
        mean, std = model.predict(X[n_rows:], return_std=True)
        inside.append(np.abs(y[n_rows:] - mean) < 1.96 * std)
        sizes.append(len(model.active_))
    return float(np.mean(inside)), float(np.mean(sizes))


if __name__ == "__main__":
    for n_rows in (40, 60, 100, 200, 400):
        share, size = coverage(n_rows)
        print(f"{n_rows:4d} rows: {100 * share:.1f} % covered, {size:.1f} functions")

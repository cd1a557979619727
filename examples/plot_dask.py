"""
Dask arrays
===========

``fit`` takes Dask arrays and data frames. Each partition becomes a task that makes sums, and the
sums add up. So the rows may be on a cluster, and the model is the same as that of all rows in one
place.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from skarce import KernelBasis, RelevanceVectorRegressor

random = da.random.default_rng(0)
X = random.uniform(-5, 5, size=(100_000, 1), chunks=(10_000, 1))
y = da.sin(X[:, 0]) * da.exp(-0.1 * X[:, 0] ** 2) + random.normal(
    0, 0.3, size=100_000, chunks=10_000
)

basis = KernelBasis(gamma=0.5, centers=np.linspace(-6, 6, 40)[:, None])
model = RelevanceVectorRegressor(basis).fit(X, y)
print(f"{len(model.active_)} functions from {X.shape[0]:,} rows in {X.numblocks[0]} partitions")

# %%
# The fitted model holds NumPy arrays only. ``predict`` of a Dask array is lazy, and that of a
# NumPy array is not.

lazy = model.predict(X)
print(lazy)

in_memory = RelevanceVectorRegressor(basis).fit(X.compute(), y.compute())
grid = np.linspace(-5, 5, 300)[:, None]
some = slice(0, 2000)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.plot(X[some].compute(), y[some].compute(), ".", color="0.8", ms=3, label="2,000 of the rows")
left.plot(grid, np.sin(grid) * np.exp(-0.1 * grid**2), "k--", lw=1, label="truth")
left.plot(grid, model.predict(grid), label="model of the Dask array")
left.set(xlabel="x", ylabel="y")
left.legend()
right.plot(grid, 1e15 * (model.predict(grid) - in_memory.predict(grid)))
right.set(xlabel="x", ylabel="difference from the model in memory, in $10^{-15}$")
plt.show()

"""
The best of all sets
====================

Searches add and remove one function at a time, so they may miss the best set. ``Exhaustive``
compares all sets of at most four functions, and skips those that cannot win. It is for few
candidates, and shows what the other searches are worth.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import KernelBasis, SparseRegressor
from skarce.criteria import SharedGCV
from skarce.searches import Exhaustive, Floating, Forward

rng = np.random.default_rng(0)
X = rng.uniform(-10, 10, (80, 1))
y = np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 80)

basis = KernelBasis(gamma=0.1, centers=np.linspace(-10, 10, 20)[:, None])
searches = {
    "Forward(), at most 4": (Forward(), 4),
    "Exhaustive(4)": (Exhaustive(4), 4),
    "Floating(), any size": (Floating(), None),
}
print(f"{Exhaustive(4).n_sets(20):,} sets of at most four of 20 functions")

# %%
# With four functions, the greedy search is stuck with its first choice: one kernel in the middle of
# the wave. It leaves none for the ripples at the ends. A search that may go beyond four functions
# and back has no such problem.

grid = np.linspace(-10, 10, 300)[:, None]
fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), sharey=True)
for ax, (name, (search, size)) in zip(axes, searches.items(), strict=True):
    model = SparseRegressor(basis, SharedGCV(), search, max_active=size).fit(X, y)
    print(f"{name}: GCV {model.criterion_:.4f}, {model.outcome_.name}")
    ax.plot(X, y, ".", color="0.7", ms=4, label="data")
    ax.plot(grid, np.sinc(grid / np.pi), "k--", lw=1, label="truth")
    ax.plot(grid, model.predict(grid), label="model")
    ax.plot(model.relevance_vectors_, np.full(len(model.active_), -0.45), "^C1", label="centers")
    ax.set(title=f"{name}: {len(model.active_)} functions", xlabel="x")
axes[0].legend()
plt.show()

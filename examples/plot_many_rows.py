"""
A million rows in blocks
========================

``RowBlocks`` takes a function that yields blocks of rows, from files or from anywhere else. One
block is in memory at a time, and the kernel matrix is never stored. Here are a million rows, which
are drawn again at each pass.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.designs import RowBlocks


def surface(X):
    """Return ripples around the center."""
    distance = np.hypot(X[:, 0], X[:, 1])
    return np.sinc(distance)


def read():
    """Yield fifty blocks of 20,000 rows, the same at each call."""
    for number in range(50):
        rng = np.random.default_rng(number)
        X = rng.uniform(-3, 3, (20_000, 2))
        yield X, surface(X) + rng.normal(0, 0.3, len(X))


basis = KernelBasis(gamma=1.0, centers=300, random_state=0)
model = RelevanceVectorRegressor(basis).fit(RowBlocks(read))
print(f"{len(model.active_)} functions, noise {model.noise_variance_**0.5:.3f} (true: 0.3)")

# %%
# One block shows little but noise. All of them together show the ripples.

side = np.linspace(-3, 3, 120)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
X, y = next(read())
fig, axes = plt.subplots(1, 3, figsize=(10, 3.5), sharey=True)
look = {"cmap": "Blues", "vmin": -0.3, "vmax": 1.0, "rasterized": True}
axes[0].scatter(*X[:6000].T, c=y[:6000], s=3, **look)
axes[1].pcolormesh(side, side, model.predict(grid).reshape(120, 120), **look)
picture = axes[2].pcolormesh(side, side, surface(grid).reshape(120, 120), **look)
axes[1].plot(*model.relevance_vectors_.T, ".C1", ms=4)
for ax, title in zip(axes, ("6,000 of the rows", "model and its centers", "truth"), strict=True):
    ax.set(title=title, aspect="equal", xlim=(-3, 3), ylim=(-3, 3))
fig.colorbar(picture, ax=axes, shrink=0.8)
plt.show()

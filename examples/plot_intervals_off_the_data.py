"""
Intervals away from the data
============================

Between and beyond the data, a sparse kernel model has nothing to be uncertain about: its
functions vanish there, and the plain std falls to the noise. With ``std="augmented"`` the std
grows away from the data, as that of a Gaussian process does. The mean stays the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import KernelBasis, RelevanceVectorRegressor

rng = np.random.default_rng(1)
X = np.concatenate([rng.uniform(-6, -2, 60), rng.uniform(2, 5, 60)])[:, None]
y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 120)
model = RelevanceVectorRegressor(KernelBasis(gamma=1.0)).fit(X, y)

# %%
# Both bands should hold 95 % of new targets. In the gap and at the edges, only the second one has
# a chance.

grid = np.linspace(-10, 10, 400)[:, None]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
for ax, kind in zip(axes, ("plain", "augmented"), strict=True):
    mean, std = model.predict(grid, return_std=True, std=kind)
    ax.plot(X, y, ".", color="0.55", label="data")
    ax.plot(grid, np.sin(grid), "k--", lw=1, label="truth")
    ax.fill_between(grid[:, 0], mean - 1.96 * std, mean + 1.96 * std, alpha=0.2, lw=0, label="95 %")
    ax.plot(grid, mean, color="C0", label="mean")
    ax.set(title=f'std="{kind}"', xlabel="x")
axes[0].legend(loc="upper left", ncols=2)
plt.show()

"""
A few directions of many inputs
===============================

Ten inputs, but the target depends on two mixtures of them only, and not in a straight way.
``KernelDimensionReduction`` finds the plane. Partial least squares looks for a linear dependence,
and misses half of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.pipeline import make_pipeline

from skarce import KernelDimensionReduction, RelevanceVectorRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 10))
first, second = (X[:, 0] + X[:, 1]) / np.sqrt(2), (X[:, 2] - X[:, 3]) / np.sqrt(2)
y = np.sin(1.5 * first) + second**2 + rng.normal(0, 0.1, 600)
train, test = slice(0, 300), slice(300, None)

# %%
# The number of directions is found by left-out rows. In front of a model, the reduction is one
# step of a pipeline.

reduction = KernelDimensionReduction().fit(X[train], y[train])
print(f"{reduction.n_components_} directions, errors of left-out rows {reduction.errors_}")
whole = RelevanceVectorRegressor().fit(X[train], y[train])
reduced = make_pipeline(reduction, RelevanceVectorRegressor()).fit(X[train], y[train])
for name, model in {"all inputs": whole, "two directions": reduced}.items():
    print(f"R2 on {name} {model.score(X[test], y[test]):.3f}")

# %%
# The target in the plane of both methods. With the right plane the colors are in order.

linear = PLSRegression(2).fit(X[train], y[train])
planes = {
    "kernel dimension reduction": reduction.transform(X),
    "partial least squares": linear.transform(X),
}
fig, axes = plt.subplots(1, 2, figsize=(9, 4))
for ax, (title, plane) in zip(axes, planes.items(), strict=True):
    points = ax.scatter(plane[:, 0], plane[:, 1], c=y, s=12, vmin=-1, vmax=4)
    ax.set(title=title, xlabel="first direction", ylabel="second direction")
fig.colorbar(points, ax=axes, label="target")
plt.show()

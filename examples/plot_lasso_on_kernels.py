"""
A lasso on kernels, without folds
=================================

``LaplacePriorRegressor`` has the penalty of the lasso, the sum of absolute weights. Generalized
cross validation finds its strength, so no folds are needed. Here it is beside scikit-learn's
``LassoCV`` on the same kernels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV
from sklearn.pipeline import make_pipeline

from skarce import KernelBasis, LaplacePriorRegressor

rng = np.random.default_rng(3)
X = rng.uniform(-8, 8, (150, 1))
truth = np.sinc(X[:, 0] / 2)
y = truth + rng.normal(0, 0.1, 150)

basis = KernelBasis(gamma=0.3)
ours = LaplacePriorRegressor(basis).fit(X, y)
lasso = make_pipeline(KernelBasis(gamma=0.3), LassoCV(max_iter=50_000, tol=1e-3, eps=1e-3)).fit(
    X, y
)

# %%
# Both predict well. The Laplace prior ends with fewer functions, because it removes those that
# others replace, and it has a std.

grid = np.linspace(-8, 8, 300)[:, None]
mean, std = ours.predict(grid, return_std=True)
n_lasso = np.count_nonzero(lasso[-1].coef_)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
for ax in axes:
    ax.plot(X, y, ".", color="0.7")
    ax.plot(grid, np.sinc(grid / 2), "k--", lw=1)
    ax.set(xlabel="x")
axes[0].fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, alpha=0.2, lw=0)
axes[0].plot(grid, mean)
axes[0].set(title=f"LaplacePriorRegressor: {len(ours.active_)} functions", ylabel="y")
axes[1].plot(grid, lasso.predict(grid), color="C1")
axes[1].set(title=f"LassoCV: {n_lasso} functions")
plt.show()

"""
The path of models, and their size
==================================

Forward selection adds one function after the other, so one fit holds a whole path of models.
``with_n_basis`` takes another size from the same fit, and ``keep_path=True`` also keeps larger
models.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import KernelBasis, OrthogonalLeastSquaresRegressor
from skarce.inspection import PathDisplay

rng = np.random.default_rng(0)


def draw(n):
    """Return rows of two bumps and a wave."""
    X = rng.uniform(-4, 4, (n, 1))
    bumps = np.exp(-4 * (X[:, 0] + 2) ** 2) + np.exp(-4 * (X[:, 0] - 1) ** 2)
    return X, bumps + 0.3 * np.sin(X[:, 0]) + rng.normal(0, 0.1, n)


X, y = draw(150)
X_test, y_test = draw(2000)
basis = KernelBasis(gamma=2.0)
model = OrthogonalLeastSquaresRegressor(basis, patience=15, keep_path=True).fit(X, y)

# %%
# Generalized cross validation chooses the size without other rows. The lower picture has the
# error on new rows, which the method has not seen.

PathDisplay.from_estimator(model, X_test, y_test)

# %%
# Three models of the path.

grid = np.linspace(-4, 4, 300)[:, None]
fig, ax = plt.subplots()
ax.plot(X, y, ".", color="0.7")
for size in (2, 4, len(model.active_)):
    ax.plot(grid, model.with_n_basis(size).predict(grid), lw=1.5, label=f"{size} functions")
ax.set(xlabel="x", ylabel="y")
ax.legend(loc="upper right")
plt.show()

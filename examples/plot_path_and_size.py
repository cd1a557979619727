"""
The path of models, and their size
==================================

Forward selection adds one function after the other, so one fit holds a whole path of models.
``n_basis`` sets the size, and ``with_n_basis`` takes another size from the same fit.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import KernelBasis, OrthogonalLeastSquaresRegressor

rng = np.random.default_rng(0)


def draw(n):
    """Return rows of two bumps and a wave."""
    X = rng.uniform(-4, 4, (n, 1))
    signal = (
        np.exp(-4 * (X[:, 0] + 2) ** 2) + np.exp(-4 * (X[:, 0] - 1) ** 2) + 0.3 * np.sin(X[:, 0])
    )
    return X, signal + rng.normal(0, 0.1, n)


X, y = draw(150)
X_test, y_test = draw(2000)
path = OrthogonalLeastSquaresRegressor(KernelBasis(gamma=2.0), n_basis=30).fit(X, y)

# %%
# The error of every model on the way. The method's own choice of the size, by generalized cross
# validation, needs no other rows.

sizes = np.arange(1, 31)
models = [path.with_n_basis(size) for size in sizes]
train = [np.sqrt(np.mean((model.predict(X) - y) ** 2)) for model in models]
test = [np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)) for model in models]
own = OrthogonalLeastSquaresRegressor(KernelBasis(gamma=2.0)).fit(X, y)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.plot(sizes, train, label="training rows")
left.plot(sizes, test, label="new rows")
left.axvline(len(own.active_), color="0.6", ls="--", lw=1, label="chosen size")
left.set(xlabel="number of functions", ylabel="root mean square error")
left.legend()

grid = np.linspace(-4, 4, 300)[:, None]
right.plot(X, y, ".", color="0.7")
for size in (2, 4, len(own.active_)):
    right.plot(grid, path.with_n_basis(size).predict(grid), lw=1.5, label=f"{size} functions")
right.set(xlabel="x", ylabel="y")
right.legend(loc="upper right")
plt.show()

"""
Choosing the width of a kernel
==============================

The width of a kernel decides how fast a model can bend. Narrow kernels follow the noise, and wide
ones miss the signal. ``gamma="evidence"`` learns one width from the data without left-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import KernelBasis, RelevanceVectorRegressor

rng = np.random.default_rng(0)


def draw(n):
    """Return rows of a wave that gets faster."""
    X = rng.uniform(0, 4, (n, 1))
    return X, np.sin(X[:, 0] ** 2) + rng.normal(0, 0.2, n)


X, y = draw(120)
X_test, y_test = draw(2000)

# %%
# The error on new rows for twelve given widths, and for the learned one.

gammas = np.logspace(-2, 3, 12)
errors = []
for gamma in gammas:
    model = RelevanceVectorRegressor(KernelBasis(gamma=gamma)).fit(X, y)
    errors.append(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)))

learned = RelevanceVectorRegressor(KernelBasis(gamma="evidence", random_state=0)).fit(X, y)
learned_error = np.sqrt(np.mean((learned.predict(X_test) - y_test) ** 2))
learned_gamma = float(np.ravel(learned.basis_.gamma_)[0])
print(f"learned gamma {learned_gamma:.1f}, error {learned_error:.3f}")

# %%
# On the right, the models with a width that is too large, learned, and too small.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.semilogx(gammas, errors, "o-", label="given width")
left.plot([learned_gamma], [learned_error], "*", ms=15, color="C1", label="learned width")
left.axhline(0.2, color="0.6", ls="--", lw=1, label="noise")
left.set(xlabel="gamma (large is narrow)", ylabel="error on new rows")
left.legend()

grid = np.linspace(0, 4, 400)[:, None]
right.plot(X, y, ".", color="0.7")
for gamma, label in ((0.05, "too wide"), ("evidence", "learned"), (300.0, "too narrow")):
    model = RelevanceVectorRegressor(KernelBasis(gamma=gamma, random_state=0)).fit(X, y)
    right.plot(grid, model.predict(grid), lw=1.5, label=label)
right.set(xlabel="x", ylabel="y")
right.legend()
plt.show()

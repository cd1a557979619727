"""
A noisy sine
============

A relevance vector machine fits 100 noisy values of a sine. It keeps a handful of the 100 kernels,
and says how sure it is.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import RelevanceVectorRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-5, 5, (100, 1))
y = np.sin(X[:, 0]) + rng.normal(0, 0.2, 100)

model = RelevanceVectorRegressor().fit(X, y)
print(f"{len(model.active_)} of {len(X)} functions, noise {model.noise_variance_**0.5:.2f}")
print(model.outcome_)

# %%
# The band has two standard deviations on each side. It includes the noise, which was learned too.
# The circles are the rows at which the kernels of the model stand.

grid = np.linspace(-5, 5, 300)[:, None]
mean, std = model.predict(grid, return_std=True)

fig, ax = plt.subplots()
ax.plot(X, y, ".", color="0.55", label="data")
ax.plot(grid, np.sin(grid), "k--", lw=1, label="truth")
ax.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, alpha=0.2, lw=0, label="mean ± 2 std")
ax.plot(grid, mean, color="C0", label="mean")
ax.plot(
    model.relevance_vectors_,
    y[model.active_],
    "o",
    mfc="none",
    mec="C1",
    ms=10,
    mew=2,
    label="functions in the model",
)
ax.set(xlabel="x", ylabel="y", ylim=(-1.8, 2.4))
ax.legend(loc="upper center", ncols=3)
plt.show()

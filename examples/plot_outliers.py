"""
Outliers
========

Normal noise lets a few wrong rows pull a model away. With ``noise="student-t"`` each row gets a
weight, and rows that do not fit count little. How heavy the tails are is learned.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import SplineTransformer

from skarce import VBLSRegressor

rng = np.random.default_rng(2)
X = np.sort(rng.uniform(0, 10, 120))[:, None]
y = np.sin(X[:, 0]) + 0.2 * X[:, 0] + rng.normal(0, 0.15, 120)
wrong = rng.choice(120, 14, replace=False)
y[wrong] += rng.uniform(2, 5, 14)

splines = SplineTransformer(n_knots=10)
normal = VBLSRegressor(splines).fit(X, y)
robust = VBLSRegressor(splines, noise="student-t").fit(X, y)
print(f"degrees of freedom of the noise: {robust.posterior_.noise_freedom:.1f}")

# %%
# 14 of 120 rows are wrong, all in the same direction.

grid = np.linspace(X.min(), X.max(), 300)[:, None]
fig, ax = plt.subplots()
ax.plot(X, y, ".", color="0.55", label="data")
ax.plot(X[wrong], y[wrong], "x", color="0.3", label="wrong rows")
ax.plot(grid, np.sin(grid) + 0.2 * grid, "k--", lw=1, label="truth")
ax.plot(grid, normal.predict(grid), color="C1", label="normal noise")
ax.plot(grid, robust.predict(grid), color="C0", label="Student's t noise")
ax.set(xlabel="x", ylabel="y", ylim=(-0.7, 7.2))
ax.legend(ncols=3, loc="upper left")
plt.show()

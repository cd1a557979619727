"""
A noisy sine
============

A relevance vector machine fits 100 noisy values of a sine. It keeps a handful of the 100 kernels,
and says how sure it is.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import RelevanceVectorRegressor
from skarce.inspection import PredictionDisplay

rng = np.random.default_rng(0)
X = rng.uniform(-5, 5, (100, 1))
y = np.sin(X[:, 0]) + rng.normal(0, 0.2, 100)

model = RelevanceVectorRegressor().fit(X, y)
print(f"{len(model.active_)} of {len(X)} functions, noise {model.noise_variance_**0.5:.2f}")
print(model.outcome_)

mean, std = model.predict([[1.5]], return_std=True)
print(f"at 1.5: {mean[0]:.2f} +- {std[0]:.2f}")

# %%
# The band holds 95 % of new targets. It includes the noise, which was learned too. The circles
# are the rows at which the kernels of the model stand.

fig, ax = plt.subplots()
PredictionDisplay.from_estimator(model, X, y, ax=ax)
grid = np.linspace(-5, 5, 300)
ax.plot(grid, np.sin(grid), "k--", lw=1, label="truth")
ax.set(xlabel="x", ylim=(-1.8, 2.4))
ax.legend(loc="upper center", ncols=3)
plt.show()

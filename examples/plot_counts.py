"""
Counts
======

Counts are whole numbers, and their noise grows with their rate.
``RelevanceVectorPoissonRegressor`` fits the log rate with a few functions, and gives intervals of
new counts.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import RelevanceVectorPoissonRegressor
from skarce.inspection import PredictionDisplay

rng = np.random.default_rng(0)
hours = rng.uniform(0, 24, (300, 1))


def rate(hour):
    """Return how many visitors to expect in an hour, most of them at noon and in the evening."""
    return 1 + 10 * np.exp(-0.1 * (hour - 12) ** 2) + 5 * np.exp(-0.3 * (hour - 19) ** 2)


visitors = rng.poisson(rate(hours[:, 0]))
model = RelevanceVectorPoissonRegressor(random_state=0).fit(hours, visitors)
explained = 100 * model.score(hours, visitors)
print(f"{len(model.active_)} functions explain {explained:.0f} % of the deviance")

# %%
# The interval is for single counts, so its edges are whole numbers.

fig, ax = plt.subplots()
PredictionDisplay.from_estimator(model, hours, visitors, coverage=0.9, ax=ax)
grid = np.linspace(0, 24, 400)
ax.plot(grid, rate(grid), "k--", lw=1, label="true rate")
ax.set(xlabel="hour of the day", ylabel="visitors", xticks=range(0, 25, 4))
ax.legend(loc="upper left")
plt.show()

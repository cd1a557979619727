"""
Streams that change
===================

``partial_fit`` takes one batch after the other and keeps only sums. With ``forgetting=0.8``, old
rows count less with every batch, so the model follows a system that changes.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import VBLSRegressor

rng = np.random.default_rng(0)
n_batches, n_inputs = 120, 10
drift = 2.0 * np.cos(np.linspace(0, np.pi, n_batches))  # one weight moves slowly
jump = np.where(np.arange(n_batches) < 60, 0.0, 1.5)  # another one appears

model = VBLSRegressor(forgetting=0.8)
weights, stds = [], []
for batch in range(n_batches):
    X = rng.normal(size=(20, n_inputs))
    y = drift[batch] * X[:, 0] + jump[batch] * X[:, 1] + rng.normal(0, 0.5, 20)
    model.partial_fit(X, y)
    weights.append(model.coef_)
    stds.append(model.coef_std_)

# %%
# The model follows with a delay: a factor of 0.8 remembers about five batches. The other eight
# inputs never matter, and their weights are zero nearly all the time.

weights, stds = np.array(weights), np.array(stds)
time = np.arange(n_batches)
fig, ax = plt.subplots()
ax.plot(time, weights[:, 2:], color="0.75", lw=1)
for column, truth, color in ((0, drift, "C0"), (1, jump, "C1")):
    ax.fill_between(
        time,
        (weights - 2 * stds)[:, column],
        (weights + 2 * stds)[:, column],
        color=color,
        alpha=0.2,
        lw=0,
    )
    ax.plot(time, weights[:, column], color=color, label=f"weight of input {column}")
    ax.plot(time, truth, "k--", lw=1)
ax.plot([], [], "k--", lw=1, label="truth")
ax.plot([], [], color="0.75", lw=1, label="the other inputs")
ax.set(xlabel="batch", ylabel="weight ± 2 std")
ax.legend(loc="lower left")
plt.show()

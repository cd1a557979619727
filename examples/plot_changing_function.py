"""
A function that changes
=======================

``LWPRRegressor`` learns a stream row by row. It keeps receptive fields, each with a small linear
model, and no rows. With ``forgetting=0.98`` a field remembers about fifty of its rows, so the model
follows if the function changes. Without forgetting, it ends up with an average of both functions.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import LWPRRegressor
from skarce.inspection import PredictionDisplay

rng = np.random.default_rng(0)
n_batches, n_rows = 60, 100


def truth(x, batch):
    """Return a wave, which is another one from batch 30 on."""
    return np.sin(3 * x) if batch < 30 else np.cos(4 * x) + 0.5 * x


models = {
    "forgets": LWPRRegressor(forgetting=0.98, initial_forgetting=0.98),
    "forgets nothing": LWPRRegressor(forgetting=1.0, initial_forgetting=1.0),
}
errors = {name: [] for name in models}
for batch in range(n_batches):
    X = rng.uniform(-2, 2, (n_rows, 1))
    y = truth(X[:, 0], batch) + rng.normal(0, 0.2, n_rows)
    for name, model in models.items():
        if batch:  # each batch tests the model before it teaches it
            errors[name].append(np.sqrt(np.mean((y - model.predict(X)) ** 2)))
        model.partial_fit(X, y)
for name, model in models.items():
    print(f"{name}: {model.n_fields_} fields after {model.n_samples_seen_:,} rows")

# %%
# The band is that of ``predict_interval``. Ticks are the centers of the fields.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
for name in models:
    left.plot(np.arange(1, n_batches), errors[name], label=name)
left.axhline(0.2, color="0.6", ls="--", lw=1, label="noise")
left.set(xlabel="batch", ylabel="RMS error of the next batch", ylim=(0, None))
left.legend()
PredictionDisplay.from_estimator(models["forgets"], X, y, ax=right)
grid = np.linspace(-2, 2, 200)
right.plot(grid, truth(grid, n_batches), "k--", lw=1, label="truth")
right.plot(models["forgets"].centers_, np.full(models["forgets"].n_fields_, -2.2), "|k")
right.set(xlabel="x", title="after the last batch")
right.legend(ncols=2, loc="upper center")
plt.show()

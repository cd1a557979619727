"""
Inputs in groups
================

Some inputs belong together: the readings of one sensor at several times, or the columns of one
category. With a label for each input, ``VBLSRegressor(prior=labels)`` keeps or drops a group as a
whole.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import VBLSRegressor

rng = np.random.default_rng(0)
n_sensors, n_lags, n_rows = 8, 6, 150
labels = np.repeat(np.arange(n_sensors), n_lags)
true = np.zeros(n_sensors * n_lags)
true[labels == 2] = [0.1, 0.3, 0.5, 0.5, 0.3, 0.1]
true[labels == 5] = [-0.4, -0.3, -0.2, -0.2, -0.1, -0.1]
X = rng.normal(size=(n_rows, len(true)))
y = X @ true + rng.normal(0, 1.0, n_rows)

alone = VBLSRegressor().fit(X, y)
grouped = VBLSRegressor(prior=labels).fit(X, y)
print("inputs kept alone:", len(alone.active_), " groups kept:", np.unique(labels[grouped.active_]))

# %%
# One by one, weak inputs are lost. Together with their group they stay, and the other sensors are
# dropped.

fig, axes = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True, sharey=True)
for ax, model, title in zip(
    axes, (alone, grouped), ("each input alone", "groups of six"), strict=True
):
    ax.bar(np.arange(len(true)), true, color="0.85", width=1.0, label="truth")
    shown = model.active_
    ax.errorbar(
        shown,
        model.coef_[shown],
        yerr=2 * model.coef_std_[shown],
        fmt="o",
        ms=4,
        lw=1,
        label="weight ± 2 std",
    )
    for edge in range(n_lags, len(true), n_lags):
        ax.axvline(edge - 0.5, color="0.8", lw=0.8)
    ax.set(title=title, ylabel="weight")
axes[0].legend(loc="lower left", ncols=2)
axes[1].set(
    xlabel="inputs, six for each sensor",
    xticks=np.arange(n_sensors) * n_lags + 2.5,
    xticklabels=[f"sensor {number}" for number in range(n_sensors)],
)
plt.show()

"""
Do intervals keep their promise?
================================

A model that chooses among many functions finds too little noise, so that its intervals are too
narrow. By default, left-out rows say by how much, and the std is scaled. New rows show what that
is worth.
"""

import matplotlib.pyplot as plt
import numpy as np

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.inspection import IntervalsDisplay

rng = np.random.default_rng(0)


def draw(n):
    """Return rows with two inputs; only the first one matters."""
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(X[:, 0]) + rng.normal(0, 0.3, n)


X, y = draw(300)
X_test, y_test = draw(2000)

# %%
# The kernels are too narrow on purpose. Without calibration, 95 % intervals miss many more than 5
# % of the targets.

fig, axes = plt.subplots(1, 2, figsize=(9, 4.2))
for ax, calibrate in zip(axes, (False, "auto"), strict=True):
    model = RelevanceVectorRegressor(KernelBasis(gamma=4.0), calibrate_std=calibrate).fit(X, y)
    IntervalsDisplay.from_estimator(model, X_test, y_test, kind="coverage", ax=ax)
    lower, upper = model.predict_interval(X_test, coverage=0.95)
    covered = 100 * np.mean((lower <= y_test) & (y_test <= upper))
    ax.set_title(f"calibrate_std={calibrate!r}: 95 % intervals cover {covered:.0f} %")

# %%
# The default learns the widths. Its model is better, so that its intervals are narrower, and they
# need hardly any correction.

default = RelevanceVectorRegressor(random_state=0).fit(X, y)
for name, each in (("given width", model), ("learned widths", default)):
    lower, upper = each.predict_interval(X_test, coverage=0.95)
    print(f"{name}: std times {each.std_scale_:.2f}, mean width {np.mean(upper - lower):.2f}")
IntervalsDisplay.from_estimator(default, X_test, y_test, kind=["coverage", "z"])
plt.show()

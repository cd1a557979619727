"""
Equations from a trajectory
===========================

Sparse identification of dynamics (SINDy) writes the derivative of each variable as a sum of few
terms. Here the terms are all products of x, y and z up to degree 3, and the data are a noisy
Lorenz system. ``effective_samples="auto"`` knows that smoothed rows depend on each other.
``VBLSRegressor`` also works as an optimizer of pysindy, see the page on other packages.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.signal import savgol_filter
from sklearn.preprocessing import PolynomialFeatures

from skarce import VBLSRegressor


def lorenz(t, state):
    """Return the derivative of the Lorenz system."""
    x, y, z = state
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]


step = 0.002
time = np.arange(5000) * step
states = solve_ivp(lorenz, (0, time[-1]), [-8, 7, 27], t_eval=time, rtol=1e-9, atol=1e-9).y.T
noisy = states + np.random.default_rng(0).normal(0, 0.01 * states.std(axis=0), states.shape)

# %%
# A filter gives smooth states and their derivatives. Then each derivative gets its own sparse
# model, and its weights are the equation.

smooth = savgol_filter(noisy, 51, 3, axis=0)
slopes = savgol_filter(noisy, 51, 3, deriv=1, delta=step, axis=0)
terms = PolynomialFeatures(3, include_bias=False).fit(smooth)
names = terms.get_feature_names_out(["x", "y", "z"])
models = [VBLSRegressor(terms, effective_samples="auto").fit(smooth, slope) for slope in slopes.T]
for variable, model in zip("xyz", models, strict=True):
    found = " ".join(f"{model.coef_[term]:+.2f} {names[term]}" for term in model.active_)
    print(f"d{variable}/dt = {found}")

# %%
# The identified system, started at the same point, stays close for a while. Then it leaves the
# true one, as every chaotic system does.


def identified(t, state):
    """Return the derivative by the three models."""
    features = terms.transform([state])[0]
    return [features @ model.coef_ + model.intercept_ for model in models]


again = solve_ivp(identified, (0, time[-1]), states[0], t_eval=time, rtol=1e-6).y.T
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), width_ratios=(2, 3))
left.plot(states[:, 0], states[:, 2], lw=0.7, color="0.6")
left.plot(again[:, 0], again[:, 2], lw=0.7, color="C0")
left.set(xlabel="x", ylabel="z")
right.plot(time, states[:, 0], color="0.6", label="true system")
right.plot(time, again[:, 0], "--", color="C0", lw=1.5, label="identified system")
right.set(xlabel="time", ylabel="x", ylim=(-20, 27))
right.legend(loc="upper left", ncols=2)
plt.show()

"""
Polynomial chaos and Sobol indices
==================================

Which uncertain inputs make the output of a computer model uncertain? A sparse polynomial chaos
expansion answers from 120 runs. The Ishigami function has three inputs and known answers.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from skarce import PolynomialChaosBasis, VBLSRegressor
from skarce.inspection import sobol_indices

rng = np.random.default_rng(0)
X = rng.uniform(-np.pi, np.pi, (120, 3))
y = np.sin(X[:, 0]) + 7 * np.sin(X[:, 1]) ** 2 + 0.1 * X[:, 2] ** 4 * np.sin(X[:, 0])
y += rng.normal(0, 0.1 * y.std(), len(y))  # the runs are noisy

basis = PolynomialChaosBasis(10, q_norm=0.75, distributions=stats.uniform(-np.pi, 2 * np.pi))
model = VBLSRegressor(basis).fit(X, y)
indices = sobol_indices(model)
print(indices)

# %%
# First-order indices are the shares of single inputs, and total ones include interactions. The
# exact values are those of the formula.

exact_first, exact_total = [0.3139, 0.4424, 0.0], [0.5576, 0.4424, 0.2437]
place = np.arange(3)
fig, ax = plt.subplots()
ax.bar(
    place - 0.2,
    indices.first,
    0.38,
    yerr=2 * indices.first_std,
    capsize=4,
    label="first order ± 2 std",
)
ax.bar(
    place + 0.2, indices.total, 0.38, yerr=2 * indices.total_std, capsize=4, label="total ± 2 std"
)
ax.plot(place - 0.2, exact_first, "k_", ms=30, mew=2, label="exact")
ax.plot(place + 0.2, exact_total, "k_", ms=30, mew=2)
ax.set(xticks=place, xticklabels=["x1", "x2", "x3"], ylabel="share of the variance", ylim=(0, 0.75))
ax.legend(markerscale=0.5)
plt.show()

"""
How few functions are nearly as good as all
===========================================

Backward elimination begins with all functions and removes the one that is missed least, again and
again. With ``keep_path=True`` the model of any size can be taken afterwards.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from skarce import BackwardEliminationRegressor, KernelBasis

X, y = make_friedman1(240, noise=1.0, random_state=0)
X_test, y_test = make_friedman1(2000, noise=0.0, random_state=1)

model = BackwardEliminationRegressor(KernelBasis(gamma="ard", random_state=0), keep_path=True).fit(
    X, y
)
print(f"{len(model.active_)} of {len(X)} functions raise the penalized error by at most 5 %")

# %%
# From right to left, functions are removed. Most of them can go before the error on new rows
# begins to grow.

sizes = [240, 200, 160, 120, 90, 70, 50, 40, 30, 25, 20, 15, 12, 10, 8, 6, 4, 3, 2]
errors = [np.mean((model.with_n_basis(size).predict(X_test) - y_test) ** 2) for size in sizes]

fig, ax = plt.subplots()
ax.loglog(sizes, errors, "o-", label="models on the path")
ax.axvline(len(model.active_), color="C1", ls="--", label="where the rule stops")
ax.set(xlabel="number of functions", ylabel="mean square error on new rows")
ax.legend()
plt.show()

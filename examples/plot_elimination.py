"""
How few functions are nearly as good as all
===========================================

Backward elimination begins with all functions and removes the one that is missed least, again and
again. With ``keep_path=True`` the model of any size can be taken afterwards.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1

from skarce import BackwardEliminationRegressor, KernelBasis
from skarce.inspection import PathDisplay

X, y = make_friedman1(240, noise=1.0, random_state=0)
X_test, y_test = make_friedman1(1000, noise=1.0, random_state=1)

basis = KernelBasis(gamma="ard", random_state=0)
model = BackwardEliminationRegressor(basis, keep_path=True).fit(X, y)
print(f"{len(model.active_)} of {len(X)} functions raise the penalized error by at most 5 %")
for size in (30, 15, 8):
    smaller = model.with_n_basis(size)
    print(f"{size} functions: R2 of new rows {smaller.score(X_test, y_test):.3f}")

# %%
# Read it from right to left: functions are removed, and most of them can go before the error on
# new rows begins to grow.

PathDisplay.from_estimator(model, X_test, y_test)
plt.show()

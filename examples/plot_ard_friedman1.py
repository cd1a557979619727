"""
Inputs that matter: Friedman 1
==============================

Friedman's first problem has ten inputs, and only the first five matter. The default learns one
width for each input: an input that does not matter gets a gamma near zero, so that the kernels do
not depend on it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score

from skarce import RelevanceVectorRegressor

X, y = make_friedman1(300, noise=1.0, random_state=0)
X_test, y_test = make_friedman1(2000, noise=1.0, random_state=1)

one_width = RelevanceVectorRegressor("rbf").fit(X, y)
each_its_own = RelevanceVectorRegressor(random_state=0).fit(X, y)
for name, model in (("one width", one_width), ("one for each input", each_its_own)):
    r2 = r2_score(y_test, model.predict(X_test))
    print(f"{name}: R2 {r2:.2f} with {len(model.active_)} functions")

# %%
# Left: gamma of each input; large is important. Right: predictions for new rows, with the learned
# widths.

gamma = each_its_own.basis_.gamma_
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.bar(np.arange(1, 11), gamma, color=["C0"] * 5 + ["C1"] * 5)
left.set(xlabel="input (6 to 10 are noise)", ylabel="learned gamma", xticks=np.arange(1, 11))

mean, std = each_its_own.predict(X_test[:200], return_std=True)
right.errorbar(mean, y_test[:200], xerr=2 * std, fmt=".", color="C0", ecolor="0.8", elinewidth=1)
right.axline((10, 10), slope=1, color="k", lw=1, ls="--")
right.set(xlabel="prediction ± 2 std", ylabel="target")
plt.show()

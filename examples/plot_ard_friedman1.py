"""
Inputs that matter: Friedman 1
==============================

Friedman's first problem has ten inputs, and only the first five matter. The default learns one
width for each input. Along an input that does not matter, kernels are so wide that they do not
depend on it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score

from skarce import RelevanceVectorRegressor
from skarce.inspection import InputsDisplay, PredictionDisplay

X, y = make_friedman1(300, noise=1.0, random_state=0)
X_test, y_test = make_friedman1(2000, noise=1.0, random_state=1)

one_width = RelevanceVectorRegressor("rbf").fit(X, y)
each_its_own = RelevanceVectorRegressor(random_state=0).fit(X, y)
for name, model in (("one width", one_width), ("one for each input", each_its_own)):
    r2 = r2_score(y_test, model.predict(X_test))
    print(f"{name}: R2 {r2:.2f} with {len(model.active_)} functions")

# %%
# The inputs x5 to x9 are noise, and the model has found out. The inputs x3 and x4 act nearly
# linearly, so that wide kernels are enough for them.

InputsDisplay.from_estimator(each_its_own)

# %%
# How the average prediction depends on the five inputs that matter, and on the first one that
# does not. The bands are those of the average.

features = [0, 1, 2, 3, 4, 5]
display = PredictionDisplay.from_estimator(each_its_own, X, features=features, max_rows=200)
for ax in display.axes_:
    ax.set_ylim(8, 21)
plt.show()

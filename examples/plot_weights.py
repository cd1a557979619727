"""
Weights with their uncertainty
==============================

A linear model of the diabetes data of scikit-learn: which measurements predict how the disease
goes on? ``VBLSRegressor`` drops those that do not help, and says how sure it is of the others.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from skarce import VBLSRegressor
from skarce.inspection import InputsDisplay, summary

X, y = load_diabetes(return_X_y=True, as_frame=True)
model = VBLSRegressor().fit(X, y)
summary(model)[["coefficient", "std", "lower", "upper", "relevance"]].round(2)

# %%
# The same as a picture, per standard deviation of each input.

InputsDisplay.from_estimator(model, X)
plt.show()

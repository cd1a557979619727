"""Models on a few components of the inputs, with their number chosen by cross-validation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from skarce.comparison.width_rules import N_FOLDS

MOST_COMPONENTS = 30


class BestComponents(RegressorMixin, BaseEstimator):
    """A model with the number of components that has the least squared error in five folds.

    Parameters
    ----------
    estimator : a model with the parameter `name`
    name : the name of the number of components, which is at most the number of inputs and rows, and at most 30
    """

    def __init__(self, estimator: Any, name: str) -> None:
        self.estimator = estimator
        self.name = name

    def fit(self, X: Any, y: Any) -> Any:
        """Choose the number of components, and fit the model to all rows."""
        n, d = np.shape(X)
        n_folds = min(N_FOLDS, n)
        n_kept = n - -(-n // n_folds)  # in the smallest set of rows that a fold leaves
        numbers = list(range(1, max(1, min(d, n_kept - 1, MOST_COMPONENTS)) + 1))
        folds = KFold(n_folds, shuffle=True, random_state=0)
        search = GridSearchCV(clone(self.estimator), {self.name: numbers}, cv=folds, scoring="neg_mean_squared_error")
        with warnings.catch_warnings():  # components beyond the rank of the inputs change nothing
            warnings.filterwarnings("ignore", "y residual is constant")
            self.best_estimator_ = search.fit(X, y).best_estimator_
        return self

    def predict(self, X: Any) -> Any:
        """Predict with the chosen number of components."""
        return self.best_estimator_.predict(X)


def make_pcr() -> Any:
    """Principal component regression: least squares on the components of the inputs with the largest variances."""
    return BestComponents(make_pipeline(PCA(svd_solver="full"), LinearRegression()), "pca__n_components")


def make_pls() -> Any:
    """Partial least squares."""
    return BestComponents(PLSRegression(scale=False), "n_components")

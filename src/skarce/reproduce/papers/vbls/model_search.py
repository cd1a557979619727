"""Exhaustive search over the subsets of a few inputs, the reference method of the paper on variational least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skarce._atomic import become, unfitted_twin
from skarce._typing import Floats
from skarce.criteria import ExplainedVariance
from skarce.estimators import SparseRegressor
from skarce.searches import Exhaustive

TINY = 1e-300  # keeps square roots of variances away from zero


class ModelSearch(RegressorMixin, BaseEstimator):
    """Least squares on the best of all subsets of `n_searched` inputs, by the Bayesian information criterion.

    The search covers the inputs with the largest t statistics in the model with all inputs.
    """

    def __init__(self, n_searched: int = 14) -> None:
        self.n_searched = n_searched

    def fit(self, X: Any, y: Any) -> ModelSearch:
        """Find the best of all 2^n_searched subsets."""
        twin = unfitted_twin(self)
        X, y = validate_data(twin, X, y, dtype=np.float64, y_numeric=True)
        phi, t = X - X.mean(axis=0), y - y.mean()
        inverse = np.linalg.pinv(phi.T @ phi)
        strengths = np.abs(inverse @ (phi.T @ t)) / np.sqrt(np.maximum(inverse.diagonal(), TINY))
        searched = np.sort(np.argsort(-strengths)[: self.n_searched])
        search = Exhaustive(self.n_searched)
        best = SparseRegressor("passthrough", ExplainedVariance(stop="bic"), search, fit_intercept=False, calibrate_std=False)
        best.fit(phi[:, searched], t)  # both are about their means
        twin.active_, twin.coef_ = searched[best.active_], best.coef_[best.active_]
        twin.intercept_ = float(y.mean() - X.mean(axis=0)[twin.active_] @ twin.coef_)
        return become(self, twin)

    def predict(self, X: Any) -> Floats:
        """The predicted mean."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X[:, self.active_] @ self.coef_ + self.intercept_

"""Exhaustive search over the subsets of a few inputs, the reference method of the paper on variational least squares."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skarce._atomic import become, unfitted_twin
from skarce._typing import Floats

TINY = 1e-300  # keeps square roots of variances away from zero
LEAST_RESIDUAL = 1e-12  # of the energy of the targets, so that the logarithm stays finite


class ModelSearch(RegressorMixin, BaseEstimator):
    """Least squares on the best of all subsets of `n_searched` inputs, by the Bayesian information criterion.

    The search covers the inputs with the largest t statistics in the model with all inputs.
    """

    def __init__(self, n_searched: int = 14) -> None:
        self.n_searched = n_searched

    def fit(self, X: Any, y: Any) -> ModelSearch:
        """Try all 2^n_searched subsets."""
        twin = unfitted_twin(self)
        X, y = validate_data(twin, X, y, dtype=np.float64, y_numeric=True)
        phi, t = X - X.mean(axis=0), y - y.mean()
        inverse = np.linalg.pinv(phi.T @ phi)
        strengths = np.abs(inverse @ (phi.T @ t)) / np.sqrt(np.maximum(inverse.diagonal(), TINY))
        searched = np.sort(np.argsort(-strengths)[: self.n_searched])
        twin.active_ = searched[list(best_subset(phi[:, searched], t))]
        some = phi[:, twin.active_]
        twin.coef_ = np.linalg.lstsq(some, t, rcond=None)[0]
        twin.intercept_ = float(y.mean() - X.mean(axis=0)[twin.active_] @ twin.coef_)
        return become(self, twin)

    def predict(self, X: Any) -> Floats:
        """The predicted mean."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X[:, self.active_] @ self.coef_ + self.intercept_


def best_subset(phi: Floats, t: Floats) -> tuple[int, ...]:
    """The columns that minimize n log RSS + k log n. All subsets of one size are solved in one batch."""
    n, m = phi.shape
    gram, projections, energy = phi.T @ phi, phi.T @ t, float(t @ t)
    best: tuple[float, tuple[int, ...]] = (n * np.log(energy), ())
    for size in range(1, m + 1):
        subsets = np.array(list(combinations(range(m), size)))
        blocks = gram[subsets[:, :, None], subsets[:, None, :]]
        right = projections[subsets][:, :, None]
        explained = np.einsum("sij,sij->s", right, np.linalg.solve(blocks, right))
        scores = n * np.log(np.maximum(energy - explained, LEAST_RESIDUAL * energy)) + size * np.log(n)
        place = int(scores.argmin())
        if scores[place] < best[0]:
            best = float(scores[place]), tuple(int(i) for i in subsets[place])
    return best[1]

"""The scikit-learn face: validation, fitted attributes, nothing numerical."""

from skarce.estimators.fast_gcv import FastGCVRegressor, LocalRidgeRegressor
from skarce.estimators.relevance_vector import RelevanceVectorRegressor
from skarce.estimators.sparse import SparseRegressor

__all__ = ["FastGCVRegressor", "LocalRidgeRegressor", "RelevanceVectorRegressor", "SparseRegressor"]

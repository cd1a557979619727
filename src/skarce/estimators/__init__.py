"""The scikit-learn face: validation, fitted attributes, nothing numerical."""

from skarce.estimators.relevance_vector import RelevanceVectorRegressor
from skarce.estimators.sparse import SparseRegressor

__all__ = ["RelevanceVectorRegressor", "SparseRegressor"]

"""Compact, uncertainty-aware sparse kernel and linear models."""

from importlib.metadata import version

from skarce.basis import KernelBasis
from skarce.estimators import FastGCVRegressor, LocalRidgeRegressor, RelevanceVectorRegressor, SparseRegressor
from skarce.posterior import Outcome

__version__ = version("skarce")
__all__ = [
    "FastGCVRegressor",
    "KernelBasis",
    "LocalRidgeRegressor",
    "Outcome",
    "RelevanceVectorRegressor",
    "SparseRegressor",
    "__version__",
]

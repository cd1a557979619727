"""Compact, uncertainty-aware sparse kernel and linear models."""

from importlib.metadata import version

from skarce.basis import KernelBasis, ProcessBasis
from skarce.estimators import (
    BackwardEliminationRegressor,
    CriterionSearch,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    JeffreysPriorRegressor,
    LaplacePriorRegressor,
    LocalRidgeRegressor,
    OrthogonalLeastSquaresRegressor,
    RegularizedForwardRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseRegressor,
    StepwiseRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce.states.outcome import Outcome

__version__ = version("skarce")
__all__ = [
    "BackwardEliminationRegressor",
    "CriterionSearch",
    "EvidenceRegressor",
    "EvidenceSearchRegressor",
    "FastGCVRegressor",
    "JeffreysPriorRegressor",
    "KernelBasis",
    "LaplacePriorRegressor",
    "LocalRidgeRegressor",
    "OrthogonalLeastSquaresRegressor",
    "Outcome",
    "ProcessBasis",
    "RegularizedForwardRegressor",
    "RelevanceVectorClassifier",
    "RelevanceVectorRegressor",
    "SparseRegressor",
    "StepwiseRegressor",
    "VBLSClassifier",
    "VBLSRegressor",
    "__version__",
]

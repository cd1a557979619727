"""Compact, uncertainty-aware sparse kernel and linear models."""

from importlib.metadata import version

from skarce.basis import KernelBasis, PolynomialChaosBasis, ProcessBasis
from skarce.basis.learners import register_width_learner
from skarce.estimators import (
    BackwardEliminationRegressor,
    CriterionSearch,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    JeffreysPriorRegressor,
    KernelMatchingPursuitClassifier,
    KernelMatchingPursuitRegressor,
    LaplacePriorRegressor,
    LocalRidgeRegressor,
    LWPRRegressor,
    OrthogonalLeastSquaresRegressor,
    PrimalSVMClassifier,
    RegularizedForwardRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    SparseRegressor,
    StepwiseRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce.estimators.trusted_types import trusted_types
from skarce.model_selection import learn_widths
from skarce.states.outcome import Outcome

register_width_learner(learn_widths)
__version__ = version("skarce")
__all__ = [
    "BackwardEliminationRegressor",
    "CriterionSearch",
    "EvidenceRegressor",
    "EvidenceSearchRegressor",
    "FastGCVRegressor",
    "JeffreysPriorRegressor",
    "KernelBasis",
    "KernelMatchingPursuitClassifier",
    "KernelMatchingPursuitRegressor",
    "LWPRRegressor",
    "LaplacePriorRegressor",
    "LocalRidgeRegressor",
    "OrthogonalLeastSquaresRegressor",
    "Outcome",
    "PolynomialChaosBasis",
    "PrimalSVMClassifier",
    "ProcessBasis",
    "RegularizedForwardRegressor",
    "RelevanceVectorClassifier",
    "RelevanceVectorPoissonRegressor",
    "RelevanceVectorRegressor",
    "SparseRegressor",
    "StepwiseRegressor",
    "VBLSClassifier",
    "VBLSRegressor",
    "__version__",
    "trusted_types",
]

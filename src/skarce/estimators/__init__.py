"""Estimators with the scikit-learn interface: parameters, validation and fitted attributes; nothing numerical."""

from typing import TYPE_CHECKING

from skarce._lazy import lazy

if TYPE_CHECKING:
    from skarce.estimators.backward_elimination import BackwardEliminationRegressor
    from skarce.estimators.criterion_search import CriterionSearch
    from skarce.estimators.evidence import EvidenceRegressor
    from skarce.estimators.evidence_search import EvidenceSearchRegressor
    from skarce.estimators.fast_gcv import FastGCVRegressor
    from skarce.estimators.jeffreys_prior import JeffreysPriorRegressor
    from skarce.estimators.joint_factor import JointFactorRegressor
    from skarce.estimators.kernel_dimension_reduction import KernelDimensionReduction
    from skarce.estimators.kernel_matching_pursuit import KernelMatchingPursuitRegressor
    from skarce.estimators.kernel_matching_pursuit_classifier import KernelMatchingPursuitClassifier
    from skarce.estimators.laplace_prior import LaplacePriorRegressor
    from skarce.estimators.local_ridge import LocalRidgeRegressor
    from skarce.estimators.lwpr import LWPRRegressor
    from skarce.estimators.orthogonal_least_squares import OrthogonalLeastSquaresRegressor
    from skarce.estimators.primal_svm import PrimalSVMClassifier
    from skarce.estimators.regularized_forward import RegularizedForwardRegressor
    from skarce.estimators.relevance_vector import RelevanceVectorRegressor
    from skarce.estimators.relevance_vector_classifier import RelevanceVectorClassifier
    from skarce.estimators.relevance_vector_poisson import RelevanceVectorPoissonRegressor
    from skarce.estimators.sparse import SparseRegressor
    from skarce.estimators.stepwise import StepwiseRegressor
    from skarce.estimators.vbls import VBLSRegressor
    from skarce.estimators.vbls_classifier import VBLSClassifier

__all__ = [
    "BackwardEliminationRegressor",
    "CriterionSearch",
    "EvidenceRegressor",
    "EvidenceSearchRegressor",
    "FastGCVRegressor",
    "JeffreysPriorRegressor",
    "JointFactorRegressor",
    "KernelDimensionReduction",
    "KernelMatchingPursuitClassifier",
    "KernelMatchingPursuitRegressor",
    "LWPRRegressor",
    "LaplacePriorRegressor",
    "LocalRidgeRegressor",
    "OrthogonalLeastSquaresRegressor",
    "PrimalSVMClassifier",
    "RegularizedForwardRegressor",
    "RelevanceVectorClassifier",
    "RelevanceVectorPoissonRegressor",
    "RelevanceVectorRegressor",
    "SparseRegressor",
    "StepwiseRegressor",
    "VBLSClassifier",
    "VBLSRegressor",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "BackwardEliminationRegressor": "backward_elimination",
        "CriterionSearch": "criterion_search",
        "EvidenceRegressor": "evidence",
        "EvidenceSearchRegressor": "evidence_search",
        "FastGCVRegressor": "fast_gcv",
        "JeffreysPriorRegressor": "jeffreys_prior",
        "JointFactorRegressor": "joint_factor",
        "KernelDimensionReduction": "kernel_dimension_reduction",
        "KernelMatchingPursuitRegressor": "kernel_matching_pursuit",
        "KernelMatchingPursuitClassifier": "kernel_matching_pursuit_classifier",
        "LaplacePriorRegressor": "laplace_prior",
        "LocalRidgeRegressor": "local_ridge",
        "LWPRRegressor": "lwpr",
        "OrthogonalLeastSquaresRegressor": "orthogonal_least_squares",
        "PrimalSVMClassifier": "primal_svm",
        "RegularizedForwardRegressor": "regularized_forward",
        "RelevanceVectorRegressor": "relevance_vector",
        "RelevanceVectorClassifier": "relevance_vector_classifier",
        "RelevanceVectorPoissonRegressor": "relevance_vector_poisson",
        "SparseRegressor": "sparse",
        "StepwiseRegressor": "stepwise",
        "VBLSRegressor": "vbls",
        "VBLSClassifier": "vbls_classifier",
    },
)

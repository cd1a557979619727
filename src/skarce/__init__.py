"""Compact, uncertainty-aware sparse kernel and linear models."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from skarce._width_learner import register_width_learner

if TYPE_CHECKING:
    from skarce.basis import KernelBasis, PolynomialChaosBasis, ProcessBasis
    from skarce.estimators import (
        BackwardEliminationRegressor,
        CriterionSearch,
        EvidenceRegressor,
        EvidenceSearchRegressor,
        FastGCVRegressor,
        JeffreysPriorRegressor,
        JointFactorRegressor,
        KernelDimensionReduction,
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
    from skarce.states.outcome import Outcome

    __version__: str

__all__ = [
    "BackwardEliminationRegressor",
    "CriterionSearch",
    "EvidenceRegressor",
    "EvidenceSearchRegressor",
    "FastGCVRegressor",
    "JeffreysPriorRegressor",
    "JointFactorRegressor",
    "KernelBasis",
    "KernelDimensionReduction",
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

_HOMES = dict.fromkeys(("KernelBasis", "PolynomialChaosBasis", "ProcessBasis"), "skarce.basis")
_HOMES |= {"Outcome": "skarce.states.outcome", "trusted_types": "skarce.estimators.trusted_types"}


def __getattr__(name: str) -> Any:
    """Import a name or a room when it is asked for, so that a program that only mentions the package starts quickly."""
    if name == "__version__":
        value: Any = import_module("importlib.metadata").version("skarce")
    elif name in __all__:
        value = getattr(import_module(_HOMES.get(name, "skarce.estimators")), name)
    elif not name.startswith("__") and find_spec(f"skarce.{name}"):
        return import_module(f"skarce.{name}")
    else:
        raise AttributeError(f"module 'skarce' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _learn_widths(*args: Any, **options: Any) -> Any:
    from skarce.model_selection import learn_widths

    return learn_widths(*args, **options)


register_width_learner(_learn_widths)

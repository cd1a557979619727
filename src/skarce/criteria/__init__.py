"""Criteria: what makes a set of candidates good."""

from typing import TYPE_CHECKING

from skarce._lazy import lazy

if TYPE_CHECKING:
    from skarce.criteria.criterion import Changes, CompiledRule, Criterion
    from skarce.criteria.explained_variance import ExplainedVariance
    from skarce.criteria.gcv import GCV
    from skarce.criteria.individual_evidence import IndividualEvidence
    from skarce.criteria.orthogonal_gcv import OrthogonalGCV
    from skarce.criteria.penalized_error import PenalizedError
    from skarce.criteria.shared_evidence import SharedEvidence
    from skarce.criteria.shared_gcv import SharedGCV

__all__ = [
    "GCV",
    "Changes",
    "CompiledRule",
    "Criterion",
    "ExplainedVariance",
    "IndividualEvidence",
    "OrthogonalGCV",
    "PenalizedError",
    "SharedEvidence",
    "SharedGCV",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Changes": "criterion",
        "CompiledRule": "criterion",
        "Criterion": "criterion",
        "ExplainedVariance": "explained_variance",
        "GCV": "gcv",
        "IndividualEvidence": "individual_evidence",
        "OrthogonalGCV": "orthogonal_gcv",
        "PenalizedError": "penalized_error",
        "SharedEvidence": "shared_evidence",
        "SharedGCV": "shared_gcv",
    },
)

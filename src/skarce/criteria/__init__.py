"""Criteria: what makes a set of candidates good."""

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

"""What makes a set of candidates good."""

from skarce.criteria.criterion import Changes, Criterion, Members
from skarce.criteria.gcv import GCV
from skarce.criteria.individual_evidence import IndividualEvidence

__all__ = ["GCV", "Changes", "Criterion", "IndividualEvidence", "Members"]

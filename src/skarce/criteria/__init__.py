"""What makes a set of candidates good."""

from skarce.criteria.criterion import Block, Changes, Criterion, Members
from skarce.criteria.individual_evidence import IndividualEvidence

__all__ = ["Block", "Changes", "Criterion", "IndividualEvidence", "Members"]

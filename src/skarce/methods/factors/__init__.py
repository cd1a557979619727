"""Factor analysis of inputs and targets together."""

from skarce.methods.factors.choice import information_scores, left_out_scores
from skarce.methods.factors.conditioning import Conditional
from skarce.methods.factors.em import fit_by_em
from skarce.methods.factors.likelihood import fit_directly
from skarce.methods.factors.spread import Spread, standardized, standardized_sums

__all__ = [
    "Conditional",
    "Spread",
    "fit_by_em",
    "fit_directly",
    "information_scores",
    "left_out_scores",
    "standardized",
    "standardized_sums",
]

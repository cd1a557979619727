"""Moments of candidates and targets. Phi'Phi is kept whole (sums that add up) or by column (computed on demand, cached)."""

from skarce.moments.block_sums import block_sums
from skarce.moments.fold_sums import FoldSums
from skarce.moments.gram import ColumnGram, Gram, WholeGram, whole_matrix
from skarce.moments.moments import Moments, Remainders, RowsAnswer
from skarce.moments.sums import CONSTANT, Sums

__all__ = [
    "CONSTANT",
    "ColumnGram",
    "FoldSums",
    "Gram",
    "Moments",
    "Remainders",
    "RowsAnswer",
    "Sums",
    "WholeGram",
    "block_sums",
    "whole_matrix",
]

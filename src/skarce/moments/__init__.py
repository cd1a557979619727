"""How much of Phi'Phi is kept: whole (additive, nothing depends on the rows afterwards) or by column (lazy, cached)."""

from skarce.moments.gram import ColumnGram, Gram, WholeGram, whole_matrix
from skarce.moments.moments import Moments, Remainders, RowsAnswer
from skarce.moments.sums import CONSTANT, Sums

__all__ = ["CONSTANT", "ColumnGram", "Gram", "Moments", "Remainders", "RowsAnswer", "Sums", "WholeGram", "whole_matrix"]

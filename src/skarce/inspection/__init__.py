"""Looking at fitted models."""

from skarce.inspection.sobol import SobolIndices, sobol_indices
from skarce.inspection.summary import summary

__all__ = ["SobolIndices", "sobol_indices", "summary"]

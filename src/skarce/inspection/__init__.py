"""What fitted models say about their inputs."""

from skarce.inspection.sobol import SobolIndices, sobol_indices

__all__ = ["SobolIndices", "sobol_indices"]

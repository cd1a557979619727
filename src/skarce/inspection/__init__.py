"""Looking at fitted models."""

from skarce.inspection.displays import FunctionsDisplay, InputsDisplay, IntervalsDisplay, PathDisplay, PredictionDisplay
from skarce.inspection.sobol import SobolIndices, sobol_indices
from skarce.inspection.summary import summary

__all__ = [
    "FunctionsDisplay",
    "InputsDisplay",
    "IntervalsDisplay",
    "PathDisplay",
    "PredictionDisplay",
    "SobolIndices",
    "sobol_indices",
    "summary",
]

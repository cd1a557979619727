"""Kernel widths and the like, by the model's own criterion."""

from skarce.model_selection.width_objective import Widths
from skarce.model_selection.widths import Progress, learn_widths

__all__ = ["Progress", "Widths", "learn_widths"]

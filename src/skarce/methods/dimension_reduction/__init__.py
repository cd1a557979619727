"""Kernel dimension reduction: the directions of the inputs on which the target depends."""

from skarce.methods.dimension_reduction.reduction import Plan, choose_n_components, draw_landmarks, enough_components, reduce_inputs
from skarce.methods.dimension_reduction.targets import label_features, number_features

__all__ = [
    "Plan",
    "choose_n_components",
    "draw_landmarks",
    "enough_components",
    "label_features",
    "number_features",
    "reduce_inputs",
]

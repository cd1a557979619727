"""Locally weighted projection regression: receptive fields with local partial least squares, learned from one row after another."""

from skarce.methods.lwpr.choice_of_metric import FEWEST_ROWS, choose_metric
from skarce.methods.lwpr.layout import Layout, Settings
from skarce.methods.lwpr.learning import learn
from skarce.methods.lwpr.local_models import LocalModels

__all__ = ["FEWEST_ROWS", "Layout", "LocalModels", "Settings", "choose_metric", "learn"]

"""Pictures of fitted models, in scikit-learn's manner. Matplotlib is imported only when something is drawn."""

from skarce.inspection.displays.functions import FunctionsDisplay
from skarce.inspection.displays.inputs import InputsDisplay
from skarce.inspection.displays.intervals import IntervalsDisplay
from skarce.inspection.displays.path import PathDisplay
from skarce.inspection.displays.prediction import PredictionDisplay

__all__ = ["FunctionsDisplay", "InputsDisplay", "IntervalsDisplay", "PathDisplay", "PredictionDisplay"]

"""Predictions with intervals of one target, in the units of the data, whatever stands around the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import column_or_1d

from skarce._text import listed
from skarce._typing import Floats, Indices
from skarce._validation import checked_array
from skarce.inspection.unwrapping import Unwrapped, unwrapped_predictor


@dataclass(frozen=True)
class Predictor:
    """One target of a fitted regressor.

    Attributes
    ----------
    found : the model, and what stands around it
    output : the place of the target
    """

    found: Unwrapped
    output: int

    def with_model(self, model: Any) -> Predictor:
        """Return the same with another model in its place, such as a smaller one."""
        return replace(self, found=replace(self.found, model=model))

    def mean(self, X: Any) -> Floats:
        """Return predicted targets."""
        return self._of_target(self.found.original_targets(self.found.model.predict(self.found.inputs(X))))

    def interval(self, X: Any, coverage: float) -> tuple[Floats, Floats]:
        """Return the ends of intervals that cover new targets."""
        ends = self.found.model.predict_interval(self.found.inputs(X), coverage)
        first, second = (self._of_target(self.found.original_targets(end)) for end in ends)
        return np.minimum(first, second), np.maximum(first, second)

    def z_scores(self, X: Any, y: Floats) -> Floats:
        """Return (target - mean) / std. If the target was transformed, this is on the scale of the model."""
        mean, std = self.found.model.predict(self.found.inputs(X), return_std=True)
        return self._of_target((self.found.model_targets(y) - mean) / std)

    def targets(self, y: Any) -> Floats:
        """Return checked targets of all outputs, as many as the model has."""
        outputs = self.found.outputs
        if y is None:
            raise ValueError("y is None, but the targets of the rows are needed. Pass y.")
        checked = np.asarray(checked_array(y, "y", ensure_2d=outputs is not None, dtype=np.float64))
        if outputs is None:
            return np.asarray(column_or_1d(checked))
        if checked.shape[1] != len(outputs):
            raise ValueError(f"y must have {len(outputs)} columns, one for each target, got {checked.shape[1]}.")
        return checked

    def of_target(self, y: Floats) -> Floats:
        """Return the column of the target."""
        return self._of_target(y)

    def _of_target(self, values: Floats) -> Floats:
        return values if values.ndim == 1 else values[:, self.output]


def class_places(classes: Any, y: Any) -> Indices:
    """Return the places of labels among the classes."""
    labels = np.asarray(column_or_1d(y))
    unknown = sorted({str(label) for label in labels[~np.isin(labels, classes)]})
    if unknown:
        raise ValueError(f"y has labels that the model does not know: {listed(unknown)}. Its classes are {listed(classes)}.")
    return np.searchsorted(classes, labels)


def predictor_of(estimator: Any, target: Any, caller: str, X: Any, y: Any) -> Predictor:
    """Return predictions of one target of a regressor for checked rows. Errors name the caller. Columns of y name the targets."""
    found = unwrapped_predictor(estimator, caller)
    if is_classifier(found.model):
        raise TypeError(
            f"{caller} is for regressors, because classes have no std and no intervals, got {type(found.model).__name__}. For "
            "probabilities, use CalibrationDisplay of scikit-learn."
        )
    found.model._checked_inputs(found.inputs(X))
    return Predictor(found, found.output(target, y))

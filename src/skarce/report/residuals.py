"""Predicted and true targets of rows that a model has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.metrics import confusion_matrix

from skarce._typing import Floats, Indices
from skarce.comparison import Answers
from skarce.datasets import TargetKind
from skarce.report.calibration import z_scores
from skarce.report.numbers import finite


@dataclass(frozen=True)
class Residuals:
    """Rows with predicted and true numbers, or with how often each class was predicted as each.

    Attributes
    ----------
    name : of the method
    rows : numbers of the rows in the table
    predicted, true : what was said, and what is true
    z : errors over their std, if there is one
    classes, confusion : labels, and how many rows of each class (rows) were predicted as each (columns)
    """

    name: str
    rows: Indices
    predicted: Any
    true: Any
    z: Floats | None = None
    classes: Any = None
    confusion: Any = None

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        arrays = {name: getattr(self, name) for name in ("rows", "predicted", "true", "classes", "confusion")}
        z = None if self.z is None else [finite(value) for value in self.z.tolist()]
        return {"name": self.name, **{name: None if each is None else each.tolist() for name, each in arrays.items()}, "z": z}


def residuals_of(answers: Answers) -> Residuals:
    """Return what rows say about one method."""
    if answers.kind is TargetKind.CLASSES:
        predicted = answers.classes[answers.values.argmax(axis=1)]
        confusion = confusion_matrix(answers.targets, predicted, labels=answers.classes)
        return Residuals(answers.name, answers.rows, predicted, answers.targets, classes=answers.classes, confusion=confusion)
    z = z_scores(answers) if answers.has_std else None
    return Residuals(answers.name, answers.rows, answers.values[:, 0], answers.targets, z)

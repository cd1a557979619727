"""The fitted model of skarce in a pipeline, a search or a transformation of the target, and the way to it and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skarce._text import quoted
from skarce._typing import Floats
from skarce.estimators.inside import model_inside
from skarce.estimators.joint_factor import JointFactorRegressor
from skarce.estimators.lwpr import LWPRRegressor
from skarce.estimators.on_basis import OnBasis
from skarce.estimators.relevance_vector_poisson import RelevanceVectorPoissonRegressor

NAMES_ARE_OF_Y = (
    " A model does not keep the names of its targets: name one where y is passed as a data frame, and pass the number of its "
    "column, from 0, everywhere else."
)


@dataclass(frozen=True)
class Unwrapped:
    """A fitted model of skarce, and what stands around it.

    Attributes
    ----------
    model : the fitted estimator of skarce
    input_names : names of its inputs if the steps before it know them, else None
    steps : fitted transformers of the inputs, in the order in which they are applied
    target_steps : fitted transformers of the target, in the order in which they are applied before the fit
    """

    model: Any
    input_names: Any
    steps: tuple[Any, ...]
    target_steps: tuple[Any, ...]

    def inputs(self, X: Any) -> Any:
        """Return rows as the model gets them."""
        for step in self.steps:
            X = step.transform(X)
        return X

    def original_inputs(self, rows: Floats) -> Floats | None:
        """Return rows of the model in the units of the data, or None if a step cannot be undone."""
        for step in reversed(self.steps):
            if not hasattr(step, "inverse_transform"):
                return None
            rows = step.inverse_transform(rows)
        return np.asarray(rows)

    def model_targets(self, targets: Floats) -> Floats:
        """Return targets as the model gets them."""
        for step in self.target_steps:
            targets = _as_columns(step.transform, targets)
        return targets

    def original_targets(self, predictions: Floats) -> Floats:
        """Return what the model predicts in the units of the data."""
        for step in reversed(self.target_steps):
            predictions = _as_columns(step.inverse_transform, predictions)
        return predictions

    @property
    def has_functions(self) -> bool:
        """Whether the model is a sum of functions with weights."""
        return isinstance(self.model, OnBasis)

    @property
    def has_counts(self) -> bool:
        """Whether targets are counts, in the units of the data."""
        return isinstance(self.model, RelevanceVectorPoissonRegressor) and not self.target_steps

    @property
    def outputs(self) -> list[Any] | None:
        """The targets or classes that have functions of their own, or None if there is one function only."""
        if isinstance(self.model, JointFactorRegressor):
            return list(range(len(self.model.intercept_))) if np.ndim(self.model.intercept_) else None
        if not self.has_functions or not isinstance(self.model.posterior_, list):
            return None
        return list(self.model.classes_) if hasattr(self.model, "classes_") else list(range(len(self.model.posterior_)))

    def output(self, target: Any, y: Any = None) -> int:
        """Return the place of a target or class, by number, label or name of its column in y. None stands for the only one."""
        outputs = self.outputs
        if outputs is None:
            if target is None or (isinstance(target, (int, np.integer)) and target == 0):
                return 0
            raise ValueError(f"target must be None, because this model has one function only, got {quoted(target)}.")
        has_classes = hasattr(self.model, "classes_")
        names = [None] * len(outputs) if has_classes else names_of_targets(y, len(outputs))
        for place, (output, name) in enumerate(zip(outputs, names, strict=True)):
            if target is not None and (_same(output, target) or (isinstance(target, str) and target == name)):
                return place
        what = "classes with functions of their own" if has_classes else "targets"
        if target is None:
            example = outputs[0].item() if isinstance(outputs[0], np.generic) else outputs[0]
            by_name = "" if has_classes else f" or target={quoted(names[0])}"
            raise ValueError(f"the model has several {what}: choose one with target={quoted(example)}{by_name}.")
        named = "" if has_classes else f" or {quoted(names)}"
        raise ValueError(
            f"target must be one of the {what}, {quoted(_plain(outputs))}{named}, got {quoted(target)}."
            f"{NAMES_ARE_OF_Y if isinstance(target, str) and not has_classes and not hasattr(y, 'columns') else ''}"
        )

    def posterior(self, target: Any, y: Any = None) -> Any:
        """Return the posterior of a target or class."""
        return self.model._posteriors()[self.output(target, y)]


def unwrapped(estimator: Any, caller: str) -> Unwrapped:
    """Find the fitted model of skarce in an estimator, which must be a sum of functions. Errors name the caller."""
    found = unwrapped_predictor(estimator, caller)
    if not found.has_functions:
        raise TypeError(
            f"{caller} needs a model that is a sum of functions with weights, got {type(found.model).__name__}. PredictionDisplay, "
            "IntervalsDisplay, and InputsDisplay with X and y take it."
        )
    return found


def unwrapped_predictor(estimator: Any, caller: str) -> Unwrapped:
    """Find the fitted model of skarce in an estimator, whatever it is made of. Errors name the caller."""
    found = model_inside(estimator, f"{caller} needs an estimator of skarce", (OnBasis, LWPRRegressor, JointFactorRegressor))
    names = None
    for steps in found.pipelines:
        names = _names_after(steps, names)
    return Unwrapped(found.model, names, tuple(steps for steps in found.pipelines if len(steps)), found.target_steps)


def names_of_inputs(estimator: Any, X: Any = None) -> list[str]:
    """Return the names of the columns that an estimator takes: those of X, or those that it has seen, or x0, x1 and so on."""
    names = getattr(X, "columns", None)
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    n_inputs = np.shape(X)[1] if X is not None else estimator.n_features_in_
    return [f"x{place}" for place in range(n_inputs)] if names is None else [str(name) for name in names]


def names_of_targets(y: Any, n_targets: int) -> list[str]:
    """Return the names of several targets: those of the columns of y, or y0, y1 and so on."""
    names = getattr(y, "columns", None)
    if names is None or len(names) != n_targets:
        return [f"y{place}" for place in range(n_targets)]
    return [str(name) for name in names]


def _names_after(steps: Pipeline, names: Any) -> Any:
    """Return the names of the outputs of these steps, or None if a step does not tell."""
    try:
        return steps.get_feature_names_out(names) if len(steps) else names
    except (AttributeError, ValueError):  # a step without names, or one that is not fitted
        return None


def _as_columns(transform: Any, values: Floats) -> Floats:
    """Transform targets, which transformers take as columns, and return them in the shape they had."""
    return np.asarray(transform(values.reshape(len(values), -1))).reshape(values.shape)


def _same(output: Any, target: Any) -> bool:
    return type(target) is not bool and bool(np.all(output == target))


def _plain(outputs: list[Any]) -> list[Any]:
    return np.asarray(outputs).tolist()

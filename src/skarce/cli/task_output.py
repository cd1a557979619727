"""What the commands print about a fitted model that depends on its task: predictions, quality, noise or classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from skarce.basis import KernelBasis
from skarce.cli.model_file import SavedModel
from skarce.datasets.tables import TableError
from skarce.estimators import PrimalSVMClassifier
from skarce.likelihoods import Bernoulli, Gaussian, Likelihood, Poisson


class TaskOutput(ABC):
    """What the commands print about a model for one task."""

    @abstractmethod
    def predictions(self, model: SavedModel, X: Any, std: str) -> dict[str, Any]:
        """The columns that ``skarce predict`` adds."""

    @abstractmethod
    def interval(self, model: SavedModel, X: Any, coverage: float) -> dict[str, Any]:
        """The columns that ``skarce predict --interval`` adds."""

    @abstractmethod
    def quality(self, model: SavedModel, score: float) -> dict[str, str]:
        """How well the model fits its training rows, for ``skarce fit``."""

    @abstractmethod
    def level(self, model: SavedModel) -> dict[str, str]:
        """The intercept and what belongs to it, for ``skarce explain``."""

    @abstractmethod
    def criterion_remark(self, model: SavedModel) -> str:
        """What else there is to say about the value of the criterion."""


class RegressionOutput(TaskOutput):
    """Numbers with error bars."""

    def predictions(self, model: SavedModel, X: Any, std: str) -> dict[str, Any]:
        if std == "augmented" and not isinstance(model.regressor.basis_, KernelBasis):
            raise TableError("--std augmented needs a model with kernels, and this one has none; use --std plain.")
        mean, deviation = model.pipeline.predict(X, return_std=True, std=std)
        return {f"{model.target}_mean": mean, f"{model.target}_std": deviation}

    def interval(self, model: SavedModel, X: Any, coverage: float) -> dict[str, Any]:
        return _interval(model, X, coverage)

    def quality(self, model: SavedModel, score: float) -> dict[str, str]:
        noise = f"{_noise(model):.5g} (standard deviation)"
        return {"noise": noise, **_std_scale(model), "R2": f"{score:.4f} on the training rows"}

    def level(self, model: SavedModel) -> dict[str, str]:
        noise = f"{_noise(model):.6g} (standard deviation, in units of {model.target})"
        return {"noise": noise, **_std_scale(model), "intercept": _intercept(model)}

    def criterion_remark(self, model: SavedModel) -> str:
        return model.regressor._method().remark


class ClassificationOutput(TaskOutput):
    """Classes with probabilities."""

    def predictions(self, model: SavedModel, X: Any, std: str) -> dict[str, Any]:
        if std != "plain":
            raise TableError(f"--std {std} is for numbers; this model predicts classes with probabilities.")
        classes = model.regressor.classes_
        if not hasattr(model.regressor, "predict_proba"):
            return _margins(model, X)
        probabilities = model.pipeline.predict_proba(X)
        each = {f"{model.target}_p_{label}": column for label, column in zip(classes, probabilities.T, strict=True)}
        return {f"{model.target}_predicted": classes[probabilities.argmax(axis=1)], **each}

    def interval(self, model: SavedModel, X: Any, coverage: float) -> dict[str, Any]:
        raise TableError("--interval is for numbers and counts; this model predicts classes with probabilities.")

    def quality(self, model: SavedModel, score: float) -> dict[str, str]:
        return {"classes": _classes(model), "accuracy": f"{score:.2%} on the training rows"}

    def level(self, model: SavedModel) -> dict[str, str]:
        classes = model.regressor.classes_
        of_second = f" of {classes[1]}" if len(classes) == 2 else ""
        scale = "margin" if isinstance(model.regressor, PrimalSVMClassifier) else "log odds"
        return {"classes": _classes(model), "intercept": f"{_intercept(model)} ({scale}{of_second})"}

    def criterion_remark(self, model: SavedModel) -> str:
        return "the sum over the classes" if model.has_posterior_per_class else ""


class CountOutput(TaskOutput):
    """Expected counts with the standard deviation of a new count."""

    def predictions(self, model: SavedModel, X: Any, std: str) -> dict[str, Any]:
        if std != "plain":
            raise TableError(f"--std {std} is for numbers; this model predicts counts.")
        mean, deviation = model.pipeline.predict(X, return_std=True)
        return {f"{model.target}_mean": mean, f"{model.target}_std": deviation}

    def interval(self, model: SavedModel, X: Any, coverage: float) -> dict[str, Any]:
        return _interval(model, X, coverage)

    def quality(self, model: SavedModel, score: float) -> dict[str, str]:
        return {"D2": f"{score:.4f} of the Poisson deviance on the training rows"}

    def level(self, model: SavedModel) -> dict[str, str]:
        return {"intercept": f"{_intercept(model)} (log rate)"}

    def criterion_remark(self, model: SavedModel) -> str:
        return ""


OUTPUTS: dict[type[Likelihood], TaskOutput] = {
    Gaussian: RegressionOutput(),
    Bernoulli: ClassificationOutput(),
    Poisson: CountOutput(),
}


def output_for(model: SavedModel) -> TaskOutput:
    """The output for the task of a fitted model."""
    return OUTPUTS[type(model.regressor._likelihood())]


def _margins(model: SavedModel, X: Any) -> dict[str, Any]:
    """The classes of a machine without probabilities, and the margins: of the second class, or of each class against the rest."""
    classes, margins = model.regressor.classes_, np.atleast_2d(model.pipeline.decision_function(X).T)
    labels = classes[1:] if len(margins) == 1 else classes
    each = {f"{model.target}_margin_{label}": column for label, column in zip(labels, margins, strict=True)}
    return {f"{model.target}_predicted": model.pipeline.predict(X), **each}


def _interval(model: SavedModel, X: Any, coverage: float) -> dict[str, Any]:
    lower, upper = model.regressor.predict_interval(model.pipeline[:-1].transform(X), coverage)
    return {f"{model.target}_lower": lower, f"{model.target}_upper": upper}


def _noise(model: SavedModel) -> float:
    return float(np.sqrt(model.regressor.noise_variance_))


def _std_scale(model: SavedModel) -> dict[str, str]:
    """The factor between the std of the model and that of its predictions, if left-out rows have asked for one."""
    scale = getattr(model.regressor, "std_scale_", 1.0)  # a model of an older version has none
    return (
        {}
        if scale == 1.0
        else {"std factor": f"{scale:.3g} (chosen on left-out rows; predictions have their std multiplied by it)"}
    )


def _classes(model: SavedModel) -> str:
    return ", ".join(map(str, model.regressor.classes_))


def _intercept(model: SavedModel) -> str:
    return ", ".join(f"{value:.6g}" for value in np.atleast_1d(model.regressor.intercept_))

"""Whether what was read from a file is a model that `skarce fit` writes: its parts, their shapes, finite numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skarce.basis import KernelBasis, SelectedColumns
from skarce.basis.kernels import DISTANCE_KERNELS, PRODUCT_KERNELS
from skarce.datasets.columns import NUMBER, TEXT
from skarce.datasets.training import make_filling
from skarce.estimators.primal_svm import PrimalSVMClassifier
from skarce.estimators.trusted_types import model_classes
from skarce.posteriors.latent import LatentPosterior
from skarce.posteriors.posterior import Posterior
from skarce.posteriors.variational import VariationalPosterior
from skarce.states.outcome import Outcome

PREPROCESSING = {"numbers": (StandardScaler, NUMBER), "texts": (OneHotEncoder, TEXT)}
POSTERIORS = (Posterior, LatentPosterior, VariationalPosterior)
KERNELS = (*DISTANCE_KERNELS, *PRODUCT_KERNELS)
# Infinite if a class does not use a function, or if the noise is known; a criterion may be infinite at the end of a path.
MAY_BE_INFINITE = {"weight_precision_", "noise_freedom", "criterion", "criterion_", "trace", "trace_", "worths", "noises"}
STEP_FIELDS = {"action": "U", "index": "i", "criterion": "f", "n_active": "i"}


def check_model(pipeline: Any, target: Any, columns: Any, version: Any) -> None:
    """Raise ValueError if these are not the parts of a saved model."""
    _demand(isinstance(target, str) and isinstance(version, str), "target and version are not text")
    _demand(isinstance(columns, dict) and len(columns) > 0, "it has no input columns")
    _demand(
        all(isinstance(name, str) and kind in (NUMBER, TEXT) for name, kind in columns.items()), "its columns are of no known kind"
    )
    _demand(type(pipeline) is Pipeline and len(pipeline.steps) in (2, 3), "it is not a preprocessing step and a model")
    (_, preprocessing), *between, (_, model) = pipeline.steps
    _demand(type(preprocessing) is ColumnTransformer, "its preprocessing is not that of skarce fit")
    _demand(type(model) in model_classes(), f"{type(model).__name__} is not a model of skarce")
    _check_preprocessing(preprocessing, columns)
    for label, filling in between:
        _demand(label == "filling", "it has a step that skarce fit does not write")
        _check_filling(filling, _n_outputs(preprocessing))
    _check_fitted(model, _n_outputs(preprocessing))
    _check_numbers(model)


def _demand(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _check_preprocessing(preprocessing: Any, columns: dict[str, str]) -> None:
    """The scaler and the encoder, each with its columns, and with numbers or texts for each of them."""
    _demand(list(preprocessing.feature_names_in_) == list(columns), "its preprocessing has other columns")
    _demand(len(preprocessing.transformers_) == len(set(columns.values())), "a kind of columns has no preprocessing")
    for label, part, names in preprocessing.transformers_:
        kind, wanted = PREPROCESSING[label]
        _demand(type(part) is kind, f"its {label} are not preprocessed as by skarce fit")
        _demand(names == [name for name, found in columns.items() if found == wanted], f"its {label} are other columns")
        _check_part(part, len(names))
        _demand(list(part.feature_names_in_) == names and part.n_features_in_ == len(names), f"its {label} are other columns")
    _check_places(preprocessing)
    _check_same_parameters(preprocessing)


def _check_filling(filling: Any, n_columns: int) -> None:
    """The step that fills in missing values, with a number for each input of the model."""
    _demand(type(filling) is SimpleImputer, "its missing values are not filled in as by skarce fit")
    _demand(str(filling.get_params()) == str(make_filling().get_params()), "its missing values are filled in in another way")
    _check_vector(filling.statistics_, n_columns, "f")
    _demand(np.isfinite(filling.statistics_).all() and filling.n_features_in_ == n_columns, "a number to fill in is not finite")
    kinds = [getattr(filling, name).kind for name in ("_fit_dtype", "_fill_dtype") if hasattr(filling, name)]
    _demand(set(kinds) <= {"f"} and filling.indicator_ is None, "its missing values are filled in in another way")


def _check_part(part: Any, n_columns: int) -> None:
    if isinstance(part, StandardScaler):
        for values in (part.mean_, part.scale_):
            _check_vector(values, n_columns, "f")
        _demand((part.scale_ > 0.0).all(), "a scale is not positive")
        return
    _demand(isinstance(part.categories_, list) and len(part.categories_) == n_columns, "a text column has no list of texts")
    for texts in part.categories_:
        is_text = (
            isinstance(texts, np.ndarray) and texts.ndim == 1 and len(texts) > 0 and all(isinstance(text, str) for text in texts)
        )
        _demand(is_text and list(texts) == sorted(set(texts)), "a text column has no sorted list of texts")


def _check_places(preprocessing: Any) -> None:
    """The outputs of the parts lie side by side."""
    start = 0
    for label, part, names in preprocessing.transformers_:
        width = len(names) if isinstance(part, StandardScaler) else sum(map(len, part.categories_))
        _demand(preprocessing.output_indices_[label] == slice(start, start + width), "its preprocessing has other outputs")
        start += width


def _n_outputs(preprocessing: Any) -> int:
    return max(places.stop for places in preprocessing.output_indices_.values())


def _check_same_parameters(preprocessing: Any) -> None:
    """The parts have the parameters that `make_preprocessing` gives them."""
    expected = {StandardScaler: StandardScaler(), OneHotEncoder: OneHotEncoder(handle_unknown="ignore", sparse_output=False)}
    for _, part, _ in preprocessing.transformers_:
        _demand(part.get_params() == expected[type(part)].get_params(), "its preprocessing has other parameters")


def _check_vector(values: Any, length: int, kinds: str) -> None:
    fits = isinstance(values, np.ndarray) and values.shape == (length,) and values.dtype.kind in kinds
    _demand(fits, f"an array does not have {length} numbers")


def _check_fitted(model: Any, n_inputs: int) -> None:
    """The fitted attributes fit together."""
    model.get_params()  # raises if one is missing
    _demand(model.n_features_in_ == n_inputs, "the model has another number of inputs than its preprocessing")
    posteriors = model.posterior_ if isinstance(model.posterior_, list) else [model.posterior_]
    _demand(len(posteriors) > 0, "it has no posterior")
    _check_candidates(model)
    for posterior, places in zip(posteriors, model._places, strict=True):
        _check_posterior(posterior, len(model.relevance_))
        _check_vector(places, len(posterior.active), "i")
        _demand(np.array_equal(model.active_[places], posterior.active), "its functions are not those of its posterior")
    _check_outputs(model, posteriors)
    _check_basis(model.basis_, len(model.active_), n_inputs)
    if hasattr(model, "_augmentation_rows") and model._augmentation_rows is not None:
        rows, weights = model._augmentation_rows
        _demand(
            rows.dtype.kind == "f" and rows.shape == (len(weights), n_inputs), "its training rows have another number of inputs"
        )
        _check_vector(weights, len(weights), "f")
        _demand(weights.sum() > 0.0 and (weights >= 0.0).all(), "its training rows have no weight")


def _check_candidates(model: Any) -> None:
    n_candidates = len(model.relevance_)
    _check_vector(model.relevance_, n_candidates, "f")
    _check_ascending(model.active_, n_candidates)


def _check_ascending(active: Any, n_candidates: int) -> None:
    _check_vector(active, len(active), "i")
    fits = (np.diff(active) > 0).all() and (len(active) == 0 or 0 <= active[0] <= active[-1] < n_candidates)
    _demand(fits, "its functions are not among the candidates")


def _check_posterior(posterior: Any, n_candidates: int) -> None:
    _demand(type(posterior) in POSTERIORS, f"{type(posterior).__name__} is not a posterior")
    _demand(set(vars(posterior)) == {field.name for field in fields(posterior)}, "a posterior lacks something")
    _check_ascending(posterior.active, n_candidates)
    n_active = len(posterior.active)
    for values in (posterior.mean, posterior.center):
        _check_vector(values, n_active, "f")
    factor, is_whole = posterior.factor, isinstance(posterior, LatentPosterior) and posterior.fit_intercept
    size = n_active + int(is_whole)
    _demand(isinstance(posterior.fit_intercept, bool) and factor.dtype.kind == "f", "a posterior is not in order")
    _demand(factor.shape == (size, size) and (factor.diagonal() > 0.0).all(), "a posterior has no covariance of its weights")
    _check_trace(posterior.trace)


def _check_trace(trace: Any) -> None:
    names = trace.dtype.names or ()
    _demand(trace.ndim == 1 and set(STEP_FIELDS) <= set(names), "its steps are not in order")
    _demand(all(trace.dtype[name].kind == kind for name, kind in STEP_FIELDS.items()), "its steps are not in order")


def _check_outputs(model: Any, posteriors: list[Any]) -> None:
    """Outcome, weights, constants and classes, one for each posterior."""
    _demand(isinstance(model.outcome_, Outcome) and isinstance(model.criterion_, float), "it does not say how the fit ended")
    _demand(model.criterion_sense_ in (-1, 1), "it does not say how the fit ended")
    _check_trace(model.trace_)
    n_active, is_one = len(model.active_), not isinstance(model.posterior_, list)
    _demand(model._weights.shape == ((n_active,) if is_one else (len(posteriors), n_active)), "its weights are not in order")
    _demand(model._weights.dtype.kind == "f", "its weights are not numbers")
    is_number = is_one and not hasattr(model, "classes_")
    _demand(np.shape(model.intercept_) == (() if is_number else (len(posteriors),)), "its constant is not in order")
    if hasattr(model, "classes_"):
        n_classes = 2 if is_one else len(posteriors)
        _check_vector(model.classes_, n_classes, "biufUO")
        _demand(len(set(model.classes_.tolist())) == n_classes, "two classes have the same name")
    elif not is_one:
        raise ValueError("it predicts several targets")
    if hasattr(model, "noise_variance_"):
        _demand(np.ndim(model.noise_variance_) == 0 and model.noise_variance_ >= 0.0, "its noise is negative")
    for name in ("std_scale_", "temperature_"):
        value = getattr(model, name, 1.0)
        _demand(
            isinstance(value, float) and (0.0 < value < np.inf or _has_margins_only(model, name)), "its calibration is not in order"
        )
    if hasattr(model, "classes_") and hasattr(model, "temperature_"):
        _check_vector(model._class_log_odds, len(posteriors), "f")


def _check_basis(basis: Any, n_active: int, n_inputs: int) -> None:
    _demand(type(basis) in (KernelBasis, SelectedColumns), f"{type(basis).__name__} is not a basis of skarce fit")
    if isinstance(basis, SelectedColumns):
        _check_vector(np.asarray(basis.indices), n_active, "i")
        return
    _demand(basis.kernel_ in KERNELS and basis.centers_.dtype.kind == "f", "its kernels are not in order")
    _demand(basis.centers_.shape == (n_active, n_inputs), "its centers have another number of inputs")
    _demand(basis.gamma_ is None or np.shape(basis.gamma_) in ((), (n_inputs,)), "its widths are not in order")
    _demand(basis.gamma_ is None or np.asarray(basis.gamma_).dtype.kind == "f", "its widths are not numbers")


def _has_margins_only(model: Any, name: str) -> bool:
    """Tell whether this attribute says that margins were not calibrated, so that there are no probabilities."""
    return name == "temperature_" and isinstance(model, PrimalSVMClassifier) and bool(np.isnan(model.temperature_))


def _check_numbers(model: Any) -> None:
    """All numbers that a fit leaves are finite; parameters are what the user passed."""
    parameters = model.get_params(deep=False)
    for name, value in vars(model).items():
        if name not in parameters:
            _demand(_is_finite(name, value) or _has_margins_only(model, name), f"{name} is not finite")


def _is_finite(name: str, value: Any) -> bool:
    if name in MAY_BE_INFINITE:
        return True
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        return bool(np.isfinite(value).all())
    return all(_is_finite(inner or name, part) for inner, part in _parts(value))


def _parts(value: Any) -> Iterable[tuple[str, Any]]:
    """What a container or a part of a model holds, with names if it has them."""
    if isinstance(value, (list, tuple)):
        return (("", part) for part in value)
    if isinstance(value, dict):
        return ((str(name), part) for name, part in value.items())
    if isinstance(value, BaseEstimator):
        parameters = value.get_params(deep=False)
        return ((name, part) for name, part in vars(value).items() if name not in parameters)
    return vars(value).items() if hasattr(value, "__dict__") and not isinstance(value, (type, Outcome)) else ()

"""Which inputs matter: by shuffling them, or by coefficients, widths of kernels, or Sobol indices of polynomial chaos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_consistent_length

from skarce._text import quoted
from skarce._typing import Floats
from skarce.basis import KernelBasis, PolynomialChaosBasis, ProcessBasis
from skarce.basis.kernels import DISTANCE_KERNELS
from skarce.datasets import TargetKind
from skarce.estimators.tested_coefficients import check_level, interval_reach
from skarce.inspection.functions import ranked_functions
from skarce.inspection.predictor import Predictor, class_places
from skarce.inspection.shuffling import SHUFFLED, shuffled_inputs
from skarce.inspection.sobol import sobol_indices
from skarce.inspection.tables import checked_rows
from skarce.inspection.unwrapping import Unwrapped, unwrapped, unwrapped_predictor

COEFFICIENTS, WIDTHS, SOBOL, BY_SHUFFLING = "coefficients", "widths", "sobol", "shuffling"


@dataclass(frozen=True)
class InputRelevance:
    """How much each input matters, the one that matters most first.

    Attributes
    ----------
    kind : {"coefficients", "widths", "sobol", "shuffling"}
        What the values are.
    names : list of str
        Names of the inputs, or of the columns of the basis.
    values : ndarray of shape (n_inputs,)
        Coefficients, 1 / length of the kernel, total Sobol indices, or the rise of the loss by shuffling.
    lower, upper : ndarray of shape (n_inputs,) or None
        Ends of their intervals, for shuffling one std of the shuffles on both sides. None if there are none.
    label : str
        The values in words.
    level : float
        Probability that an interval contains its value.
    n_left_out : int
        How many columns the model does not use. They are not listed.
    first : ndarray of shape (n_inputs,) or None
        First-order Sobol indices.
    """

    kind: str
    names: list[str]
    values: Floats
    lower: Floats | None
    upper: Floats | None
    label: str
    level: float
    n_left_out: int = 0
    first: Floats | None = None

    def __len__(self) -> int:
        return len(self.names)


def input_relevance(
    model: Any, X: Any = None, y: Any = None, *, target: Any = None, level: float = 0.95, caller: str = "input_relevance"
) -> InputRelevance:
    """Return which inputs of a fitted model matter.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
    X : array-like of shape (n_samples, n_features), default=None
        Rows whose standard deviations make inputs of different units comparable: coefficients and 1 / lengths are then those per
        standard deviation of the input. Sobol indices are shares, and do not need it.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Targets of these rows. With them, any model shows what shuffling each column of X adds to its loss.
    target : int or label, default=None
        Which target or class, if there are several with functions of their own.
    level : float, default=0.95
        Probability that an interval contains its value.
    caller : str, default="input_relevance"
        Who asks, for messages.
    """
    check_level(level)
    if y is not None:
        return _by_shuffling(model, unwrapped_predictor(model, caller), X, y, target, level)
    found = unwrapped(model, caller)
    output, basis = found.output(target), found.model.basis_
    transformer = getattr(basis, "transformer", None)
    if isinstance(basis, KernelBasis):
        return _widths(found, basis, X, level)
    if isinstance(transformer, ProcessBasis):
        return _widths(found, transformer, X, level)
    if _is_chaos(transformer):
        return _sobol(found, output, level)
    return _coefficients(model, found, X, target, level, caller)


def _by_shuffling(model: Any, found: Unwrapped, X: Any, y: Any, target: Any, level: float) -> InputRelevance:
    if X is None:
        raise ValueError("y comes without X, but the columns of X are what is shuffled. Pass both, or neither.")
    X = checked_rows(X)
    check_consistent_length(X, y)
    found.model._checked_inputs(found.inputs(X))
    kind, output = _target_kind(found), 0
    if kind is TargetKind.CLASSES:
        if target is not None:
            raise ValueError(f"target must be None to shuffle inputs of a classifier: all classes count, got {quoted(target)}.")
        targets = found.model.classes_[class_places(found.model.classes_, y)]
    else:
        output = found.output(target, y)
        predictor = Predictor(found, output)
        targets = predictor.of_target(predictor.targets(y))
    shuffled = shuffled_inputs(model, X, targets, kind, output)
    lower, upper = shuffled.rises - shuffled.spreads, shuffled.rises + shuffled.spreads
    return InputRelevance(BY_SHUFFLING, shuffled.names, shuffled.rises, lower, upper, SHUFFLED[kind], float(level))


def _target_kind(found: Unwrapped) -> TargetKind:
    if is_classifier(found.model):
        return TargetKind.CLASSES
    return TargetKind.COUNTS if found.has_counts else TargetKind.NUMBERS


def _is_chaos(transformer: Any) -> bool:
    last = transformer.steps[-1][1] if hasattr(transformer, "steps") else transformer
    return isinstance(last, PolynomialChaosBasis)


def _coefficients(model: Any, found: Unwrapped, X: Any, target: Any, level: float, caller: str) -> InputRelevance:
    functions = ranked_functions(model, target=target, level=level, caller=caller)
    scale, label = np.ones(len(functions)), "coefficient"
    if X is not None:
        places = np.searchsorted(found.model.active_, functions.candidates)
        scale, label = _columns(found, X)[:, places].std(axis=0), "coefficient per std of the column"
    values, lower, upper = (scale * part for part in (functions.weights, functions.lower, functions.upper))
    # Without rows, units differ, but the ratio of a coefficient and its std has none.
    size = np.abs(values) if X is not None else _ratios(functions.weights, functions.stds)
    order = np.argsort(-size, kind="stable")
    names = [functions.names[place] for place in order]
    n_left_out = functions.n_candidates - len(functions)
    return InputRelevance(COEFFICIENTS, names, values[order], lower[order], upper[order], label, float(level), n_left_out)


def _ratios(weights: Floats, stds: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(weights == 0.0, 0.0, np.abs(weights) / stds)


def _columns(found: Unwrapped, X: Any) -> Floats:
    """Return the functions of the model at the rows."""
    return np.asarray(found.model._phi(found.model._checked_inputs(found.inputs(X))))


def _widths(found: Unwrapped, basis: Any, X: Any, level: float) -> InputRelevance:
    kernel, gamma = basis.kernel_, basis.gamma_
    if not (isinstance(kernel, str) and kernel in DISTANCE_KERNELS) or np.ndim(gamma) == 0:
        raise ValueError(
            "which inputs matter is read from the widths of kernels, so the model needs one width for each input, got "
            f"kernel={quoted(kernel)} with gamma={quoted(gamma)}. Pass X and y to shuffle the inputs instead, or fit with "
            "basis='auto' or KernelBasis(gamma='ard')."
        )
    # Kernels depend on distances divided by lengths. Lengths are those of exp(-d), or of exp(-d^2).
    values, label = np.asarray(gamma) if kernel == "laplacian" else np.sqrt(gamma), "1 / length of the kernel"
    if X is not None:
        rows = np.asarray(found.model._checked_inputs(found.inputs(X)), dtype=np.float64)
        values, label = values * rows.std(axis=0), "std of the input / length of the kernel"
    names = _input_names(found, len(values))
    order = np.argsort(-values, kind="stable")
    return InputRelevance(WIDTHS, [names[place] for place in order], values[order], None, None, label, float(level))


def _input_names(found: Unwrapped, n_inputs: int) -> list[str]:
    names = getattr(found.model, "feature_names_in_", None)
    names = found.input_names if names is None else names
    return [f"x{place}" for place in range(n_inputs)] if names is None else [str(name) for name in names]


def _sobol(found: Unwrapped, output: int, level: float) -> InputRelevance:
    before = (step for part in found.steps for _, step in part.steps)
    indices = sobol_indices(make_pipeline(*before, found.model))
    total, std, first = indices.total, indices.total_std, indices.first
    if found.outputs is not None:
        total, std, first = total[output], std[output], first[output]
    reach = interval_reach(level, np.inf) * std
    order = np.argsort(-total, kind="stable")
    return InputRelevance(
        kind=SOBOL,
        names=[indices.inputs[place] for place in order],
        values=total[order],
        lower=np.maximum(total - reach, 0.0)[order],
        upper=np.minimum(total + reach, 1.0)[order],
        label="Sobol index",
        level=float(level),
        first=first[order],
    )

"""How a model was found: the criterion, the number of functions and the error along the steps or along nested models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from skarce._typing import Floats, Indices
from skarce.estimators.vbls import VBLSRegressor
from skarce.estimators.vbls_classifier import VBLSClassifier
from skarce.inspection.predictor import Predictor, predictor_of
from skarce.inspection.unwrapping import unwrapped

MOST_SIZES = 40  # nested models whose error is computed
BY_STEP, BY_SIZE, BY_PENALTY = "step", "number of functions", "penalty"


@dataclass(frozen=True)
class PathValues:
    """The way to a model. Nested models are in order of their size, those of penalties from large to small, others by step.

    Attributes
    ----------
    axis : {"step", "number of functions", "penalty"}
        What `places` are.
    places : ndarray of shape (n_places,)
        Where each value stands.
    criterion : ndarray of shape (n_places,)
        The criterion there, in the units of `criterion_`.
    n_functions : ndarray of shape (n_places,)
        The number of functions there.
    chosen : int
        Which of the places is that of the model.
    criterion_name : str
        What the criterion is.
    sense : int
        1 if a larger criterion is better, -1 if a smaller one is.
    error_sizes : ndarray of shape (n_sizes,)
        Sizes of nested models whose error is known. Empty if the models are not nested.
    errors : ndarray of shape (n_sizes,)
        Root mean squares of their errors.
    is_held_out : bool
        Whether rows for the errors were given, so that they are not those of the rows of the fit.
    """

    axis: str
    places: Floats
    criterion: Floats
    n_functions: Indices
    chosen: int
    criterion_name: str
    sense: int
    error_sizes: Indices
    errors: Floats
    is_held_out: bool = False


def path_values(model: Any, X: Any = None, y: Any = None, *, target: Any = None, caller: str = "path_values") -> PathValues:
    """Return the way to a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
    X, y : array-likes, default=None
        Rows for the errors of nested models, which other models do not have. None takes the rows of the fit, by their sums, which
        need not be at hand.
    target : int or label, default=None
        Which target or class, if there are several with functions of their own.
    caller : str, default="path_values"
        Who asks, for messages.
    """
    if (X is None) != (y is None):
        raise ValueError("X and y belong together: pass both for the errors of these rows, or neither.")
    found = unwrapped(model, caller)
    posterior = found.posterior(target, y)
    trace, path = posterior.trace, getattr(posterior, "path", None)
    if not len(trace):
        raise ValueError(f"the search for this model took no step, so there is no path to show. {posterior.outcome.value}")
    axis, places, order = _places(trace, is_nested=path is not None)
    trace = trace[order]
    sizes = np.empty(0, dtype=np.intp) if path is None else _sizes(found.model, len(posterior.active))
    if path is None:
        errors = np.empty(0)
    elif X is None:
        errors = np.array([path.training_error(size) for size in sizes])
    else:
        errors = _errors(predictor_of(model, target, caller, X, y), sizes, X, y)
    return PathValues(
        axis=axis,
        places=places[order],
        criterion=trace["criterion"],
        n_functions=trace["n_active"],
        chosen=_chosen(trace, posterior),
        criterion_name=criterion_name(found.model),
        sense=int(found.model.criterion_sense_),
        error_sizes=sizes,
        errors=errors,
        is_held_out=X is not None,
    )


def criterion_name(model: Any) -> str:
    """Return what the criterion of a model is called."""
    if model.criterion_sense_ < 0:
        return "criterion (smaller is better)"
    return "lower bound" if isinstance(model, (VBLSRegressor, VBLSClassifier)) else "log evidence"


def _places(trace: Any, *, is_nested: bool) -> tuple[str, Floats, Indices]:
    """Return what the steps are ordered by, its values, and the order."""
    if is_nested:
        return BY_SIZE, trace["n_active"], np.argsort(trace["n_active"], kind="stable")
    if "penalty" in trace.dtype.names and (trace["penalty"] > 0.0).all():
        return BY_PENALTY, trace["penalty"], np.argsort(-trace["penalty"], kind="stable")
    return BY_STEP, np.arange(1, len(trace) + 1), np.arange(len(trace))


def _chosen(trace: Any, posterior: Any) -> int:
    """Return the place of the model: among those of its size the one with the nearest criterion, the last of equals."""
    distance = np.abs(trace["criterion"] - posterior.criterion)
    distance[~np.isfinite(distance)] = np.inf
    is_its_size = trace["n_active"] == len(posterior.active)
    distance[~is_its_size if is_its_size.any() else []] = np.inf
    return int(len(trace) - 1 - np.argmin(distance[::-1]))


def _sizes(model: Any, chosen: int) -> Indices:
    """Return sizes that all targets have a nested model of, the chosen one among them if possible."""
    paths = [posterior.path for posterior in model._posteriors() if posterior.path is not None]
    least, most = max(path.least for path in paths), min(path.most for path in paths)
    if most < least:
        return np.empty(0, dtype=np.intp)
    spread = np.rint(np.geomspace(max(least, 1), max(most, 1), MOST_SIZES)).astype(np.intp)
    return np.unique(np.clip([least, chosen, *spread], least, most))


def _errors(predictor: Predictor, sizes: Indices, X: Any, y: Any) -> Floats:
    """Return the root mean squares of the errors of nested models at given rows."""
    every = predictor.targets(y)
    check_consistent_length(X, every)
    targets, model = predictor.of_target(every), predictor.found.model
    nested = (predictor.with_model(model.with_n_basis(int(size))) for size in sizes)
    return np.array([np.sqrt(np.mean((targets - smaller.mean(X)) ** 2)) for smaller in nested])

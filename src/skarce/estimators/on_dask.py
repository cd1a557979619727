"""Answers to Dask data: each is a Dask array, and nothing is computed before it is asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import _check_n_features, check_is_fitted, validate_data

from skarce._atomic import snapshot
from skarce._typing import Floats
from skarce._validation import checked_array, in_brief
from skarce.basis import KernelBasis
from skarce.designs.dask import lazily
from skarce.designs.dask_columns import check_collection, check_inputs, check_kinds, is_frame
from skarce.designs.dask_partitions import is_dask

Function = TypeVar("Function", bound=Callable[..., Any])
PAIRS = ("predict_interval", "latent")  # methods with two answers
OF_CLASSES = ("predict_proba", "predict_log_proba")  # methods with one number for each class


def lazy_on_dask(method: Function) -> Function:
    """Decorate a method of a fitted model that answers row by row. With Dask data, it answers partition by partition."""
    signature = inspect.signature(method)

    @wraps(method)
    def answered(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not is_dask(X):
            return method(self, X, *args, **options)
        check_collection(X, "X")
        model, name = snapshot(self), method.__name__
        check_is_fitted(model)
        given = signature.bind(self, X, *args, **options).arguments
        if given.get("return_cov"):
            raise ValueError("return_cov=True has a number for each pair of rows, so it takes rows in memory. Use return_std=True.")
        is_pair = name in PAIRS or bool(given.get("return_std"))
        check_inputs(X)
        check_columns(model, X)
        shape, kind = shape_and_kind(model, name, X)
        ask = partial(asked, model, name, args, options)
        if not is_pair:
            return lazily(ask, X, shape, kind)
        both = lazily(ask, X, (*shape, 2), kind)
        return both[..., 0], both[..., 1]

    return cast(Function, answered)


def check_columns(model: Any, X: Any) -> None:
    """Raise a ValueError if metadata tell that the columns are not those that the model was fitted on, or not numbers."""
    with in_brief("X"):
        if is_frame(X):
            validate_data(model, X._meta, skip_check_array=True, reset=False)
        else:
            _check_n_features(model, X, reset=False)
    if _takes_numbers(model):
        check_kinds(X, "X")


def _takes_numbers(model: Any) -> bool:
    """Tell whether the inputs of a model are numbers: those of kernels, and those that are candidates or have no basis."""
    basis = getattr(model, "basis_", None)
    return basis is None or isinstance(basis, KernelBasis) or basis.transformer is None


def asked(model: Any, name: str, args: tuple[Any, ...], options: dict[str, Any], X: Any) -> Floats:
    """Return the answer to a partition. Two answers are stacked."""
    answer = getattr(model, name)(X, *args, **options)
    return np.stack(answer, axis=-1) if isinstance(answer, tuple) else answer


def shape_and_kind(model: Any, name: str, X: Any) -> tuple[tuple[int, ...], Any]:
    """Return the shape of the answer to one row, and its type.

    Models without a posterior answer in double precision. They may have several targets, each with its intercept.
    """
    if not hasattr(model, "posterior_"):
        return np.shape(getattr(model, "intercept_", 0.0)), np.dtype(np.float64)
    number = np.dtype(np.float32 if _type_of_inputs(model, X) == np.float32 else np.float64)
    if name in OF_CLASSES:
        return (len(model.classes_),), number
    if name == "predict" and hasattr(model, "classes_"):
        return (), model.classes_.dtype
    return ((len(model.posterior_),) if isinstance(model.posterior_, list) else ()), number


def _type_of_inputs(model: Any, X: Any) -> Any:
    """Return the type of the inputs that a partition becomes, or None for a frame that a transformer gets as it is."""
    if not is_frame(X):
        return X.dtype
    return checked_array(X._meta, "X", ensure_min_samples=0).dtype if _takes_numbers(model) else None

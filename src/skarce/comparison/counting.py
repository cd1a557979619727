"""How large a fitted model is: in functions, and in bytes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.pipeline import Pipeline

from skarce.export.c.tables import REALS
from skarce.export.to_c import c_source
from skarce.export.transformers import ExportError, ImpreciseError

INNER_MODELS: dict[type, Callable[[Any], Any]] = {
    Pipeline: lambda model: model[-1],
    TransformedTargetRegressor: lambda model: model.regressor_,
    CalibratedClassifierCV: lambda model: model.calibrated_classifiers_[0].estimator,
    # With several classes there is one process for each, all on the same training rows.
    GaussianProcessClassifier: lambda model: getattr(model.base_estimator_, "estimators_", [model.base_estimator_])[0],
}
# Ours, support vector machines, Gaussian processes, receptive fields.
COUNTED_BY_COLUMNS = "x_loadings_"  # one column for each component or factor
COUNTED_BY_LENGTH = ("active_", "support_", "X_train_", "centers_")


def count_functions(model: Any) -> int:
    """The number of basis functions that a fitted model evaluates in a prediction, for all classes together.

    These are active functions (ours), support vectors, the training rows of a Gaussian process, receptive fields,
    components or factors, or nonzero coefficients. A pipeline or a search counts as the model inside it; a classifier that ignores
    its inputs has none.
    """
    for kind, inner in INNER_MODELS.items():
        if isinstance(model, kind):
            return count_functions(inner(model))
    if hasattr(model, "best_estimator_"):
        return count_functions(model.best_estimator_)
    if isinstance(model, DummyClassifier):
        return 0
    for attribute in COUNTED_BY_LENGTH:
        if hasattr(model, attribute):
            return len(getattr(model, attribute))
    if hasattr(model, COUNTED_BY_COLUMNS):
        return int(getattr(model, COUNTED_BY_COLUMNS).shape[1])
    return int(np.count_nonzero(model.coef_))


class _Counter:
    """A file that only counts what is written to it."""

    n_bytes = 0

    def write(self, content: Any) -> int:
        size = memoryview(content).nbytes
        self.n_bytes += size
        return size


def count_bytes(model: Any) -> int | None:
    """The number of bytes that a fitted model takes if it is pickled, without a copy of it; None if it cannot be pickled."""
    counter = _Counter()
    try:
        pickle.Pickler(counter, protocol=pickle.HIGHEST_PROTOCOL).dump(model)
    except (pickle.PicklingError, AttributeError, TypeError):  # code that has no name, such as a lambda
        return None
    return counter.n_bytes


@dataclass(frozen=True)
class InC:
    """What a fitted model is in C, with its std.

    Attributes
    ----------
    n_bytes : bytes of its tables; None if it cannot be exported
    real : the type of numbers, the smallest floating-point type that is precise enough
    refusal : why it cannot be exported
    """

    n_bytes: int | None = None
    real: str = ""
    refusal: str = ""


def in_c(model: Any) -> InC:
    """What a fitted model is in C, after the checks of `to_c`."""
    refusal = ""
    for real in REALS:
        try:
            return InC(c_source(model, real=real).size.table_bytes, real)
        except ImpreciseError as error:
            refusal = str(error)
        except (ExportError, TypeError) as error:  # a model of others, or a kernel without a formula
            return InC(refusal=str(error))
    return InC(refusal=refusal)

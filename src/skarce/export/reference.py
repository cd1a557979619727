"""What Python predicts, whatever stands around the model, in the form that exports are compared in."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor

from skarce._typing import Floats
from skarce.estimators.inside import SEARCHES
from skarce.estimators.on_basis import OnBasis
from skarce.export.description import CLASSES, MARGINS, Described


def predicted(estimator: Any, X: Any, described: Described, std: Any) -> Floats:
    """Return means and, if `std` is not False, stds side by side; or probabilities or margins. Shape (n_rows, n_outputs).

    Parameters
    ----------
    estimator : fitted model, pipeline or search
    X : its rows
    described : its description
    std : whether stds are needed, or ``"augmented"``
    """
    if described.target == CLASSES:
        return np.asarray(_inside(estimator).predict_proba(X))
    if described.target == MARGINS:
        margins = np.asarray(_inside(estimator).decision_function(X))
        return margins.reshape(len(margins), -1)
    options: dict[str, Any] = {} if std is False else {"return_std": True}
    if std == "augmented":
        options["std"] = std
    found = _predict(estimator, X, options)
    parts = found if isinstance(found, tuple) else (found,)
    return np.column_stack([np.asarray(part, dtype=np.float64).reshape(len(part), -1) for part in parts])


def _predict(estimator: Any, X: Any, options: dict[str, Any]) -> Any:
    estimator = _inside(estimator)
    if isinstance(estimator, TransformedTargetRegressor):
        return _in_units(estimator.transformer_, _predict(estimator.regressor_, X, options))
    return estimator.predict(X, **options)


def _in_units(transformer: Any, found: Any) -> Any:
    """Undo a transformer of the target that shifts and scales."""
    mean, *std = found if isinstance(found, tuple) else (found,)
    columns = mean.reshape(len(mean), -1)
    original = transformer.inverse_transform(columns).reshape(mean.shape)
    if not std:
        return original
    width = np.abs(transformer.inverse_transform(np.ones_like(columns)) - transformer.inverse_transform(np.zeros_like(columns)))
    return original, std[0] * width.reshape(mean.shape)


def _inside(estimator: Any) -> Any:
    while isinstance(estimator, SEARCHES) and not isinstance(estimator, OnBasis):
        estimator = estimator.best_estimator_
    return estimator

"""Which inputs matter, by what shuffling them adds to the loss of a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss, mean_poisson_deviance, mean_squared_error

from skarce._typing import Floats
from skarce.datasets import TargetKind
from skarce.inspection.unwrapping import names_of_inputs
from skarce.likelihoods.poisson import LEAST_RATE

MOST_ROWS = 1_000  # rows whose inputs are shuffled
MANY_INPUTS, N_SHUFFLES, FEW_SHUFFLES = 50, 5, 2
SHUFFLED = {  # what the rises are
    TargetKind.NUMBERS: "added to the mean squared error by shuffling",
    TargetKind.CLASSES: "added to the log loss by shuffling",
    TargetKind.COUNTS: "added to the mean Poisson deviance by shuffling",
}


@dataclass(frozen=True)
class ShuffledInputs:
    """What shuffling each input adds to the loss, the input that matters most first.

    Attributes
    ----------
    names : list of str
        Names of the inputs.
    rises : ndarray of shape (n_inputs,)
        The mean rise of the loss.
    spreads : ndarray of shape (n_inputs,)
        The standard deviation of the rise over the shuffles.
    """

    names: list[str]
    rises: Floats
    spreads: Floats


def shuffled_inputs(model: Any, X: Any, y: Any, kind: TargetKind, output: int = 0) -> ShuffledInputs:
    """Shuffle the inputs of any fitted model, one by one. They are the columns of X, so a column of text counts as one input.

    Parameters
    ----------
    model : estimator
        A fitted estimator, such as a pipeline that encodes text.
    X : data frame of pandas or ndarray of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Their targets or labels.
    kind : TargetKind
        What the targets are. It decides on the loss.
    output : int, default=0
        Which column of predictions belongs to the targets, if there are several.
    """
    n_shuffles = N_SHUFFLES if X.shape[1] <= MANY_INPUTS else FEW_SHUFFLES
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(np.intp))
    shown = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    gain = partial(_gain, kind, output)
    found = permutation_importance(model, shown, y[rows], scoring=gain, n_repeats=n_shuffles, random_state=0)
    order = np.argsort(-found.importances_mean, kind="stable")
    names = names_of_inputs(model, X)
    return ShuffledInputs([names[place] for place in order], found.importances_mean[order], found.importances_std[order])


def _gain(kind: TargetKind, output: int, model: Any, X: Any, y: Any) -> float:
    """Minus the loss of a model on rows, which need not hold all classes."""
    if kind is TargetKind.CLASSES:
        return -float(log_loss(y, model.predict_proba(X), labels=model.classes_))
    predicted = model.predict(X)
    predicted = predicted if predicted.ndim == 1 else predicted[:, output]
    if kind is TargetKind.NUMBERS:
        return -float(mean_squared_error(y, predicted))
    return -float(mean_poisson_deviance(y, np.maximum(predicted, LEAST_RATE)))

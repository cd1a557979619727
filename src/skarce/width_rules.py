"""How kernel widths are chosen when methods are compared: read off the inputs, cross-validated, or learned by evidence."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, StratifiedKFold

from skarce._typing import Floats
from skarce.basis.widths import scale_gamma

WIDTH_RULES = {
    "scale": "1 / (number of inputs x their variance), as support vector machines have it",
    "cv": "the best of nine around that, by five-fold cross validation of the training rows",
    "evidence": "one width, learned by the evidence",
    "ard": "one width per input, learned by the evidence",
}
NO_KERNEL = "none"  # the rule of a method that has no kernel
FACTORS = 4.0 ** np.arange(-5, 4)  # of the gamma by "scale": wide kernels are often the better ones
N_FOLDS = 5


@dataclass(frozen=True)
class Widths:
    """The kernel widths of one kind of regressor: by which rules they can be chosen, and how.

    `prepare(model, rule, X)` gives an unfitted regressor that follows the rule on training inputs X. A rule that a regressor cannot
    follow is replaced by the last of its `rules`.
    """

    rules: tuple[str, ...]
    prepare: Callable[[Any, str, Floats], Any]

    def nearest(self, rule: str) -> str:
        return rule if rule in self.rules else self.rules[-1]


def by_parameter(name: str, rules: tuple[str, ...] = tuple(WIDTH_RULES), scoring: str = "neg_mean_squared_error") -> Widths:
    """Widths that are the parameter of this name: a number, or the name of the rule."""

    def prepare(model: Any, rule: str, X: Floats) -> Any:
        return cross_validated(model, name, X, scoring) if rule == "cv" else model.set_params(**{name: rule})

    return Widths(rules, prepare)


def cross_validated(model: Any, name: str, X: Floats, scoring: str = "neg_mean_squared_error") -> GridSearchCV:
    """A search over nine widths, each four times the one before, the same folds for all."""
    n_folds = min(N_FOLDS, len(X))
    kind = KFold if scoring == "neg_mean_squared_error" else StratifiedKFold
    folds = kind(n_folds, shuffle=True, random_state=0)
    return GridSearchCV(model, {name: (scale_gamma(X, None) * FACTORS).tolist()}, cv=folds, scoring=scoring)


def best_of(search: GridSearchCV, X: Floats, y: Floats) -> Any:
    """Run the search: the model of the best width, fitted to all rows.

    A `max_time` of the model is for all fits together: half of it is shared out among the folds, and what is left is for the last
    fit.
    """
    started, limit = time.monotonic(), search.estimator.get_params().get("max_time")
    if limit is None:
        return search.fit(X, y).best_estimator_
    n_fits = len(ParameterGrid(search.param_grid)) * search.cv.get_n_splits()
    on_folds = clone(search).set_params(estimator__max_time=0.5 * limit / n_fits, refit=False).fit(X, y)
    left = max(limit - (time.monotonic() - started), 0.0)
    model = clone(search.estimator).set_params(**on_folds.best_params_, max_time=left)
    return model.fit(X, y).set_params(max_time=limit)

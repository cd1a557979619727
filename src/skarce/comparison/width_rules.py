"""How kernel widths are chosen when methods are compared: read off the inputs, cross-validated, or learned by evidence."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score

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

    A `max_time` of the model is for all fits together: the folds have half of it, and what is left is for the last fit. Widths are
    tried from that by scale outwards, and where time is short not all of them are.
    """
    started, limit = time.monotonic(), search.estimator.get_params().get("max_time")
    if limit is None:
        return search.fit(X, y).best_estimator_
    width = _best_in_time(search, X, y, started + 0.5 * limit)
    left = max(limit - (time.monotonic() - started), 0.0)
    return clone(search.estimator).set_params(**width, max_time=left).fit(X, y).set_params(max_time=limit)


def _best_in_time(search: GridSearchCV, X: Floats, y: Floats, deadline: float) -> dict[str, float]:
    """The best of the widths whose folds were all fitted before the deadline; that by scale where those of none were."""
    ((name, widths),) = search.param_grid.items()
    outwards = sorted(widths, key=lambda width: abs(np.log(width / scale_gamma(X, None))))
    scores: dict[float, float] = {}
    for width in outwards:
        left = deadline - time.monotonic()
        if left <= 0.0:
            break
        model = clone(search.estimator).set_params(**{name: width}, max_time=left / search.cv.get_n_splits())
        score = float(cross_val_score(model, X, y, cv=search.cv, scoring=search.scoring).mean())
        if time.monotonic() < deadline:
            scores[width] = score
    if len(scores) < len(widths):
        warnings.warn(
            f"The time limit was reached when {len(scores)} of {len(widths)} kernel widths had been cross-validated.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return {name: max(scores, key=lambda width: scores[width]) if scores else outwards[0]}

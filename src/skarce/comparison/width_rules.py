"""How kernel widths are chosen when methods are compared: from the inputs, by cross-validation, or by the evidence."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from skarce._typing import Floats
from skarce.basis.default import LEARNED_WIDTHS
from skarce.basis.widths import scale_gamma
from skarce.comparison.tasks import Task
from skarce.states.outcome import Outcome

WIDTH_RULES = {
    LEARNED_WIDTHS: "one width per input (one for all of more than 100 inputs), quickly learned from at most 500 rows",
    "scale": "1 / (number of inputs x their variance), as in support vector machines",
    "cv": "the best of nine around that width, by five-fold cross-validation",
    "evidence": "one width, learned by maximizing the evidence",
    "ard": "one width per input, learned by maximizing the evidence",
}
QUICK_RULE = "scale"  # the rule of basis="rbf"
NO_KERNEL = "none"  # the rule of a method without kernels
FACTORS = 4.0 ** np.arange(-5, 4)  # times the gamma of "scale"; more of them widen the kernel, because that often helps
N_FOLDS = 5
SHARE_OF_TIME_FOR_FOLDS = 0.5


@dataclass(frozen=True)
class Widths:
    """How the kernel widths of one kind of model are chosen: by default, and by which other rules.

    `prepare(model, rule, X, task)` gives an unfitted model that follows the rule on training inputs X. If a model cannot follow a
    rule, it follows the last of its `rules`, or its default if it has no others.
    """

    default: str
    rules: tuple[str, ...] = ()
    prepare: Callable[[Any, str, Floats, Task], Any] = lambda model, rule, X, task: model

    def nearest(self, rule: str) -> str:
        """The rule itself, or the one that is followed in its place."""
        if rule in self.rules:
            return rule
        return self.rules[-1] if self.rules else self.default


def by_parameter(name: str, rules: tuple[str, ...] = tuple(WIDTH_RULES)) -> Widths:
    """Widths that are the parameter of this name: a number, or the name of the rule."""

    def prepare(model: Any, rule: str, X: Floats, task: Task) -> Any:
        return cross_validated(model, name, X, task) if rule == "cv" else model.set_params(**{name: rule})

    return Widths(QUICK_RULE, rules, prepare)


OUR_KERNELS = replace(by_parameter("basis__gamma"), default=LEARNED_WIDTHS)
NO_WIDTHS = Widths(NO_KERNEL)


def cross_validated(model: Any, name: str, X: Floats, task: Task) -> GridSearchCV:
    """A search over nine widths, each four times the one before, with the same folds for all."""
    folds = task.width_splitter(min(N_FOLDS, len(X)), shuffle=True, random_state=0)
    return GridSearchCV(model, {name: (scale_gamma(X, None) * FACTORS).tolist()}, cv=folds, scoring=task.width_scoring)


def best_of(search: GridSearchCV, X: Floats, y: Floats) -> Any:
    """Run the search: the model with the best width, fitted to all rows.

    A `max_time` of the model is the limit for all fits together. The folds get half of it, and the last fit gets what remains.
    Widths are tried from "scale" outward, so a short time limit leaves out the most extreme ones.
    """
    started, limit = time.monotonic(), search.estimator.get_params().get("max_time")
    if limit is None:
        with _doubts_ignored():
            width = clone(search).set_params(refit=False).fit(X, y).best_params_
        return clone(search.estimator).set_params(**width).fit(X, y)
    width = _best_in_time(search, X, y, started + SHARE_OF_TIME_FOR_FOLDS * limit)
    left = max(limit - (time.monotonic() - started), 0.0)
    return clone(search.estimator).set_params(**width, max_time=left).fit(X, y).set_params(max_time=limit)


def _best_in_time(search: GridSearchCV, X: Floats, y: Floats, deadline: float) -> dict[str, float]:
    """The best of the widths whose folds were all fitted before the deadline; if there are none, that of "scale"."""
    ((name, widths),) = search.param_grid.items()
    outward = sorted(widths, key=lambda width: abs(np.log(width / scale_gamma(X, None))))
    scores: dict[float, float] = {}
    for width in outward:
        left = deadline - time.monotonic()
        if left <= 0.0:
            break
        model = clone(search.estimator).set_params(**{name: width}, max_time=left / search.cv.get_n_splits())
        with _doubts_ignored():
            score = float(cross_val_score(model, X, y, cv=search.cv, scoring=search.scoring).mean())
        if time.monotonic() < deadline:
            scores[width] = score
    if len(scores) < len(widths):
        warnings.warn(
            f"The time limit was reached after {len(scores)} of {len(widths)} kernel widths had been cross-validated.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return {name: max(scores, key=lambda width: scores[width]) if scores else outward[0]}


@contextmanager
def _doubts_ignored() -> Iterator[None]:
    """Ignore warnings about models that cannot be trusted: some widths are tried that are far too narrow, and the folds decide."""
    with warnings.catch_warnings():
        for outcome in (Outcome.HALF_USED, Outcome.NO_NOISE, Outcome.ILL_CONDITIONED):
            warnings.filterwarnings("ignore", re.escape(outcome.value), ConvergenceWarning)
        yield

"""The model of skarce inside a pipeline, a search or a transformation of the target, and what stands around it."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skarce._text import quoted
from skarce.estimators.criterion_search import CriterionSearch
from skarce.estimators.on_basis import OnBasis

SEARCHES = (CriterionSearch, GridSearchCV, RandomizedSearchCV)


class Inside(NamedTuple):
    """A fitted model of skarce, and what was around it, from the outside to the inside.

    Attributes
    ----------
    model : the fitted estimator of skarce
    pipelines : the steps before it, one pipeline for each that was opened; there may be no steps in it
    target_steps : fitted transformers of the target
    """

    model: Any
    pipelines: tuple[Pipeline, ...]
    target_steps: tuple[Any, ...]


def model_inside(estimator: Any, needs: str, kinds: tuple[type, ...] = (OnBasis,)) -> Inside:
    """Find the fitted model, one of these kinds. Errors begin with `needs`: ``"a display needs an estimator of skarce"``."""
    original, pipelines, target_steps = estimator, [], []
    while not isinstance(estimator, kinds):
        if isinstance(estimator, Pipeline):
            pipelines.append(estimator[:-1])
            estimator = estimator.steps[-1][1]
        elif isinstance(estimator, SEARCHES):
            check_is_fitted(estimator, "best_estimator_")
            estimator = estimator.best_estimator_
        elif isinstance(estimator, TransformedTargetRegressor):
            check_is_fitted(estimator, "regressor_")
            target_steps.append(estimator.transformer_)
            estimator = estimator.regressor_
        else:
            inside = "" if estimator is original else f" that ends in {quoted(estimator)}"
            raise TypeError(f"{needs}, a pipeline that ends in one, or a search for one, got {quoted(original)}{inside}.")
    check_is_fitted(estimator)
    return Inside(estimator, tuple(pipelines), tuple(target_steps))

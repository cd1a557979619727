"""Callbacks of scikit-learn: the parts of a fit are their tasks."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted

from skarce import (
    JointFactorRegressor,
    KernelDimensionReduction,
    LWPRRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
)

callback = pytest.importorskip("sklearn.callback")


class Diary:
    """Writes down what happens, and may raise in one place."""

    def __init__(self, breaks_at=None):
        self.entries, self.fitted, self._breaks_at = [], [], breaks_at

    def _write(self, *entry):
        self.entries.append(entry)
        if entry == self._breaks_at:
            raise RuntimeError("the diary is full")

    def setup(self, estimator, context):
        self._write("setup")

    def teardown(self, estimator, context):
        self._write("teardown")

    def on_fit_task_begin(self, estimator, context):
        self._write("begin", context.task_name)

    def on_fit_task_end(self, estimator, context, *, X=None, metadata=None, fitted_estimator=None):
        if fitted_estimator is not None:
            answer = fitted_estimator.predict if hasattr(fitted_estimator, "predict") else fitted_estimator.transform
            self.fitted.append((answer(X), metadata))
        self._write("end", context.task_name)


def table():
    X = np.linspace(-2, 2, 60)[:, None]
    return X, np.sin(2 * X[:, 0])


def test_parts_of_a_fit_are_tasks():
    (X, y), diary, weights = table(), Diary(), np.full(60, 2.0)
    model = RelevanceVectorRegressor(calibrate_std=True).set_callbacks(diary).fit(X, y, weights)
    parts = ["learning widths", "searching", "leaving out"]
    inside = [entry for part in parts for entry in (("begin", part), ("end", part))]
    assert diary.entries == [("setup",), ("begin", "fit"), *inside, ("end", "fit"), ("teardown",)]
    ((predictions, metadata),) = diary.fitted
    np.testing.assert_array_equal(predictions, model.predict(X))
    assert metadata["sample_weight"] is weights
    plain = RelevanceVectorRegressor(calibrate_std=True).fit(X, y, weights)
    assert vars(model).keys() - vars(plain).keys() == {"_skl_callbacks"}
    assert clone(model)._skl_callbacks == [diary]


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        (JointFactorRegressor(1), ["fitting factors"]),
        (KernelDimensionReduction(1), ["searching for directions"]),
        (LWPRRegressor(random_state=0), ["choosing the width of fields", "learning"]),
    ],
)
def test_other_estimators_take_callbacks_too(model, parts):
    X, y = table()
    X, diary = np.column_stack([X, X**2]), Diary()
    model = clone(model).set_callbacks(diary)
    assert model.fit(X, y) is model
    inside = [entry for part in parts for entry in (("begin", part), ("end", part))]
    assert diary.entries == [("setup",), ("begin", "fit"), *inside, ("end", "fit"), ("teardown",)]
    ((answers, _),) = diary.fitted
    np.testing.assert_array_equal(answers, (model.predict if hasattr(model, "predict") else model.transform)(X))
    assert "_parent_callback_ctx" not in vars(model)


@pytest.mark.parametrize("place", [("begin", "searching"), ("end", "fit")])
def test_a_callback_that_fails_leaves_the_model_as_it_was(place):
    diary = Diary(place)
    model = RelevanceVectorRegressor("rbf").set_callbacks(diary)
    with pytest.raises(RuntimeError, match="the diary is full"):
        model.fit(*table())
    assert diary.entries[-1] == ("teardown",)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert set(vars(model)) == {*model.get_params(deep=False), "_skl_callbacks"}


def test_callbacks_come_down_from_a_search_around_the_model():
    X, y = table()
    monitor, bar = callback.ScoringMonitor(scoring="accuracy"), callback.ProgressBar(max_propagation_depth=None)
    inner = RelevanceVectorClassifier("rbf", calibrate_proba=False).set_callbacks(monitor)
    search = GridSearchCV(inner, {"tol": [1e-3, 1e-2]}, cv=2).set_callbacks(bar).fit(X, y > 0)
    of_splits_and_refit = monitor.get_logs().data
    assert len(of_splits_and_refit) == 5
    assert of_splits_and_refit[-1]["accuracy"] == search.best_estimator_.score(X, y > 0)

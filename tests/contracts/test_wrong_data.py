"""Wrong data end in a short error of skarce or scikit-learn. It does not matter which model or basis they were given to."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.fuzz.faults import fault_of_exception
from skarce import (
    CriterionSearch,
    FastGCVRegressor,
    KernelBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce._text import LONGEST_LINE
from skarce.designs import RowBlocks

X = np.random.default_rng(0).normal(size=(20, 2))
COUNTS = (X[:, 0] > 0.0).astype(int)
LONG = np.array(["a" + "x" * 2000, "b"] * 10)
DATES = np.datetime64("2020-01-01") + np.arange(20).astype("timedelta64[D]")
NESTED = [[1], [2, 3]] * 10
ESTIMATORS = (FastGCVRegressor, VBLSRegressor, VBLSClassifier, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor)
REGRESSORS = (FastGCVRegressor, VBLSRegressor, RelevanceVectorPoissonRegressor)
SAME = FunctionTransformer()
EMPTY = FunctionTransformer(lambda rows: np.zeros((len(rows), 0)))
WRONG = {
    "no output columns": lambda model: model(basis=EMPTY).fit(X, COUNTS),
    "no columns": lambda model: model(basis=SAME).fit(X[:, :0], COUNTS),
    "no rows": lambda model: model(basis=SAME).fit(X[:0], COUNTS[:0]),
    "no queries": lambda model: model(basis=SAME).fit(X, COUNTS).predict(X[:0]),
    "an empty list of queries": lambda model: model(basis=SAME).fit(X, COUNTS).predict([]),
    "text in X": lambda model: model().fit(LONG[:, None], COUNTS),
    "text in queries": lambda model: model().fit(X, COUNTS).predict(np.stack([LONG, LONG], axis=1)),
    "nested X": lambda model: model().fit(NESTED, COUNTS),
    "nested output": lambda model: model(basis=SAME).fit(NESTED, COUNTS),
    "nested y": lambda model: model().fit(X, NESTED),
    "sparse y": lambda model: model().fit(X, sparse.csr_matrix(COUNTS[:, None])),
    "sparse y and a transformer": lambda model: model(basis=StandardScaler()).fit(X, sparse.csr_matrix(COUNTS[:, None])),
    "huge y": lambda model: model().fit(X, np.where(COUNTS, 1e300, -1e300)),
    "text in weights": lambda model: model().fit(X, COUNTS, sample_weight=LONG),
    "weights of NaN": lambda model: model().fit(X, COUNTS, sample_weight=np.nan),
    "infinite weights": lambda model: model().fit(X, COUNTS, sample_weight=np.inf),
    "one weight for row blocks": lambda model: model().fit(RowBlocks.from_arrays(X, COUNTS, 3.0)),
    "one target for a row block": lambda model: model().fit(RowBlocks(lambda: [(X, 3.0)])),
    "no row blocks": lambda model: model().fit(RowBlocks(lambda: None)),
    "rows in a row block": lambda model: model().fit(RowBlocks.from_arrays(X, COUNTS, block_rows="x")),
    "class as a basis": lambda model: model(basis=KernelBasis).fit(X, COUNTS),
}
WRONG_TARGETS = {
    "text in row blocks": lambda model: model().fit(RowBlocks.from_arrays(X, LONG)),
    "text in y": lambda model: model().fit(X, LONG),
    "bytes in y": lambda model: model().fit(X, LONG.astype(bytes)),
    "text in y and a transformer": lambda model: model(basis=SAME).fit(X, LONG),
    "dates in y": lambda model: model().fit(X, DATES),
    "dates in y and a transformer": lambda model: model(basis=SAME).fit(X, DATES),
    "numbers beyond doubles": lambda model: model().fit(X, [10**400] * 20),
}
OBJECTS = {"NaN": None, "infinity": np.inf}
WITH_DATES = {"array": np.stack([DATES, DATES], axis=1), "frame": pd.DataFrame({"day": DATES, "size": X[:, 0]})}
WRONG_SEARCHES = {
    "huge weights": {"y": COUNTS, "sample_weight": np.full(20, 1e308)},
    "text in weights": {"y": COUNTS, "sample_weight": LONG},
    "nested y": {"y": NESTED},
    "one target": {"y": 3.0},
}


def check_refusal(call):
    with warnings.catch_warnings(action="error"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fit before the wrong call may use most of its few rows
        with pytest.raises((ValueError, TypeError)) as raised:
            call()
    assert fault_of_exception(raised.value) is None
    assert len(str(raised.value)) <= LONGEST_LINE


@pytest.mark.parametrize("model", ESTIMATORS)
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_data(model, wrong):
    check_refusal(lambda: WRONG[wrong](model))


@pytest.mark.parametrize("model", REGRESSORS)
@pytest.mark.parametrize("wrong", WRONG_TARGETS)
def test_targets_that_are_not_numbers(model, wrong):
    check_refusal(lambda: WRONG_TARGETS[wrong](model))


@pytest.mark.parametrize("model", REGRESSORS)
@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_targets_as_objects_are_finite(model, name, n_outputs):
    y = np.array([COUNTS] * n_outputs).T.astype(object)
    y[7, -1] = OBJECTS[name]
    with pytest.raises(ValueError, match=f"y contains {name}|one-dimensional|1d array"):
        model().fit(X, y[:, 0] if n_outputs == 1 else y)


@pytest.mark.parametrize("model", ESTIMATORS)
@pytest.mark.parametrize("form", WITH_DATES)
def test_dates_are_not_numbers(model, form):
    with pytest.raises(ValueError, match="X holds dates or times"):
        model().fit(WITH_DATES[form], COUNTS)


@pytest.mark.parametrize("wrong", WRONG_SEARCHES)
def test_wrong_data_of_a_search(wrong):
    check_refusal(lambda: CriterionSearch(FastGCVRegressor("rbf"), {"tol": [0.1]}).fit(X, **WRONG_SEARCHES[wrong]))


def test_a_score_of_counts_needs_counts():
    model = RelevanceVectorPoissonRegressor("rbf").fit(X, COUNTS)
    for wrong in (None, LONG):
        check_refusal(lambda wrong=wrong: model.score(X, wrong))

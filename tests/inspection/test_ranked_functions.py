"""Functions by relevance, with the numbers of the table of weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorRegressor, VBLSRegressor
from skarce.inspection import summary
from skarce.inspection.functions import ranked_functions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = 1 + 2 * X[:, 1] - 0.3 * X[:, 3] + RNG.normal(0, 0.5, 60)
FRAME = pd.DataFrame(X, columns=list("abcd"))


@pytest.mark.parametrize("level", [0.95, 0.5])
def test_values_are_those_of_the_table(level):
    model = RelevanceVectorRegressor("passthrough").fit(FRAME, Y)
    found, table = ranked_functions(model, level=level), summary(model, level)
    assert "intercept" not in found.names
    assert (np.diff(found.relevance) <= 0).all()
    assert sorted(found.names) == sorted(name for name in table.index if name != "intercept")
    rows = table.loc[found.names]
    for ours, theirs in (("weights", "coefficient"), ("stds", "std"), ("lower", "lower"), ("upper", "upper"), ("relevance",) * 2):
        np.testing.assert_array_equal(getattr(found, ours), rows[theirs], err_msg=ours)
    assert [FRAME.columns[place] for place in found.candidates] == found.names
    assert found.n_candidates == 4


def test_kernels_are_named_by_their_centers_in_the_units_of_the_data():
    wide = 100 * X[:, :1]
    model = make_pipeline(StandardScaler(), RelevanceVectorRegressor(KernelBasis(gamma=0.5))).fit(wide, np.sin(X[:, 0]))
    found = ranked_functions(model)
    chosen = model[-1].basis_.center_indices_
    assert sorted(found.names) == sorted(f"rbf at {value:.4g}" for value in wide[chosen, 0])
    many = RelevanceVectorRegressor(KernelBasis(gamma=0.1)).fit(X, Y)
    assert set(ranked_functions(many).names) == {f"rbf at row {row}" for row in many.basis_.center_indices_}
    given = RelevanceVectorRegressor(KernelBasis("matern32", gamma=0.1, centers=X[::-1])).fit(X, Y)
    assert set(ranked_functions(given).names) == {f"matern32 at center {place}" for place in given.active_}


def test_each_class_has_its_functions():
    labels = np.array(["low", "mid", "top"])[np.digitize(Y, [0, 2])]
    model = RelevanceVectorClassifier("passthrough").fit(FRAME, labels)
    found = ranked_functions(model, target="top")
    np.testing.assert_array_equal(np.sort(found.candidates), model.posterior_[2].active)
    with pytest.raises(ValueError, match=r"one of the classes with functions of their own, \['low', 'mid', 'top'\], got 'high'"):
        ranked_functions(model, target="high")


def test_one_function_only_has_no_other_target():
    model = VBLSRegressor().fit(X, Y)
    assert ranked_functions(model, target=0).names == ranked_functions(model).names
    with pytest.raises(ValueError, match="target must be None, because this model has one function only, got 1"):
        ranked_functions(model, target=1)
    with pytest.raises(ValueError, match="level must be between 0 and 1, got 2"):
        ranked_functions(model, level=2)

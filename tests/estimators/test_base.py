"""What all estimators share: inputs, bases, pipelines, row blocks, messages."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.metrics import pairwise, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

from skarce import (
    KernelBasis,
    Outcome,
    RelevanceVectorRegressor,
)
from skarce.designs import RowBlocks


def test_precomputed_kernel_predicts_and_cross_validates(sinc):
    X, y = sinc
    K = pairwise.rbf_kernel(X, gamma=0.3)
    model = RelevanceVectorRegressor(KernelBasis("precomputed")).fit(K, y)
    plain = RelevanceVectorRegressor(KernelBasis(gamma=0.3)).fit(X, y)
    np.testing.assert_array_equal(model.active_, plain.active_)
    new = np.linspace(-3, 3, 7)[:, None]
    np.testing.assert_allclose(model.predict(pairwise.rbf_kernel(new, X, gamma=0.3)), plain.predict(new), rtol=1e-6)
    scores = cross_val_score(model, K, y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(plain, X, y, cv=3), rtol=1e-6)
    assert not hasattr(model, "relevance_vectors_")
    with pytest.raises(ValueError, match="std='plain'"):
        model.predict(K, return_std=True, std="augmented")


def test_pandas_names_are_kept(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    y = frame["a"] * 2 + rng.normal(size=60) * 0.1
    model = RelevanceVectorRegressor("passthrough").fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["c", "b", "a"]])
    assert "a" in model.basis_.get_feature_names_out(frame.columns)


def test_column_transformer_as_basis_takes_text(rng):
    frame = pd.DataFrame({"x": rng.uniform(-3, 3, 200), "kind": rng.choice(["left", "right"], 200)})
    y = np.sin(frame["x"]) + 2.0 * (frame["kind"] == "left") + rng.normal(0, 0.1, 200)
    basis = ColumnTransformer([("kernel", KernelBasis(gamma=1.0), ["x"]), ("kind", OneHotEncoder(), ["kind"])])
    model = RelevanceVectorRegressor(basis).fit(frame, y)
    mean, std = model.predict(frame, return_std=True)
    assert r2_score(y, mean) > 0.97
    assert len(model.active_) < 20
    names = model.basis_.get_feature_names_out()
    assert any("kind" in name for name in names)
    assert std == pytest.approx(0.1, rel=0.3)


def test_polynomial_features_as_basis(rng):
    X = rng.normal(size=(150, 6))
    y = 2 * X[:, 0] * X[:, 3] - X[:, 5] ** 2 + rng.normal(0, 0.1, 150)
    model = RelevanceVectorRegressor(PolynomialFeatures(2, include_bias=False)).fit(X, y)
    strong = [n for n, c in zip(model.basis_.get_feature_names_out(), model.posterior_.mean, strict=True) if abs(c) > 0.5]
    assert sorted(strong) == ["x0 x3", "x5^2"]


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_grid_search_reaches_the_basis(sinc):
    X, y = sinc
    search = GridSearchCV(RelevanceVectorRegressor(KernelBasis()), {"basis__gamma": [0.001, 0.3, 300.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"basis__gamma": 0.3}


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_grid_search_reaches_the_kernels_behind_the_name(sinc):
    X, y = sinc
    search = GridSearchCV(RelevanceVectorRegressor("rbf"), {"basis__gamma": [0.001, 0.3, 300.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"basis__gamma": 0.3}
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        RelevanceVectorRegressor("rbf").set_params(basis__width=1.0)


def test_names_of_inputs_that_are_passed_through(rng):
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    model = RelevanceVectorRegressor("passthrough").fit(X, X["b"] + 0.1 * rng.normal(size=60))
    assert "b" in model.basis_.get_feature_names_out()
    model.fit(X.to_numpy(), X["b"].to_numpy())
    assert "x1" in model.basis_.get_feature_names_out()


def test_weights_that_add_up_to_one_are_not_taken_silently(sinc):
    X, y = sinc
    with pytest.warns(UserWarning, match="120 rows are worth 1 observations"):
        model = RelevanceVectorRegressor("rbf").fit(X, y, sample_weight=np.full(120, 1 / 120))
    assert model.outcome_ is Outcome.TOO_LITTLE_DATA
    assert str(model.outcome_).startswith("There is at most one observation")


def test_select_from_model(rng):
    X = pd.DataFrame(rng.normal(size=(100, 8)), columns=list("abcdefgh"))
    y = X["c"] - 3 * X["g"] + rng.normal(0, 0.1, 100)
    selector = SelectFromModel(RelevanceVectorRegressor("passthrough"), importance_getter="relevance_", threshold=0.9).fit(X, y)
    assert list(selector.get_feature_names_out()) == ["c", "g"]


def test_pickle_and_clone(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.3), tol=1e-4).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X, return_std=True)[1], model.predict(X, return_std=True)[1])
    assert copy.outcome_ is model.outcome_
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_row_blocks_give_the_model_of_the_rows(rng):
    X = rng.uniform(-4, 4, (3000, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(0, 0.2, 3000)
    basis = KernelBasis(gamma=0.5, centers=X[:15])
    streamed = RelevanceVectorRegressor(basis).fit(RowBlocks.from_arrays(X, y, block_rows=501))
    by_column = RelevanceVectorRegressor(basis, moments="columns").fit(RowBlocks.from_arrays(X, y, block_rows=501))
    at_once = RelevanceVectorRegressor(basis).fit(X, y)
    np.testing.assert_array_equal(streamed.active_, at_once.active_)
    np.testing.assert_allclose(streamed.predict(X[:50]), at_once.predict(X[:50]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(streamed.criterion_, at_once.criterion_, rtol=1e-9)
    # By column the steps are not the compiled ones, so the same optimum is reached from another side.
    np.testing.assert_array_equal(by_column.active_, at_once.active_)
    assert by_column.criterion_ == pytest.approx(at_once.criterion_, abs=1e-2)


def test_row_blocks_give_the_same_model_every_time(rng):
    X = rng.normal(size=(25_000, 1))
    blocks = RowBlocks.from_arrays(X, np.sin(X[:, 0]))
    models = [RelevanceVectorRegressor(KernelBasis(centers=10, random_state=0)).fit(blocks) for _ in range(2)]
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)


def test_row_blocks_explain_what_they_need(rng):
    X, y = rng.normal(size=(20_500, 1)), rng.normal(size=20_500)
    with pytest.raises(ValueError, match=r"KernelBasis\(centers=500\)"):
        RelevanceVectorRegressor(KernelBasis(centers=None)).fit(RowBlocks.from_arrays(X, y))
    blocks = RowBlocks.from_arrays(X, y)
    model = RelevanceVectorRegressor(KernelBasis(centers=5, random_state=0)).fit(blocks)
    with pytest.raises(TypeError, match="for the X of each row block"):
        model.predict(blocks)
    with pytest.raises(ValueError, match="come from the blocks"):
        RelevanceVectorRegressor("rbf").fit(RowBlocks.from_arrays(X, y), y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "quick"}, "solver must be one of"),
        ({"noise_variance": -1.0}, "noise_variance must be positive"),
        ({"tol": -1.0}, "tol must be at least"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
        ({"max_active": 2.5}, "max_active must be a whole number"),
        ({"moments": "most"}, "moments must be one of"),
        ({"basis": "rbv"}, "basis must be one of"),
        ({"basis": "matern52"}, r"use KernelBasis\('matern52'\)"),
    ],
)
def test_wrong_parameters_are_named(sinc, parameters, message):
    with pytest.raises(ValueError, match=message):
        RelevanceVectorRegressor(**{"basis": "rbf", **parameters}).fit(*sinc)


def test_a_basis_that_is_none_is_named(sinc):
    with pytest.raises(TypeError, match=r"must be one of .* or have fit and transform, got int"):
        RelevanceVectorRegressor(3).fit(*sinc)


def test_inputs_so_large_that_squares_overflow_are_named(rng):
    with pytest.raises(ValueError, match="Scale the inputs"):
        RelevanceVectorRegressor("rbf").fit(rng.normal(size=(20, 2)) * 1e200, rng.normal(size=20))
    model = RelevanceVectorRegressor("rbf").fit(rng.normal(size=(20, 2)) * 1e150, rng.normal(size=20))
    assert np.isfinite(model.predict(np.zeros((1, 2)))).all()


def test_input_of_the_wrong_kind_is_named(sinc):
    X, y = sinc
    with pytest.raises(ValueError, match="NaN"):
        RelevanceVectorRegressor("rbf").fit(np.where(X > 9, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RelevanceVectorRegressor("rbf").fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"non-zero|zero for every row"):
        RelevanceVectorRegressor("rbf").fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="std must be 'plain' or 'augmented'"):
        RelevanceVectorRegressor("rbf").fit(X, y).predict(X, return_std=True, std="full")

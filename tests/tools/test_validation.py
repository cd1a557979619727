import numpy as np
import pandas as pd
import pytest

from skarce import RelevanceVectorRegressor, _validation
from skarce._validation import validated


def test_plain_arrays_pass_and_names_are_forgotten(rng, monkeypatch):
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    model = RelevanceVectorRegressor("passthrough").fit(pd.DataFrame(X, columns=list("abc")), y)
    monkeypatch.setattr(_validation, "validate_data", None)
    checked_X, checked_y = validated(model, X, y)
    assert checked_X is X
    assert checked_y is y
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: (np.where(X > 1, np.nan, X), y), "NaN"),
        (lambda X, y: (np.where(X > 1, np.inf, X), y), "infinity"),
        (lambda X, y: (X, np.where(y > 1, np.nan, y)), "NaN"),
        (lambda X, y: (X[:-1], y), "inconsistent"),
        (lambda X, y: (X[:, :0], y), "0 feature"),
        (lambda X, y: (X[0], y), "2D array"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
    ],
)
def test_everything_else_is_left_to_scikit_learn(rng, spoil, message):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    with pytest.raises(ValueError, match=message):
        validated(RelevanceVectorRegressor("rbf"), *spoil(X, y))


def test_sums_that_overflow_are_not_mistaken_for_infinite_inputs():
    X = np.full((4, 1), 1.7e308)
    assert validated(RelevanceVectorRegressor("rbf"), X, np.arange(4.0))[0] is X


def test_plain_rows_to_predict_pass_at_once(rng, monkeypatch):
    X = rng.normal(size=(20, 3))
    model = RelevanceVectorRegressor("rbf").fit(X, X[:, 0])
    expected = model.predict(X.tolist())
    monkeypatch.setattr(_validation, "validate_data", None)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_other_rows_to_predict_are_left_to_scikit_learn(rng):
    X = rng.normal(size=(20, 3))
    named, model = (RelevanceVectorRegressor("rbf").fit(data, X[:, 0]) for data in (pd.DataFrame(X, columns=list("abc")), X))
    with pytest.raises(ValueError, match="X has 2 features, but RelevanceVectorRegressor is expecting 3"):
        model.predict(X[:, :2].copy())
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.where(X > 1.0, np.nan, X))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match="2D array"):
        model.predict(X[0])
    with pytest.warns(UserWarning, match="valid feature names"):
        named.predict(X)

"""Any transformer as a basis."""

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, SplineTransformer

from skarce import JeffreysPriorRegressor, RelevanceVectorRegressor


@pytest.mark.parametrize("transformer", [PolynomialFeatures(2), SplineTransformer()])
def test_any_transformer_can_be_evaluated_in_part(rng, transformer):
    from skarce.basis import fit_basis

    X = rng.uniform(size=(2000, 2))
    candidates = fit_basis(transformer, X, None, None)
    phi = transformer.fit_transform(X)
    right, weights = rng.normal(size=(2000, 3)), rng.uniform(size=2000)
    evaluation = candidates.on(X)
    products, squares = evaluation.project(right, weights)
    np.testing.assert_allclose(products, phi.T @ right, atol=1e-9)
    np.testing.assert_allclose(squares, weights @ phi**2)
    np.testing.assert_allclose(evaluation.columns(np.array([2, 0]), slice(3, 9)), phi[3:9][:, [2, 0]])
    np.testing.assert_allclose(candidates.select([2, 0]).transform(X), phi[:, [2, 0]])
    assert list(candidates.select([2, 0]).get_feature_names_out()) == list(transformer.get_feature_names_out()[[2, 0]])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: X * 1j, "returned complex numbers"),
        (lambda X: X[:1], "must return one row for each of the"),
        (lambda X: X.ravel(), "must return one row for each of the"),
        (lambda X: np.full(X.shape, "a"), "must return numbers"),
        (lambda X: np.full(X.shape, np.nan), "returned NaN or infinity"),
    ],
)
def test_a_transformer_returns_finite_real_numbers_for_each_row(function, message):
    rng = np.random.default_rng(0)
    X = 1.0 + rng.random((20, 2))
    with pytest.raises(ValueError, match=message):
        RelevanceVectorRegressor(FunctionTransformer(function)).fit(X, X[:, 0])


def test_a_transformer_is_not_asked_again_if_its_output_is_small(rng):
    calls = []

    class Counting(FunctionTransformer):
        def transform(self, X):
            calls.append(len(X))
            return super().transform(X)

    X = rng.normal(size=(20, 30))
    JeffreysPriorRegressor(Counting()).fit(X, X[:, 0])
    assert sum(calls) <= 20 + 1 + 20  # all rows once, one row to count the columns, and once more when the basis is fitted

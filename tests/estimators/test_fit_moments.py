"""A model fitted to sums of rows is the model of the rows themselves."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorRegressor, VBLSRegressor
from skarce.moments import Sums, block_sums
from tests.estimator_lists import REGRESSORS

N = 200
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 3.0 + 0.1 * RNG.normal(size=N)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
FRAME = pd.DataFrame(X, columns=["p", "q", "r"])
KERNELS = KernelBasis(gamma=0.5, centers=X[:30])
BASES = {"kernels": KERNELS, "passthrough": "passthrough", "transformer": PolynomialFeatures(2, include_bias=False)}
ON_MOMENTS = [estimator for estimator in REGRESSORS if hasattr(estimator, "fit_moments")]


def fitted(basis, rows=X):
    return basis if isinstance(basis, str) else clone(basis).fit(rows)


def total(basis, targets=Y, weights=None, n_blocks=5):
    """Return the total of the sums of several blocks."""
    places = np.array_split(np.arange(N), n_blocks)
    return sum(block_sums(basis, X[rows], targets[rows], None if weights is None else weights[rows]) for rows in places)


def made(estimator, basis, **params):
    """Return a regressor that fits to the rows of memory what it fits to sums."""
    model = estimator(basis)
    known = model.get_params(deep=False)
    wanted = {"moments": "whole", "calibrate_std": False, **params}
    return model.set_params(**{name: value for name, value in wanted.items() if name in known})


def assert_same_model(found, expected, inputs=X):
    """Predictions to 1e-6 of the target's std, and the criterion within the tolerance of the search."""
    mean, std = found.predict(inputs, return_std=True)
    expected_mean, expected_std = expected.predict(inputs, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, rtol=0.0, atol=1e-6 * Y.std())
    np.testing.assert_allclose(std, expected_std, rtol=1e-5)
    assert found.criterion_ == pytest.approx(expected.criterion_, abs=max(expected.tol, 1e-8))
    assert found.n_effective_ == pytest.approx(expected.n_effective_)
    np.testing.assert_array_equal(found.active_, expected.active_)


def test_every_regressor_takes_sums():
    assert list(REGRESSORS) == ON_MOMENTS
    assert not hasattr(RelevanceVectorClassifier(), "fit_moments")


@pytest.mark.parametrize("kind", ["plain", "weights", "no intercept"])
@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("estimator", ON_MOMENTS, ids=lambda estimator: estimator.__name__)
def test_every_regressor_is_that_of_the_rows_in_memory(estimator, name, kind):
    weights = WEIGHTS if kind == "weights" else None
    model = made(estimator, BASES[name], fit_intercept=kind != "no intercept")
    basis = fitted(BASES[name])
    found = clone(model).fit_moments(basis, total(basis, weights=weights))
    assert_same_model(found, clone(model).fit(X, Y, weights))


@pytest.mark.parametrize("name", BASES)
def test_several_targets(name):
    targets = np.column_stack([Y, -2.0 * X[:, 1], RNG.normal(size=N)])
    basis = fitted(BASES[name])
    model = made(VBLSRegressor, BASES[name])
    found, expected = clone(model).fit_moments(basis, total(basis, targets)), clone(model).fit(X, targets)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=0.0, atol=1e-6)
    assert found.noise_variance_.shape == (3,)


@pytest.mark.parametrize("worth", [50, 0.3])
def test_dependent_rows(worth):
    model = made(VBLSRegressor, "passthrough", effective_samples=worth)
    found = clone(model).fit_moments("passthrough", total("passthrough", weights=WEIGHTS))
    assert_same_model(found, clone(model).fit(X, Y, WEIGHTS))


def test_sparse_inputs():
    dense = np.where(RNG.random((N, 3)) < 0.4, X, 0.0)
    parts = [block_sums("passthrough", sparse.csr_array(dense[rows]), Y[rows]) for rows in (slice(0, 70), slice(70, N))]
    model = made(VBLSRegressor, "passthrough")
    found = clone(model).fit_moments("passthrough", sum(parts))
    assert_same_model(found, clone(model).fit(dense, Y), dense)
    np.testing.assert_allclose(found.predict(sparse.csr_array(dense)), found.predict(dense), rtol=1e-12)


def test_the_parameter_basis_does_not_matter():
    for name, basis in BASES.items():
        whole = total(fitted(basis))
        for parameter in ("auto", "passthrough", KERNELS, PolynomialFeatures()):
            found = made(RelevanceVectorRegressor, parameter).fit_moments(fitted(basis), whole)
            assert found.get_params()["basis"] is parameter
            assert_same_model(found, made(RelevanceVectorRegressor, basis).fit(X, Y))
            assert hasattr(found, "coef_") == (name != "kernels")
            assert hasattr(found, "dual_coef_") == (name == "kernels")


def test_sums_and_basis_stay_as_they_are_and_can_be_used_again():
    basis = fitted(KERNELS)
    whole = total(basis)
    before = pickle.dumps((basis, whole))
    first = RelevanceVectorRegressor(effective_samples=0.5).fit_moments(basis, whole)
    assert pickle.dumps((basis, whole)) == before
    again = RelevanceVectorRegressor(effective_samples=0.5).fit_moments(*pickle.loads(before))
    np.testing.assert_array_equal(again.predict(X), first.predict(X))


def test_names_of_inputs_reach_the_model():
    kinds = FRAME.assign(kind=np.array(["a", "b"])[np.arange(N) % 2])
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["p", "q"]))
    for basis, table in ((KERNELS, FRAME), (PolynomialFeatures(2), FRAME), (columns, kinds)):
        basis = clone(basis).fit(table)
        model = VBLSRegressor().fit_moments(basis, block_sums(basis, table, Y))
        assert list(model.feature_names_in_) == list(table.columns)
        assert model.n_features_in_ == table.shape[1]
        model.predict(table, return_std=True)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(table.rename(columns={"q": "length"}))
    unnamed = VBLSRegressor().fit_moments("passthrough", total("passthrough"))
    assert unnamed.n_features_in_ == 3
    assert not hasattr(unnamed, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 2 features, but VBLSRegressor is expecting 3 features"):
        unnamed.predict(X[:, :2])


class Mute(TransformerMixin, BaseEstimator):
    """A transformer that neither names its columns nor counts its inputs."""

    def fit(self, X, y=None):
        self.is_fitted_ = True
        return self

    def transform(self, X):
        return np.column_stack([X, X[:, 0] ** 2])


def test_a_transformer_that_says_nothing_about_its_columns():
    basis = Mute().fit(X)
    found = made(VBLSRegressor, "auto").fit_moments(basis, total(basis))
    assert_same_model(found, made(VBLSRegressor, Mute()).fit(X, Y))
    assert not hasattr(found, "n_features_in_")  # 4 candidates of 3 inputs


@pytest.mark.parametrize("name", BASES)
def test_a_stream_goes_on_from_sums(name):
    basis, model = fitted(BASES[name]), made(VBLSRegressor, BASES[name], restarts="always")
    first = block_sums(basis, X[:120], Y[:120], WEIGHTS[:120])
    found = clone(model).fit_moments(basis, first).partial_fit(X[120:], Y[120:], WEIGHTS[120:])
    assert_same_model(found, clone(model).fit(X, Y, WEIGHTS))


def test_a_small_batch_after_many_rows_is_no_reason_to_begin_again():
    model = VBLSRegressor().fit_moments("passthrough", total("passthrough"))
    assert not model._stream.is_due
    assert not model.partial_fit(X[:10], Y[:10])._stream.is_due
    assert model.partial_fit(X, Y)._stream.n_solved == 2 * N + 10


def test_a_stream_of_another_kind_of_rows_is_refused():
    basis = fitted(KERNELS)
    model = VBLSRegressor("passthrough").fit_moments(basis, total(basis))
    before = model.predict(X)
    with pytest.raises(ValueError, match="After fit_moments, the parameter basis must be of the same type"):
        model.partial_fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), before)


def test_what_takes_rows_says_so():
    basis = fitted(KERNELS)
    model = RelevanceVectorRegressor(KERNELS).fit_moments(basis, total(basis))
    assert model.std_scale_ == 1.0
    for streamed in (model, clone(model).fit_moments(basis, total(basis)).partial_fit(X, Y)):
        with pytest.raises(ValueError, match=r"this model was fitted to sums of them.* third argument of fit_moments"):
            streamed.predict(X, return_std=True, std="augmented")
    with pytest.raises(ValueError, match=r"calibrate_std=True .* not kept in memory"):
        RelevanceVectorRegressor(calibrate_std=True).fit_moments(basis, total(basis))


# Errors ----------------------------------------------------------------------------------------------------------------------

OTHER_SUMS = block_sums("passthrough", X[:, :2], Y)
WHOLE = block_sums("passthrough", X, Y)
WRONG = {
    "kernels of other sums": ({}, KERNELS.fit(X), WHOLE, ValueError, "the basis has 30 candidates, but the sums are over 3"),
    "transformer of other sums": (
        {},
        PolynomialFeatures(2).fit(X),
        OTHER_SUMS,
        ValueError,
        "the basis has 10 candidates, but the sums are over 2",
    ),
    "no rows": ({}, "passthrough", Sums.empty(3, 1), ValueError, "the sums are over no rows"),
    "not sums": ({}, "passthrough", X, TypeError, "must be what skarce.moments.block_sums returns, .* got ndarray"),
    "a sum of nothing": ({}, "passthrough", sum([]), TypeError, "must be what skarce.moments.block_sums returns, .* got int"),
    "basis not fitted": ({}, KernelBasis(), WHOLE, NotFittedError, "not fitted yet"),
    "transformer not fitted": ({}, StandardScaler(), WHOLE, NotFittedError, "not fitted yet"),
    "basis by name": ({}, "rbf", WHOLE, ValueError, 'basis must be "passthrough" or a fitted transformer'),
    "relative weights": ({"weights": "relative"}, "passthrough", WHOLE, ValueError, "sums have counted their rows already"),
    "order": ({"effective_samples": "auto"}, "passthrough", WHOLE, ValueError, "do not tell in which order they came"),
    "student": ({"noise": "student-t"}, "passthrough", WHOLE, AttributeError, "fit_moments keep no rows, but noise="),
    "limits": ({"tol": -1.0}, "passthrough", WHOLE, ValueError, "tol"),
    "out of range": ({}, "passthrough", WHOLE.faded(np.inf), ValueError, "candidate"),
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("case", WRONG)
def test_errors_are_named_and_leave_the_model_as_it_was(case):
    params, basis, sums, error, message = WRONG[case]
    for fresh in (VBLSRegressor(), VBLSRegressor().fit(X, Y)):
        model = fresh.set_params(**params)
        before = pickle.dumps(model)
        with pytest.raises(error, match=message):
            model.fit_moments(basis, sums)
        assert pickle.dumps(model) == before

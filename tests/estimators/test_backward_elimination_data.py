"""Backward elimination on awkward data, and its habits as an estimator."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures

from skarce import BackwardEliminationRegressor, EvidenceRegressor, KernelBasis, Outcome
from skarce.designs import RowBlocks
from tests.estimators.test_backward_elimination import directions, intercepts, make, variances


@pytest.fixture
def sinc(rng):
    X = rng.uniform(-10, 10, (90, 1))
    return X, np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 90)


@directions
def test_a_kernel_matrix_of_rank_three(rng, direction):
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(0, 0.1, 60)
    model = BackwardEliminationRegressor(KernelBasis("linear"), direction=direction).fit(X, y)
    full = EvidenceRegressor(KernelBasis("linear")).fit(X, y)
    assert 3 <= len(model.active_) < 60
    assert np.mean((model.predict(X) - full.predict(X)) ** 2) < 0.1 * full.noise_variance_
    three = model.with_n_basis(3)
    assert np.isfinite(three.predict(X, return_std=True)).all()
    assert np.mean((three.predict(X) - full.predict(X)) ** 2) < full.noise_variance_


@directions
def test_duplicate_rows_are_counted_and_not_doubled(rng, direction):
    X = rng.uniform(-3, 3, (40, 1))
    y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 40)
    weights = rng.integers(0, 4, 40)
    weighted = make(direction=direction).fit(X, y, sample_weight=weights)
    repeated = make(direction=direction).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.relevance_vectors_, repeated.relevance_vectors_)
    np.testing.assert_allclose(weighted.predict(X, return_std=True), repeated.predict(X, return_std=True), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(weighted.criterion_, repeated.criterion_, rtol=1e-8)


def test_equal_candidates(rng):
    X = rng.normal(size=(50, 4))
    y = X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(0, 0.1, 50)
    model = BackwardEliminationRegressor("passthrough").fit(np.column_stack([X, X]), y)
    assert len(model.active_) <= 5
    assert set(model.active_ % 4) >= {0, 1, 3}


@directions
def test_constant_inputs_and_constant_targets(sinc, direction):
    X, y = sinc
    nothing = make(direction=direction).fit(np.ones((20, 2)), y[:20])
    assert len(nothing.active_) == 0
    np.testing.assert_allclose(nothing.predict(np.ones((3, 2))), y[:20].mean())
    one_constant = make(direction=direction).fit(np.column_stack([X, np.ones(90)]), y)
    np.testing.assert_allclose(
        one_constant.predict(np.column_stack([X, np.ones(90)])), make(direction=direction).fit(X, y).predict(X)
    )
    flat = make(direction=direction, weight_variance=1.0).fit(X, np.full(90, 4.0))
    assert flat.outcome_ is Outcome.CONSTANT_TARGET
    np.testing.assert_allclose(flat.predict(X[:2]), 4.0)
    assert "objective" in flat.trace_.dtype.names


@directions
@intercepts
def test_one_candidate_and_one_row(direction, intercept):
    X, y = np.arange(6.0)[:, None], np.array([0.1, 1.2, 1.9, 3.1, 4.0, 5.1])
    one = BackwardEliminationRegressor("passthrough", direction=direction, fit_intercept=intercept).fit(X, y)
    assert one.active_.tolist() == [0]
    assert one.coef_[0] == pytest.approx(1.0, abs=0.05)
    row = BackwardEliminationRegressor("rbf", direction=direction, fit_intercept=intercept).fit([[1.0]], [2.0])
    assert np.isfinite(row.predict([[1.0]])).all()


def test_noise_alone_has_no_functions(rng):
    model = BackwardEliminationRegressor("passthrough").fit([[1.0], [-1.0], [1.0], [-1.0]], [1.0, 1.0, -1.0, -1.0])
    assert model.outcome_ is Outcome.NOTHING_HELPS
    assert len(model.active_) == 0
    with pytest.raises(ValueError, match="no model with functions"):
        model.with_n_basis(1)


def test_an_exact_fit_ends_in_a_sound_model(rng):
    X = rng.normal(size=(60, 2))
    exact = BackwardEliminationRegressor("passthrough").fit(X, X @ [2.0, -1.0])
    assert exact.outcome_ is Outcome.NO_NOISE
    np.testing.assert_allclose(exact.coef_, [2.0, -1.0], rtol=1e-6)


@pytest.mark.parametrize("factor", [1e7, 1e-7, 1e150, 1e-150])
@variances
def test_units_of_the_target_do_not_matter(sinc, factor, variance):
    X, y = sinc
    model, scaled = (make(weight_variance=variance).fit(X, y * c) for c in (1.0, factor))
    np.testing.assert_array_equal(scaled.active_, model.active_)
    np.testing.assert_allclose(scaled.predict(X) / factor, model.predict(X), rtol=1e-6, atol=1e-9)


def test_several_targets_have_their_own_functions(rng):
    X = rng.uniform(-4, 4, (80, 2))
    Y = np.column_stack([np.sin(X[:, 0]), 100 * np.cos(X[:, 1])]) + rng.normal(0, [0.1, 10.0], (80, 2))
    single = [make(weight_variance=1.0).fit(X, Y[:, k]) for k in range(2)]
    both = make(weight_variance=1.0).fit(X, Y)
    np.testing.assert_array_equal(both.active_, np.union1d(*(s.active_ for s in single)))
    mean, std = both.predict(X, return_std=True)
    for k, one in enumerate(single):
        np.testing.assert_allclose(mean[:, k], one.predict(X), rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(std[:, k], one.predict(X, return_std=True)[1], rtol=1e-7)
    assert set(np.unique(both.trace_["output"])) == {0, 1}
    small = both.with_n_basis(5)
    for k, one in enumerate(single):
        np.testing.assert_allclose(small.predict(X)[:, k], one.with_n_basis(5).predict(X), rtol=1e-7, atol=1e-9)


def test_row_blocks_give_the_model_of_the_rows(rng):
    X = rng.uniform(-4, 4, (2000, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(0, 0.2, 2000)
    basis = KernelBasis(gamma=0.5, centers=X[:40])
    for variance in ("learned", 1.0):
        streamed, at_once = (
            BackwardEliminationRegressor(basis, weight_variance=variance, keep_path=True).fit(*data)
            for data in ((RowBlocks.from_arrays(X, y, block_rows=501),), (X, y))
        )
        np.testing.assert_array_equal(streamed.active_, at_once.active_)
        np.testing.assert_allclose(streamed.with_n_basis(20).predict(X[:9]), at_once.with_n_basis(20).predict(X[:9]), rtol=1e-6)


def test_whole_and_columns_agree(sinc):
    X, y = sinc
    whole, columns = (make(moments=kind, keep_path=True).fit(X, y) for kind in ("whole", "columns"))
    np.testing.assert_array_equal(whole.active_, columns.active_)
    np.testing.assert_allclose(whole.trace_["objective"], columns.trace_["objective"], rtol=1e-8)


def test_any_transformer_is_a_basis(rng):
    X = rng.normal(size=(80, 3))
    y = X[:, 0] ** 2 + X[:, 1] * X[:, 2] + rng.normal(0, 0.05, 80)
    model = BackwardEliminationRegressor(PolynomialFeatures(3)).fit(X, y)
    names = set(model.basis_.get_feature_names_out())
    assert {"x0^2", "x1 x2"} <= names
    assert len(names) < 12
    smaller = model.with_n_basis(2)
    assert set(smaller.basis_.get_feature_names_out()) == {"x0^2", "x1 x2"}
    assert smaller.predict(X).shape == (80,)


def test_clone_and_pickle_keep_the_path(sinc):
    X, y = sinc
    model = make(keep_path=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.with_n_basis(50).predict(X), model.with_n_basis(50).predict(X))
    assert clone(model).get_params()["keep_path"] is True


def test_verbose_prints_the_steps_as_the_trace_has_them(sinc, capsys):
    model = make(verbose=2, n_basis=80).fit(sinc[0], 1000.0 * sinc[1])
    lines = [line for line in capsys.readouterr().err.splitlines() if "delete" in line]
    assert len(lines) == len(model.trace_)
    for line, row in zip(lines, model.trace_, strict=True):
        assert f"criterion {row['criterion']: .6e}  active {row['n_active']:5d}" in line

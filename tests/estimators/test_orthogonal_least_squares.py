"""Orthogonal least squares: choices, stop rules, and inputs that break others."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman2
from sklearn.exceptions import ConvergenceWarning

from skarce import KernelBasis, OrthogonalLeastSquaresRegressor, Outcome
from tests.criteria.test_explained_variance import no_penalty
from tests.oracles import gcv, random_problem, rbf

INTERCEPTS = pytest.mark.parametrize("fit_intercept", [True, False])


def squared_error(phi, t, *, intercept):
    """What least squares leaves, by an orthogonal factorization of the rows."""
    A = np.column_stack([phi, np.ones(len(t))]) if intercept else phi
    if not A.shape[1]:
        return t @ t
    return ((t - A @ np.linalg.lstsq(A, t, rcond=None)[0]) ** 2).sum()


def greedy_by_brute_force(phi, t, size, *, intercept):
    """Every candidate tried at every step."""
    chosen = []
    for _ in range(size):
        errors = {m: squared_error(phi[:, [*chosen, m]], t, intercept=intercept) for m in range(phi.shape[1]) if m not in chosen}
        chosen.append(min(errors, key=errors.get))
    return chosen


@INTERCEPTS
@pytest.mark.parametrize("moments", ["whole", "columns"])
@pytest.mark.parametrize("seed", range(3))
def test_each_choice_is_the_best_of_all_candidates(seed, moments, fit_intercept):
    phi, t = random_problem(seed, n=40, m=15)
    model = OrthogonalLeastSquaresRegressor("passthrough", n_basis=8, moments=moments, fit_intercept=fit_intercept).fit(phi, t)
    assert model.trace_["index"].tolist() == greedy_by_brute_force(phi, t, 8, intercept=fit_intercept)
    assert model.outcome_ is Outcome.GOAL_REACHED


@INTERCEPTS
def test_trace_and_model_are_those_of_least_squares(fit_intercept):
    phi, t = random_problem(1, n=40, m=15)
    model = OrthogonalLeastSquaresRegressor("passthrough", fit_intercept=fit_intercept, calibrate_std=False).fit(phi, t)
    path = model.trace_["index"]
    expected = [gcv(phi[:, path[:k]], t, no_penalty(path[:k]), intercept=fit_intercept) for k in range(1, len(path) + 1)]
    np.testing.assert_allclose(model.trace_["criterion"], expected, rtol=1e-8)
    best = int(np.argmin(expected)) + 1
    assert best < len(path)
    np.testing.assert_array_equal(model.active_, np.sort(path[:best]))
    assert model.criterion_ == pytest.approx(min(expected), rel=1e-9)
    assert model.criterion_sense_ == -1
    A = phi[:, model.active_]
    if fit_intercept:
        A = np.column_stack([A, np.ones(len(t))])
    weights = np.linalg.lstsq(A, t, rcond=None)[0]
    np.testing.assert_allclose(model.posterior_.mean, weights[:best], rtol=1e-8)
    assert model.intercept_ == pytest.approx(weights[best] if fit_intercept else 0.0, rel=1e-8)
    noise = squared_error(phi[:, model.active_], t, intercept=fit_intercept) / (40 - A.shape[1])
    assert model.noise_variance_ == pytest.approx(noise, rel=1e-9)
    new = np.random.default_rng(5).normal(size=(6, 15))
    query = np.column_stack([new[:, model.active_], np.ones(6)]) if fit_intercept else new[:, model.active_]
    variance = noise * (1.0 + np.einsum("ni,ij,nj->n", query, np.linalg.inv(A.T @ A), query))
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, query @ weights, rtol=1e-8)
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-8)
    assert (model.weight_precision_ == 0.0).all()
    assert (model.relevance_[model.active_] == 1.0).all()
    assert np.count_nonzero(model.relevance_) == best


@INTERCEPTS
def test_weights_count_rows(rng, fit_intercept):
    phi, t = random_problem(2, n=40, m=15)
    counts = rng.integers(0, 4, 40)
    model = OrthogonalLeastSquaresRegressor("passthrough", fit_intercept=fit_intercept).fit(phi, t, sample_weight=counts)
    rows = np.repeat(np.arange(40), counts)
    path = model.trace_["index"]
    assert path.tolist() == greedy_by_brute_force(phi[rows], t[rows], len(path), intercept=fit_intercept)
    expected = [
        gcv(phi[rows][:, path[:k]], t[rows], no_penalty(path[:k]), intercept=fit_intercept) for k in range(1, len(path) + 1)
    ]
    np.testing.assert_allclose(model.trace_["criterion"], expected, rtol=1e-8)


def test_kernels_are_chosen_as_by_brute_force(rng):
    X = rng.uniform(-3, 3, (60, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + rng.normal(0, 0.1, 60)
    model = OrthogonalLeastSquaresRegressor(KernelBasis(gamma=0.5), n_basis=12).fit(X, y)
    phi = rbf(X, X, 0.5)
    assert model.trace_["index"].tolist() == greedy_by_brute_force(phi, y, 12, intercept=True)
    np.testing.assert_array_equal(model.relevance_vectors_, X[model.active_])


# Stop rules -----------------------------------------------------------------------------------------------------------------


def bic(phi, t):
    return len(t) * np.log(squared_error(phi, t, intercept=False)) + phi.shape[1] * np.log(len(t))


def test_bic_stops_at_the_least_bic():
    phi, t = random_problem(4, n=60, m=30)
    model = OrthogonalLeastSquaresRegressor("passthrough", stop="bic", patience=25, fit_intercept=False).fit(phi, t)
    path = model.trace_["index"]
    assert len(path) > len(model.active_) + 10
    values = [bic(phi[:, path[:k]], t) for k in range(len(path) + 1)]
    assert len(model.active_) == int(np.argmin(values))
    expected = gcv(phi[:, model.active_], t, no_penalty(model.active_))
    assert model.criterion_ == pytest.approx(expected, rel=1e-8)  # what is published is GCV


@pytest.mark.parametrize("unexplained", [0.8, 0.6, 0.5])
def test_variance_stops_at_the_first_model_that_leaves_no_more(unexplained):
    phi, t = random_problem(0, n=60, m=30)
    model = OrthogonalLeastSquaresRegressor("passthrough", stop="variance", unexplained=unexplained).fit(phi, t)
    path = model.trace_["index"]
    shares = [squared_error(phi[:, path[:k]], t, intercept=True) / ((t - t.mean()) ** 2).sum() for k in range(len(path) + 1)]
    assert shares[-1] <= unexplained < shares[-2]
    assert len(model.active_) == len(path)
    assert model.outcome_ is Outcome.GOAL_REACHED


def test_variance_that_cannot_be_explained_ends_with_all_that_help():
    phi, t = random_problem(0, n=60, m=8)
    model = OrthogonalLeastSquaresRegressor("passthrough", stop="variance", unexplained=1e-6, tol=0.0).fit(phi, t)
    assert len(model.active_) == 8
    assert model.outcome_ is Outcome.NO_ADDITION_HELPS


def test_patience_gets_over_a_hill(rng):
    """Two columns whose difference is the target: neither helps alone."""
    common = rng.normal(size=100)
    signal = rng.normal(size=100)
    phi = np.column_stack([common + 0.01 * signal, common - 0.01 * signal])
    short, long = (OrthogonalLeastSquaresRegressor("passthrough", patience=p).fit(phi, signal) for p in (1, 2))
    assert len(short.active_) == 0
    assert short.outcome_ is Outcome.NOTHING_HELPS
    assert long.active_.tolist() == [0, 1]


# Inputs that break others ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The model has fewer functions than n_basis:sklearn.exceptions.ConvergenceWarning")
def test_copies_zeros_and_constants_are_passed_over(rng):
    X = rng.normal(size=(50, 3))
    X = np.column_stack([X, X, np.zeros(50), np.full(50, 1e8), X[:, 0] * (1 + 1e-13), X[:, 1] - X[:, 2]])
    y = X[:, 0] - 2 * X[:, 1] + 0.5 * X[:, 2] + rng.normal(0, 0.1, 50)
    model = OrthogonalLeastSquaresRegressor("passthrough", n_basis=10).fit(X, y)
    assert len(model.active_) == np.linalg.matrix_rank(X[:, model.active_]) == 3
    assert model.outcome_ is Outcome.TOO_FEW_CANDIDATES
    assert "fewer functions than n_basis" in str(model.outcome_)


@pytest.mark.filterwarnings("ignore:The model has fewer functions than n_basis:sklearn.exceptions.ConvergenceWarning")
@INTERCEPTS
def test_more_candidates_than_rows_leave_a_degree_of_freedom(rng, fit_intercept):
    X = rng.normal(size=(20, 200))
    y = X[:, 3] * 2 + rng.normal(0, 0.1, 20)
    model = OrthogonalLeastSquaresRegressor("passthrough", n_basis=50, fit_intercept=fit_intercept).fit(X, y)
    assert len(model.active_) == 19 - fit_intercept
    assert np.isfinite(model.criterion_)
    assert model.noise_variance_ > 0.0
    assert 3 in OrthogonalLeastSquaresRegressor("passthrough", stop="bic").fit(X, y).active_


def test_constant_target_is_its_mean(rng):
    model = OrthogonalLeastSquaresRegressor("rbf").fit(rng.normal(size=(20, 2)), np.full(20, 3.0))
    assert model.outcome_ is Outcome.CONSTANT_TARGET
    assert model.criterion_ == 0.0
    assert model.predict([[0.0, 0.0]])[0] == 3.0


def test_exact_fits_end(rng):
    X = rng.normal(size=(50, 6))
    y = X @ [1.0, 0.0, -2.0, 0.0, 0.0, 3.0] + 1.0
    model = OrthogonalLeastSquaresRegressor("passthrough").fit(X, y)
    assert set(model.active_) >= {0, 2, 5}
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    assert 0.0 <= model.criterion_ < 1e-11
    assert np.isfinite(model.predict(X, return_std=True)[1]).all()
    assert np.isfinite(model.weight_precision_).all()


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("factor", [1e9, 1e-9, 1e150, 1e-150])
@pytest.mark.parametrize("stop", ["gcv", "bic", "variance"])
def test_units_of_the_target_do_not_matter(factor, stop):
    phi, t = random_problem(1, n=60, m=30)
    base, scaled = (OrthogonalLeastSquaresRegressor("passthrough", stop=stop, unexplained=0.1).fit(phi, y) for y in (t, t * factor))
    assert len(base.active_) > 1
    np.testing.assert_array_equal(scaled.trace_["index"], base.trace_["index"])
    np.testing.assert_array_equal(scaled.active_, base.active_)
    np.testing.assert_allclose(scaled.coef_ / factor, base.coef_, rtol=1e-9)
    if abs(np.log10(factor)) < 100:
        assert scaled.criterion_ == pytest.approx(base.criterion_ * factor**2, rel=1e-9)


@pytest.mark.filterwarnings("ignore:The model has fewer functions than n_basis:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("gamma", [1e-8, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_nearly_dependent_kernels_keep_their_digits(gamma, moments):
    """Wide kernels: the published value is that of the rows, and every choice was among the good ones."""
    X, y = make_friedman2(100, noise=125, random_state=0)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    model = OrthogonalLeastSquaresRegressor(KernelBasis(gamma=gamma), n_basis=30, moments=moments).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    phi = rbf(X, X, gamma)
    phi -= phi.mean(axis=0)
    path = model.trace_["index"]
    lengths = np.linalg.norm(phi, axis=0)
    for k, value in enumerate(model.trace_["criterion"], start=1):
        Q, _ = np.linalg.qr(phi[:, path[:k]] / lengths[path[:k]])
        Q, _ = np.linalg.qr(Q - Q @ (Q.T @ Q - np.eye(k)))
        expected = 100 * ((y - Q @ (Q.T @ y)) ** 2).sum() / (99 - k) ** 2
        assert value == pytest.approx(expected, rel=0.02)
    assert model.criterion_ == pytest.approx(100 * ((y - mean) ** 2).sum() / (99 - len(path)) ** 2, rel=1e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"stop": "aic"}, r"stop must be one of \['gcv', 'bic', 'variance'\], got 'aic'"),
        ({"unexplained": 1.5}, "unexplained must be a share of the variance"),
        ({"patience": 0}, "patience must be a whole number of at least 1, got 0"),
        ({"patience": None}, "patience must be a whole number of at least 1, got None"),
        ({"n_basis": 2.5}, r"n_basis must be a whole number of at least 1, got 2\.5"),
        ({"n_basis": 5, "max_active": 3}, "n_basis=5 asks for more functions than max_active=3"),
        ({"tol": -1.0}, "tol must be at least"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        OrthogonalLeastSquaresRegressor("passthrough", **parameters).fit(*random_problem(0))


def test_two_outputs_are_two_searches(rng):
    phi, t = random_problem(0, n=50)
    Y = np.column_stack([t, phi[:, 7] + rng.normal(size=50)])
    model = OrthogonalLeastSquaresRegressor("passthrough").fit(phi, Y)
    single = [OrthogonalLeastSquaresRegressor("passthrough").fit(phi, y) for y in Y.T]
    assert set(model.active_) == set(single[0].active_) | set(single[1].active_)
    np.testing.assert_allclose(model.predict(phi), np.column_stack([s.predict(phi) for s in single]))
    assert model.criterion_ == pytest.approx(sum(s.criterion_ for s in single))


def test_asking_for_more_functions_than_there_are_warns(rng):
    X = rng.normal(size=(50, 4))
    with pytest.warns(ConvergenceWarning, match="fewer functions than n_basis"):
        model = OrthogonalLeastSquaresRegressor("passthrough", n_basis=9).fit(X, X[:, 0] + 0.1 * rng.normal(size=50))
    assert (len(model.active_), model.outcome_) == (4, Outcome.TOO_FEW_CANDIDATES)

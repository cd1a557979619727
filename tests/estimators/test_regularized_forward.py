"""Regularized forward selection: choices, models, and inputs that break others."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman2

from skarce import KernelBasis, Outcome, RegularizedForwardRegressor
from tests.criteria.dense_one_ridge import PENALTIES, best_ridge, centered, penalty_of, value
from tests.oracles import gcv, gram_schmidt, random_problem, rbf

INTERCEPTS = pytest.mark.parametrize("fit_intercept", [True, False])


def forward_by_brute_force(phi, t, size, penalize, ridge, *, intercept):
    """Every candidate tried at every step, at the ridge of the set before; the ridge then at its best by a scan."""
    chosen, values, fixed = [], [], ridge
    for _ in range(size):
        tried = {}
        for m in range(phi.shape[1]):
            if m in chosen:
                continue
            columns = phi[:, [*chosen, m]]
            if ridge is None:  # the first one is judged at its own best
                tried[m] = best_ridge(columns, t, penalize, intercept=intercept)[1]
            else:
                tried[m] = value(columns, t, ridge, penalize, intercept=intercept)
        chosen.append(min(tried, key=tried.get))
        if fixed is None:
            ridge, least = best_ridge(phi[:, chosen], t, penalize, intercept=intercept)
        values.append(least if fixed is None else tried[chosen[-1]])
    return chosen, values


@INTERCEPTS
@PENALTIES
@pytest.mark.parametrize("ridge", [5.0, "gcv"])
@pytest.mark.parametrize("seed", range(2))
def test_each_choice_and_each_value_are_those_of_brute_force(seed, ridge, penalize, fit_intercept):
    phi, t = random_problem(seed, n=30, m=10)
    model = RegularizedForwardRegressor("passthrough", ridge=ridge, penalize=penalize, n_basis=5, fit_intercept=fit_intercept).fit(
        phi, t
    )
    start = None if ridge == "gcv" else ridge
    chosen, values = forward_by_brute_force(phi, t, 5, penalize, start, intercept=fit_intercept)
    assert model.trace_["index"].tolist() == chosen
    # A ridge may stay where it is when it would move by less than a percent, which V hardly feels.
    np.testing.assert_allclose(model.trace_["criterion"], values, rtol=1e-8 if ridge == 5.0 else 1e-4)


@INTERCEPTS
@PENALTIES
@pytest.mark.parametrize("ridge", [3.0, "gcv"])
@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_model_is_the_dense_solution(moments, ridge, penalize, fit_intercept):
    phi, t = random_problem(1, n=40, m=15)
    model = RegularizedForwardRegressor(
        "passthrough", ridge=ridge, penalize=penalize, fit_intercept=fit_intercept, moments=moments, calibrate_std=False
    ).fit(phi, t)
    size = len(model.active_)
    path = model.trace_["index"][:size]
    assert 1 < size < len(model.trace_)
    assert size == model.trace_["criterion"].argmin() + 1
    ridge = ridge if ridge == 3.0 else float(model.posterior_.ridges[0])
    K = penalty_of(phi[:, path], ridge, penalize, intercept=fit_intercept)
    A, C = phi[:, path], centered(phi[:, path], fit_intercept)
    weights = np.linalg.solve(C.T @ C + K, C.T @ t)
    order = np.argsort(path)
    np.testing.assert_allclose(model.posterior_.mean, weights[order], rtol=1e-7)
    intercept = (t - A @ weights).mean() if fit_intercept else 0.0
    assert model.intercept_ == pytest.approx(intercept, rel=1e-8)
    residual = t - A @ weights - intercept
    freedom = 40 - fit_intercept - np.trace(np.linalg.solve(C.T @ C + K, C.T @ C))
    assert model.noise_variance_ == pytest.approx(residual @ residual / freedom, rel=1e-8)
    assert model.criterion_ == pytest.approx(gcv(A, t, K, intercept=fit_intercept), rel=1e-8)
    assert model.criterion_sense_ == -1
    new = np.random.default_rng(5).normal(size=(6, 15))
    query = new[:, path] - (A.mean(axis=0) if fit_intercept else 0.0)
    spread = 1.0 + fit_intercept / 40 + np.einsum("ni,ij,nj->n", query, np.linalg.inv(C.T @ C + K), query)
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, new[:, path] @ weights + intercept, rtol=1e-7)
    np.testing.assert_allclose(std, np.sqrt(model.noise_variance_ * spread), rtol=1e-7)
    np.testing.assert_allclose(model.weight_precision_, ridge / model.noise_variance_, rtol=1e-8)
    lengths = (gram_schmidt(C)[0] ** 2).sum(axis=0)
    by_weight = 1.0 - ridge * np.diag(np.linalg.inv(C.T @ C + K))
    expected = by_weight if penalize == "weights" else lengths / (lengths + ridge)
    np.testing.assert_allclose(model.relevance_[np.sort(path)], expected[order], rtol=1e-6, atol=1e-12)


@INTERCEPTS
@PENALTIES
def test_weights_count_rows(rng, penalize, fit_intercept):
    phi, t = random_problem(2, n=40, m=15)
    counts = rng.integers(0, 4, 40)
    model = RegularizedForwardRegressor("passthrough", penalize=penalize, fit_intercept=fit_intercept, size_prior=None)
    model.fit(phi, t, sample_weight=counts)
    rows = np.repeat(np.arange(40), counts)
    path = model.trace_["index"][: len(model.active_)]
    expected = value(phi[rows][:, path], t[rows], model.posterior_.ridges[0], penalize, intercept=fit_intercept)
    assert model.criterion_ == pytest.approx(expected, rel=1e-8)
    assert model.criterion_ <= best_ridge(phi[rows][:, path], t[rows], penalize, intercept=fit_intercept)[1] * (1 + 1e-4)


# Inputs that break others ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The model has fewer functions than n_basis:sklearn.exceptions.ConvergenceWarning")
@PENALTIES
def test_copies_zeros_and_constants_end_in_a_sound_model(rng, penalize):
    X = rng.normal(size=(50, 3))
    X = np.column_stack([X, X, np.zeros(50), np.full(50, 1e8), X[:, 0] * (1 + 1e-13)])
    y = X[:, 0] - 2 * X[:, 1] + rng.normal(0, 0.1, 50)
    for n_basis in (None, 9):
        model = RegularizedForwardRegressor("passthrough", penalize=penalize, n_basis=n_basis).fit(X, y)
        assert not set(model.active_) & {6, 7}
        assert model.score(X, y) > 0.98
        assert np.isfinite(model.predict(X, return_std=True)[1]).all()
    assert model.outcome_ is Outcome.TOO_FEW_CANDIDATES


@pytest.mark.filterwarnings("ignore:The model has fewer functions than n_basis:sklearn.exceptions.ConvergenceWarning")
@PENALTIES
@pytest.mark.parametrize("ridge", ["gcv", 0.0, 1e-3])
def test_more_candidates_than_rows(rng, penalize, ridge):
    X = rng.normal(size=(20, 200))
    y = X[:, 3] * 2 + rng.normal(0, 0.1, 20)
    for n_basis in (None, 60):
        model = RegularizedForwardRegressor("passthrough", penalize=penalize, ridge=ridge, n_basis=n_basis).fit(X, y)
        assert model.trace_["index"][0] == 3
        assert np.isfinite(model.criterion_)
        assert np.isfinite(model.predict(X, return_std=True)[1]).all()
        assert len(model.active_) == min(n_basis or len(model.active_), len(model.active_))


@PENALTIES
def test_constant_and_exact_targets(rng, penalize):
    X = rng.normal(size=(50, 6))
    model = RegularizedForwardRegressor("passthrough", penalize=penalize).fit(X, np.full(50, 3.0))
    assert model.outcome_ is Outcome.CONSTANT_TARGET
    assert model.criterion_ == 0.0
    y = X @ [1.0, 0.0, -2.0, 0.0, 0.0, 3.0] + 1.0
    model.fit(X, y)
    assert set(model.active_) >= {0, 2, 5}
    np.testing.assert_allclose(model.predict(X), y, atol=1e-5)
    assert 0.0 <= model.criterion_ < 1e-10


@PENALTIES
def test_target_orthogonal_to_everything(penalize):
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    model = RegularizedForwardRegressor("passthrough", penalize=penalize).fit(X, [1.0, 1.0, -1.0, -1.0])
    assert model.outcome_ is Outcome.NOTHING_HELPS
    np.testing.assert_allclose(model.predict(X), 0.0)


@PENALTIES
@pytest.mark.parametrize("factor", [1e9, 1e-9])
def test_units_of_the_target_do_not_matter(factor, penalize):
    phi, t = random_problem(1, n=60, m=30)
    base, scaled = (RegularizedForwardRegressor("passthrough", penalize=penalize).fit(phi, y) for y in (t, t * factor))
    np.testing.assert_array_equal(scaled.trace_["index"], base.trace_["index"])
    np.testing.assert_array_equal(scaled.active_, base.active_)
    np.testing.assert_allclose(scaled.coef_ / factor, base.coef_, rtol=1e-6)
    assert scaled.criterion_ == pytest.approx(base.criterion_ * factor**2, rel=1e-6)


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@PENALTIES
@pytest.mark.parametrize("gamma", [1e-8, 1e-4, 1e-2, 1.0, 1e6])
@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_kernels_of_any_width_end_in_a_sound_model(gamma, moments, penalize):
    X, y = make_friedman2(80, noise=125, random_state=0)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    model = RegularizedForwardRegressor(KernelBasis(gamma=gamma), penalize=penalize, moments=moments).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    size = len(model.active_)
    path = model.trace_["index"][:size]
    phi = rbf(X, X, gamma)[:, path]
    if size and gamma in (1e-2, 1.0):
        expected = value(phi, y, model.posterior_.ridges[0], penalize, intercept=True)
        assert model.criterion_ == pytest.approx(expected, rel=1e-3)
        assert model.trace_["criterion"][size - 1] == pytest.approx(expected, rel=1e-3)


@PENALTIES
def test_it_finds_good_models(penalize):
    X, y = make_friedman2(1200, noise=125, random_state=3)
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    model = RegularizedForwardRegressor(KernelBasis(gamma=0.2), penalize=penalize).fit(X[:200], y[:200])
    assert 5 <= len(model.active_) <= 30
    noise_share = 125**2 / y.var()
    assert model.score(X[200:], y[200:]) > 1 - noise_share - 0.03


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": -1.0}, 'ridge must be "gcv", or a finite number of at least 0 .* got -1.0'),
        ({"ridge": np.inf}, 'ridge must be "gcv", or a finite number'),
        ({"ridge": "bic"}, "got 'bic'"),
        ({"ridge": True}, "got True"),
        ({"ridge": None}, "got None"),
        ({"penalize": "none"}, r"penalize must be one of \['weights', 'orthogonal'\], got 'none'"),
        ({"patience": 1.5}, "patience must be a whole number"),
        ({"n_basis": 0}, "n_basis must be a whole number"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        RegularizedForwardRegressor("passthrough", **parameters).fit(*random_problem(0))

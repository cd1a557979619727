"""The estimators that minimise generalized cross validation, against dense matrices."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes

from skarce import FastGCVRegressor, KernelBasis, LocalRidgeRegressor, Outcome, SparseRegressor
from skarce.criteria import GCV
from skarce.designs import RowBlocks
from skarce.methods.held_precision import run_held_precision
from skarce.methods.local_ridge import run_local_ridge
from skarce.searches import BestAction
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import contrasts, gcv, random_problem, rbf
from tests.searches.test_schedules import largest_gain_of_gcv
from tests.states.test_active_set import moments_of

MODELS = {
    "fast": FastGCVRegressor(),
    "sequential": FastGCVRegressor(solver="sequential"),
    "printed noise update": FastGCVRegressor(noise_update="paper"),
    "local ridges": LocalRidgeRegressor(),
    "local ridges, once out": LocalRidgeRegressor(readmit=False),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param].set_params(basis=KernelBasis(gamma=0.3))


@pytest.fixture
def sinc(rng):
    X = rng.uniform(-10, 10, (120, 1))
    return X, np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 120)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fitted_attributes_are_what_they_say(sinc, model, fit_intercept):
    X, y = sinc
    model.set_params(fit_intercept=fit_intercept).fit(X, y)
    phi = rbf(X, X, 0.3)[:, model.active_]
    ridges = model.weight_precision_ * model.noise_variance_
    np.testing.assert_allclose(model.criterion_, gcv(phi, y, ridges, intercept=fit_intercept), rtol=1e-7)
    assert model.criterion_sense_ == -1
    inside, t = (contrasts(120).T @ phi, contrasts(120).T @ y) if fit_intercept else (phi, y)
    residual = y - model.predict(X)
    freedom = len(t) - np.trace(inside @ np.linalg.solve(inside.T @ inside + np.diag(ridges), inside.T))
    np.testing.assert_allclose(model.noise_variance_, residual @ residual / freedom, rtol=1e-7)  # eq. 8
    np.testing.assert_allclose(model.predict(X), phi @ model.coef_ + model.intercept_)
    np.testing.assert_allclose(model.trace_["criterion"][-1], model.criterion_, rtol=1e-6)
    assert model.trace_["n_active"][-1] == len(model.active_)
    assert fit_intercept or model.intercept_ == 0.0
    assert model.outcome_ is Outcome.CONVERGED


@pytest.mark.parametrize("readmit", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_local_ridges_end_at_a_minimum_in_every_coordinate(seed, readmit):
    phi, t = random_problem(seed, n=40, m=25)
    journal = Journal(Budget(tol=1e-4))
    found = run_local_ridge(moments_of(phi, t), journal, None, readmit)
    assert found.outcome is Outcome.CONVERGED
    assert len(found.active) < 25
    columns = phi if readmit else phi[:, found.active]
    active = found.active if readmit else np.arange(len(found.active))
    assert largest_gain_of_gcv(columns, t, active, found.ridges, 40) < 1e-3
    assert (np.diff(journal.trace()["criterion"]) > -1e-9).all()
    expected = -0.5 * 40 * np.log(gcv(phi[:, found.active], t, found.ridges) / 40)
    np.testing.assert_allclose(journal.score, expected, rtol=1e-8)


def test_a_cycle_of_local_ridges_is_what_dense_one_dimensional_searches_give():
    """Every ridge in turn, the strongest column first, by a fine scan with N x N matrices."""
    phi, t = random_problem(0, n=25, m=6)
    found = run_local_ridge(moments_of(phi, t), Journal(Budget(max_steps=1)), 5.0, False)
    order = np.argsort(-((phi.T @ t) ** 2) / (phi**2).sum(axis=0))
    ridges = np.full(6, 5.0)
    for j in order:
        scan = (phi[:, j] ** 2).sum() * np.geomspace(1e-12, 1e12, 4000)
        values = []
        for r in scan:
            trial = ridges.copy()
            trial[j] = r
            values.append(gcv(phi, t, trial))
        ridges[j] = scan[np.argmin(values)]
    kept = np.flatnonzero(ridges < 1e11 * (phi**2).sum(axis=0))
    assert sorted(found.active) == sorted(kept)
    order = np.argsort(found.active)
    inner = ridges[kept] > 1e-11 * (phi[:, kept] ** 2).sum(axis=0)
    np.testing.assert_allclose(found.ridges[order][inner], ridges[kept][inner], rtol=0.03)


def test_initial_ridge_and_readmission_change_the_path(sinc):
    X, y = sinc
    models = [LocalRidgeRegressor(initial_ridge=r).fit(X, y) for r in (None, 1e-3, 1e3)]
    assert all(m.criterion_ < 0.02 for m in models)
    with pytest.raises(ValueError, match=r"initial_ridge must be positive and finite, or None; got -1"):
        LocalRidgeRegressor(initial_ridge=-1.0).fit(X, y)


@pytest.mark.parametrize("gamma", [0.003, 0.01])
def test_local_ridges_never_end_above_a_value_they_had(gamma):
    """Wide kernels, where an explicit inverse loses its digits: a cycle that raised V is taken back."""
    X, y = load_diabetes(return_X_y=True)
    model = LocalRidgeRegressor(KernelBasis(gamma=100 * gamma)).fit(X[:150], y[:150])
    assert model.outcome_ in (Outcome.CONVERGED, Outcome.ILL_CONDITIONED)
    assert (np.diff(model.trace_["criterion"]) < 1e-6 * y.var()).all()
    assert model.criterion_ < 1.01 * model.trace_["criterion"].min()


def test_a_cycle_of_local_ridges_that_raised_v_is_taken_back(rng):
    """Here rounding does raise V; without taking back, the trace would rise, or the result be far from it."""
    X = rng.uniform(-10, 10, (150, 1))
    y = np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 150)
    model = LocalRidgeRegressor(KernelBasis(gamma=0.01)).fit(X, y)
    assert (np.diff(model.trace_["criterion"]) < 0.0).all()
    assert model.criterion_ < 1.01 * model.trace_["criterion"].min()


def test_an_integer_ridge_is_the_same_as_a_float(sinc):
    X, y = sinc
    models = [LocalRidgeRegressor(initial_ridge=r).fit(X, y) for r in (2, 2.0)]
    np.testing.assert_array_equal(models[0].active_, models[1].active_)
    with pytest.raises(ValueError, match="initial_ridge must be positive and finite, or None; got 'foo'"):
        LocalRidgeRegressor(initial_ridge="foo").fit(X, y)


def test_what_is_no_criterion_or_search_is_named(sinc):
    for wrong in ("gcv", GCV):
        with pytest.raises(TypeError, match=r"criterion must be an object of skarce.criteria, such as GCV\(\)"):
            SparseRegressor(criterion=wrong).fit(*sinc)
    with pytest.raises(TypeError, match=r"search must be an object of skarce.searches"):
        SparseRegressor(search="forward").fit(*sinc)


def test_max_active_keeps_the_functions_of_largest_effect(sinc):
    X, y = sinc
    model = LocalRidgeRegressor(max_active=3).fit(X, y)
    assert (len(model.active_), model.outcome_) == (3, Outcome.SIZE_LIMIT)


def test_held_precisions_follow_the_printed_steps():
    """Replayed densely: after every action the noise of eq. 8, and every ridge times its change."""
    phi, t = random_problem(2, n=40, m=15)
    noise, before = 0.1 * (t @ t) / 40, {}
    n_checked = 0
    for n_steps in range(1, 15):
        journal = Journal(Budget(max_steps=n_steps))
        found = run_held_precision(GCV(), moments_of(phi, t), journal)
        index = journal.trace()["index"][-1]
        after = dict(zip(found.active.tolist(), found.ridges, strict=True))
        if set(after) == {index}:
            p, o, tt = phi[:, index] @ phi[:, index], phi[:, index] @ t, t @ t
            acted = {index: max(p * (tt * p - o**2) / (40 * o**2 - tt * p), noise / (tt / 40) / 40)}
        else:
            factors = [after[j] / before[j] for j in before if j in after and j != index]
            np.testing.assert_allclose(factors, factors[0], rtol=1e-9)
            acted = {j: ridge / factors[0] for j, ridge in after.items()}
        fresh = noise_of(phi, t, acted)
        np.testing.assert_allclose(list(after.values()), np.array(list(acted.values())) * fresh / noise, rtol=1e-6)
        noise, before, n_checked = fresh, after, n_checked + 1
    assert n_checked == 14
    assert found.outcome is Outcome.STEP_LIMIT


def noise_of(phi, t, ridges):
    inside = phi[:, list(ridges)]
    P = np.linalg.inv(np.eye(len(t)) + (inside / list(ridges.values())) @ inside.T)
    return t @ P @ P @ t / np.trace(P)


def test_units_do_not_matter_to_the_printed_update_either(sinc):
    X, y = sinc
    models = [FastGCVRegressor(noise_update="paper").fit(X, factor * y) for factor in (1.0, 1e3, 1e-9)]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].active_, other.active_)


@pytest.mark.parametrize("factor", [1e9, 1e-9, 1e-150, 1e150])
def test_units_of_the_target_do_not_matter(sinc, model, factor):
    X, y = sinc
    plain = model.fit(X, y)
    active, coef = plain.active_, plain.coef_
    scaled = model.fit(X, factor * y)
    np.testing.assert_array_equal(scaled.active_, active)
    np.testing.assert_allclose(scaled.coef_ / factor, coef, rtol=1e-4, atol=1e-9 * np.abs(coef).max())


@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(rng, model, moments):
    X = rng.uniform(-4, 4, (70, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + rng.normal(0, 0.3, 70)
    weights = rng.integers(0, 4, 70)
    model.set_params(moments=moments)
    weighted = model.fit(X, y, sample_weight=weights)
    active, criterion, mean = weighted.active_, weighted.criterion_, weighted.predict(X)
    repeated = model.fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_array_equal(active, repeated.active_)
    np.testing.assert_allclose(criterion, repeated.criterion_, rtol=1e-7)
    np.testing.assert_allclose(mean, repeated.predict(X), rtol=1e-4, atol=1e-6)


def test_row_blocks_give_the_same_model_as_memory(rng):
    X = rng.uniform(-4, 4, (600, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(0, 0.2, 600)
    basis = KernelBasis(gamma=0.5, centers=X[:50])
    direct = FastGCVRegressor(basis, moments="whole").fit(X, y)
    for kind in ("whole", "columns"):
        streamed = FastGCVRegressor(basis, moments=kind).fit(RowBlocks.from_arrays(X, y, block_rows=77))
        # By column the candidates come in pools, which may lead to another minimum nearby.
        np.testing.assert_allclose(streamed.criterion_, direct.criterion_, rtol=1e-6 if kind == "whole" else 0.02)


def test_two_outputs(rng, model):
    X = rng.uniform(-4, 4, (80, 2))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + rng.normal(0, 0.1, (80, 2))
    mean, std = model.fit(X, Y).predict(X, return_std=True)
    assert mean.shape == std.shape == (80, 2)
    singles = [clone(model).fit(X, Y[:, k]) for k in range(2)]
    np.testing.assert_allclose(model.criterion_, sum(s.criterion_ for s in singles), rtol=1e-6)


def test_sparse_regressor_with_gcv_is_the_sequential_one(sinc):
    X, y = sinc
    generic = SparseRegressor(criterion=GCV(), search=BestAction()).fit(X, y)
    named = FastGCVRegressor(solver="sequential").fit(X, y)
    np.testing.assert_array_equal(generic.active_, named.active_)
    assert generic.criterion_ == named.criterion_


def test_unknown_words_are_named(sinc):
    with pytest.raises(ValueError, match=r"solver must be one of \['fast', 'sequential'\], got 'em'"):
        FastGCVRegressor(solver="em").fit(*sinc)
    with pytest.raises(ValueError, match=r"noise_update must be one of \['held', 'paper'\], got 'x'"):
        FastGCVRegressor(noise_update="x").fit(*sinc)
    with pytest.raises(ValueError, match=r"lowest_ridge must be"):
        GCV(-1.0)


def test_intervals_cover():
    inside = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-6, 6, (500, 1))
        y = np.sin(X[:, 0]) + rng.normal(0, 0.3, 500)
        mean, std = FastGCVRegressor(KernelBasis(gamma=0.5)).fit(X[:300], y[:300]).predict(X[300:], return_std=True)
        inside.append(np.abs(y[300:] - mean) < 1.96 * std)
    assert 0.93 < np.mean(inside) < 0.97

"""Adaptive sparseness against its printed update and its closed form."""

import time
from itertools import combinations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from skarce import JeffreysPriorRegressor, KernelBasis, Outcome
from skarce.methods.jeffreys import JeffreysEM
from tests.methods.test_jeffreys import em
from tests.oracles import gcv, rbf


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fitted_attributes_are_what_they_say(sinc, fit_intercept):
    X, y = sinc
    model = JeffreysPriorRegressor(KernelBasis(gamma=0.1), fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    phi = rbf(X, X, 0.1)[:, model.active_]
    np.testing.assert_allclose(model.predict(X), phi @ model.dual_coef_ + model.intercept_)
    ridges = model.weight_precision_ * model.noise_variance_
    np.testing.assert_allclose(model.criterion_, gcv(phi, y, ridges, intercept=fit_intercept), rtol=1e-6)
    residual = y - model.predict(X)
    noise = residual @ residual / (120 - fit_intercept)
    np.testing.assert_allclose(ridges, noise / model.dual_coef_**2, rtol=1e-5)
    assert model.criterion_sense_ == -1
    assert model.trace_["criterion"][-1] == pytest.approx(model.criterion_, rel=1e-6)
    assert model.trace_["n_active"][-1] == len(model.active_) < 20
    assert np.count_nonzero(model.dual_coef_) == len(model.active_)


def test_the_start_decides_how_many_functions_stay(sinc):
    X, y = sinc
    sizes = [len(JeffreysPriorRegressor("rbf", initial_ridge=ridge).fit(X, y).active_) for ridge in (1e-4, 1.0, 100.0)]
    assert sizes[0] > sizes[2]


def test_the_noise_is_bounded_below(rng):
    X = rng.normal(size=(40, 120))
    with pytest.warns(ConvergenceWarning, match="interpolates"):
        model = JeffreysPriorRegressor("passthrough", size_prior=None).fit(X, rng.normal(size=40))
    assert model.outcome_ is Outcome.NO_NOISE
    assert 30 < len(model.active_) < 45
    assert np.isfinite(model.predict(X, return_std=True)).all()


def test_no_step_takes_the_noise_below_its_bound(rng):
    phi, t = rng.normal(size=(20, 60)), rng.normal(size=20)
    state = em(phi, t, 1e-12)
    for _ in range(5):
        assert state.noise == pytest.approx(1e-10 * t @ t / 20)
        state.step()


def test_units_of_the_target_do_not_matter(sinc):
    X, y = sinc
    model, scaled = (JeffreysPriorRegressor("rbf").fit(X, t) for t in (y, y * 1e9))
    np.testing.assert_array_equal(scaled.active_, model.active_)
    np.testing.assert_allclose(scaled.dual_coef_ / 1e9, model.dual_coef_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The candidates explain the target:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("noisy", [True, False])
def test_the_last_entry_of_the_trace_is_the_criterion_even_if_nothing_is_left(rng, noisy):
    X = rng.normal(size=(40, 120))
    y = rng.normal(size=40) if noisy else X[:, 3] - X[:, 5]
    model = JeffreysPriorRegressor("passthrough", size_prior=None).fit(X, y)
    assert model.outcome_ is Outcome.NO_NOISE
    assert model.trace_["criterion"][-1] == pytest.approx(model.criterion_, rel=0.01)
    ridges = model.weight_precision_ * model.noise_variance_
    if noisy:
        assert model.criterion_ == pytest.approx(gcv(X[:, model.active_], y, ridges, intercept=True), rel=1e-3)


def test_max_active_is_a_cap(sinc):
    model = JeffreysPriorRegressor("rbf", max_active=2).fit(*sinc)
    assert len(model.active_) == 2
    assert model.outcome_ is Outcome.SIZE_LIMIT
    assert model.trace_["n_active"][-1] == 2
    assert model.trace_["criterion"][-1] == pytest.approx(model.criterion_, rel=1e-6)


@pytest.mark.parametrize("n_kept", [2, 3, 4])
def test_a_cap_keeps_functions_that_explain_much(sinc, n_kept):
    X, y = sinc
    basis = KernelBasis(gamma=0.3)
    free, capped = JeffreysPriorRegressor(basis).fit(X, y), JeffreysPriorRegressor(basis, max_active=n_kept).fit(X, y)
    assert set(capped.active_) < set(free.active_)

    def residual(active):
        phi = np.column_stack([rbf(X, X[list(active)], 0.3), np.ones(len(X))])
        return ((y - phi @ np.linalg.lstsq(phi, y, rcond=None)[0]) ** 2).sum()

    every = sorted(map(residual, combinations(free.active_, n_kept)))
    assert residual(capped.active_) <= 1.1 * every[0] < every[len(every) // 4]


def test_no_step_is_begun_that_would_not_end_in_time(sinc, monkeypatch):
    now = [0.0]
    plain = JeffreysEM.step
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def step(state):
        now[0] += 10.0
        return plain(state)

    monkeypatch.setattr(JeffreysEM, "step", step)
    with pytest.warns(ConvergenceWarning, match="Raise max_time"):
        model = JeffreysPriorRegressor("rbf", max_time=55.0).fit(*sinc)
    assert len(model.trace_) == 4  # another step and the model after it would take until 60
    assert model.outcome_ is Outcome.TIME_LIMIT
    now[0] = 0.0
    with pytest.warns(ConvergenceWarning, match="Raise max_time"):
        model = JeffreysPriorRegressor("rbf", max_time=0.0).fit(*sinc)
    assert len(model.trace_) == 0
    X, y = sinc
    phi = rbf(X, X, 1 / X.var())
    phi -= phi.mean(axis=0)
    np.testing.assert_allclose(
        model.predict(X), y.mean() + phi @ np.linalg.solve(phi.T @ phi + 0.01 * np.eye(120), phi.T @ (y - y.mean())), atol=1e-6
    )


@pytest.mark.parametrize("ridge", [0.0, -1.0, np.inf, "gcv", None, True])
def test_a_start_that_is_none_is_named(sinc, ridge):
    with pytest.raises(ValueError, match="initial_ridge must be positive and finite"):
        JeffreysPriorRegressor("rbf", initial_ridge=ridge).fit(*sinc)


def test_too_many_candidates_are_said(sinc):
    with config_context(working_memory=0.1), pytest.raises(ValueError, match="starts from all 120 candidates"):
        JeffreysPriorRegressor("rbf").fit(*sinc)

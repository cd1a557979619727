"""Streams of single rows: a quick way that is checked as well as the general one, and models near those of all rows."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from skarce import Outcome, VBLSRegressor
from skarce.criteria.variational import bound
from skarce.estimators.row_by_row import Following
from skarce.methods.variational import row_steps
from skarce.methods.variational.direct import iterate, resume
from skarce.moments import Moments, WholeGram
from skarce.states.fit import Fit
from skarce.states.journal import Journal

WEIGHTS = np.array([3.0, -2.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.0])


def rows_of(n, seed=0, weights=WEIGHTS):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(weights))) + rng.uniform(-1, 1, len(weights))
    return X, X @ weights + 4.0 + rng.normal(size=n)


def one_by_one(model, X, y):
    for row, target in zip(X, y, strict=True):
        model.partial_fit(row[None], np.array([target]))
    return model


def begun(n=100, **parameters):
    """A model that single rows have come to."""
    X, y = rows_of(n)
    model = one_by_one(VBLSRegressor(**parameters).partial_fit(X[:-2], y[:-2]), X[-2:], y[-2:])
    assert isinstance(model._following_rows, Following)
    assert len(model._stream.recent) > 0
    return model


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_noise_and_bound_are_exact_for_the_ridges_after_every_row(fit_intercept, forgetting):
    X, y = rows_of(160)
    model = VBLSRegressor(fit_intercept=fit_intercept, forgetting=forgetting).partial_fit(X[:90], y[:90])
    n_quick = 0
    for n in range(91, 161):
        one_by_one(model, X[n - 1 : n], y[n - 1 : n])
        n_quick += len(model._stream.recent) > 0
        ages = np.concatenate([np.full(90, n - 90), np.arange(n - 91, -1, -1)])
        w, A, ridges = forgetting ** ages.astype(float), model.active_, model.posterior_.ridges
        total = w.sum()
        means, target_mean = (w @ X[:n, A] / total, w @ y[:n] / total) if fit_intercept else (np.zeros(len(A)), 0.0)
        phi, t = X[:n, A] - means, y[:n] - target_mean
        H = phi.T @ (w[:, None] * phi) + np.diag(ridges)
        weights = np.linalg.solve(H, phi.T @ (w * t))
        energy = w @ (t - phi @ weights) ** 2 + ridges @ weights**2
        n_samples = total - fit_intercept
        np.testing.assert_allclose(model.coef_[A], weights, rtol=1e-8)
        np.testing.assert_allclose(model.intercept_, target_mean - means @ weights, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.posterior_.covariance, energy / n_samples * np.linalg.inv(H), rtol=1e-7)
        assert model.noise_variance_ == pytest.approx(energy / n_samples, rel=1e-9)
        relative = ridges / (w @ phi**2)
        expected = bound(n_samples, energy, energy / n_samples, relative) - 0.5 * n_samples * np.log(2 * np.pi)
        assert model.criterion_ == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(model.relevance_[A], model.posterior_.well_determined, rtol=1e-9)
        assert model.n_effective_ == pytest.approx(total)
    assert n_quick > 40


def converged(model, X, y):
    """The fixed point of the bound that the model is on its way to, and the bound at its present ridges."""
    phi, t = X - X.mean(axis=0), y - y.mean()
    moments = Moments(WholeGram(phi.T @ phi), phi.T @ t, float(t @ t), len(y) - 1.0)
    fixed = resume(moments, np.arange(X.shape[1]), Fit(model.active_, model.posterior_.ridges, Outcome.FOLLOWING))
    now = fixed.bound
    iterate(fixed, Journal(), fewest=50)
    return fixed, now


@pytest.mark.parametrize("seed", range(3))
def test_ridges_are_never_far_from_their_fixed_point(seed):
    """The bound is at most 0.1 below it, and predictions differ by at most 0.05 standard deviations of the noise."""
    X, y = rows_of(300, seed, np.concatenate([WEIGHTS, np.zeros(12)]))
    model = VBLSRegressor().partial_fit(X[:60], y[:60])
    for n in range(61, 301):
        one_by_one(model, X[n - 1 : n], y[n - 1 : n])
        fixed, now = converged(model, X[:n], y[:n])
        if len(fixed) == len(model.active_):  # else a weight of no importance was about to leave
            predicted = (X[:, fixed.candidates] - X[:n, fixed.candidates].mean(axis=0)) @ fixed.weights + y[:n].mean()
            assert fixed.bound - now < 0.1
            assert np.sqrt(np.mean((model.predict(X) - predicted) ** 2)) < 0.05


def test_errors_along_the_stream_are_those_of_models_that_are_solved_from_scratch():
    """The mean square of the distance to the truth, over ten streams, is at most a fifth larger."""
    weights, errors = np.concatenate([WEIGHTS, np.zeros(12)]), []
    for seed in range(10):
        X, y = rows_of(300, seed, weights)
        model = VBLSRegressor().partial_fit(X[:60], y[:60])
        for n in range(61, 301):
            one_by_one(model, X[n - 1 : n], y[n - 1 : n])
            if n % 30 == 7:
                models = model, VBLSRegressor().fit(X[:n], y[:n])
                errors.append([np.mean((m.predict(X) - X @ weights - 4.0) ** 2) for m in models])
    followed, exact = np.mean(errors, axis=0)
    assert followed < 1.2 * exact


def test_sums_lose_nothing():
    X, y = rows_of(300)
    model = one_by_one(VBLSRegressor().partial_fit(X[:100], y[:100]), X[100:299], y[100:299])
    model.set_params(restarts="always").partial_fit(X[299:], y[299:])
    whole = VBLSRegressor().fit(X, y)
    np.testing.assert_array_equal(model.active_, whole.active_)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-7)


def test_a_model_is_solved_from_scratch_when_the_rows_have_doubled():
    X, y = rows_of(200)
    model = one_by_one(VBLSRegressor().partial_fit(X[:100], y[:100]), X[100:199], y[100:199])
    assert model.outcome_ is Outcome.FOLLOWING
    one_by_one(model, X[199:], y[199:])
    assert model.outcome_ is Outcome.CONVERGED
    np.testing.assert_allclose(model.predict(X), VBLSRegressor().fit(X, y).predict(X), rtol=1e-7)


def test_pruned_inputs_come_back_and_others_leave():
    X, y = rows_of(200)
    model = VBLSRegressor(forgetting=0.97).partial_fit(X, y)
    changed = np.array([3.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.5, 0.0])
    one_by_one(model, *rows_of(150, seed=1, weights=changed))
    assert 2 in model.active_
    np.testing.assert_allclose(model.coef_, changed, atol=0.8)


WRONG = {
    "not a number": lambda X, y: (X * np.nan, y),
    "infinite": lambda X, y: (X, y + np.inf),
    "too large": lambda X, y: (X * 1e70, y),
    "a huge target": lambda X, y: (X, y * 1e200),
    "columns": lambda X, y: (X[:, 1:], y),
    "dimensions": lambda X, y: (X[0], y),
    "targets": lambda X, y: (X, np.repeat(y, 2)),
    "two outputs": lambda X, y: (X, np.column_stack([y, y])),
    "text": lambda X, y: (X, np.array(["a"])),
    "no rows": lambda X, y: (X[:0], y[:0]),
    "sample weight": lambda X, y: (X, y, [-1.0]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_row_changes_nothing_and_raises_as_in_a_larger_batch(name):
    model, (X, y) = begun(), rows_of(1, seed=5)
    general = copy.copy(model)
    general._following_rows = None
    before = pickle.dumps(vars(model))
    with pytest.raises(ValueError) as of_general:
        general.partial_fit(*WRONG[name](X, y))
    with pytest.raises(ValueError) as of_row:
        model.partial_fit(*WRONG[name](X, y))
    assert str(of_row.value) == str(of_general.value)
    assert pickle.dumps(vars(model)) == before


@pytest.mark.parametrize("parameters", [{"tol": -1.0}, {"forgetting": 2.0}, {"prior": "arid"}, {"fit_intercept": False}])
def test_changed_parameters_are_checked(parameters):
    model, (X, y) = begun(), rows_of(1, seed=5)
    model.set_params(**parameters)
    with pytest.raises(ValueError):
        model.partial_fit(X, y)


def test_names_of_inputs_are_compared():
    model, (X, y) = begun(), rows_of(1, seed=5)
    with pytest.warns(UserWarning, match="feature names"):
        model.partial_fit(pd.DataFrame(X, columns=list("abcdefgh")), y)


def test_a_row_that_failed_can_be_given_again(monkeypatch):
    model, other, (X, y) = begun(), begun(), rows_of(1, seed=5)
    before = pickle.dumps(vars(model))
    with monkeypatch.context() as patch:
        patch.setattr(row_steps.FollowedModel, "posterior", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model.partial_fit(X, y)
    assert pickle.dumps(vars(model)) == before
    np.testing.assert_array_equal(model.partial_fit(X, y).coef_, other.partial_fit(X, y).coef_)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_go_on_by_themselves(way):
    model, (X, y) = begun(), rows_of(40, seed=5)
    one, other = way(model), way(model)
    one_by_one(one, X[20:], y[20:])
    np.testing.assert_allclose(one_by_one(other, X, y).coef_, one_by_one(begun(), X, y).coef_, rtol=1e-3)
    assert model.n_effective_ == 100.0


@pytest.mark.parametrize(
    "parameters",
    [
        {"restarts": "always"},
        {"prior": "shared"},
        {"prior": np.arange(8)},
        {"max_active": 2},
        {"significance": 0.01},
        {"solver": "em"},
    ],
)
def test_what_a_step_for_each_row_does_not_do_takes_the_general_way(parameters):
    X, y = rows_of(60)
    model = one_by_one(VBLSRegressor(**parameters).partial_fit(X[:50], y[:50]), X[50:], y[50:])
    assert model._following_rows is None
    assert model.n_effective_ == 60.0

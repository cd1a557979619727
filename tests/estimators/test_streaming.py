"""Streams: moments are kept, rows are not."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.preprocessing import PolynomialFeatures

import skarce.designs.stream
from skarce import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    KernelBasis,
    LocalRidgeRegressor,
    OrthogonalLeastSquaresRegressor,
    Outcome,
    RegularizedForwardRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.methods.variational import growth as variational_growth
from skarce.methods.variational import stream as variational_stream

CENTERS = np.linspace(-4, 4, 12)[:, None]

ESTIMATORS = {
    "vbls": VBLSRegressor(restarts="always"),
    "vbls, groups": VBLSRegressor(prior=[0, 0, 1, 1, 2, 2], restarts="always"),
    "vbls, shared": VBLSRegressor(prior="shared"),
    "vbls, none": VBLSRegressor(prior="none"),
    "vbls, no intercept": VBLSRegressor(restarts="always", fit_intercept=False),
    "vbls-rvm": VBLSRegressor(KernelBasis(gamma=0.5, centers=CENTERS.repeat(6, 1)), restarts="always"),
    "frvm": RelevanceVectorRegressor("passthrough"),
    "frvm, landmarks": RelevanceVectorRegressor(KernelBasis(gamma=0.1, centers=CENTERS.repeat(6, 1))),
    "fgcv": FastGCVRegressor("passthrough"),
    "orr": LocalRidgeRegressor("passthrough"),
    "ols": OrthogonalLeastSquaresRegressor("passthrough"),
    "rfs": RegularizedForwardRegressor("passthrough"),
    "abf": EvidenceRegressor("passthrough"),
    "ssge": EvidenceSearchRegressor("passthrough"),
    "transformer": RelevanceVectorRegressor(PolynomialFeatures(2, include_bias=False)),
}


def stream(seed=0, n=300, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.uniform(-1, 1, d)
    return X, 2 * X[:, 0] - X[:, 2] + 0.3 * X[:, 3] + 4 + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("cuts", [(150,), (1, 2, 40, 41, 299), ()])
def test_any_split_into_batches_gives_the_fit_to_all_rows(name, cuts):
    X, y = stream()
    model = clone(ESTIMATORS[name])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Least squares with as many candidates as rows")  # the first batches
        for part in np.split(np.arange(300), cuts):
            model.partial_fit(X[part], y[part])
    whole = clone(ESTIMATORS[name]).fit(X, y)
    np.testing.assert_array_equal(model.active_, whole.active_)
    tight = 1e-8 if name.startswith("vbls") else 1e-5
    np.testing.assert_allclose(model._weights, whole._weights, rtol=tight, atol=tight * np.abs(whole._weights).max())
    assert model.criterion_ == pytest.approx(whole.criterion_, rel=1e-7)
    _, std = model.predict(X[:5], return_std=True)
    np.testing.assert_allclose(std, whole.predict(X[:5], return_std=True)[1], rtol=1e-6)


@pytest.mark.parametrize("moments", ["auto", "columns"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_stream_goes_on_after_a_fit(name, moments):
    X, y = stream()
    model = (
        clone(ESTIMATORS[name])
        .set_params(moments=moments)
        .fit(X[:100], y[:100])
        .partial_fit(X[100:180], y[100:180])
        .partial_fit(X[180:], y[180:])
    )
    whole = clone(ESTIMATORS[name]).fit(X, y)
    np.testing.assert_array_equal(model.active_, whole.active_)
    np.testing.assert_allclose(model._weights, whole._weights, rtol=1e-5, atol=1e-5 * np.abs(whole._weights).max())
    assert model.criterion_ == pytest.approx(whole.criterion_, rel=1e-7)


def test_forgetting_is_a_weight_that_fades_with_every_batch():
    X, y = stream()
    model = VBLSRegressor(restarts="always", forgetting=0.95)
    ages = np.repeat(np.arange(10)[::-1], 30)
    for part in np.split(np.arange(300), 10):
        model.partial_fit(X[part], y[part])
    weighted = VBLSRegressor().fit(X, y, sample_weight=0.95**ages)
    np.testing.assert_allclose(model.coef_, weighted.coef_, rtol=1e-8)
    assert model.posterior_.n_samples == pytest.approx((0.95**ages).sum())


def test_sample_weights_count_rows_in_a_stream():
    X, y = stream()
    counts = np.random.default_rng(1).integers(0, 3, 300)
    model, repeated = VBLSRegressor(restarts="always"), VBLSRegressor(restarts="always")
    for part in np.split(np.arange(300), 3):
        model.partial_fit(X[part], y[part], sample_weight=counts[part])
        repeated.partial_fit(np.repeat(X[part], counts[part], 0), np.repeat(y[part], counts[part]))
    np.testing.assert_allclose(model.coef_, repeated.coef_, rtol=1e-8)


def test_a_model_that_follows_the_stream_stays_near_the_fit_to_all_rows():
    for seed in range(5):
        X, y = stream(seed, n=600, d=30)
        model = VBLSRegressor()
        for part in np.split(np.arange(600), 60):
            model.partial_fit(X[part], y[part])
        assert model.outcome_ is Outcome.FOLLOWING
        whole = VBLSRegressor().fit(X, y)
        assert {0, 2, 3} <= set(model.active_)
        # Fixed points are many, and candidates at the border of significance may differ.
        assert model.criterion_ > whole.criterion_ - 5
        np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=0.3)


def tracking_errors(seed):
    """The error of the weights after each of 60 batches of ten rows; two of them jump after 30."""
    rng = np.random.default_rng(seed)
    weights = np.zeros(20)
    weights[:4] = [3.0, -2.0, 1.5, 1.0]
    model, errors = VBLSRegressor(forgetting=0.9), []
    for batch in range(60):
        if batch == 30:
            weights[2], weights[10] = -1.5, 2.0
        X = rng.normal(size=(10, 20))
        model.partial_fit(X, X @ weights + rng.normal(size=10))
        errors.append(np.linalg.norm(model.coef_ - weights))
    return errors


def test_after_a_jump_the_weights_are_found_again(monkeypatch):
    with_test = np.mean([tracking_errors(seed) for seed in range(10)], axis=0)
    assert with_test[29] < 0.25
    assert with_test[30] > 2.5
    assert with_test[50] < 0.25 * with_test[30]
    assert with_test[59] < 0.4
    monkeypatch.setattr(variational_stream, "with_best_outside", lambda model, labels, limits: None)
    without = np.mean([tracking_errors(seed) for seed in range(10)], axis=0)
    assert without[45] > 1.3 * with_test[45]


def test_an_input_that_was_pruned_comes_back():
    rng = np.random.default_rng(0)
    model = VBLSRegressor()
    X = rng.normal(size=(40, 5))
    model.partial_fit(X, X[:, 0] + 0.3 * rng.normal(size=40))
    assert 3 not in model.active_
    for _ in range(3):  # less than twice as many rows: not solved again
        X = rng.normal(size=(10, 5))
        model.partial_fit(X, X[:, 0] + 2 * X[:, 3] + 0.3 * rng.normal(size=10))
    assert model.outcome_ is Outcome.FOLLOWING
    assert 3 in model.active_


def test_the_best_candidate_outside_has_the_largest_t_statistic():
    from skarce.methods.variational.direct import resume
    from skarce.moments import Moments, WholeGram
    from skarce.states.fit import Fit

    X, y = stream(d=8)
    phi, t = X - X.mean(axis=0), y - y.mean()
    moments = Moments(WholeGram(phi.T @ phi), phi.T @ t, float(t @ t), 299.0)
    ridges = np.array([0.5, 0.2])
    model = resume(moments, np.arange(8), Fit(np.array([1, 4]), ridges, Outcome.FOLLOWING))
    best = variational_growth.best_outside(model, np.arange(8)).candidate
    P = np.eye(300) - phi[:, [1, 4]] @ np.linalg.solve(phi[:, [1, 4]].T @ phi[:, [1, 4]] + np.diag(ridges), phi[:, [1, 4]].T)
    statistics = (phi.T @ P @ t) ** 2 / np.einsum("nm,nk,km->m", phi, P, phi)
    statistics[[1, 4]] = 0
    assert best == statistics.argmax()
    assert model.precisions.noise == pytest.approx(t @ P @ t / 299)


def test_memory_does_not_grow_with_the_stream():
    X, y = stream(n=5000)
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.1, centers=X[:10]))
    sizes = []
    for part in np.split(np.arange(5000), 10):
        model.partial_fit(X[part], y[part])
        sizes.append(len(pickle.dumps(model)))
    assert sizes[-1] < 1.05 * sizes[3]
    rows, weights = model._augmentation_rows
    assert len(rows) == 1000
    assert weights.sum() == pytest.approx(5000)
    assert np.isfinite(model.predict(X[:3], return_std=True, std="augmented")[1]).all()


def test_a_stream_goes_on_after_a_pickle():
    X, y = stream()
    model = VBLSRegressor().partial_fit(X[:100], y[:100])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.partial_fit(X[100:], y[100:]).coef_, model.partial_fit(X[100:], y[100:]).coef_)


def test_several_outputs_in_a_stream():
    X, y = stream()
    Y = np.column_stack([y, X[:, 4] - y])
    model = VBLSRegressor()
    for part in np.split(np.arange(300), 30):
        model.partial_fit(X[part], Y[part])
    assert r2_score(Y, model.predict(X)) > 0.9
    with pytest.raises(ValueError, match="y has 1 outputs, but earlier batches had 2"):
        model.partial_fit(X, y)


def test_what_a_stream_cannot_do_is_named(monkeypatch):
    X, y = stream()
    with pytest.raises(AttributeError, match="partial_fit"):
        RelevanceVectorRegressor("rbf").partial_fit(X, y)
    assert not hasattr(VBLSRegressor("rbf"), "partial_fit")
    assert hasattr(VBLSRegressor(KernelBasis(centers=5)), "partial_fit")
    assert not hasattr(VBLSRegressor(noise="student-t"), "partial_fit")
    assert hasattr(BackwardEliminationRegressor("passthrough"), "partial_fit")
    with pytest.raises(AttributeError) as refused:
        BackwardEliminationRegressor("passthrough", weight_variance=1.0).partial_fit(X, y)
    assert 'weight_variance="learned"' in str(refused.value)
    monkeypatch.setattr(skarce.designs.stream, "KEPT_BYTES", 100)
    with pytest.raises(ValueError, match="or begin with partial_fit"):
        VBLSRegressor().fit(X, y).partial_fit(X, y)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="forgetting must be above 0"):
        VBLSRegressor(forgetting=0.0).partial_fit(X, y)
    with pytest.raises(ValueError, match="6 features"):
        VBLSRegressor().partial_fit(X, y).partial_fit(X[:, :3], y)
    with config_context(working_memory=1e-4), pytest.raises(ValueError, match="a stream, which keeps the Gram matrix of all 6"):
        VBLSRegressor().partial_fit(X, y)
    # fit begins anew, whatever was streamed before.
    streamed = VBLSRegressor().partial_fit(X[:50], y[:50]).fit(X, y)
    np.testing.assert_array_equal(streamed.coef_, VBLSRegressor().fit(X, y).coef_)


def test_a_first_batch_that_is_too_small_for_the_landmarks(rng):
    X = rng.normal(size=(40, 2))
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=20))
    for rows in (slice(0, 1), slice(0, 19), np.arange(40) % 19):
        with pytest.raises(ValueError, match=r"centers=20 asks .* has (1|19) distinct rows .* larger first batch, or an array"):
            model.partial_fit(X[rows], X[rows, 0])
    assert not hasattr(model, "posterior_")
    model.partial_fit(X[:20], X[:20, 0]).partial_fit(X[20:21], X[20:21, 0])
    assert len(model.relevance_) == 20
    given = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=X[:20])).partial_fit(X[:1], X[:1, 0])
    assert len(given.relevance_) == 20

"""Noise with heavy tails."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from skarce import VBLSRegressor
from skarce.designs import RowBlocks
from tests.estimators.test_vbls import PRIORS, correlated


@pytest.fixture(params=PRIORS)
def prior(request):
    return PRIORS[request.param]


def with_outliers(seed):
    X, clean, b = correlated(seed, n=200)
    rng = np.random.default_rng(seed)
    y = clean.copy()
    y[rng.choice(200, 10, replace=False)] += rng.choice([-1, 1], 10) * rng.uniform(20, 60, 10)
    return X, clean, y, b


def test_gross_outliers_hardly_move_the_weights(prior):
    errors = {"clean": [], "robust": [], "plain": []}
    for seed in range(10):
        X, clean, y, b = with_outliers(seed)
        for name, target, noise in (("clean", clean, "gaussian"), ("robust", y, "student-t"), ("plain", y, "gaussian")):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", category=ConvergenceWarning)
                model = VBLSRegressor(noise=noise, **prior).fit(X, target)
            errors[name].append(np.linalg.norm(model.coef_ - b))
    clean, robust, plain = (np.mean(errors[name]) for name in ("clean", "robust", "plain"))
    assert robust < 2 * clean
    assert plain > 2 * robust


def test_rounds_of_weights_never_lower_the_bound(prior):
    for seed in range(3):
        X, _, y, _ = with_outliers(seed)
        model = VBLSRegressor(noise="student-t", **prior).fit(X, y)
        assert np.diff(model.trace_["criterion"]).min(initial=0.0) > -1e-9
        assert model.criterion_ == pytest.approx(model.trace_["criterion"][-1], rel=1e-12)
        assert model.criterion_ == pytest.approx(model.trace_["criterion"][-1])


def test_the_bound_with_heavy_tails_and_no_prior_is_the_likelihood_at_its_maximum():
    X, _, y, _ = with_outliers(0)
    X, y = X - X.mean(axis=0), y - np.median(y)
    model = VBLSRegressor(prior="none", noise="student-t", degrees_of_freedom=3.0, fit_intercept=False).fit(X, y)

    def log_likelihood(weights, scale):
        return stats.t.logpdf(y, 3.0, X @ weights, scale).sum()

    # The noise of least squares counts the weights that were fitted.
    scale = np.sqrt(model.noise_variance_)
    assert model.criterion_ == pytest.approx(log_likelihood(model.coef_, scale), rel=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert log_likelihood(model.coef_ + 0.02 * rng.normal(size=12), scale) < model.criterion_


def test_many_degrees_of_freedom_are_normal_noise():
    X, y, _ = correlated()
    normal, heavy = VBLSRegressor().fit(X, y), VBLSRegressor(noise="student-t", degrees_of_freedom=1e7).fit(X, y)
    np.testing.assert_allclose(heavy.coef_, normal.coef_, rtol=1e-5)
    assert heavy.criterion_ == pytest.approx(normal.criterion_, abs=1e-3)
    learned = VBLSRegressor(noise="student-t").fit(X, y)
    assert learned.posterior_.noise_freedom > 10
    np.testing.assert_allclose(learned.predict(X), normal.predict(X), atol=0.1)


def test_the_std_allows_for_heavy_tails():
    X, _, y, _ = with_outliers(1)
    model = VBLSRegressor(noise="student-t", degrees_of_freedom=4.0).fit(X, y)
    _, std = model.predict(X[:3], return_std=True)
    assert (std**2 > 2.0 * model.noise_variance_).all()  # nu / (nu - 2) = 2


def test_weight_two_is_the_row_twice_with_heavy_tails():
    X, _, y, _ = with_outliers(2)
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = VBLSRegressor(noise="student-t").fit(X, y, sample_weight=counts)
    repeated = VBLSRegressor(noise="student-t").fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-4, atol=1e-4)
    assert weighted.criterion_ == pytest.approx(repeated.criterion_, rel=1e-5)


def test_heavy_tails_need_the_rows():
    X, y, _ = correlated()
    with pytest.raises(ValueError, match="needs them in memory"):
        VBLSRegressor(noise="student-t").fit(RowBlocks.from_arrays(X, y))
    with pytest.raises(AttributeError, match="partial_fit"):
        VBLSRegressor(noise="student-t").partial_fit(X, y)


@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_fit_without_error_has_hardly_any_noise(n_rows):
    rng = np.random.default_rng(n_rows)
    X, y = rng.normal(size=(n_rows, n_rows)), rng.normal(size=n_rows)
    model = VBLSRegressor("passthrough", prior="none", noise="student-t", fit_intercept=False)
    with np.errstate(all="raise"), pytest.warns(ConvergenceWarning, match="as many candidates as rows"):
        model.fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)
    assert 0.0 < model.noise_variance_ < 1e-15
    assert np.isfinite(model.criterion_)

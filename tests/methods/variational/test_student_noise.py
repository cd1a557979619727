"""Noise with heavy tails."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from skarce import VBLSRegressor
from skarce.designs import RowBlocks
from skarce.inspection import summary
from skarce.likelihoods.student_t import information_share
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


def slow_share(z, freedom, counts, n_determined):
    """The sandwich for a constant, with derivatives of the log density by finite differences, relative to the row weights."""
    n, step = counts.sum(), 1e-3
    at = [stats.t.logpdf(z + k * step, freedom) for k in (-2, -1, 0, 1, 2)]
    scores = (at[0] - 8 * at[1] + 8 * at[3] - at[4]) / (12 * step)
    curvatures = -(-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * step**2)
    information = counts @ curvatures
    correction = 1 + n_determined / n * np.average((curvatures - information / n) ** 2, weights=counts) / (information / n) ** 2
    variance = correction**2 * n / (n - n_determined) * (counts @ scores**2) / information**2
    return 1 / (variance * (counts @ ((freedom + 1) / (freedom + z**2))))


@pytest.mark.parametrize(("freedom", "scale"), [(2.1, 1.0), (5.0, 1.0), (40.0, 1.05)])
def test_the_share_of_information_is_the_sandwich_by_finite_differences(freedom, scale):
    rng = np.random.default_rng(0)
    z, counts = scale * rng.standard_t(freedom, 300), rng.integers(0, 3, 300).astype(float)
    share = information_share(z, freedom, counts, 7.5)
    assert share == pytest.approx(slow_share(z, freedom, counts, 7.5), rel=1e-6)
    assert share < 1.0


@pytest.mark.parametrize("freedom", [2.1, 3.0, 10.0, 100.0])
def test_the_share_of_information_in_many_rows_is_that_of_fisher(freedom):
    z = stats.t.ppf((np.arange(100_000) + 0.5) / 100_000, freedom)
    assert information_share(z, freedom, np.ones(len(z)), 0.0) == pytest.approx((freedom + 1) / (freedom + 3), rel=1e-3)


def test_the_share_of_information_without_residuals_is_one_and_never_zero():
    assert information_share(np.zeros(5), 3.0, np.ones(5), 2.0) == 1.0
    assert 0.0 < information_share(np.full(5, 1e3), 3.0, np.ones(5), 5.0) <= 1.0  # a scale that is far too small


@pytest.mark.parametrize("has_intercept", [True, False])
def test_everything_that_is_said_about_weights_has_the_information_of_the_noise(prior, has_intercept):
    X, _, y, _ = with_outliers(3)
    model = VBLSRegressor(noise="student-t", calibrate_std=False, fit_intercept=has_intercept, **prior).fit(X, y)
    posterior, scale, freedom = model.posterior_, np.sqrt(model.noise_variance_), model.posterior_.noise_freedom
    residuals = y - model.predict(X)
    share = slow_share(residuals / scale, freedom, np.ones(200), 200 - posterior.degrees_of_freedom)
    # Weights of rows as the variational posterior sees them, with the variance of the fit: here only to three digits.
    tau = (freedom + 1) / (freedom + (residuals / scale) ** 2)
    phi = X[:, model.active_] - (posterior.center if has_intercept else 0.0)
    precision = share * (phi.T * tau) @ phi + np.diag(posterior.ridges)
    covariance = model.noise_variance_ * np.linalg.inv(precision)
    assert 0.3 < posterior.information < 0.8
    np.testing.assert_allclose(posterior.information, share, rtol=0.02)
    np.testing.assert_allclose(posterior.covariance, covariance, rtol=0.06, atol=0.06 * np.abs(covariance).max())
    std = np.sqrt(posterior.covariance.diagonal())
    np.testing.assert_allclose(model.coef_std_[model.active_], std)
    np.testing.assert_allclose(summary(model)["std"].iloc[int(has_intercept) :], std)
    np.testing.assert_allclose(model.coef_tests().statistic, posterior.mean / std)
    low, high = model.coef_interval(0.9).T
    np.testing.assert_allclose((high - low) / (2 * std), stats.t.ppf(0.95, posterior.degrees_of_freedom))
    level = has_intercept * model.noise_variance_ / (posterior.information * 200)
    of_weights = np.einsum("ij,jk,ik->i", phi, posterior.covariance, phi) + level
    noise = model.noise_variance_ * freedom / (freedom - 2)
    np.testing.assert_allclose(model.predict(X, return_std=True)[1] ** 2, noise + of_weights, rtol=1e-9)
    joint = model.predict(X[:9], return_cov=True)[1]
    np.testing.assert_allclose(joint.diagonal(), (noise + of_weights)[:9])
    np.testing.assert_allclose(joint[0, 1], phi[0] @ posterior.covariance @ phi[1] + level)


def with_noise_of(kind, rng, n):
    if kind == "t3":
        return 0.4 * rng.standard_t(3.0, n)
    noise = 0.5 * rng.normal(size=n)
    if kind == "outliers":
        far = rng.choice(n, n // 40, replace=False)
        noise[far] += rng.choice([-1, 1], len(far)) * rng.uniform(10, 30, len(far))
    return noise


@pytest.mark.parametrize("kind", ["normal", "t3", "outliers"])
def test_intervals_of_weights_cover_the_truth_with_heavy_tails(kind):
    """The complete-data information of the weighted rows covered 87 % with t noise, and 83 % with outliers."""
    truth, inside, ratios = np.array([1.0, 1.0, -0.7, 0.5]), [], []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 3))
        table = summary(
            VBLSRegressor(noise="student-t", prior="none").fit(X, truth[0] + X @ truth[1:] + with_noise_of(kind, rng, 200))
        )
        inside.append((table["lower"] < truth) & (truth < table["upper"]))
        ratios.append((table["coefficient"] - truth) / table["std"])
    # 480 intervals: 0.95 with a standard deviation of 0.01, and a ratio of one with 0.033.
    assert 0.92 < np.mean(inside) < 0.98
    assert 0.9 < np.sqrt(np.mean(np.square(ratios))) < 1.1


def test_normal_noise_has_all_information_and_much_freedom_nearly_all():
    X, y, _ = correlated()
    assert VBLSRegressor().fit(X, y).posterior_.information == 1.0
    normal = VBLSRegressor(prior="none").fit(X, y)
    heavy = VBLSRegressor(prior="none", noise="student-t", degrees_of_freedom=1e7).fit(X, y)
    np.testing.assert_allclose(heavy.coef_std_, normal.coef_std_, rtol=1e-5)

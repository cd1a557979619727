"""What fitted models answer beside the mean: covariances, draws, log probabilities, and predictions in single precision."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import expit, log_expit, logsumexp

from skarce import (
    CriterionSearch,
    FastGCVRegressor,
    KernelBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from tests.estimator_lists import REGRESSORS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
N_DRAWS = 40_000


def problem(n_outputs=1, n=80):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.column_stack([X[:, 0] - 2.0 * X[:, 1], np.abs(X[:, 0]) + X[:, 2]])[:, :n_outputs] + 0.3 * rng.normal(size=(n, n_outputs))
    return X, y[:, 0] if n_outputs == 1 else y


QUERIES = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.35], [-2.0, 1.0, 0.5], [3.0, 3.0, -3.0], [0.0, 0.0, 0.0]])


# Covariance -----------------------------------------------------------------------------------------------------------------


def dense_covariance(posterior, phi, scale):
    """Textbook: Phi Sigma Phi' with the level of an intercept, and noise on the diagonal."""
    centered = phi - posterior.center
    latent = centered @ posterior.covariance @ centered.T
    if posterior.fit_intercept:
        latent = latent + posterior.noise_variance / posterior.n_samples
    noise = posterior.noise_variance
    if np.isfinite(posterior.noise_freedom):
        noise *= posterior.noise_freedom / (posterior.noise_freedom - 2.0)
    return scale**2 * (latent + noise * np.eye(len(phi)))


@pytest.mark.parametrize("basis", ["passthrough", "rbf"])
@pytest.mark.parametrize("estimator", REGRESSORS)
def test_the_covariance_is_that_of_weights_and_noise(estimator, basis):
    X, y = problem()
    model = estimator(basis, calibrate_std=True).fit(X, y)
    mean, covariance = model.predict(QUERIES, return_cov=True)
    plain, std = model.predict(QUERIES, return_std=True)
    np.testing.assert_array_equal(mean, plain)
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), std, rtol=1e-12)
    expected = dense_covariance(model.posterior_, model.basis_.transform(QUERIES), model.std_scale_)
    np.testing.assert_allclose(covariance, expected, rtol=1e-8, atol=1e-10 * expected.max())


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_covariance_of_several_targets(fit_intercept):
    X, y = problem(n_outputs=2)
    model = RelevanceVectorRegressor("rbf", fit_intercept=fit_intercept, calibrate_std=True).fit(X, y)
    _, covariance = model.predict(QUERIES, return_cov=True)
    _, std = model.predict(QUERIES, return_std=True)
    assert covariance.shape == (5, 5, 2)
    for output, posterior in enumerate(model.posterior_):
        np.testing.assert_allclose(np.sqrt(covariance[..., output].diagonal()), std[:, output], rtol=1e-12)
        phi = model.basis_.transform(QUERIES)[:, np.isin(model.active_, posterior.active)]
        expected = dense_covariance(posterior, phi, model.std_scale_[output])
        np.testing.assert_allclose(covariance[..., output], expected, rtol=1e-8, atol=1e-10 * expected.max())


def test_covariance_and_std_do_not_come_together():
    X, y = problem()
    model = RelevanceVectorRegressor("rbf").fit(X, y)
    with pytest.raises(RuntimeError, match="At most one of return_std or return_cov"):
        model.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match=r"return_cov=True is for std='plain'"):
        model.predict(X, std="augmented", return_cov=True)


def test_a_covariance_that_needs_too_much_memory_is_refused():
    X, y = problem()
    model = FastGCVRegressor("passthrough").fit(X, y)
    with pytest.raises(ValueError, match=r"the covariance of 20000 rows needs .* Predict fewer rows"):
        model.predict(np.zeros((20_000, 3)), return_cov=True)


# Draws ----------------------------------------------------------------------------------------------------------------------


def assert_moments_of(draws, mean, covariance, kurtosis=3.0):
    """Means and covariances of draws are within five standard errors of what they are to be."""
    n = draws.shape[1]
    deviations = draws - mean[:, None]
    std = np.sqrt(covariance.diagonal())
    assert (np.abs(deviations.mean(axis=1)) < 5.0 * std / np.sqrt(n)).all()
    products = np.multiply.outer(std, std)
    assert (np.abs(deviations @ deviations.T / n - covariance) < 5.0 * np.sqrt(kurtosis / n) * products).all()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("basis", ["passthrough", "rbf"])
def test_draws_have_the_mean_and_the_covariance_of_predict(basis, fit_intercept):
    X, y = problem(n=30)
    queries = np.vstack([QUERIES, [2.5, -2.5, -2.5], [2.4, -2.6, -2.5]])
    model = RelevanceVectorRegressor(basis, fit_intercept=fit_intercept, calibrate_std=True).fit(X, y)
    draws = model.sample_y(queries, N_DRAWS)
    assert draws.shape == (7, N_DRAWS)
    mean, covariance = model.predict(queries, return_cov=True)
    assert_moments_of(draws, mean, covariance)
    # Rows share their weights, and the test would see it if they did not.
    std = np.sqrt(covariance.diagonal())
    shared = covariance / np.multiply.outer(std, std) - np.eye(7)
    assert np.abs(shared).max() > 1.5 * 5.0 * np.sqrt(3.0 / N_DRAWS)


def test_draws_of_several_targets():
    X, y = problem(n_outputs=2)
    model = RelevanceVectorRegressor("rbf").fit(X, y)
    draws = model.sample_y(QUERIES, N_DRAWS, random_state=3)
    assert draws.shape == (5, 2, N_DRAWS)
    mean, covariance = model.predict(QUERIES, return_cov=True)
    for output in range(2):
        assert_moments_of(draws[:, output], mean[:, output], covariance[..., output])


def test_draws_with_heavy_tails_if_the_noise_has_them():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.1 * rng.standard_t(4.5, 300)
    model = VBLSRegressor(noise="student-t", calibrate_std=False).fit(X, y)
    posterior = model.posterior_
    assert 4.0 < posterior.noise_freedom < 20.0
    draws = model.sample_y(X[:1], N_DRAWS)[0]
    mean, std = model.predict(X[:1], return_std=True)
    kurtosis = 3.0 + 6.0 / (posterior.noise_freedom - 4.0)
    assert_moments_of(draws[None], mean, np.array([[std[0] ** 2]]), kurtosis)
    # The weights are well determined by 300 rows, so a draw is nearly the noise alone.
    noise = stats.t(posterior.noise_freedom, mean[0], np.sqrt(posterior.noise_variance))
    assert stats.kstest(draws, noise.cdf).statistic < 1.63 / np.sqrt(N_DRAWS) + 0.005
    normal = stats.norm(mean[0], std[0])
    assert stats.kstest(draws, normal.cdf).statistic > 1.63 / np.sqrt(N_DRAWS) + 0.005


def test_the_same_seed_gives_the_same_draws_at_the_same_rows():
    X, y = problem()
    model = RelevanceVectorRegressor("rbf").fit(X, y)
    np.testing.assert_array_equal(model.sample_y(X, 3), model.sample_y(X, 3, random_state=0))
    assert not np.array_equal(model.sample_y(X, 3), model.sample_y(X, 3, random_state=1))
    assert model.sample_y(X).shape == (80, 1)
    with pytest.raises(ValueError, match="n_samples"):
        model.sample_y(X, 0)


def test_draws_of_rows_in_parts_share_their_weights(monkeypatch):
    X, y = problem()
    model = RelevanceVectorRegressor("rbf").fit(X, y)
    whole = model.sample_y(X, 4)
    monkeypatch.setattr("skarce.estimators.on_basis.PREDICT_ROWS", 7)
    np.testing.assert_allclose(model.sample_y(X, 4), whole, rtol=1e-10)


@pytest.mark.parametrize("temperature", [1.0, 1.7])
def test_draws_of_counts(temperature):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (25, 1))
    model = RelevanceVectorPoissonRegressor("rbf", calibrate_proba=False).fit(X, rng.poisson(np.exp(1.0 + X[:, 0])))
    model.temperature_ = temperature
    queries = np.array([[1.5], [1.6], [-1.5]])
    draws = model.sample_y(queries, N_DRAWS)
    assert draws.shape == (3, N_DRAWS)
    assert (draws >= 0.0).all()
    np.testing.assert_array_equal(draws, np.round(draws))
    mean, std = model.predict(queries, return_std=True)
    for row, m, s in zip(draws, mean, std, strict=True):
        kurtosis = stats.kurtosis(row, fisher=False)
        assert abs(row.mean() - m) < 5.0 * s / np.sqrt(N_DRAWS)
        assert abs(row.var() - s**2) < 5.0 * s**2 * np.sqrt(kurtosis / N_DRAWS)
    if temperature == 1.0:
        shape, success = mean[0] ** 2 / (std[0] ** 2 - mean[0]), mean[0] / std[0] ** 2
        counts = np.arange(40)
        shares = (draws[0][:, None] <= counts).mean(axis=0)
        np.testing.assert_allclose(shares, stats.nbinom.cdf(counts, shape, success), atol=1.95 / np.sqrt(N_DRAWS))
    # Close rows have nearly one rate, so their counts vary together.
    assert np.corrcoef(draws[0], draws[1])[0, 1] > 0.05


def test_classifiers_have_no_draws():
    assert not hasattr(RelevanceVectorClassifier(), "sample_y")


# Log probabilities ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", [RelevanceVectorClassifier, VBLSClassifier])
def test_log_probabilities_are_logarithms_of_probabilities(estimator, n_classes):
    X, y = problem(n=150)
    labels = np.digitize(y, [0.0] if n_classes == 2 else [-1.0, 1.0])
    model = estimator("rbf").fit(X, labels)
    logs = model.predict_log_proba(X)
    np.testing.assert_allclose(np.exp(logs), model.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(logsumexp(logs, axis=1), 0.0, atol=1e-14)


def test_log_probabilities_do_not_underflow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    model = RelevanceVectorClassifier("passthrough", calibrate_proba=False).fit(X, (X[:, 0] + 0.3 * rng.normal(size=300) > 0.0) * 1)
    model.posterior_ = sure(model.posterior_)
    far = np.array([[-1e4], [1e4]])
    log_odds = model.decision_function(far)
    assert log_odds[0] < -1e3
    assert model.predict_proba(far)[0, 1] == 0.0
    np.testing.assert_allclose(model.predict_log_proba(far), np.column_stack([log_expit(-log_odds), log_expit(log_odds)]))
    assert model.predict_log_proba(far)[0, 1] == pytest.approx(log_odds[0])


def sure(posterior):
    """The same weights without uncertainty, which would moderate the log odds."""
    return replace(posterior, factor=1e9 * posterior.factor)


# Single precision -----------------------------------------------------------------------------------------------------------


def answers(model, X):
    """All arrays of numbers that a model returns at these inputs, by name."""
    found = {"predict": [model.predict(X)]} if not hasattr(model, "classes_") else {}
    for name in ("predict_interval", "latent", "decision_function", "predict_proba", "predict_log_proba", "sample_y"):
        if hasattr(model, name):
            values = getattr(model, name)(X)
            found[name] = list(values) if isinstance(values, tuple) else [values]
    if hasattr(model, "noise_variance_"):
        found["std"], found["covariance"] = list(model.predict(X, return_std=True)), list(model.predict(X, return_cov=True))
        if isinstance(model.basis_, KernelBasis):
            found["augmented"] = list(model.predict(X, return_std=True, std="augmented"))
    elif not hasattr(model, "classes_"):
        found["std"] = list(model.predict(X, return_std=True))
    else:
        found["odds"] = list(model.decision_function(X, return_std=True))
    return found


@pytest.mark.parametrize("basis", ["passthrough", "rbf"])
@pytest.mark.parametrize("estimator", [RelevanceVectorRegressor, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor])
@pytest.mark.parametrize("is_fitted_in_single", [False, True])
def test_predictions_have_the_precision_of_their_inputs(estimator, basis, is_fitted_in_single):
    X, y = problem()
    y = y if estimator is RelevanceVectorRegressor else np.digitize(y, [-1.0, 1.0])
    model = estimator(basis).fit(X.astype(np.float32) if is_fitted_in_single else X, y)
    single = X[:9].astype(np.float32)
    in_single, in_double = answers(model, single), answers(model, single.astype(np.float64))
    for name, values in in_single.items():
        for value, exact in zip(values, in_double[name], strict=True):
            assert value.dtype == np.float32, name
            assert exact.dtype == np.float64, name
            np.testing.assert_array_equal(value, exact.astype(np.float32), err_msg=name)  # computed in double


def test_sparse_rows_and_whole_numbers():
    X, y = problem()
    model = RelevanceVectorRegressor("passthrough").fit(X, y)
    assert model.predict(sparse.csr_array(X.astype(np.float32))).dtype == np.float32
    assert model.predict(np.ones((2, 3), dtype=int)).dtype == np.float64


def test_a_prediction_beyond_single_precision_is_an_error():
    X, y = problem()
    model = RelevanceVectorRegressor("passthrough").fit(X, 1e30 * y)
    assert np.isfinite(model.predict(np.full((1, 3), 1e12))).all()
    with pytest.raises(ValueError, match="row 0 of X is too large"):
        model.predict(np.full((1, 3), 1e12, dtype=np.float32))


def test_probabilities_are_those_of_the_log_odds():
    X, y = problem()
    model = RelevanceVectorClassifier("rbf").fit(X, y > 0.0)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)), rtol=1e-12)


def test_a_criterion_search_answers_like_its_best_model():
    X, y = problem()
    search = CriterionSearch(RelevanceVectorRegressor("rbf"), {"tol": [1e-3]}).fit(X, y)
    np.testing.assert_array_equal(search.sample_y(X, 3, random_state=1), search.best_estimator_.sample_y(X, 3, random_state=1))
    np.testing.assert_array_equal(search.predict(X, return_cov=True)[1], search.best_estimator_.predict(X, return_cov=True)[1])
    assert not hasattr(search, "predict_log_proba")
    search = CriterionSearch(RelevanceVectorClassifier("rbf"), {"tol": [1e-3]}).fit(X, y > 0.0)
    np.testing.assert_array_equal(search.predict_log_proba(X), search.best_estimator_.predict_log_proba(X))
    assert not hasattr(search, "sample_y")

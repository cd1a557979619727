"""Probabilities and counts, corrected by what left-out rows say."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from skarce import KernelBasis, PrimalSVMClassifier, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, VBLSClassifier
from skarce.likelihoods.poisson import count_log_density, count_quantiles
from skarce.model_selection.calibration import dispersion, log_odds_of_shares, temperature
from skarce.moments.folds import fold_numbers
from skarce.posteriors.latent import LatentPosterior
from tests.estimator_lists import LATENT

NARROW = KernelBasis(gamma=8.0)
CLASSIFIERS = (RelevanceVectorClassifier, VBLSClassifier)


def classes(n=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    return X, (rng.uniform(size=n) < expit(2.0 * X[:, 0] - 1.0)).astype(int)


def counts(n=150, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 1))
    mean = np.exp(2.0 + np.sin(X[:, 0]))
    return X, rng.poisson(mean) if spread == 1.0 else rng.negative_binomial(mean / (spread - 1.0), 1.0 / spread)


@pytest.mark.parametrize("made", CLASSIFIERS)
def test_the_temperature_is_that_of_five_refits(made):
    X, y = classes()
    model = made("passthrough", calibrate_proba=True).fit(X, y)
    numbers, log_odds = fold_numbers(X), np.empty((100, 1))
    for fold in range(5):
        other = made("passthrough", calibrate_proba=False).fit(X[numbers != fold], y[numbers != fold])
        log_odds[numbers == fold, 0] = other.decision_function(X[numbers == fold])
    center = log_odds_of_shares(y[:, None].astype(float), np.ones(100))
    assert model.temperature_ == pytest.approx(temperature(log_odds, y[:, None], np.ones(100), center), rel=1e-4)


@pytest.mark.parametrize("made", CLASSIFIERS)
def test_log_odds_are_drawn_to_those_of_the_shares(made):
    X, y = classes()
    plain, scaled = (made(NARROW, calibrate_proba=choice).fit(X, y) for choice in (False, True))
    assert plain.temperature_ == 1.0
    assert scaled.temperature_ > 1.2
    center = log_odds_of_shares(y[:, None].astype(float), np.ones(100))[0]
    expected = center + (plain.decision_function(X) - center) / scaled.temperature_
    np.testing.assert_allclose(scaled.decision_function(X), expected)
    np.testing.assert_allclose(scaled.predict_proba(X)[:, 1], expit(expected))
    np.testing.assert_array_equal(scaled.predict(X), (expected > 0.0).astype(int))
    np.testing.assert_array_equal(scaled.latent(X), plain.latent(X))
    assert isinstance(scaled.posterior_, LatentPosterior)


@pytest.mark.parametrize("made", CLASSIFIERS)
def test_three_classes(made):
    X, y = make_blobs(90, centers=3, cluster_std=3.0, random_state=0)
    model = made(NARROW, calibrate_proba=True).fit(X, np.array(["a", "b", "c"])[y])
    assert model.temperature_ > 1.2
    odds = expit(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), odds / odds.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("made", LATENT)
def test_auto_calibrates_few_rows(made):
    X, y = counts(1000, seed=3)
    y = y if made is RelevanceVectorPoissonRegressor else y > 8
    few = made("passthrough").fit(X[:999], y[:999]).temperature_
    assert few == made("passthrough", calibrate_proba=True).fit(X[:999], y[:999]).temperature_
    many = made("passthrough").fit(X, y).temperature_
    # a margin is no probability, however many rows there are
    assert many == (made("passthrough", calibrate_proba=True).fit(X, y).temperature_ if made is PrimalSVMClassifier else 1.0)


@pytest.mark.parametrize("made", LATENT)
def test_splitters_and_wrong_ones(made):
    X, y = counts()
    y = y if made is RelevanceVectorPoissonRegressor else y > 8
    splits = list(KFold(3).split(X))
    one, two = (made("passthrough", calibrate_proba=choice).fit(X, y).temperature_ for choice in (KFold(3), splits))
    assert one == two
    with pytest.raises(ValueError, match="calibrate_proba must"):
        made("passthrough", calibrate_proba="yes").fit(X, y)
    with pytest.raises(ValueError, match="calibrate_proba must"):
        made("passthrough", calibrate_proba=[(np.arange(3), [500])]).fit(X, y)


def test_splitters_see_the_labels():
    X, y = classes()
    labels = np.array(["no", "yes"])[y]
    assert RelevanceVectorClassifier("passthrough", calibrate_proba=StratifiedKFold(5)).fit(X, labels).temperature_ > 0.0


@pytest.mark.parametrize("made", CLASSIFIERS)
def test_few_rows_of_each_class(made):
    X, _ = classes(8)
    assert made("passthrough", calibrate_proba=True).fit(X, np.arange(8) == 2).temperature_ > 0.0
    with pytest.warns(ConvergenceWarning, match="equal rows"):
        assert made("passthrough", calibrate_proba=True).fit(np.ones((8, 2)), np.arange(8) % 2).temperature_ == 1.0


# Counts ----------------------------------------------------------------------------------------------------------------------


def test_the_dispersion_is_that_of_five_refits_with_their_exposures():
    X, y = counts(spread=4.0)
    exposures = np.random.default_rng(1).uniform(0.5, 3.0, 150)
    model = RelevanceVectorPoissonRegressor("passthrough", calibrate_proba=True).fit(X, y / exposures, exposures)
    numbers, mean, variance = fold_numbers(X), np.empty(150), np.empty(150)
    for fold in range(5):
        fitted, left = numbers != fold, numbers == fold
        other = RelevanceVectorPoissonRegressor("passthrough", calibrate_proba=False)
        latent, std = other.fit(X[fitted], y[fitted] / exposures[fitted], exposures[fitted]).latent(X[left])
        mean[left] = exposures[left] * np.exp(latent)
        variance[left] = mean[left] + std**2 * mean[left] ** 2
    assert model.temperature_ == pytest.approx(dispersion(y, mean, variance), rel=1e-3)


def test_counts_that_vary_more_have_a_larger_std():
    X, y = counts(800, spread=4.0)
    plain, scaled = (RelevanceVectorPoissonRegressor(calibrate_proba=choice).fit(X, y) for choice in (False, True))
    assert scaled.temperature_ == pytest.approx(4.0, rel=0.25)
    (mean, std), (same, raw) = (model.predict(X, return_std=True) for model in (scaled, plain))
    np.testing.assert_array_equal(mean, same)
    np.testing.assert_allclose(std, np.sqrt(scaled.temperature_) * raw)


@pytest.mark.parametrize("spread", [1.0, 4.0])
def test_intervals_cover_new_counts(spread):
    X, y = counts(800, spread=spread)
    new, drawn = counts(5000, seed=1, spread=spread)
    model = RelevanceVectorPoissonRegressor().fit(X, y)
    for coverage in (0.5, 0.95):
        lower, upper = model.predict_interval(new, coverage)
        np.testing.assert_array_equal(lower, np.round(lower))
        assert coverage - 0.02 < np.mean((lower <= drawn) & (drawn <= upper)) < coverage + 0.12  # counts are whole
    with pytest.raises(ValueError, match="coverage must be"):
        model.predict_interval(new, coverage=1.0)


def test_quantiles_and_densities_of_counts_are_those_of_the_distributions():
    tails = np.array([[0.1], [0.9]])
    mean, variance = np.array([3.0, 3.0, 0.2]), np.array([3.0, 12.0, 0.1])
    expected = [stats.poisson(3.0), stats.nbinom(1.0, 0.25), stats.poisson(0.2)]
    np.testing.assert_array_equal(count_quantiles(tails, mean, variance), np.column_stack([d.ppf(tails[:, 0]) for d in expected]))
    for k in (0.0, 1.0, 7.0):
        np.testing.assert_allclose(count_log_density(np.full(3, k), mean, variance), [d.logpmf(k) for d in expected])


def test_quantiles_of_large_counts():
    tails = np.array([[0.025], [0.5], [0.975]])
    mean, variance = np.full(3, 3e6), np.array([3e6, 1e9, 3e12])  # Poisson, and two that are spread
    expected = [stats.poisson(3e6), stats.nbinom(3e6 / (1e9 / 3e6 - 1.0), 3e6 / 1e9), stats.nbinom(3e6 / (1e6 - 1.0), 1e-6)]
    found = count_quantiles(tails, mean, variance)
    for column, distribution in zip(found.T, expected, strict=True):
        np.testing.assert_allclose(column, distribution.ppf(tails[:, 0]), rtol=1e-4)


def test_quantiles_of_extreme_rates_are_in_order():
    mean = np.array([0.0, 1e-300, 1e12, 1e12, 1e200, np.inf, 5.0])
    variance = np.array([0.0, 1e-300, 1e12, 1e14, 1e300, np.inf, np.inf])
    lower, upper = count_quantiles(np.array([[0.025], [0.975]]), mean, variance)
    assert (lower <= upper).all()
    assert upper[2] - lower[2] == pytest.approx(2 * 1.96e6, rel=1e-3)
    assert upper[3] - lower[3] == pytest.approx(2 * 1.96e7, rel=1e-3)


@pytest.mark.parametrize("made", CLASSIFIERS)
def test_probabilities_of_new_rows_are_better(made):
    """Kernels that are far too narrow fit single rows."""
    basis, losses = KernelBasis(gamma=3.0), {False: [], True: []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-3, 3, (1100, 4))
        y = rng.uniform(size=1100) < expit(2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1])
        for choice, found in losses.items():
            model = made(basis, calibrate_proba=choice).fit(X[:100], y[:100])
            found.append(log_loss(y[100:], model.predict_proba(X[100:])))
    assert np.mean(losses[True]) < np.mean(losses[False]) - 0.1

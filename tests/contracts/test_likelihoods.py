"""One body for every likelihood: densities, their derivatives, and what they predict."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import gamma, norm, poisson, t

from skarce.likelihoods import Bernoulli, Gaussian, Observations, Poisson, StudentT

NUMBERS = np.array([-30.0, -1.0, 0.0, 0.5, 2.0, 40.0])
ONE_BY_ONE = {
    Bernoulli(): np.array([0.0, 1.0]),
    Poisson(): np.array([0.0, 1.0, 3.0, 17.0, 250.0]),
}  # likelihoods of whole numbers, and targets
CONTINUOUS = {
    Gaussian(): NUMBERS,
    Gaussian(noise_variance=0.3): NUMBERS,
    StudentT(4.0): NUMBERS,
    StudentT(2.5, scale=3.0): NUMBERS,
}
EVERY = [pytest.param(likelihood, targets, id=repr(likelihood)) for likelihood, targets in (ONE_BY_ONE | CONTINUOUS).items()]
EVERY_LIKELIHOOD = [pytest.param(likelihood, id=repr(likelihood)) for likelihood in ONE_BY_ONE | CONTINUOUS]
BOUNDED = [case for case in EVERY if not isinstance(case.values[0], Poisson)]
LATENT = np.array([-40.0, -8.0, -1.5, -0.1, 0.0, 0.3, 2.0, 6.0])
STEP = 1e-4


def pairs(targets, latent=LATENT):
    """Every target at every latent value."""
    return tuple(A.ravel() for A in np.meshgrid(targets, latent, indexing="ij"))


def central(function, latent):
    """The derivative by differences, to fourth order."""
    near, far = (function(latent + s) - function(latent - s) for s in (STEP, 2.0 * STEP))
    return (8.0 * near - far) / (12.0 * STEP)


# Densities -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("likelihood", "targets"), EVERY)
def test_slopes_are_those_of_the_log_density(likelihood, targets):
    targets, latent = pairs(targets)
    slopes = likelihood.slopes(targets, latent)
    size = 1.0 + np.abs(likelihood.slopes(targets, latent)[0]) + np.abs(likelihood.log_density(targets, latent))
    first = central(lambda f: likelihood.log_density(targets, f), latent)
    np.testing.assert_array_less(np.abs(slopes.first - first), 1e-9 * size)
    curvature = -central(lambda f: likelihood.slopes(targets, f).first, latent)
    np.testing.assert_allclose(slopes.curvature, curvature, rtol=1e-8, atol=1e-9)
    third = central(lambda f: likelihood.slopes(targets, f).curvature, latent)
    np.testing.assert_allclose(slopes.third, third, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(("likelihood", "targets"), EVERY)
def test_extremes_are_numbers_and_never_warn(likelihood, targets):
    targets, latent = pairs(targets, np.array([-1e6, -800.0, 800.0, 1e6]))
    with np.errstate(all="raise", under="ignore"):
        answers = [likelihood.log_density(targets, latent), *likelihood.slopes(targets, latent)]
        observations = Observations.of(likelihood, targets, np.full(len(targets), 1e3))
        assert np.isfinite(observations.log_likelihood(latent))
    assert all(np.isfinite(answer).all() for answer in answers)


@pytest.mark.parametrize(("likelihood", "targets"), BOUNDED)
def test_no_curvature_is_above_the_largest(likelihood, targets):
    targets, latent = pairs(targets, np.linspace(-50.0, 50.0, 401))
    assert (likelihood.slopes(targets, latent).curvature <= likelihood.largest_curvature(targets) * (1.0 + 1e-12)).all()


def test_without_a_bound_it_is_the_curvature_of_a_perfect_fit_or_of_the_level():
    targets, weights = np.array([0.0, 0.5, 4.0, 100.0]), np.array([1.0, 2.0, 3.0, 0.5])
    observations = Observations.of(Poisson(), targets, weights)
    best = np.log(np.maximum(targets, 1e-300))
    expected = np.maximum(*(Poisson().slopes(targets, f).curvature for f in (best, np.full(4, observations.level))))
    np.testing.assert_allclose(observations.largest_curvature(), weights * expected)


@pytest.mark.parametrize(("likelihood", "targets"), EVERY)
def test_a_log_concave_density_is_never_curved_upwards(likelihood, targets):
    targets, latent = pairs(targets, np.linspace(-50.0, 50.0, 401))
    assert (likelihood.slopes(targets, latent).curvature.min() >= 0.0) == likelihood.is_log_concave


@pytest.mark.parametrize(("likelihood", "targets"), EVERY)
def test_loss_and_offset_are_the_log_density_in_two_parts(likelihood, targets):
    targets, latent = pairs(targets)
    parts = likelihood.offset(targets) - likelihood.loss(targets, latent)
    np.testing.assert_allclose(parts, likelihood.log_density(targets, latent), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("latent", [-8.0, -0.5, 0.0, 1.0, 4.0])
@pytest.mark.parametrize("likelihood", EVERY_LIKELIHOOD)
def test_densities_add_up_to_one(likelihood, latent):
    def density(target):
        return np.exp(likelihood.log_density(np.array([target]), np.array([latent]))[0])

    if likelihood in CONTINUOUS:
        total = sum(quad(density, *ends, limit=200)[0] for ends in ((-np.inf, latent), (latent, np.inf)))
    else:
        total = sum(density(float(k)) for k in range(2 if isinstance(likelihood, Bernoulli) else 400))
    assert total == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("likelihood", [Poisson(), StudentT(2.5, scale=3.0)])
def test_densities_are_those_of_scipy(likelihood):
    targets, latent = pairs(np.array([0.0, 1.0, 7.0, 120.0]), np.array([-3.0, 0.0, 4.0]))
    expected = poisson.logpmf(targets, np.exp(latent)) if isinstance(likelihood, Poisson) else t.logpdf(targets, 2.5, latent, 3.0)
    np.testing.assert_allclose(likelihood.log_density(targets, latent), expected, rtol=1e-12, atol=1e-12)


# Predictions -----------------------------------------------------------------------------------------------------------------


def expectation(likelihood, function, mean, variance):
    """E of a function of f with this mode and this inverse curvature, by the trapezoidal rule, which is exact to rounding here.

    f is normal; that of counts is the logarithm of a gamma variable: log p(f) = (f - e^(f - m)) / v + constant.
    """
    if isinstance(likelihood, Poisson):
        f = np.linspace(mean - 40.0 * max(variance, np.sqrt(variance)), mean + 14.0 * np.sqrt(variance), 200_001)
        density = np.exp((f - mean - np.expm1(f - mean)) / variance)
    else:
        f = mean + np.sqrt(variance) * np.linspace(-14.0, 14.0, 4001)
        density = norm.pdf(f, mean, np.sqrt(variance))
    return density @ function(f) / density.sum()


def given(likelihood, latent):
    """Mean and variance of the target where f is known."""
    return likelihood.mean(latent, np.zeros_like(latent)), likelihood.variance(latent, np.zeros_like(latent))


@pytest.mark.parametrize(("mean", "variance"), [(-3.0, 0.2), (0.0, 1e-8), (0.5, 1.0), (1.0, 4.0)])
@pytest.mark.parametrize("likelihood", EVERY_LIKELIHOOD)
def test_predictions_are_means_over_the_latent_function(likelihood, mean, variance):
    """Var t = E Var(t | f) + Var E(t | f)."""
    first = expectation(likelihood, lambda f: given(likelihood, f)[0], mean, variance)
    inner = expectation(likelihood, lambda f: given(likelihood, f)[1], mean, variance)
    outer = expectation(likelihood, lambda f: (given(likelihood, f)[0] - first) ** 2, mean, variance)
    m, v = np.array([mean]), np.array([variance])
    assert likelihood.mean(m, v)[0] == pytest.approx(first, rel=1e-7, abs=1e-8)
    assert likelihood.variance(m, v)[0] == pytest.approx(inner + outer, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("events", [1, 3, 40])
def test_the_rate_of_a_constant_is_exact(events):
    """The posterior of a rate with k events in 10 rows, under a flat prior of its logarithm, is Gamma(k, 1/10)."""
    latent = np.array([np.log(events / 10.0)])
    curvature = 10.0 * Poisson().slopes(np.zeros(1), latent).curvature
    assert Poisson().mean(latent, 1.0 / curvature)[0] == pytest.approx(gamma.mean(events, scale=0.1))
    expected = gamma.mean(events, scale=0.1) + gamma.var(events, scale=0.1)
    assert Poisson().variance(latent, 1.0 / curvature)[0] == pytest.approx(expected)


@pytest.mark.parametrize("latent", [-2.0, 0.0, 1.5])
@pytest.mark.parametrize("likelihood", EVERY_LIKELIHOOD)
def test_mean_and_variance_given_f_are_those_of_the_density(likelihood, latent):
    def density(target):
        return np.exp(likelihood.log_density(np.array([target]), np.array([latent]))[0])

    mean, variance = (answer[0] for answer in given(likelihood, np.array([latent])))
    if likelihood in CONTINUOUS:
        halves = [(-np.inf, latent), (latent, np.inf)]
        first = sum(quad(lambda x: x * density(x), *ends, limit=500)[0] for ends in halves)
        second = sum(quad(lambda x: (x - mean) ** 2 * density(x), *ends, limit=500)[0] for ends in halves)
    else:
        targets = np.arange(2.0 if isinstance(likelihood, Bernoulli) else 200.0)
        shares = np.array([density(target) for target in targets])
        first, second = shares @ targets, shares @ (targets - mean) ** 2
    assert first == pytest.approx(mean, abs=1e-6)
    assert second == pytest.approx(variance, rel=1e-3)


def test_uncertain_rates_beyond_all_numbers_are_infinite_and_never_warn():
    mean, variance = np.array([800.0, 800.0, -800.0, 3.0]), np.array([0.0, 2000.0, 1.0, 0.0])
    with np.errstate(all="raise", under="ignore"):
        expected, spread = Poisson().mean(mean, variance), Poisson().variance(mean, variance)
    np.testing.assert_allclose(expected, [np.inf, np.inf, 0.0, np.exp(3.0)])
    np.testing.assert_allclose(spread, [np.inf, np.inf, 0.0, np.exp(3.0)])


def test_a_noise_without_a_variance_says_so():
    assert StudentT(2.0).variance(np.zeros(1), np.ones(1))[0] == np.inf
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="degrees_of_freedom must be positive and finite"):
            StudentT(wrong)
        with pytest.raises(ValueError, match="scale must be positive and finite"):
            StudentT(3.0, wrong)


# Observations ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("likelihood", "targets"), EVERY)
def test_weights_are_repeated_rows(likelihood, targets):
    counts = np.arange(len(targets)) % 3 + 1
    weighted = Observations.of(likelihood, targets, counts.astype(float))
    repeated = Observations.of(likelihood, np.repeat(targets, counts))
    latent = np.linspace(-1.0, 2.0, len(targets))
    assert weighted.level == pytest.approx(repeated.level)
    assert weighted.log_likelihood(latent) == pytest.approx(repeated.log_likelihood(np.repeat(latent, counts)))
    for one, other in zip(weighted.slopes(latent), repeated.slopes(np.repeat(latent, counts)), strict=True):
        assert one.sum() == pytest.approx(other.sum(), abs=1e-12)
    assert weighted.largest_curvature().sum() == pytest.approx(repeated.largest_curvature().sum())


@pytest.mark.parametrize(("likelihood", "targets"), EVERY)
def test_the_latent_function_is_counted_from_the_level(likelihood, targets):
    observations = Observations.of(likelihood, targets)
    latent = np.linspace(-1.0, 2.0, len(targets))
    expected = likelihood.log_density(targets, latent + observations.level).sum()
    assert observations.log_likelihood(latent) == pytest.approx(expected)
    np.testing.assert_allclose(observations.slopes(latent).first, likelihood.slopes(targets, latent + observations.level).first)
    assert Observations.of(likelihood, targets, has_constant=False).level == 0.0


def test_the_level_of_counts_is_the_log_of_their_mean():
    targets, weights = np.array([0.0, 2.0, 5.0]), np.array([1.0, 3.0, 0.5])
    assert Poisson().level(targets, weights) == pytest.approx(np.log((6.0 + 2.5) / 4.5))


def test_rates_with_exposures_are_counts():
    """Up to a constant, whatever the unit of the exposure."""
    counts, exposures, latent = np.array([0.0, 3.0, 8.0]), np.array([0.5, 2.0, 30.0]), np.linspace(-1.0, 1.0, 3)
    values = [poisson.logpmf(counts, exposures * np.exp(f)).sum() for f in (latent, latent[::-1])]
    for unit in (1.0, 365.25):
        observations = Observations.of(Poisson(), counts / (unit * exposures), unit * exposures, has_constant=False)
        ours = [observations.log_likelihood(f - np.log(unit)) for f in (latent, latent[::-1])]
        assert np.diff(ours)[0] == pytest.approx(np.diff(values)[0])


def test_large_counts_keep_their_digits():
    """Near the best f the terms t f and e^f of 1e12 events cancel but for a few digits."""
    targets, moves = np.full(3, 1e12), np.array([0.0, 1e-7, 1e-6])
    losses = Poisson().loss(targets, np.log(targets) + moves)
    np.testing.assert_allclose(losses, 0.5e12 * moves**2, rtol=1e-3, atol=1e-12)


def test_student_t_is_a_mixture_of_normal_distributions():
    """By quadrature over the precision of a row, of density and of its mean."""
    nu, x = 4.0, np.linspace(1e-4, 12.0, 400_001)
    log_prior = 0.5 * nu * np.log(0.5 * nu) + (0.5 * nu - 1.0) * np.log(x) - 0.5 * nu * x
    likelihood = StudentT(nu, scale=2.0)
    for residual in (0.0, 1.0, 9.0):
        joint = log_prior + norm.logpdf(residual, scale=2.0 / np.sqrt(x))
        weight = np.exp(logsumexp(joint, b=x) - logsumexp(joint))
        assert likelihood.row_weights(np.array([residual]), np.zeros(1))[0] == pytest.approx(weight, rel=1e-4)


# What cannot be --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("likelihood", "targets"), EVERY)
def test_possible_targets_pass(likelihood, targets):
    likelihood.check_targets(targets)


@pytest.mark.parametrize(
    ("likelihood", "targets", "message"),
    [
        (Bernoulli(), [0.0, 2.0], "coded as 0 and 1, got"),
        (Poisson(), [1.0, -2.0, 3.0], r"finite and at least 0, but row 1 has -2\. Drop"),
        (Poisson(), [-1.0, np.nan, np.inf], r"row 0 has -1, and 2 more rows are like it"),
        (Poisson(), [0.0, 0.0], "y is 0 in every row of positive weight"),
    ],
)
def test_targets_that_cannot_be_are_named(likelihood, targets, message):
    with pytest.raises(ValueError, match=message):
        likelihood.check_targets(np.array(targets))

"""One body for every likelihood: densities, their derivatives, and what they predict.

A new likelihood is one entry in `EVERY_LIKELIHOOD`. `Exponential` is a toy that shows all that a likelihood must write.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import gamma, norm, poisson, t

from skarce.likelihoods import Bernoulli, Gaussian, Likelihood, Observations, Poisson, Slopes, StudentT, bounded_exp

NUMBERS = np.array([-30.0, -1.0, 0.0, 0.5, 2.0, 40.0])
COUNTS = np.array([0.0, 1.0, 3.0, 17.0, 250.0])
LATENT = np.array([-40.0, -8.0, -1.5, -0.1, 0.0, 0.3, 2.0, 6.0])
STEP = 1e-4
NEGLIGIBLE = 1e-12  # a sum over whole numbers ends if the last half of its terms is below this share of it


class Exponential(Likelihood):
    """Waiting times: p(t | f) = exp(-f - t exp(-f)), with mean exp(f)."""

    def log_density(self, targets, latent):
        return -latent - targets * bounded_exp(-latent)

    def slopes(self, targets, latent):
        share = targets * bounded_exp(-latent)
        return Slopes(share - 1.0, share, -share)

    def largest_curvature(self, targets):
        return np.ones(len(targets))  # there is no bound; this is the curvature of a fit that reproduces the targets

    def mean(self, mean, variance):
        return bounded_exp(mean + 0.5 * variance)

    def variance(self, mean, variance):
        return bounded_exp(2.0 * mean + variance) * (2.0 * bounded_exp(variance) - 1.0)

    def level(self, targets, weights):
        return float(np.log(weights @ targets / weights.sum()))

    def check_targets(self, targets):
        if not (targets > 0.0).all():
            raise ValueError(f"waiting times must be positive, got {targets.min():.6g}.")


def normal_latent(mean, variance):
    """A grid of f and its density: the trapezoidal rule on it is exact to rounding."""
    f = mean + np.sqrt(variance) * np.linspace(-14.0, 14.0, 4001)
    return f, norm.pdf(f, mean, np.sqrt(variance))


def log_gamma_latent(mean, variance):
    """The same for the logarithm of a gamma variable: log p(f) = (f - e^(f - m)) / v + constant."""
    f = np.linspace(mean - 40.0 * max(variance, np.sqrt(variance)), mean + 14.0 * np.sqrt(variance), 200_001)
    return f, np.exp((f - mean - np.expm1(f - mean)) / variance)


@dataclass(frozen=True)
class Case:
    """A likelihood and what its tests must know.

    Attributes
    ----------
    likelihood : Likelihood
    targets : array
        Some possible targets, small and large ones.
    support : pair of floats
        The smallest and the largest possible target.
    is_whole : bool
        Whether targets are whole numbers.
    is_bounded : bool
        Whether `largest_curvature` is a bound. If not, it is the curvature of a fit that reproduces the targets.
    impossible : pairs of targets and the error message
    latent : callable
        (mode, 1/curvature) -> grid of f, density: the distribution of f that `mean` and `variance` assume.
    """

    likelihood: Likelihood
    targets: np.ndarray
    support: tuple[float, float] = (-np.inf, np.inf)
    is_whole: bool = False
    is_bounded: bool = True
    impossible: tuple[tuple[list[float], str], ...] = ()
    latent: Callable = normal_latent

    @property
    def id(self):
        """The class and its parameters, such as StudentT-2.5-3.0."""
        return "-".join([type(self.likelihood).__name__, *(str(value) for value in vars(self.likelihood).values())])

    def density(self, targets, latent):
        """p(t | f) at one f."""
        return np.exp(self.likelihood.log_density(targets, np.full(len(targets), latent)))

    def expectation(self, function, latent):
        """E of a function of t given f: a sum over whole numbers, or an integral in units of the standard deviation."""
        return self._sum(function, latent) if self.is_whole else self._integral(function, latent)

    def _sum(self, function, latent):
        """Add up twice as many numbers each time, until the newest hardly matter."""
        total, (low, high) = 0.0, self.support
        for size in 2 ** np.arange(8, 24):
            targets = np.arange(low, min(high + 1.0, low + size))
            newest = targets[targets >= low + size // 2]
            total, before = self.density(targets, latent) @ function(targets), total
            if len(newest) == 0 or abs(total - before) <= NEGLIGIBLE * abs(total):
                return total
        raise AssertionError(f"the tail of {self.id} at f = {latent} does not end")

    def _integral(self, function, latent):
        mean, variance = (answer[0] for answer in given(self.likelihood, np.array([latent])))
        std = np.sqrt(variance)

        def at(distance):
            target = np.array([mean + std * distance])
            return std * self.density(target, latent)[0] * function(target)[0]

        low, high = ((end - mean) / std for end in self.support)
        return sum(quad(at, *ends, limit=500)[0] for ends in ((low, 0.0), (0.0, high)))


# A new likelihood is one entry here.
EVERY_LIKELIHOOD = [
    Case(Gaussian(), NUMBERS),
    Case(Gaussian(noise_variance=0.3), NUMBERS),
    Case(StudentT(4.0), NUMBERS),
    Case(StudentT(2.5, scale=3.0), NUMBERS),
    Case(
        Bernoulli(),
        np.array([0.0, 1.0]),
        support=(0.0, 1.0),
        is_whole=True,
        impossible=(([0.0, 2.0], "coded as 0 and 1, got"),),
    ),
    Case(
        Poisson(),
        COUNTS,
        support=(0.0, np.inf),
        is_whole=True,
        is_bounded=False,
        impossible=(
            ([1.0, -2.0, 3.0], r"finite and at least 0, but row 1 has -2\. Drop"),
            ([-1.0, np.nan, np.inf], r"row 0 has -1, and 2 more rows are like it"),
            ([0.0, 0.0], "y is 0 in every row of positive weight"),
        ),
        latent=log_gamma_latent,
    ),
    Case(
        Exponential(),
        np.array([0.01, 1.0, 30.0]),
        support=(0.0, np.inf),
        is_bounded=False,
        impossible=(([1.0, -2.0], "waiting times must be positive, got -2"), ([0.0, 0.0], "must be positive, got 0")),
    ),
]


def with_id(case, *more):
    return pytest.param(case, *more, id=case.id)


every_case = pytest.mark.parametrize("case", [with_id(case) for case in EVERY_LIKELIHOOD])
bounded_cases = pytest.mark.parametrize("case", [with_id(case) for case in EVERY_LIKELIHOOD if case.is_bounded])
unbounded_cases = pytest.mark.parametrize("case", [with_id(case) for case in EVERY_LIKELIHOOD if not case.is_bounded])


def pairs(targets, latent=LATENT):
    """Every target at every latent value."""
    return tuple(A.ravel() for A in np.meshgrid(targets, latent, indexing="ij"))


def central(function, latent):
    """The derivative by differences, to fourth order."""
    near, far = (function(latent + s) - function(latent - s) for s in (STEP, 2.0 * STEP))
    return (8.0 * near - far) / (12.0 * STEP)


def best_latent(case, ends=(-100.0, 100.0)):
    """The most likely f for each target, by bisection. It is at an end if the density only rises or only falls."""
    low, high = (np.full(len(case.targets), end) for end in ends)
    for _ in range(80):
        middle = 0.5 * (low + high)
        rises = case.likelihood.slopes(case.targets, middle).first > 0.0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return 0.5 * (low + high)


def given(likelihood, latent):
    """Mean and variance of the target if f is known."""
    return likelihood.mean(latent, np.zeros_like(latent)), likelihood.variance(latent, np.zeros_like(latent))


# Densities -------------------------------------------------------------------------------------------------------------------


@every_case
def test_slopes_are_those_of_the_log_density(case):
    likelihood, (targets, latent) = case.likelihood, pairs(case.targets)
    slopes = likelihood.slopes(targets, latent)
    size = 1.0 + np.abs(likelihood.slopes(targets, latent)[0]) + np.abs(likelihood.log_density(targets, latent))
    first = central(lambda f: likelihood.log_density(targets, f), latent)
    np.testing.assert_array_less(np.abs(slopes.first - first), 1e-9 * size)
    curvature = -central(lambda f: likelihood.slopes(targets, f).first, latent)
    np.testing.assert_allclose(slopes.curvature, curvature, rtol=1e-8, atol=1e-9)
    third = central(lambda f: likelihood.slopes(targets, f).curvature, latent)
    np.testing.assert_allclose(slopes.third, third, rtol=1e-8, atol=1e-9)


@every_case
def test_extremes_are_numbers_and_never_warn(case):
    likelihood, (targets, latent) = case.likelihood, pairs(case.targets, np.array([-1e6, -800.0, 800.0, 1e6]))
    with np.errstate(all="raise", under="ignore"):
        answers = [likelihood.log_density(targets, latent), *likelihood.slopes(targets, latent)]
        observations = Observations.of(likelihood, targets, np.full(len(targets), 1e3))
        assert np.isfinite(observations.log_likelihood(latent))
    assert all(np.isfinite(answer).all() for answer in answers)


@every_case
def test_predictions_far_away_are_numbers_and_never_warn(case):
    mean, variance = np.array([-300.0, 300.0]), np.ones(2)
    with np.errstate(all="raise", under="ignore"):
        expected, spread = case.likelihood.mean(mean, variance), case.likelihood.variance(mean, variance)
    assert np.isfinite(expected).all()
    assert (spread >= 0.0).all()


@bounded_cases
def test_no_curvature_is_above_the_largest(case):
    likelihood, (targets, latent) = case.likelihood, pairs(case.targets, np.linspace(-50.0, 50.0, 401))
    assert (likelihood.slopes(targets, latent).curvature <= likelihood.largest_curvature(targets) * (1.0 + 1e-12)).all()


@unbounded_cases
def test_without_a_bound_it_is_the_curvature_of_a_perfect_fit(case):
    best = best_latent(case)
    np.testing.assert_allclose(
        case.likelihood.largest_curvature(case.targets),
        case.likelihood.slopes(case.targets, best).curvature,
        rtol=1e-10,
        atol=1e-12,
    )


@unbounded_cases
def test_without_a_bound_the_level_counts_too(case):
    likelihood, targets = case.likelihood, case.targets
    weights = 0.5 + np.arange(len(targets))
    observations = Observations.of(likelihood, targets, weights)
    at_best, at_level = (
        likelihood.slopes(targets, f).curvature for f in (best_latent(case), np.full(len(targets), observations.level))
    )
    np.testing.assert_allclose(observations.largest_curvature, weights * np.maximum(at_best, at_level), rtol=1e-10)


@every_case
def test_a_log_concave_density_is_never_curved_upwards(case):
    likelihood, (targets, latent) = case.likelihood, pairs(case.targets, np.linspace(-50.0, 50.0, 401))
    assert (likelihood.slopes(targets, latent).curvature.min() >= 0.0) == likelihood.is_log_concave


@every_case
def test_loss_and_offset_are_the_log_density_in_two_parts(case):
    likelihood, (targets, latent) = case.likelihood, pairs(case.targets)
    parts = likelihood.offset(targets) - likelihood.loss(targets, latent)
    np.testing.assert_allclose(parts, likelihood.log_density(targets, latent), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("latent", [-8.0, -0.5, 0.0, 1.0, 4.0])
@every_case
def test_densities_add_up_to_one(case, latent):
    assert case.expectation(np.ones_like, latent) == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize(
    ("likelihood", "expected"),
    [
        pytest.param(Poisson(), lambda targets, latent: poisson.logpmf(targets, np.exp(latent)), id="poisson"),
        pytest.param(StudentT(2.5, scale=3.0), lambda targets, latent: t.logpdf(targets, 2.5, latent, 3.0), id="student-t"),
    ],
)
def test_densities_are_those_of_scipy(likelihood, expected):
    targets, latent = pairs(np.array([0.0, 1.0, 7.0, 120.0]), np.array([-3.0, 0.0, 4.0]))
    np.testing.assert_allclose(likelihood.log_density(targets, latent), expected(targets, latent), rtol=1e-12, atol=1e-12)


# Predictions -----------------------------------------------------------------------------------------------------------------


def over_latent(case, function, mean, variance):
    """E of a function of f with this mode and this inverse curvature."""
    f, density = case.latent(mean, variance)
    return density @ function(f) / density.sum()


@pytest.mark.parametrize(("mean", "variance"), [(-3.0, 0.2), (0.0, 1e-8), (0.5, 1.0), (1.0, 4.0)])
@every_case
def test_predictions_are_means_over_the_latent_function(case, mean, variance):
    """Var t = E Var(t | f) + Var E(t | f)."""
    likelihood = case.likelihood
    first = over_latent(case, lambda f: given(likelihood, f)[0], mean, variance)
    inner = over_latent(case, lambda f: given(likelihood, f)[1], mean, variance)
    outer = over_latent(case, lambda f: (given(likelihood, f)[0] - first) ** 2, mean, variance)
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
@every_case
def test_mean_and_variance_given_f_are_those_of_the_density(case, latent):
    mean, variance = (answer[0] for answer in given(case.likelihood, np.array([latent])))
    assert case.expectation(lambda targets: targets, latent) == pytest.approx(mean, abs=1e-6)
    assert case.expectation(lambda targets: (targets - mean) ** 2, latent) == pytest.approx(variance, rel=1e-3)


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


@every_case
def test_weights_are_repeated_rows(case):
    likelihood, targets = case.likelihood, case.targets
    counts = np.arange(len(targets)) % 3 + 1
    weighted = Observations.of(likelihood, targets, counts.astype(float))
    repeated = Observations.of(likelihood, np.repeat(targets, counts))
    latent = np.linspace(-1.0, 2.0, len(targets))
    assert weighted.level == pytest.approx(repeated.level)
    assert weighted.log_likelihood(latent) == pytest.approx(repeated.log_likelihood(np.repeat(latent, counts)))
    for one, other in zip(weighted.slopes(latent), repeated.slopes(np.repeat(latent, counts)), strict=True):
        assert one.sum() == pytest.approx(other.sum(), abs=1e-12)
    assert weighted.largest_curvature.sum() == pytest.approx(repeated.largest_curvature.sum())


@every_case
def test_the_latent_function_is_counted_from_the_level(case):
    likelihood, targets = case.likelihood, case.targets
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


# Impossible targets ----------------------------------------------------------------------------------------------------------


@every_case
def test_possible_targets_pass_and_have_a_level(case):
    case.likelihood.check_targets(case.targets)
    assert np.isfinite(Observations.of(case.likelihood, case.targets).level)


@pytest.mark.parametrize(
    ("case", "targets", "message"),
    [with_id(case, np.array(targets), message) for case in EVERY_LIKELIHOOD for targets, message in case.impossible],
)
def test_impossible_targets_are_named(case, targets, message):
    with pytest.raises(ValueError, match=message):
        case.likelihood.check_targets(targets)
    with pytest.raises(ValueError, match=message):
        Observations.of(case.likelihood, targets)
    with pytest.raises(ValueError, match=message):
        Observations.of(case.likelihood, targets, np.ones(len(targets)), has_constant=False)


def test_rows_without_weight_do_not_make_targets_possible():
    with pytest.raises(ValueError, match="y is 0 in every row of positive weight"):
        Observations.of(Poisson(), np.array([0.0, 3.0]), np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="at least 0, but row 1 has -3"):
        Observations.of(Poisson(), np.array([1.0, -3.0]), np.array([1.0, 0.0]))

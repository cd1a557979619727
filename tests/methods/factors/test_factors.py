"""Factor analysis: formulas against dense Gaussian densities, and certificates of its maxima."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA, FactorAnalysis

from skarce.methods.factors import Conditional, Spread, fit_by_em, fit_directly, information_scores, left_out_scores, standardized
from skarce.methods.factors.choice import candidates_for, conditional_density
from skarce.methods.factors.em import em_step
from skarce.methods.factors.factor_model import FactorModel
from skarce.methods.factors.likelihood import NOISE_FLOOR, bounds_of, first_noise, is_stationary, n_parameters, profile

SHAPES = [(200, 7, 2), (40, 12, 3), (12, 20, 3)]  # rows, columns, factors; the last has more columns than rows


def rows_of(rng, n, p, K, noise=0.5):
    Z = rng.normal(size=(n, K)) @ rng.normal(size=(K, p)) + noise * rng.normal(size=(n, p)) * rng.uniform(0.3, 2.0, p)
    return standardized(Z, np.ones(n))[0]


def spread_of(rng, n, p, K, **options):
    return Spread.of(rows_of(rng, n, p, K, **options), np.ones(n))


def random_model(rng, p, K):
    return FactorModel(rng.normal(size=(p, K)), rng.uniform(0.2, 1.0, p))


@pytest.mark.parametrize(("n", "p", "K"), SHAPES)
def test_the_root_is_one_of_the_weighted_covariance(n, p, K, rng):
    rows, weights = rng.normal(size=(n, p)), rng.integers(0, 4, n).astype(float)
    spread, repeated = Spread.of(rows, weights), np.repeat(rows, weights.astype(int), axis=0)
    np.testing.assert_allclose(spread.covariance(), np.cov(repeated.T, bias=True), atol=1e-12)
    np.testing.assert_allclose(spread.center, repeated.mean(axis=0))
    assert spread.n_samples == len(repeated)
    assert spread.rank() == np.linalg.matrix_rank(np.cov(repeated.T))


@pytest.mark.parametrize(("n", "p", "K"), SHAPES)
def test_leading_eigenvalues_are_those_of_the_dense_matrix(n, p, K, rng):
    spread, noise = spread_of(rng, n, p, K), rng.uniform(0.1, 1.0, p)
    values, vectors = spread.leading(noise, K)
    dense = spread.covariance() / np.sqrt(np.outer(noise, noise))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(dense)[::-1][:K], rtol=1e-10)
    np.testing.assert_allclose(dense @ vectors, vectors * values, atol=1e-8 * values[0])


@pytest.mark.parametrize(("n", "p", "K"), SHAPES)
def test_the_likelihood_is_that_of_a_dense_gaussian(n, p, K, rng):
    rows, model = rows_of(rng, n, p, K), random_model(rng, p, K)
    expected = multivariate_normal(rows.mean(axis=0), model.covariance()).logpdf(rows).sum()
    np.testing.assert_allclose(model.log_likelihood(Spread.of(rows, np.ones(n))), expected, rtol=1e-10)


@pytest.mark.parametrize(("n", "p", "K"), SHAPES)
def test_the_profile_is_the_likelihood_at_the_best_loadings(n, p, K, rng):
    spread, noise = spread_of(rng, n, p, K), rng.uniform(0.1, 0.5, p)
    best = fit_directly(spread, K, isotropic=False, tol=1e-6, max_iter=1, start=noise)
    score, slope = profile(spread, best.noise, K)
    at_best = -0.5 * n * (p * np.log(2 * np.pi) + score)
    np.testing.assert_allclose(best.log_likelihood(spread), at_best, rtol=1e-9)
    for _ in range(20):
        other = FactorModel(best.loadings + 0.1 * rng.normal(size=(p, K)), best.noise)
        assert other.log_likelihood(spread) < at_best
    numeric = approx_fprime(np.log(best.noise), lambda logs: profile(spread, np.exp(logs), K)[0], 1e-6)
    np.testing.assert_allclose(slope, numeric, atol=2e-4)


@pytest.mark.parametrize("isotropic", [False, True])
@pytest.mark.parametrize(("n", "p", "K"), SHAPES)
def test_the_likelihood_never_falls_under_em(n, p, K, isotropic, rng):
    spread, model = spread_of(rng, n, p, K), random_model(rng, p, K)
    S, before = spread.covariance(), -np.inf
    loadings, noise = model.loadings, np.full(p, 0.7) if isotropic else model.noise
    for _ in range(200):
        loadings, noise = em_step(S, loadings, noise, isotropic=isotropic)
        now = FactorModel(loadings, noise).log_likelihood(spread)
        assert now >= before - 1e-9 * abs(now)
        before = now


def dense_gradient(spread, model):
    """The derivatives of minus twice the log likelihood of a row by loadings and by logarithms of the noise."""
    inverse = np.linalg.inv(model.covariance())
    core = inverse @ (model.covariance() - spread.covariance()) @ inverse
    return 2.0 * core @ model.loadings, core.diagonal() * model.noise


@pytest.mark.parametrize("fit", [fit_by_em, fit_directly])
def test_the_gradient_of_the_likelihood_is_zero_at_the_end(fit, rng):
    spread = spread_of(rng, 300, 9, 2)
    model = fit(spread, 2, isotropic=False, tol=1e-6, max_iter=100_000)
    assert model.is_converged
    by_loadings, by_noise = dense_gradient(spread, model)
    assert np.abs(by_loadings).max() < 1e-5
    assert np.abs(by_noise).max() < 1e-5


@pytest.mark.parametrize("isotropic", [False, True])
def test_both_solvers_find_the_same_maximum(isotropic, rng):
    spread = spread_of(rng, 300, 9, 2)
    slow = fit_by_em(spread, 2, isotropic=isotropic, tol=1e-8, max_iter=100_000)
    quick = fit_directly(spread, 2, isotropic=isotropic, tol=1e-8, max_iter=1000)
    np.testing.assert_allclose(slow.covariance(), quick.covariance(), atol=1e-6)


def test_closed_form_of_principal_components(rng):
    rows = rows_of(rng, 100, 6, 2)
    spread = Spread.of(rows, np.ones(100))
    model = fit_directly(spread, 2, isotropic=True, tol=1e-5, max_iter=1)
    values, vectors = np.linalg.eigh(spread.covariance())
    np.testing.assert_allclose(model.noise, values[:4].mean())
    expected = values[:4].mean() * np.eye(6) + (vectors[:, 4:] * (values[4:] - values[:4].mean())) @ vectors[:, 4:].T
    np.testing.assert_allclose(model.covariance(), expected, atol=1e-12)
    ours = model.log_likelihood(spread)
    theirs = PCA(2).fit(np.sqrt(100 / 99) ** -1 * rows).score(rows)  # it divides by n - 1
    assert ours >= 100 * theirs - 1e-9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # it needs very many steps
@pytest.mark.parametrize(("n", "p", "K"), SHAPES[:2])
def test_the_likelihood_is_at_least_that_of_scikit_learn(n, p, K, rng):
    rows = rows_of(rng, n, p, K)
    theirs = n * FactorAnalysis(K, tol=1e-8, max_iter=5000, svd_method="lapack").fit(rows).score(rows)
    ours = fit_directly(Spread.of(rows, np.ones(n)), K, isotropic=False, tol=1e-6, max_iter=1000)
    assert ours.log_likelihood(Spread.of(rows, np.ones(n))) >= theirs - 1e-4


@pytest.mark.parametrize("seed", range(12))
def test_fits_converge_with_columns_without_noise(seed):
    """Exact relations between columns put noise variances at their limit (Heywood cases)."""
    rng = np.random.default_rng(seed)
    p, K = int(rng.integers(3, 12)), int(rng.integers(1, 4))
    spread = spread_of(rng, int(rng.integers(10, 100)), p, K, noise=0.0)
    n_factors = int(rng.integers(1, p))
    model = fit_directly(spread, n_factors, isotropic=False, tol=1e-5, max_iter=1000)
    assert model.is_converged
    assert is_stationary(spread, model.noise, n_factors, 1e-5)
    assert (model.noise >= NOISE_FLOOR * (1 - 1e-9)).all()


def test_a_point_with_a_slope_is_not_stationary(rng):
    spread = spread_of(rng, 100, 6, 2)
    assert not is_stationary(spread, first_noise(spread, 2), 2, 1e-5)
    assert not is_stationary(spread, bounds_of(spread)[0], 2, 1e-5)
    assert not fit_directly(spread, 2, isotropic=False, tol=1e-9, max_iter=2).is_converged
    assert not fit_by_em(spread, 2, isotropic=False, tol=1e-9, max_iter=2).is_converged


@pytest.mark.parametrize("n_targets", [1, 3])
def test_conditioning_is_that_of_the_dense_joint_gaussian(n_targets, rng):
    d, K, n = 5, 2, 40
    model = random_model(rng, d + n_targets, K)
    conditional = Conditional.of(model, d)
    X = rng.normal(size=(n, d))
    X[rng.uniform(size=X.shape) < 0.4] = np.nan
    X[0], X[1] = np.nan, 1.0
    mean, variance = conditional.predict(X)
    covariance, targets = model.covariance(), np.arange(d, d + n_targets)
    for row, found, spread in zip(X, mean, variance, strict=True):
        known = np.flatnonzero(~np.isnan(row))
        gain = covariance[np.ix_(targets, known)] @ np.linalg.inv(covariance[np.ix_(known, known)])
        np.testing.assert_allclose(found, gain @ row[known], atol=1e-12)
        dense = covariance[np.ix_(targets, targets)] - gain @ covariance[np.ix_(known, targets)]
        np.testing.assert_allclose(spread, dense.diagonal(), rtol=1e-10)
        if len(known) == d:
            np.testing.assert_allclose(conditional.coefficients(), gain, atol=1e-12)
            np.testing.assert_allclose(conditional.covariance(), dense, atol=1e-12)


def test_patterns_in_several_blocks(rng, monkeypatch):
    conditional = Conditional.of(random_model(rng, 7, 3), 6)
    X = np.where(rng.uniform(size=(60, 6)) < 0.5, np.nan, rng.normal(size=(60, 6)))
    whole = conditional.predict(X)
    monkeypatch.setattr("skarce.methods.factors.conditioning.BLOCK_BYTES", 3 * 8 * 9)
    for found, expected in zip(conditional.predict(X), whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_joint_principal_components_of_all_inputs_are_total_least_squares(rng):
    """Equation (14) of the paper, with as many components as inputs and no noise left: the errata have the simpler form."""
    rows = rows_of(rng, 100, 5, 2)
    values, vectors = np.linalg.eigh(np.cov(rows.T))
    U = vectors[:, 1:]
    expected = U[:4] @ U[4] / (1.0 - U[4] @ U[4])
    loadings = U * np.sqrt(values[1:])
    limit = Conditional.of(FactorModel(loadings, np.full(5, 1e-9)), 4).coefficients()[0]
    np.testing.assert_allclose(limit, expected, rtol=1e-6)
    np.testing.assert_allclose(-vectors[:4, 0] / vectors[4, 0], expected, rtol=1e-9)


def test_the_density_of_targets_is_a_quotient_of_two_densities(rng):
    model, rows = random_model(rng, 6, 2), rng.normal(size=(10, 6))
    covariance = model.covariance()
    joint = multivariate_normal(np.zeros(6), covariance).logpdf(rows)
    inputs = multivariate_normal(np.zeros(4), covariance[:4, :4]).logpdf(rows[:, :4])
    np.testing.assert_allclose(conditional_density(model, 4, rows), joint - inputs, rtol=1e-10)


@pytest.mark.parametrize("rule", ["cv", "bic"])
def test_the_number_of_factors_is_found(rule, rng):
    rows = rows_of(rng, 500, 12, 3)
    weights, folds = np.ones(500), np.arange(500) % 5
    scores = (
        left_out_scores(rows, weights, folds, 11, 11, isotropic=False)
        if rule == "cv"
        else information_scores(Spread.of(rows, weights), 11, isotropic=False)
    )
    assert max(scores, key=scores.get) == 3
    assert list(scores) == candidates_for(11)


def test_the_information_criterion_counts_free_parameters(rng):
    rows = rows_of(rng, 100, 6, 2)
    spread = Spread.of(rows, np.ones(100))
    found = information_scores(spread, 2, isotropic=True)[2]
    likelihood = fit_directly(spread, 2, isotropic=True, tol=1e-5, max_iter=1).log_likelihood(spread)
    assert found == pytest.approx(likelihood - 0.5 * np.log(100) * (6 + 2 * 6 - 1 + 1))
    assert n_parameters(6, 2, isotropic=False) == 6 + 2 * 6 - 1 + 6
    assert n_parameters(6, 5, isotropic=True) == 6 + 6 * 7 // 2  # a whole covariance


def test_numbers_that_are_tried():
    assert candidates_for(0) == [0]
    assert candidates_for(3) == [0, 1, 2, 3]
    assert candidates_for(20) == [*range(11), 13, 17, 20]


def loose_rows(seed, n, p, K):
    """Columns that share factors, with a last one that has little noise."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, K))
    X = factors @ rng.normal(size=(K, p)) + rng.normal(0.0, 0.5, (n, p))
    return standardized(np.column_stack([X, factors @ rng.normal(size=K) + rng.normal(0.0, 0.3, n)]), np.ones(n))[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("seed", "n", "p", "K"), [(103, 1000, 12, 4), (106, 1000, 12, 4), (5, 400, 10, 3), (7, 600, 20, 5)])
def test_every_score_is_that_of_a_fit_with_as_many_factors(seed, n, p, K):
    # Each number of factors once began with the noise of the one before, and ended at poor maxima.
    rows = loose_rows(seed, n, p, K)
    spread = Spread.of(rows, np.ones(n))
    scores = information_scores(spread, K + 2, isotropic=False)
    assert max(scores, key=scores.get) == K
    for tried in range(1, K + 3):
        cost = 0.5 * np.log(n) * n_parameters(p + 1, tried, isotropic=False)
        fit = fit_directly(spread, tried, isotropic=False, tol=1e-5, max_iter=1000).log_likelihood(spread)
        assert scores[tried] + cost == pytest.approx(fit, abs=0.2)
        if tried >= K:
            theirs = n * FactorAnalysis(tried, tol=1e-8, max_iter=5000, svd_method="lapack").fit(rows).score(rows)
            assert scores[tried] + cost >= theirs - 3.0  # the cost of one factor is more than ten times as much


def test_left_out_rows_are_scored_by_fits_from_their_own_start():
    rows = loose_rows(103, 1000, 12, 4)
    scores = left_out_scores(rows, np.ones(1000), np.arange(1000) % 5, 12, 6, isotropic=False)
    expected = 0.0
    for fold in range(5):
        is_out = np.arange(1000) % 5 == fold
        spread = Spread.of(rows[~is_out], np.ones(800))
        model = fit_directly(spread, 4, isotropic=False, tol=1e-5, max_iter=1000)
        expected += conditional_density(model, 12, rows[is_out] - spread.center).sum() / 1000
    assert scores[4] == pytest.approx(expected, abs=1e-3)
    assert scores[4] > scores[6] - 1e-3

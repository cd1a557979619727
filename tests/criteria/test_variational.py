"""The variational bound, its precisions, the sweeps and the ridge systems, against dense formulas."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import digamma, gammaln
from sklearn import config_context

from skarce.basis.transformers import PassthroughCandidates
from skarce.criteria.variational import bound, determination
from skarce.designs import InMemoryDesign, RowBlocks, RowBlocksDesign
from skarce.methods.variational.direct import run_direct
from skarce.methods.variational.precisions import Groups, Precisions, best_precisions
from skarce.methods.variational.ridge_solves import ByBlock, ByConjugateGradients, ByRows, ridge_system
from skarce.methods.variational.sweeps import SweepData, Sweeps
from skarce.moments import Moments, WholeGram
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import log_evidence, random_problem


def moments_of(phi, t):
    return Moments(WholeGram(phi.T @ phi), phi.T @ t, float(t @ t), float(len(t)))


def bound_of_paper(phi, t, mu, v, psi, psi_y, precisions, label):
    """The bound of VBLS errata 3.2 with explicit Gamma distributions, a0 = b0 = 0, up to a constant for each group."""
    n, h, s = len(t), (phi**2).sum(axis=0), psi_y + psi.sum()
    residual = ((t - phi @ mu) ** 2).sum()
    total = -0.5 * n * np.log(2 * np.pi * s) - residual / (2 * s) - 0.5 * np.sum(v * h / psi)
    total += 0.5 * np.sum(np.log(2 * np.pi * np.e * v))
    for g, mean_alpha in enumerate(precisions):
        members = label == g
        a = 0.5 * members.sum()
        b = a / mean_alpha
        mean_log = digamma(a) - np.log(b)
        total += 0.5 * members.sum() * (mean_log - np.log(2 * np.pi)) - 0.5 * mean_alpha * np.sum(mu[members] ** 2 + v[members])
        total += -mean_log + a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)
        k = members.sum()  # the constant by which a group that is left out contributes nothing
        total -= 0.5 * k + 0.5 * k * np.log(2 / k) + gammaln(0.5 * k)
    return total


# The bound ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_that_of_the_paper_at_its_best_variances(seed):
    phi, t = random_problem(seed)
    rng = np.random.default_rng(seed)
    n, m = phi.shape
    h = (phi**2).sum(axis=0)
    label = rng.integers(0, 4, m)
    label[:4] = range(4)
    groups = Groups.of(label)
    u, s, mu = np.exp(rng.normal(size=4)), 1.7, rng.normal(size=m) / np.sqrt(h)
    # The library's precisions are those of candidates of unit length.
    scaled = phi / np.sqrt(h)
    alpha = u[label] / s
    energy = ((t - phi @ mu) ** 2).sum() + np.sum(u[label] * h * mu**2)
    ours = bound(n, energy, s, u, groups.sizes) - 0.5 * n * np.log(2 * np.pi)
    gamma, total = determination(u, groups.sizes)
    psi = s * gamma[label] / total
    v = psi / (1 + psi * alpha)
    printed = bound_of_paper(scaled, t, mu * np.sqrt(h), v, psi, 0.0, u / s, label)
    assert ours == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_shares_are_the_best_ones(seed):
    rng = np.random.default_rng(seed)
    u = 10.0 ** rng.uniform(-4, 4, 6)
    gamma, total = determination(u)
    shares = gamma / total
    assert shares.sum() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(gamma, 1 / (1 + shares * u), rtol=1e-10)

    def worse(x):
        w = np.exp(x) / np.exp(x).sum()
        return -np.sum(np.log(w * u / (1 + w * u)))

    assert worse(np.log(shares)) == pytest.approx(minimize(worse, np.zeros(6), tol=1e-12).fun, rel=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_a_lower_bound_of_the_evidence_and_exact_for_one_candidate(seed):
    phi, t = random_problem(seed)
    for size in (1, 2, 12):
        some = phi[:, :size]
        h = (some**2).sum(axis=0)
        u, s = np.exp(np.random.default_rng(seed).normal(size=size)), 2.3
        ridges = u * h
        w = np.linalg.solve(some.T @ some + np.diag(ridges), some.T @ t)
        energy = ((t - some @ w) ** 2).sum() + ridges @ w**2
        value = bound(len(t), energy, s, u) - 0.5 * len(t) * np.log(2 * np.pi)
        exact = log_evidence(some, t, ridges / s, s)
        if size == 1:
            assert value == pytest.approx(exact, rel=1e-10)
        else:
            assert value < exact


@pytest.mark.parametrize("hold_noise", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_precisions_are_the_best_for_given_weights(seed, hold_noise):
    rng = np.random.default_rng(seed)
    sizes, strengths = rng.integers(1, 4, 5).astype(float), np.exp(rng.normal(0, 3, 5))
    n, residual = 60.0, 12.0
    start = Precisions(np.full(5, 1e-3), *determination(np.full(5, 1e-3), sizes), 0.7)
    best = best_precisions(strengths, sizes, residual, n, start, hold_noise=hold_noise)

    def value(ridges, noise):
        return bound(n, residual + ridges @ strengths, noise, ridges, sizes)

    if hold_noise:
        assert best.noise == 0.7
    else:  # s = RSS / (N - Gamma), VBLS errata 3.3
        assert best.noise == pytest.approx(residual / (n - best.total_determined), rel=1e-8)
    np.testing.assert_allclose(best.ridges * strengths, best.noise * sizes * best.determined, rtol=1e-8)
    at_best = value(best.ridges, best.noise)
    for _ in range(50):
        other = best.ridges * np.exp(rng.normal(0, 0.3, 5))
        noise = best.noise * (1.0 if hold_noise else np.exp(rng.normal(0, 0.3)))
        assert value(other, noise) < at_best


# Sweeps ---------------------------------------------------------------------------------------------------------------------


def sweep_with_fake_targets(phi, t, mu, psi, psi_y, alpha, groups):
    """The paper's updates with the N x d fake targets, the missing term of psi_z in its place."""
    n, h, s = len(t), (phi**2).sum(axis=0), psi_y + psi.sum()
    fake = mu * phi + psi / s * (t - phi @ mu)[:, None]  # <z>
    variance_of_fake = psi * (1 - psi / s)
    if groups is None:
        v, mu_new = np.zeros(len(mu)), (fake * phi).sum(axis=0) / h
    else:
        v = 1 / (h / psi + alpha[groups.label])
        mu_new = v * (fake * phi).sum(axis=0) / psi
        alpha = np.array([np.sum(groups.label == g) / np.sum((mu_new**2 + v)[groups.label == g]) for g in range(len(alpha))])
    psi_y_new = ((t - fake.sum(axis=1)) ** 2).mean() + psi.sum() * (1 - psi.sum() / s)
    psi_new = ((fake - mu_new * phi) ** 2).mean(axis=0) + variance_of_fake + v * h / n
    return mu_new, psi_new, psi_y_new, alpha


@pytest.mark.parametrize("kind", ["none", "shared", "ard", "groups"])
def test_sweeps_in_moment_space_are_those_with_explicit_fake_targets(kind, rng):
    phi = rng.normal(size=(40, 6)) @ rng.normal(size=(6, 6))
    t = phi[:, 0] - phi[:, 1] + rng.normal(size=40)
    label = {"shared": np.zeros(6, int), "ard": np.arange(6), "groups": np.arange(6) // 2, "none": None}[kind]
    groups = None if label is None else Groups.of(label)
    data = SweepData(phi.T @ phi, phi.T @ t, float(t @ t), 40.0, groups)
    alpha = np.empty(0) if groups is None else np.full(len(groups.sizes), 0.01)
    at = Sweeps(rng.normal(size=6), rng.uniform(0.1, 1, 6), 0.5, alpha)
    dense = at.mean, at.fake_variances, at.target_variance, at.precisions
    for _ in range(100):
        at = data.sweep(at)
        dense = sweep_with_fake_targets(phi, t, *dense, groups)
    for ours, theirs in zip((at.mean, at.fake_variances, at.target_variance, at.precisions), dense, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("kind", ["shared", "ard", "groups"])
def test_no_sweep_lowers_the_bound_of_the_paper(kind, rng):
    phi = rng.normal(size=(40, 6)) @ rng.normal(size=(6, 6))
    t = phi[:, 0] - phi[:, 1] + rng.normal(size=40)
    h = (phi**2).sum(axis=0)
    label = {"shared": np.zeros(6, int), "ard": np.arange(6), "groups": np.arange(6) // 2}[kind]
    data = SweepData(phi.T @ phi, phi.T @ t, float(t @ t), 40.0, Groups.of(label))
    at = Sweeps(rng.normal(size=6), rng.uniform(0.1, 1, 6), 0.5, np.full(label.max() + 1, 0.01))
    values = []
    for _ in range(300):
        at = data.sweep(at)
        psi = at.fake_variances
        v = psi / (h + psi * at.precisions[label])
        values.append(bound_of_paper(phi, t, at.mean, v, psi, at.target_variance, at.precisions, label))
        assert data.bound(at) - 20 * np.log(2 * np.pi) == pytest.approx(values[-1], rel=1e-10)
    assert np.diff(values).min() > -1e-10


def test_without_the_missing_term_the_bound_can_fall():
    """So that the test above could fail: psi_z as printed."""
    rng = np.random.default_rng(9)
    phi = rng.normal(size=(12, 8))
    t = 3 * phi[:, 0] + 0.3 * rng.normal(size=12)
    data = SweepData(phi.T @ phi, phi.T @ t, float(t @ t), 12.0, Groups.of(np.arange(8)))
    h = (phi**2).sum(axis=0)
    mean = np.linalg.solve(data.gram + 1e-3 * np.eye(8), data.projections)
    at = Sweeps(mean, np.full(8, 0.01), 0.05, np.full(8, 0.01))
    values = []
    for _ in range(2000):
        v = at.fake_variances / (h + at.fake_variances * at.precisions)
        at = data.sweep(at)
        at = Sweeps(at.mean, at.fake_variances - v * h / 12.0, at.target_variance, at.precisions)
        values.append(data.bound(at))
    assert np.diff(values).min() < -1e-3


# Ridge regressions ----------------------------------------------------------------------------------------------------------


def design_of(X, y, weights):
    return InMemoryDesign(PassthroughCandidates(X.shape[1]), X, y[:, None], weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(40, 12), (15, 60)])
def test_the_three_ways_to_solve_agree_with_the_dense_one(shape, weighted, rng):
    n, m = shape
    X, y = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-2, 2, m) + 5, rng.normal(size=n) + 3
    weights = rng.integers(0, 4, n).astype(float) if weighted else None
    (moments,) = design_of(X, y, weights).moments("columns")
    counts = np.ones(n) if weights is None else weights
    phi, t = (A - np.average(A, axis=0, weights=counts) for A in (X, y))
    candidates = rng.permutation(m)[: m - 3]
    phi = phi[:, candidates]
    ridges = (counts @ phi**2) * 10.0 ** rng.uniform(-3, 1, len(candidates))
    dense = np.linalg.solve(phi.T @ (counts[:, None] * phi) + np.diag(ridges), phi.T @ (counts * t))
    residual = counts @ (t - phi @ dense) ** 2
    start = np.zeros(len(candidates))
    block = moments.gram.block(candidates, candidates)
    for system in (
        ByBlock(moments, candidates, block),
        ByRows.of(moments, candidates),
        ByConjugateGradients(moments, candidates, 1e-13, 2000),
    ):
        weights_found, energy = system.solve(ridges, start)
        np.testing.assert_allclose(weights_found, dense, rtol=1e-6, atol=1e-9 * np.abs(dense).max())
        assert energy == pytest.approx(residual, rel=1e-8)
        kept = np.arange(0, len(candidates), 2)
        smaller, _ = system.restricted_to(kept).solve(ridges[kept], start[kept])
        some = phi[:, kept]
        expected = np.linalg.solve(some.T @ (counts[:, None] * some) + np.diag(ridges[kept]), some.T @ (counts * t))
        np.testing.assert_allclose(smaller, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_conjugate_gradients_read_the_rows_where_phi_does_not_fit(rng):
    X, y = rng.normal(size=(80, 70)) + 2, rng.normal(size=80)
    blocks = RowBlocksDesign(PassthroughCandidates(70), RowBlocks.from_arrays(X, y, block_rows=33), 80)
    with config_context(working_memory=0.1):
        (moments,) = blocks.moments("columns")
        system = ByConjugateGradients(moments, np.arange(70), 1e-12, 2000)
        assert system._phi is None
        assert isinstance(ridge_system(moments, np.arange(70)), ByConjugateGradients)
        weights, _ = system.solve(np.full(70, 3.0), np.zeros(70))
    phi, t = X - X.mean(axis=0), y - y.mean()
    np.testing.assert_allclose(weights, np.linalg.solve(phi.T @ phi + 3 * np.eye(70), phi.T @ t), rtol=1e-7, atol=1e-10)


def test_the_smallest_system_is_chosen(rng):
    X, y = rng.normal(size=(30, 200)), rng.normal(size=30)
    (moments,) = design_of(X, y, None).moments("columns")
    assert isinstance(ridge_system(moments, np.arange(200)), ByRows)
    assert isinstance(ridge_system(moments, np.arange(20)), ByBlock)
    assert isinstance(ridge_system(moments.without_rows(), np.arange(200)), ByBlock)
    assert isinstance(ByRows.of(moments, np.arange(200)).restricted_to(np.arange(25)), ByBlock)


# Fixed points ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["shared", "ard", "groups"])
def test_the_direct_form_ends_where_all_equations_of_the_fixed_point_hold(kind):
    rng = np.random.default_rng(3)
    phi = rng.normal(size=(200, 9)) @ rng.normal(size=(9, 9))
    t = 3 * phi[:, 0] - phi[:, 4] + rng.normal(size=200)
    label = {"shared": np.zeros(9, int), "ard": np.arange(9), "groups": np.arange(9) // 3}[kind]
    model = run_direct(moments_of(phi, t), Journal(Budget(1e-12)), label)
    kept, s = model.candidates, model.precisions.noise
    some, h = phi[:, kept], (phi[:, kept] ** 2).sum(axis=0)
    alpha = model.ridges / s
    np.testing.assert_allclose((some.T @ some + np.diag(s * alpha)) @ model.weights, some.T @ t, rtol=1e-8, atol=1e-8)
    gamma = model.precisions.determined[model.groups.label]
    psi = s * gamma / gamma.sum()
    np.testing.assert_allclose(gamma, h / (h + psi * alpha), rtol=1e-8)
    assert s == pytest.approx(((t - some @ model.weights) ** 2).sum() / (200 - gamma.sum()), rel=1e-8)
    for g in np.unique(label[kept]):
        members = label[kept] == g
        standardised = model.weights[members] ** 2 * h[members]
        assert alpha[members][0] / h[members][0] == pytest.approx(gamma[members].sum() / standardised.sum(), rel=1e-7)


@pytest.mark.parametrize("factor", [0.9, 0.98, 1.02, 1.1])
def test_an_orthogonal_input_stays_from_a_t_statistic_of_about_two(factor, rng):
    """With t for least squares, (1 + u)^2 gamma = u t^2 at a fixed point: it exists from a t on that goes to 2 with many inputs."""
    u = np.geomspace(0.01, 100, 100_000)
    total = 5.0 + 0.87
    threshold = np.sqrt(np.min((1 + u) ** 2 / u * 2 / (1 + np.sqrt(1 + 4 * u / total))))
    assert 1.8 < threshold < 2.0
    n = 2000
    phi, _ = np.linalg.qr(rng.normal(size=(n, 7)))
    noise = rng.normal(size=n)
    noise -= phi @ (phi.T @ noise)
    noise *= np.sqrt((n - 6) / (noise @ noise))  # unit variance, as the model will estimate it
    t = phi[:, :5] @ np.array([30.0, -20.0, 25.0, 40.0, 15.0]) + factor * threshold * phi[:, 5] + noise
    model = run_direct(moments_of(phi, t), Journal(Budget(1e-10)), np.arange(7))
    assert (5 in model.candidates) == (factor > 1)
    assert 6 not in model.candidates

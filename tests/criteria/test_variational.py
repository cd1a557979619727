"""The variational bound against that of the paper and against the evidence."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from skarce.criteria.variational import bound, determination
from skarce.methods.variational.precisions import Groups
from tests.oracles import log_evidence, random_problem


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

"""The direct form of variational least squares."""

import numpy as np
import pytest

from skarce.methods.variational.direct import run_direct
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.problems import moments_of


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
        standardized = model.weights[members] ** 2 * h[members]
        assert alpha[members][0] / h[members][0] == pytest.approx(gamma[members].sum() / standardized.sum(), rel=1e-7)


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

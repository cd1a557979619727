"""Sweeps over the weights, against sweeps with explicit fake targets."""

import numpy as np
import pytest

from skarce.methods.variational.precisions import Groups
from skarce.methods.variational.sweeps import SweepData, Sweeps
from tests.criteria.test_variational import bound_of_paper


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

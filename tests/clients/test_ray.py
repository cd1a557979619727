"""Ray tasks make the sums of blocks, and other tasks add them up. Rows stay where they are."""

import secrets

import numpy as np
import pytest

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.moments import Sums, block_sums

X = np.random.default_rng(0).uniform(0.0, 10.0, (1000, 1))
Y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=1000)
CENTERS = np.linspace(0.0, 10.0, 40)[:, None]


@pytest.fixture(scope="module")
def ray():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else Ray writes one to the home folder
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        package = pytest.importorskip("ray", reason="ray is not installed: pip install ray")
        package.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=2**27)
        yield package
        package.shutdown()


def test_two_tasks_and_one_that_adds(ray):
    basis = KernelBasis(gamma=1.0, centers=CENTERS).fit(CENTERS)
    summed, added = ray.remote(block_sums), ray.remote(lambda *parts: Sums.total(parts))
    shared, halves = ray.put(basis), np.array_split(np.arange(1000), 2)
    parts = [summed.remote(shared, X[rows], Y[rows]) for rows in halves]
    while len(parts) > 1:
        parts = [added.remote(*parts[start : start + 8]) for start in range(0, len(parts), 8)]
    total = ray.get(parts[0])
    here = [block_sums(basis, X[rows], Y[rows]) for rows in halves]
    for name in ("candidate_means", "gram", "projections", "target_energies"):
        size = np.abs(getattr(total, name)).max()
        np.testing.assert_allclose(getattr(total, name), getattr(Sums.total(here), name), rtol=0.0, atol=1e-12 * size)
    found = RelevanceVectorRegressor().fit_moments(basis, total)
    same = KernelBasis(gamma=1.0, centers=CENTERS)
    expected = RelevanceVectorRegressor(same, moments="whole", calibrate_std=False).fit(X, Y)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=0.0, atol=1e-6)
    assert found.criterion_ == pytest.approx(expected.criterion_, abs=expected.tol)

"""Rows that are put off add up to the sums of all rows."""

import numpy as np
import pytest

from skarce.moments import Sums
from skarce.moments.recent import RecentRows


def sums_of(X, y, weights):
    """Means and second moments by their definition."""
    n = weights.sum()
    means, target_mean = weights @ X / n, weights @ y / n
    phi, t = X - means, y - target_mean
    return n, means, target_mean, phi.T @ (weights[:, None] * phi), phi.T @ (weights * t), t @ (weights * t)


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
def test_rows_that_were_put_off_add_up(rng, forgetting):
    X, y = rng.normal(3.0, [1.0, 10.0, 0.1], size=(30, 3)), rng.normal(-5.0, 2.0, 30)
    sums = Sums.empty(3, 1)
    sums.absorb(X[:20].copy(), y[:20, None], None)
    before = {name: np.copy(value) for name, value in vars(sums).items() if name != "made_with"}
    recent = RecentRows.after(sums)
    for row, target in zip(X[20:], y[20:], strict=True):
        recent = recent.with_row(row, target, forgetting)
    weights = np.concatenate([np.full(20, forgetting**10), forgetting ** np.arange(9, -1, -1)])
    total = recent.added_to(sums)
    found = (
        total.n_samples,
        total.candidate_means,
        total.target_means[0],
        total.gram,
        total.projections[:, 0],
        total.target_energies[0],
    )
    for one, expected in zip(found, sums_of(X, y, weights), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-12)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(sums, name), value)


def test_no_rows_change_nothing():
    sums = Sums.empty(2, 1)
    assert RecentRows.after(sums).added_to(sums) is sums

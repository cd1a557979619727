"""Sums over rows, which add up."""

import numpy as np
import pytest

from skarce.moments import Sums


def test_sums_of_different_candidates_do_not_add():
    with pytest.raises(ValueError, match="same candidates and outputs"):
        Sums.empty(3, 1) + Sums.empty(4, 1)


def test_sums_that_forget_are_those_of_weighted_rows(rng):
    phi, t = rng.normal(size=(20, 3)) + 7, rng.normal(size=(20, 2)) - 3
    sums, weighted = Sums.empty(3, 2), Sums.empty(3, 2)
    for k in range(20):  # one row at a time
        sums = sums.faded(0.9)
        sums.absorb(phi[k : k + 1].copy(), t[k : k + 1], None)
    weighted.absorb(phi.copy(), t, 0.9 ** np.arange(20)[::-1])
    for name in ("n_samples", "candidate_means", "target_means", "gram", "projections", "target_energies"):
        np.testing.assert_allclose(getattr(sums, name), getattr(weighted, name), rtol=1e-10, atol=1e-12)

"""Sums over rows, which add up."""

import numpy as np
import pytest
import sklearn

from skarce.basis.transformers import PassthroughCandidates
from skarce.moments import Sums, passes


def test_sums_of_different_candidates_do_not_add():
    with pytest.raises(ValueError, match="same candidates and outputs"):
        Sums.empty(3, 1) + Sums.empty(4, 1)


def test_sums_say_in_a_line_what_they_hold(rng):
    assert repr(Sums.empty(3, 2)) == "Sums(0 rows, 3 candidates, 2 targets)"
    sums = Sums.empty(100, 1)
    sums.absorb(rng.normal(size=(12_345, 100)), rng.normal(size=(12_345, 1)), None)
    assert repr(sums) == "Sums(12,345 rows, 100 candidates, 1 target)"


def test_sums_that_forget_are_those_of_weighted_rows(rng):
    phi, t = rng.normal(size=(20, 3)) + 7, rng.normal(size=(20, 2)) - 3
    sums, weighted = Sums.empty(3, 2), Sums.empty(3, 2)
    for k in range(20):  # one row at a time
        sums = sums.faded(0.9)
        sums.absorb(phi[k : k + 1].copy(), t[k : k + 1], None)
    weighted.absorb(phi.copy(), t, 0.9 ** np.arange(20)[::-1])
    for name in ("n_samples", "candidate_means", "target_means", "gram", "projections", "target_energies"):
        np.testing.assert_allclose(getattr(sums, name), getattr(weighted, name), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("workers", [1, 3])
def test_threads_with_sums_of_their_own_add_up_to_the_sums_of_all_rows(rng, monkeypatch, workers, is_weighted):
    monkeypatch.setattr(passes, "free_threads", lambda: workers)
    monkeypatch.setattr(passes, "BLOCK_BYTES", 2**14)
    n = 3 * passes.LEAST_ROWS_OF_A_WORKER + 17
    phi, t = rng.normal(size=(n, 5)) + 7, rng.normal(size=(n, 2)) - 3
    weights = rng.integers(0, 3, n).astype(float) if is_weighted else None
    block = passes.Block(PassthroughCandidates(5).on(phi), t, weights)
    assert passes._workers_with_own_sums(block.evaluation) == workers
    sums = passes.absorbed(passes.absorbed(Sums.empty(5, 2), block), block)
    counts = 2.0 * block.row_weights
    means, target_means = np.average(phi, axis=0, weights=counts), np.average(t, axis=0, weights=counts)
    left, right = phi - means, t - target_means
    assert sums.n_samples == pytest.approx(counts.sum())
    np.testing.assert_allclose(sums.candidate_means, means, rtol=1e-12)
    np.testing.assert_allclose(sums.target_means, target_means, rtol=1e-12)
    np.testing.assert_allclose(sums.gram, (left.T * counts) @ left, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(sums.projections, (left.T * counts) @ right, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(sums.target_energies, counts @ right**2, rtol=1e-12)


def test_threads_share_sums_that_would_not_fit_into_the_budget(rng, monkeypatch):
    monkeypatch.setattr(passes, "free_threads", lambda: 4)
    evaluation = PassthroughCandidates(300).on(np.zeros((5000, 300)))
    assert passes._workers_with_own_sums(evaluation) == 4
    with sklearn.config_context(working_memory=10):  # 2.5 MiB for an array; four matrices take 2.75
        assert passes._workers_with_own_sums(evaluation) == 1

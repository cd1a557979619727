"""Functions struck out of an inverse, one by one and together."""

import numpy as np
import pytest

from skarce._linalg import NotPositiveDefiniteError
from skarce.criteria import GCV, IndividualEvidence
from skarce.searches.damped_newton import settle
from skarce.searches.joint_steps import MANY, Ridges
from skarce.searches.removals import strike_out, strike_out_together, thin_out
from skarce.states.active_block import ActiveBlock


def test_an_inverse_without_a_function_is_that_of_the_smaller_matrix(rng):
    A = rng.normal(size=(8, 8))
    H, b = A @ A.T + np.eye(8), rng.normal(size=8)
    inverse, solution = np.linalg.inv(H), np.linalg.solve(H, b)
    strike_out(3, inverse, solution)
    kept = np.delete(np.arange(8), 3)
    np.testing.assert_allclose(inverse[np.ix_(kept, kept)], np.linalg.inv(H[np.ix_(kept, kept)]), rtol=1e-9)
    np.testing.assert_allclose(solution[kept], np.linalg.solve(H[np.ix_(kept, kept)], b[kept]), rtol=1e-9)
    np.testing.assert_allclose(inverse[3], 0.0, atol=1e-12)
    assert solution[3] == pytest.approx(0.0, abs=1e-12)


def test_several_functions_leave_at_once(rng):
    A = rng.normal(size=(12, 12))
    H, b = A @ A.T + np.eye(12), rng.normal(size=12)
    inverse, solution, gone = np.linalg.inv(H), np.linalg.solve(H, b), np.array([7, 2, 9, 0])
    before = inverse[np.ix_(gone, gone)].copy()
    lower = strike_out_together(gone, inverse, solution)
    kept = np.setdiff1d(np.arange(12), gone)
    np.testing.assert_allclose(lower @ lower.T, before, rtol=1e-9)
    np.testing.assert_allclose(inverse[np.ix_(kept, kept)], np.linalg.inv(H[np.ix_(kept, kept)]), rtol=1e-8)
    np.testing.assert_allclose(solution[kept], np.linalg.solve(H[np.ix_(kept, kept)], b[kept]), rtol=1e-8)
    np.testing.assert_allclose(inverse[gone], 0.0, atol=1e-11)


def test_nothing_changes_if_functions_cannot_leave_together():
    inverse = np.ones((3, 3))  # as if two functions were one
    with pytest.raises(NotPositiveDefiniteError):
        strike_out_together(np.array([0, 1]), inverse)
    np.testing.assert_array_equal(inverse, 1.0)


@pytest.mark.parametrize("criterion", [IndividualEvidence(), IndividualEvidence(0.3), GCV()])
@pytest.mark.parametrize("overlap", [0.0, 3.0])
def test_many_superfluous_functions_leave_until_none_is_left(rng, criterion, overlap):
    """With a common part, functions promise the same gain, so not all of them may go at once."""
    n_samples, n = 400, 4 * MANY
    phi = rng.normal(size=(n_samples, n)) + overlap * rng.normal(size=(n_samples, 1))
    t = phi[:, :5] @ np.full(5, 0.5) + rng.normal(size=n_samples)
    block = ActiveBlock(phi.T @ phi, phi.T @ t, float(t @ t), rng.uniform(0.5, 20.0, n))
    start = Ridges(criterion, n_samples, np.arange(n), block)
    assert criterion.superfluous(block, n_samples).sum() >= MANY
    end = start.without_superfluous()
    assert 5 <= len(end) < n - MANY // 2
    assert not criterion.superfluous(end.block, n_samples).any()
    assert criterion.score(end.block, n_samples) > criterion.score(block, n_samples)
    kept = phi[:, end.positions]
    anew = ActiveBlock(kept.T @ kept, kept.T @ t, float(t @ t), block.ridges[end.positions])
    np.testing.assert_allclose(end.block.inverse, anew.inverse, atol=1e-10 * anew.inverse.max())
    np.testing.assert_allclose(end.block.weights, anew.weights, atol=1e-9)
    assert end.block.energy == pytest.approx(anew.energy, rel=1e-10)
    assert end.block.log_determinant == pytest.approx(anew.log_determinant, rel=1e-9)


class Shared:
    """Each removal is worth the value of the function, of which its right neighbor gets what was negative."""

    def __init__(self, values):
        self.values, self.is_left = np.array(values), np.ones(len(values), dtype=bool)

    def doubtful(self):
        positions = np.flatnonzero(self.is_left & (self.values > 0.0))
        return positions, self.values[positions]

    def remove(self, position):
        self.is_left[position] = False
        self.values[position + 1 : position + 2] = -1.0


def test_the_most_useful_removal_comes_first_and_what_follows_is_seen():
    np.testing.assert_array_equal(thin_out(Shared([1.0, 2.0, 3.0, 0.5, -1.0])), [2, 1, 0])
    assert len(thin_out(Shared([-1.0, -2.0]))) == 0


class Counting:
    """A model of `n` functions that has `steps` useful steps before it, and loses functions as told."""

    def __init__(self, n, steps, losses=()):
        self.n, self.steps, self.losses = n, steps, list(losses)

    def __len__(self):
        return self.n

    def without_superfluous(self):
        lost = self.losses.pop(0) if self.losses else 0
        return Counting(self.n - lost, self.steps, self.losses) if lost else self

    def stepped(self, tolerance, damping):
        return Counting(self.n, self.steps - 1, self.losses), float(self.steps > 0), damping


@pytest.mark.parametrize(
    ("model", "max_steps", "left", "converged"),
    [
        (Counting(3, 2), 10, 3, True),
        (Counting(3, 2), 2, 3, False),
        (Counting(3, 2, [0, 1, 0]), 10, 2, True),
        (Counting(3, 0, [1]), 10, 2, False),  # a function left before the only step
        (Counting(3, 5, [3]), 10, 0, False),
        (Counting(0, 5), 10, 0, True),
    ],
)
def test_steps_end_when_one_promises_little_with_all_functions_kept(model, max_steps, left, converged):
    settled, has_converged = settle(model, 0.5, max_steps)
    assert (len(settled), has_converged) == (left, converged)

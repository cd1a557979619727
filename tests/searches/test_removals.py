"""Functions struck out of an inverse, one by one and together."""

import numpy as np
import pytest

from skarce._linalg import NotPositiveDefiniteError
from skarce.criteria import GCV, IndividualEvidence
from skarce.searches.damped_newton import settle
from skarce.searches.joint_steps import MANY, Remaining, Ridges
from skarce.searches.removals import strike_out, thin_out
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


def block_of(rng, n=12, n_rows=30):
    phi, ridges = rng.normal(size=(n_rows, n)), rng.uniform(0.5, 5.0, n)
    t = rng.normal(size=n_rows)
    return ActiveBlock(phi.T @ phi, phi.T @ t, float(t @ t), ridges)


@pytest.mark.parametrize("steps", [[[7, 2, 9, 0]], [[7], [2], [9], [0]], [[7, 2], [9], [0]]])
@pytest.mark.parametrize("looks", [False, True])
def test_what_is_left_is_the_block_of_fewer_functions(rng, steps, looks):
    """Whether they leave one by one or together, and whether somebody asks for the inverse on the way."""
    block = block_of(rng)
    left, before = Remaining(block), block.inverse.copy()
    for gone in steps:
        (left.remove_together if len(gone) > 1 else lambda one: left.remove(int(one[0])))(np.array(gone))
        if looks:
            np.testing.assert_allclose(left.inverse.diagonal(), left.spread(), rtol=1e-9)
    kept = np.setdiff1d(np.arange(12), [7, 2, 9, 0])
    fewer = ActiveBlock(block.gram[np.ix_(kept, kept)], block.projections[kept], block.target_energy, block.ridges[kept])
    np.testing.assert_array_equal(left.kept, kept)
    for found in (left, left.copy()):
        np.testing.assert_allclose(found.inverse[np.ix_(kept, kept)], fewer.inverse, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(found.weights[kept], fewer.weights, rtol=1e-8)
        np.testing.assert_allclose(found.spread()[kept], fewer.spread(), rtol=1e-9)
        assert found.energy == pytest.approx(fewer.energy, rel=1e-10)
        assert found.log_determinant == pytest.approx(fewer.log_determinant, rel=1e-9)
    np.testing.assert_allclose(left.weights[[7, 2, 9, 0]], 0.0)
    np.testing.assert_allclose(left.block().inverse, fewer.inverse, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(block.inverse, before)


def test_a_copy_goes_its_own_way(rng):
    left = Remaining(block_of(rng))
    left.remove(3)
    other, weights = left.copy(), left.weights.copy()
    other.remove_together(np.array([1, 5]))
    np.testing.assert_array_equal(left.kept, np.delete(np.arange(12), 3))
    np.testing.assert_array_equal(left.weights, weights)


def test_nothing_changes_if_functions_cannot_leave_together():
    block = ActiveBlock(np.diag([1.0, 1.0, 2.0]), np.ones(3), 9.0, np.ones(3))
    block._inverse = np.ones((3, 3))  # as if two functions were one
    left = Remaining(block)
    with pytest.raises(NotPositiveDefiniteError):
        left.remove_together(np.array([0, 1]))
    assert left.alive.all()
    np.testing.assert_array_equal(left.inverse, 1.0)


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

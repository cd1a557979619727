"""Functions struck out of an inverse one by one."""

import numpy as np
import pytest

from skarce.searches.damped_newton import settle
from skarce.searches.removals import strike_out, thin_out


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

"""Newton's method with Levenberg's safeguard, on functions whose maximum is known."""

import numpy as np
import pytest

from skarce.searches.damped_newton import FIRST_DAMPING, LONGEST_STEP, Derivatives, damped_step


def climb(score, gradient, curvature, start, n_steps=60, tolerance=1e-12):
    """The points on the way."""
    x, damping, path = start, FIRST_DAMPING, [start]
    for _ in range(n_steps):
        here = x

        def attempt(delta, here=here):
            return here + delta, score(here + delta) - score(here)

        derivatives = Derivatives(gradient(x), curvature(x), np.ones(len(x)))
        x, promised, damping = damped_step(x, derivatives, attempt, tolerance, damping)
        path.append(x)
        if promised < tolerance:
            break
    return np.array(path)


def test_a_concave_function_is_climbed_to_its_top(rng):
    A = rng.normal(size=(5, 5))
    H, top = A @ A.T + np.eye(5), rng.normal(0.0, 5.0, 5)
    path = climb(lambda x: -0.5 * (x - top) @ H @ (x - top), lambda x: H @ (top - x), lambda x: H, np.zeros(5))
    np.testing.assert_allclose(path[-1], top, atol=1e-5)
    assert np.abs(np.diff(path, axis=0)).max() <= LONGEST_STEP * (1.0 + 1e-12)


def test_curvature_of_the_wrong_sign_and_steps_too_far_are_survived():
    """log cosh has next to no curvature far out: Newton's own step from there goes astray, and here it is even negative."""
    path = climb(
        lambda x: -float(np.logaddexp(x, -x).sum()),
        lambda x: -np.tanh(x),
        lambda x: np.diag(1.0 - 2.0 * np.tanh(x) ** 2),
        np.array([6.0, -3.0]),
        n_steps=300,
    )
    np.testing.assert_allclose(path[-1], 0.0, atol=1e-4)
    scores = -np.logaddexp(path, -path).sum(axis=1)
    assert (np.diff(scores) >= 0.0).all()


def test_what_has_no_point_or_falls_is_tried_again_more_carefully():
    tried = []

    def attempt(delta):
        tried.append(float(delta[0]))
        return None if len(tried) == 1 else (delta, -1.0 if len(tried) == 2 else 0.5)

    step, promised, damping = damped_step(None, Derivatives(np.ones(1), np.eye(1), np.ones(1)), attempt, 1e-6, FIRST_DAMPING)
    assert tried[0] > tried[1] > tried[2] > 0.0
    assert step[0] == tried[2]
    assert promised == pytest.approx(tried[2] - 0.5 * tried[2] ** 2)
    assert damping > FIRST_DAMPING


def test_a_step_that_promises_nothing_is_not_made():
    nothing = Derivatives(np.full(1, 1e-9), np.eye(1), np.ones(1))
    assert damped_step("here", nothing, pytest.fail, 1e-6, FIRST_DAMPING) == ("here", 0.0, FIRST_DAMPING)


def test_a_curvature_that_no_damping_makes_positive_ends_without_a_step():
    derivatives = Derivatives(np.ones(2), np.full((2, 2), np.nan), np.ones(2))
    here = np.zeros(2)
    there, promised, _ = damped_step(here, derivatives, lambda delta: (here + delta, 1.0), 1e-3, FIRST_DAMPING)
    assert there is here
    assert promised == 0.0


def test_a_step_that_raises_nothing_is_not_taken():
    """With a tolerance of zero, steps of the size of rounding would go on forever."""
    derivatives = Derivatives(np.full(2, 1e-20), np.eye(2), np.ones(2))
    here = np.zeros(2)
    there, promised, _ = damped_step(here, derivatives, lambda delta: (here + delta, 0.0), 0.0, FIRST_DAMPING)
    assert there is here
    assert promised == 0.0

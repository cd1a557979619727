"""Climbs to a maximum within bounds."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from skarce.model_selection.ascent import LONGEST, Ending, ascend

WIDE = np.full(4, -50.0), np.full(4, 50.0)


def hill(seed):
    """A concave quadratic function with its maximum, and the matrix of minus its second derivatives."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    curvature, top = root @ root.T + 0.1 * np.eye(4), rng.normal(size=4)

    def value(at):
        away = at - top
        return -0.5 * away @ curvature @ away, -curvature @ away

    return value, top, curvature


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_the_top_of_a_hill_and_its_curvature_is_positive(seed):
    value, top, _ = hill(seed)
    found = ascend(value, np.zeros(4), WIDE, tol=1e-12, max_iter=200)
    np.testing.assert_allclose(found.at, top, atol=1e-4)
    assert found.ending is Ending.TOP
    assert np.linalg.eigvalsh(found.curvature).min() > 0.0


@pytest.mark.parametrize("seed", range(5))
def test_with_the_true_curvature_one_step_is_enough(seed):
    value, top, curvature = hill(seed)
    n_calls = []
    start = top + np.random.default_rng(seed).uniform(-LONGEST, LONGEST, 4)
    found = ascend(lambda at: n_calls.append(1) or value(at), start, WIDE, tol=1e-9, max_iter=200, curvature=curvature)
    np.testing.assert_allclose(found.at, top, atol=1e-8)
    assert len(n_calls) <= 3  # the start, the top, and at most one step that confirms it


@pytest.mark.parametrize("seed", range(10))
def test_within_bounds_it_ends_where_another_optimizer_ends(seed):
    value, top, _ = hill(seed)
    bounds = top - np.array([1.0, 1.0, -0.2, 1.0]), top + np.array([1.0, -0.3, 1.0, 1.0])
    found = ascend(value, top + 0.5, bounds, tol=1e-12, max_iter=500)
    other = minimize(
        lambda at: -value(at)[0], top, jac=lambda at: -value(at)[1], bounds=np.transpose(bounds), tol=1e-14, method="L-BFGS-B"
    )
    np.testing.assert_allclose(found.at, other.x, atol=1e-3)
    assert (found.at >= bounds[0]).all()
    assert (found.at <= bounds[1]).all()


def test_a_curved_valley_is_followed_to_its_end():
    steps = []
    found = ascend(
        lambda at: (-rosen(at), -rosen_der(at)),
        np.array([-1.2, 1.0, -1.2, 1.0]),
        WIDE,
        tol=1e-10,
        max_iter=500,
        go_on=lambda step: steps.append(step) or True,
    )
    np.testing.assert_allclose(found.at, 1.0, atol=1e-3)
    assert all(step.gain > 0.0 for step in steps)
    moves = np.diff([step.at for step in steps], axis=0)
    assert np.abs(moves).max() <= LONGEST * (1 + 1e-12)


def test_it_says_why_it_ended():
    value, _, _ = hill(0)
    assert ascend(value, np.zeros(4), WIDE, tol=1e-12, max_iter=2).ending is Ending.STEPS
    assert ascend(value, np.zeros(4), WIDE, tol=1e-12, max_iter=9, go_on=lambda step: step.gain < 0.0).ending is Ending.STOPPED
    flat = ascend(lambda at: (1.0, np.zeros(4)), np.ones(4), WIDE, tol=1e-12, max_iter=9)
    assert flat.ending is Ending.TOP
    np.testing.assert_array_equal(flat.at, 1.0)


def test_a_curvature_spoiled_by_rounding_does_no_harm():
    value, top, _ = hill(0)
    found = ascend(value, np.zeros(4), WIDE, tol=1e-12, max_iter=500, curvature=np.ones((4, 4)) - 1e-9 * np.eye(4))
    np.testing.assert_allclose(found.at, top, atol=1e-3)

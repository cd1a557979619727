r"""Climbs to a maximum of a smooth function within bounds, by a quasi-Newton method that can take over what another climb learned.

Every step solves :math:`Bp = g` for the variables that are not held at a bound, with the gradient g and a positive definite
estimate B of the curvature (minus the second derivatives). B follows the formula of Broyden, Fletcher, Goldfarb and Shanno, damped
by Powell's rule. No variable moves by more than `LONGEST` in one step: variables are logarithms, and a long jump may leave the
region in which the function was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from skarce._typing import Floats

NOTHING = 1e-2  # a climb ends if the next step promises less than this share of the tolerance, whatever the last one gained
LONGEST = 2.0  # the largest change of a variable in one step
ENOUGH = 1e-4  # a step is kept if it gains at least this share of what the slope promises
SHORTENED = (0.1, 0.5)  # a step that does not gain enough is shortened by a factor between these
MAX_SHORTENED = 12  # a step that was shortened this often can gain nothing but rounding errors
FLATTEST = 0.03  # the first guess of the curvature of a variable is at least this share of the largest one
DAMPED = 0.2  # the curvature along a step counts as at least this share of what it was expected to be


class Ending(Enum):
    """Why a climb ended."""

    TOP = auto()  # neither the last step nor the next one gains more than the tolerance
    STEPS = auto()  # the number of steps is used up
    STOPPED = auto()  # the caller said so


@dataclass(frozen=True)
class Summit:
    """Where a climb ended.

    Attributes
    ----------
    at : the point
    value : the function there
    curvature : the estimate of minus the second derivatives, or None if there is none
    ending : why the climb ended
    """

    at: Floats
    value: float
    curvature: Floats | None
    ending: Ending

    @classmethod
    def start(cls, at: Floats, curvature: Floats | None = None) -> Summit:
        """Return a point from which nobody has climbed yet."""
        return cls(at, -np.inf, curvature, Ending.STOPPED)


@dataclass(frozen=True)
class Step:
    """A point on the way, the function there, and what the last step gained."""

    at: Floats
    value: float
    gain: float


def ascend(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    bounds: tuple[Floats, Floats],
    *,
    tol: float,
    max_iter: int,
    curvature: Floats | None = None,
    go_on: Callable[[Step], bool] = lambda step: True,
) -> Summit:
    """Climb from a start until a step gains at most `tol` and the next one promises no more.

    The function returns its value and its gradient. After every step, `go_on` says whether to continue.
    """
    at = np.clip(start, *bounds)
    value, gradient = function(at)
    curvature = _first_curvature(gradient) if curvature is None else curvature
    gain = np.inf
    for _ in range(max_iter):
        direction = _direction(at, gradient, curvature, bounds)
        promised = 0.5 * float(gradient @ direction)
        if promised <= NOTHING * tol or max(gain, promised) <= tol:
            return Summit(at, value, curvature, Ending.TOP)
        found = _line_search(function, at, value, gradient, direction, bounds)
        if found is None:
            return Summit(at, value, curvature, Ending.TOP)
        following, new_value, new_gradient = found
        curvature = _updated(curvature, following - at, gradient - new_gradient)
        gain = new_value - value
        at, value, gradient = following, new_value, new_gradient
        if not go_on(Step(at, value, gain)):
            return Summit(at, value, curvature, Ending.STOPPED)
    return Summit(at, value, curvature, Ending.STEPS)


def _direction(at: Floats, gradient: Floats, curvature: Floats, bounds: tuple[Floats, Floats]) -> Floats:
    """Return the step that the quadratic model proposes, for the variables that the bounds leave free."""
    free = np.flatnonzero(~((at <= bounds[0]) & (gradient < 0.0)) & ~((at >= bounds[1]) & (gradient > 0.0)))
    direction = np.zeros(len(at))
    if not len(free):
        return direction
    proposed = _solved(curvature[np.ix_(free, free)], gradient[free])
    each = np.clip(proposed, -LONGEST, LONGEST)
    if gradient[free] @ each < 0.0:  # variables that were cut carried the ascent
        each = proposed * min(1.0, LONGEST / float(np.abs(proposed).max()))
    direction[free] = each
    return direction


def _solved(curvature: Floats, gradient: Floats) -> Floats:
    """Return B^-1 g. If rounding has spoiled B, its diagonal is enough."""
    try:
        return np.asarray(cho_solve(cho_factor(curvature, lower=True), gradient))
    except LinAlgError:
        return gradient / np.maximum(curvature.diagonal(), 1e-12)


def _line_search(
    function: Callable[[Floats], tuple[float, Floats]],
    at: Floats,
    value: float,
    gradient: Floats,
    direction: Floats,
    bounds: tuple[Floats, Floats],
) -> tuple[Floats, float, Floats] | None:
    """Shorten the step until it gains enough. Return the new point, value and gradient, or None if nothing can be gained."""
    length = 1.0
    for _ in range(MAX_SHORTENED):
        following = np.clip(at + length * direction, *bounds)
        slope = float(gradient @ (following - at))
        new_value, new_gradient = function(following)
        if np.isfinite(new_value) and new_value - value >= ENOUGH * slope > 0.0:
            return following, new_value, new_gradient
        # The maximum of the parabola through both values with the slope at the start.
        missed = slope - (new_value - value)
        best = 0.5 * slope / missed if np.isfinite(missed) and missed > 0.0 else 0.0
        length *= float(np.clip(best, *SHORTENED))
    return None


def _first_curvature(gradient: Floats) -> Floats:
    """Return a curvature with which each variable moves by about one, and by less if its slope is small beside the others."""
    sizes = np.abs(gradient)
    return np.diag(np.maximum(sizes, max(FLATTEST * float(sizes.max()), 1e-12)))


def _updated(curvature: Floats, step: Floats, fall: Floats) -> Floats:
    """Return the curvature after a step along which the gradient fell by `fall`."""
    along = float(step @ fall)
    expected = curvature @ step
    size = float(step @ expected)
    if along < DAMPED * size:
        share = (1.0 - DAMPED) * size / (size - along)
        fall = share * fall + (1.0 - share) * expected
        along = float(step @ fall)
    return curvature - np.outer(expected, expected) / size + np.outer(fall, fall) / along

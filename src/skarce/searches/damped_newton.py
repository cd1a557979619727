"""Newton's method with Levenberg's damping, for all ridges or precisions of a model at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from scipy.linalg import lapack

from skarce._device import is_on_device, to_device, to_host
from skarce._linalg import NotPositiveDefiniteError, cholesky_on_device, inverse_of_lower_on_device, with_raised_diagonal
from skarce._typing import Floats

Point = TypeVar("Point")
Model = TypeVar("Model", bound="Adjustable")
LONGEST_STEP = 4.0  # in the logarithm of a ridge or precision
FIRST_DAMPING, LEAST_RAISED, MAX_DAMPING = 1e-2, 1e-3, 1e8


class Adjustable(Protocol):
    """A model in which every function has a ridge or precision to learn, and some functions may be superfluous."""

    def __len__(self) -> int: ...

    def without_superfluous(self) -> Self:
        """Return the model without the functions that are better left out, or itself if there are none."""
        ...

    def stepped(self, tolerance: float, damping: float) -> tuple[Self, float, float]:
        """Return the model after one `damped_step`, the gain it promised, and the damping for the next step."""
        ...


def settle(model: Model, tolerance: float, max_steps: int, is_late: Callable[[], bool] = lambda: False) -> tuple[Model, bool]:
    """Remove superfluous functions and take a step, in turn, until a step promises at most `tolerance` or the time is over.

    Return the model, and whether the steps ended that way with all functions kept. Functions that the last step made superfluous
    stay in the model.
    """
    damping = FIRST_DAMPING
    for _ in range(max_steps):
        if is_late():
            break
        n_before = len(model)
        model = model.without_superfluous()
        if not len(model):
            return model, n_before == 0
        model, promised, damping = model.stepped(tolerance, damping)
        if promised <= tolerance:
            return model, len(model) == n_before
    return model, False


class Derivatives(NamedTuple):
    """The derivatives of a score to be maximized.

    Attributes
    ----------
    gradient : array of shape (n_parameters,)
        The gradient of the score.
    curvature : array of shape (n_parameters, n_parameters)
        The negative Hessian, or an approximation of it. It may be on a device.
    scale : array of shape (n_parameters,)
        The scale of the damping.
    """

    gradient: Floats
    curvature: Any
    scale: Floats


def damped_step(
    here: Point,
    derivatives: Derivatives,
    attempt: Callable[[Floats], tuple[Point, float] | None],
    tolerance: float,
    damping: float,
) -> tuple[Point, float, float]:
    """Take one step that raises the score. Return the new point, the gain that was promised, and the damping for the next step.

    `attempt(delta)` returns the point after a step and the rise of the score, or None if there is no such point. A step that
    promises less than a tenth of `tolerance` is not taken, nor one that raises nothing; then the promised gain is 0. The damping
    grows with every failure, so there are at most a few dozen of them.
    """
    gradient, curvature, scale = derivatives
    while damping <= MAX_DAMPING:
        delta = _damped(curvature, damping * scale, gradient)
        if delta is None:
            damping = max(4.0 * damping, LEAST_RAISED)
            continue
        longest = float(np.abs(delta).max())
        if longest > LONGEST_STEP:
            delta *= LONGEST_STEP / longest
        promised = float(delta @ (gradient - 0.5 * to_host(curvature @ to_device(delta, curvature))))
        if not promised >= 0.1 * tolerance:
            break
        attempted = attempt(delta)
        if attempted is not None and attempted[1] > 0.0:
            there, risen = attempted
            easier = 0.1 if risen > 0.75 * promised else (1.0 if risen > 0.25 * promised else 4.0)
            return there, promised, damping * easier
        damping = max(8.0 * damping, LEAST_RAISED)
    return here, 0.0, damping


def _damped(curvature: Any, damping: Floats, gradient: Floats) -> Floats | None:
    """Return the solution of (curvature + damping) delta = gradient, or None if the matrix is not positive definite."""
    if is_on_device(curvature):
        return _damped_on_device(curvature, damping, gradient)
    matrix = curvature.copy()
    matrix.flat[:: len(matrix) + 1] += damping
    _, delta, info = lapack.dposv(matrix, gradient, lower=1)
    return delta if info == 0 else None


def _damped_on_device(curvature: Any, damping: Floats, gradient: Floats) -> Floats | None:
    """Return the same for a matrix on a device."""
    try:
        root = inverse_of_lower_on_device(cholesky_on_device(with_raised_diagonal(curvature, damping)))
    except NotPositiveDefiniteError:
        return None
    return to_host(root.T @ (root @ to_device(gradient, curvature)))

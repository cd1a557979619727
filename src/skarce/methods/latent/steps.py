"""Second-order steps for all precisions of a Laplace approximation at once, each checked by the score itself.

The Hessian is that of the problem with B held, which is right but for terms of higher order; Levenberg's safeguard compares what a
step promised with what the score says at the new mode. Functions whose best precision is infinite are taken out.
"""

from __future__ import annotations

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.methods.latent.laplace import Laplace
from skarce.searches.damped_newton import FIRST_DAMPING, Derivatives, damped_step

PRECISION_RANGE = 1e-12, 1e12  # in units of the largest curvature that the likelihood can give a function
ROUNDING = 1e-9  # of the score: less is not told from nothing


def settle(model: Laplace, tolerance: float, max_steps: int) -> tuple[Laplace, bool]:
    """Raise the score over all precisions until a step promises less than `tolerance`; the model, and whether it came to that."""
    damping = FIRST_DAMPING
    for _ in range(max_steps):
        n_before = len(model)
        if n_before:
            model = without_superfluous(model)
        if not len(model):
            return model, n_before == 0
        model, promised, damping = _levenberg_step(model, tolerance, damping)
        if promised < tolerance:
            return model, len(model) == n_before
    return model, False


def without_superfluous(model: Laplace) -> Laplace:
    """Less the functions that the score is better without: all that seem so, or else the one that seems most so."""
    positions = superfluous(model)
    for chosen in (positions, positions[:1]):
        if len(chosen):
            smaller = model.without(chosen)
            if smaller.score >= model.score - ROUNDING * abs(model.score):
                return smaller
    return model


def capped(model: Laplace, max_active: int | None) -> Laplace:
    """Less the functions that are missed least, until no more than `max_active` are left."""
    while max_active is not None and len(model) > max_active:
        a, spread, w = model.precisions, model.covariance.diagonal(), model.weights
        losses = 0.5 * (np.log(a * spread) + w * (w - model.pull) / spread)[model.learned] - model.penalties
        n_removed = max(1, (len(model) - max_active) // 2)
        model = model.without(np.argsort(losses)[:n_removed])
    return model


def superfluous(model: Laplace) -> Indices:
    """Functions whose best precision is infinite with B held, taken out one by one, the most useful removal first."""
    a, inverse = model.precisions[model.learned], model.covariance[model.learned, model.learned]
    w, u = model.weights[model.learned], model.pull[model.learned]
    rates, (_, highest) = model.penalty_rates, precision_range(model)
    removed: list[int] = []
    while True:
        spread = inverse.diagonal().copy()
        spread[removed] = 1.0
        explained = w * (w - u) / spread
        gains = model.penalties - 0.5 * (np.log(a * spread) + explained)
        # q > s + e/tau^2 with q = explained/spread, s = 1/spread - alpha: the score rises with the prior variance from zero on
        gains[(explained > 1.0 - a * spread + 2.0 * rates * spread) & (a < highest)] = -np.inf
        gains[removed] = -np.inf
        position = int(gains.argmax())
        if gains[position] == -np.inf:
            return np.array(removed, dtype=np.intp)
        removed.append(position)
        column = inverse[position] / inverse[position, position]
        w, u = w - column * w[position], u - column * u[position]
        inverse = inverse - np.multiply.outer(column, inverse[position])
        if len(removed) == len(a):
            return np.array(removed, dtype=np.intp)


def _levenberg_step(model: Laplace, tolerance: float, damping: float) -> tuple[Laplace, float, float]:
    """One accepted step: the new model, what was promised, and the damping to go on with."""
    gradient = model.gradient
    lowest, highest = precision_range(model)
    precisions = model.precisions[model.learned]
    gradient[(precisions <= lowest) & (gradient < 0.0)] = 0.0

    def attempt(delta: Floats) -> tuple[Laplace, float] | None:
        try:
            trial = model.at(np.clip(precisions * np.exp(delta), lowest, highest))
        except NotPositiveDefiniteError:
            return None
        return trial, trial.score - model.score

    derivatives = Derivatives(gradient, model.negative_hessian, model.stiffness)
    return damped_step(model, derivatives, attempt, tolerance, damping)


def precision_range(model: Laplace) -> tuple[Floats, Floats]:
    """The precisions that a function may have: beyond, the data or the prior alone decide to within rounding."""
    largest = 0.25 * model.energies[model.learned]
    return PRECISION_RANGE[0] * largest, PRECISION_RANGE[1] * largest

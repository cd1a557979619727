"""Second-order steps for all precisions of a Laplace approximation at once, each checked by the score itself.

The Hessian is that of the problem with B held, which is right but for terms of higher order; Levenberg's safeguard compares what a
step promised with what the score says at the new mode. Functions whose best precision is infinite are taken out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.methods.latent.model import LatentModel, Model
from skarce.searches import damped_newton
from skarce.searches.damped_newton import Derivatives, damped_step
from skarce.searches.removals import strike_out, thin_out
from skarce.states.journal import Journal

PRECISION_RANGE = 1e-12, 1e12  # in units of the largest curvature that the likelihood can give a function
ROUNDING = 1e-9  # of the score: a smaller loss counts as none


def settle(model: Model, tolerance: float, max_steps: int, journal: Journal | None = None) -> tuple[Model, bool]:
    """Raise the score over all precisions until a step promises less than `tolerance`; the model, and whether it came to that.

    The steps end early if the limits of the journal, if there is one, leave no time for another model.
    """
    if len(model) and (journal is None or journal.budget.deadline is None):  # compiled code asks no clock
        compiled_end = model.settled_by_compiled(tolerance, max_steps)
        if compiled_end is not None:
            return compiled_end
    settled, converged = damped_newton.settle(Precisions(model, journal), tolerance, max_steps)
    return settled.model, converged and not settled.is_late


def capped(model: Model, max_active: int | None) -> Model:
    """Return the model less the functions that are missed least, until no more than `max_active` are left."""
    while max_active is not None and len(model) > max_active:
        a, spread, w = model.precisions, model.spread, model.weights
        losses = 0.5 * (np.log(a * spread) + w * (w - model.pull) / spread)[model.learned] - model.penalties
        n_removed = max(1, (len(model) - max_active) // 2)
        model = model.without(np.argsort(losses)[:n_removed])
    return model


def superfluous(model: LatentModel) -> Indices:
    """Return the functions whose best precision is infinite with B held, found one by one, the most useful removal first."""
    return thin_out(Remaining(model))


@dataclass(frozen=True)
class Precisions(Generic[Model]):
    """A model as `damped_newton.settle` sees it, and the journal whose limits hold."""

    model: Model
    journal: Journal | None = None

    def __len__(self) -> int:
        return len(self.model)

    @property
    def is_late(self) -> bool:
        """Whether there is no time for another model."""
        return self.journal is not None and self.journal.exhausted(ahead=self.model.seconds) is not None

    def without_superfluous(self) -> Precisions[Model]:
        """All that seem superfluous go, or else the one that seems most so, if the score at the new mode agrees."""
        model = self.model
        positions = superfluous(model)
        for chosen in (positions, positions[:1]):
            if len(chosen) and not self.is_late:
                smaller = _without(model, chosen)
                if smaller is not None and smaller.score >= model.score - ROUNDING * abs(model.score):
                    return Precisions(smaller, self.journal)
        return self

    def stepped(self, tolerance: float, damping: float) -> tuple[Precisions[Model], float, float]:
        if self.is_late:
            return self, 0.0, damping
        model, gradient = self.model, self.model.gradient
        lowest, highest = precision_range(model)
        precisions = model.precisions[model.learned]
        gradient[(precisions <= lowest) & (gradient < 0.0)] = 0.0

        def attempt(delta: Floats) -> tuple[Precisions[Model], float] | None:
            if self.is_late:
                return self, 0.0
            try:
                trial = model.at(np.clip(precisions * np.exp(delta), lowest, highest))
            except NotPositiveDefiniteError:
                return None
            return Precisions(trial, self.journal), trial.score - model.score

        derivatives = Derivatives(gradient, model.negative_hessian, model.stiffness)
        return damped_step(self, derivatives, attempt, tolerance, damping)


def _without(model: Model, positions: Indices) -> Model | None:
    """Return the model less some functions, or None if the others are dependent at every point on the way to its mode."""
    try:
        return model.without(positions)
    except NotPositiveDefiniteError:
        return None


class Remaining:
    """The learned functions of a model, from which some are struck out with B held."""

    def __init__(self, model: LatentModel) -> None:
        self._model = model
        self._inverse = model.covariance[model.learned, model.learned].copy()
        self._weights, self._pull = model.weights[model.learned].copy(), model.pull[model.learned].copy()
        self._is_left = np.ones(len(model), dtype=bool)

    def doubtful(self) -> tuple[Indices, Floats]:
        """The score does not rise with the prior variance from zero on unless q > s + e/tau^2."""
        model, spread = self._model, self._inverse.diagonal()
        precisions = model.precisions[model.learned]
        explained = self._weights * (self._weights - self._pull) / spread
        # q = explained/spread and s = 1/spread - alpha, both times the spread
        helps = explained > 1.0 - precisions * spread + 2.0 * model.penalty_rates * spread
        positions = np.flatnonzero(self._is_left & ~(helps & (precisions < precision_range(model)[1])))
        # Rounding may leave a spread of zero or less if functions depend on each other.
        gains = model.penalties - 0.5 * (np.log(np.maximum(precisions * spread, np.finfo(float).tiny)) + explained)
        return positions, gains[positions]

    def remove(self, position: int) -> None:
        strike_out(position, self._inverse, self._weights, self._pull)
        self._inverse[position, position] = 1.0  # any number but zero: it is not asked for again
        self._is_left[position] = False


def precision_range(model: LatentModel) -> tuple[Floats, Floats]:
    """Return the precisions that a function may have: beyond, the data or the prior alone decide to within rounding."""
    largest = model.largest_curvatures[model.learned]
    return PRECISION_RANGE[0] * largest, PRECISION_RANGE[1] * largest

"""A variational model that follows single rows: one step for each of them, without the candidates that are not in the model.

For given ridges, weights and noise are those of all rows so far, by a Cholesky factor of the active block. The ridges take one step
of Newton's method for each row. Which candidates are in the model is decided again by `follow`, after some rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lapack

from skarce._typing import Floats
from skarce.criteria.variational import VariationalBound, bound_at, determination
from skarce.designs.problem import Problem
from skarce.methods.variational.direct import PRUNED_DETERMINATION
from skarce.methods.variational.precisions import Precisions, best_precisions
from skarce.moments.moments import LOST_DIGITS
from skarce.posteriors.variational import VariationalPosterior
from skarce.states.journal import TRACE
from skarce.states.outcome import Outcome


@dataclass(frozen=True)
class FollowedModel:
    """The active block of the moments of one target in user units, and the model.

    Attributes
    ----------
    gram : array of shape (n_active, n_active)
        Phi'Phi of the active candidates.
    projections : array of shape (n_active,)
        Phi't.
    target_energy : float
        t't.
    n_samples : float
        N, or N - 1 with an intercept.
    weights : array of shape (n_active,)
        mu.
    precisions : Precisions
        The precision of each weight, and the noise.
    factor : array of shape (n_active, n_active)
        The lower Cholesky factor of Phi'Phi + Lambda.
    """

    gram: Floats
    projections: Floats
    target_energy: float
    n_samples: float
    weights: Floats
    precisions: Precisions
    factor: Floats

    @classmethod
    def of(cls, posterior: VariationalPosterior, problem: Problem) -> FollowedModel:
        """Return the model of a posterior, to go on from there."""
        moments, active, scale = problem.moments, posterior.active, problem.target_scale
        gram = moments.gram.block(active, active)
        ridges = posterior.ridges / gram.diagonal()
        return cls(
            gram,
            moments.projections[active] / scale,
            moments.target_energy / scale**2,
            moments.n_samples,
            posterior.mean,
            Precisions(ridges, *determination(ridges), posterior.noise_variance),
            posterior.factor,
        )

    @property
    def ridges(self) -> Floats:
        """lambda of each weight."""
        return self.precisions.relative_ridges * self.gram.diagonal()

    def after_row(self, row: Floats, target: float, forgetting: float, n_samples: float) -> FollowedModel | None:
        """Return the model after a row with these active candidates and this target. With an intercept, they are about their means.

        Returns None if a candidate would leave the model, or if digits are lost: then it is time for `follow`.
        """
        gram = forgetting * self.gram + row[:, None] * row
        projections = forgetting * self.projections + target * row
        target_energy = forgetting * self.target_energy + target * target
        squared_norms, weights = gram.diagonal(), self.weights
        residual = target_energy + float(weights @ (gram @ weights - 2.0 * projections))
        strengths = weights * weights * squared_norms
        if not (residual > LOST_DIGITS * target_energy and strengths.all()):
            return None
        held = replace(self.precisions, relative_ridges=self.ridges / squared_norms)
        precisions = best_precisions(strengths, np.ones(len(weights)), residual, n_samples, held, most=1)
        if not precisions.determined.min() > PRUNED_DETERMINATION:
            return None
        after = replace(self, gram=gram, projections=projections, target_energy=target_energy, n_samples=n_samples)
        return after._solved(precisions)

    def _solved(self, precisions: Precisions) -> FollowedModel | None:
        """Return the model with the best weights and noise for given precisions."""
        matrix = self.gram.copy()
        matrix.flat[:: len(matrix) + 1] *= 1.0 + precisions.relative_ridges
        factor, info = lapack.dpotrf(matrix, lower=1, clean=1)
        weights, _ = lapack.dpotrs(factor, self.projections, lower=1)
        energy = self.target_energy - float(weights @ self.projections)
        if info != 0 or not energy > LOST_DIGITS * self.target_energy:
            return None
        return replace(self, weights=weights, factor=factor, precisions=replace(precisions, noise=energy / self.n_samples))

    def bound(self) -> float:
        """Return L without its constant. The noise is at its best value, so the energy divided by it is N."""
        now = self.precisions
        energy, sizes = now.noise * self.n_samples, np.ones(len(self.weights))
        return bound_at(self.n_samples, energy, now.noise, now.relative_ridges, sizes, now.determined, now.total_determined)

    def posterior(self, last: VariationalPosterior, means: Floats, target_mean: float, n_total: float) -> VariationalPosterior:
        """Return the posterior of this model, which has the candidates of the last one. Means are zero without an intercept."""
        criterion = float(VariationalBound().value(self.bound(), self.n_samples, n_total, 1.0))
        return replace(
            last,
            mean=self.weights,
            center=means,
            intercept=target_mean - float(means @ self.weights),
            factor=self.factor,
            ridges=self.ridges,
            noise_variance=self.precisions.noise,
            n_samples=n_total,
            criterion=criterion,
            outcome=Outcome.FOLLOWING,
            trace=np.array([("solve", -1, criterion, len(self.weights))], dtype=TRACE),
            n_iter=1,
            squared_norms=self.gram.diagonal(),
        )

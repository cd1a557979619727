"""Variational Bayesian least squares by ridge regressions: the fixed points of the paper's sweeps in a few dozen solves.

Each step solves for the weights at the current ridges. Then precisions, shares and noise move to their joint optimum for these
weights (`precisions`). Both raise the bound. Start and schedule are those of VBLS errata 3.4 and 3.5: a weak prior, and a noise
that is fixed at first. With about as many candidates as rows, the noise would otherwise collapse before anything is pruned.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, symmetric_inverse
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.criteria.variational import bound_at, determination
from skarce.methods.variational.choice import group_p_values
from skarce.methods.variational.precisions import Groups, Mask, Precisions, best_precisions
from skarce.methods.variational.ridge_solves import RidgeSystem, ridge_system
from skarce.moments import Moments
from skarce.states.fit import Fit
from skarce.states.journal import Journal, Stopwatch
from skarce.states.outcome import Outcome

FINAL_SHARE = 1.0  # the model that is returned takes about as long as one solve
HELD = 10  # solves at the first noise
FEWEST = 13  # solves at least, because the first ones may change nothing
PRUNED_DETERMINATION = 1e-6  # a group whose weights are less well determined than this leaves the model
FIRST_NOISE = 0.1  # of the variance of the target
FIRST_PRECISION = 1e-4  # of a standardized weight, for a target of unit variance
WEAKEST = 1e-11  # the least relative ridge for which dependent columns still have a Cholesky factor


@dataclass
class VariationalModel:
    """The candidates in the model, their weights, and the precisions of their groups.

    Attributes
    ----------
    moments : Moments
        The moments of all candidates.
    candidates : ndarray of shape (n_active,)
        The candidates in the model, in ascending order.
    groups : Groups
        Which of them share a precision.
    precisions : Precisions
        The precisions of the groups, and the noise.
    weights : ndarray of shape (n_active,)
        mu, one for each candidate in the model.
    system : RidgeSystem
        Solves for the weights at given ridges.
    residual : float
        |t - Phi mu|^2, infinite before the first solve.
    """

    moments: Moments
    candidates: Indices
    groups: Groups
    precisions: Precisions
    weights: Floats
    system: RidgeSystem
    residual: float = np.inf

    @classmethod
    def start(cls, moments: Moments, labels: Indices) -> VariationalModel:
        """Return the model of all candidates that vary, under a weak prior."""
        candidates = np.flatnonzero(moments.gram.diagonal > 0.0)
        groups = Groups.of(labels[candidates])
        noise = FIRST_NOISE * moments.target_energy / moments.n_samples
        weak = max(FIRST_PRECISION * FIRST_NOISE / moments.n_samples, WEAKEST)
        return cls.at(moments, candidates, groups, np.full(len(groups.sizes), weak), noise, np.zeros(len(candidates)))

    @classmethod
    def empty(cls, moments: Moments, labels: Indices) -> VariationalModel:
        """Return the model without candidates: noise alone."""
        model = cls.start(moments, labels)
        model.keep(np.zeros(len(model), dtype=bool))
        return model

    @classmethod
    def at(
        cls, moments: Moments, candidates: Indices, groups: Groups, ridges: Floats, noise: float, weights: Floats
    ) -> VariationalModel:
        """Return the model of these candidates at these relative ridges of their groups."""
        precisions = Precisions(ridges, *determination(ridges, groups.sizes), noise)
        return cls(moments, candidates, groups, precisions, weights, ridge_system(moments, candidates))

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def squared_norms(self) -> Floats:
        """h = diag(Phi'Phi) of the candidates in the model."""
        return self.moments.gram.diagonal[self.candidates]

    @property
    def ridges(self) -> Floats:
        """lambda, one for each candidate."""
        return self.precisions.relative_ridges[self.groups.label] * self.squared_norms

    @property
    def effects(self) -> Floats:
        """mu^2 h of each candidate."""
        return self.weights**2 * self.squared_norms

    @property
    def strengths(self) -> Floats:
        """The sum of mu^2 h over each group."""
        return self.groups.total(self.effects)

    @property
    def bound(self) -> float:
        """L at these weights and precisions, without its constant."""
        now = self.precisions
        energy = self.residual + float(now.relative_ridges @ self.strengths)
        known = now.relative_ridges, self.groups.sizes, now.determined, now.total_determined
        return bound_at(self.moments.n_samples, energy, now.noise, *known)

    def solve(self) -> float:
        """Compute the best weights. Returns how far any of them moved the fit at most, relative to the target."""
        before = self.weights
        self.weights, self.residual = self.system.solve(self.ridges, before)
        moves = np.abs(self.weights - before) * np.sqrt(self.squared_norms)
        return float(moves.max(initial=0.0)) / float(np.sqrt(self.moments.target_energy))

    def update_precisions(self, *, hold_noise: bool) -> bool:
        """Compute the best precisions and noise for these weights. Returns whether any group faded and was removed."""
        strengths = self.strengths
        faded = not strengths.all()
        if faded:
            self.keep(strengths[self.groups.label] > 0.0)
            strengths = strengths[strengths > 0.0]
        if len(self):
            n, sizes = self.moments.n_samples, self.groups.sizes
            self.precisions = best_precisions(strengths, sizes, self.residual, n, self.precisions, hold_noise=hold_noise)
            lasting = self.precisions.determined[self.groups.label] > PRUNED_DETERMINATION
            if not lasting.all():
                faded = True
                self.keep(lasting)
        return faded

    def keep(self, chosen: Mask) -> None:
        """Keep only the candidates for which `chosen` is true."""
        kept = np.flatnonzero(chosen)
        self.groups, old = self.groups.restricted_to(kept)
        self.precisions = self.precisions.restricted_to(old, self.groups.sizes)
        self.candidates, self.weights = self.candidates[kept], self.weights[kept]
        self.system = self.system.restricted_to(kept)
        if not len(kept):  # noise alone
            self.residual = self.moments.target_energy
            self.precisions = replace(self.precisions, noise=self.residual / self.moments.n_samples)

    def kept(self, chosen: Mask, journal: Journal) -> VariationalModel:
        """Return another model, of the candidates for which `chosen` is true, iterated again to convergence."""
        smaller = copy(self)
        smaller.keep(chosen)
        iterate(smaller, journal)
        return smaller

    def p_values(self) -> Floats:
        """Return p values of F tests of each group, with the full covariance and N - Gamma degrees of freedom."""
        matrix = self.moments.gram.block(self.candidates, self.candidates)
        matrix.flat[:: len(matrix) + 1] += self.ridges
        covariance = self.precisions.noise * symmetric_inverse(cholesky_of_nearly_singular(matrix))
        freedom = max(self.moments.n_samples - self.precisions.total_determined, 1.0)
        return group_p_values(self.groups, self.weights, covariance, freedom)

    def fit(self, outcome: Outcome) -> Fit:
        """Return the model as a fit."""
        return Fit(self.candidates, self.ridges, outcome)


@on_one_blas_thread
def run_direct(moments: Moments, journal: Journal, labels: Indices) -> VariationalModel:
    """Iterate from a weak prior on all candidates to a fixed point, or to a limit of the journal."""
    model = VariationalModel.start(moments, labels)
    if len(model):
        watch = journal.stopwatch()
        model.solve()
        _lower_first_noise(model)
        iterate(model, journal, held=HELD, fewest=FEWEST, watch=watch)
    return model


def resume(moments: Moments, labels: Indices, last: Fit) -> VariationalModel:
    """Return a model that continues from a fit: its candidates and ridges, with weights and noise for the new moments."""
    groups, first = Groups.of(labels[last.active]), np.unique(labels[last.active], return_index=True)[1]
    ridges = np.maximum(last.ridges / moments.gram.diagonal[last.active], WEAKEST)[first]
    model = VariationalModel.at(moments, last.active, groups, ridges, 1.0, np.zeros(len(last.active)))
    model.solve()
    energy = model.residual + float(model.precisions.relative_ridges @ model.strengths)
    model.precisions = replace(model.precisions, noise=energy / moments.n_samples)
    return model


def iterate(
    model: VariationalModel,
    journal: Journal,
    *,
    held: int = 0,
    fewest: int = 1,
    most: int | None = None,
    watch: Stopwatch | None = None,
) -> None:
    """Iterate until no weight moves, for at least `fewest` and at most `most` steps. The noise is fixed in the first `held`.

    `watch` may have measured something that takes as long as the first step.
    """
    step, watch = 0, watch or journal.stopwatch()
    while len(model) and watch.exhausted(1.0 + FINAL_SHARE) is None and (most is None or step < most):
        moved = model.solve()
        faded = model.update_precisions(hold_noise=step < held)
        journal.note("solve", -1, model.bound, len(model))
        step += 1
        if step >= fewest and moved < journal.budget.tol and not faded:
            return


def _lower_first_noise(model: VariationalModel) -> None:
    """Lower the first guess of the noise to that of least squares, if there are many rows (VBLS errata 3.5)."""
    n, m = model.moments.n_samples, len(model)
    if n > 2 * m:
        noise = min(model.precisions.noise, model.residual / (n - m))
        model.precisions = replace(model.precisions, noise=noise)

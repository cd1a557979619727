"""Variational Bayesian least squares by ridge regressions: the fixed points of the paper's sweeps in some tens of solutions.

Each step solves for the weights at the ridges there are, then moves precisions, shares and noise to their joint optimum for these
weights (`precisions`). Both raise the bound. Start and schedule are those of VBLS errata 3.4 and 3.5: a weak prior, and a
noise that is held at first, since with about as many candidates as rows it would otherwise run away before anything is pruned.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, symmetric_inverse
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.criteria.variational import bound, determination
from skarce.methods.variational.choice import group_p_values
from skarce.methods.variational.precisions import Groups, Mask, Precisions, best_precisions
from skarce.methods.variational.ridge_solves import RidgeSystem, ridge_system
from skarce.moments import Moments
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

HELD = 10  # solutions at the first noise
FEWEST = 13  # solutions at least: the first change may be none
PRUNED_DETERMINATION = 1e-6  # a group whose weights are less well determined than this has left
FIRST_NOISE = 0.1  # of the variance of the target
FIRST_PRECISION = 1e-4  # of a standardised weight, for a target of unit variance
WEAKEST = 1e-11  # least relative ridge that a Cholesky factor of dependent columns can hold


@dataclass
class VariationalModel:
    """Candidates that are in, their weights, and the precisions of their groups."""

    moments: Moments
    candidates: Indices
    groups: Groups
    precisions: Precisions
    weights: Floats
    system: RidgeSystem
    residual: float = np.inf

    @classmethod
    def start(cls, moments: Moments, labels: Indices) -> VariationalModel:
        """All candidates that vary, under a weak prior."""
        candidates = np.flatnonzero(moments.gram.diagonal > 0.0)
        groups = Groups.of(labels[candidates])
        noise = FIRST_NOISE * moments.target_energy / moments.n_samples
        weak = max(FIRST_PRECISION * FIRST_NOISE / moments.n_samples, WEAKEST)
        return cls.at(moments, candidates, groups, np.full(len(groups.sizes), weak), noise, np.zeros(len(candidates)))

    @classmethod
    def empty(cls, moments: Moments, labels: Indices) -> VariationalModel:
        """Noise alone."""
        model = cls.start(moments, labels)
        model.keep(np.zeros(len(model), dtype=bool))
        return model

    @classmethod
    def at(
        cls, moments: Moments, candidates: Indices, groups: Groups, ridges: Floats, noise: float, weights: Floats
    ) -> VariationalModel:
        """These candidates at these relative ridges of their groups."""
        precisions = Precisions(ridges, *determination(ridges, groups.sizes), noise)
        return cls(moments, candidates, groups, precisions, weights, ridge_system(moments, candidates))

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def squared_norms(self) -> Floats:
        """h = diag(Phi'Phi) of the candidates that are in."""
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
        return bound(self.moments.n_samples, energy, now.noise, now.relative_ridges, self.groups.sizes)

    def solve(self) -> float:
        """The best weights; how far one of them moved the fit at most, as a share of the target."""
        before = self.weights
        self.weights, self.residual = self.system.solve(self.ridges, before)
        moves = np.abs(self.weights - before) * np.sqrt(self.squared_norms)
        return float(moves.max(initial=0.0)) / float(np.sqrt(self.moments.target_energy))

    def update_precisions(self, *, hold_noise: bool) -> bool:
        """The best precisions and noise for these weights, groups that fade being taken out; whether there were any."""
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
        """Only the candidates where `chosen` is true."""
        kept = np.flatnonzero(chosen)
        self.groups, old = self.groups.restricted_to(kept)
        self.precisions = self.precisions.restricted_to(old, self.groups.sizes)
        self.candidates, self.weights = self.candidates[kept], self.weights[kept]
        self.system = self.system.restricted_to(kept)
        if not len(kept):  # noise alone
            self.residual = self.moments.target_energy
            self.precisions = replace(self.precisions, noise=self.residual / self.moments.n_samples)

    def kept(self, chosen: Mask, journal: Journal) -> VariationalModel:
        """Another model, of the candidates where `chosen` is true, settled again."""
        smaller = copy(self)
        smaller.keep(chosen)
        iterate(smaller, journal)
        return smaller

    def p_values(self) -> Floats:
        """F tests of each group (of one: t tests) with the full covariance of the weights and N - Gamma degrees of freedom."""
        matrix = self.moments.gram.block(self.candidates, self.candidates)
        matrix.flat[:: len(matrix) + 1] += self.ridges
        covariance = self.precisions.noise * symmetric_inverse(cholesky_of_nearly_singular(matrix))
        freedom = max(self.moments.n_samples - self.precisions.total_determined, 1.0)
        return group_p_values(self.groups, self.weights, covariance, freedom)

    def fit(self, outcome: Outcome) -> Fit:
        return Fit(self.candidates, self.ridges, outcome)


@on_one_blas_thread
def run_direct(moments: Moments, journal: Journal, labels: Indices) -> VariationalModel:
    """From the weak start to a fixed point, or to a limit of the journal."""
    model = VariationalModel.start(moments, labels)
    if len(model):
        model.solve()
        _lower_first_noise(model)
        iterate(model, journal, held=HELD, fewest=FEWEST)
    return model


def resume(moments: Moments, labels: Indices, last: Fit) -> VariationalModel:
    """Where another fit ended, with the weights and the noise that its ridges give for moments that have changed."""
    groups, first = Groups.of(labels[last.active]), np.unique(labels[last.active], return_index=True)[1]
    ridges = np.maximum(last.ridges / moments.gram.diagonal[last.active], WEAKEST)[first]
    model = VariationalModel.at(moments, last.active, groups, ridges, 1.0, np.zeros(len(last.active)))
    model.solve()
    energy = model.residual + float(model.precisions.relative_ridges @ model.strengths)
    model.precisions = replace(model.precisions, noise=energy / moments.n_samples)
    return model


def iterate(model: VariationalModel, journal: Journal, *, held: int = 0, fewest: int = 1, most: int | None = None) -> None:
    """Steps until no weight moves any more, at most `most` of them; the noise is held in the first `held`."""
    step = 0
    while len(model) and journal.exhausted() is None and (most is None or step < most):
        moved = model.solve()
        faded = model.update_precisions(hold_noise=step < held)
        journal.note("solve", -1, model.bound, len(model))
        step += 1
        if step >= fewest and moved < journal.budget.tol and not faded:
            return


def _lower_first_noise(model: VariationalModel) -> None:
    """Where rows are many, least squares tells of a noise that is smaller than the first guess (VBLS errata 3.5)."""
    n, m = model.moments.n_samples, len(model)
    if n > 2 * m:
        noise = min(model.precisions.noise, model.residual / (n - m))
        model.precisions = replace(model.precisions, noise=noise)

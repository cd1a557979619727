r"""The paper's form of variational classification: one fake target for each weight, independent weights (VBLS errata 3.9).

The latent function is a sum of fake targets :math:`z_{im} \sim N(b_mf_{im}, \psi_m)`; a row knows
:math:`S = \sum\psi_m` alone.
With labels :math:`y = \pm1`, :math:`\varphi_i = \tanh(\xi_i/2)/(4\xi_i)`, :math:`s_i = 1 + 2\varphi_iS`, means :math:`m = F\mu` and
variances :math:`v_m = \psi_m/(h_m + \psi_m\alpha_m)` of the weights, the bound is

.. math:: L = \sum_ic_i\left[\log g(\xi_i) - \tfrac{\xi_i}2 + \varphi_i\xi_i^2 - \tfrac12\log s_i +
   \frac{y_im_i/2 + S/8 - \varphi_im_i^2}{s_i}\right] - \tfrac12\sum_m\left[\frac{v_mh_m}{\psi_m} + \alpha_m(\mu_m^2 + v_m) -
   1 - \log\alpha_mv_m\right].

The constant, if there is one, stands beside the fake targets as a parameter with prior N(0, 10^2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_expit

from skarce._linalg import cholesky_of_nearly_singular, solve_lower
from skarce._typing import Floats
from skarce.methods.latent.functions import weighted_gram
from skarce.methods.variational.precisions import RELEVANT, Mask
from skarce.methods.variational_classes.model import (
    LARGEST,
    PRUNED,
    SETTLED,
    STEPS_AHEAD,
    STILL,
    Variational,
    Weighted,
    curvature_of_bound,
)
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

FIRST_PRECISION, FIRST_TOTAL = 1e-4, 0.1
HELD = 20  # solutions with S held: free at once, all kernel functions can die
INNER = 5  # rounds for xi, shares, S and precisions between two solutions for the weights


@dataclass(frozen=True)
class FakeTargets(Weighted):
    """Precisions and xi as in `Variational`, the variances of the fake targets, and the weights (the constant first)."""

    model: Variational
    fake_variances: Floats  # psi
    weights: Floats

    @staticmethod
    def start(model: Variational) -> FakeTargets:
        n, n_fixed = len(model.candidates), model.n_fixed
        model = replace(model, precisions=np.full(len(model.groups.sizes), FIRST_PRECISION))
        return FakeTargets(model, np.full(n, FIRST_TOTAL / max(n, 1)), np.zeros(n + n_fixed))

    @property
    def total(self) -> float:
        """S."""
        return float(self.fake_variances.sum())

    @property
    def own_variance(self) -> float:
        """S: the fake targets differ from what the weights say."""
        return self.total

    @property
    def signs(self) -> Floats:
        """y."""
        return 2.0 * self.model.observations.targets - 1.0

    @property
    def alpha(self) -> Floats:
        return self.model.precisions[self.model.groups.label]

    def solved(self) -> FakeTargets:
        """With the best weights: (F'WF + A) mu = F'(y / 2 s) with w = 2 phi / s."""
        model, curvature = self.model, curvature_of_bound(self.model.xi)
        shrunk = 1.0 + 2.0 * curvature * self.total
        matrix = weighted_gram(model.design, 2.0 * model.observations.weights * curvature / shrunk)
        matrix.flat[:: len(matrix) + 1] += model.alpha
        right = model.design.T @ (model.observations.weights * self.signs / (2.0 * shrunk))
        factor = cholesky_of_nearly_singular(matrix)
        return replace(self, weights=solve_lower(factor, solve_lower(factor, right), transposed=True))

    def settled(self, *, hold_total: bool, is_sure: bool = False) -> FakeTargets:
        """With xi, the shares, S (unless held) and the precisions each at their best in turn.

        Precisions take MacKay's step, which usually goes further, or the `is_sure` one, which cannot lower the bound.
        """
        now, means, h = self, self.model.design @ self.weights, self.squared_norms
        for _ in range(INNER):
            now = now._with_best_xi(means)
            roots = np.sqrt(now._variances(h) * h)
            total = now.total if hold_total else now._best_total(means, float(roots.sum()))
            now = replace(now, fake_variances=total * roots / roots.sum())
            variances = now._variances(h)
            groups, squares = now.model.groups, now.own**2
            gains = (
                (groups.sizes, squares + variances) if is_sure else (groups.total(now.determined()), np.maximum(squares, 1e-300))
            )
            precisions = np.clip(gains[0] / groups.total(gains[1]), 1.0 / LARGEST, LARGEST)
            now = replace(now, model=replace(now.model, precisions=precisions))
        return now

    def determined(self) -> Floats:
        """gamma of every weight."""
        h = self.squared_norms
        return h / (h + self.fake_variances * self.alpha)

    def keep(self, chosen: Mask) -> FakeTargets:
        """Return the model with the chosen candidates only; S stays as it is."""
        kept = np.flatnonzero(chosen)
        psi = self.fake_variances[kept]
        n_fixed = self.model.n_fixed
        weights = np.concatenate([self.weights[:n_fixed], self.own[kept]])
        return FakeTargets(self.model.keep(chosen), psi * (self.total / psi.sum()) if len(kept) else psi, weights)

    def kept(self, chosen: Mask, journal: Journal) -> FakeTargets:
        """The same, settled again."""
        return settle(self.keep(chosen), journal)[0]

    def swept(self) -> FakeTargets:
        """One pass of the paper's updates (its section 4.6), the fake targets being integrated out.

        With r = <sum z> - m, g = F'Cr and D = mu' - mu, as in the sweeps for numbers (VBLS errata 3.1) but for the variance of the
        sum, S/s_i, which differs from row to row. Nothing divides by psi.
        """
        groups, h, psi, total = self.groups, self.squared_norms, self.fake_variances, self.total
        counts, curvature = self.model.observations.weights, curvature_of_bound(self.model.xi)
        shrunk = 1.0 + 2.0 * curvature * total
        means = self.model.design @ self.weights
        rest = (means + 0.5 * total * self.signs) / shrunk - means
        gradient, share = self.model.columns.T @ (counts * rest), psi / total
        below = h + psi * self.alpha
        own, variances = (h * self.own + share * gradient) / below, psi / below
        moved = own - self.own
        fake = share**2 * (counts @ rest**2) - 2.0 * share * moved * gradient + moved**2 * h + variances * h
        fake = fake / counts.sum() + psi * (1.0 - share * (counts @ (1.0 - 1.0 / shrunk)) / counts.sum())
        constant, sums = self.weights[: self.model.n_fixed], means + rest
        if self.model.fit_intercept:
            others = sums - constant
            level = counts @ (0.5 * self.signs - 2.0 * curvature * others) / (2.0 * counts @ curvature + self.model.alpha[0])
            constant, sums = np.array([level]), others + level
        precisions = np.clip(groups.sizes / groups.total(own**2 + variances), 1.0 / LARGEST, LARGEST)
        model = replace(self.model, precisions=precisions, xi=np.sqrt(sums**2 + total / shrunk))
        return FakeTargets(model, fake, np.concatenate([constant, own]))

    @property
    def bound(self) -> float:
        """L."""
        h, alpha = self.squared_norms, self.alpha
        v = self._variances(h)
        terms = h / (h + self.fake_variances * alpha) + alpha * (self.own**2 + v) - 1.0 - np.log(alpha * v)
        constant = 0.5 * float(self.model.alpha[:1] @ self.weights[:1] ** 2) if self.model.fit_intercept else 0.0
        return self._rows(self.model.design @ self.weights)(self.total) - 0.5 * float(terms.sum()) - constant

    def _variances(self, h: Floats) -> Floats:
        return self.fake_variances / (h + self.fake_variances * self.alpha)

    def _rows(self, means: Floats) -> Callable[[float], float]:
        """Return the part of L that belongs to the rows, as a function of S."""
        xi, counts = self.model.xi, self.model.observations.weights
        curvature = curvature_of_bound(xi)
        fixed, linear, quadratic = log_expit(xi) - 0.5 * xi + curvature * xi**2, 0.5 * self.signs * means, curvature * means**2

        def at(total: float) -> float:
            shrunk = 1.0 + 2.0 * curvature * total
            return float(counts @ (fixed - 0.5 * np.log(shrunk) + (linear + total / 8.0 - quadratic) / shrunk))

        return at

    def _with_best_xi(self, means: Floats) -> FakeTargets:
        total = self.total
        shrunk = 1.0 + 2.0 * curvature_of_bound(self.model.xi) * total
        xi = np.sqrt(((means + 0.5 * total * self.signs) / shrunk) ** 2 + total / shrunk)
        return replace(self, model=replace(self.model, xi=xi))

    def _best_total(self, means: Floats, roots: float) -> float:
        """Return the S that maximizes L, with sum v h / psi at its best for each S."""
        rows = self._rows(means)
        found = minimize_scalar(
            lambda log_total: 0.5 * roots**2 * np.exp(-log_total) - rows(float(np.exp(log_total))),
            bounds=(-30.0, 10.0),
            method="bounded",
            options={"xatol": 1e-8},
        )
        return float(np.exp(found.x))


def run_sweeps(model: Variational, journal: Journal) -> tuple[FakeTargets, Outcome]:
    """The paper's sweeps until neither the bound nor gamma moves, which takes many; then what is not relevant is taken out."""
    watch = journal.stopwatch()
    now, outcome = FakeTargets.start(model).solved(), None
    while outcome is None:
        outcome = watch.exhausted(STEPS_AHEAD)
        if outcome is None:
            before, now = now, now.swept()
            journal.note("sweep", -1, now.bound, len(now))
            moved = np.abs(now.determined() - before.determined()).max(initial=0.0)
            if journal.n_steps > HELD and now.bound - before.bound <= journal.budget.tol and moved < STILL:
                outcome = Outcome.CONVERGED
    relevant = now.groups.total(now.determined()) / now.groups.sizes > RELEVANT
    if relevant.all() or (outcome.is_early and not relevant.any()):
        return now, outcome
    return now.keep(relevant[now.groups.label]).solved(), outcome


def run_factorized(model: Variational, journal: Journal) -> tuple[FakeTargets, Outcome]:
    """From the weak start; S is held at first."""
    return settle(FakeTargets.start(model), journal, n_held=HELD)


def settle(now: FakeTargets, journal: Journal, n_held: int = 0) -> tuple[FakeTargets, Outcome]:
    """Solutions for the weights and rounds for the rest, until the bound settles; S is held in the first `n_held`."""
    step, n_still, before, watch = 0, 0, -np.inf, journal.stopwatch()
    while len(now):
        limit = watch.exhausted(STEPS_AHEAD)
        if limit is not None:
            return now, limit
        solved = now.solved()
        now = solved.settled(hold_total=step < n_held)
        if now.bound < before:
            now = solved.settled(hold_total=step < n_held, is_sure=True)
        lasting = now.model.groups.total(now.determined()) / now.model.groups.sizes > PRUNED
        lasting &= now.model.precisions < LARGEST
        if not lasting.all():
            now, n_still = now.keep(lasting[now.groups.label]), 0
            before = -np.inf
            if not len(now):
                break
        bound = now.bound
        journal.note("solve", -1, bound, len(now))
        n_still = n_still + 1 if step > n_held and bound - before <= journal.budget.tol else 0
        step, before = step + 1, bound
        if n_still >= SETTLED:
            return now, Outcome.CONVERGED
    return now.solved() if now.model.fit_intercept else now, Outcome.CONVERGED

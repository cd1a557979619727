r"""Variational Bayesian classification by the bound of Jaakkola and Jordan, with the full covariance of the weights.

For any :math:`\xi`, :math:`\log g(x) \ge \log g(\xi) + (x - \xi)/2 - \lambda(\xi)(x^2 - \xi^2)` with
:math:`\lambda(\xi) = \tanh(\xi/2)/(4\xi)`, so that with :math:`\kappa_i = c_i(t_i - 1/2)` and :math:`P = A + 2\Phi^TC\Lambda\Phi`

.. math:: \log p(t|A) \ge L = \sum_ic_i(\log g(\xi_i) - \xi_i/2 + \lambda_i\xi_i^2) + \tfrac12\mu^TP\mu - \tfrac12\log|P| +
   \tfrac12\log|A|, \quad P\mu = \Phi^T\kappa.

Given the weights' mean and covariance the best :math:`\xi_i^2 = m_i^2 + \varphi_i^TP^{-1}\varphi_i`, and the precision of a group
grows towards :math:`\sum\gamma_j/\sum\mu_j^2` (VBLS errata 3.9, last paragraph).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skarce._linalg import RISES, SURE_RISES, NotPositiveDefiniteError
from skarce._typing import Floats
from skarce.methods.variational.precisions import RELEVANT, Mask
from skarce.methods.variational_classes.model import (
    LARGEST,
    PRUNED,
    SETTLED,
    STEPS_AHEAD,
    STILL,
    Variational,
    Weighted,
)
from skarce.methods.variational_classes.solution import solved
from skarce.states.journal import Journal, Stopwatch
from skarce.states.outcome import Outcome

LOST = 1e-3  # of the bound, at most, when groups are taken out that seem to have faded
FIRST_ROWS, FIRST_GAIN = 30, 1e-3  # steps of xi before precisions move, and the share of the bound that makes them go on
GROWTH, FURTHEST = 1.5, 64.0  # of the stretch of a step of xi
NEAR_ZERO = 1e-6  # the bound of a row does not change if its xi is smaller
STRICTLY = (0.0,)  # a long step whose matrix is singular to working precision is not taken


class Fitted(Weighted):
    """The weights at given precisions and xi, and the bound there."""

    def __init__(self, model: Variational, rises: Sequence[float] = SURE_RISES) -> None:
        self.model = model
        solution = solved(model.design, model.alpha, model.row_curvatures, model.row_slopes, rises)
        self.weights, self._spread = solution.weights, solution.spread
        self.bound = model.bound_at_zero + 0.5 * solution.explained + solution.log_ratio
        self.best_xi = np.sqrt((model.design @ self.weights) ** 2 + solution.row_variances)

    @property
    def spread(self) -> Floats:
        """diag P^-1, without the constant."""
        return self._spread[self.model.n_fixed :]

    @property
    def determined(self) -> Floats:
        """The mean gamma of each group."""
        model = self.model
        gamma = 1.0 - model.precisions[model.groups.label] * self.spread
        return np.maximum(model.groups.total(gamma) / model.groups.sizes, 0.0)

    @property
    def lasting(self) -> Mask:
        """Candidates of groups that have not faded: the data determine their weights, however little."""
        return ((self.determined > PRUNED) & (self.model.precisions < LARGEST))[self.groups.label]

    def quick(self, stretch: float = 1.0) -> Variational:
        """MacKay's step of the precisions, which usually goes further than the one of expectation maximization.

        That of xi is `stretch` times as far, on a logarithmic scale.
        """
        model = self.model
        xi = self.best_xi
        if stretch != 1.0:
            before = np.maximum(model.xi, NEAR_ZERO)
            with np.errstate(over="ignore"):
                xi = np.minimum(before * (xi / before) ** stretch, LARGEST)
        with np.errstate(divide="ignore"):
            updated = model.groups.sizes * self.determined / np.maximum(model.groups.total(self.own**2), 1e-300)
        return replace(model, precisions=np.clip(updated, 1.0 / LARGEST, LARGEST), xi=xi)

    def sure(self) -> Variational:
        """The step of expectation maximization, which cannot lower the bound."""
        groups = self.model.groups
        updated = groups.sizes / np.maximum(groups.total(self.own**2 + self.spread), 1e-300)
        return replace(self.model, precisions=np.clip(updated, 1.0 / LARGEST, LARGEST), xi=self.best_xi)

    def kept(self, chosen: Mask, journal: Journal) -> Fitted:
        """Return the model with the chosen candidates only, settled again."""
        return run(self.model.keep(chosen), journal)[0]


def run_em(model: Variational, journal: Journal) -> tuple[Fitted, Outcome]:
    """Expectation maximization until neither the bound nor gamma moves; then groups that are not relevant are taken out."""
    watch = journal.stopwatch()
    now, outcome = _begun(model, watch), None
    while outcome is None:
        journal.note("em", -1, now.bound, len(now))
        outcome = watch.exhausted(STEPS_AHEAD)
        if outcome is None:
            before, now = now, Fitted(now.sure())
            moved = np.abs(now.determined - before.determined).max(initial=0.0)
            if now.bound - before.bound <= journal.budget.tol and moved < STILL:
                outcome = Outcome.CONVERGED
    relevant = (now.determined > RELEVANT)[now.groups.label]
    if relevant.all() or (outcome.is_early and not relevant.any()):
        return now, outcome
    return Fitted(now.model.keep(relevant)), outcome


def run(model: Variational, journal: Journal) -> tuple[Fitted, Outcome]:
    """Raise the bound until it settles; groups that the data do not determine are taken out.

    Rows that are far from the boundary, as nearly all are if a class is rare, move their xi by a small part of what is left of
    their way in each step. So there steps of xi are stretched, more and more, as long as the bound agrees.
    """
    watch = journal.stopwatch()
    now, n_still, stretch = _begun(model, watch), 0, 1.0
    furthest = FURTHEST if model.is_lopsided else 1.0
    while True:
        journal.note("solve", -1, now.bound, len(now.model.candidates))
        limit = watch.exhausted(STEPS_AHEAD)
        if limit is not None:
            return now, limit
        if n_still >= SETTLED:
            return now, Outcome.CONVERGED
        following, is_stretched = _risen(now, stretch)
        stretch = min(GROWTH * stretch, furthest) if is_stretched else 1.0
        n_still = n_still + 1 if following.bound - now.bound <= journal.budget.tol else 0
        now = following


def _begun(model: Variational, watch: Stopwatch) -> Fitted:
    """Return the first solution. If a class is rare, xi settles first: nothing else matters until the constant has arrived."""
    now = Fitted(model)
    for _ in range(FIRST_ROWS if model.is_lopsided else 0):
        if watch.exhausted(STEPS_AHEAD) is not None:
            break
        following = Fitted(replace(model, xi=now.best_xi))
        has_settled = following.bound - now.bound < FIRST_GAIN * abs(now.bound)
        now = following
        if has_settled:
            break
    return now


def _risen(now: Fitted, stretch: float) -> tuple[Fitted, bool]:
    """One step further, less the groups that have faded, and whether it was as far as wanted.

    The quick one, stretched, if the bound agrees, else as it is, else the sure one.
    """
    lasting = now.lasting
    for way in dict.fromkeys((stretch, 1.0)):
        try:
            following = Fitted(now.quick(way).keep(lasting), STRICTLY)
            if following.bound >= now.bound:
                return following, way == stretch
        except NotPositiveDefiniteError:
            continue  # weights so weakly penalized that they are dependent
    try:
        surely = Fitted(now.sure().keep(lasting), RISES)
        return (surely if lasting.all() or surely.bound >= now.bound - LOST else Fitted(now.sure(), RISES)), False
    except NotPositiveDefiniteError:
        return now, False  # rounding hides what any further step would do

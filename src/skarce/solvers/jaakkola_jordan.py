r"""Variational Bayesian classification by the bound of Jaakkola and Jordan, with the full covariance of the weights.

For any :math:`\xi`, :math:`\log g(x) \ge \log g(\xi) + (x - \xi)/2 - \lambda(\xi)(x^2 - \xi^2)` with
:math:`\lambda(\xi) = \tanh(\xi/2)/(4\xi)`, so that with :math:`\kappa_i = c_i(t_i - 1/2)` and :math:`P = A + 2\Phi^TC\Lambda\Phi`

.. math:: \log p(t|A) \ge L = \sum_ic_i(\log g(\xi_i) - \xi_i/2 + \lambda_i\xi_i^2) + \tfrac12\mu^TP\mu - \tfrac12\log|P| +
   \tfrac12\log|A|, \quad P\mu = \Phi^T\kappa.

Given the weights' mean and covariance the best :math:`\xi_i^2 = m_i^2 + \varphi_i^TP^{-1}\varphi_i`, and the precision of a group
grows towards :math:`\sum\gamma_j/\sum\mu_j^2` (VBLS errata 3.9, last paragraph).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import log_expit

from skarce._linalg import NotPositiveDefiniteError, cholesky, inverse_of_lower, solve_lower, symmetric_inverse
from skarce._parallel import for_each, shares
from skarce._typing import Floats, Indices
from skarce.likelihoods import Labels
from skarce.posterior import Outcome
from skarce.searches.journal import Journal
from skarce.solvers.laplace import SCALE, weighted_gram
from skarce.solvers.precisions import RELEVANT, Groups, Mask
from skarce.solvers.variational_choice import group_p_values

PRIOR_VARIANCE = 4.0  # of the latent function under all candidates together, to begin with
PRUNED = 1e-6  # a group whose weights are less well determined than this has left
LARGEST = 1e12  # of the precision of a standardised weight
LOST = 1e-3  # of the bound, at most, when groups are taken out that seem to have faded
BLOCKS = 8  # of a triangular factor, all but those beyond its diagonal being multiplied
STILL = 1e-6  # the change of gamma in a step of expectation maximisation that counts as none
SETTLED = 3  # steps in a row that raise the bound by less than the tolerance


def curvature_of_bound(xi: Floats) -> Floats:
    """lambda(xi) = tanh(xi/2)/(4 xi), by its series 1/8 - xi^2/96 near zero."""
    xi = np.abs(xi)
    near = xi < 1e-3
    safe = np.where(near, 1.0, xi)
    return np.where(near, 0.125 - xi**2 / 96.0, np.tanh(0.5 * safe) / (4.0 * safe))


@dataclass(frozen=True)
class Variational:
    """Standardised columns, the precision of each group, and xi of each row.

    Attributes
    ----------
    labels : the observations
    design : shape (n_rows, n), the standardised columns, after one of ones where there is a constant
    candidates : which they are, without the constant
    groups : which of them share a precision
    precisions : one for each group
    xi : one for each row
    fit_intercept : whether there is a constant of prior N(0, 10^2)
    """

    labels: Labels
    design: Floats
    candidates: Indices
    groups: Groups
    precisions: Floats
    xi: Floats
    fit_intercept: bool

    @staticmethod
    def start(labels: Labels, design: Floats, candidates: Indices, group_labels: Indices, *, fit_intercept: bool) -> Variational:
        groups = Groups.of(group_labels[candidates])
        precisions = np.full(len(groups.sizes), max(len(candidates), 1) / PRIOR_VARIANCE)
        return Variational(labels, design, candidates, groups, precisions, np.ones(len(labels)), fit_intercept)

    @property
    def n_fixed(self) -> int:
        """How many columns come before those of the candidates."""
        return int(self.fit_intercept)

    @property
    def columns(self) -> Floats:
        """Those of the candidates."""
        return self.design[:, self.n_fixed :]

    @property
    def alpha(self) -> Floats:
        """The precision of every weight, that of the constant first."""
        return np.concatenate([np.full(self.n_fixed, 1.0 / SCALE**2), self.precisions[self.groups.label]])

    def precision_at(self, weights: Floats) -> Floats:
        """Phi'B Phi + A, B = g(1 - g) being the curvature of the likelihood itself at these weights.

        Its inverse is the covariance to be told to others. The bound is curved more than the likelihood, by a factor of 1 to some
        more the surer a row is, and intervals by its covariance are too narrow: those of 95 % held 80 % in a simulation.
        """
        matrix = weighted_gram(self.design, self.labels.slopes(self.design @ weights)[1])
        matrix.flat[:: len(matrix) + 1] += self.alpha
        return matrix

    def keep(self, chosen: Mask) -> Variational:
        """Only the candidates where `chosen` is true."""
        if chosen.all():
            return self
        kept = np.flatnonzero(chosen)
        groups, old = self.groups.restricted_to(kept)
        design = self.design[:, np.concatenate([np.arange(self.n_fixed), self.n_fixed + kept])]
        return replace(self, design=design, candidates=self.candidates[kept], groups=groups, precisions=self.precisions[old])


class Fitted:
    """The weights at given precisions and xi, and the bound there."""

    def __init__(self, model: Variational) -> None:
        self.model = model
        labels, design, alpha = model.labels, model.design, model.alpha
        curvature = curvature_of_bound(model.xi)
        matrix = weighted_gram(design, 2.0 * labels.weights * curvature)
        matrix.flat[:: len(matrix) + 1] += alpha
        self.factor = cholesky(matrix)
        halves = design.T @ (labels.weights * (labels.targets - 0.5))
        explained = solve_lower(self.factor, halves)
        self.weights = solve_lower(self.factor, explained, transposed=True)
        rows = labels.weights @ (log_expit(model.xi) - 0.5 * model.xi + curvature * model.xi**2)
        halves_of_logs = 0.5 * np.log(alpha).sum() - np.log(self.factor.diagonal()).sum()
        self.bound = float(rows + 0.5 * explained @ explained + halves_of_logs)
        root = inverse_of_lower(self.factor)
        self._spread = np.einsum("ij,ij->j", root, root)
        self.best_xi = np.sqrt((design @ self.weights) ** 2 + _row_variances(design, root))

    def __len__(self) -> int:
        return len(self.model.candidates)

    @property
    def candidates(self) -> Indices:
        return self.model.candidates

    @property
    def groups(self) -> Groups:
        return self.model.groups

    @property
    def effects(self) -> Floats:
        """mu^2 h of each candidate, whose columns have one length."""
        return self.squares * self.model.labels.weights.sum()

    @property
    def spread(self) -> Floats:
        """diag P^-1, without the constant."""
        return self._spread[self.model.n_fixed :]

    @property
    def squares(self) -> Floats:
        """mu^2, without the constant."""
        return self.weights[self.model.n_fixed :] ** 2

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

    def quick(self) -> Variational:
        """MacKay's step of the precisions, which usually goes further than the one of expectation maximisation."""
        model = self.model
        with np.errstate(divide="ignore"):
            updated = model.groups.sizes * self.determined / np.maximum(model.groups.total(self.squares), 1e-300)
        return replace(model, precisions=np.clip(updated, 1.0 / LARGEST, LARGEST), xi=self.best_xi)

    def sure(self) -> Variational:
        """The step of expectation maximisation, which cannot lower the bound."""
        groups = self.model.groups
        return replace(self.model, precisions=groups.sizes / groups.total(self.squares + self.spread), xi=self.best_xi)

    def p_values(self) -> Floats:
        """Chi-squared tests of each group (of one: of the squared ratio of weight and standard deviation)."""
        return p_values_at(self.model, self.weights)

    def kept(self, chosen: Mask, journal: Journal) -> Fitted:
        """Only the candidates where `chosen` is true, settled again."""
        return run(self.model.keep(chosen), journal)[0]


def p_values_at(model: Variational, weights: Floats) -> Floats:
    """Chi-squared tests of each group against zero, with the full covariance of the weights."""
    covariance = symmetric_inverse(cholesky(model.precision_at(weights)))[model.n_fixed :, model.n_fixed :]
    return group_p_values(model.groups, weights[model.n_fixed :], covariance)


def run_em(model: Variational, journal: Journal) -> tuple[Fitted, Outcome]:
    """Expectation maximisation until neither the bound nor gamma moves; then groups that are not relevant are taken out."""
    now, outcome = Fitted(model), None
    while outcome is None:
        journal.note("em", -1, now.bound, len(now))
        outcome = journal.exhausted()
        if outcome is None:
            before, now = now, Fitted(now.sure())
            moved = np.abs(now.determined - before.determined).max(initial=0.0)
            if now.bound - before.bound < journal.limits.tol and moved < STILL:
                outcome = Outcome.CONVERGED
    relevant = (now.determined > RELEVANT)[now.groups.label]
    return now if relevant.all() else Fitted(now.model.keep(relevant)), outcome


def run(model: Variational, journal: Journal) -> tuple[Fitted, Outcome]:
    """Raise the bound until it settles; groups that the data do not determine are taken out."""
    now, n_still = Fitted(model), 0
    while True:
        journal.note("solve", -1, now.bound, len(now.model.candidates))
        limit = journal.exhausted()
        if limit is not None:
            return now, limit
        if n_still >= SETTLED or not len(now.model.candidates):
            return now, Outcome.CONVERGED
        following = _risen(now)
        n_still = n_still + 1 if following.bound - now.bound < journal.limits.tol else 0
        now = following


def _risen(now: Fitted) -> Fitted:
    """One step further, less the groups that have faded: the quick one if the bound agrees, else the sure one."""
    lasting = now.lasting
    try:
        following = Fitted(now.quick().keep(lasting))
        if following.bound >= now.bound:
            return following
    except NotPositiveDefiniteError:
        pass  # weights so weakly penalised that they are dependent
    surely = Fitted(now.sure().keep(lasting))
    return surely if lasting.all() or surely.bound >= now.bound - LOST else Fitted(now.sure())


def _row_variances(design: Floats, root: Floats) -> Floats:
    """phi_i' P^-1 phi_i for every row, on all cores; `root` is lower triangular, so that the later columns meet zeros."""
    n = len(root)
    edges = np.linspace(0, n, min(BLOCKS, n) + 1).astype(int) if n else [0]
    out = np.zeros(len(design))

    def work(rows: slice) -> None:
        for start, stop in pairwise(edges):
            spread = design[rows, :stop] @ root[start:stop, :stop].T
            out[rows] += np.einsum("ij,ij->i", spread, spread)

    for_each(work, shares(len(design)), operations=2.0 * design.size * len(root))
    return out

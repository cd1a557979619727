"""What both forms of variational classification work on: standardized columns, precisions, xi, and weights.

Each row's likelihood has a Gaussian lower bound that touches it at +-xi (`jaakkola_jordan`, `fake_targets`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_expit, logit

from skarce._linalg import cholesky_of_nearly_singular, symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.likelihoods import Observations
from skarce.likelihoods.bernoulli import LARGEST_CURVATURE
from skarce.methods.latent.functions import weighted_gram
from skarce.methods.variational.choice import group_p_values
from skarce.methods.variational.precisions import Groups, Mask

PRIOR_VARIANCE = 4.0  # of the latent function under all candidates together, to begin with
PRUNED = 1e-6  # a group whose weights are less well determined than this has left
STEPS_AHEAD = 2.0  # what must fit into the time: the next step, and what turns its model into a posterior, which costs less
LARGEST = 1e12  # of the precision of a standardized weight
STILL = 1e-6  # the change of gamma in a step of expectation maximization that counts as none
FAR = 3.0  # log odds of the rarer class: one row in twenty
FURTHEST = 40.0  # log odds at which a class is all or nothing to working precision
SETTLED = 3  # steps in a row that raise the bound by less than the tolerance


def curvature_of_bound(xi: Floats) -> Floats:
    """lambda(xi) = tanh(xi/2)/(4 xi), by its series 1/8 - xi^2/96 near zero."""
    xi = np.abs(xi)
    near = xi < 1e-3
    safe = np.where(near, 1.0, xi)
    return np.where(near, 0.125 - xi**2 / 96.0, np.tanh(0.5 * safe) / (4.0 * safe))


def counts(observations: Observations) -> Floats:
    """How often each row counts. Labels have a curvature of at most 1/4, so a row of curvature one stands for four at least."""
    return observations.largest_curvature / LARGEST_CURVATURE


@dataclass(frozen=True)
class Variational:
    """Standardized columns, the precision of each group, and xi of each row.

    Attributes
    ----------
    observations : zeros and ones, and how often each row counts; in a stream, also a quadratic that stands for earlier rows
    design : shape (n_rows, n), the standardized columns, after that of the constant if there is one
    candidates : which they are, without the constant
    groups : which of them share a precision
    precisions : one for each group
    xi : one for each row
    fit_intercept : whether there is a constant of prior N(0, 10^2)
    """

    observations: Observations
    design: Floats
    candidates: Indices
    groups: Groups
    precisions: Floats
    xi: Floats
    fit_intercept: bool

    @staticmethod
    def start(
        observations: Observations, design: Floats, candidates: Indices, group_labels: Indices, *, fit_intercept: bool
    ) -> Variational:
        groups = Groups.of(group_labels[candidates])
        precisions = np.full(len(groups.sizes), max(len(candidates), 1) / PRIOR_VARIANCE)
        model = Variational(observations, design, candidates, groups, precisions, np.ones(len(observations)), fit_intercept)
        return replace(model, xi=np.full(len(observations), np.hypot(1.0, model.level))) if model.is_lopsided else model

    @property
    def level(self) -> float:
        """The log odds of a model without candidates; bounded, because a class may have no row of positive weight."""
        return float(np.clip(logit(np.average(self.observations.targets, weights=self.observations.weights)), -FURTHEST, FURTHEST))

    @property
    def is_lopsided(self) -> bool:
        """Whether one class is so rare that the constant has a long way to go."""
        return self.fit_intercept and abs(self.level) > FAR

    @property
    def n_fixed(self) -> int:
        """How many columns come before those of the candidates."""
        return int(self.fit_intercept)

    @property
    def columns(self) -> Floats:
        """The columns of the candidates."""
        return self.design[:, self.n_fixed :]

    @property
    def alpha(self) -> Floats:
        """The precision of every weight, that of the constant first."""
        constant = np.full(self.n_fixed, 1.0 / self.observations.likelihood.latent_scale**2)
        return np.concatenate([constant, self.precisions[self.groups.label]])

    @property
    def row_curvatures(self) -> Floats:
        """2 c lambda(xi) of every row. The rows that stand for earlier ones are normal, with variance one."""
        counts, n_past = self.observations.weights, len(self.observations.past_targets)
        return np.concatenate([2.0 * counts * curvature_of_bound(self._own_xi), np.ones(n_past)])

    @property
    def row_slopes(self) -> Floats:
        """kappa = c (t - 1/2) of every row, and the targets of those that stand for earlier ones."""
        observations = self.observations
        return np.concatenate([observations.weights * (observations.targets - 0.5), observations.past_targets])

    @property
    def bound_at_zero(self) -> float:
        """What the rows add to the bound if all weights are zero."""
        xi, past = self._own_xi, self.observations.past_targets
        rows = log_expit(xi) - 0.5 * xi + curvature_of_bound(xi) * xi**2
        return float(self.observations.weights @ rows) - 0.5 * float(past @ past)

    @property
    def _own_xi(self) -> Floats:
        """xi of the rows with a label. Those that stand for earlier ones have no use for theirs."""
        return self.xi[: len(self.observations.targets)]

    def precision_at(self, weights: Floats) -> Floats:
        """Phi'B Phi + A, B = g(1 - g) being the curvature of the likelihood itself at these weights.

        Its inverse is the covariance of the posterior. The bound is curved more than the likelihood, and the more so the surer a
        row is. So intervals by the covariance of the bound are too narrow: those of 95 % held 80 % in a simulation.
        """
        matrix = weighted_gram(self.design, self.observations.slopes(self.design @ weights)[1])
        matrix.flat[:: len(matrix) + 1] += self.alpha
        return matrix

    def keep(self, chosen: Mask) -> Variational:
        """Return the model with the chosen candidates only."""
        if chosen.all():
            return self
        kept = np.flatnonzero(chosen)
        groups, old = self.groups.restricted_to(kept)
        design = self.design[:, np.concatenate([np.arange(self.n_fixed), self.n_fixed + kept])]
        return replace(self, design=design, candidates=self.candidates[kept], groups=groups, precisions=self.precisions[old])


class Weighted:
    """Candidates with weights, the constant's first: what this form of the method and the factorized one have in common."""

    model: Variational
    weights: Floats

    def __len__(self) -> int:
        return len(self.model.candidates)

    @property
    def candidates(self) -> Indices:
        return self.model.candidates

    @property
    def groups(self) -> Groups:
        return self.model.groups

    @property
    def own(self) -> Floats:
        """The weights without the constant."""
        return self.weights[self.model.n_fixed :]

    @property
    def squared_norms(self) -> Floats:
        """h, the weighted sums of squares of the columns."""
        columns = self.model.columns
        return np.einsum("i,ij,ij->j", counts(self.model.observations), columns, columns)

    @property
    def own_variance(self) -> float:
        """Variance of the latent function beside that of the weights. Default: none."""
        return 0.0

    @property
    def effects(self) -> Floats:
        """mu^2 h of each candidate."""
        return self.own**2 * self.squared_norms

    def p_values(self) -> Floats:
        """Chi-squared tests of each group against zero, with the full covariance of the weights."""
        n_fixed = self.model.n_fixed
        covariance = symmetric_inverse(cholesky_of_nearly_singular(self.model.precision_at(self.weights)))[n_fixed:, n_fixed:]
        return group_p_values(self.groups, self.own, covariance)

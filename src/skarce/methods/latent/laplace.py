r"""The Laplace approximation of a sparse Bayesian classifier at given precisions.

Weights :math:`w_j \sim N(0, 1/\alpha_j)`, latent function :math:`f = \Phi w`, labels with likelihood p(t|f). With the mode
:math:`\hat w`, :math:`B = -\partial^2\log p/\partial f^2` there and :math:`H = \Phi^TB\Phi + A`,

.. math:: \log p(t) \approx \log p(t|\hat w) - \tfrac12\hat w^TA\hat w + \tfrac12\log|A| - \tfrac12\log|H|.

The mode moves with the precisions and B with the mode, so the gradient has a term that the textbook update
:math:`\alpha_j = \gamma_j/w_j^2` leaves out. With the leverages :math:`h_i = \varphi_i^TH^{-1}\varphi_i`, the third derivatives
:math:`\rho_i = \partial B_i/\partial f_i` and :math:`u = H^{-1}\Phi^T(\rho\circ h)`,

.. math:: \frac{\partial\log p(t)}{\partial\log\alpha_j} = \tfrac12\left(1 - \alpha_jH^{-1}_{jj} - \alpha_jw_j(w_j - u_j)\right).

(Tipping 2001, section 3, for the approximation; Rasmussen and Williams 2006, section 5.5.1, for such a term.)

Where classes are separable the evidence goes on growing, ever more slowly, with the size of the weights, while the mode becomes a
poor picture of the posterior. So log odds have a scale, :math:`\tau = 10`: the constant is :math:`N(0, \tau^2)`, and the prior
variance that a function gives the latent function, :math:`e_j/\alpha_j` with the mean :math:`e_j` of :math:`\varphi_j^2` over the
rows, is exponentially distributed with mean :math:`2\tau^2`. What is maximised is the *score*: log evidence less
:math:`\sum_je_j/(2\tau^2\alpha_j)`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from skarce._linalg import cholesky, inverse_of_lower, solve_lower
from skarce._parallel import for_each, shares
from skarce._typing import Floats, Indices
from skarce.likelihoods import Labels

MODE = 1e-16  # Newton has arrived when a step promises no more than this
NEAR_MODE = 1e-8  # below this share of the objective rounding hides what a step does, and full steps need no proof
NEWTON_STEPS, HALVINGS = 200, 40
SCALE = 10.0  # of log odds, tau


class Laplace:
    """The mode of the weights at given precisions, and what follows from it.

    Attributes
    ----------
    labels : the observations
    columns : the functions in the model at all rows, shape (n_rows, n); the constant, where there is one, is the first
    precisions : alpha, shape (n,)
    indices : which candidates the functions are, shape (n - n_fixed,)
    energies : sum c phi^2 of each function, shape (n,)
    n_fixed : 1 where the first function is the constant, whose precision is not learned; else 0
    weights, latent : the mode, and f there
    residual, curvature, third : derivatives of the log likelihood by f there, see `Labels.slopes`
    factor : lower Cholesky factor of H
    evidence : the approximation of log p(t)
    score : the same less the penalty of the precisions
    """

    def __init__(
        self, labels: Labels, columns: Floats, precisions: Floats, indices: Indices, start: Floats, energies: Floats | None = None
    ) -> None:
        self.labels, self.columns, self.precisions, self.indices = labels, columns, precisions, indices
        self.energies = _energies(labels, columns) if energies is None else energies
        self.n_fixed = columns.shape[1] - len(indices)
        self.weights = start
        self.latent = columns @ start
        self._find_mode()
        self.evidence = self._objective + 0.5 * float(np.log(precisions).sum()) - float(np.log(self.factor.diagonal()).sum())
        self.score = self.evidence - float(self.penalties.sum())

    @staticmethod
    def empty(labels: Labels, *, fit_intercept: bool) -> Laplace:
        """The model without candidates."""
        columns = np.ones((len(labels), int(fit_intercept)))
        return Laplace(
            labels, columns, np.full(columns.shape[1], 1.0 / SCALE**2), np.empty(0, dtype=np.intp), np.zeros(columns.shape[1])
        )

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def learned(self) -> slice:
        """The functions whose precision is learned."""
        return slice(self.n_fixed, None)

    # Other models from this one, each starting at its weights -------------------------------------------------------------

    def at(self, learned_precisions: Floats) -> Laplace:
        """The same functions at other precisions."""
        precisions = np.concatenate([self.precisions[: self.n_fixed], learned_precisions])
        return Laplace(self.labels, self.columns, precisions, self.indices, self.weights, self.energies)

    def without(self, positions: Indices) -> Laplace:
        """Less the functions at these positions among the learned ones."""
        keep = np.setdiff1d(np.arange(self.columns.shape[1]), np.asarray(positions) + self.n_fixed)
        indices = np.delete(self.indices, positions)
        return Laplace(self.labels, self.columns[:, keep], self.precisions[keep], indices, self.weights[keep], self.energies[keep])

    def with_added(self, columns: Floats, precisions: Floats, indices: Indices) -> Laplace:
        """With more functions."""
        return Laplace(
            self.labels,
            np.concatenate([self.columns, columns], axis=1),
            np.concatenate([self.precisions, precisions]),
            np.concatenate([self.indices, indices]),
            np.concatenate([self.weights, np.zeros(len(indices))]),
            np.concatenate([self.energies, _energies(self.labels, columns)]),
        )

    # What the neighbourhood of the mode says -----------------------------------------------------------------------------

    @cached_property
    def root(self) -> Floats:
        """R with R'R = H^-1."""
        return inverse_of_lower(self.factor)

    @cached_property
    def covariance(self) -> Floats:
        """H^-1."""
        return self.root.T @ self.root

    @cached_property
    def third_order(self) -> Floats:
        """rho o h at each row: half of it is how fast log|H| grows with f there."""
        if not self.columns.shape[1]:
            return np.zeros(len(self.labels))
        spread = self.columns @ self.root.T
        return self.third * np.einsum("ij,ij->i", spread, spread)

    @cached_property
    def pull(self) -> Floats:
        """u = H^-1 Phi'(rho o h)."""
        return self.covariance @ (self.columns.T @ self.third_order)

    @cached_property
    def penalties(self) -> Floats:
        """e / (2 tau^2 alpha) of the learned precisions."""
        return self.penalty_rates / self.precisions[self.learned]

    @property
    def penalty_rates(self) -> Floats:
        """e / (2 tau^2) of the learned functions."""
        return penalty_rates(self.labels, self.energies[self.learned])

    @property
    def gradient(self) -> Floats:
        """Of the score by the logarithms of the learned precisions."""
        a, w, u = self.precisions[self.learned], self.weights[self.learned], self.pull[self.learned]
        return 0.5 * (1.0 - a * self.covariance.diagonal()[self.learned] - a * w * (w - u)) + self.penalties

    @property
    def negative_hessian(self) -> Floats:
        """Of the score by the same, with B held: diag(s + q)/2 - (v v') o H^-1 - (alpha alpha') o H^-1 o H^-1 / 2 + penalties.

        s = alpha w^2, q = alpha diag H^-1, v = alpha w.
        """
        a, w, inverse = self.precisions[self.learned], self.weights[self.learned], self.covariance[self.learned, self.learned]
        matrix = -np.multiply.outer(a * w, a * w) * inverse - 0.5 * np.multiply.outer(a, a) * inverse**2
        matrix.flat[:: len(a) + 1] += self.stiffness
        return matrix

    @property
    def stiffness(self) -> Floats:
        """(s + q)/2 + penalty: the part of the Hessian that each precision has to itself."""
        a, w = self.precisions[self.learned], self.weights[self.learned]
        return 0.5 * (a * w**2 + a * self.covariance.diagonal()[self.learned]) + self.penalties

    @property
    def well_determined(self) -> Floats:
        """gamma = 1 - alpha diag H^-1 of the learned ones."""
        determined = 1.0 - self.precisions * self.covariance.diagonal()
        return np.clip(determined[self.learned], 0.0, 1.0)

    # The mode -------------------------------------------------------------------------------------------------------------

    def _find_mode(self) -> None:
        """Newton's method with step halving; H is left at the mode."""
        self._objective = self._log_posterior(self.weights, self.latent)
        before = np.inf
        for _ in range(NEWTON_STEPS):
            self.residual, self.curvature, self.third = self.labels.slopes(self.latent)
            self.factor = cholesky(self._hessian())
            gradient = self.columns.T @ self.residual - self.precisions * self.weights
            explained = solve_lower(self.factor, gradient)
            promised = float(explained @ explained)
            is_near = promised <= NEAR_MODE * (1.0 + abs(self._objective))
            if promised <= MODE or (is_near and promised > 0.25 * before):
                return
            step = solve_lower(self.factor, explained, transposed=True)
            if not self._stepped(step, is_near):
                return
            before = promised

    def _stepped(self, step: Floats, is_near: bool) -> bool:
        """Go along `step`, halved until the log posterior rises; False where rounding hides any rise."""
        move = self.columns @ step
        for halving in range(HALVINGS):
            share = 0.5**halving
            weights, latent = self.weights + share * step, self.latent + share * move
            objective = self._log_posterior(weights, latent)
            if is_near or objective > self._objective:
                self.weights, self.latent, self._objective = weights, latent, objective
                return True
        return False

    def _log_posterior(self, weights: Floats, latent: Floats) -> float:
        return self.labels.log_likelihood(latent) - 0.5 * float(self.precisions @ weights**2)

    def _hessian(self) -> Floats:
        matrix = weighted_gram(self.columns, self.curvature)
        matrix.flat[:: len(matrix) + 1] += self.precisions
        return matrix


def penalty_rates(labels: Labels, energies: Floats) -> Floats:
    """e / (2 tau^2) of functions with these sums of c phi^2."""
    return energies / (2.0 * SCALE**2 * labels.weights.sum())


def _energies(labels: Labels, columns: Floats) -> Floats:
    return labels.weights @ columns**2


def weighted_gram(columns: Floats, row_weights: Floats) -> Floats:
    """Phi'B Phi for non-negative row weights, on all cores where rows and columns are many."""
    n, m = columns.shape
    root = np.sqrt(row_weights)[:, None]
    parts = shares(n)
    grams = np.zeros((len(parts), m, m))

    def work(part: int) -> None:
        scaled = columns[parts[part]] * root[parts[part]]
        grams[part] = scaled.T @ scaled

    for_each(work, range(len(parts)), operations=float(n) * m * (m + 10.0))
    return grams.sum(axis=0)

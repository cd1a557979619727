r"""The Laplace approximation of a sparse Bayesian model at given precisions, for any log concave likelihood.

Weights :math:`w_j \sim N(0, 1/\alpha_j)`, latent function :math:`f = \Phi w`, targets with likelihood p(t|f). With the mode
:math:`\hat w`, :math:`B = -\partial^2\log p/\partial f^2` there and :math:`H = \Phi^TB\Phi + A`,

.. math:: \log p(t) \approx \log p(t|\hat w) - \tfrac12\hat w^TA\hat w + \tfrac12\log|A| - \tfrac12\log|H|.

The mode moves with the precisions and B with the mode, so the gradient has a term that the textbook update
:math:`\alpha_j = \gamma_j/w_j^2` leaves out. With the leverages :math:`h_i = \varphi_i^TH^{-1}\varphi_i`, the third derivatives
:math:`\rho_i = \partial B_i/\partial f_i` and :math:`u = H^{-1}\Phi^T(\rho\circ h)`,

.. math:: \frac{\partial\log p(t)}{\partial\log\alpha_j} = \tfrac12\left(1 - \alpha_jH^{-1}_{jj} - \alpha_jw_j(w_j - u_j)\right).

(Tipping 2001, section 3, for the approximation; Rasmussen and Williams 2006, section 5.5.1, for such a term.)

If classes are separable, or if nothing was counted in some region, the evidence goes on growing, ever more slowly, with the size of
the weights, while the mode becomes a poor picture of the posterior. So the latent function has a scale, :math:`\tau = 10`: the
constant is :math:`N(0, \tau^2)` about the level of the likelihood, and the prior variance that a function gives the latent
function, :math:`e_j/\alpha_j` with the mean :math:`e_j` of :math:`\varphi_j^2` over the rows, is exponentially distributed with
mean :math:`2\tau^2`. The *score* is maximized: log evidence less :math:`\sum_je_j/(2\tau^2\alpha_j)`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, cholesky_of_nearly_singular, solve_lower
from skarce._typing import Floats, Indices
from skarce.likelihoods import Observations
from skarce.methods.latent import compiled
from skarce.methods.latent.functions import Functions, row_variances, weighted_gram
from skarce.methods.latent.model import LatentModel

MODE = 1e-16  # Newton has arrived if a step promises no more than this
NEAR_MODE = 1e-8  # below this share of the objective rounding hides what a step does
NEWTON_STEPS, HALVINGS = 200, 40
STRICTLY = (0.0,)  # H that is singular to working precision is an error


class Laplace(LatentModel):
    """The same on rows, by Newton's method.

    Attributes
    ----------
    observations : the targets and how they arise
    functions : the functions in the model at all rows; the constant, if there is one, is the first
    precisions : alpha, shape (n,)
    indices : which candidates the functions are, shape (n - n_fixed,)
    rises : relative increases of the diagonal of H that are tried if H is nearly singular
    gram : Phi'B Phi at the start, if it is known
    n_fixed : 1 if the first function is the constant, whose precision is not learned; else 0
    weights, latent : the mode, and f there
    residual, curvature, third : derivatives of the log likelihood by f there, see `Slopes`
    factor : lower Cholesky factor of H
    evidence : the approximation of log p(t)
    score : the same less the penalty of the precisions
    seconds : how long it took to find the mode; one more model takes about as long
    """

    def __init__(
        self,
        observations: Observations,
        functions: Functions,
        precisions: Floats,
        indices: Indices,
        start: Floats,
        rises: Sequence[float] = STRICTLY,
        gram: Floats | None = None,
    ) -> None:
        self.observations, self.functions, self.precisions, self.indices = observations, functions, precisions, indices
        self.rises, self._gram = rises, gram
        self.n_fixed = self.columns.shape[1] - len(indices)
        began = time.monotonic()
        self._find_mode(start)
        self.seconds = time.monotonic() - began
        self.evidence = self._objective + 0.5 * float(np.log(precisions).sum()) - float(np.log(self.factor.diagonal()).sum())
        self.score = self.evidence - float(self.penalties.sum())

    @classmethod
    def empty(cls, observations: Observations, *, fit_intercept: bool, rises: Sequence[float] = STRICTLY) -> Laplace:
        """Return the model without candidates. All others are made from it, with the same `rises`."""
        n_fixed = int(fit_intercept)
        constant = Functions.of(observations, np.ascontiguousarray(observations.constant[:, None][:, :n_fixed]))
        precisions = np.full(n_fixed, 1.0 / observations.likelihood.latent_scale**2)
        return cls(observations, constant, precisions, np.empty(0, dtype=np.intp), np.zeros(n_fixed), rises)

    @property
    def columns(self) -> Floats:
        """The functions at all rows, shape (n_rows, n)."""
        return self.functions.columns

    # Other models from this one, each starting at its weights -------------------------------------------------------------

    def at(self, learned_precisions: Floats) -> Laplace:
        precisions = np.concatenate([self.precisions[: self.n_fixed], learned_precisions])
        return Laplace(self.observations, self.functions, precisions, self.indices, self.weights, self.rises, self._gram)

    def with_only(self, keep: Indices, precisions: Floats, start: Floats) -> Laplace:
        indices = self.indices[keep[self.n_fixed :] - self.n_fixed]
        return Laplace(self.observations, self.functions.kept(keep), precisions, indices, start, self.rises)

    def with_added(self, columns: Floats, precisions: Floats, indices: Indices) -> Laplace:
        """Return the model with more functions."""
        return Laplace(
            self.observations,
            self.functions.joined(Functions.of(self.observations, columns)),
            np.concatenate([self.precisions, precisions]),
            np.concatenate([self.indices, indices]),
            np.concatenate([self.weights, np.zeros(len(indices))]),
            self.rises,
        )

    # What the neighborhood of the mode says ------------------------------------------------------------------------------

    @property
    def third_order(self) -> Floats:
        """rho o h at each row: half of it is how fast log|H| grows with f there."""
        return self._third_order[0]

    @property
    def third_order_sums(self) -> Floats:
        return self._third_order[1]

    @property
    def largest_curvatures(self) -> Floats:
        return self.functions.largest_curvatures

    @cached_property
    def _third_order(self) -> tuple[Floats, Floats]:
        """rho o h and Phi'(rho o h)."""
        if self.is_compiled:
            return compiled.third_order(self.columns, self.root, self.third)
        leverages = row_variances(self.columns, self.root) if self.columns.shape[1] else np.zeros(len(self.observations))
        third_order = self.third * leverages
        return third_order, self.columns.T @ third_order

    @cached_property
    def penalty_rates(self) -> Floats:
        return penalty_rates(self.observations, self.functions.energies[self.learned])

    # The mode -------------------------------------------------------------------------------------------------------------

    def _find_mode(self, start: Floats) -> None:
        """Go to the mode from `start`; from zero if that is better, or if the mode is not reached from `start`."""
        if self.is_compiled:
            mode = compiled.find_mode(self.observations, self.columns, self.precisions, start)
            self.weights, self.latent, self.residual, self.curvature, self.third, self.factor, self._objective = mode
        else:
            self._find_mode_by_numpy(start)

    def settled_by_compiled(self, tolerance: float, max_steps: int) -> tuple[Laplace, bool] | None:
        if not self.is_compiled:
            return None
        rates = np.concatenate([np.zeros(self.n_fixed), self.penalty_rates])
        found = compiled.settle(
            *(self.observations, self.functions, rates, self.precisions, self.weights),
            n_fixed=self.n_fixed,
            tolerance=tolerance,
            max_steps=max_steps,
        )
        if found is None:
            return None
        is_same = len(found.places) == len(self.precisions) and np.array_equal(found.precisions, self.precisions)
        return self if is_same else self.with_only(found.places, found.precisions, found.weights), found.converged

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code finds the mode."""
        return self.rises is STRICTLY and compiled.suits(self.observations, self.columns)

    def _find_mode_by_numpy(self, start: Floats) -> None:
        self._begin_at(start)
        try:
            if self._objective >= self.observations.log_likelihood_at_level and self._found_mode():
                return
        except NotPositiveDefiniteError:
            pass  # curvatures so different that the functions look dependent
        self._gram = None
        self._begin_at(np.zeros(len(start)))
        self._found_mode()

    def _begin_at(self, weights: Floats) -> None:
        self.weights, self.latent = weights, self.columns @ weights
        self._objective = self._log_posterior(self.weights, self.latent)

    def _found_mode(self) -> bool:
        """Go to the mode by Newton's method with step halving, which leaves H there; False if it is not reached."""
        before = np.inf
        for _ in range(NEWTON_STEPS):
            self.residual, self.curvature, self.third = self.observations.slopes(self.latent)
            if self._gram is None:
                self._gram = weighted_gram(self.columns, self.curvature)
            self.factor = cholesky_of_nearly_singular(self._hessian(), self.rises)
            gradient = self.columns.T @ self.residual - self.precisions * self.weights
            explained = solve_lower(self.factor, gradient)
            promised = float(explained @ explained)
            hidden = NEAR_MODE * (1.0 + abs(self._objective))
            is_near = promised <= hidden
            if promised <= MODE or (is_near and promised > 0.25 * before):
                return True
            step = solve_lower(self.factor, explained, transposed=True)
            if not self._stepped(step, hidden if is_near else 0.0):
                return is_near
            before = promised
        return False

    def _stepped(self, step: Floats, allowed_loss: float) -> bool:
        """Go along `step`, halved until the log posterior rises or loses less than is allowed; False if it does not."""
        move = self.columns @ step
        for halving in range(HALVINGS):
            share = 0.5**halving
            weights, latent = self.weights + share * step, self.latent + share * move
            objective = self._log_posterior(weights, latent)
            if objective > self._objective - allowed_loss:
                self.weights, self.latent, self._objective, self._gram = weights, latent, objective, None
                return True
        return False

    def _log_posterior(self, weights: Floats, latent: Floats) -> float:
        return self.observations.log_likelihood(latent) - 0.5 * float(self.precisions @ weights**2)

    def _hessian(self) -> Floats:
        assert self._gram is not None
        matrix = self._gram.copy()
        matrix.flat[:: len(matrix) + 1] += self.precisions
        return matrix


def penalty_rates(observations: Observations, energies: Floats) -> Floats:
    """Return e / (2 tau^2) of functions with these sums of c phi^2."""
    return energies / (2.0 * observations.likelihood.latent_scale**2 * observations.total_energy_weight)

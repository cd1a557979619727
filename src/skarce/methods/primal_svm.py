r"""Support vector machines in the primal, on functions that enter one by one (Keerthi, Chapelle and DeCoste 2006).

With labels :math:`t_i = \pm1`, the objective is

.. math:: J = \tfrac12w^TKw + \tfrac C2\sum_ic_i\max(0, 1 - t_if_i)^2, \qquad f = b + \Phi w,

where K is the kernel matrix of the chosen centers. If functions are not kernels, it is diagonal, with the variances of the
functions over the rows, as if these were scaled to unit variance. J is piecewise quadratic, so Newton steps on the rows that
violate the margin reach its minimum after a few sets of such rows.

Which function enters: of some candidates, drawn at random, the one that lowers J most if its weight moves alone. 59 candidates hold
one of the best twentieth with a probability of 95 %. All weights move again each time the set has grown by a tenth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, inverse_of_lower
from skarce._memory import require
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.basis import Evaluation, KernelBasis
from skarce.designs.folds import kernels_of
from skarce.designs.problem import Problem
from skarce.methods.method import Method
from skarce.methods.pursuit.losses import SquaredHingeLoss
from skarce.methods.pursuit.row_model import LossOfRows, RowModel
from skarce.methods.pursuit.row_pursuit import energies_of
from skarce.posteriors.latent import LatentFit, LatentPosterior
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

GROWTH = 0.1  # of the functions, after which all weights move again
STEPS_ALONE = 3  # Newton steps of one weight while candidates are compared
PATIENCE = 3  # additions in a row that may lower J too little
JITTER = 1e-10  # relative, on the diagonal of K
NOTHING_LEFT = 1e-12  # of what J was without functions


@dataclass(frozen=True)
class PrimalSVM(Method[LatentFit]):
    """A support vector machine with squared hinge loss, on a greedily chosen basis.

    Parameters
    ----------
    C : float
        The weight of the loss relative to the penalty.
    n_candidates : int
        How many candidates are compared before one enters.
    random_state : int
        Seeds the draws of candidates.
    """

    needs_rows: ClassVar[bool] = True

    C: float = 1.0
    n_candidates: int = 59
    random_state: int = 0

    @property
    def sense(self) -> int:
        return -1

    @on_one_blas_thread
    def run(self, problem: Problem, budget: Budget) -> LatentFit:
        evaluation, means = problem.evaluation()
        observed, journal = problem.observations, Journal(budget)
        n_compared = min(self.n_candidates, evaluation.n_candidates)
        require(len(observed), n_compared, f"n_candidates={n_compared} at {len(observed)} rows", "Lower n_candidates")
        rows = LossOfRows(SquaredHingeLoss(self.C), 2.0 * observed.targets - 1.0, observed.weights)
        rng = np.random.default_rng([self.random_state, problem.output])
        squares = energies_of(evaluation, means, observed.weights)
        penalty = Penalty(kernels_of(problem.design.candidates), squares / observed.weights.sum())
        growth = _Growth(evaluation, penalty, rows, journal, rng, n_compared)
        growth.offer(np.flatnonzero(squares > 0.0))
        with journal.shown():
            outcome = growth.run(fit_intercept=problem.design.fit_intercept)
        return growth.fit(outcome, means)

    def posterior(self, fit: LatentFit, problem: Problem) -> LatentPosterior:
        return LatentPosterior.of(fit, 0.0)


class Penalty:
    """K of the chosen functions: kernels at their centers, or variances.

    Parameters
    ----------
    kernels : KernelBasis or None
        The candidates, if they are kernels.
    variances : array of shape (n_candidates,)
        The variances of the candidates over the rows.
    """

    def __init__(self, kernels: KernelBasis | None, variances: Floats) -> None:
        is_known = kernels is not None and kernels.kernel_ != "precomputed"
        self._kernels, self._variances = kernels if is_known else None, variances

    def rows(self, candidates: Indices, members: Indices) -> Floats:
        """Return K between candidates and members, shape (n_candidates, n_members)."""
        if self._kernels is None:
            return np.where(candidates[:, None] == members, self._variances[members], 0.0)
        return self._kernels.on(self._kernels.centers_[candidates]).columns(members)

    def diagonal(self, candidates: Indices) -> Floats:
        """Return K of each candidate with itself."""
        return (1.0 + JITTER) * self.rows(candidates, candidates).diagonal()


class _Growth:
    """The model, and the candidates that may enter."""

    def __init__(
        self,
        evaluation: Evaluation,
        penalty: Penalty,
        rows: LossOfRows,
        journal: Journal,
        rng: np.random.Generator,
        n_compared: int,
    ) -> None:
        self._evaluation, self._penalty, self._rows, self._journal = evaluation, penalty, rows, journal
        self._rng, self._n_compared = rng, n_compared
        self._indices = np.empty(0, dtype=np.intp)
        self._left = np.empty(0, dtype=np.intp)

    def offer(self, candidates: Indices) -> None:
        """Let these candidates enter, and no others."""
        self._left = candidates

    def run(self, *, fit_intercept: bool) -> Outcome:
        """Add functions until J falls no more, or there is no room."""
        constant = np.ones((len(self._rows.targets), int(fit_intercept)))
        self._model = RowModel(self._rows, constant, np.zeros((constant.shape[1],) * 2), np.zeros(constant.shape[1])).fitted()
        start = objective = self._model.objective
        tol, size_at_last_fit, fruitless, watch = self._journal.budget.tol, 0, 0, self._journal.stopwatch()
        outcome = None
        while outcome is None and fruitless < PATIENCE:
            outcome = watch.exhausted() or self._no_room() or self._step()
            if outcome is not None:
                break
            if len(self._indices) >= size_at_last_fit + max(1, round(GROWTH * size_at_last_fit)):
                self._refit()
                size_at_last_fit = len(self._indices)
            now = self._model.objective
            fruitless = 0 if objective - now > tol * objective else fruitless + 1
            self._journal.note("add", int(self._indices[-1]), now, len(self._indices))
            objective = now
            if objective <= NOTHING_LEFT * start:
                break
        if len(self._indices) > size_at_last_fit:
            self._refit()
        return outcome or (Outcome.CONVERGED if len(self._indices) else Outcome.NOTHING_HELPS)

    def _no_room(self) -> Outcome | None:
        return Outcome.SIZE_LIMIT if self._journal.budget.room(len(self._indices)) == 0 else None

    def _step(self) -> Outcome | None:
        """Add the best of some candidates, with the weight that is best alone. Return the outcome if none lowers J."""
        while len(self._left):
            drawn = self._rng.permutation(len(self._left))[: self._n_compared]
            compared = np.sort(self._left[drawn])
            columns = self._evaluation.columns(compared)
            steps, gains = self._alone(compared, columns)
            best = int(np.argmax(gains))
            if gains[best] > NOTHING_LEFT * self._model.objective:
                self._add(int(compared[best]), columns[:, best], float(steps[best]))
                return None
            self._left = np.delete(self._left, drawn)  # none of these helps, and more functions will not change that by much
        return Outcome.CONVERGED if len(self._indices) else Outcome.NOTHING_HELPS

    def _alone(self, compared: Indices, columns: Floats) -> tuple[Floats, Floats]:
        """Return the best weight of each candidate if no other weight moves, and by how much J falls then."""
        n_fixed = len(self._model.weights) - len(self._indices)
        own = self._penalty.diagonal(compared)
        pull = self._penalty.rows(compared, self._indices) @ self._model.weights[n_fixed:]
        latent, targets, steps = self._model.latent[:, None], self._rows.targets[:, None], np.zeros(len(compared))
        weighted = columns * self._rows.counts[:, None]
        squared = columns * weighted
        for _ in range(STEPS_ALONE):
            slopes, curvature = self._rows.loss.slopes(targets, latent + columns * steps)
            gradient = np.einsum("ij,ij->j", weighted, slopes) - pull - own * steps
            steps = steps + gradient / (np.einsum("ij,ij->j", squared, curvature) + own)
        after = self._rows.counts @ self._rows.loss.values(targets, latent + columns * steps)
        return steps, self._rows.total(self._model.latent) - after - pull * steps - 0.5 * own * steps**2

    def _add(self, candidate: int, column: Floats, weight: float) -> None:
        one, n_fixed = np.array([candidate]), len(self._model.weights) - len(self._indices)
        row = np.concatenate([np.zeros(n_fixed), self._penalty.rows(one, self._indices)[0], self._penalty.diagonal(one)])
        self._model = self._model.with_column(column, row)
        self._model.weights[-1] = weight
        self._indices = np.append(self._indices, candidate)
        self._left = self._left[self._left != candidate]

    def _refit(self) -> None:
        self._model = self._model.fitted(is_late=self._is_late)

    @property
    def _is_late(self) -> Callable[[], bool]:
        return lambda: self._journal.exhausted() is Outcome.TIME_LIMIT

    def fit(self, outcome: Outcome, means: Floats) -> LatentFit:
        model = self._model
        _, curvature = self._rows.slopes(model.latent)
        matrix = model.hessian(curvature)
        jitter = JITTER * max(float(np.trace(matrix)), 1.0)
        matrix.flat[:: len(matrix) + 1] += jitter  # the constant may have no curvature
        return LatentFit.of(
            self._indices,
            model.weights,
            _precisions(model.penalty, len(model.weights) - len(self._indices), jitter),
            matrix,
            means,
            score=model.objective,
            outcome=outcome,
            trace=self._journal.trace(),
        )


def _precisions(penalty: Floats, n_fixed: int, jitter: float) -> Floats:
    """Return how well the penalty alone determines each weight, if the others may be anything: 1 / (K^-1)_ii.

    The diagonal of K would be the precision for given other weights. Kernels overlap, so no variance compares with that.
    """
    K = penalty[n_fixed:, n_fixed:].copy()
    K.flat[:: len(K) + 1] += jitter
    root = inverse_of_lower(cholesky_of_nearly_singular(K))
    return np.concatenate([np.zeros(n_fixed), 1.0 / np.einsum("ij,ij->j", root, root)])

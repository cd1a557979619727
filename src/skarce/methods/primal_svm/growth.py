"""The greedy choice of functions: of some candidates, the one that lowers the objective most if its weight moves alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skarce._typing import Floats, Indices
from skarce.basis import Evaluation
from skarce.methods.primal_svm.alone import Shortages
from skarce.methods.primal_svm.penalty import Penalty
from skarce.methods.pursuit.row_model import LossOfRows, RowModel
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

GROWTH = 0.1  # of the functions, after which all weights move again
PATIENCE = 3  # additions in a row that may lower J too little
NOTHING_LEFT = 1e-12  # of what J was without functions


class Growth:
    """The model, and the candidates that may enter.

    Parameters
    ----------
    evaluation : Evaluation
        The candidates at the rows.
    penalty : Penalty
        K of the candidates.
    rows : LossOfRows
        What is made small.
    journal : Journal
        The record of the additions.
    rng : Generator
        Draws candidates.
    n_compared : int
        How many of them are compared before one enters.

    Attributes
    ----------
    indices : array of shape (n_active,)
        The functions in the order in which they entered.
    model : RowModel
        The constant, if there is one, and the functions. Available after `run`.
    """

    model: RowModel

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
        self.indices = np.empty(0, dtype=np.intp)
        self._left = np.empty(0, dtype=np.intp)

    def offer(self, candidates: Indices) -> None:
        """Let these candidates enter, and no others."""
        self._left = candidates

    def run(self, *, fit_intercept: bool) -> Outcome:
        """Add functions until J falls no more, or there is no room."""
        constant = np.ones((len(self._rows.targets), int(fit_intercept)))
        self.model = RowModel(self._rows, constant, np.zeros((constant.shape[1],) * 2), np.zeros(constant.shape[1])).fitted()
        start = objective = self.model.objective
        tol, size_at_last_fit, fruitless, watch = self._journal.budget.tol, 0, 0, self._journal.stopwatch()
        outcome = None
        while outcome is None and fruitless < PATIENCE:
            outcome = watch.exhausted() or self._no_room() or self._step()
            if outcome is not None:
                break
            if len(self.indices) >= size_at_last_fit + max(1, round(GROWTH * size_at_last_fit)):
                self._refit()
                size_at_last_fit = len(self.indices)
            now = self.model.objective
            fruitless = 0 if objective - now > tol * objective else fruitless + 1
            self._journal.note("add", int(self.indices[-1]), now, len(self.indices))
            objective = now
            if objective <= NOTHING_LEFT * start:
                break
        if len(self.indices) > size_at_last_fit:
            self._refit()
        return outcome or (Outcome.CONVERGED if len(self.indices) else Outcome.NOTHING_HELPS)

    def _no_room(self) -> Outcome | None:
        return Outcome.SIZE_LIMIT if self._journal.budget.room(len(self.indices)) == 0 else None

    def _step(self) -> Outcome | None:
        """Add the best of some candidates, with the weight that is best alone. Return the outcome if none lowers J."""
        while len(self._left):
            drawn = self._rng.permutation(len(self._left))[: self._n_compared]
            compared = np.sort(self._left[drawn])
            columns = self._evaluation.columns(compared)
            steps, gains = self._alone(compared, columns)
            best = int(np.argmax(gains))
            if gains[best] > NOTHING_LEFT * self.model.objective:
                self._add(int(compared[best]), columns[:, best], float(steps[best]))
                return None
            self._left = np.delete(self._left, drawn)  # none of these helps, and more functions will not change that by much
        return Outcome.CONVERGED if len(self.indices) else Outcome.NOTHING_HELPS

    def _alone(self, compared: Indices, columns: Floats) -> tuple[Floats, Floats]:
        """Return the best weight of each candidate if no other weight moves, and by how much J falls then."""
        n_fixed = len(self.model.weights) - len(self.indices)
        pull = self._penalty.rows(compared, self.indices) @ self.model.weights[n_fixed:]
        return self._shortages().best_alone(columns, pull, self._penalty.diagonal(compared))

    def _shortages(self) -> Shortages:
        signs = self._rows.targets
        return Shortages(signs, 1.0 - signs * self.model.latent, self._rows.majorizer(self.model.latent))

    def _add(self, candidate: int, column: Floats, weight: float) -> None:
        one, n_fixed = np.array([candidate]), len(self.model.weights) - len(self.indices)
        row = np.concatenate([np.zeros(n_fixed), self._penalty.rows(one, self.indices)[0], self._penalty.diagonal(one)])
        self.model = self.model.with_column(column, row)
        self.model.weights[-1] = weight
        self.indices = np.append(self.indices, candidate)
        self._left = self._left[self._left != candidate]

    def _refit(self) -> None:
        self.model = self.model.fitted(is_late=self._is_late)

    @property
    def _is_late(self) -> Callable[[], bool]:
        return lambda: self._journal.exhausted() is Outcome.TIME_LIMIT

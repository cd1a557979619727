"""Matching pursuit by any convex loss of the rows: the gradient of the loss chooses a function, then weights move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, solve_lower
from skarce._typing import Floats, Indices
from skarce.basis import Evaluation
from skarce.methods.pursuit.losses import RowLoss
from skarce.methods.pursuit.row_model import LossOfRows, RowModel
from skarce.searches.walk import first_of_the_best
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

VARIANTS = ("back-fitting", "pre-fitting", "basic")
INDEPENDENT = 1e-9  # the share of a candidate that must be left outside the span of the model
SCARCELY_CORRELATED = 1e-14  # squared correlation with the slopes of the loss, below which it is rounding
CONSTANT = 1e-24  # of the squared mean: the energy about the mean that is only rounding


@dataclass(frozen=True)
class PursuitModel:
    """The functions of a model and their weights.

    Parameters
    ----------
    indices : array of shape (n_active,)
        The candidates, in the order in which they entered.
    model : RowModel
        The constant, if there is one, and the functions.
    moves : tuple of int
        The candidate of each step, which was new or had its weight moved again.
    """

    indices: Indices
    model: RowModel
    moves: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.indices)

    def with_loss(self, loss: RowLoss, variant: str, is_late: Callable[[], bool]) -> PursuitModel:
        """Return the model with another loss, fitted again unless weights of the basic variant stay."""
        model = replace(self.model, rows=replace(self.model.rows, loss=loss))
        free = np.arange(int(self.n_fixed)) if variant == "basic" else None
        return replace(self, model=model.fitted(free, is_late))

    @property
    def n_fixed(self) -> int:
        """1 if the first function is the constant, which is always in."""
        return len(self.model.weights) - len(self.indices)


@dataclass(frozen=True)
class RowPursuit:
    """The candidates at all rows, and how functions are chosen and weights move.

    Parameters
    ----------
    evaluation : Evaluation
        The candidates at the rows.
    variant : {"back-fitting", "pre-fitting", "basic"}
        Which function enters, and which weights move then.
    squared_norms : array of shape (n_candidates,)
        Sums of squares of the candidates over the rows, zero if they are constant.
    latent_scale : float or None
        The prior standard deviation of the function that each weight brings to the model. None sets no prior.
    """

    evaluation: Evaluation
    variant: str
    squared_norms: Floats
    latent_scale: float | None = None

    @classmethod
    def of(
        cls, evaluation: Evaluation, means: Floats, variant: str, counts: Floats, latent_scale: float | None = None
    ) -> RowPursuit:
        """Make a pursuit of candidates about their means."""
        return cls(evaluation, variant, energies_of(evaluation, means, counts), latent_scale)

    def start(self, rows: LossOfRows, *, fit_intercept: bool) -> PursuitModel:
        """Return the model without functions."""
        constant = np.ones((len(rows.targets), int(fit_intercept)))
        penalty = (
            np.zeros((constant.shape[1],) * 2) if self.latent_scale is None else np.eye(constant.shape[1]) / self.latent_scale**2
        )
        model = RowModel(rows, constant, penalty, np.zeros(constant.shape[1]))
        return PursuitModel(np.empty(0, dtype=np.intp), model.fitted())

    def enlarged(
        self, present: PursuitModel, *, may_grow: bool, may_change: bool, is_late: Callable[[], bool]
    ) -> tuple[PursuitModel, int] | None:
        """Return the model with the best function in it, or with a new weight for it, and which one it is. None if none helps."""
        ranking = self._ranking(present)
        if self.variant != "basic" or not may_change:
            ranking[present.indices] = 0.0
        elif not may_grow:
            ranking[np.setdiff1d(np.arange(len(ranking)), present.indices)] = 0.0
        candidate = first_of_the_best(ranking) if len(ranking) else -1
        if candidate < 0 or not ranking[candidate] > SCARCELY_CORRELATED:
            return None
        return self._moved(present, candidate, is_late), candidate

    def _moved(self, present: PursuitModel, candidate: int, is_late: Callable[[], bool]) -> PursuitModel:
        model, indices = present.model, present.indices
        places = np.flatnonzero(indices == candidate)
        if not len(places):
            model = model.with_column(self.evaluation.columns(np.array([candidate]))[:, 0], self._penalty_row(model, candidate))
            indices, places = np.append(indices, candidate), np.array([len(indices)])
        free = np.append(np.arange(present.n_fixed), present.n_fixed + places) if self.variant == "basic" else None
        return PursuitModel(indices, model.fitted(free, is_late), (*present.moves, candidate))

    def _penalty_row(self, model: RowModel, candidate: int) -> Floats:
        row = np.zeros(len(model.weights) + 1)
        if self.latent_scale is not None:
            row[-1] = self.squared_norms[candidate] / (model.rows.counts.sum() * self.latent_scale**2)
        return row

    def _ranking(self, present: PursuitModel) -> Floats:
        """Return the squared correlation of each candidate with the slopes of the loss, or of what is left of it."""
        slopes, curvature = present.model.rows.slopes(present.model.latent)
        energy = float(slopes @ slopes)
        usable = self.squared_norms > 0.0
        if not energy > 0.0:
            return np.zeros(len(usable))
        if self.variant != "pre-fitting":
            alignment = self.evaluation.project(slopes[:, None])[0][:, 0]
            return np.divide(alignment**2, self.squared_norms * energy, out=np.zeros(len(usable)), where=usable)
        alignment, left, whole = self._leftovers(present.model, slopes, curvature)
        return np.divide(alignment**2, left * energy, out=np.zeros(len(usable)), where=usable & (left > INDEPENDENT * whole))

    def _leftovers(self, model: RowModel, slopes: Floats, curvature: Floats) -> tuple[Floats, Floats, Floats]:
        """Return Phi'g, and phi'B phi of each candidate after and before the model took its share of it."""
        right = np.column_stack([slopes, curvature[:, None] * model.columns])
        product, whole = self.evaluation.project(right, curvature)
        lower = cholesky_of_nearly_singular(model.hessian(curvature))
        cover = solve_lower(lower, np.ascontiguousarray(product[:, 1:].T))
        return product[:, 0], whole - np.einsum("am,am->m", cover, cover), whole


def energies_of(evaluation: Evaluation, means: Floats, counts: Floats) -> Floats:
    """Return sums of squares of candidates about their means over the rows. They are zero for constant candidates."""
    _, squares = evaluation.project(np.zeros((evaluation.n_rows, 1)), counts)
    return np.where(squares > CONSTANT * means**2 * counts.sum(), squares, 0.0)


@dataclass(frozen=True)
class Stops:
    """When a pursuit ends.

    Parameters
    ----------
    patience : int
        The number of steps that may fail to improve the best model before the next improvement. A step that only moves a weight
        fails only if it does not improve the model before it either: a model may be on its way out of a dip.
    needed : float
        The smallest improvement of the worth that counts.
    n_basis : int or None
        Exactly this many functions. None lets the worth decide.
    """

    patience: int
    needed: float
    n_basis: int | None = None


def pursue(
    pursuit: RowPursuit,
    start: PursuitModel,
    worth: Callable[[PursuitModel], float],
    settle: Callable[[PursuitModel], PursuitModel],
    stops: Stops,
    journal: Journal,
) -> tuple[PursuitModel, Outcome]:
    """Go from model to model, and return the best one. `settle` adjusts a model after each step, `worth` judges it.

    A worth of minus infinity says that a model is too large. The journal ends with the best model.
    """
    walk = _Walk(pursuit, start, worth, settle, stops, journal)
    with journal.shown():
        outcome = walk.run()
    journal.rewind(walk.best_row, walk.best_worth)
    return walk.best, outcome


class _Walk:
    """The present model, and the best one so far. The parameters are those of `pursue`."""

    def __init__(
        self,
        pursuit: RowPursuit,
        start: PursuitModel,
        worth: Callable[[PursuitModel], float],
        settle: Callable[[PursuitModel], PursuitModel],
        stops: Stops,
        journal: Journal,
    ) -> None:
        self._pursuit, self._worth, self._settle, self._stops, self._journal = pursuit, worth, settle, stops, journal
        self.best = self._present = start
        self.best_worth, self.best_row, self._since = worth(start), 0, 0
        self._present_worth = self.best_worth

    def run(self) -> Outcome:
        """Take steps until there is a reason to stop, and return it."""
        watch, outcome = self._journal.stopwatch(), None
        while outcome is None and (self._since < self._stops.patience or self._stops.n_basis is not None):
            outcome = self._goal() or watch.exhausted() or self._step()
        return outcome or Outcome.NO_ADDITION_HELPS

    def _goal(self) -> Outcome | None:
        return Outcome.GOAL_REACHED if len(self._present) == self._stops.n_basis else None

    def _step(self) -> Outcome | None:
        """Go to the next model. Return the outcome if there is none."""
        size, journal = len(self._present), self._journal
        has_room = journal.budget.room(size) > 0
        if not has_room and self._pursuit.variant != "basic":
            return Outcome.SIZE_LIMIT if len(self.best) >= size else Outcome.NO_ADDITION_HELPS
        must_grow = self._stops.n_basis is not None and self._since > 0  # weights have settled, but functions are still wanted
        onward = self._pursuit.enlarged(
            self._present, may_grow=has_room, may_change=not must_grow, is_late=lambda: journal.exhausted() is not None
        )
        value = -np.inf
        if onward is not None:
            self._present, candidate = self._settle(onward[0]), onward[1]
            value = self._worth(self._present)
        if onward is None or value == -np.inf:
            return Outcome.NO_ADDITION_HELPS if self._stops.n_basis is None else Outcome.TOO_FEW_CANDIDATES
        journal.note("add" if len(self._present) > size else "change", candidate, value, len(self._present))
        is_better = value > self.best_worth + self._stops.needed
        if self._stops.n_basis is not None or is_better:
            self.best, self.best_worth, self.best_row = self._present, value, journal.n_rows
        self._since = self._failures_after(value, has_grown=len(self._present) > size, is_better=is_better)
        self._present_worth = value
        return None

    def _failures_after(self, value: float, *, has_grown: bool, is_better: bool) -> int:
        """Return how many steps have failed since the last improvement. Moves of weights out of a dip do not fail."""
        if is_better or (has_grown and self._stops.n_basis is not None):
            return 0
        is_on_its_way_up = not has_grown and self._stops.n_basis is None and value > self._present_worth + self._stops.needed
        return self._since if is_on_its_way_up else self._since + 1

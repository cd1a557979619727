r"""Rows that can only be read block by block: functions are chosen at a sample of them, and weights at all of them.

The sample stands for all rows, so each of its rows counts for several, and functions enter there as they do in memory. Then Newton
steps move the weights. Each is a pass, which adds up the loss, its slopes and the matrix :math:`\Phi^TB\Phi` of the rows that
violate the margin. A step that raises J is halved. At the end the gradient of J over all rows is zero.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skarce._device import is_on_device, namespace, ones_before, taken, to_device, to_host
from skarce._linalg import cholesky_of_nearly_singular, solve_lower
from skarce._parallel import on_one_blas_thread
from skarce._progress import progress
from skarce._typing import Floats, Indices
from skarce.basis import KernelBasis
from skarce.designs.folds import kernels_of
from skarce.designs.in_memory import InMemoryDesign
from skarce.designs.latent_stream import Spread
from skarce.designs.problem import Problem
from skarce.designs.work_on_rows import Blocks, work_on_rows
from skarce.methods.latent.by_passes import SpreadPass
from skarce.methods.latent.functions import weighted_gram
from skarce.methods.primal_svm.penalty import Penalty
from skarce.posteriors.latent import LatentFit
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

if TYPE_CHECKING:
    from skarce.methods.primal_svm.method import PrimalSVM

MOST_PASSES, HALVINGS = 100, 30
ARRIVED = 1e-12  # a step promises no more than this share of J
ROUNDING = 1e-12  # relative: J has not risen if it is larger by less


class MarginSums(NamedTuple):
    """Sums over rows: the loss, minus its slopes, and its curvature in the constant and the weights."""

    loss: float
    slopes: Floats
    curvature: Floats

    @classmethod
    def total(cls, parts: Sequence[MarginSums]) -> MarginSums:
        """Return the sums over all parts."""
        return cls(*(sum(column[1:], start=column[0]) for column in zip(*parts, strict=True)))


def total_of_all(parts: Sequence[list[MarginSums]]) -> list[MarginSums]:
    """Return the sums of all targets over all parts."""
    return [MarginSums.total(of_target) for of_target in zip(*parts, strict=True)]


@dataclass(frozen=True)
class MarginPass:
    """A pass: the sums of some targets at their weights.

    Parameters
    ----------
    candidates : object
        The basis, or the part of it that has the functions of all targets.
    chosen : array of shape (n_chosen,)
        These functions among its candidates.
    means : array of shape (n_chosen,)
        What they are counted from.
    fit_intercept : bool
        Whether weights begin with a constant.
    C : float
        The weight of the loss.
    outputs : list of int
        The targets.
    places : list of arrays
        For each of them, its functions among those that are chosen.
    weights : list of arrays
        For each of them, the constant and the weights.
    """

    candidates: Any
    chosen: Indices
    means: Floats
    fit_intercept: bool
    C: float
    outputs: list[int]
    places: list[Indices]
    weights: list[Floats]

    def __call__(self, rows: Any) -> list[MarginSums]:
        operations = 2.0 * len(self.chosen) * len(self.outputs)
        return total_of_all(work_on_rows(self._of_blocks, self.candidates, rows, operations=operations))

    def _of_blocks(self, blocks: Blocks) -> list[MarginSums]:
        sums = [MarginSums(0.0, np.zeros(len(weights)), np.zeros((len(weights),) * 2)) for weights in self.weights]
        for phi, targets, row_weights in blocks:
            functions = taken(phi, self.chosen, axis=1) - to_device(self.means, phi)
            own = [
                self._at(taken(functions, places, axis=1), targets[:, output], row_weights, weights)
                for output, places, weights in zip(self.outputs, self.places, self.weights, strict=True)
            ]
            sums = total_of_all([sums, own])
        return sums

    def _at(self, functions: Floats, targets: Floats, row_weights: Floats, weights: Floats) -> MarginSums:
        """Return the sums of one target at some rows."""
        functions = ones_before(functions) if self.fit_intercept else functions
        xp, signs = namespace(functions), 2.0 * targets - 1.0
        short = 1.0 - signs * (functions @ to_device(weights, functions))
        violates = short > 0.0
        short = xp.where(violates, short, xp.zeros_like(short))
        pull, curvature = self.C * row_weights * short, xp.where(violates, self.C * row_weights, xp.zeros_like(short))
        loss, slopes = 0.5 * float(xp.sum(pull * short)), to_host((pull * signs) @ functions)
        if not is_on_device(functions):
            functions, curvature = functions[violates], curvature[violates]
        return MarginSums(loss, slopes, to_host(weighted_gram(functions, curvature)))


class Point(NamedTuple):
    """Weights, and J and its second derivatives there."""

    weights: Floats
    objective: float
    hessian: Floats


@dataclass
class Descent:
    """The way of one target to the smallest J over the weights of its functions.

    Attributes
    ----------
    indices : the functions
    weights : where the next pass is
    penalty : K
    outcome : how the choice of functions has ended
    journal : of that choice
    best : the last point that lowered J
    is_done : whether it cannot be lowered any more
    """

    indices: Indices
    weights: Floats
    penalty: Floats
    outcome: Outcome
    journal: Journal
    best: Point | None = None
    is_done: bool = False
    n_halvings: int = 0

    def follow(self, sums: MarginSums) -> None:
        """Take a Newton step from where a pass was, or go back half of the way if J has risen."""
        objective = sums.loss + 0.5 * float(self.weights @ self.penalty @ self.weights)
        if self.best is not None and objective > (1.0 + ROUNDING) * self.best.objective:
            self.weights, self.n_halvings = 0.5 * (self.weights + self.best.weights), self.n_halvings + 1
            self.is_done = self.n_halvings > HALVINGS
            return
        self.best, self.n_halvings = Point(self.weights, objective, sums.curvature + self.penalty), 0
        gradient = sums.slopes - self.penalty @ self.weights
        lower = cholesky_of_nearly_singular(self.best.hessian.copy())
        step = solve_lower(lower, solve_lower(lower, gradient), transposed=True)
        self.is_done = float(gradient @ step) <= ARRIVED * objective
        self.weights = self.weights + step


class ByPasses:
    """The machines of all targets of a design that is read block by block."""

    def __init__(self, method: PrimalSVM, problems: Sequence[Problem], budget: Budget) -> None:
        self._method, self._problems, self._budget = method, problems, budget
        self._design: Any = problems[0].design
        self._fit_intercept = self._design.fit_intercept

    @on_one_blas_thread
    def run(self) -> list[LatentFit]:
        """Return the machine of each target."""
        from skarce.methods.primal_svm.method import fit_of  # which runs this

        design, n_outputs = self._design, len(self._problems)
        spread = design.total(SpreadPass(design.candidates, self._problems[0].likelihood, n_outputs), Spread.total_of)
        design.set_spread(spread)
        self._means = spread.means * self._fit_intercept
        about_zero = 0.0 if self._fit_intercept else spread.means**2
        self._penalty = Penalty(kernels_of(design.candidates), spread.squares / spread.total + about_zero)
        descents = self._begun(spread)
        self._take_passes(descents)
        fits = []
        for descent in descents:
            assert descent.best is not None
            weights, objective, hessian = descent.best
            fits.append(
                fit_of(descent.indices, weights, descent.penalty, hessian, self._means, objective, descent.outcome, descent.journal)
            )
        return fits

    def _begun(self, spread: Spread) -> list[Descent]:
        """Choose functions at the sample, whose rows count as much as all rows."""
        rows = self._design.rows
        rows = rows._replace(weights=rows.row_weights * (spread.total / rows.row_weights.sum()))
        sample = InMemoryDesign(self._design.candidates, rows, fit_intercept=self._fit_intercept)
        problems = sample.problems(self._problems[0].likelihood)
        return [
            self._chosen(problem, self._budget.share(len(problems) - place + 1))
            if np.ptp(rows.targets[:, place]) > 0.0
            else self._without_functions()
            for place, problem in enumerate(problems)
        ]

    def _chosen(self, problem: Problem, budget: Budget) -> Descent:
        """Return the functions that enter at the sample, with their weights there, about the means of all rows."""
        journal = Journal(budget)
        growth, outcome, means = self._method.grown(problem, journal)
        weights, indices = growth.model.weights.copy(), growth.indices
        if self._fit_intercept:
            weights[0] += (self._means - means)[indices] @ weights[1:]
        return Descent(indices, weights, self._penalty.matrix(indices, len(weights) - len(indices)), outcome, journal)

    def _without_functions(self) -> Descent:
        """Return that for a label which the sample does not have."""
        n_fixed, none = int(self._fit_intercept), np.empty(0, dtype=np.intp)
        return Descent(none, np.zeros(n_fixed), np.zeros((n_fixed, n_fixed)), Outcome.NOTHING_HELPS, Journal(self._budget))

    def _take_passes(self, descents: list[Descent]) -> None:
        """Add up and step in turn until all targets are done. Those that are take no part in later passes."""
        union = np.unique(np.concatenate([descent.indices for descent in descents]))
        pass_of_none = _pass_over(self._design.candidates, union, self._means[union], self._fit_intercept, self._method.C)
        still_open, began = list(range(len(descents))), time.monotonic()
        watch = Journal(self._budget)
        with progress("Newton steps", unit="passes", at_most=MOST_PASSES, deadline=self._budget.deadline) as part:
            for number in range(MOST_PASSES):
                open_ones = [descents[k] for k in still_open]
                one = replace(
                    pass_of_none,
                    outputs=still_open,
                    places=[np.searchsorted(union, descent.indices) for descent in open_ones],
                    weights=[descent.weights for descent in open_ones],
                )
                for descent, sums in zip(open_ones, self._design.total(one, total_of_all), strict=True):
                    descent.follow(sums)
                part.to(number + 1)
                still_open = [k for k in still_open if not descents[k].is_done]
                if not still_open:
                    return
                limit = watch.exhausted(ahead=(time.monotonic() - began) / (number + 1))
                if limit is not None:
                    break
        for k in still_open:
            descents[k].outcome = limit or Outcome.STEP_LIMIT


def _pass_over(candidates: Any, chosen: Indices, means: Floats, fit_intercept: bool, C: float) -> MarginPass:
    """Return a pass of no target. Kernels that are not chosen are not evaluated."""
    if isinstance(candidates, KernelBasis) and len(chosen):
        candidates, chosen = candidates.select(chosen), np.arange(len(chosen))
    return MarginPass(candidates, chosen, means, fit_intercept, C, [], [], [])

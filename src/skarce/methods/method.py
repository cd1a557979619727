"""What an algorithm is: it goes from a problem to a fit, and from a fit to a posterior."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from skarce.basis.centers import AUTO_LANDMARKS
from skarce.designs.choice import IN_BATCHES, Access
from skarce.designs.design import Rows
from skarce.designs.problem import Problem
from skarce.designs.repeats import times_counted
from skarce.methods.few import few_instead_of, of_few
from skarce.moments import Moments
from skarce.posteriors.of_fit import posterior_of
from skarce.posteriors.posterior import Posterior
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.judge import Judge
from skarce.states.outcome import Outcome

AnyFit = TypeVar("AnyFit", bound=Fit)
HALF = 0.5  # of the rows: no criterion can be trusted for models with more functions
SETTLED = (Outcome.CONVERGED, Outcome.NO_ADDITION_HELPS, Outcome.NONE_BETTER_FOUND, Outcome.BEST_OF_ALL)


class Method(ABC, Generic[AnyFit]):
    """One algorithm with its parameters, as a frozen dataclass. `run` finds a fit, and `posterior` turns it into a model."""

    needs_rows: ClassVar[bool] = False  # whether the weights of rows change, so that all rows must be in memory

    @property
    @abstractmethod
    def sense(self) -> int:
        """+1 if a larger published criterion is better, -1 if a smaller one is."""

    @property
    def kind(self) -> str:
        """The kind of the criterion. Values of the same kind can be compared. Default: the name of this class."""
        return type(self).__name__

    @property
    def remark(self) -> str:
        """How the published criterion differs from that of other methods. Default: no remark."""
        return ""

    @property
    def access(self) -> Access:
        """How the method asks for columns of the Gram matrix. Default: in batches."""
        return IN_BATCHES

    @abstractmethod
    def run(self, problem: Problem, budget: Budget) -> AnyFit:
        """Fit one target."""

    def run_all(self, problems: Sequence[Problem], budget: Budget) -> list[AnyFit]:
        """Fit all targets of a design. Default: one after the other, each with an equal part of the time that is left."""
        return [self.run(problem, budget.share(len(problems) - place)) for place, problem in enumerate(problems)]

    @abstractmethod
    def posterior(self, fit: AnyFit, problem: Problem) -> Any:
        """Make a posterior in user units from a fit and its problem."""

    def width_options(self, rows: Rows) -> dict[str, Any]:
        """Return the options that this method passes to the learning of kernel widths. Default: none."""
        return {}

    def n_landmarks(self, n_rows: int) -> int:
        """Return how many landmarks ``KernelBasis(centers="auto")`` offers of many rows. Default: as many as for most methods."""
        return AUTO_LANDMARKS

    def following(self, posteriors: Sequence[Any]) -> Self:
        """Return a method that continues from the models of the last batch of a stream. Default: solve from scratch."""
        return self


class MomentMethod(Method[Fit]):
    """A method that needs only moments. A subclass gives `criterion` and `solve`; the rest is shared.

    Attributes
    ----------
    criterion : Judge
        The criterion that the method improves.
    trace_fields : tuple of str
        Fields of the trace that only this method has.
    keep_path : bool
        Whether nested models above the chosen one are kept.
    crowded : float or None
        If the model has more functions than this share of the rows, a few functions may take its place; see `methods.few`. None
        keeps the model.
    """

    criterion: Judge
    trace_fields: ClassVar[tuple[str, ...]] = ()
    keep_path: bool = False
    crowded: float | None = None

    @property
    def sense(self) -> int:
        return self.criterion.sense

    @property
    def kind(self) -> str:
        return self.criterion.kind

    @property
    def remark(self) -> str:
        return self.criterion.remark

    @property
    def warns_if_half(self) -> bool:
        """Whether more functions than half of the rows are worth a warning. Default: no, the method is not meant to be sparse."""
        return False

    def judge(self, problem: Problem) -> Judge:
        """Return the criterion for a target in user units. Default: the same criterion for every target."""
        return self.criterion

    @abstractmethod
    def solve(self, judge: Any, moments: Moments, journal: Journal) -> Fit:
        """Search on the moments of one scaled target."""

    def run(self, problem: Problem, budget: Budget) -> Fit:
        """Search on the scaled target. A constant target, or too little data, gives a model without functions."""
        judge, moments, total, scale = self.judge(problem), problem.moments, problem.design.n_samples, problem.target_scale
        if moments.n_samples <= 0.0 or problem.is_constant:
            outcome = Outcome.CONSTANT_TARGET if moments.n_samples > 0.0 else Outcome.TOO_LITTLE_DATA
            return replace(Fit.empty(outcome), judge=judge, trace=Journal(own=self.trace_fields).trace())
        judge = judge.scaled(scale)
        value = lambda score: float(judge.value(score, moments.n_samples, total, scale))  # noqa: E731
        journal = Journal(budget, self.trace_fields, value)
        with journal.shown():
            fit = replace(self.solve(judge, moments, journal), judge=judge, trace=journal.trace())
            n_rows = n_distinct(problem) if self.crowded is not None or self.warns_if_half else np.inf
            if self.crowded is not None and self._is_crowded(fit, self.crowded, problem, n_rows):
                fit = self._on_few(fit, judge, problem, journal, n_rows)
        outcome = Outcome.NOTHING_HELPS if not len(fit.active) and fit.outcome in SETTLED else fit.outcome
        if self.warns_if_half and outcome in SETTLED and uses_more_than(HALF * n_rows, fit, problem):
            outcome = Outcome.HALF_USED
        return replace(fit, outcome=outcome)

    @staticmethod
    def _is_crowded(fit: Fit, share: float, problem: Problem, n_rows: float) -> bool:
        """Tell whether a fit heads for interpolation. Candidates that are fewer than half of the rows cannot."""
        if fit.outcome.is_early or problem.moments.n_candidates <= HALF * n_rows:
            return False
        return fit.outcome is Outcome.HALF_USED or uses_more_than(share * n_rows, fit, problem)

    def _on_few(self, fit: Fit, judge: Judge, problem: Problem, journal: Journal, n_rows: float) -> Fit:
        """Return the fit on a few functions only if they are worth more than this one."""
        moments, is_half_used = problem.moments, fit.outcome is Outcome.HALF_USED or uses_more_than(HALF * n_rows, fit, problem)
        # Noise that is counted twice would look like signal.
        once = moments.counted_once(times_counted(problem.design.rows))
        few = few_instead_of(fit, once, journal.budget, is_interpolating=is_half_used)
        if few is None:
            return fit
        journal.rewind(0)
        nothing = Fit.empty(Outcome.CONVERGED)
        small = self.solve(judge, moments.restricted_to(few), journal) if len(few) else nothing
        return of_few(replace(small, judge=judge, trace=journal.trace()), few)

    def posterior(self, fit: Fit, problem: Problem) -> Posterior:
        """Solve for the weights again, with the residual from the rows. Keep nested models if the search has any."""
        posterior = posterior_of(fit, problem)
        if fit.nested is None:
            return posterior
        from skarce.posteriors.nested import NestedPath

        most = len(fit.nested.order) if self.keep_path else len(fit.active)
        return replace(posterior, path=NestedPath.of(fit, problem, most))


def n_distinct(problem: Problem) -> float:
    """Return how many observations there are if weights and repeated rows do not count."""
    return problem.moments.n_samples / times_counted(problem.design.rows)


def uses_more_than(most: float, fit: Fit, problem: Problem) -> bool:
    """Tell whether a fit uses more degrees of freedom than this. Functions that look alike use few together."""
    return len(fit.active) > most and float(posterior_of(fit, problem).well_determined.sum()) > most

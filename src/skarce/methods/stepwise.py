"""Stepwise least squares: inputs enter and leave by F tests of one weight at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from skarce._linalg import cholesky_of_nearly_singular, inverse_of_lower, solve_lower
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.criteria.variational import LikelihoodWithoutPrior
from skarce.designs.problem import Problem
from skarce.methods.method import MomentMethod
from skarce.moments import Moments
from skarce.posteriors.variational import VariationalPosterior
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import DEPENDENT, RESOLUTION, left_of, resolved_energy

SAME = 1.0 - 1e-5  # p values whose logarithms are within this factor are equal but for rounding, as they are for exact fits


class _Fit:
    """Least squares on the active inputs, with tests of every input that may enter or leave."""

    def __init__(self, moments: Moments, active: Indices) -> None:
        self.moments, self.active = moments, active
        self._lower = cholesky_of_nearly_singular(moments.gram.block(active, active))
        self._explained = solve_lower(self._lower, moments.projections[active])
        self.residual = left_of(resolved_energy(moments), self._explained)
        self.freedom = moments.n_samples - len(active)

    @property
    def score(self) -> float:
        """The log likelihood without its constant."""
        n = self.moments.n_samples
        return -0.5 * n * (float(np.log(self.residual / n)) + 1.0)

    def entering(self) -> Floats:
        """Return the p value of each candidate if it entered next. It is 1 for active candidates and those that depend on them."""
        moments, gram = self.moments, self.moments.gram
        cover = solve_lower(self._lower, gram.columns(self.active))
        left = gram.diagonal - np.einsum("am,am->m", cover, cover)
        usable = left > DEPENDENT * gram.diagonal
        usable[self.active] = False
        gain = np.where(usable, (moments.projections - self._explained @ cover) ** 2, 0.0) / np.where(usable, left, 1.0)
        least = RESOLUTION * resolved_energy(moments)  # what is left of an exact fit, despite rounding
        return self._p_values(gain, np.maximum(self.residual - gain, least), self.freedom - 1.0)

    def leaving(self) -> Floats:
        """Return the p value of each active input."""
        root = inverse_of_lower(self._lower)
        weights = solve_lower(self._lower, self._explained, transposed=True)
        return self._p_values(weights**2 / np.einsum("ij,ij->j", root, root), self.residual, self.freedom)

    @staticmethod
    def _p_values(gain: Floats, residual: Floats | float, freedom: float) -> Floats:
        if freedom < 1.0:
            return np.ones(len(gain))
        with np.errstate(over="ignore"):  # an exact fit has an infinite F, and p = 0
            statistic = gain * freedom / np.maximum(residual, 1e-300)
        return stats.f.sf(statistic, 1.0, freedom)


@dataclass(frozen=True)
class Stepwise(MomentMethod):
    """Least squares on candidates that enter and leave one at a time by F tests.

    Parameters
    ----------
    direction : {"both", "forward", "backward"}
        Whether candidates enter and leave, only enter, or only leave.
    enter, leave : float
        Significance levels: a candidate enters if its p value is below `enter`, and leaves if it is above `leave`.
    criterion : LikelihoodWithoutPrior
        The criterion that the posterior reports.
    """

    direction: str = "both"
    enter: float = 0.05
    leave: float = 0.1
    criterion: LikelihoodWithoutPrior = field(default_factory=LikelihoodWithoutPrior)

    def solve(self, judge: LikelihoodWithoutPrior, moments: Moments, journal: Journal) -> Fit:
        return run_stepwise(moments, journal, self.direction, self.enter, self.leave)

    def posterior(self, fit: Fit, problem: Problem) -> VariationalPosterior:
        posterior = super().posterior(fit, problem)
        squared_norms = problem.moments.gram.diagonal[posterior.active]
        return VariationalPosterior.of(posterior, squared_norms=squared_norms, is_factorized=False)


@on_one_blas_thread
def run_stepwise(moments: Moments, journal: Journal, direction: str, enter: float, leave: float) -> Fit:
    """Go forward from no candidates, or backward from all.

    With ``"both"``, candidates that have become insignificant leave again.
    """
    active = np.flatnonzero(moments.gram.diagonal > 0.0) if direction == "backward" else np.empty(0, dtype=np.intp)
    if direction == "backward" and not moments.n_samples - len(active) >= 1.0:
        raise ValueError(
            f'direction="backward" begins with all {len(active)} candidates and needs more rows than that, got '
            f'{moments.n_samples:.0f}. Use direction="both".'
        )
    steps, watch = _Steps(_Fit(moments, active), journal, direction, enter, leave), journal.stopwatch()
    outcome = None
    while outcome is None:
        outcome = watch.exhausted() or steps.step()
    fit = steps.within_size_limit()
    return Fit(fit.active, np.zeros(len(fit.active)), outcome, noise=fit.residual / max(fit.freedom, 1.0))


class _Steps:
    """The present fit, and the steps from one fit to the next. No set is entered twice, so the steps end.

    Parameters
    ----------
    fit : _Fit
        The fit at the start.
    journal : Journal
        The record of the steps, with the limits.
    direction, enter, leave
        As in `Stepwise`.
    """

    def __init__(self, fit: _Fit, journal: Journal, direction: str, enter: float, leave: float) -> None:
        self._fit, self._journal, self._direction = fit, journal, direction
        self._enter, self._leave = enter, leave
        self._seen: set[bytes] = set()

    def step(self) -> Outcome | None:
        """Remove the worst candidate, or else add the best one. Return the outcome if there is nothing to do."""
        if self._direction != "forward" and len(self._fit.active) and self._removes():
            return None
        has_room = self._journal.budget.room(len(self._fit.active)) > 0
        if self._direction == "backward":
            return Outcome.CONVERGED if has_room else Outcome.SIZE_LIMIT
        return self._add() if has_room else Outcome.SIZE_LIMIT

    def within_size_limit(self) -> _Fit:
        """Return the fit, without the least significant candidates if a limit ended the way down to `max_active`."""
        most = self._journal.budget.max_active
        if most is None or len(self._fit.active) <= most:
            return self._fit
        kept = np.sort(np.argsort(self._fit.leaving(), kind="stable")[:most])
        return _Fit(self._fit.moments, self._fit.active[kept])

    def _removes(self) -> bool:
        """Remove the least significant candidate, and return True, if it is not significant or there are too many."""
        active, p_values = self._fit.active, self._fit.leaving()
        worst, most = int(p_values.argmax()), self._journal.budget.max_active
        if not p_values[worst] > self._leave and (most is None or len(active) <= most):
            return False
        self._go_to(np.delete(active, worst), "remove", int(active[worst]))
        return True

    def _add(self) -> Outcome | None:
        p_values = self._fit.entering()
        with np.errstate(divide="ignore"):
            logs = np.log(p_values)
        best = int(np.flatnonzero(logs <= logs.min() * SAME)[0])  # the first, if they are equal but for rounding
        if not p_values[best] < self._enter:
            return Outcome.CONVERGED
        larger = np.append(self._fit.active, best)
        key = np.sort(larger).tobytes()
        if key in self._seen:  # it has left this set before: the two tests differ only by rounding
            return Outcome.ILL_CONDITIONED
        self._seen.add(key)
        self._go_to(larger, "add", best)
        return None

    def _go_to(self, active: Indices, action: str, candidate: int) -> None:
        self._fit = _Fit(self._fit.moments, active)
        self._journal.note(action, candidate, self._fit.score, len(active))

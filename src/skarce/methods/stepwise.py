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
from skarce.states.state import DEPENDENT, left_of, resolved_energy


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
        return self._p_values(gain, self.residual - gain, self.freedom - 1.0)

    def leaving(self) -> Floats:
        """Return the p value of each active input."""
        root = inverse_of_lower(self._lower)
        weights = solve_lower(self._lower, self._explained, transposed=True)
        return self._p_values(weights**2 / np.einsum("ij,ij->j", root, root), self.residual, self.freedom)

    @staticmethod
    def _p_values(gain: Floats, residual: Floats | float, freedom: float) -> Floats:
        if freedom < 1.0:
            return np.ones(len(gain))
        return stats.f.sf(gain * freedom / np.maximum(residual, 1e-300), 1.0, freedom)


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
    fit, outcome = _Fit(moments, active), Outcome.CONVERGED
    if direction == "backward" and not fit.freedom >= 1.0:
        raise ValueError(
            f'direction="backward" begins with all {len(active)} candidates and needs more rows than that, got '
            f'{moments.n_samples:.0f}. Use direction="both".'
        )
    watch, seen = journal.stopwatch(), {active.tobytes()}
    while True:
        limit = watch.exhausted()
        if limit is not None:
            outcome = limit
            break
        if direction != "forward" and len(active):
            p_values = fit.leaving()
            worst = int(p_values.argmax())
            if p_values[worst] > leave:
                candidate = int(active[worst])
                active = np.delete(active, worst)
                fit = _Fit(moments, active)
                journal.note("remove", candidate, fit.score, len(active))
                continue
        if direction == "backward":
            break
        if journal.budget.room(len(active)) == 0:
            outcome = Outcome.SIZE_LIMIT
            break
        p_values = fit.entering()
        best = int(p_values.argmin())
        if not p_values[best] < enter:
            break
        larger = np.append(active, best)
        if (key := np.sort(larger).tobytes()) in seen:  # it has left this set before: the two tests differ only by rounding
            outcome = Outcome.ILL_CONDITIONED
            break
        seen.add(key)
        active, fit = larger, _Fit(moments, larger)
        journal.note("add", best, fit.score, len(active))
    noise = fit.residual / max(fit.freedom, 1.0)
    return Fit(active, np.zeros(len(active)), outcome, noise=noise)

r"""Noise with heavy tails: Student's t, as a normal distribution whose precision is drawn for each row.

With :math:`y_i\sim N(f_i^Tw, s/\tau_i)` and :math:`\tau_i\sim\Gamma(\nu/2,\nu/2)` the rows get weights

.. math:: \langle\tau_i\rangle = \frac{\nu+1}{\nu + r_i^2/s + e_i}.

Here r is the residual, and :math:`s\,e_i` is the variance of the fit at row i as the method sees it. With independent weights
:math:`e_i=\sum_m\gamma_mf_{im}^2/h_m`. With their full covariance :math:`e_i=f_i^TH^{-1}f_i`. An intercept adds :math:`1/\sum\tau`.

Given the weights of the rows, everything else is as for normal noise on weighted moments, except that the number of observations
does not change. With the best row precisions the bound is

.. math:: \sum_i\log t_\nu\bigl(r_i^2/s+e_i\bigr) + \text{(the other terms of the method's bound)},

and no step lowers it: not a fit, not new weights, not the best :math:`\nu`. There is one exception. If candidates share a
precision, it is the precision of candidates of unit length, and lengths are measured on weighted rows. So the prior moves a little
with the weights, and the rounds stop before one that would lower the bound.

The covariance of the weights does not follow from the bound: it would be :math:`s(\Phi^TT\Phi+\Lambda)^{-1}`, as if the row
precisions were known to be their means. The posterior has :math:`s(g\,\Phi^TT\Phi+\Lambda)^{-1}`, where g is the share of that
information that Student's t noise leaves (`information_share`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from skarce._linalg import cholesky_of_nearly_singular, inverse_of_lower, seconds_to_invert, solve_lower
from skarce._typing import Floats
from skarce.criteria.variational import determination, log_undetermined
from skarce.designs import Design
from skarce.designs.problem import Problem
from skarce.likelihoods.student_t import information_share, log_density, row_weights
from skarce.methods.method import Method
from skarce.methods.variational.method import VariationalLeastSquares
from skarce.posteriors.variational import VariationalPosterior
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

FIRST_FREEDOM = 4.0
FREEDOM_BOUNDS = (2.1, 1e3)  # of the learned value: above two the variance is finite, and at 1000 the noise is nearly normal
FIRST_ROUNDS = 10  # of reweighted least squares before the first fit, if there are many rows
FRESH_ROUNDS = 3  # fits from all candidates; later fits continue from the last one
MOST_ROUNDS = 200
GAIN = 1e-6  # a round that raises the bound by less is the last
ROUNDING = np.finfo(np.float64).eps ** 2  # the smallest noise, as a share of the variance of the target


@dataclass(frozen=True)
class RobustFit(Fit):
    """A fit to weighted rows.

    Attributes
    ----------
    weighted : Problem or None
        The problem with weighted rows.
    freedom : float
        The degrees of freedom of the noise.
    bound : float
        The bound, for the scaled target.
    """

    weighted: Problem | None = None
    freedom: float = np.inf
    bound: float = -np.inf


@dataclass(frozen=True)
class RobustLeastSquares(Method[RobustFit]):
    """Variational least squares with Student's t noise.

    Parameters
    ----------
    inner : VariationalLeastSquares
        The method for weighted rows.
    degrees_of_freedom : float or None
        The degrees of freedom of the noise. None learns them.
    """

    needs_rows: ClassVar[bool] = True

    inner: VariationalLeastSquares
    degrees_of_freedom: float | None = None

    @property
    def sense(self) -> int:
        return self.inner.sense

    @property
    def kind(self) -> str:
        return self.inner.kind

    def run(self, problem: Problem, budget: Budget) -> RobustFit:
        """Alternate between a fit and the weights of the rows."""
        if problem.moments.n_samples <= 0.0 or problem.is_constant:
            return RobustFit(**vars(self.inner.run(problem, budget)), weighted=problem)
        journal = Journal(budget)
        with journal.shown("weighing rows"):
            robust = self._rounds(problem, budget, journal)
        return replace(robust, judge=self.inner.judge(problem).scaled(problem.target_scale), trace=journal.trace())

    def posterior(self, fit: RobustFit, problem: Problem) -> VariationalPosterior:
        """Return the posterior of the weighted rows, with the information that the noise leaves and the bound in user units."""
        weighted = problem if fit.weighted is None else fit.weighted
        posterior = replace(self.inner.posterior(fit, weighted), noise_freedom=fit.freedom)
        if not np.isfinite(fit.bound):
            return posterior
        posterior = _informed(posterior, fit, weighted, problem.design.rows.row_weights)
        in_user_units = problem.moments.n_samples * float(np.log(problem.target_scale))
        trace = fit.trace.copy()
        trace["criterion"] += in_user_units
        return replace(posterior, criterion=fit.bound + in_user_units, trace=trace)

    @property
    def _form(self) -> str:
        """The form of the posterior of the weights."""
        return "none" if self.inner.prior.is_none else "full" if self.inner.has_full_covariance else "factorized"

    def _rounds(self, problem: Problem, budget: Budget, journal: Journal) -> RobustFit:
        freedom = self.degrees_of_freedom
        now = FIRST_FREEDOM if freedom is None else freedom
        design, counts = problem.design, problem.design.rows.row_weights
        weights, watch = _first_weights(design, problem.output, now, counts, journal), journal.stopwatch()
        judge, limits = self.inner.judge(problem), _earlier(budget, problem)
        best: RobustFit | None = None
        stop: Outcome | None = None
        for number in range(MOST_ROUNDS):
            weighted = _weighted(problem, weights)
            last = best if number >= FRESH_ROUNDS else None
            with Journal(limits).shown() as inside:
                fit = self.inner.resumed(judge, weighted.moments, last, inside)
            rows = _Rows.of(weighted, fit, self._form, counts)
            if freedom is None:
                now = _best_freedom(rows, now)
            weights = row_weights(rows.distances, now)
            robust = RobustFit(**vars(replace(fit, noise=rows.noise)), weighted=weighted, freedom=now, bound=rows.bound(now))
            gain = np.inf if best is None or number < FRESH_ROUNDS else robust.bound - best.bound
            # The prior has moved with the norms of the weighted candidates, and that cost more than the round gained.
            if gain < 0.0:
                break
            best = robust
            if number >= FRESH_ROUNDS - 1:
                journal.note("reweigh", -1, best.bound, len(fit.active))
            if gain < GAIN or (stop := watch.exhausted()) is not None:
                break
        else:
            stop = Outcome.STEP_LIMIT
        assert best is not None
        return best if stop is None else replace(best, outcome=stop)


def _informed(posterior: VariationalPosterior, fit: RobustFit, weighted: Problem, counts: Floats) -> VariationalPosterior:
    """Return the posterior with the information that is left if the row precisions are not known."""
    assert fit.noise is not None
    active = posterior.active
    residuals = weighted.target_scale * weighted.design.residuals(active, posterior.mean)[:, 0]
    n_determined = posterior.n_samples - posterior.degrees_of_freedom
    share = information_share(residuals / np.sqrt(fit.noise), fit.freedom, counts, n_determined)
    precision = share * weighted.moments.gram.block(active, active) + np.diag(posterior.ridges)
    return replace(posterior, information=share, factor=cholesky_of_nearly_singular(precision))


def _earlier(budget: Budget, problem: Problem) -> Budget:
    """Return the limits of a fit within a round. It is followed by the spread of its rows and by the posterior."""
    seconds = 2.0 * seconds_to_invert(min(problem.moments.n_candidates, int(problem.moments.n_samples)))
    return replace(budget, verbose=0, deadline=None if budget.deadline is None else budget.deadline - seconds)


def _weighted(problem: Problem, factors: Floats) -> Problem:
    """Return the same target with each row weight multiplied by its factor."""
    design, moments = problem.design.reweighted(problem.output, factors)
    return Problem(design, 0, problem.likelihood, moments.scaled(problem.target_scale), problem.target_scale)


def _first_weights(design: Design, output: int, freedom: float, counts: Floats, journal: Journal) -> Floats:
    """Return row weights from reweighted least squares, with the scale from the median residual.

    If there are too many candidates for the rows, all weights are one. The rounds end early if no time is left for a fit.
    """
    weights, watch = np.ones(len(counts)), journal.stopwatch()
    for _ in range(FIRST_ROUNDS):
        if watch.exhausted(1.0 + FRESH_ROUNDS) is not None:
            break
        weighted, moments = design.reweighted(output, weights)
        usable = np.flatnonzero(moments.gram.diagonal > 0.0)
        if 2 * len(usable) > moments.n_samples:
            break
        matrix = moments.gram.block(usable, usable)
        matrix.flat[:: len(usable) + 1] *= 1.0 + 1e-10
        factor = cholesky_of_nearly_singular(matrix)
        solution = solve_lower(factor, solve_lower(factor, moments.projections[usable]), transposed=True)
        squares = weighted.residuals(usable, solution)[:, 0] ** 2
        scale = float(np.median(squares[counts > 0.0])) / 0.4549  # the median of a squared standard normal
        if not scale > 0.0:
            break
        weights = row_weights(squares / scale, freedom)
    return weights


class _Rows(NamedTuple):
    """Every row as the noise sees it.

    Attributes
    ----------
    distances : ndarray of shape (n_rows,)
        r^2 / s + e of each row.
    counts : ndarray of shape (n_rows,)
        How often each row counts, by the weights that the user gave.
    noise : float
        s.
    other_terms : float
        The terms of the bound other than the likelihood.
    """

    distances: Floats
    counts: Floats
    noise: float
    other_terms: float

    @classmethod
    def of(cls, problem: Problem, found: Fit, form: str, counts: Floats) -> _Rows:
        moments, factor = problem.moments, problem.target_scale
        phi, targets = problem.design.rows_of(found.active)
        matrix = moments.gram.block(found.active, found.active)
        squared_norms = matrix.diagonal().copy()
        matrix.flat[:: len(squared_norms) + 1] += found.ridges
        lower = cholesky_of_nearly_singular(matrix)
        weights = found.weights
        if weights is None:
            weights = solve_lower(lower, solve_lower(lower, moments.projections[found.active]), transposed=True)
        penalty = float(found.ridges @ weights**2)
        noise = found.noise
        if noise is None:
            noise = (moments.residual_energy(found.active, weights) + penalty) / moments.n_samples
        noise = max(noise, ROUNDING * moments.target_energy / moments.n_samples)  # an exact fit leaves none
        spread, other_terms = _spread_of(form, phi, squared_norms, found.ridges, lower)
        total_weight, design = float(problem.design.rows.row_weights.sum()), problem.design
        if moments.n_samples < design.n_samples:  # an intercept, integrated out
            spread = spread + 1.0 / total_weight
            other_terms += 0.5 * float(np.log(2.0 * np.pi * noise * design.n_samples / total_weight)) + 0.5
        residuals = factor * targets[:, 0] - phi @ weights
        return cls(residuals**2 / noise + spread, counts, noise, other_terms - 0.5 * penalty / noise)

    def likelihood(self, freedom: float) -> float:
        """Return the sum of log t over the rows."""
        return float(self.counts @ log_density(self.distances, freedom, self.noise))

    def bound(self, freedom: float) -> float:
        """Return the bound at these degrees of freedom."""
        return self.likelihood(freedom) + self.other_terms


def _spread_of(form: str, phi: Floats, squared_norms: Floats, ridges: Floats, lower: Floats) -> tuple[Floats, float]:
    """Return e of every row, and the terms of the bound that belong to it."""
    if form == "none" or not len(squared_norms):
        return np.zeros(len(phi)), 0.0
    if form == "factorized":
        determined, total = determination(ridges / squared_norms)
        undetermined = log_undetermined(ridges / squared_norms, determined, total)
        return phi**2 @ (determined / squared_norms), 0.5 * float((undetermined + determined).sum())
    root = inverse_of_lower(lower)
    reach = phi @ root.T
    determined = 1.0 - ridges * np.einsum("ij,ij->j", root, root)
    log_determinant = float(np.log(lower.diagonal() ** 2 / ridges).sum())
    return np.einsum("ij,ij->i", reach, reach), 0.5 * (float(determined.sum()) - log_determinant)


def _best_freedom(rows: _Rows, now: float) -> float:
    low, high = np.log(FREEDOM_BOUNDS)
    best = minimize_scalar(lambda x: -rows.likelihood(float(np.exp(x))), bounds=(low, high), method="bounded")
    found = float(np.exp(best.x))
    return found if rows.likelihood(found) > rows.likelihood(now) else now

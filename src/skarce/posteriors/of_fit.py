"""From the fit of a method to the posterior in user units."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, solve_lower
from skarce._typing import Floats, Indices
from skarce.designs.problem import Problem
from skarce.moments import Moments
from skarce.posteriors.posterior import Posterior
from skarce.states.fit import Fit
from skarce.states.journal import SQUARED_UNITS
from skarce.states.judge import Judge
from skarce.states.members import SolvedMembers

AnyPosterior = TypeVar("AnyPosterior", bound=Posterior)


def posterior_of(fit: Fit, problem: Problem) -> Posterior:
    """Return the posterior of a fit. Weights, noise and criterion are computed again, with the residual from the rows."""
    judge, design, moments, scale = judge_of(fit), problem.design, problem.moments, problem.target_scale
    members, active, weights = _solved(fit, moments)
    n, n_total = moments.n_samples, design.n_samples
    noise_variance = (judge.noise_at(members, n) if n > 0.0 else 0.0) / scale**2
    if not np.isfinite(noise_variance):
        raise ValueError("y is so large that its variance overflows. Divide y by a constant.")
    with np.errstate(divide="ignore", invalid="ignore"):
        score = judge.score(members, n) if members.energy > 0.0 and n > 0.0 else np.inf
        value = judge.value(score, n, n_total, scale) if n > 0.0 or not members.energy > 0.0 else 0.0  # nothing to judge by
    center, mean = design.means(active), weights / scale
    return Posterior(
        active=active,
        mean=mean,
        center=center,
        intercept=float(design.target_means[problem.output] - center @ mean),
        factor=members.factor,
        ridges=members.ridges,
        noise_variance=noise_variance,
        n_samples=n_total,
        fit_intercept=n < n_total,
        criterion=float(value),
        outcome=fit.outcome,
        trace=_in_user_units(fit, judge, problem),
        n_iter=len(fit.trace),
        mixing=members.mixing,
    )


def as_if_from(problem: Problem, posterior: AnyPosterior) -> AnyPosterior:
    """Return a posterior with the same functions, ridges and noise, as uncertain as if its rows were those of another problem.

    Its weights are not solved again. Functions that are zero or constant on those rows are left out.
    """
    varies = problem.moments.gram.diagonal[posterior.active] > 0.0
    active = posterior.active[varies]
    precision = problem.moments.gram.block(active, active) + _penalty(posterior.ridges, posterior.mixing)[np.ix_(varies, varies)]
    return replace(
        posterior,
        active=active,
        mean=posterior.mean[varies],
        center=problem.design.means(active),
        factor=cholesky_of_nearly_singular(precision),
        n_samples=problem.design.n_samples,
    )


def judge_of(fit: Fit) -> Judge:
    """Return the criterion that chose a fit."""
    if fit.judge is None:
        raise ValueError("the fit does not name the criterion that chose it; use the fit that Method.run returns.")
    return fit.judge


def _solved(fit: Fit, moments: Moments) -> tuple[SolvedMembers, Indices, Floats]:
    """Return the solved functions in ascending order, their indices, and their weights."""
    order = np.argsort(fit.active)
    active, ridges = fit.active[order], fit.ridges[order]
    mixing = None if fit.mixing is None else fit.mixing[np.ix_(order, order)]
    factor, weights = _solve(moments, active, ridges, mixing)
    if fit.weights is not None:
        weights = fit.weights[order]
    penalized = weights if mixing is None else mixing @ weights
    # t'P t = |t - Phi w|^2 + w'Lambda w is a sum of squares. The difference t't - b'w would lose digits.
    energy = moments.residual_energy(active, weights) + float(ridges @ penalized**2)
    members = SolvedMembers(factor, ridges, penalized, energy, moments.gram.diagonal[active], mixing, fit.noise)
    return members, active, weights


def _solve(moments: Moments, active: Indices, ridges: Floats, mixing: Floats | None) -> tuple[Floats, Floats]:
    lower = cholesky_of_nearly_singular(moments.gram.block(active, active) + _penalty(ridges, mixing))
    explained = solve_lower(lower, moments.projections[active])
    return lower, solve_lower(lower, explained, transposed=True)


def _penalty(ridges: Floats, mixing: Floats | None) -> Floats:
    """Return Lambda, or M'Lambda M."""
    return np.diag(ridges) if mixing is None else (mixing.T * ridges) @ mixing


def _in_user_units(fit: Fit, judge: Judge, problem: Problem) -> Floats:
    """Return the trace with the criterion and the squared fields in user units."""
    trace = fit.trace.copy()
    trace["criterion"] = judge.value(trace["criterion"], problem.moments.n_samples, problem.design.n_samples, problem.target_scale)
    for name in set(SQUARED_UNITS).intersection(trace.dtype.names or ()):
        trace[name] /= problem.target_scale**2
    return trace

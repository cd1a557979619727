"""From the set a search found to the posterior, in the units of the user."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from skarce._linalg import factor_of_nearly_singular, solve_lower, symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.criteria import Criterion
from skarce.moments import Moments
from skarce.posteriors.posterior import Posterior
from skarce.states.fit import Fit
from skarce.states.journal import SQUARED_UNITS, Journal


class Design(Protocol):
    """What is left to ask of a design once a set is chosen."""

    @property
    def n_samples(self) -> float: ...

    def moments(self, kind: str = "auto", one_by_one: float | None = None) -> list[Moments]: ...

    @property
    def target_means(self) -> Floats: ...

    def means(self, indices: Indices) -> Floats: ...


def posterior_of(
    criterion: Criterion, moments: Moments, design: Design, output: int, found: Fit, journal: Journal, factor: float
) -> Posterior:
    """Weights, noise and criterion afresh, the residual from the rows; `moments` are of `factor` times the target."""
    order = np.argsort(found.active)
    active, ridges = found.active[order], found.ridges[order]
    mixing = None if found.mixing is None else found.mixing[np.ix_(order, order)]
    factor_of_h, weights = _solve(moments, active, ridges, mixing)
    if found.weights is not None:
        weights = found.weights[order]
    n, n_total = moments.n_samples, design.n_samples
    penalized = weights if mixing is None else mixing @ weights
    # t'P t = |t - Phi w|^2 + w'Lambda w: sums of squares, where t't - b'w would be a difference.
    energy = moments.residual_energy(active, weights) + float(ridges @ penalized**2)
    members = _Solved(factor_of_h, penalized, ridges, energy, moments.gram.diagonal[active], mixing, found.noise)
    noise = criterion.noise_at(members, n) if n > 0.0 else 0.0
    center = design.means(active)
    mean = weights / factor
    trace = journal.trace()
    trace["criterion"] = criterion.value(trace["criterion"], n, n_total, factor)
    for name in set(SQUARED_UNITS).intersection(trace.dtype.names or ()):
        trace[name] /= factor**2
    with np.errstate(divide="ignore", invalid="ignore"):
        score = criterion.score(members, n) if energy > 0.0 else np.inf
        value = criterion.value(score, n, n_total, factor)
    noise_variance = noise / factor**2
    if not np.isfinite(noise_variance):
        raise ValueError("y is so large that its variance overflows. Divide y by a constant.")
    return Posterior(
        active=active,
        mean=mean,
        center=center,
        intercept=float(design.target_means[output] - center @ mean),
        factor=factor_of_h,
        ridges=ridges,
        noise_variance=noise_variance,
        n_samples=design.n_samples,
        fit_intercept=n < design.n_samples,
        criterion=float(value),
        outcome=found.outcome,
        trace=trace,
        n_iter=len(trace),
        mixing=mixing,
    )


@dataclass
class _Solved:
    """The functions of the result, as a criterion sees them: in the coordinates in which the ridges penalise single weights."""

    factor: Floats
    weights: Floats
    ridges: Floats
    energy: float
    scale: Floats
    mixing: Floats | None
    noise: float | None

    @property
    def log_determinant(self) -> float:
        return float(np.log(self.factor.diagonal() ** 2 / self.ridges).sum())

    @cached_property
    def inverse(self) -> Floats:
        inverse = symmetric_inverse(self.factor)
        return inverse if self.mixing is None else self.mixing @ inverse @ self.mixing.T

    def spread(self) -> Floats:
        return self.inverse.diagonal()


def _solve(moments: Moments, active: Indices, ridges: Floats, mixing: Floats | None) -> tuple[Floats, Floats]:
    matrix = moments.gram.block(active, active)
    if mixing is None:
        matrix.flat[:: len(active) + 1] += ridges
    else:
        matrix += (mixing.T * ridges) @ mixing
    lower = factor_of_nearly_singular(matrix)
    explained = solve_lower(lower, moments.projections[active])
    return lower, solve_lower(lower, explained, transposed=True)

r"""Batches of rows whose likelihood is not normal. What is kept of the earlier ones is a quadratic in all weights.

A log likelihood is not a sum of moments. But once a batch has been fitted, it is close to its expansion to second order about the
mode :math:`\hat f` of that fit: with the slopes g and the curvatures B there, it is a quadratic in the constant and the weights of
all candidates, with the precision :math:`\Phi^TB\Phi` and the shift :math:`\Phi^T(B\hat f + g)`. These add up from batch to batch.
The next batch is fitted exactly, next to the sum of the quadratics (streaming Laplace approximation).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy.linalg import eigh

from skarce._device import namespace, to_host
from skarce._memory import require
from skarce._parallel import slices
from skarce._scales import negligible
from skarce._typing import Floats
from skarce.basis import Evaluation
from skarce.basis.candidates import ColumnsEvaluation
from skarce.designs.choice import IN_BATCHES, Access
from skarce.designs.design import Design, Rows
from skarce.designs.problem import Problem
from skarce.likelihoods import Likelihood, Observations
from skarce.likelihoods.after import ObservationsAfter, Past
from skarce.moments import CONSTANT, Moments
from skarce.moments.passes import BLOCK_BYTES, check_candidates, filled

ROUNDING = 1e-13  # of the largest: a smaller eigenvalue of a precision is none


@dataclass(frozen=True)
class Quadratic:
    """The expansion of a log likelihood in the constant and the weights: -theta'precision theta/2 + shift'theta."""

    precision: Floats
    shift: Floats

    @classmethod
    def none(cls, n_candidates: int) -> Quadratic:
        """Return that nothing is known."""
        return cls(np.zeros((n_candidates + 1, n_candidates + 1)), np.zeros(n_candidates + 1))

    def past(self, *, fit_intercept: bool) -> Past:
        """Return rows with normal noise that have this log likelihood. Without an intercept the constant is zero."""
        first = 0 if fit_intercept else 1
        precision, shift = self.precision[first:, first:], self.shift[first:]
        scale = np.sqrt(precision.diagonal())
        scale[scale == 0.0] = 1.0
        values, vectors = eigh(precision / np.outer(scale, scale))
        kept = values > ROUNDING * max(float(values[-1]), np.finfo(float).tiny)
        roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
        rows, targets = roots[:, None] * vectors.T * scale, (vectors.T @ (shift / scale)) / roots
        constant = rows[:, 0] if fit_intercept else np.zeros(len(rows))
        return Past(constant, rows[:, 1 - first :], targets)


@dataclass(frozen=True)
class Spread:
    """Weight, and means and squares about the means of all candidates, of all rows so far; and the means of the targets."""

    total: float
    means: Floats
    squares: Floats
    target_means: Floats

    @classmethod
    def of(cls, phi: Floats, targets: Floats, weights: Floats) -> Spread:
        """Return that of some rows, of which one has a positive weight. They may be on a device."""
        total = float(namespace(weights).sum(weights))
        means = weights @ phi / total
        return cls(total, to_host(means), to_host(weights @ (phi - means) ** 2), to_host(weights @ targets / total))

    def joined(self, other: Spread) -> Spread:
        """Return that of all rows of both, by the pairwise rule for sums about the mean."""
        total = self.total + other.total
        if total == 0.0:
            return self
        share, change = other.total / total, other.means - self.means
        return Spread(
            total,
            self.means + share * change,
            self.squares + other.squares + self.total * share * change**2,
            self.target_means + share * (other.target_means - self.target_means),
        )

    @classmethod
    def total_of(cls, parts: Sequence[Spread]) -> Spread:
        """Return that of all rows of some parts, at least one."""
        return reduce(cls.joined, parts)


class LatentStream(Design):
    """Fixed candidates, the last batch of rows, and a quadratic for each output that stands for all rows before it.

    Parameters
    ----------
    candidates : object
        The fitted basis, with `on(X)` and `n_candidates`.
    n_outputs : int
        The number of latent functions.
    fit_intercept : bool, default=True
        Whether there is a constant.
    """

    def __init__(self, candidates: Any, n_outputs: int, *, fit_intercept: bool = True) -> None:
        m = candidates.n_candidates
        what = f"a stream, which keeps {n_outputs} square matrices of all {m} candidates,"
        require(m + 1, (m + 1) * n_outputs, what, "Use fewer candidates")
        self.candidates, self.fit_intercept = candidates, fit_intercept
        self._past = [Quadratic.none(m) for _ in range(n_outputs)]
        self._before = self._now = Spread(0.0, np.zeros(m), np.zeros(m), np.zeros(n_outputs))
        self._n_counted = 0.0
        self._phi = np.empty((0, m))
        self._output = 0

    @property
    def n_outputs(self) -> int:
        return len(self._past)

    @property
    def n_samples(self) -> float:  # type: ignore[override]
        return self._now.total

    @property
    def n_counted(self) -> float:
        return self._n_counted

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """Raise: the likelihood of these rows has no moments."""
        raise TypeError("a stream of latent functions has no moments: ask for the observations and the rows.")

    def with_batch(self, rows: Rows) -> LatentStream:
        """Return the stream with a batch that has not been absorbed yet. This one stays."""
        evaluation = self.candidates.on(rows.X)
        n, m = evaluation.n_rows, evaluation.n_candidates
        require(n, m, f"a batch of {n} rows, whose {m} candidates are held,", "Pass smaller batches")
        other, phi = copy(self), np.empty((n, m))
        for part in slices(n, max(64, BLOCK_BYTES // (8 * m))):
            phi[part] = filled(evaluation, part)
        check_candidates(rows.row_weights @ phi**2, float(rows.row_weights.sum()), lambda: (evaluation,))
        other.rows, other._phi, other._now = rows, phi, self._before.joined(Spread.of(phi, rows.targets, rows.row_weights))
        other._n_counted = self._n_counted + rows.share * float(np.count_nonzero(rows.row_weights))
        return other

    def latent_stream(self, likelihood: Likelihood, posteriors: Sequence[Any]) -> LatentStream:
        """Return the stream after the batch, of which only a quadratic about the modes of these models is left."""
        after = copy(self)
        after._past = [self._after(likelihood, output, posterior) for output, posterior in enumerate(posteriors)]
        after._before, after._phi = self._now, self._phi[:0]
        del after.rows  # they are not kept
        return after

    def problems(self, likelihood: Likelihood, kind: str = "auto", access: Access = IN_BATCHES) -> list[Problem]:
        """Return one problem for each output. Each has its own past, and so its own design."""
        problems = []
        for output in range(self.n_outputs):
            view = copy(self)
            view._output = output
            problems.append(Problem(view, output, likelihood))
        return problems

    def evaluation(self, most_held: int = 0) -> tuple[Evaluation, Floats]:
        means = self._now.means * self.fit_intercept
        past = self._past_rows()
        values = np.vstack([self._phi - means, past.candidates - np.outer(past.constant, means)])
        raw = self._now.squares + self._now.total * self._now.means**2
        if self.fit_intercept:
            values[:, self._now.squares <= np.maximum(CONSTANT * raw, negligible(self._now.total))] = 0.0
        return ColumnsEvaluation(values), means

    def observations(self, output: int, likelihood: Likelihood) -> Observations:
        before, targets, weights = self._before, self.rows.targets[:, output], self.rows.row_weights
        # The mean of earlier targets stands for them, with their weight.
        everything, counts = np.append(targets, before.target_means[output]), np.append(weights, before.total)
        level = likelihood.level(everything, counts) if self.fit_intercept else 0.0
        return ObservationsAfter(likelihood, targets, weights, level, self._past_rows())

    def _past_rows(self) -> Past:
        if self._before.total == 0.0:
            return Past.none(self.candidates.n_candidates)
        return self._past[self._output].past(fit_intercept=self.fit_intercept)

    def _after(self, likelihood: Likelihood, output: int, posterior: Any) -> Quadratic:
        latent = posterior.predict(self._phi[:, posterior.active])
        slopes, weights = likelihood.slopes(self.rows.targets[:, output], latent), self.rows.row_weights
        curvature = weights * slopes.curvature
        functions = np.column_stack([np.ones(len(latent)), self._phi])
        past, right = self._past[output], curvature * latent + weights * slopes.first
        precision = past.precision + functions.T @ (curvature[:, None] * functions)
        return Quadratic(precision, past.shift + functions.T @ right)

"""What the data say about the candidates. Gaussian methods ask nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from skarce._typing import Floats, Indices
from skarce.moments.gram import Gram, WholeGram

LOST_DIGITS = 1e-5  # below this share of t't fewer than ten digits are left of a residual energy


class Remainders(NamedTuple):
    """What ridge regression on some candidates leaves of every candidate, e = P phi, in sums of squares."""

    alignment: Floats  # e't
    leftover: Floats  # phi'P phi = |e|^2 + y'Z y
    overlap: Floats  # e'P t
    remainder: Floats  # |e|^2
    residual: float  # |P t|^2
    penalty: float  # w'Z w
    lower: Floats  # Cholesky factor of H = Phi_A'Phi_A + Z, found without forming H


class RowsAnswer(Protocol):
    """Answers residual questions from the rows themselves, without a difference of large numbers."""

    def residual_energy(self, indices: Indices, weights: Floats) -> float: ...

    def residual_projections(self, indices: Indices, weights: Floats) -> Floats: ...

    def remainders(self, indices: Indices, ridges: Floats, among: Indices | None = None) -> Remainders: ...

    def centered(self, indices: Indices) -> Floats:
        """Phi_A about the center, each row times the square root of its weight (rows without any are left out)."""
        ...

    def target(self) -> Floats:
        """t, the same way."""
        ...

    def gram_product(self, indices: Indices, weights: Floats) -> Floats:
        """Phi_A'Phi_A w in one pass over the rows."""
        ...


@dataclass(frozen=True)
class Moments:
    """Phi'Phi, Phi't and t't of one target, about zero or (with a constant integrated out) about the mean.

    Attributes
    ----------
    gram : Phi'Phi, whole or by column
    projections : Phi't, shape (n_candidates,)
    target_energy : t't
    n_samples : N, the sum of the sample weights; N - 1 when a constant under a flat prior has been integrated out
    rows : answers residual questions exactly where the rows are still at hand, else None
    """

    gram: Gram
    projections: Floats
    target_energy: float
    n_samples: float
    rows: RowsAnswer | None = None

    @property
    def n_candidates(self) -> int:
        return len(self.projections)

    def residual_energy(self, indices: Indices, weights: Floats) -> float:
        """|t - Phi_A w|^2, from the rows where they are at hand and the difference of moments has lost digits."""
        block = self.gram.block(indices, indices)
        energy = float(self.target_energy - 2.0 * weights @ self.projections[indices] + weights @ block @ weights)
        if self.rows is not None and energy < LOST_DIGITS * self.target_energy:
            return self.rows.residual_energy(indices, weights)
        return max(energy, 0.0)

    def residual_projections(self, indices: Indices, weights: Floats) -> Floats:
        """Phi'(t - Phi_A w), shape (n_candidates,)."""
        if self.rows is not None:
            return self.rows.residual_projections(indices, weights)
        return self.projections - weights @ self.gram.columns(indices)

    def without_rows(self) -> Moments:
        """The same moments, all questions answered from them alone."""
        return replace(self, rows=None)

    def restricted_to(self, candidates: Indices) -> Moments:
        """The same data seen by these candidates only, with their whole Gram."""
        block = self.gram.block(candidates, candidates)
        rows = None if self.rows is None else _SomeRows(self.rows, candidates)
        return Moments(WholeGram(block), self.projections[candidates], self.target_energy, self.n_samples, rows)

    def scaled(self, factor: float) -> Moments:
        """The moments of `factor` times the target."""
        rows = None if self.rows is None else _ScaledRows(self.rows, factor)
        return Moments(self.gram, self.projections * factor, self.target_energy * factor**2, self.n_samples, rows)


@dataclass(frozen=True)
class _ScaledRows:
    rows: RowsAnswer
    factor: float

    def residual_energy(self, indices: Indices, weights: Floats) -> float:
        return self.rows.residual_energy(indices, weights / self.factor) * self.factor**2

    def residual_projections(self, indices: Indices, weights: Floats) -> Floats:
        return self.rows.residual_projections(indices, weights / self.factor) * self.factor

    def remainders(self, indices: Indices, ridges: Floats, among: Indices | None = None) -> Remainders:
        seen, factor = self.rows.remainders(indices, ridges, among), self.factor
        return seen._replace(
            alignment=seen.alignment * factor,
            overlap=seen.overlap * factor,
            residual=seen.residual * factor**2,
            penalty=seen.penalty * factor**2,
        )

    def centered(self, indices: Indices) -> Floats:
        return self.rows.centered(indices)

    def target(self) -> Floats:
        return self.rows.target() * self.factor

    def gram_product(self, indices: Indices, weights: Floats) -> Floats:
        return self.rows.gram_product(indices, weights)


@dataclass(frozen=True)
class _SomeRows:
    """The rows as seen by some candidates only."""

    rows: RowsAnswer
    candidates: Indices

    def residual_energy(self, indices: Indices, weights: Floats) -> float:
        return self.rows.residual_energy(self.candidates[indices], weights)

    def residual_projections(self, indices: Indices, weights: Floats) -> Floats:
        return self.rows.residual_projections(self.candidates[indices], weights)[self.candidates]

    def remainders(self, indices: Indices, ridges: Floats, among: Indices | None = None) -> Remainders:
        chosen = self.candidates if among is None else self.candidates[among]
        return self.rows.remainders(self.candidates[indices], ridges, chosen)

    def centered(self, indices: Indices) -> Floats:
        return self.rows.centered(self.candidates[indices])

    def target(self) -> Floats:
        return self.rows.target()

    def gram_product(self, indices: Indices, weights: Floats) -> Floats:
        return self.rows.gram_product(self.candidates[indices], weights)


def power_of_two_near(value: float) -> float:
    """A power of two within a factor of two of `value`: scaling by it is exact."""
    return float(2.0 ** np.round(np.log2(value))) if value > 0.0 else 1.0

"""What the data say about the candidates. Methods with Gaussian noise need nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from skarce._typing import Floats, Indices
from skarce.moments.gram import Gram, WholeGram

WIDE = 2.0  # candidates for each row, above which a system of the rows is cheaper than one of the candidates
LOST_DIGITS = 1e-5  # a residual energy below this share of t't has fewer than ten correct digits if it comes from moments


class Remainders(NamedTuple):
    """What ridge regression on some candidates leaves of every candidate, e = P phi, as sums of squares.

    Attributes
    ----------
    alignment : ``e't``
    leftover : ``phi'P phi = |e|^2 + y'Z y``
    overlap : ``e'P t``
    remainder : ``|e|^2``
    residual : ``|P t|^2``
    penalty : ``w'Z w``
    lower : Cholesky factor of H = Phi_A'Phi_A + Z, computed without forming H
    """

    alignment: Floats
    leftover: Floats
    overlap: Floats
    remainder: Floats
    residual: float
    penalty: float
    lower: Floats


class RowsAnswer(Protocol):
    """Answers questions about residuals from the rows themselves, without differences of large numbers."""

    def residual_energy(self, indices: Indices, weights: Floats) -> float:
        """Return ``|t - Phi_A w|^2``."""
        ...

    def residual_projections(self, indices: Indices, weights: Floats) -> Floats:
        """Return Phi'(t - Phi_A w), shape (n_candidates,)."""
        ...

    def remainders(self, indices: Indices, ridges: Floats, among: Indices | None = None) -> Remainders:
        """Return what ridge regression on Phi_A leaves of the candidates `among`; None stands for all candidates."""
        ...

    def centered(self, indices: Indices) -> Floats:
        """Return Phi_A about the center, each row times the square root of its weight. Rows of weight zero are left out."""
        ...

    def target(self) -> Floats:
        """Return t about the center, each row times the square root of its weight. Rows of weight zero are left out."""
        ...

    def compressed(self, among: Indices | None = None) -> Floats:
        """Return a new matrix T with T'T = [Phi t]'[Phi t] for the candidates `among`, and no more rows than columns."""
        ...

    def gram_product(self, indices: Indices, weights: Floats) -> Floats:
        """Return Phi_A'Phi_A w, computed in one pass over the rows."""
        ...

    def are_fewer_than(self, count: float) -> bool:
        """Say whether there are fewer rows than this. No more rows are read than needed to know."""
        ...


@dataclass(frozen=True)
class Moments:
    """Phi'Phi, Phi't and t't of one target. They are about zero, or about the mean if a constant is integrated out.

    Attributes
    ----------
    gram : Gram
        Phi'Phi, whole or by column.
    projections : array of shape (n_candidates,)
        Phi't.
    target_energy : float
        t't.
    n_samples : float
        N, the sum of the sample weights; N - 1 if a constant under a flat prior is integrated out.
    rows : RowsAnswer or None
        Answers questions about residuals exactly. None if the rows are not available any more.
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
        """Return ``|t - Phi_A w|^2``. It comes from the rows if these are there and the difference of moments has lost digits."""
        block = self.gram.block(indices, indices)
        energy = float(self.target_energy - 2.0 * weights @ self.projections[indices] + weights @ block @ weights)
        if self.rows is not None and energy < LOST_DIGITS * self.target_energy:
            return self.rows.residual_energy(indices, weights)
        return max(energy, 0.0)

    def residual_projections(self, indices: Indices, weights: Floats) -> Floats:
        """Return Phi'(t - Phi_A w) of shape (n_candidates,)."""
        if self.rows is not None:
            return self.rows.residual_projections(indices, weights)
        return self.projections - weights @ self.gram.columns(indices)

    def centered_if_few(self, candidates: Indices) -> Floats | None:
        """Return the candidates at all rows if these are so few that a system of the rows is cheaper, else None."""
        if self.rows is None or not self.rows.are_fewer_than(len(candidates) / WIDE):
            return None
        return self.rows.centered(candidates)

    def without_rows(self) -> Moments:
        """Return the same moments, but answer all questions from them alone."""
        return replace(self, rows=None)

    def restricted_to(self, candidates: Indices) -> Moments:
        """Return the moments of these candidates only, with their whole Gram matrix."""
        block = self.gram.block(candidates, candidates)
        rows = None if self.rows is None else _SomeRows(self.rows, candidates)
        return Moments(WholeGram(block), self.projections[candidates], self.target_energy, self.n_samples, rows)

    def counted_once(self, times: float) -> Moments:
        """Return the moments if every observation counted once, and not `times`. They are unchanged if the Gram is not whole."""
        if times <= 1.0 or not self.gram.is_whole:
            return self
        every = np.arange(self.n_candidates)
        gram = WholeGram(self.gram.block(every, every) / times)
        return Moments(gram, self.projections / times, self.target_energy / times, self.n_samples / times)

    def scaled(self, factor: float) -> Moments:
        """Return the moments of `factor` times the target."""
        rows = None if self.rows is None else _ScaledRows(self.rows, factor)
        return Moments(self.gram, self.projections * factor, self.target_energy * factor**2, self.n_samples, rows)


@dataclass(frozen=True)
class _ScaledRows:
    """The rows with their target multiplied by a factor."""

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

    def compressed(self, among: Indices | None = None) -> Floats:
        matrix = self.rows.compressed(among)
        matrix[:, -1] *= self.factor
        return matrix

    def gram_product(self, indices: Indices, weights: Floats) -> Floats:
        return self.rows.gram_product(indices, weights)

    def are_fewer_than(self, count: float) -> bool:
        return self.rows.are_fewer_than(count)


@dataclass(frozen=True)
class _SomeRows:
    """The rows with some of the candidates only."""

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

    def compressed(self, among: Indices | None = None) -> Floats:
        return self.rows.compressed(self.candidates if among is None else self.candidates[among])

    def gram_product(self, indices: Indices, weights: Floats) -> Floats:
        return self.rows.gram_product(self.candidates[indices], weights)

    def are_fewer_than(self, count: float) -> bool:
        return self.rows.are_fewer_than(count)


def power_of_two_near(value: float) -> float:
    """Return a power of two within a factor of two of `value`. Scaling by it is exact."""
    return float(2.0 ** np.round(np.log2(value))) if value > 0.0 else 1.0

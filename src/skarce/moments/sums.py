"""Whole moments of several targets about their means. They add up: the sums of two parts of the data give the sums of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas

from skarce._linalg import outer
from skarce._parallel import add_squares
from skarce._scales import negligible
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.moments.gram import WholeGram
from skarce.moments.moments import Moments

# A column is constant if its squares about the mean are at most this share of its raw squares: the rest is rounding.
CONSTANT = 1e-24


@dataclass
class Sums:
    """N, the means, and the second moments about the means, of candidates and targets.

    Two parts a, b of the rows add up by the pairwise rule (Chan, Golub and LeVeque 1979): with d = mean_b - mean_a,
    S = S_a + S_b + d d' n_a n_b / (n_a + n_b). This rule never subtracts two large sums.

    Attributes
    ----------
    n_samples : float
        The sum of the sample weights.
    candidate_means : array of shape (n_candidates,)
        Weighted means of the candidates.
    target_means : array of shape (n_outputs,)
        Weighted means of the targets.
    gram : array of shape (n_candidates, n_candidates)
        (Phi - mean)'W(Phi - mean).
    projections : array of shape (n_candidates, n_outputs)
        (Phi - mean)'W(T - mean).
    target_energies : array of shape (n_outputs,)
        The diagonal of (T - mean)'W(T - mean).
    made_with : str or None
        What tells these candidates from others. Sums over different ones do not add up. None is not known.
    """

    n_samples: float
    candidate_means: Floats
    target_means: Floats
    gram: Floats
    projections: Floats
    target_energies: Floats
    made_with: str | None = None

    @classmethod
    def empty(cls, n_candidates: int, n_outputs: int) -> Sums:
        """Return the sums over no rows."""
        return cls(
            0.0,
            np.zeros(n_candidates),
            np.zeros(n_outputs),
            np.zeros((n_candidates, n_candidates)),
            np.zeros((n_candidates, n_outputs)),
            np.zeros(n_outputs),
        )

    def __repr__(self) -> str:
        n_candidates, n_targets = self.projections.shape
        return f"Sums({self.n_samples:,.6g} rows, {n_candidates:,} candidates, {n_targets} target{'s'[: n_targets != 1]})"

    def absorb(self, phi: Floats, targets: Floats, weights: Floats | None) -> None:
        """Add a block of rows in place, on all cores.

        `phi` of shape (n_rows, n_candidates) is float64 and C-ordered. It is overwritten.
        """
        self._absorb(phi, targets, weights, add_squares)

    def absorb_parts(self, parts: Iterable[tuple[Floats, Floats, Floats | None]]) -> None:
        """Add blocks of rows in place, on this thread. Memory for products is allocated once, not for each block."""
        product = np.empty_like(self.gram)

        def add_product(phi: Floats, gram: Floats) -> None:
            np.matmul(phi.T, phi, out=product)  # NumPy computes half of a matrix times its transpose
            gram += product

        for phi, targets, weights in parts:
            self._absorb(phi, targets, weights, add_product)

    def _absorb(self, phi: Floats, targets: Floats, weights: Floats | None, add_to_gram: Callable[[Floats, Floats], None]) -> None:
        n = float(len(phi)) if weights is None else float(weights.sum())
        if n <= 0.0:
            return
        shares = np.full(len(phi), 1.0 / n) if weights is None else weights / n
        phi_mean, target_mean = shares @ phi, shares @ targets
        phi -= phi_mean
        targets = targets - target_mean
        if weights is not None:
            root = np.sqrt(weights)[:, None]
            phi *= root
            targets = targets * root
        self._shift_for(n, phi_mean, target_mean)
        if len(phi) == 1:  # a single row about its mean is zero
            return
        add_to_gram(phi, self.gram)
        self.projections += phi.T @ targets
        self.target_energies += np.einsum("ij,ij->j", targets, targets)

    def faded(self, factor: float) -> Sums:
        """Return a copy in which the weight of all rows is multiplied by `factor`. The means stay the same."""
        return Sums(
            factor * self.n_samples,
            self.candidate_means.copy(),
            self.target_means.copy(),
            np.multiply(factor, self.gram, order="C"),  # `_shift_for` writes to it in this order
            factor * self.projections,
            factor * self.target_energies,
            self.made_with,
        )

    def drop(self, candidates: Indices) -> None:
        """Set these candidates to zero at all rows, in place."""
        self.candidate_means[candidates], self.projections[candidates] = 0.0, 0.0
        self.gram[candidates], self.gram[:, candidates] = 0.0, 0.0

    def are_finite(self) -> bool:
        """Tell whether no sum has overflowed. If the squares are finite, so are the products, by the inequality of Cauchy."""
        return bool(np.isfinite(self.gram.diagonal()).all() and np.isfinite(self.target_energies).all())

    def __add__(self, other: Sums) -> Sums:
        if not isinstance(other, Sums):
            return NotImplemented
        if self.projections.shape != other.projections.shape:
            raise ValueError(
                "only sums over the same candidates and outputs add up, got shapes "
                f"{self.projections.shape} and {other.projections.shape}."
            )
        return Sums.total([self, other])

    @classmethod
    def total(cls, parts: Iterable[Sums]) -> Sums:
        """Return the sums over all rows of some parts, at least one. The parts stay as they are."""
        rest = iter(parts)
        first = next(rest, None)
        if first is None:
            raise ValueError(f"parts must have the sums of at least one block, got {quoted(parts)}.")
        total = first.faded(1.0)
        for part in rest:
            total.include(part)
        return total

    def include(self, other: Sums) -> None:
        """Add the sums over other rows in place."""
        if None not in (self.made_with, other.made_with) and self.made_with != other.made_with:
            raise ValueError(
                "only sums over the same candidates add up, but these were made with different kernels or columns. Fit the basis "
                "once (fitted_basis), and send it to all who make sums."
            )
        self.made_with = self.made_with or other.made_with
        if other.n_samples > 0.0:
            self._shift_for(other.n_samples, other.candidate_means, other.target_means)
            self.gram += other.gram
            self.projections += other.projections
            self.target_energies += other.target_energies

    def __radd__(self, other: object) -> Sums:
        """Add to zero, so that `sum(parts)` works."""
        if other == 0:
            return self
        return NotImplemented

    def _shift_for(self, n: float, candidate_means: Floats, target_means: Floats) -> None:
        """Update the means for n more rows with these means, and add what the update contributes to the second moments."""
        total = self.n_samples + n
        d_phi = candidate_means - self.candidate_means
        d_target = target_means - self.target_means
        factor = self.n_samples * n / total
        if factor > 0.0:
            # gram is symmetric, so its transpose is the same matrix in the memory order that BLAS writes to.
            blas.dger(factor, d_phi, d_phi, a=self.gram.T, overwrite_a=1)
            self.projections += np.multiply.outer(factor * d_phi, d_target)
            self.target_energies += factor * d_target**2
        self.candidate_means = self.candidate_means + d_phi * (n / total)
        self.target_means = self.target_means + d_target * (n / total)
        self.n_samples = total

    @property
    def raw_squares(self) -> Floats:
        """The sum of the squares of each candidate, about zero."""
        return self.gram.diagonal() + self.n_samples * self.candidate_means**2

    def moments(self, *, about_mean: bool, there: Any = None) -> list[Moments]:
        """Return one `Moments` per output, all on one Gram matrix: about the mean (a constant integrated out) or about zero.

        `there` is `gram` on the device of the rows, or None if they are on the host.
        """
        means, n = self.candidate_means, self.n_samples
        projections, energies, squares = self.projections, self.target_energies, self.gram.diagonal()
        if not about_mean:
            projections = projections + np.multiply.outer(n * means, self.target_means)
            energies, squares = energies + n * self.target_means**2, self.raw_squares
        varies = squares > np.maximum(CONSTANT * self.raw_squares, negligible(n))
        gram, there = (self._usable(matrix, about_mean, varies.astype(np.float64)) for matrix in (self.gram, there))
        if not varies.all():
            projections = projections * varies[:, None]
        return _on_one_gram(WholeGram(gram, there), projections, energies, n - 1.0 if about_mean else n)

    def _usable(self, gram: Any, about_mean: bool, varies: Floats) -> Any:
        """Return the Gram matrix, wherever it is, about the mean or about zero, with zeros for candidates that are constant."""
        if gram is None:
            return None
        if not about_mean:
            gram = gram + outer(self.n_samples * self.candidate_means, self.candidate_means, gram)
        return gram if varies.all() else gram * outer(varies, varies, gram)


def _on_one_gram(whole: WholeGram, projections: Floats, energies: Floats, n_samples: float) -> list[Moments]:
    return [Moments(whole, np.ascontiguousarray(b), float(tt), n_samples) for b, tt in zip(projections.T, energies, strict=True)]

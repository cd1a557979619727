"""Whole moments of several targets, kept about the mean and additive: sums of two parts of the data are the sums of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from skarce._parallel import add_squares
from skarce._typing import Floats
from skarce.moments.gram import WholeGram
from skarce.moments.moments import Moments

# Of a column about its mean, less than this share of the raw column is rounding: the column is constant.
CONSTANT = 1e-24


@dataclass
class Sums:
    """N, means, and second moments about the means, of candidates and targets.

    Two parts a, b of the rows add up by the pairwise rule (Chan, Golub and LeVeque 1979), which never subtracts two large
    sums: with d = mean_b - mean_a, S = S_a + S_b + d d' n_a n_b / (n_a + n_b).

    Attributes
    ----------
    n_samples : sum of the sample weights
    candidate_means : (n_candidates,)
    target_means : (n_outputs,)
    gram : (Phi - mean)'W(Phi - mean), (n_candidates, n_candidates)
    projections : (Phi - mean)'W(T - mean), (n_candidates, n_outputs)
    target_energies : diagonal of (T - mean)'W(T - mean), (n_outputs,)
    """

    n_samples: float
    candidate_means: Floats
    target_means: Floats
    gram: Floats
    projections: Floats
    target_energies: Floats

    @classmethod
    def empty(cls, n_candidates: int, n_outputs: int) -> Sums:
        """The neutral element: no rows."""
        return cls(
            0.0,
            np.zeros(n_candidates),
            np.zeros(n_outputs),
            np.zeros((n_candidates, n_candidates)),
            np.zeros((n_candidates, n_outputs)),
            np.zeros(n_outputs),
        )

    def absorb(self, phi: Floats, targets: Floats, weights: Floats | None) -> None:
        """Add a block of rows in place. `phi` (rows, n_candidates), float64 and C-ordered, is overwritten."""
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
        if len(phi) == 1:  # nothing is left of a single row about its mean
            return
        add_squares(phi, self.gram)
        self.projections += phi.T @ targets
        self.target_energies += np.einsum("ij,ij->j", targets, targets)

    def forget(self, factor: float) -> None:
        """Let all rows so far count `factor` times as much; the means stay."""
        if factor == 1.0:
            return
        self.n_samples *= factor
        for part in (self.gram, self.projections, self.target_energies):
            part *= factor

    def __add__(self, other: Sums) -> Sums:
        if self.projections.shape != other.projections.shape:
            raise ValueError(
                "only sums over the same candidates and outputs add up, got shapes "
                f"{self.projections.shape} and {other.projections.shape}."
            )
        total = Sums(
            self.n_samples,
            self.candidate_means.copy(),
            self.target_means.copy(),
            self.gram.copy(),
            self.projections.copy(),
            self.target_energies.copy(),
        )
        if other.n_samples > 0.0:
            total._shift_for(other.n_samples, other.candidate_means, other.target_means)
            total.gram += other.gram
            total.projections += other.projections
            total.target_energies += other.target_energies
        return total

    def __radd__(self, other: object) -> Sums:
        """So that `sum(parts)` works."""
        if other == 0:
            return self
        return NotImplemented

    def _shift_for(self, n: float, candidate_means: Floats, target_means: Floats) -> None:
        """Move the means for n more rows with these means, and add what the move contributes to the second moments."""
        total = self.n_samples + n
        d_phi = candidate_means - self.candidate_means
        d_target = target_means - self.target_means
        factor = self.n_samples * n / total
        if factor > 0.0:
            # gram is symmetric, so its transpose is itself in the order that BLAS writes to.
            blas.dger(factor, d_phi, d_phi, a=self.gram.T, overwrite_a=1)
            self.projections += np.multiply.outer(factor * d_phi, d_target)
            self.target_energies += factor * d_target**2
        self.candidate_means = self.candidate_means + d_phi * (n / total)
        self.target_means = self.target_means + d_target * (n / total)
        self.n_samples = total

    def moments(self, *, about_mean: bool) -> list[Moments]:
        """One `Moments` per output, all on one Gram: about the mean (a constant integrated out) or about zero."""
        means, n = self.candidate_means, self.n_samples
        if not about_mean:
            gram = self.gram + np.multiply.outer(n * means, means)
            projections = self.projections + np.multiply.outer(n * means, self.target_means)
            return _on_one_gram(gram, projections, self.target_energies + n * self.target_means**2, n)
        gram, projections, squares = self.gram, self.projections, self.gram.diagonal()
        constant = squares <= CONSTANT * (squares + n * means**2)
        if constant.any():
            gram, projections = gram.copy(), projections.copy()
            gram[constant], gram[:, constant], projections[constant] = 0.0, 0.0, 0.0
        return _on_one_gram(gram, projections, self.target_energies, n - 1.0)


def _on_one_gram(gram: Floats, projections: Floats, energies: Floats, n_samples: float) -> list[Moments]:
    whole = WholeGram(gram)
    return [Moments(whole, np.ascontiguousarray(b), float(tt), n_samples) for b, tt in zip(projections.T, energies, strict=True)]

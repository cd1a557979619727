r"""The state of a search in which all functions share one ridge, in terms of the eigenvectors of the active block.

With :math:`G_{AA} = V\operatorname{diag}(p)V^T`, :math:`z = V^Tb_A` and :math:`F = V^TG_{A,:}`, every quantity of an `ActiveSet` is
a sum over the eigenvectors, for any ridge (SSGE errata 5.1):

.. math::
    \gamma_k = G_{kk} - \sum_j \frac{F_{jk}^2}{p_j+\lambda}, \quad r_k = b_k - \sum_j\frac{F_{jk}z_j}{p_j+\lambda}, \quad
    u_k = G_{kk} - \sum_j F_{jk}^2\frac{p_j+2\lambda}{(p_j+\lambda)^2}, \quad
    h_i = \sum_j\frac{V_{ij}^2}{p_j+\lambda} .

So a change of the ridge costs O(L). Only F involves all candidates, at a cost of O(L^2 M). It is computed when a quantity of the
candidates is needed, and not before. Functions can leave and come back without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.inverted import MOST_STEPS, Inverted
from skarce.states.one_ridge import OneRidgeState
from skarce.states.state import RESOLUTION, ROUNDING, RidgeSlopes, resolved_energy


@dataclass(frozen=True)
class EigenBasis:
    """A set of candidates and the eigenvectors of its block of the Gram matrix. It does not depend on the ridge.

    Parameters
    ----------
    moments : Moments
        What the data say about all candidates.
    active : array of shape (n_active,)
        The candidates in the set.
    """

    moments: Moments
    active: Indices

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats, Floats]:
        squared_norms, vectors = np.linalg.eigh(self.moments.gram.block(self.active, self.active))
        projections = self.moments.projections[self.active] @ vectors
        if len(squared_norms):
            # A direction whose squared norm is only rounding has no projection of the target.
            least = ROUNDING * len(squared_norms) * max(float(squared_norms[-1]), np.finfo(float).tiny)
            projections[squared_norms <= least] = 0.0
            np.maximum(squared_norms, least, out=squared_norms)
        return squared_norms, vectors, projections

    @property
    def squared_norms(self) -> Floats:
        """The eigenvalues p, ascending."""
        return self._eigen[0]

    @property
    def vectors(self) -> Floats:
        """The eigenvectors V, as columns."""
        return self._eigen[1]

    @property
    def projections(self) -> Floats:
        """The projections z of the target on the eigenvectors."""
        return self._eigen[2]

    @cached_property
    def energies(self) -> Floats:
        """z^2 / p: how much of t't each direction explains without a ridge."""
        return self.projections**2 / self.squared_norms

    @cached_property
    def unexplained(self) -> float:
        """How much of t't least squares leaves unexplained."""
        resolved = resolved_energy(self.moments)
        return max(resolved - float(self.energies.sum()), RESOLUTION * resolved)

    @cached_property
    def squares(self) -> Floats:
        """V o V, the squared entries of V."""
        return self.vectors**2

    @cached_property
    def cover(self) -> Floats:
        """F, shape (n_active, n_candidates)."""
        return self.vectors.T @ self.moments.gram.columns(self.active)


@dataclass(frozen=True)
class Shrunk:
    """An `EigenBasis` at one ridge.

    Parameters
    ----------
    basis : EigenBasis
        The set and its eigenvectors.
    ridge : float
        The ridge lambda of all functions.
    """

    basis: EigenBasis
    ridge: float

    @cached_property
    def inverse_norms(self) -> Floats:
        """1 / (p + lambda)."""
        return 1.0 / (self.basis.squared_norms + self.ridge)

    @cached_property
    def shares(self) -> Floats:
        """lambda / (p + lambda)."""
        return self.ridge * self.inverse_norms

    @cached_property
    def candidates(self) -> tuple[Floats, Floats, Floats, Floats]:
        """`leftover`, `alignment`, `remainder` and `overlap` of all candidates: gamma, r, u and xi."""
        basis, moments = self.basis, self.basis.moments
        diagonal, inverse = moments.gram.diagonal, self.inverse_norms
        if not len(inverse):
            return diagonal.copy(), moments.projections.copy(), diagonal.copy(), moments.projections.copy()
        cover = basis.cover
        once, twice = inverse, inverse * (1.0 + self.shares)  # (p + 2 lambda) / (p + lambda)^2
        covered = np.stack([once, twice]) @ (cover * cover)
        explained = np.stack([basis.projections * once, basis.projections * twice]) @ cover
        leftover = np.maximum(diagonal - covered[0], 0.0)
        remainder = np.clip(diagonal - covered[1], 0.0, leftover)
        return leftover, moments.projections - explained[0], remainder, moments.projections - explained[1]

    @property
    def overlap(self) -> Floats:
        """phi'P^2 t of all candidates."""
        return self.candidates[3]

    @property
    def active(self) -> Indices:
        return self.basis.active

    @property
    def weights(self) -> Floats:
        return self.basis.vectors @ (self.basis.projections * self.inverse_norms)

    @property
    def inverse(self) -> Floats:
        return (self.basis.vectors * self.inverse_norms) @ self.basis.vectors.T

    def spread(self) -> Floats:
        """diag(H^-1)."""
        return self.basis.squares @ self.inverse_norms

    def squared_spread(self) -> Floats:
        """diag(H^-2)."""
        return self.basis.squares @ self.inverse_norms**2

    @property
    def log_determinant(self) -> float:
        return float(np.log1p(self.basis.squared_norms / self.ridge).sum())

    @property
    def energy(self) -> float:
        return self.basis.unexplained + float(self.basis.energies @ self.shares)

    @property
    def residual(self) -> float:
        return self.basis.unexplained + float(self.basis.energies @ self.shares**2)

    @property
    def freedom(self) -> float:
        return self.basis.moments.n_samples - float((self.basis.squared_norms * self.inverse_norms).sum())


class EigenSet(OneRidgeState):
    """A state in terms of eigenvectors, or of the inverse of H while the ridge is held; `OneRidgeState` has its parameters."""

    _at: Shrunk | Inverted

    @property
    def basis(self) -> EigenBasis:
        """The eigenvectors of the set."""
        return self._at.basis if isinstance(self._at, Shrunk) else EigenBasis(self.moments, self.active)

    @property
    def held(self) -> Inverted | None:
        """The set at its ridge if that is held, or else None."""
        return self._at if isinstance(self._at, Inverted) else None

    @property
    def active(self) -> Indices:
        return self._at.active

    @property
    def weights(self) -> Floats:
        return self._at.weights

    @property
    def inverse(self) -> Floats:
        return self._at.inverse

    def spread(self) -> Floats:
        return self._at.spread()

    def squared_spread(self) -> Floats:
        """diag(H^-2)."""
        return self._at.squared_spread()

    @property
    def log_determinant(self) -> float:
        return self._at.log_determinant

    @property
    def energy(self) -> float:  # type: ignore[override]
        return self._at.energy

    @property
    def residual(self) -> float:  # type: ignore[override]
        return self._at.residual

    @property
    def freedom(self) -> float:  # type: ignore[override]
        return self._at.freedom

    @property
    def overlap(self) -> Floats:  # type: ignore[override]
        return self._at.overlap

    def add(self, candidate: int, ridge: float) -> None:
        """Add a candidate. Its ridge becomes the ridge of all functions."""
        self.moments.gram.column(candidate)  # a Gram matrix kept by column stores it now; the block is read from there
        if self.held is not None and ridge == self.ridge and self.held.n_steps < MOST_STEPS:
            self._at = self.held.with_added(candidate)
        else:
            self._go_to(np.append(self.active, candidate), ridge)

    def remove(self, position: int) -> None:
        if self.held is not None and self.held.n_steps < MOST_STEPS:
            self._at = self.held.without(position)
        else:
            super().remove(position)

    def hold(self) -> None:
        """Hold the ridge for some steps, which are cheaper then, unless H is ill-conditioned."""
        self._at = Inverted.of(self.moments, self.active, self.ridge) or self._at

    def at_best_ridge(self) -> Any:
        """Return these functions at the best ridge, to first order from the one that is held."""
        return self if self.held is None else self.held.nearby or self

    def held_slopes(self) -> RidgeSlopes | None:
        return None if self.held is None else self.held.slopes

    def directions(self) -> tuple[Floats, Floats, float]:
        basis = self.basis
        return basis.squared_norms, basis.projections, basis.unexplained

    def well_determined(self) -> float:
        return self.moments.n_samples - self.freedom

    def _move_to(self, ridge: float) -> None:
        held = None if self.held is None else self.held.at_ridge(ridge)
        self._at = Shrunk(self.basis, ridge) if held is None else held

    def drift(self) -> float:
        """Return how far the alignments of the active functions are from lambda w, if the ridge is held."""
        return 0.0 if self.held is None else self.held.drift

    def refresh(self) -> None:
        """Compute everything again if the ridge is held. Otherwise nothing drifts."""
        if self.held is not None:
            self._move_to(self.ridge)

    def _go_to(self, active: Indices, ridge: float) -> None:
        self._at = Shrunk(EigenBasis(self.moments, active), ridge)

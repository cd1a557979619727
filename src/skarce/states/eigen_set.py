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
from skarce.states.state import DEPENDENT, RESOLUTION, ROUNDING, State, resolved_energy


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


class EigenSet(State):
    """A state whose functions share one ridge. Quantities of the candidates are computed when they are needed.

    `snapshot` and `restore` only exchange references, so they cost nothing.

    Parameters
    ----------
    moments : Moments
        What the data say about the candidates.
    active : array of shape (n_active,), default=None
        The candidates to start with. None starts with the empty set.
    ridges : array of shape (n_active,), default=None
        Their ridges. Their mean becomes the ridge of all functions. None starts at 1.
    """

    def __init__(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> None:
        self.moments = moments
        self.has_squares = True
        self.is_ill_conditioned, self.dependent = False, DEPENDENT
        self.restart(
            np.empty(0, dtype=np.intp) if active is None else active,
            np.empty(0) if ridges is None else ridges,
        )

    def __len__(self) -> int:
        return len(self.basis.active)

    @property
    def basis(self) -> EigenBasis:
        return self._at.basis

    @property
    def ridge(self) -> float:
        """The ridge of all functions. An empty set keeps the ridge it had before."""
        return self._at.ridge

    @property
    def active(self) -> Indices:
        return self.basis.active

    @property
    def ridges(self) -> Floats:
        return np.full(len(self), self.ridge)

    @property
    def gram_rows(self) -> Floats:
        return self.moments.gram.columns(self.active)

    @property
    def gram_block(self) -> Floats:
        return self.moments.gram.block(self.active, self.active)

    @property
    def weights(self) -> Floats:
        return self.basis.vectors @ (self.basis.projections * self._at.inverse_norms)

    @property
    def inverse(self) -> Floats:
        return (self.basis.vectors * self._at.inverse_norms) @ self.basis.vectors.T

    def spread(self) -> Floats:
        return self.basis.squares @ self._at.inverse_norms

    def squared_spread(self) -> Floats:
        """diag(H^-2)."""
        return self.basis.squares @ self._at.inverse_norms**2

    @property
    def log_determinant(self) -> float:
        return float(np.log1p(self.basis.squared_norms / self.ridge).sum())

    # These are plain attributes of an `ActiveSet`. Here they are sums over eigenvectors.

    @property
    def leftover(self) -> Floats:  # type: ignore[override]
        return self._at.candidates[0]

    @property
    def alignment(self) -> Floats:  # type: ignore[override]
        return self._at.candidates[1]

    @property
    def remainder(self) -> Floats:  # type: ignore[override]
        return self._at.candidates[2]

    @property
    def overlap(self) -> Floats:  # type: ignore[override]
        return self._at.candidates[3]

    @property
    def energy(self) -> float:  # type: ignore[override]
        return self.basis.unexplained + float(self.basis.energies @ self._at.shares)

    @property
    def residual(self) -> float:  # type: ignore[override]
        return self.basis.unexplained + float(self.basis.energies @ self._at.shares**2)

    @property
    def freedom(self) -> float:  # type: ignore[override]
        return self.moments.n_samples - float((self.basis.squared_norms * self._at.inverse_norms).sum())

    def add(self, candidate: int, ridge: float) -> None:
        """Add a candidate. Its ridge becomes the ridge of all functions."""
        self.moments.gram.column(candidate)  # a Gram matrix kept by column stores it now; the block is read from there
        self._at = Shrunk(EigenBasis(self.moments, np.append(self.active, candidate)), ridge)

    def remove(self, position: int) -> None:
        self._at = Shrunk(EigenBasis(self.moments, np.delete(self.active, position)), self.ridge)

    def change(self, position: int, ridge: float) -> None:
        raise TypeError("the functions of an EigenSet share one ridge: change it with keep.")

    def restart(self, active: Indices, ridges: Floats) -> None:
        """Make exactly these candidates active, with the mean of these ridges."""
        basis = EigenBasis(self.moments, np.array(active, dtype=np.intp))
        self._at = Shrunk(basis, float(np.mean(ridges)) if len(ridges) else 1.0)

    def keep(self, positions: Indices, ridges: Floats) -> None:
        """Keep only the functions at `positions`, with the mean of these ridges."""
        basis = self.basis if len(positions) == len(self) else EigenBasis(self.moments, self.active[positions])
        self._at = Shrunk(basis, float(np.mean(ridges)) if len(ridges) else self.ridge)

    def snapshot(self) -> Any:
        return self._at, self.noise

    def restore(self, snapshot: Any) -> None:
        self._at, self.noise = snapshot

    def directions(self) -> tuple[Floats, Floats, float]:
        return self.basis.squared_norms, self.basis.projections, self.basis.unexplained

    def well_determined(self) -> float:
        return self.moments.n_samples - self.freedom

r"""The state of a search in which all functions share one ridge, for searches that add functions and move the ridge in turn.

In orthonormal coordinates (see `skarce.states.coordinates`), the eigenvectors of :math:`RR^T` make ridge regression diagonal for
every ridge. With eigenvalues p, turned coordinates F of the candidates and z of the target, and
:math:`\sigma_i = \lambda/(p_i+\lambda)`,

.. math::
    \varphi^TP_0\varphi = |e|^2 + \sum_i \sigma_iF_i^2, \quad \varphi^TP_0^2\varphi = |e|^2 + \sum_i \sigma_i^2F_i^2, \quad
    t^TP_0^2t = |s|^2 + \sum_i \sigma_i^2z_i^2 .

Eigenvectors cost O(L^3 + L^2 M), so they are computed again only after some additions. In between, the j functions X that entered
since then act through a small matrix: :math:`P = P_0 - P_0XJ^{-1}X^TP_0` with :math:`J = \lambda I + X^TP_0X`. So an addition and
any change of the ridge cost O(j L M). No digits are lost, because every difference is one of quantities that are small already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.moments import Moments
from skarce.states.coordinates import Coordinates, Frame, GramCoordinates, RowCoordinates
from skarce.states.ridge_fit import RidgeFit
from skarce.states.state import DEPENDENT, ROUNDING, State

FINE = 1e-8  # below this share of tr(Phi_A'Phi_A), a ridge needs eigenvalues that are near rounding
MOST_RECENT = 16  # functions that may enter before the eigenvectors are computed again


class Turned:
    """Functions in the coordinates in which ridge regression on them is diagonal.

    Parameters
    ----------
    frame : Frame
        Orthonormal coordinates that span the functions.
    active : array of shape (n_active,)
        The functions.
    ridge : float
        About which ridge they will have.

    Attributes
    ----------
    eigenvalues : array of shape (n_directions,)
        p, the eigenvalues of RR'.
    target : array of shape (n_directions,)
        The turned coordinates of the target.
    """

    def __init__(self, frame: Frame, active: Indices, ridge: float) -> None:
        self.active, self.n_directions, self.origin = active, len(frame), frame.origin
        own = frame.candidates[:, active]
        if ridge < FINE * float((own**2).sum()):  # singular values have twice as many digits as eigenvalues, but take longer
            self._vectors, values, _ = np.linalg.svd(own)
            self.eigenvalues = np.append(values**2, np.zeros(len(frame) - len(values)))
        else:
            eigenvalues, self._vectors = np.linalg.eigh(own @ own.T)
            self.eigenvalues = np.maximum(eigenvalues, 0.0)
        self.target = self._vectors.T @ frame.target
        self._not_turned = frame.candidates

    @cached_property
    def candidates(self) -> Floats:
        """F, the turned coordinates of all candidates, of shape (n_directions, n_candidates)."""
        return self._vectors.T @ self._not_turned

    @cached_property
    def squares(self) -> Floats:
        """F o F."""
        return self.candidates**2


@dataclass(frozen=True)
class Grown:
    """A turned set and the functions that have entered since it was turned.

    Parameters
    ----------
    frame : Frame
        Orthonormal coordinates that span all functions.
    turned : Turned
        The set when the eigenvectors were computed.
    active : array of shape (n_active,)
        All functions. The first of them are those of `turned`.
    n_samples : float
        The number of samples.
    """

    frame: Frame
    turned: Turned
    active: Indices
    n_samples: float

    @cached_property
    def recent(self) -> Indices:
        """The functions that have entered since."""
        return self.active[len(self.turned.active) :]

    @cached_property
    def eigenvalues(self) -> Floats:
        """p, and zeros for the directions that have come since."""
        return np.append(self.turned.eigenvalues, np.zeros(len(self.frame) - self.turned.n_directions))

    @cached_property
    def target(self) -> Floats:
        """The coordinates of the target."""
        return np.append(self.turned.target, self.frame.target[self.turned.n_directions :])

    @cached_property
    def others(self) -> Floats:
        """The coordinates of the candidates along the directions that have come since."""
        return self.frame.candidates[self.turned.n_directions :]

    @cached_property
    def entered(self) -> Floats:
        """X, the coordinates of the functions that have entered since."""
        return np.concatenate([self.turned.candidates[:, self.recent], self.others[:, self.recent]])

    def shares(self, ridge: Any) -> Floats:
        """Return lambda / (p + lambda)."""
        return ridge / (self.eigenvalues + ridge)

    def small(self, ridge: float) -> Small:
        """Return the target at one ridge."""
        return Small(self, ridge)


class Small:
    """The target and the few recent functions at one ridge, without the candidates.

    Attributes
    ----------
    residual, freedom, energy : float
        t'P^2 t, tr P and t'P t.
    """

    def __init__(self, grown: Grown, ridge: float) -> None:
        self.shares = once = grown.shares(ridge)
        rest, entered, target = grown.frame.rest, grown.entered, grown.target
        self._small = small = once[:, None] * entered  # P0 X
        matrix = entered.T @ small
        matrix.flat[:: len(matrix) + 1] += ridge
        self.solver = np.linalg.inv(matrix)  # J^-1
        self.twice = small.T @ small  # X'P0^2 X
        self.weights = self.solver @ (small.T @ target)
        self._left = self._projected(target, self.weights)
        self.energy = rest + float(self._left @ target)
        self.residual = rest + float(self._left @ self._left)
        self.freedom = grown.n_samples - len(once) + float(once.sum() - (self.solver * self.twice).sum())
        self._rest, self._others = rest, grown.n_samples - len(once)

    def slope(self) -> float:
        """Return the derivative of log(q / v^2) in the logarithm of the ridge: 2 (q - t'P^3 t) / q - 2 (v - tr P^2) / v."""
        again = self._projected(self._left, self.solver @ (self._small.T @ self._left))
        cubed = self._rest + float(again @ self._left)
        both = self.solver @ self.twice
        thrice = (self._small * self.shares[:, None]).T @ self._small  # X'P0^3 X
        squared = self._others + float((self.shares**2).sum() - 2.0 * (self.solver * thrice).sum() + (both * both.T).sum())
        return 2.0 * (1.0 - cubed / self.residual) - 2.0 * (1.0 - squared / self.freedom)

    def _projected(self, vector: Floats, weights: Floats) -> Floats:
        """Return P v within the directions, where J weights = X'P0 v."""
        return self.shares * vector - self._small @ weights


@dataclass(frozen=True)
class AtRidge:
    """A grown set at one ridge.

    Parameters
    ----------
    grown : Grown
        The set.
    ridge : float
        The ridge of all functions.
    """

    grown: Grown
    ridge: float

    @cached_property
    def small(self) -> Small:
        return self.grown.small(self.ridge)

    @cached_property
    def fit(self) -> RidgeFit:
        """Ridge regression on the functions themselves."""
        active = self.grown.active
        return RidgeFit.of(self.grown.frame, active, np.full(len(active), self.ridge))

    @cached_property
    def inverse(self) -> Floats:
        return symmetric_inverse(self.fit.lower)

    @cached_property
    def candidates(self) -> tuple[Floats, Floats, Floats, Floats]:
        """`leftover`, `alignment`, `remainder` and `overlap` of all candidates."""
        grown, turned, small = self.grown, self.grown.turned, self.small
        outside, aligned, others = grown.frame.outside, grown.frame.aligned, grown.others
        n, n_recent = turned.n_directions, len(grown.recent)
        once = small.shares[:n]
        twice = once * once
        lengths = np.stack([once, twice]) @ turned.squares
        x_old, x_new = grown.entered[:n], grown.entered[n:]
        left = np.concatenate(
            [(once[:, None] * x_old).T, (twice[:, None] * x_old).T, [once * turned.target, twice * turned.target]]
        )
        products = left @ turned.candidates
        if len(others):
            lengths += np.einsum("ij,ij->j", others, others)
            products += np.concatenate([x_new.T, x_new.T, np.stack([grown.target[n:]] * 2)]) @ others
        first, second = products[:n_recent], products[n_recent : 2 * n_recent]  # X'P0 phi and X'P0^2 phi
        solved, weights = small.solver @ first, small.weights
        inner = small.twice @ solved
        return (
            np.maximum(outside + lengths[0] - np.einsum("ij,ij->j", first, solved), 0.0),
            aligned + products[-2] - weights @ first,
            np.maximum(outside + lengths[1] + np.einsum("ij,ij->j", solved, inner - 2.0 * second), 0.0),
            aligned + products[-1] - weights @ (second - inner) - second_of(small, grown) @ solved,
        )


def second_of(small: Small, grown: Grown) -> Floats:
    """Return X'P0^2 t."""
    return (small.shares**2 * grown.target) @ grown.entered


class SharedSet(State):
    """A state whose functions share one ridge. It keeps its digits if the functions are nearly dependent.

    Parameters
    ----------
    moments : Moments
        What the data say about the candidates. They need rows.
    active : array of shape (n_active,), default=None
        The candidates to start with. None starts with the empty set.
    ridges : array of shape (n_active,), default=None
        Their ridges. Their mean becomes the ridge of all functions. None starts at 1.
    """

    def __init__(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> None:
        self.moments = moments
        self.has_squares = True
        self.is_ill_conditioned, self.is_fine, self.dependent = False, True, DEPENDENT
        self._coordinates: Coordinates = GramCoordinates(moments)
        self._at: AtRidge
        nothing = np.empty(0, dtype=np.intp)
        self.restart(nothing if active is None else active, np.empty(0) if ridges is None else ridges)

    @staticmethod
    def is_possible(moments: Moments) -> bool:
        """Tell whether these moments have the rows that a set of nearly dependent functions needs."""
        return RowCoordinates.are_possible(moments)

    def __len__(self) -> int:
        return len(self.active)

    @property
    def active(self) -> Indices:
        return self._at.grown.active

    @property
    def ridge(self) -> float:
        """The ridge of all functions. An empty set keeps the ridge it had before."""
        return self._at.ridge

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
        return self._at.fit.weights

    @property
    def inverse(self) -> Floats:
        return self._at.inverse

    @property
    def cholesky(self) -> Floats:
        return self._at.fit.lower

    @property
    def log_determinant(self) -> float:
        return float(np.log(self.cholesky.diagonal() ** 2 / self.ridge).sum())

    # These are plain attributes of an `ActiveSet`.

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
        return self._at.small.energy

    @property
    def residual(self) -> float:  # type: ignore[override]
        return self._at.small.residual

    @property
    def freedom(self) -> float:  # type: ignore[override]
        return self._at.small.freedom

    def slope_at(self, ridge: float) -> float | None:
        return self._at.grown.small(ridge).slope()

    def add(self, candidate: int, ridge: float) -> None:
        """Add a candidate. Its ridge becomes the ridge of all functions."""
        self._go_to(np.append(self.active, candidate), ridge, self._at.grown.turned)

    def remove(self, position: int) -> None:
        self._go_to(np.delete(self.active, position), self.ridge)

    def change(self, position: int, ridge: float) -> None:
        raise TypeError("the functions of a SharedSet share one ridge: change it with keep.")

    def restart(self, active: Indices, ridges: Floats) -> None:
        """Make exactly these candidates active, with the mean of these ridges."""
        self._go_to(np.array(active, dtype=np.intp), float(np.mean(ridges)) if len(ridges) else 1.0)

    def keep(self, positions: Indices, ridges: Floats) -> None:
        """Keep only the functions at `positions`, with the mean of these ridges."""
        ridge = float(np.mean(ridges)) if len(ridges) else self.ridge
        if len(positions) == len(self):
            self._at = AtRidge(self._at.grown, ridge)
        else:
            self._go_to(self.active[positions], ridge)

    def snapshot(self) -> Any:
        return self._at, self.noise

    def restore(self, snapshot: Any) -> None:
        self._at, self.noise = snapshot

    def directions(self) -> tuple[Floats, Floats, float]:
        grown = self._at.grown
        if len(grown.recent):  # the next steps can use the eigenvectors, too
            grown = replace(grown, turned=Turned(grown.frame, grown.active, self.ridge))
            self._at = AtRidge(grown, self.ridge)
        turned = grown.turned
        kept = turned.eigenvalues > ROUNDING**2 * turned.eigenvalues.sum()
        outside = turned.target[~kept]
        rest = grown.frame.rest + float(outside @ outside)
        return turned.eigenvalues[kept], turned.target[kept] * np.sqrt(turned.eigenvalues[kept]), rest

    def _go_to(self, active: Indices, ridge: float, turned: Turned | None = None) -> None:
        """Make these functions active. The first of them may be `turned` already."""
        frame = self._frame_of(active)
        if turned is None or turned.origin is not frame.origin or len(active) - len(turned.active) > MOST_RECENT:
            turned = Turned(frame, active, ridge)
        self._at = AtRidge(Grown(frame, turned, active, self.moments.n_samples), ridge)

    def _frame_of(self, active: Indices) -> Frame:
        """Return coordinates that span these functions: from the Gram matrix, or from the rows if that would lose digits."""
        try:
            return self._coordinates.spanning(active)
        except NotPositiveDefiniteError:
            self._coordinates = RowCoordinates.of(self.moments)
            return self._coordinates.spanning(active)

r"""Functions that share one ridge, in coordinates in which a change of the ridge is cheap.

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

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skarce._linalg import symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.states.coordinates import Frame
from skarce.states.ridge_fit import RidgeFit
from skarce.states.state import Quantities

FINE = 1e-10  # below this share of tr(Phi_A'Phi_A), a ridge needs eigenvalues that are near rounding
LEAST_SAVED = 0.3  # if fewer candidates are active, leaving them out does not pay


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
        self._last: Products | None = None  # those of the last set and ridge; the next set often has only one more function

    def products(self, part: Part, grown: Grown, ridge: float) -> Products:
        """Return products of candidates at a ridge, for a set that has grown from this one."""
        last = self._last
        if last is None or not last.leads_to(part, grown, ridge):
            last = Products.start(part, self, ridge)
        self._last = last = last.after(grown)
        return last

    @cached_property
    def everyone(self) -> Part:
        """All candidates."""
        return self._part(np.arange(self._not_turned.shape[1]), self._not_turned)

    @cached_property
    def others(self) -> Part:
        """The candidates that were not active when the set was turned. All of them if that saves little."""
        if len(self.active) < LEAST_SAVED * self._not_turned.shape[1]:
            return self.everyone
        where = np.delete(np.arange(self._not_turned.shape[1]), self.active)
        return self._part(where, self._not_turned[:, where])

    def _part(self, where: Indices, coordinates: Floats) -> Part:
        turned = self._vectors.T @ coordinates
        return Part(where, turned, turned**2)


class Part(NamedTuple):
    """Some candidates in turned coordinates.

    Attributes
    ----------
    where : their indices, ascending
    coordinates : F, shape (n_directions, n_candidates)
    squares : F o F
    """

    where: Indices
    coordinates: Floats
    squares: Floats

    def of(self, values: Floats) -> Floats:
        """Return what belongs to these candidates. The last axis of `values` is that of all candidates."""
        return values if len(self.where) == values.shape[-1] else values[..., self.where]


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
        part = self.turned.others
        places = np.searchsorted(part.where, self.recent)
        return np.concatenate([part.coordinates[:, places], self.others[:, self.recent]])

    def shares(self, ridge: float) -> Floats:
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
        return self._quantities(self.grown.turned.everyone)

    @cached_property
    def others(self) -> Quantities:
        """The same of all candidates that are not active, and of those that have entered since the set was turned."""
        part = self.grown.turned.others
        return Quantities(part.where, *self._quantities(part))

    def _quantities(self, part: Part) -> tuple[Floats, Floats, Floats, Floats]:
        grown, small = self.grown, self.small
        outside, aligned = part.of(grown.frame.outside), part.of(grown.frame.aligned)
        products = grown.turned.products(part, grown, self.ridge)
        once, twice = products.target
        first, second = products.entered
        solved, weights = small.solver @ first, small.weights
        inner = small.twice @ solved
        return (
            np.maximum(outside + products.lengths[0] - np.einsum("ij,ij->j", first, solved), 0.0),
            aligned + once - weights @ first,
            np.maximum(outside + products.lengths[1] + np.einsum("ij,ij->j", solved, inner - 2.0 * second), 0.0),
            aligned + twice - weights @ (second - inner) - second_of(small, grown) @ solved,
        )


class Products(NamedTuple):
    """Products at one ridge of some candidates with each other, with the target and with recent functions.

    Attributes
    ----------
    part : the candidates
    ridge : the ridge
    recent : the recent functions, shape (n_recent,)
    n_directions : the directions whose contributions are included
    lengths : phi'P0 phi and phi'P0^2 phi, shape (2, n_candidates)
    target : t'P0 phi and t'P0^2 phi, shape (2, n_candidates)
    entered : X'P0 phi and X'P0^2 phi, shape (2, n_recent, n_candidates)
    """

    part: Part
    ridge: float
    recent: Indices
    n_directions: int
    lengths: Floats
    target: Floats
    entered: Floats

    @classmethod
    def start(cls, part: Part, turned: Turned, ridge: float) -> Products:
        """Return the products without recent functions, and within the directions of the turned set."""
        shares = powers(ridge, turned.eigenvalues)
        nothing = np.empty((2, 0, len(part.where)))
        target = (shares * turned.target) @ part.coordinates
        return cls(part, ridge, np.empty(0, dtype=np.intp), turned.n_directions, shares @ part.squares, target, nothing)

    def leads_to(self, part: Part, grown: Grown, ridge: float) -> bool:
        """Tell whether these products are some of those of a grown set at a ridge."""
        is_same = self.part is part and self.ridge == ridge and self.n_directions <= len(grown.frame)
        return is_same and np.array_equal(self.recent, grown.recent[: len(self.recent)])

    def after(self, grown: Grown) -> Products:
        """Return the products of all recent functions and directions. The share of a direction that has come since is 1."""
        known, n, turned = len(self.recent), self.n_directions, grown.turned
        fresh = self.part.of(grown.frame.candidates[n:])
        others = self.part.of(grown.others)
        functions = grown.entered[:, known:]
        weighted = powers(self.ridge, turned.eigenvalues)[:, None] * functions[: turned.n_directions].T
        entered = weighted @ self.part.coordinates + functions[turned.n_directions :].T @ others
        return Products(
            self.part,
            self.ridge,
            grown.recent,
            len(grown.frame),
            self.lengths + np.einsum("ij,ij->j", fresh, fresh),
            self.target + grown.frame.target[n:] @ fresh,
            np.concatenate([self.entered, entered], axis=1),  # functions that entered before are within the other directions
        )


def powers(ridge: float, eigenvalues: Floats) -> Floats:
    """Return the shares lambda / (p + lambda) and their squares, shape (2, n_directions)."""
    shares = ridge / (eigenvalues + ridge)
    return np.stack([shares, shares**2])


def second_of(small: Small, grown: Grown) -> Floats:
    """Return X'P0^2 t."""
    return (small.shares**2 * grown.target) @ grown.entered

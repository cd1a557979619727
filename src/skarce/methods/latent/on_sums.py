r"""Models of a latent function on sums over all rows, which expand the log likelihood to second order.

With the constant and the weights of all candidates in :math:`\theta`, a pass over the rows gives the log likelihood at
:math:`\theta_0`, its slopes g and its curvature G there, so that nearby it is
:math:`\ell + g^Td - \tfrac12d^TGd` with :math:`d = \theta - \theta_0`. The log determinant of a Laplace approximation moves with
the latent function too, through the curvature of the likelihood: by :math:`\tfrac12c^Td` with :math:`c = \Phi^T(\rho\circ h)`.
Both together make the slopes of the evidence at :math:`\theta_0` what they are for the rows themselves (see `laplace`).

The mode is the solution of one linear system, and no rows are needed to say what a candidate is worth: the formulas of `scan` have
:math:`S = G_{jj} - G_{jA}H^{-1}G_{Aj}`, :math:`Q = g_j - G_{j\cdot}d` and :math:`Z = c_j - G_{jA}u`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skarce._device import namespace, taken, to_device, to_host
from skarce._linalg import (
    cholesky_of_nearly_singular,
    cholesky_of_nearly_singular_on_device,
    inverse_of_lower_on_device,
    solve_lower,
    with_raised_diagonal,
)
from skarce._typing import Floats, Indices
from skarce.methods.latent.model import LatentModel
from skarce.methods.latent.pool import Pool
from skarce.methods.latent.scan import COVERED, Scan

WORTH_DEVICE = 300  # functions; smaller models are factorized on the host before they would be on a device
RISES = (0.0, 1e-12, 1e-10)  # of the diagonal of H: sums have lost the last digits


@dataclass(frozen=True, eq=False)
class SumsOfRows:
    """What a pass over all rows has found of one latent function. The constant, if there is one, comes before the candidates.

    The sums are of all candidates, or of some of them.

    Attributes
    ----------
    value : the log likelihood where it was expanded
    expanded_at : theta_0
    slopes, curvature : g and G there
    tilt : c
    rates : e / (2 tau^2) of the candidates
    constant_precision : of the prior of the constant; None if there is no constant
    curvature_there : G on the device where large models are factorized, or None for the host
    summed : which candidates the sums are of, ascending; None for all of them
    """

    value: float
    expanded_at: Floats
    slopes: Floats
    curvature: Floats
    tilt: Floats
    rates: Floats
    constant_precision: float | None
    curvature_there: Any = None
    summed: Indices | None = None

    @property
    def n_fixed(self) -> int:
        return int(self.constant_precision is not None)

    def places(self, indices: Indices) -> Indices:
        """Return where the constant and these candidates are."""
        return places_among(self.summed, indices, self.n_fixed)

    @cached_property
    def shift(self) -> Floats:
        """g + G theta_0: the mode of the likelihood alone solves G theta = shift."""
        return self.slopes + self.curvature @ self.expanded_at


def places_among(summed: Indices | None, indices: Indices, n_fixed: int) -> Indices:
    """Return where the constant, if there is one, and some candidates are in sums of these candidates, or of all."""
    own = indices if summed is None else np.searchsorted(summed, indices)
    return np.concatenate([np.arange(n_fixed), n_fixed + own]).astype(np.intp)


class SumsModel(LatentModel):
    """Some candidates at given precisions, on sums.

    Attributes
    ----------
    sums : SumsOfRows
    theta : the mode, with zeros for candidates that are not in
    slopes : derivatives of the log likelihood by all of theta, at the mode
    """

    def __init__(self, sums: SumsOfRows, precisions: Floats, indices: Indices) -> None:
        began = time.monotonic()
        self.sums, self.precisions, self.indices, self.n_fixed = sums, precisions, indices, sums.n_fixed
        self.places = places = sums.places(indices)
        determinant = self._find_mode(sums.shift[places])
        self.theta = np.zeros(len(sums.slopes))
        self.theta[places] = self.weights
        moved = self.theta - sums.expanded_at
        self.slopes = sums.slopes - sums.curvature @ moved
        self.log_likelihood = sums.value + 0.5 * float((sums.slopes + self.slopes) @ moved)
        evidence = self.log_likelihood + 0.5 * float(np.log(precisions).sum() - precisions @ self.weights**2) - determinant
        self.score = evidence - 0.5 * float(sums.tilt @ moved) - float(self.penalties.sum())
        self.seconds = time.monotonic() - began

    @staticmethod
    def of(sums: SumsOfRows, precisions: Floats, indices: Indices) -> SumsModel:
        """Return the model with these candidates, on the device of the sums if it is large."""
        kind = DeviceSumsModel if sums.curvature_there is not None and len(precisions) >= WORTH_DEVICE else SumsModel
        return kind(sums, precisions, indices)

    @staticmethod
    def at_precisions(sums: SumsOfRows, learned_precisions: Floats, indices: Indices) -> SumsModel:
        """Return the same from the precisions of the candidates alone. The constant, if there is one, has its own."""
        fixed = [] if sums.constant_precision is None else [sums.constant_precision]
        return SumsModel.of(sums, np.concatenate([fixed, learned_precisions]), indices)

    def _find_mode(self, shift: Floats) -> float:
        """Factorize H, and find the weights. Return half of the logarithm of its determinant."""
        matrix = self.sums.curvature[np.ix_(self.places, self.places)]
        matrix.flat[:: len(matrix) + 1] += self.precisions
        self.factor = cholesky_of_nearly_singular(matrix, RISES)
        self.weights = solve_lower(self.factor, solve_lower(self.factor, shift), transposed=True)
        return float(np.log(self.factor.diagonal()).sum())

    def cover(self, candidates: Indices) -> tuple[Floats, Floats]:
        """Return G_jA H^-1 G_Aj and G_jA u of candidates j, which are places in theta."""
        spanned = self.crosses[candidates] @ self.root.T
        return np.einsum("mj,mj->m", spanned, spanned), self.crosses[candidates] @ self.pull

    @cached_property
    def crosses(self) -> Any:
        """G of all of theta and the functions, where large matrices are."""
        return self.sums.curvature[:, self.places]

    def less_covered(self, candidate: int) -> Floats:
        """Return G_.j - G_.A H^-1 G_Aj of a candidate j, which is a place in theta."""
        own = self.sums.curvature[candidate]
        return own - self.crosses @ self.times_covariance(own[self.places])

    @property
    def largest_curvatures(self) -> Floats:
        return self.sums.curvature.diagonal()[self.places]

    @property
    def penalty_rates(self) -> Floats:
        return self.sums.rates[self.indices]

    @property
    def third_order_sums(self) -> Floats:
        return self.sums.tilt[self.places]

    def at(self, learned_precisions: Floats) -> SumsModel:
        return SumsModel.at_precisions(self.sums, learned_precisions, self.indices)

    def with_only(self, keep: Indices, precisions: Floats, start: Floats) -> SumsModel:
        return SumsModel.of(self.sums, precisions, self.indices[keep[self.n_fixed :] - self.n_fixed])

    def moved_from(self, theta: Floats) -> float:
        """Return how far the latent function is from that of other weights: half of its square is in nats."""
        change = self.theta - theta
        return max(float(change @ self.sums.curvature @ change), 0.0) ** 0.5


class DeviceSumsModel(SumsModel):
    """The same for large models. Matrices are on the device of the sums, and vectors are on the host."""

    def _find_mode(self, shift: Floats) -> float:
        there = self.sums.curvature_there
        matrix = with_raised_diagonal(taken(self.crosses, self.places), self.precisions)
        self._lower = cholesky_of_nearly_singular_on_device(matrix, RISES)
        self._root = inverse_of_lower_on_device(self._lower)
        self.weights = to_host(self._root.T @ (self._root @ to_device(shift, there)))
        return float(np.log(to_host(namespace(there).linalg.diagonal(self._lower))).sum())

    @cached_property
    def factor(self) -> Floats:  # type: ignore[override]
        return to_host(self._lower)

    @cached_property
    def root(self) -> Floats:
        return to_host(self._root)

    @cached_property
    def covariance(self) -> Floats:
        return to_host(self.covariance_there)

    @cached_property
    def covariance_there(self) -> Any:
        return self._root.T @ self._root

    @cached_property
    def spread(self) -> Floats:  # type: ignore[override]
        return to_host(namespace(self._root).sum(self._root * self._root, axis=0))

    def times_covariance(self, vector: Floats) -> Floats:
        return to_host(self._root.T @ (self._root @ to_device(vector, self._root)))

    @cached_property
    def crosses(self) -> Any:
        return taken(self.sums.curvature_there, self.places, axis=1)

    def less_covered(self, candidate: int) -> Floats:
        own = self.sums.curvature[candidate]
        there = self._root.T @ (self._root @ to_device(own[self.places], self._root))
        return own - to_host(self.crosses @ there)

    def cover(self, candidates: Indices) -> tuple[Floats, Floats]:
        crosses = taken(self.crosses, candidates)
        spanned = crosses @ self._root.T
        covered = namespace(spanned).sum(spanned * spanned, axis=1)
        return to_host(covered), to_host(crosses @ to_device(self.pull, crosses))


class SumsPool(Pool[SumsModel]):
    """All candidates, or some of them, on sums."""

    def __init__(self, sums: SumsOfRows, indices: Indices) -> None:
        self.indices, self._own = indices, sums.places(indices)[sums.n_fixed :]

    def scanned(self, model: SumsModel) -> Scan:
        sums, own = model.sums, self._own
        (covered, pulled), squares = model.cover(own), sums.curvature.diagonal()[own]
        sparsity = squares - covered
        sparsity[sparsity <= COVERED * squares] = 0.0
        return Scan(sparsity, model.slopes[own], sums.tilt[own] - pulled, sums.rates[self.indices])

    def products(self, model: SumsModel, place: int) -> Floats:
        return model.less_covered(int(self._own[place]))[self._own]

    def enlarged(self, model: SumsModel, places: Indices, precisions: Floats) -> SumsModel:
        indices = np.concatenate([model.indices, self.indices[places]])
        return SumsModel.of(model.sums, np.concatenate([model.precisions, precisions]), indices)

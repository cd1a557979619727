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

import numpy as np

from skarce._linalg import cholesky_of_nearly_singular, solve_lower
from skarce._typing import Floats, Indices
from skarce.methods.latent.model import LatentModel
from skarce.methods.latent.pool import Pool
from skarce.methods.latent.scan import COVERED, Scan

RISES = (0.0, 1e-12, 1e-10)  # of the diagonal of H: sums have lost the last digits


@dataclass(frozen=True, eq=False)
class SumsOfRows:
    """What a pass over all rows has found of one latent function. The constant, if there is one, comes before the candidates.

    Attributes
    ----------
    value : the log likelihood where it was expanded
    expanded_at : theta_0
    slopes, curvature : g and G there
    tilt : c
    rates : e / (2 tau^2) of the candidates
    constant_precision : of the prior of the constant; None if there is no constant
    """

    value: float
    expanded_at: Floats
    slopes: Floats
    curvature: Floats
    tilt: Floats
    rates: Floats
    constant_precision: float | None

    @property
    def n_fixed(self) -> int:
        return int(self.constant_precision is not None)

    @property
    def n_candidates(self) -> int:
        return len(self.rates)

    def places(self, indices: Indices) -> Indices:
        """Return where the constant and these candidates are."""
        return np.concatenate([np.arange(self.n_fixed), self.n_fixed + indices]).astype(np.intp)

    @cached_property
    def shift(self) -> Floats:
        """g + G theta_0: the mode of the likelihood alone solves G theta = shift."""
        return self.slopes + self.curvature @ self.expanded_at


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
        matrix = sums.curvature[np.ix_(places, places)]
        matrix.flat[:: len(places) + 1] += precisions
        self.factor = cholesky_of_nearly_singular(matrix, RISES)
        explained = solve_lower(self.factor, sums.shift[places])
        self.weights = solve_lower(self.factor, explained, transposed=True)
        self.theta = np.zeros(len(sums.slopes))
        self.theta[places] = self.weights
        moved = self.theta - sums.expanded_at
        self.slopes = sums.slopes - sums.curvature @ moved
        self.log_likelihood = sums.value + 0.5 * float((sums.slopes + self.slopes) @ moved)
        determinant = float(np.log(self.factor.diagonal()).sum())
        evidence = self.log_likelihood + 0.5 * float(np.log(precisions).sum() - precisions @ self.weights**2) - determinant
        self.score = evidence - 0.5 * float(sums.tilt @ moved) - float(self.penalties.sum())
        self.seconds = time.monotonic() - began

    @classmethod
    def of(cls, sums: SumsOfRows, learned_precisions: Floats, indices: Indices) -> SumsModel:
        """Return the model with these candidates, and with the constant if there is one."""
        fixed = [] if sums.constant_precision is None else [sums.constant_precision]
        return cls(sums, np.concatenate([fixed, learned_precisions]), indices)

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
        return SumsModel.of(self.sums, learned_precisions, self.indices)

    def with_only(self, keep: Indices, precisions: Floats, start: Floats) -> SumsModel:
        return SumsModel(self.sums, precisions, self.indices[keep[self.n_fixed :] - self.n_fixed])

    def moved_from(self, theta: Floats) -> float:
        """Return how far the latent function is from that of other weights: half of its square is in nats."""
        change = self.theta - theta
        return max(float(change @ self.sums.curvature @ change), 0.0) ** 0.5


class SumsPool(Pool[SumsModel]):
    """All candidates, or some of them, on sums."""

    def __init__(self, sums: SumsOfRows, indices: Indices) -> None:
        self.indices, self._own = indices, sums.n_fixed + indices

    def scanned(self, model: SumsModel) -> Scan:
        sums, own = model.sums, self._own
        crosses = sums.curvature[np.ix_(own, model.places)]
        cover, squares = crosses @ model.root.T, sums.curvature.diagonal()[own]
        sparsity = squares - np.einsum("mj,mj->m", cover, cover)
        sparsity[sparsity <= COVERED * squares] = 0.0
        return Scan(sparsity, model.slopes[own], sums.tilt[own] - crosses @ model.pull, sums.rates[self.indices])

    def products(self, model: SumsModel, place: int) -> Floats:
        curvature, candidate = model.sums.curvature, self._own[place]
        own = curvature[candidate]
        covered = model.covariance @ own[model.places]
        return (own - curvature[:, model.places] @ covered)[self._own]

    def enlarged(self, model: SumsModel, places: Indices, precisions: Floats) -> SumsModel:
        indices = np.concatenate([model.indices, self.indices[places]])
        return SumsModel(model.sums, np.concatenate([model.precisions, precisions]), indices)

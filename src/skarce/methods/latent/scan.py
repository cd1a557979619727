r"""What every candidate would do for a Laplace approximation, in one pass over the candidates for all targets.

With :math:`C^{-1} = B - B\Phi H^{-1}\Phi^TB` a candidate :math:`\varphi` has

.. math:: S = \varphi^TC^{-1}\varphi, \quad Q = \varphi^T\nabla\log p(t|f), \quad Z = \varphi^T(\rho\circ h - B\Phi u),

and the score grows with its prior variance, at zero, by :math:`\tfrac12(q - S) - r` with :math:`q = Q(Q - Z)` and the rate
:math:`r = e/(2\tau^2)` of its penalty. With B held (and Z in proportion to the weight) its precision :math:`\alpha` is worth
:math:`\tfrac12(\log(\alpha/(\alpha + S)) + q/(\alpha + S)) - r/\alpha`, which without the penalty is best at :math:`S^2/(q - S)`.
(Tipping and Faul 2003, without Z and r.)
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from skarce._typing import Floats, Indices
from skarce.basis.candidates import Evaluation
from skarce.methods.latent.laplace import Laplace, penalty_rates

COVERED = 1e-9  # the share of phi'B phi below which a candidate lies in the span of the model to within rounding


class Scan(NamedTuple):
    """S, Q, Z and r of every candidate, each of shape (n_candidates,)."""

    sparsity: Floats
    quality: Floats
    pull: Floats
    rate: Floats

    @property
    def ratio(self) -> Floats:
        """q / (S + 2 r): a candidate helps if it exceeds one."""
        q, least = self.quality * (self.quality - self.pull), self.sparsity + 2.0 * self.rate
        return np.divide(q, least, out=np.zeros_like(q), where=self.sparsity > 0.0)

    def precisions(self, some: Indices) -> Floats:
        """Return the best precisions of candidates that help, or those for which the penalty is a half."""
        s, q = self.sparsity[some], self.quality[some] * (self.quality[some] - self.pull[some])
        return np.maximum(s**2 / (q - s), 2.0 * self.rate[some])

    def gains(self) -> Floats:
        """Return by how much the score would rise at these precisions, B held; zero if it would not."""
        q = self.quality * (self.quality - self.pull)
        some = ((q > self.sparsity + 2.0 * self.rate) & (self.sparsity > 0.0)).nonzero()[0]
        a, q, s, r = self.precisions(some), q[some], self.sparsity[some], self.rate[some]
        total, gains = a + s, np.zeros(len(self.rate))
        gains[some] = np.maximum(0.5 * (np.log(a / total) + q / total) - r / a, 0.0)
        return gains

    def after(self, candidate: int, cross: Floats, precision: float) -> Scan:
        """Return the same once `candidate` is in; `cross` is Phi'C^-1 phi of it with all candidates."""
        share = cross / (precision + self.sparsity[candidate])
        return Scan(
            np.maximum(self.sparsity - cross * share, 0.0),
            self.quality - share * self.quality[candidate],
            self.pull - share * self.pull[candidate],
            self.rate,
        )


def scan(evaluation: Evaluation, models: list[Laplace], rates: Floats | None = None) -> list[Scan]:
    """Return S, Q, Z and r of all candidates for each model in one pass; the models share rows and weights.

    `rates` are the rates of the candidates, which no model changes, if they are known.
    """
    blocks = [_right_sides(model) for model in models]
    row_weights = [model.curvature for model in models]
    if rates is None:
        row_weights.append(models[0].observations.energy_weights)
    right = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
    products, squares = evaluation.project(right, np.array(row_weights).T)
    if rates is None:
        rates = penalty_rates(models[0].observations, squares[:, -1])
    starts = accumulate((block.shape[1] for block in blocks), initial=0)
    return [
        _scan_of(model, products[:, start : start + block.shape[1]], square, rates)
        for model, start, block, square in zip(models, starts, blocks, squares.T, strict=False)
    ]


def _right_sides(model: Laplace) -> Floats:
    """Return what candidates are multiplied with: the residual, rho o h - B Phi u, and B Phi."""
    out = np.empty((len(model.columns), 2 + model.columns.shape[1]), order="F")
    weighted = np.multiply(model.curvature[:, None], model.columns, out=out[:, 2:])
    out[:, 0] = model.residual
    out[:, 1] = model.third_order - weighted @ model.pull
    return out


def _scan_of(model: Laplace, product: Floats, squares: Floats, rates: Floats) -> Scan:
    cover = product[:, 2:] @ model.root.T
    sparsity = squares - np.einsum("mj,mj->m", cover, cover)
    sparsity[sparsity <= COVERED * squares] = 0.0
    return Scan(sparsity, product[:, 0].copy(), product[:, 1].copy(), rates)

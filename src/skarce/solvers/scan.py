r"""What every candidate would do for a Laplace approximation, in one pass over the candidates for all classes.

With :math:`C^{-1} = B - B\Phi H^{-1}\Phi^TB` a candidate :math:`\varphi` has

.. math:: S = \varphi^TC^{-1}\varphi, \quad Q = \varphi^T(t - g), \quad Z = \varphi^T(\rho\circ h - B\Phi u),

and the evidence grows with its prior variance, at zero, by :math:`\tfrac12(Q(Q - Z) - S)`. With B held (and Z in proportion to the
weight) the best precision is :math:`S^2/(q - S)` with :math:`q = Q(Q - Z)`, and the gain :math:`(q/S - 1 - \log(q/S))/2`.
(Tipping and Faul 2003, without Z.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skarce._typing import Floats
from skarce.basis.candidates import Evaluation
from skarce.solvers.laplace import Laplace

COVERED = 1e-9  # the share of phi'B phi below which a candidate lies in the span of the model to within rounding


class Scan(NamedTuple):
    """S, Q and Z of every candidate, each of shape (n_candidates,)."""

    sparsity: Floats
    quality: Floats
    pull: Floats

    @property
    def ratio(self) -> Floats:
        """q / S: a candidate helps where it exceeds one."""
        q = self.quality * (self.quality - self.pull)
        return np.divide(q, self.sparsity, out=np.zeros_like(q), where=self.sparsity > 0.0)

    def gains(self) -> Floats:
        """By how much the evidence would rise, B held; zero where it would not."""
        ratio = np.maximum(self.ratio, 1.0)
        return 0.5 * (ratio - 1.0 - np.log(ratio))

    def precision(self, candidate: int) -> float:
        """The best precision of a candidate that helps."""
        return float(self.sparsity[candidate] / (self.ratio[candidate] - 1.0))

    def after(self, candidate: int, cross: Floats, precision: float) -> Scan:
        """The same once `candidate` is in; `cross` is Phi'C^-1 phi of it with all candidates."""
        share = cross / (precision + self.sparsity[candidate])
        return Scan(
            np.maximum(self.sparsity - cross * share, 0.0),
            self.quality - share * self.quality[candidate],
            self.pull - share * self.pull[candidate],
        )


def scan(evaluation: Evaluation, models: list[Laplace]) -> list[Scan]:
    """S, Q and Z of all candidates for each of the models, in one pass."""
    blocks = [_right_sides(model) for model in models]
    curvatures = np.stack([model.curvature for model in models], axis=1)
    products, squares = evaluation.project(np.concatenate(blocks, axis=1), curvatures)
    ends = np.cumsum([block.shape[1] for block in blocks])[:-1]
    return [
        _scan_of(model, product, square)
        for model, product, square in zip(models, np.split(products, ends, axis=1), squares.T, strict=True)
    ]


def _right_sides(model: Laplace) -> Floats:
    """What candidates are multiplied with: t - g, rho o h - B Phi u, and B Phi."""
    weighted = model.curvature[:, None] * model.columns
    pulled = model.third_order - weighted @ model.pull
    return np.column_stack([model.residual, pulled, weighted])


def _scan_of(model: Laplace, product: Floats, squares: Floats) -> Scan:
    cover = product[:, 2:] @ model.root.T
    sparsity = squares - np.einsum("mj,mj->m", cover, cover)
    sparsity[sparsity <= COVERED * squares] = 0.0
    return Scan(sparsity, product[:, 0].copy(), product[:, 1].copy())

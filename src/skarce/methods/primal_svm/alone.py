r"""The best weight of one more function if no other weight moves.

With the margins :math:`t_if_i` so far and :math:`a_i = t_i\varphi_i`, a weight w changes the objective to

.. math:: \tfrac C2\sum_ic_i\max(0, s_i - wa_i)^2 + pw + \tfrac12k_{\varphi\varphi}w^2, \qquad s_i = 1 - t_if_i,

where p is the pull of the penalty, K between the function and those in the model, times their weights. Candidates are tried one by
one, because the rows of one candidate fit into the cache of a processor, and those of 59 do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._typing import Floats

STEPS_ALONE = 3  # Newton steps of one weight while candidates are compared


@dataclass(frozen=True)
class Shortages:
    """How far rows are from the margin.

    Parameters
    ----------
    signs : array of shape (n_rows,)
        The labels t, -1 and 1.
    short : array of shape (n_rows,)
        1 - t f. It is negative beyond the margin.
    counts : array of shape (n_rows,)
        C times the weight of each row.
    """

    signs: Floats
    short: Floats
    counts: Floats

    def best_alone(self, functions: Floats, pull: Floats, own: Floats) -> tuple[Floats, Floats]:
        """Return the best weight of each function, shape (n_rows, n_functions), and by how much it lowers the objective."""
        rows = np.ascontiguousarray(functions.T)
        found = [self._alone(*one) for one in zip(rows, pull.tolist(), own.tolist(), strict=True)]
        weights, after = np.array(found).reshape(-1, 2).T
        return weights, self._loss(self.short) - after

    def _alone(self, function: Floats, pull: float, own: float) -> tuple[float, float]:
        """Return the weight, and the objective there."""
        reach = self.signs * function
        counted = self.counts * reach
        squared, weight = counted * reach, 0.0
        for _ in range(STEPS_ALONE):
            left = np.maximum(self.short - weight * reach, 0.0)
            weight += (counted @ left - pull - own * weight) / (squared @ (left > 0.0) + own)
        return weight, self._loss(self.short - weight * reach) + pull * weight + 0.5 * own * weight**2

    def _loss(self, short: Floats) -> float:
        left = np.maximum(short, 0.0)
        return 0.5 * float((self.counts * left) @ left)

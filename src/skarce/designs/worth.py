"""How much rows are worth: what sample weights mean, and how many observations dependent rows are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skarce._typing import Floats

if TYPE_CHECKING:
    from skarce.designs.design import Rows

LEAST_EFFECTIVE = 2.0  # observations; with a constant, one is left to tell the noise


class Worth(NamedTuple):
    """What the parameters `weights` and `effective_samples` of an estimator ask for.

    Attributes
    ----------
    is_relative : bool
        Whether only ratios of sample weights matter. Rows of positive weight then have mean one.
    n_effective : float or None
        How many observations all rows are worth together. A number below one is a share. None is the sum of the weights.
    needs_order : bool
        Whether the rows are to say how many observations they are worth, so that they must be in memory and in order.
    counts_rows : bool
        Whether N is the number of rows of positive weight. If not, it is the sum of the weights. Exposures of counts have units,
        so that their sum is no number of observations.
    """

    is_relative: bool = False
    n_effective: float | None = None
    needs_order: bool = False
    counts_rows: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether weights stay as they are."""
        return not self.is_relative and self.n_effective is None and not self.needs_order

    def share(self, n_counted: float) -> float:
        """Return the worth of a row that depends on its neighbors, if all rows count as `n_counted` observations."""
        if self.n_effective is None:
            return 1.0
        return self.n_effective if self.n_effective < 1.0 else self.n_effective / n_counted

    def factor(self, total: float, n_rows: int) -> float:
        """Return the factor on the weights of `n_rows` rows of positive weight, if the weights add up to `total`."""
        to_mean_one = n_rows / total if self.is_relative else 1.0
        return to_mean_one * self.share(float(n_rows) if self.counts_rows else total * to_mean_one)

    def of_dependent(self, rows: Rows) -> Rows:
        """Return rows whose weights are counts already, worth as many observations as they are."""
        if self.n_effective is None:
            return rows
        weights = rows.row_weights
        share = self.share(float(np.count_nonzero(weights)) if self.counts_rows else float(weights.sum()))
        learning = rows.for_widths
        for_widths = None if learning is None else learning._replace(weights=share * learning.row_weights)
        return rows._replace(weights=share * weights, for_widths=for_widths, share=share)


def with_mean_one(weights: Floats) -> Floats:
    """Return relative weights, of which one is positive, such that those of positive weight have mean one."""
    weights = weights / weights.max()
    return weights / weights[weights > 0.0].mean()

"""Rows that are not kept, but can be read again: sums over them are passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from skarce._device import namespace
from skarce.designs.design import Design
from skarce.likelihoods import Likelihood, Observations
from skarce.moments import Moments, Sums
from skarce.moments.passes import Center, check_candidates

if TYPE_CHECKING:
    from skarce.designs.latent_stream import Spread


class HasPasses(Design):
    """Adds what latent functions need. A subclass writes `total`, and sets `n_rows`."""

    has_passes: ClassVar[bool] = True
    n_rows: int
    _spread: Spread | None = None

    @property
    def has_all_rows(self) -> bool:
        """Whether the sample holds all rows, so that they are in memory after all."""
        return len(self.rows.targets) == self.n_rows

    def set_spread(self, spread: Spread) -> None:
        """Keep what a first pass has found."""
        if not spread.total > 0.0:
            raise ValueError("there are no rows of positive weight.")
        self._spread = spread

    def observations(self, output: int, likelihood: Likelihood) -> Observations:
        """Return the targets of one output in the sample, with the level of all rows as soon as it is known."""
        if self._spread is None or not self.fit_intercept:
            return super().observations(output, likelihood)
        mean, total = self._spread.target_means[output], self._spread.total
        targets, weights = self.rows.targets[:, output], self.rows.weights
        likelihood.check_targets(np.append(targets, float(mean > 0.0)))  # an event elsewhere counts
        counts = np.ones(len(targets)) if weights is None else weights
        return Observations(likelihood, targets, counts, likelihood.level(np.array([mean]), np.array([total])))

    def _moments_of(self, sums: Sums, there: Any = None) -> list[Moments]:
        """Return one `Moments` for each output from sums over all rows, and keep the center.

        `there` is the Gram matrix of the sums on a device.
        """
        check_candidates(sums.raw_squares, self.n_samples, lambda: (self.candidates.on(self.rows.X),))
        about_mean = self.fit_intercept
        self._center = Center(sums.candidate_means * about_mean, sums.target_means * about_mean)
        return sums.moments(about_mean=about_mean, there=there)


def coded(rows: Any, codes: Any, factor: float) -> Any:
    """Return a checked block with numbers in place of labels, and its weights times a factor."""
    rows = rows if codes is None else codes.of(rows)
    if factor == 1.0:
        return rows
    weights = namespace(rows.targets).ones_like(rows.targets[:, 0]) if rows.weights is None else rows.weights
    return rows._replace(weights=factor * weights)

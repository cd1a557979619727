r"""All observations at once, expanded to second order about a latent function. A pass over the rows makes the expansion.

With the constant b and all weights in :math:`\theta`, the log likelihood near :math:`\theta_0` is a quadratic, that of a few rows
with normal noise (see `after`). The log determinant of a Laplace approximation moves with the latent function too, through the
curvature of the likelihood: by :math:`\tfrac12c^T(\theta - \theta_0)` with :math:`c = \Phi^T(\rho\circ h)`. Both together make the
slopes of the evidence at :math:`\theta_0` what they are for the rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skarce._typing import Floats
from skarce.likelihoods.after import ObservationsAfter
from skarce.likelihoods.likelihood import Slopes


@dataclass(frozen=True)
class ExpandedObservations(ObservationsAfter):
    """Rows that stand for all observations, and then one row for each candidate that says how large it is.

    Attributes
    ----------
    energies : sum of c phi^2 of each candidate over all observations, shape (n_candidates,)
    total : the sum of all weights
    value : the log likelihood where it was expanded
    expanded_at : the latent function there at the rows of the past, from the level
    pull : v with R'v = c, shape (n_past,)
    """

    energies: Floats = field(default_factory=lambda: np.empty(0))
    total: float = 0.0
    value: float = 0.0
    expanded_at: Floats = field(default_factory=lambda: np.empty(0))
    pull: Floats = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.past.targets) + len(self.energies)

    @property
    def columns(self) -> Floats:
        """All candidates at these rows."""
        sizes = np.sqrt(self.energies * (len(self.energies) / self.total))
        return np.vstack([self.past.candidates, np.diag(sizes)])

    @property
    def constant(self) -> Floats:
        return self._extended(self.past.constant)

    @property
    def energy_weights(self) -> Floats:
        n = len(self.energies)
        return np.concatenate([np.zeros(len(self.past.targets)), np.full(n, self.total / n)])

    def log_likelihood(self, latent: Floats) -> float:
        """Return the quadratic."""
        rest, before = self.past_targets - latent[: len(self.past.targets)], self.past_targets - self.expanded_at
        return self.value - 0.5 * float(rest @ rest - before @ before)

    def slopes(self, latent: Floats) -> Slopes:
        n = len(self.past.targets)
        ones = self._extended(np.ones(n))
        return Slopes(self._extended(self.past_targets - latent[:n]), ones, np.zeros(len(self)))

    @cached_property
    def largest_curvature(self) -> Floats:
        return self._extended(np.ones(len(self.past.targets)))

    @cached_property
    def tilt(self) -> Floats:  # type: ignore[override]
        return self._extended(self.pull)

    def tilted(self, latent: Floats) -> float:
        """Return -c'(theta - theta_0)/2."""
        return -0.5 * float(self.pull @ (latent[: len(self.past.targets)] - self.expanded_at))

    def _extended(self, values: Floats) -> Floats:
        return np.concatenate([values, np.zeros(len(self.energies))])

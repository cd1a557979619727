"""Single rows that came after sums were made, and are not yet part of their Gram matrix.

To add one row to the Gram matrix of d candidates takes d^2 operations, and twice that to keep the old matrix for the case that
something fails. So rows are kept as they come, about the mean of all rows before them, and are added together later. They are kept
in a form that adds up without differences: a row x after n others adds n / (n + 1) (x - mean)(x - mean)' to the second moments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._typing import Floats
from skarce.moments.sums import Sums


@dataclass(frozen=True)
class RecentRows:
    """Rows with one target that came one at a time, each weighing 1 when it came.

    Attributes
    ----------
    n_samples : float
        The total weight of all rows, older ones included.
    candidate_means : array of shape (n_candidates,)
        Means of the candidates over all rows.
    target_mean : float
        Mean of the target over all rows.
    kept : float
        What is left of the weight of the older rows.
    deviations : tuple of arrays of shape (n_candidates,)
        For each recent row, what it was away from the means before it, times the root of what it adds.
    target_deviations : tuple of float
        The same for the target.
    births : tuple of float
        `kept` at the time when each recent row came.
    """

    n_samples: float
    candidate_means: Floats
    target_mean: float
    kept: float = 1.0
    deviations: tuple[Floats, ...] = ()
    target_deviations: tuple[float, ...] = ()
    births: tuple[float, ...] = ()

    @classmethod
    def after(cls, sums: Sums) -> RecentRows:
        """Return that no row came after these sums of one target."""
        return cls(sums.n_samples, sums.candidate_means, float(sums.target_means[0]))

    def __len__(self) -> int:
        return len(self.deviations)

    def with_row(self, candidates: Floats, target: float, forgetting: float = 1.0) -> RecentRows:
        """Return these rows and one more. The weight of all others is multiplied by `forgetting` first."""
        before, kept = forgetting * self.n_samples, forgetting * self.kept
        total = before + 1.0
        away, target_away, root = candidates - self.candidate_means, target - self.target_mean, (before / total) ** 0.5
        return RecentRows(
            total,
            self.candidate_means + away * (1.0 / total),
            self.target_mean + target_away / total,
            kept,
            (*self.deviations, away * root),
            (*self.target_deviations, target_away * root),
            (*self.births, kept),
        )

    def added_to(self, sums: Sums) -> Sums:
        """Return new sums of the older rows and these."""
        if not len(self):
            return sums
        roots = np.sqrt(self.kept / np.array(self.births))
        rows, targets = np.array(self.deviations) * roots[:, None], np.array(self.target_deviations) * roots
        gram = rows.T @ rows
        gram += sums.gram if self.kept == 1.0 else self.kept * sums.gram
        return Sums(
            self.n_samples,
            self.candidate_means,
            np.array([self.target_mean]),
            gram,
            self.kept * sums.projections + (targets @ rows)[:, None],
            self.kept * sums.target_energies + targets @ targets,
            sums.made_with,
        )

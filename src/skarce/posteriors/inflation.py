"""Generalized cross validation in which each degree of freedom counts more than once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from skarce.posteriors.posterior import Posterior


def inflated(posteriors: Iterable[Posterior], inflation: float, times_counted: float = 1.0) -> float:
    """Return GCV, summed over outputs, with each used degree of freedom counted `inflation` times.

    With V = N q / v^2 and noise variance q / v, v is N noise / V. A row that is counted several times (by its weight, or because it
    repeats another row) is only one degree of freedom.

    Parameters
    ----------
    posteriors : iterable of Posterior
        One posterior for each output, chosen by GCV.
    inflation : float
        How often each used degree of freedom counts.
    times_counted : float
        How often each distinct row is counted, on average.
    """
    total = 0.0
    for posterior in posteriors:
        n, value = posterior.n_samples, posterior.criterion
        if value == 0.0 and not len(posterior.active):  # a target that does not vary has nothing to fit
            continue
        freedom = n * posterior.noise_variance / value if value > 0.0 else n - posterior.fit_intercept - len(posterior.active)
        n_distinct = n / times_counted
        left = n_distinct - posterior.fit_intercept - inflation * (n - posterior.fit_intercept - freedom)
        total += value * (freedom / n * n_distinct / left) ** 2 if left > 0.0 else np.inf
    return total

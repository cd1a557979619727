r"""How many observations dependent rows are worth: by the autocorrelation of the residuals of a model.

A weight is as uncertain as the sum over rows of residuals e times a function. If the autocorrelation of residuals at a distance of
k rows is :math:`\rho_k`, the variance of such a sum is at most :math:`\tau` times that for independent residuals,

.. math:: \tau = \max_\omega\Big(1 + 2\sum_{k\ge1}\rho_k\cos\omega k\Big),

the largest value of their spectral density. So N rows are worth at least :math:`N/\tau` observations, whatever the function. Slow
residuals have it at :math:`\omega = 0`, where it is the integrated autocorrelation time. Residuals of derivatives have it
elsewhere: they add up to nothing in slow functions, but not in those that vary as they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from skarce._parallel import slices
from skarce._typing import Floats
from skarce.designs import Problem
from skarce.designs.worth import LEAST_EFFECTIVE

WINDOW = 6.0  # times the result: an exponential decay is cut where it has come down to exp(-12)
GROWTH = 1.1  # of the window, from one try to the next
FINE = 8  # frequencies for each autocorrelation that counts
ROUNDING = 1e-12  # a series that varies by a smaller share of its size does not vary
EXACT = 1e-10  # residuals below this share of the target are rounding errors, which follow the functions
FEW, FEW_SHARE = 10.0, 0.1  # observations, and the share of the rows: if no more are left, the user should know
ROWS_AT_A_TIME = 16_384  # whose active functions are evaluated together


class Dependence(NamedTuple):
    """How residuals depend on each other.

    Attributes
    ----------
    time : the largest value of their spectral density, relative to white noise
    period : after how many rows the function repeats that has it; infinite if it does not
    """

    time: float
    period: float

    def n_effective(self, n_samples: float) -> float:
        """Return how many of `n_samples` observations are left."""
        return max(n_samples / self.time, min(LEAST_EFFECTIVE, n_samples))

    def doubt(self, n_samples: float) -> str:
        """Return a warning if so few observations are left that the residuals seem to hold a part of the signal, or nothing."""
        left = self.n_effective(n_samples)
        if left >= FEW or left > FEW_SHARE * n_samples:
            return ""
        how = f"repeat after about {self.period:.3g} rows" if self.period < n_samples / 2 else "vary slowly"
        return (
            f'effective_samples="auto" takes {n_samples:.4g} rows for {left:.2g} observations: residuals of a first fit '
            f"{how}. If this is a part of the signal, add inputs that follow it. If not, pass a number of observations."
        )


def dependence_of_rows(problems: Sequence[Problem], posteriors: Sequence[Any]) -> Dependence:
    """Return how much the residuals of a model depend on each other.

    The rows are in order of time. The target whose residuals depend most decides, because all targets share the rows.
    """
    weights = problems[0].design.rows.row_weights
    return max(dependence(_told_residuals(*pair), weights) for pair in zip(problems, posteriors, strict=True))


def _told_residuals(problem: Problem, posterior: Any) -> Floats:
    """Return the residuals, or none if they are rounding errors of the target."""
    residuals, targets = pearson_residuals(problem, posterior), problem.design.rows.targets[:, problem.output]
    is_exact = problem.likelihood.has_moments and np.abs(residuals).max() <= EXACT * np.abs(targets).max()
    return np.zeros(len(residuals)) if is_exact else residuals


def pearson_residuals(problem: Problem, posterior: Any) -> Floats:
    """Return target minus prediction for every row, in standard deviations of the target if these differ between rows."""
    design, likelihood = problem.design, problem.likelihood
    evaluation, residuals = design.candidates.on(design.rows.X), design.rows.targets[:, problem.output].copy()
    for rows in slices(len(residuals), ROWS_AT_A_TIME):
        phi = evaluation.columns(posterior.active, rows)
        latent = posterior.predict(phi)
        uncertainty = np.zeros(len(latent)) if likelihood.has_moments else posterior.variance(phi)
        scale = np.sqrt(np.maximum(likelihood.variance(latent, uncertainty), np.finfo(float).tiny))
        residuals[rows] = (residuals[rows] - likelihood.mean(latent, uncertainty)) / scale
    return residuals


def autocorrelation_time(series: Floats, weights: Floats | None = None) -> float:
    r"""Return the largest spectral density of a series relative to white noise, from 1 to the length of the series.

    Autocorrelations far apart are noise, and there are many of them. So those at k rows are multiplied by
    :math:`(1 + \cos(\pi k/m))/2` (Tukey's window), and those beyond m rows do not count. The width m of the window is the smallest
    that is `WINDOW` times the result (a self-consistent window, Sokal 1997).

    Parameters
    ----------
    series : ndarray of shape (n_rows,)
        Numbers in order of time.
    weights : ndarray of shape (n_rows,), default=None
        Sample weights. A pair of rows counts by the geometric mean of its weights. Rows of weight zero are left out.

    References
    ----------
    Blackman, R. B. and Tukey, J. W. (1958). The Measurement of Power Spectra. Dover.

    Sokal, A. (1997). Monte Carlo methods in statistical mechanics: foundations and new algorithms. In: Functional Integration.
    """
    return dependence(series, weights).time


def dependence(series: Floats, weights: Floats | None = None) -> Dependence:
    """Return the same, and the period of the largest spectral density."""
    correlations = autocorrelations(series, np.ones(len(series)) if weights is None else weights)
    width, strongest = 1.0, Dependence(1.0, np.inf)
    while width < min(WINDOW * strongest.time, float(len(correlations))):
        width *= GROWTH
        strongest = max(largest_density(correlations, width), Dependence(1.0, np.inf))
    return strongest._replace(time=min(strongest.time, float(max(len(series), 1))))


def largest_density(correlations: Floats, width: float) -> Dependence:
    """Return the largest spectral density by the autocorrelations within Tukey's window of this width, and its period."""
    kept = correlations[: int(np.ceil(width))]
    tapered = kept * 0.5 * (1.0 + np.cos(np.pi * np.arange(len(kept)) / width))
    length = next_fast_len(FINE * len(kept))
    density = 2.0 * rfft(tapered, length).real - tapered[0]
    place = int(density.argmax())
    return Dependence(float(density[place]), length / place if place else np.inf)


def autocorrelations(series: Floats, weights: Floats) -> Floats:
    """Return the autocorrelation of the rows of positive weight at every distance, from 0 on.

    Rows have fewer others at large distances, which count as if they were zero. It is empty if the series does not vary.
    """
    counts = weights > 0.0
    series, weights = series[counts], weights[counts]
    if not len(series):
        return series
    root = np.sqrt(weights)
    centered = root * (series - np.average(series, weights=weights))
    largest = float(np.abs(centered).max())
    if not largest > ROUNDING * float(np.abs(root * series).max()):
        return np.empty(0)
    products = _self_products(centered / largest)
    return products / products[0]


def _self_products(series: Floats) -> Floats:
    """Return the sums of products of a series with itself, moved by 0, 1, ... rows."""
    length = next_fast_len(2 * len(series))
    spectrum = rfft(series, length)
    return np.asarray(irfft(spectrum * np.conj(spectrum), length)[: len(series)])

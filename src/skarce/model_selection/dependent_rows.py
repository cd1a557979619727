r"""How many observations dependent rows are worth: by the autocorrelation of the residuals of a model.

The mean of N numbers in order of time, whose autocorrelation at a distance of k rows is :math:`\rho_k`, is as uncertain as that of
:math:`N/\tau` independent ones, with the integrated autocorrelation time :math:`\tau = 1 + 2\sum_{k\ge1}\rho_k`. So are sums over
rows of residuals times a function, if the function changes more slowly than the residuals do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from skarce._parallel import slices
from skarce._typing import Floats
from skarce.designs import Problem
from skarce.designs.worth import LEAST_EFFECTIVE

ROWS_AT_A_TIME = 16_384  # whose active functions are evaluated together


def effective_samples(problems: Sequence[Problem], posteriors: Sequence[Any], n_samples: float) -> float:
    """Return how many of `n_samples` observations are left if the residuals of a model depend on each other.

    The rows are in order of time. The target whose residuals depend most decides, because all targets share the rows.
    """
    weights = problems[0].design.rows.row_weights
    times = [autocorrelation_time(pearson_residuals(*pair), weights) for pair in zip(problems, posteriors, strict=True)]
    return max(n_samples / max(times), min(LEAST_EFFECTIVE, n_samples))


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
    r"""Return the integrated autocorrelation time of a series, from 1 (independent) to the length of the series.

    Autocorrelations far apart are noise, and there are many of them. So the sum ends by itself: with the sums of two neighbors
    :math:`\Gamma_k = \rho_{2k} + \rho_{2k+1}`, it is :math:`\tau = 2\sum_k\Gamma_k - 1` over all before the first that is not
    positive, and none of them counts for more than the one before it (the initial monotone sequence of Geyer 1992, section 3.3).
    If autocorrelations turn negative, as those of derivatives do, what is positive before counts.

    Parameters
    ----------
    series : ndarray of shape (n_rows,)
        Numbers in order of time.
    weights : ndarray of shape (n_rows,), default=None
        Sample weights. Pairs of rows count by the geometric mean of their weights. A row of weight zero keeps its place in time.

    References
    ----------
    Geyer, C. J. (1992). Practical Markov chain Monte Carlo. Statistical Science 7, 473-483.
    """
    correlations = autocorrelations(series, np.ones(len(series)) if weights is None else weights)
    pairs = correlations[: len(correlations) // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(~(pairs > 0.0))
    positive = pairs[: ends[0]] if len(ends) else pairs
    time = 2.0 * float(np.minimum.accumulate(positive).sum()) - 1.0 if len(positive) else 1.0
    return min(max(time, 1.0), float(max(len(series), 1)))


def autocorrelations(series: Floats, weights: Floats) -> Floats:
    """Return the autocorrelation at every distance, from 0 on, less the further the rows are apart: it is times 1 - k/n.

    It is empty if the series does not vary. Correlations are means over the pairs of rows that have weight.
    """
    n, total = len(series), float(weights.sum())
    root = np.sqrt(weights)
    centered = series - (weights @ series / total if total > 0.0 else 0.0)
    largest = float(np.abs(root * centered).max(initial=0.0))
    if not largest > 1e-12 * float(np.abs(root * series).max(initial=0.0)):
        return np.empty(0)
    products, n_pairs = _self_products(root * (centered / largest)), _self_products(root / root.max())
    has_pairs = n_pairs > 0.5 * n_pairs[0] / n
    means = np.divide(products, n_pairs, out=np.zeros(n), where=has_pairs)
    return means / means[0] * (1.0 - np.arange(n) / n)


def _self_products(series: Floats) -> Floats:
    """Return the sums of products of a series with itself, moved by 0, 1, ... rows."""
    length = next_fast_len(2 * len(series))
    spectrum = rfft(series, length)
    return np.asarray(irfft(spectrum * np.conj(spectrum), length)[: len(series)])

"""In which order functions of a fitted model can be left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._linalg import symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.posteriors.latent import LatentPosterior


def elimination_order(posteriors: list[Any], places: list[Indices], n_functions: int) -> Indices:
    """Return the functions of a model, the first one to leave first.

    Each step leaves out the function whose removal costs least: w_j^2 / C_jj, where w are the weights and C is their covariance.
    Costs of several targets or classes are added up. The other weights are then solved again.
    """
    means = [np.array(posterior.mean, dtype=np.float64) for posterior in posteriors]
    covariances = [_covariance(posterior) for posterior in posteriors]
    left, order = np.ones(n_functions, dtype=bool), []
    for _ in range(n_functions):
        costs = np.where(left, 0.0, np.inf)
        for mean, covariance, own in zip(means, covariances, places, strict=True):
            costs[own] += _costs(mean, covariance)
        worst = int(np.argmin(costs))
        for mean, covariance, own in zip(means, covariances, places, strict=True):
            _remove(mean, covariance, np.flatnonzero(own == worst))
        left[worst] = False
        order.append(worst)
    return np.array(order, dtype=np.intp)


def _covariance(posterior: Any) -> Floats:
    if isinstance(posterior, LatentPosterior):
        return posterior.covariance
    return (posterior.noise_variance or 1.0) * symmetric_inverse(posterior.factor)


def _costs(mean: Floats, covariance: Floats) -> Floats:
    variances = covariance.diagonal()
    return np.divide(mean**2, variances, out=np.zeros(len(mean)), where=variances > 0.0)


def _remove(mean: Floats, covariance: Floats, places: Indices) -> None:
    """Solve weights and covariance again without a function, which then has weight and variance 0."""
    for place in places:
        variance = covariance[place, place]
        if variance > 0.0:
            column = covariance[:, place].copy()
            mean -= column * (mean[place] / variance)
            covariance -= np.outer(column, column / variance)
        mean[place] = 0.0
        covariance[place] = covariance[:, place] = 0.0

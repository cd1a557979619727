"""Rules for kernel widths: "scale" and "median" from the inputs alone, and which widths "learned" learns.

A row of weight 2 counts like two rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._typing import Floats

MOST_OWN_WIDTHS = 100  # gamma="learned" learns one width for each of up to this many inputs, and one for all of more inputs
LEARNING_ROWS = 500  # gamma="learned" learns from at most this many rows
FLATNESS = 5.0  # strength of its prior against kernels that are the same number at all rows
MEDIAN_ROWS = 2000  # the median is taken over the pairs of at most this many rows


def learned_rule(gamma: str, n_features: int) -> str:
    """Return the rule by which widths are learned: one for each input (``"ard"``), or one for all (``"evidence"``)."""
    if gamma != "learned":
        return gamma
    return "ard" if n_features <= MOST_OWN_WIDTHS else "evidence"


def quick_options(learning: dict[str, Any]) -> dict[str, Any]:
    """Return how ``gamma="learned"`` learns, given the options of an estimator.

    It maximizes the evidence of a Gaussian process: this is quicker than that of the weights, sparse models predict as well, and it
    does not depend on the centers, so methods can share what was learned. Only a given prior of the weights needs the weights.
    """
    has_prior = learning.get("weight_variance") is not None
    covariance = "weights" if has_prior else "kernel"
    return {"max_rows": LEARNING_ROWS, "covariance": covariance, "flatness": FLATNESS}


def scale_gamma(X: Floats, weights: Floats | None, absolute: bool = False) -> float:
    """Return 1 / (n_features * variance of all entries), as scikit-learn's support vector machines do; 1 if X is constant.

    For a kernel of absolute differences it is 1 / (n_features * standard deviation), so that units of X do not matter there either.
    """
    shares = None if weights is None else np.repeat(weights[:, None], X.shape[1], axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.average(X, weights=shares)
        variance = float(np.average((X - mean).astype(np.float64) ** 2, weights=shares))
    if not np.isfinite(variance):
        raise ValueError("X is so large that its variance overflows. Scale the inputs, for instance with StandardScaler.")
    return 1.0 / (X.shape[1] * (np.sqrt(variance) if absolute else variance)) if variance > 0.0 else 1.0


def median_gamma(X: Floats, weights: Floats | None, rng: np.random.RandomState, absolute: bool = False) -> float:
    """Return 1 / (median squared distance, or sum of absolute differences, between rows that differ); 1 if all are equal."""
    from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances  # slow to import

    rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0.0)
    if len(rows) > MEDIAN_ROWS:
        rows = np.sort(rng.choice(rows, MEDIAN_ROWS, replace=False))
    values = X[rows].astype(np.float64)
    squares = manhattan_distances(values) if absolute else euclidean_distances(values, squared=True)
    upper = np.triu_indices(len(rows), 1)
    distances = squares[upper]
    shares = np.ones(len(distances)) if weights is None else (weights[rows][upper[0]] * weights[rows][upper[1]])
    apart = distances > 1e-12 * float(distances.max(initial=0.0))
    if not apart.any():
        return 1.0
    return 1.0 / _weighted_median(distances[apart], shares[apart])


def _weighted_median(values: Floats, weights: Floats) -> float:
    """Return the smallest value such that values up to it have at least half of the weight."""
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulated, 0.5 * cumulated[-1])])

r"""Targets that lie far from those of similar rows, such as one that has lost its decimal point.

One such target can be worth more to the evidence than all others together, and then the widths are those that explain it. Here it
is noise of its own, if that is more likely: a row is such an outlier with probability 1/n, and the outliers have a normal
distribution about the mean of the other rows, with a variance of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, cholesky, symmetric_inverse
from skarce._typing import Floats, Indices
from skarce.basis.centers import distinct_rows
from skarce.model_selection.far_off import FEWEST_ROWS, far_off
from skarce.model_selection.kernel_slopes import KernelSlopes
from skarce.model_selection.width_data import Data, Scale
from skarce.model_selection.width_objective import Model, Widths

N_NEIGHBORS = 10  # the median of their targets is what is expected


def learned_without_outliers(learn: Callable[[Data], Widths], data: Data, scale: Scale, model: Model) -> Widths:
    """Learn widths from all rows, and without outliers if there seem to be any. Return what is more likely.

    Gross outliers are found before anything is learned, because widths that explain them hide them. The others are those that the
    learned process does not expect.
    """
    found, n_outliers = learn(data), 0
    if not model.learns_noise:  # labels have no outliers
        return found
    for find in (suspects, surprises):
        rows = find(data, scale, found, model)
        if len(rows):
            rest = data.without(rows)
            other = learn(rest)
            if other.log_evidence + log_density(data, rows) > found.log_evidence:
                found, data, n_outliers = other, rest, n_outliers + len(rows)
    return replace(found, n_outliers=n_outliers)


def suspects(data: Data, scale: Scale, found: Widths, model: Model) -> Indices:
    """Return the rows whose target, in any column, is far from the median of its neighbors' targets."""
    from sklearn.neighbors import NearestNeighbors  # slow to import

    if len(data.X) < FEWEST_ROWS:
        return np.empty(0, dtype=np.intp)
    nearest = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(scale.inputs(data.X)).kneighbors(return_distance=False)
    return far_off(data.targets - np.median(data.targets[nearest], axis=1))


def surprises(data: Data, scale: Scale, found: Widths, model: Model) -> Indices:
    """Return rows that are more likely outliers than draws from the learned process, given all other rows."""
    none = np.empty(0, dtype=np.intp)
    if len(data.X) < FEWEST_ROWS or not np.isfinite(found.log_evidence):
        return none
    try:
        errors, variances = left_out_errors(data, scale, found, model)
    except NotPositiveDefiniteError:  # hardly any noise is left, and no outliers
        return none
    rows = far_off(errors)
    if not len(rows):
        return none
    counts = 1.0 if data.weights is None else data.weights[rows, None]
    as_draws = -0.5 * float(np.sum(counts * (np.log(2.0 * np.pi * variances[rows]) + errors[rows] ** 2 / variances[rows])))
    return rows if log_density(data, rows) > as_draws else none


def log_density(data: Data, rows: Indices) -> float:
    """Return the log probability that just these rows are outliers, with the log density of their targets."""
    counts = np.ones(len(data.X)) if data.weights is None else data.weights
    others = np.delete(np.arange(len(data.X)), rows)
    center = np.average(data.targets[others], axis=0, weights=counts[others])
    variances = np.average((data.targets[rows] - center) ** 2, axis=0, weights=counts[rows])
    varies = variances > 0.0  # a constant target has errors of zero, and counts as with variance one in `surprises`, too
    # At the variance of most likelihood, the mean of the squares divided by it is one.
    logs = np.log(2.0 * np.pi * np.where(varies, variances, 1.0)) + varies
    of_targets, share = -0.5 * float(logs.sum()), 1.0 / len(data.X)
    return float(counts[rows].sum() * (of_targets + np.log(share)) + counts[others].sum() * np.log1p(-share))


def left_out_errors(data: Data, scale: Scale, found: Widths, model: Model) -> tuple[Floats, Floats]:
    """Return errors of the predictions of each row from all others, and their variances, both of shape (n_rows, n_outputs).

    With the inverse covariance P of all rows, they are P t / diag(P) and 1 / diag(P) (Rasmussen and Williams, 2006, eq. 5.12). A
    constant with a flat prior makes P the inverse on the contrasts.
    """
    signal, noise = _signal(data, scale, found, model), 1.0 if data.weights is None else 1.0 / data.weights
    errors, variances = np.zeros(data.targets.shape), np.ones(data.targets.shape)
    for output in np.flatnonzero(found.noise_variance > 0.0):
        matrix = signal / found.weight_precision[output]
        matrix.flat[:: len(matrix) + 1] += found.noise_variance[output] * noise
        inverse = symmetric_inverse(cholesky(matrix))
        if model.fit_intercept:
            ones = inverse.sum(axis=1)
            inverse -= np.multiply.outer(ones / ones.sum(), ones)
        variances[:, output] = 1.0 / inverse.diagonal()
        errors[:, output] = inverse @ data.targets[:, output] * variances[:, output]
    return errors, variances


def _signal(data: Data, scale: Scale, found: Widths, model: Model) -> Floats:
    """Return the covariance of the signal, for a weight precision of one."""
    rows, gamma = scale.inputs(data.X), np.broadcast_to(found.gamma, scale.units.shape)
    widths = np.divide(gamma, scale.units, out=np.zeros(len(gamma)), where=scale.units > 0.0)
    centers = rows
    if model.covariance != "kernel":
        centers = rows[distinct_rows(rows)] if data.centers is None else scale.inputs(data.centers)
    phi = KernelSlopes(found.kernel, rows, centers).values_and_slopes(widths)[0]
    return phi if model.covariance == "kernel" else phi @ phi.T

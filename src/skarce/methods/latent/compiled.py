"""The mode of a Laplace approximation in compiled code, for labels and counts and models of a few functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.likelihoods import Bernoulli, Observations, Poisson
from skarce.methods.latent import _mode
from skarce.methods.latent.functions import Functions

KINDS = {Bernoulli: 0, Poisson: 1}  # by the type itself: a subclass may have other slopes
MOST_OPERATIONS = 4e6  # of a Newton step; with more, BLAS on all cores is faster
DEPENDENT = 1  # a status of the compiled code
NOTHING = np.empty(0)


class Mode(NamedTuple):
    """Where the mode is, and what follows from it; see `Laplace`."""

    weights: Floats
    latent: Floats
    residual: Floats
    curvature: Floats
    third: Floats
    factor: Floats
    objective: float


def suits(observations: Observations, columns: Floats) -> bool:
    """Tell whether the compiled code takes these rows, and is the fastest way."""
    n, m = columns.shape
    return type(observations) is Observations and type(observations.likelihood) in KINDS and n * m * (m + 10.0) <= MOST_OPERATIONS


def find_mode(observations: Observations, columns: Floats, precisions: Floats, start: Floats) -> Mode:
    """Return the mode, found from `start`, or from zero if that is better.

    Raise `NotPositiveDefiniteError` if the functions are dependent. `Laplace` takes the same steps in NumPy; the tests compare the
    two.
    """
    n, m = columns.shape
    weights, latent, factor = np.array(start, dtype=np.float64), np.empty(n), np.empty((m, m))
    slopes = np.empty(n), np.empty(n), np.empty(n)
    kind = KINDS[type(observations.likelihood)]
    objective, status = _mode.find_mode(
        *(by_function(columns), np.ascontiguousarray(observations.targets), observations.unequal_weights),
        *(observations.log_targets if kind else NOTHING, np.ascontiguousarray(precisions), weights, latent, *slopes, factor),
        *(kind, observations.level, observations.log_likelihood_at_level - observations.offset),
    )
    if status == DEPENDENT:
        raise NotPositiveDefiniteError("the functions are dependent at the mode, to working precision")
    return Mode(weights, latent, *slopes, factor, observations.offset + objective)


class Settled(NamedTuple):
    """What joint steps have left: the places of the functions, all with the constant, their precisions and weights."""

    places: Indices
    precisions: Floats
    weights: Floats
    converged: bool


def settle(
    observations: Observations,
    functions: Functions,
    rates: Floats,
    precisions: Floats,
    weights: Floats,
    *,
    n_fixed: int,
    tolerance: float,
    max_steps: int,
) -> Settled | None:
    """Take joint steps for all precisions from a mode. Return None if the functions are dependent.

    `steps.settle` takes the same steps in NumPy; the tests compare the two.
    """
    precisions, weights, places = np.array(precisions), np.array(weights), np.empty(len(weights), dtype=np.int64)
    kind = KINDS[type(observations.likelihood)]
    size, converged = _mode.settle(
        *(by_function(functions.columns), np.ascontiguousarray(observations.targets), observations.unequal_weights),
        *(observations.log_targets if kind else NOTHING, rates, functions.largest_curvatures, precisions, weights, places),
        *(kind, observations.level, observations.log_likelihood_at_level - observations.offset, n_fixed, tolerance, max_steps),
    )
    return None if converged < 0 else Settled(places[:size], precisions[:size], weights[:size], bool(converged))


def third_order(columns: Floats, root: Floats, third: Floats) -> tuple[Floats, Floats]:
    """Return rho o h at each row with h_i = |R phi_i|^2, and Phi'(rho o h)."""
    n, m = columns.shape
    out, projections = np.empty(n), np.empty(m)
    _mode.third_order(by_function(columns), np.ascontiguousarray(root), third, out, projections)
    return out, projections


def by_function(columns: Floats) -> Floats:
    """Return functions at rows as an array of shape (n_functions, n_rows) whose rows are contiguous."""
    return np.ascontiguousarray(columns.T)

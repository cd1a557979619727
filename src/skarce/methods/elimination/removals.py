r"""Nested models under one ridge by the penalized error: down from all functions, or up from none (Bo, Wang and Jiao).

With :math:`H = \Phi^T\Phi + \rho I`, :math:`R = H^{-1}` and :math:`w = R\,\Phi^Tt`, the error

.. math:: f = \min_w |t - \Phi w|^2 + \rho|w|^2 = t^Tt - t^T\Phi w

grows by :math:`w_k^2/R_{kk}` when function k is taken out (Theorem 3.1), and then (eqs 3.3, 3.5)

.. math:: R \leftarrow R - R_{:k}R_{k:}/R_{kk}, \qquad w \leftarrow w - (w_k/R_{kk})\,R_{:k}.

This is a pivoted Cholesky factorization of R. Only w and diag R decide which function leaves next, so the subtraction of
:math:`zz^T`, :math:`z = R_{:k}/\sqrt{R_{kk}}`, can wait: a block of them is one matrix product (errata 5.1). Whenever the number of
functions has halved, R is computed again (errata 5.3). Going up is a pivoted Cholesky factorization of H (errata 5.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from skarce._device import namespace, to_device, to_host
from skarce._linalg import (
    cholesky_of_nearly_singular,
    cholesky_of_nearly_singular_on_device,
    inverse_of_lower_on_device,
    with_raised_diagonal,
)
from skarce._parallel import for_each, slices
from skarce._typing import Floats, Indices
from skarce.moments import Gram, Moments, WholeGram
from skarce.moments.gram import block_there

BLOCK = 64  # removals between two updates of the whole matrix R
TILE = 192  # rows of R that one thread updates at a time, so that their part of the product stays in cache
TIE = 1e-12  # increments that differ by less than this share are equal; then the candidate with the smaller index comes first
WEIGHT_ROUNDING = 1e-13  # and so are weights, in units of their spreads, that differ by less than this share of the largest
FALLEN = 1e-8  # a diagonal element of R that has fallen by this factor has lost half of its digits, so R is computed again
WORTH_DEVICE = 1000  # functions; R of fewer is computed on the host before it would be on a device
LEAST_SHRINKAGE = 0.05  # but only after this share of the functions has left since the last time


class Step(NamedTuple):
    """One function leaves or enters.

    Attributes
    ----------
    candidate : int
        The function.
    increment : float
        By how much the error grows (or falls, if the function enters).
    log_determinant : float
        By how much log|I + Phi Phi'/rho| changes.
    weights, spread : ndarray
        The weights and diag R of the model after the step. Their order is arbitrary, and they are valid only until the next step.
    """

    candidate: int
    increment: float
    log_determinant: float
    weights: Floats
    spread: Floats


def removals(gram: Gram, candidates: Indices, projections: Floats, ridge: float, block: int = BLOCK) -> Iterator[Step]:
    """Remove these candidates one at a time, always the one that is missed least, until none is left.

    Parameters
    ----------
    gram : Gram
        Phi'Phi.
    candidates : ndarray of int
        The functions of the full model.
    projections : ndarray
        Phi't of all candidates of the Gram matrix.
    ridge : float
        rho.
    block : int
        Removals between two updates of R. 1 gives the rank-one update of the paper.
    """
    left = candidates
    while len(left):
        inverse = ShrinkingInverse.of(gram, left, projections[left], ridge, block)
        while len(inverse) and not inverse.is_worn():
            yield inverse.remove_least()
        left = np.sort(inverse.members)


def most_missed(gram: Floats, projections: Floats, scales: Floats, ridge: float, n_kept: int) -> Indices:
    """Return the places of the `n_kept` functions that are left after the others were removed one at a time.

    The ridges are ridge / scales^2. This is one common ridge if each function is multiplied by its scale.
    """
    places = np.arange(len(gram))
    steps = removals(WholeGram(gram * np.multiply.outer(scales, scales)), places, scales * projections, ridge)
    gone = [next(steps).candidate for _ in range(len(gram) - n_kept)]
    return np.setdiff1d(places, gone)


def additions(moments: Moments, candidates: Indices, ridge: float) -> Iterator[Step]:
    """Add these candidates one at a time, always the one that lowers the error most, until all are in the model."""
    left = moments.gram.diagonal[candidates] + ridge  # diag H, less what the model covers
    alignment = moments.projections[candidates].copy()  # b - H w
    n = len(candidates)
    cover = np.empty((min(32, n), n))  # rows of L', H = L L'
    inverse = np.zeros((len(cover), len(cover)))  # L^-1, in the order of entry
    weights, spread = np.zeros(n), np.zeros(n)
    is_out = np.ones(n, dtype=bool)
    for size in range(n):
        gains = np.where(is_out, alignment**2 / left, -1.0)
        s = _first(gains >= gains.max() * (1.0 - TIE), candidates)
        if size == len(cover):
            more = min(size, n - size)
            cover, inverse = np.pad(cover, ((0, more), (0, 0))), np.pad(inverse, (0, more))
        row = moments.gram.column(int(candidates[s]))[candidates] - cover[:size, s] @ cover[:size]
        row[s] = pivot = left[s]
        row /= np.sqrt(pivot)
        is_out[s] = False
        explained = alignment[s] / np.sqrt(pivot)
        inverse[size, :size] = cover[:size, s] @ inverse[:size, :size] / -np.sqrt(pivot)
        inverse[size, size] = 1.0 / np.sqrt(pivot)
        weights[: size + 1] += explained * inverse[size, : size + 1]
        spread[: size + 1] += inverse[size, : size + 1] ** 2
        alignment -= explained * row
        left -= row * row
        np.maximum(left, ridge, out=left)  # phi'P phi + rho is at least rho; rounding must not take it below
        cover[size] = row
        yield Step(int(candidates[s]), float(explained**2), float(np.log(pivot / ridge)), weights[: size + 1], spread[: size + 1])


class ShrinkingInverse:
    """R of the functions that are left. The updates of a block of removals are deferred.

    The functions that are left occupy the first places: if one leaves, the last one moves to its place. Only the upper half of R is
    stored.
    """

    def __init__(self, gram: Gram, members: Indices, projections: Floats, ridge: float, block: int) -> None:
        self._least_spread = 1.0 / (float(gram.diagonal[members].max()) + ridge)  # R_kk >= 1 / H_kk
        self._members, self._ridge = members.copy(), ridge
        self._size = self._first_size = len(members)
        self._weights, self._spread = self._invert(gram, projections)
        self._first_spread = self._spread.copy()
        self._updates = np.empty((block, len(members)))
        self._n_updates = 0
        self._has_fallen = False

    @staticmethod
    def of(gram: Gram, members: Indices, projections: Floats, ridge: float, block: int) -> ShrinkingInverse:
        """Return R on the device of the Gram matrix if it has one and R is large, and else on the host."""
        is_there = gram.there is not None and len(members) >= WORTH_DEVICE
        return (InverseOnDevice if is_there else ShrinkingInverse)(gram, members, projections, ridge, block)

    def _invert(self, gram: Gram, projections: Floats) -> tuple[Floats, Floats]:
        """Compute R. Return the weights and diag R."""
        matrix = gram.block(self._members, self._members)
        matrix.flat[:: len(matrix) + 1] += self._ridge
        lower = cholesky_of_nearly_singular(matrix)
        del matrix
        weights, _ = lapack.dpotrs(lower, projections, lower=1)
        inverse, _ = lapack.dpotri(lower, lower=1, overwrite_c=1)
        self._upper = inverse.T
        return weights, inverse.diagonal().copy()

    def __len__(self) -> int:
        return self._size

    @property
    def members(self) -> Indices:
        """The candidates that are left, in no particular order."""
        return self._members[: self._size]

    @property
    def weights(self) -> Floats:
        """Their weights, in the order of `members`."""
        return self._weights[: self._size]

    def is_worn(self) -> bool:
        """Return whether it is time to compute R again."""
        if 2 * self._size <= self._first_size:
            return True
        return self._has_fallen and self._size <= (1.0 - LEAST_SHRINKAGE) * self._first_size

    def remove_least(self) -> Step:
        """Remove the function with the least w^2 / R_kk (eq. 3.2)."""
        size, spread = self._size, self._spread[: self._size]
        weights = self._weights[:size]
        costs = weights * weights
        costs /= spread
        s = _first(costs <= _highest_tie(costs), self.members)
        column = self._column(s)
        pivot = column[s] = max(float(column[s]), self._least_spread)
        weight = float(weights[s])
        weights -= (weight / pivot) * column
        column *= 1.0 / np.sqrt(pivot)
        self._updates[self._n_updates, :size] = column
        self._n_updates += 1
        column *= column
        spread -= column
        candidate = int(self._members[s])
        self._drop(s)
        if self._n_updates == len(self._updates):
            self._update()
        log_determinant = float(np.log(self._ridge * pivot))
        return Step(candidate, weight * weight / pivot, log_determinant, self.weights, self._spread[: self._size])

    def _column(self, s: int) -> Floats:
        """Return R_{:s}, including the deferred updates."""
        column, updates = self._stored_column(s), self._updates[: self._n_updates, : self._size]
        column -= updates[:, s] @ updates
        return column

    def _stored_column(self, s: int) -> Floats:
        """Return a copy of R_{:s} as it was after the last update."""
        return np.concatenate([self._upper[:s, s], self._upper[s, s : self._size]])

    def _drop(self, s: int) -> None:
        last = self._size - 1
        if s < last:
            self._drop_stored(s, last)
            self._updates[: self._n_updates, s] = self._updates[: self._n_updates, last]
            for values in (self._members, self._weights, self._spread, self._first_spread):
                values[s] = values[last]
        self._size = last

    def _drop_stored(self, s: int, last: int) -> None:
        upper = self._upper
        upper[:s, s] = upper[:s, last]
        upper[s, s + 1 : last] = upper[s + 1 : last, last]
        upper[s, s] = upper[last, last]

    def _update(self) -> None:
        """Compute R <- R - Z Z', and check how many digits of its diagonal are left."""
        size = self._size
        self._subtract(self._updates[: self._n_updates, :size])
        self._n_updates = 0
        spread = self._spread[:size]
        np.maximum(spread, self._least_spread, out=spread)
        self._has_fallen = self._has_fallen or bool((spread < FALLEN * self._first_spread[:size]).any())

    def _subtract(self, updates: Floats) -> None:
        """Compute R <- R - Z Z' with the rows of Z'."""
        size = self._size

        def work(rows: slice) -> None:
            self._upper[rows, rows.start : size] -= updates[:, rows].T @ updates[:, rows.start :]

        for_each(work, slices(size, TILE), operations=float(len(updates)) * size * size)


class InverseOnDevice(ShrinkingInverse):
    """The same with R on a device. For each removal, one column is moved to the host, where all vectors are.

    R keeps the functions that have left until the next update.
    """

    def _invert(self, gram: Gram, projections: Floats) -> tuple[Floats, Floats]:
        matrix = block_there(gram.there, self._members)
        lower = cholesky_of_nearly_singular_on_device(with_raised_diagonal(matrix, np.full(self._size, self._ridge)))
        root = inverse_of_lower_on_device(lower)
        self._there, self._places = root.T @ root, np.arange(self._size)
        weights = root.T @ (root @ to_device(projections, root))
        return np.array(to_host(weights)), np.array(to_host(namespace(root).sum(root * root, axis=0)))

    def _stored_column(self, s: int) -> Floats:
        column: Floats = to_host(self._there[int(self._places[s]), :])[self._places[: self._size]]
        return column

    def _drop_stored(self, s: int, last: int) -> None:
        self._places[s] = self._places[last]

    def _subtract(self, updates: Floats) -> None:
        there = to_device(updates, self._there)
        self._there = block_there(self._there, self._places[: self._size]) - there.T @ there
        self._places = np.arange(self._size)


def _highest_tie(costs: Floats) -> float:
    """Return the largest cost that rounding cannot tell from the least: that of a weight next to much larger ones is inexact."""
    least, most = float(costs.min()), float(costs.max())
    return max(least * (1.0 + TIE), float(np.sqrt(least) + WEIGHT_ROUNDING * np.sqrt(most)) ** 2)


def _first(is_best: Floats, candidates: Indices) -> int:
    """Return the one of several equally good places that has the smallest candidate."""
    places = np.flatnonzero(is_best)
    return int(places[0]) if len(places) == 1 else int(places[candidates[places].argmin()])

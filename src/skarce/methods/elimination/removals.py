r"""Nested models under one ridge by the penalised error: down from all functions, or up from none (Bo, Wang and Jiao).

With :math:`H = \Phi^T\Phi + \rho I`, :math:`R = H^{-1}` and :math:`w = R\,\Phi^Tt`, the error

.. math:: f = \min_w |t - \Phi w|^2 + \rho|w|^2 = t^Tt - t^T\Phi w

grows by :math:`w_k^2/R_{kk}` when function k is taken out (Theorem 3.1), and then (eqs 3.3, 3.5)

.. math:: R \leftarrow R - R_{:k}R_{k:}/R_{kk}, \qquad w \leftarrow w - (w_k/R_{kk})\,R_{:k}.

That is a pivoted Cholesky factorisation of R. Which function goes next follows from w and diag R alone, so the subtraction of
:math:`zz^T`, :math:`z = R_{:k}/\sqrt{R_{kk}}`, can wait: a block of them is one matrix product (errata 5.1). Where the number of
functions has halved, R is computed afresh (errata 5.3). Upwards it is a pivoted Cholesky factorisation of H (errata 5.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from skarce._linalg import cholesky_of_nearly_singular
from skarce._parallel import for_each, slices
from skarce._typing import Floats, Indices
from skarce.moments import Gram, Moments, WholeGram

BLOCK = 64  # removals between two looks at the whole of R
TILE = 192  # rows of R that one thread brings up to date at a time, while their part of the product is in cache
TIE = 1e-12  # increments that differ by less than this share are equal, and the candidate with the smaller index goes first
# A diagonal element of R that has fallen by this factor has lost half of its digits: R is computed afresh,
FALLEN = 1e-8
LEAST_SHRINKAGE = 0.05  # but not before so many of the functions have gone since the last time


class Step(NamedTuple):
    """One function out or in.

    By how much the error grows or falls, what log|I + Phi Phi'/rho| changes by, and the model after it: its weights and diag R, in
    no particular order, valid until the next step.
    """

    candidate: int
    increment: float
    log_determinant: float
    weights: Floats
    spread: Floats


def removals(gram: Gram, candidates: Indices, projections: Floats, ridge: float, block: int = BLOCK) -> Iterator[Step]:
    """From these candidates down to none, each time the one that is missed least.

    Parameters
    ----------
    gram : Phi'Phi
    candidates : the functions of the full model
    projections : Phi't of all candidates of the Gram
    ridge : rho
    block : removals between two updates of R; 1 is the rank-one update of the paper
    """
    left = candidates
    while len(left):
        inverse = ShrinkingInverse(gram, left, projections[left], ridge, block)
        while len(inverse) and not inverse.is_worn():
            yield inverse.remove_least()
        left = np.sort(inverse.members)


def most_missed(gram: Floats, projections: Floats, scales: Floats, ridge: float, n_kept: int) -> Indices:
    """Places of the functions that are left when those that are missed least have gone, one after the other.

    The ridges are ridge / scales^2: one for all functions where each is taken `scales` times.
    """
    places = np.arange(len(gram))
    steps = removals(WholeGram(gram * np.multiply.outer(scales, scales)), places, scales * projections, ridge)
    gone = [next(steps).candidate for _ in range(len(gram) - n_kept)]
    return np.setdiff1d(places, gone)


def additions(moments: Moments, candidates: Indices, ridge: float) -> Iterator[Step]:
    """From nothing up to these candidates, each time the one with which the error falls most."""
    left = moments.gram.diagonal[candidates] + ridge  # of H: what those that are in do not cover
    alignment = moments.projections[candidates].copy()  # b - H w
    n = len(candidates)
    cover = np.empty((min(32, n), n))  # rows of L', H = L L'
    inverse = np.zeros((len(cover), len(cover)))  # of L, in the order of entry
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
        np.maximum(left, ridge, out=left)  # phi'P phi + rho is not below rho, whatever rounding says
        cover[size] = row
        yield Step(int(candidates[s]), float(explained**2), float(np.log(pivot / ridge)), weights[: size + 1], spread[: size + 1])


class ShrinkingInverse:
    """R of the functions that are left, with the updates of a block of removals deferred.

    Functions that are left fill the first places: the last one moves to the place of one that goes. Of R the upper half is kept.
    """

    def __init__(self, gram: Gram, members: Indices, projections: Floats, ridge: float, block: int) -> None:
        matrix = gram.block(members, members)
        matrix.flat[:: len(members) + 1] += ridge
        self._least_spread = 1.0 / float(matrix.diagonal().max())  # R_kk >= 1 / H_kk
        lower = cholesky_of_nearly_singular(matrix)
        del matrix
        self._weights, _ = lapack.dpotrs(lower, projections, lower=1)
        inverse, _ = lapack.dpotri(lower, lower=1, overwrite_c=1)
        self._upper = inverse.T
        self._spread = inverse.diagonal().copy()
        self._first_spread = self._spread.copy()
        self._members, self._ridge = members.copy(), ridge
        self._size = self._first_size = len(members)
        self._updates = np.empty((block, len(members)))
        self._n_updates = 0
        self._has_fallen = False

    def __len__(self) -> int:
        return self._size

    @property
    def members(self) -> Indices:
        return self._members[: self._size]

    @property
    def weights(self) -> Floats:
        """In the order of `members`."""
        return self._weights[: self._size]

    def is_worn(self) -> bool:
        """Whether it is time to compute R afresh."""
        if 2 * self._size <= self._first_size:
            return True
        return self._has_fallen and self._size <= (1.0 - LEAST_SHRINKAGE) * self._first_size

    def remove_least(self) -> Step:
        """Take out the function with the least w^2 / R_kk (eq. 3.2)."""
        size, spread = self._size, self._spread[: self._size]
        weights = self._weights[:size]
        costs = weights * weights
        costs /= spread
        s = _first(costs <= costs.min() * (1.0 + TIE), self.members)
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
        """R_{:s}, the deferred updates included."""
        size, updates = self._size, self._updates[: self._n_updates, : self._size]
        column = np.empty(size)
        column[:s] = self._upper[:s, s]
        column[s:] = self._upper[s, s:size]
        column -= updates[:, s] @ updates
        return column

    def _drop(self, s: int) -> None:
        last = self._size - 1
        if s < last:
            upper = self._upper
            upper[:s, s] = upper[:s, last]
            upper[s, s + 1 : last] = upper[s + 1 : last, last]
            upper[s, s] = upper[last, last]
            self._updates[: self._n_updates, s] = self._updates[: self._n_updates, last]
            for values in (self._members, self._weights, self._spread, self._first_spread):
                values[s] = values[last]
        self._size = last

    def _update(self) -> None:
        """R <- R - Z Z', and a look at how many digits are left of its diagonal."""
        size, updates = self._size, self._updates[: self._n_updates, : self._size]

        def work(rows: slice) -> None:
            self._upper[rows, rows.start : size] -= updates[:, rows].T @ updates[:, rows.start :]

        for_each(work, slices(size, TILE), operations=float(self._n_updates) * size * size)
        self._n_updates = 0
        spread = self._spread[:size]
        np.maximum(spread, self._least_spread, out=spread)
        self._has_fallen = self._has_fallen or bool((spread < FALLEN * self._first_spread[:size]).any())


def _first(is_best: Floats, candidates: Indices) -> int:
    """Of the places that are equally good, the one with the smallest candidate."""
    places = np.flatnonzero(is_best)
    return int(places[0]) if len(places) == 1 else int(places[candidates[places].argmin()])

"""Rows that are left out in turn: which they are, and the design of the other rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce._memory import fits
from skarce._typing import Floats, Indices
from skarce.basis import Evaluation, KernelBasis
from skarce.designs.choice import Access
from skarce.designs.design import Design, Rows
from skarce.designs.in_memory import InMemoryDesign
from skarce.designs.problem import Problem
from skarce.likelihoods import Likelihood
from skarce.moments import Sums
from skarce.moments.folds import N_FOLDS, bytes_of, fold_numbers
from skarce.moments.passes import Block, sums_over

MANY_ROWS = 10  # per kernel. With more of them, hardly a row has a kernel of its own. Also the rows that determine its weight

Split = tuple[Indices, Indices]  # places of the rows to fit, and of the rows to leave out


class Part(NamedTuple):
    """Some rows to fit, and the rows that are left out.

    Attributes
    ----------
    design : InMemoryDesign
        The rows to fit, with the candidates of all rows. Kernels at left-out rows are zero, unless they are few and reach many
        rows.
    sums : Sums or None
        The whole moments of these rows, if they were added up without another pass.
    left_out : Rows
        The other rows.
    """

    design: InMemoryDesign
    sums: Sums | None
    left_out: Rows

    def problems(self, likelihood: Likelihood, kind: str, access: Access) -> list[Problem]:
        """Return one problem for each output of the rows to fit."""
        if self.sums is None or not likelihood.has_moments:
            return self.design.problems(likelihood, kind, access)
        moments = self.design.moments_from(self.sums)
        return [Problem.of_moments(self.design, output, likelihood, one) for output, one in enumerate(moments)]


def hashed_splits(design: Design) -> list[Split]:
    """Return the five splits of the rows by their hashes. Rows of weight zero are in none, and empty splits are left out."""
    counts = design.rows.row_weights > 0.0
    numbers = fold_numbers(design.rows.X, design.candidates)
    splits = [(np.flatnonzero(counts & (numbers != fold)), np.flatnonzero(counts & (numbers == fold))) for fold in range(N_FOLDS)]
    return [(fitted, left_out) for fitted, left_out in splits if len(fitted) and len(left_out)]


def blocked_splits(design: Design, length: int) -> list[Split]:
    """Return five splits of the rows in their order: blocks of `length` neighbors take turns in being left out.

    Neighbors that depend on each other stay together. A block is at most a fifth of the rows.
    """
    counted = np.flatnonzero(design.rows.row_weights > 0.0)
    length = max(1, min(length, -(-len(counted) // N_FOLDS)))
    numbers = np.arange(len(counted)) // length % N_FOLDS
    splits = [(counted[numbers != fold], counted[numbers == fold]) for fold in range(N_FOLDS)]
    return [(fitted, left_out) for fitted, left_out in splits if len(fitted) and len(left_out)]


def parts(design: Design, splits: Iterable[Split]) -> Iterator[Part]:
    """Yield the rows of each split."""
    centers = _Centers(design)
    for fitted, left_out in splits:
        yield _part(design, (fitted, left_out), centers.at(left_out), None)


def parts_of_whole_moments(design: Design, splits: Sequence[Split]) -> Iterator[Part]:
    """Yield the same for splits whose left-out rows are disjoint and together all rows of positive weight.

    The rows of each split are evaluated once. The moments of the others are the sum over the other splits: this costs as much as
    the moments of all rows, and no digits are lost, as they could be in a difference.
    """
    centers, of_folds = _Centers(design), [_sums(design, left_out) for _, left_out in splits]
    for number, split in enumerate(splits):
        dropped, sums = centers.at(split[1]), Sums.total(of_folds[:number] + of_folds[number + 1 :])
        sums.drop(dropped)
        yield _part(design, split, dropped, sums)


def have_room(n_candidates: int, n_splits: int) -> bool:
    """Tell whether the whole moments of all splits, and a sum of them, fit into the memory budget."""
    return fits(n_candidates, n_candidates * (n_splits + 1))


def _part(design: Design, split: Split, dropped: Indices, sums: Sums | None) -> Part:
    fitted, left_out = split
    candidates = _Without(design.candidates, dropped) if len(dropped) else design.candidates
    rest = InMemoryDesign(candidates, design.rows.at(fitted), fit_intercept=design.fit_intercept)
    return Part(rest, sums, design.rows.at(left_out))


@dataclass(frozen=True)
class _Without:
    """Kernels, of which some are zero everywhere. Their places among the candidates stay."""

    kernels: KernelBasis
    dropped: Indices

    @property
    def n_candidates(self) -> int:
        return self.kernels.n_candidates

    def on(self, X: Any) -> Evaluation:
        return self.kernels.on(X).without(self.dropped)


def are_few(n_kernels: int, n_rows: float) -> bool:
    """Tell whether kernels are so few that hardly a row has one of its own."""
    return n_kernels * MANY_ROWS <= n_rows


def may_stay(kernels: KernelBasis, squares: Floats) -> NDArray[np.bool_]:
    """Tell which of few kernels may stay if the rows at their centers are left out: those that reach many other rows.

    A refit without a fifth of few kernels would be worse than the model, and would say so of the model. `squares` are the sums of
    squares of the kernels over all rows.
    """
    own = kernels.make_kernel().diagonal(kernels.centers_)
    return squares >= MANY_ROWS * own**2


def kernels_of(candidates: Any) -> KernelBasis | None:
    """Return the kernels among which some may be zero, or None if candidates are no kernels."""
    if isinstance(candidates, _Without):
        return candidates.kernels
    return candidates if isinstance(candidates, KernelBasis) else None


class _Centers:
    """Which kernels are centered at which rows.

    New rows have no kernel of their own, and so left-out rows must have none: all that is known about its weight is the prior, and
    the std of the refit would be large at the left-out rows, but not at new ones. Only kernels that `may_stay` do.
    """

    def __init__(self, design: Design) -> None:
        kernels = design.candidates
        self._rows: list[Any] = []
        self._centers: dict[int, Any] = {}
        if isinstance(kernels, KernelBasis):
            is_precomputed = kernels.kernel == "precomputed"
            n_rows, indices = len(design.rows.targets), kernels.center_indices_
            self._rows = list(range(n_rows)) if is_precomputed else list(bytes_of(design.rows.X))
            places = range(n_rows) if indices is None else indices
            self._centers = dict(enumerate(list(places) if is_precomputed else list(bytes_of(kernels.centers_))))
            self._leave_out_those_that_stay(design, kernels)

    def _leave_out_those_that_stay(self, design: Design, kernels: KernelBasis) -> None:
        weights = design.rows.row_weights
        n_rows = len({self._rows[place] for place in np.flatnonzero(weights > 0.0)})
        if kernels.kernel == "precomputed" or not are_few(kernels.n_candidates, n_rows):
            return
        _, squares = kernels.on(design.rows.X).project(np.zeros((len(weights), 1)), weights)
        for number in np.flatnonzero(may_stay(kernels, squares)):
            del self._centers[int(number)]

    def at(self, places: Indices) -> Indices:
        """Return the candidates at these rows."""
        rows = {self._rows[place] for place in places} if self._centers else set()
        return np.array([number for number, center in self._centers.items() if center in rows], dtype=np.intp)


def _sums(design: Design, places: Indices) -> Sums:
    rows = design.rows.at(places)
    return sums_over(lambda: (Block(design.candidates.on(rows.X), rows.targets, rows.weights),))

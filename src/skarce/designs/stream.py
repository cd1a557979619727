"""Rows that come in batches and are not kept: their moments are, in as much memory as there are pairs of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any

import numpy as np

from skarce._memory import require
from skarce._parallel import slices
from skarce.designs.choice import IN_BATCHES, NEGLIGIBLE_FLOPS, Access
from skarce.designs.design import Design, Rows
from skarce.designs.problem import Problem
from skarce.moments import Moments, Sums, whole_matrix
from skarce.moments.passes import BLOCK_BYTES, Center, filled

KEPT_BYTES = 2**24  # a fit keeps its Gram matrix up to this size, so that a stream may go on from there


class StreamDesign(Design):
    """Candidates that are fixed, and what all rows so far say about them.

    Attributes
    ----------
    n_samples : float
        The weight of all rows, less what was forgotten.
    n_seen : float
        The weight of all rows that ever came.
    n_solved : float
        `n_seen` when a model was last solved afresh, where models follow the stream in between.
    """

    _is_shared = False  # whether another stream reads the same sums

    def __init__(self, candidates: Any, n_outputs: int, *, fit_intercept: bool = True) -> None:
        m = candidates.n_candidates
        require(m, m, f"a stream, which keeps the Gram matrix of all {m} candidates,", "Use fewer candidates")
        self.candidates = candidates
        self.n_seen = self.n_solved = 0.0
        self._sums = Sums.empty(m, n_outputs)
        self.fit_intercept = fit_intercept

    @classmethod
    def after(cls, design: Design, moments: list[Moments]) -> StreamDesign | None:
        """What a fit to other rows has seen, where its Gram matrix is small and was there, or costs nothing; else None."""
        gram, m = moments[0].gram, design.candidates.n_candidates
        costs_nothing = gram.is_whole or design.n_samples * float(m) ** 2 <= NEGLIGIBLE_FLOPS
        if 8 * m * m > KEPT_BYTES or not costs_nothing:
            return None
        every = np.arange(m)
        stream = cls(design.candidates, len(moments), fit_intercept=design.fit_intercept)
        stream._sums = Sums(
            design.n_samples,
            design.means(every).copy(),
            design.target_means.copy(),
            whole_matrix(gram),
            np.column_stack([m.projections for m in moments]),
            np.array([m.target_energy for m in moments]),
        )
        stream.n_seen = stream.n_solved = design.n_samples
        return stream

    def stream(self, problems: Sequence[Problem]) -> StreamDesign:
        """Go on as it is."""
        return self

    def fork(self) -> StreamDesign:
        """A second stream with the same past: each goes on by itself, and the sums are copied once one of them does."""
        self._is_shared = True
        return copy(self)

    def absorb(self, rows: Rows, forgetting: float = 1.0) -> None:
        """Count what was seen before `forgetting` times as much, and add a batch."""
        evaluation = self.candidates.on(rows.X)
        parts = slices(evaluation.n_rows, max(64, BLOCK_BYTES // (8 * evaluation.n_candidates)))
        first = [filled(evaluation, part) for part in parts[:1]]  # what may fail does so before anything is changed
        if self._is_shared:
            self._sums, self._is_shared = deepcopy(self._sums), False
        self._sums.forget(forgetting)
        for part in parts:
            phi = first.pop() if first else filled(evaluation, part)
            self._sums.absorb(phi, rows.targets[part], None if rows.weights is None else rows.weights[part])
        self.n_seen += float(len(rows.targets)) if rows.weights is None else float(rows.weights.sum())

    @property
    def n_samples(self) -> float:  # type: ignore[override]
        return self._sums.n_samples

    @property
    def n_outputs(self) -> int:
        return len(self._sums.target_means)

    @property
    def is_due(self) -> bool:
        """Whether rows have doubled since a model was last solved from scratch."""
        return self.n_seen >= 2.0 * self.n_solved

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """All on one whole Gram matrix, whatever is asked for."""
        about_mean = self.fit_intercept
        self._center = Center(self._sums.candidate_means * about_mean, self._sums.target_means * about_mean)
        return self._sums.moments(about_mean=about_mean)

"""Rows that come in batches and are not kept: their moments are, in as much memory as there are pairs of candidates."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any

import numpy as np

from skarce._memory import fits, memory_budget
from skarce._parallel import slices
from skarce._typing import Floats
from skarce.designs.choice import NOTHING
from skarce.moments import Moments, Sums, WholeGram
from skarce.moments.passes import BLOCK_BYTES, Centre, Centred, filled

KEPT_BYTES = 2**24  # a fit keeps its Gram matrix up to this size, so that a stream may go on from there


class StreamDesign(Centred):
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
        if not fits(m, m):
            raise ValueError(
                f"a stream needs the Gram matrix of all {m} candidates, {8.0 * m * m / 2**20:.0f} MiB, above the budget of "
                f"{memory_budget() / 2**20:.0f} MiB. Use fewer candidates, or sklearn.set_config(working_memory=...)."
            )
        self.candidates = candidates
        self.n_seen = self.n_solved = 0.0
        self._sums = Sums.empty(m, n_outputs)
        self.fit_intercept = fit_intercept

    @classmethod
    def after(cls, candidates: Any, design: Any, moments: list[Moments], *, fit_intercept: bool) -> StreamDesign | None:
        """What a fit to other rows has seen, where its Gram matrix is small and was there, or costs nothing; else None."""
        gram, m = moments[0].gram, candidates.n_candidates
        costs_nothing = isinstance(gram, WholeGram) or design.n_samples * float(m) ** 2 <= NOTHING
        if 8 * m * m > KEPT_BYTES or not costs_nothing:
            return None
        every = np.arange(m)
        stream = cls(candidates, len(moments), fit_intercept=fit_intercept)
        stream._sums = Sums(
            design.n_samples,
            design.means(every).copy(),
            design.target_means.copy(),
            gram.matrix if isinstance(gram, WholeGram) else np.ascontiguousarray(gram.block(every, every)),
            np.column_stack([m.projections for m in moments]),
            np.array([m.target_energy for m in moments]),
        )
        stream.n_seen = stream.n_solved = design.n_samples
        return stream

    def fork(self) -> StreamDesign:
        """A second stream with the same past: each goes on by itself, and the sums are copied once one of them does."""
        self._is_shared = True
        return copy(self)

    def absorb(self, X: Any, targets: Floats, weights: Floats | None, forgetting: float = 1.0) -> None:
        """Count what was seen before `forgetting` times as much, and add a batch."""
        evaluation = self.candidates.on(X)
        parts = slices(evaluation.n_rows, max(64, BLOCK_BYTES // (8 * evaluation.n_candidates)))
        batch = [(filled(evaluation, rows), rows) for rows in parts[:1]]  # what may fail does so before anything is changed
        if self._is_shared:
            self._sums, self._is_shared = deepcopy(self._sums), False
        self._sums.forget(forgetting)
        for rows in parts:
            phi = batch.pop()[0] if batch else filled(evaluation, rows)
            self._sums.absorb(phi, targets[rows], None if weights is None else weights[rows])
        self.n_seen += float(len(targets)) if weights is None else float(weights.sum())

    @property
    def n_samples(self) -> float:
        return self._sums.n_samples

    @property
    def n_outputs(self) -> int:
        return len(self._sums.target_means)

    def moments(self, kind: str = "auto", one_by_one: float | None = None) -> list[Moments]:
        """One `Moments` for each output, all on one whole Gram."""
        about_mean = self.fit_intercept
        self._centre = Centre(self._sums.candidate_means * about_mean, self._sums.target_means * about_mean)
        return self._sums.moments(about_mean=about_mean)

"""Rows that come in batches and are not kept. Only their moments are kept: one number for each pair of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skarce._memory import require
from skarce._typing import Floats
from skarce.designs.choice import IN_BATCHES, KEPT_BYTES, NEGLIGIBLE_FLOPS, Access
from skarce.designs.design import Design, Rows
from skarce.designs.problem import Problem
from skarce.moments import Moments, Sums, whole_matrix
from skarce.moments.passes import Block, Center, absorbed, check_candidates

if TYPE_CHECKING:
    from skarce.moments.recent import RecentRows


class StreamDesign(Design):
    """Fixed candidates, and the moments of all rows so far.

    Parameters
    ----------
    candidates : object
        The fitted basis, with `on(X)` and `n_candidates`.
    n_outputs : int
        The number of targets.
    fit_intercept : bool, default=True
        Whether to integrate out a constant under a flat prior.

    Attributes
    ----------
    n_samples : float
        The total weight of all rows, less what was forgotten.
    n_seen : float
        The total weight of all rows that ever came.
    n_solved : float
        The value of `n_seen` at the last solution from scratch. Between such solutions, models are only updated.
    """

    n_seen: float
    _recent: RecentRows | None = None  # rows that came one at a time, and are not in `_sums`

    def __init__(self, candidates: Any, n_outputs: int, *, fit_intercept: bool = True) -> None:
        m = candidates.n_candidates
        require(m, m, f"a stream, which keeps the Gram matrix of all {m} candidates,", "Use fewer candidates")
        self.candidates = candidates
        self.n_seen = self.n_solved = 0.0
        self._sums = Sums.empty(m, n_outputs)
        self.fit_intercept = fit_intercept

    @classmethod
    def of_sums(cls, candidates: Any, sums: Sums, *, fit_intercept: bool = True) -> StreamDesign:
        """Return a stream that goes on from sums that were made elsewhere. No row is known."""
        stream = cls(candidates, len(sums.target_means), fit_intercept=fit_intercept)
        stream._sums = sums
        stream.n_seen = stream.n_solved = sums.n_samples
        stream.rows = Rows(np.empty((0, 0)), np.empty((0, stream.n_outputs)), is_one_output=stream.n_outputs == 1)
        return stream

    @classmethod
    def after(cls, design: Design, moments: list[Moments]) -> StreamDesign | None:
        """Return a stream that continues after a fit, or None if the Gram matrix of all candidates is too expensive.

        The matrix is too expensive if it is large, or if the fit has not computed it and it is not cheap to compute.
        """
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

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to save: the sums, without the rows and the center of the last batch, which the next one brings."""
        state = {name: value for name, value in vars(self).items() if name not in ("rows", "_center", "_recent")}
        return {**state, "_sums": self.sums}

    def _with(self, **changes: Any) -> StreamDesign:
        """Return another stream that differs in some attributes. Nothing is copied."""
        other = object.__new__(type(self))
        other.__dict__ = {**vars(self), **changes}
        return other

    def stream(self, problems: Sequence[Problem]) -> StreamDesign:
        """Go on as it is, but without sums of folds, which later batches do not have."""
        return self if self.fold_sums is None else self._with(fold_sums=None)

    def after_batch(self, rows: Rows, forgetting: float = 1.0) -> StreamDesign:
        """Return the stream after a batch. The weight of all earlier rows is multiplied by `forgetting`. This one stays."""
        block = Block(self.candidates.on(rows.X), rows.targets, rows.weights)
        with np.errstate(over="ignore", invalid="ignore"):
            earlier = self.sums
            is_new = earlier is not self._sums and forgetting == 1.0
            sums = absorbed(earlier if is_new else earlier.faded(forgetting), block)
        if not sums.are_finite():
            raise ValueError("the squares of this batch are too large to be added up in double precision. Scale X and y.")
        n = float(len(rows.targets)) if rows.weights is None else float(rows.weights.sum())
        return self._with(_sums=sums, _recent=None, n_seen=self.n_seen + n)

    def with_row(self, candidates: Floats, target: float, forgetting: float = 1.0) -> StreamDesign:
        """Return the stream after one more row of its only target, which is put off until the sums are needed. This one stays."""
        return self._with(_recent=self.recent.with_row(candidates, target, forgetting), n_seen=self.n_seen + 1.0)

    @property
    def recent(self) -> RecentRows:
        """The rows that were put off."""
        from skarce.moments.recent import RecentRows

        return RecentRows.after(self._sums) if self._recent is None else self._recent

    @property
    def sums(self) -> Sums:
        """The sums over all rows."""
        return self._sums if self._recent is None else self._recent.added_to(self._sums)

    @property
    def n_samples(self) -> float:  # type: ignore[override]
        return self._sums.n_samples if self._recent is None else self._recent.n_samples

    @property
    def n_outputs(self) -> int:
        return len(self._sums.target_means)

    @property
    def is_due(self) -> bool:
        """Whether the number of rows has doubled since the last solution from scratch."""
        return self.n_seen >= 2.0 * self.n_solved

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """Return one `Moments` for each output. The Gram matrix is always whole."""
        about_mean, sums = self.fit_intercept, self.sums
        check_candidates(sums.raw_squares, self.n_samples, tuple)  # the rows are gone, so there is nothing to evaluate
        self._center = Center(sums.candidate_means * about_mean, sums.target_means * about_mean)
        return sums.moments(about_mean=about_mean)

"""Rows that can be read block by block, as often as needed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from skarce.designs.choice import IN_BATCHES, Access, Costs, choose_kind
from skarce.designs.design import Design, Rows
from skarce.moments import Moments
from skarce.moments.passes import Block, streamed_moments, whole_moments


class BlockDesign(Design):
    """Candidates at rows that are read block by block. A subclass writes `_read`, and for estimators `takes` and `of`.

    Moments of both kinds, the means and the sum of the weights follow from passes over the blocks. Only one block at a time is in
    memory.

    Parameters
    ----------
    candidates : object
        The fitted basis, with `on(X)` and `n_candidates`.
    rows : Rows
        All rows, or a sample of them: what the basis was fitted on.
    n_rows : int
        The number of all rows, for the cost model.
    fit_intercept : bool, default=True
        Whether to integrate out a constant under a flat prior.

    Attributes
    ----------
    n_samples : float
        The sum of the sample weights of all rows. Available after a call of `moments`.
    """

    brings_targets: ClassVar[bool] = True
    _n_samples: float | None = None

    def __init__(self, candidates: Any, rows: Rows, n_rows: int, *, fit_intercept: bool = True) -> None:
        self.candidates, self.rows, self.n_rows, self.fit_intercept = candidates, rows, n_rows, fit_intercept

    @abstractmethod
    def _read(self) -> Iterable[Block]:
        """Yield all rows, one ``Block(self.candidates.on(X), targets, weights)`` after the other.

        This is called at the start of every pass. Each call must give the same rows in the same order.
        """

    @property
    def n_samples(self) -> float:  # type: ignore[override]
        if self._n_samples is None:
            raise RuntimeError(f"the sum of the weights is not known yet: call moments() of this {type(self).__name__} first.")
        return self._n_samples

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """Return one `Moments` for each output. ``"auto"`` is whole if Phi'Phi fits into the memory budget."""
        m = self.candidates.n_candidates
        # Every pass reads all rows again, so the whole product is worth its cost if it fits.
        kind = choose_kind(kind, Costs(self.n_rows, m, element=m, access=access))
        collect = whole_moments if kind == "whole" else streamed_moments
        moments, self._center = collect(self._read, fit_intercept=self.fit_intercept)
        self._n_samples = moments[0].n_samples + self.fit_intercept
        return moments

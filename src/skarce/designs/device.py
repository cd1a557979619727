"""Rows on a device, such as a GPU. Candidates are evaluated and summed there, and only sums and a sample of the rows are moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from skarce._device import is_dispatched, is_on_device, require_there, rows_at_a_time, taken, to_host
from skarce._memory import require
from skarce._parameters import check_choice
from skarce.basis.on_device import DeviceEvaluation
from skarce.designs.choice import IN_BATCHES, KINDS, Access
from skarce.designs.design import Recipe
from skarce.designs.device_rows import DeviceRows
from skarce.designs.row_blocks import RowBlocksDesign
from skarce.moments import FoldSums, Moments
from skarce.moments.columns_on_device import ColumnsOnDevice
from skarce.moments.folds import N_FOLDS, fold_numbers
from skarce.moments.on_device import DeviceSums, Moved
from skarce.moments.passes import check_candidates

MATRICES_ON_THE_WAY = 3  # as large as the Gram matrix, when its halves are put together
BLOCKS_ON_THE_WAY = 3  # of candidates, when they are evaluated


class DeviceDesign(RowBlocksDesign):
    """Candidates at rows on a device. The Gram matrix of all candidates is made there, and moved to the host.

    If columns are asked for, each request is a pass, and only columns are moved.

    It is made from arrays of PyTorch, CuPy or array-api-strict, if scikit-learn's ``array_api_dispatch`` is on, or from
    `DeviceRows`. A sample of at most 20,000 rows is moved to the host, where the basis is fitted.
    """

    _blocks: DeviceRows
    brings_targets: ClassVar[bool] = False
    kind_of_rows: ClassVar[str] = "rows on a device"

    @classmethod
    def takes(cls, X: Any) -> bool:
        return isinstance(X, DeviceRows) or (is_on_device(X) and is_dispatched())

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, recipe: Recipe) -> RowBlocksDesign:
        """Move a sample of the rows to the host, and fit the basis on it. Widths are learned on the device if that pays."""
        if isinstance(X, DeviceRows) and not (y is None and sample_weight is None):
            raise ValueError("with DeviceRows, y and sample_weight come from the blocks: do not pass them to fit.")
        rows = X if isinstance(X, DeviceRows) else DeviceRows.of(X, y, sample_weight)
        options = recipe.width_options
        recipe = recipe._replace(width_options=lambda sample: {**options(sample), "device": rows.like})
        return super().of(rows, None, None, recipe)

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """Return one `Moments` for each output. With ``"auto"`` the Gram matrix is whole: its product is what a GPU is made for.

        With folds it is always whole.
        """
        check_choice("moments", kind, KINDS)
        if kind == "columns" and not self._in_folds:
            return self._columns()
        self._require_room()
        sums, gram_there = self._folds_added() if self._in_folds else self._added()
        self._n_samples = sums.n_samples
        return self._moments_of(sums, gram_there)

    def _columns(self) -> list[Moments]:
        """Return moments whose columns of the Gram matrix are made by passes, when they are asked for."""
        columns = ColumnsOnDevice(self._parts, about_mean=self.fit_intercept, factor=self._factor)
        check_candidates(columns.raw_squares, columns.n_samples, lambda: (self.candidates.on(self.rows.X),))
        self._n_samples, self._center = columns.n_samples, columns.center
        return columns.moments()

    def _require_room(self) -> None:
        """Raise a ValueError if the Gram matrix does not fit into the memory of the host or of the device."""
        m, remedy = self.candidates.n_candidates, 'Use fewer candidates, or moments="columns"'
        require(m, m, f"the Gram matrix of all {m} candidates, which is moved from the device,", remedy)
        if self.like is not None:
            n_matrices = (N_FOLDS if self._in_folds else 1) + MATRICES_ON_THE_WAY
            needed = 8 * m * (n_matrices * m + BLOCKS_ON_THE_WAY * min(self.n_rows, rows_at_a_time(self.like, m)))
            require_there(needed, self.like, f"the Gram matrix of all {m} candidates, and some blocks of rows,", remedy)

    @property
    def like(self) -> Any:  # type: ignore[override]
        return self._blocks.like

    @property
    def has_all_rows(self) -> bool:
        """Never: a search on the rows would be in the memory of the host."""
        return False

    def _added(self) -> Moved:
        """Return the sums over all rows."""
        total: DeviceSums | None = None
        for rows in self._blocks.reading("adding up"):
            total = total or DeviceSums(self.candidates.n_candidates, rows.targets.shape[1], rows.targets)
            total.add(self._on(rows.X), rows.targets, rows.weights)
        assert total is not None  # the sample has found rows
        return total.moved(self._factor)

    def _folds_added(self) -> Moved:
        """Return the same, and keep the sums of each fold. Inputs are moved to the host, where their hashes tell their folds."""
        totals: list[DeviceSums] = []
        for rows in self._blocks.reading("adding up"):
            shape = self.candidates.n_candidates, rows.targets.shape[1]
            totals = totals or [DeviceSums(*shape, rows.targets) for _ in range(N_FOLDS)]
            numbers = fold_numbers(to_host(rows.X), self.candidates)
            for fold, total in enumerate(totals):
                places = np.flatnonzero(numbers == fold)
                weights = None if rows.weights is None else taken(rows.weights, places)
                total.add(self._on(taken(rows.X, places)), taken(rows.targets, places), weights)
        self.fold_sums = FoldSums(tuple(total.moved(self._factor).sums for total in totals))
        for other in totals[1:]:
            totals[0].include(other)
        return totals[0].moved(self._factor)

    def _parts(self) -> Iterator[tuple[DeviceEvaluation, Any, Any]]:
        for rows in self._blocks.reading("adding up"):
            yield self._on(rows.X), rows.targets, rows.weights

    def _on(self, X: Any) -> DeviceEvaluation:
        return self.candidates.on_device(X)

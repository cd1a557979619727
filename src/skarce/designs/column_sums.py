"""Sums of the columns of inputs and targets, from one pass over `RowBlocks` or Dask data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from skarce._parallel import one_thread
from skarce.designs.dask_columns import check_kinds, is_frame
from skarce.designs.dask_partitions import Partitions
from skarce.designs.device_rows import DeviceRows
from skarce.designs.row_blocks import RowBlocks
from skarce.moments import Sums
from skarce.moments.block_sums import checked_block


class ColumnSums(NamedTuple):
    """What is known about the columns of all rows.

    Attributes
    ----------
    sums : Sums
        Means of the columns, and their products about the means. Inputs come first, then targets.
    n_inputs : int
        How many of the columns are inputs.
    is_one_output : bool
        Whether the target is one number for each row, and not an array of one.
    """

    sums: Sums
    n_inputs: int
    is_one_output: bool


def column_sums(probe: Any, X: Any, y: Any, sample_weight: Any) -> ColumnSums:
    """Return the sums of all rows of `RowBlocks` or Dask data. Names and number of the inputs are set on the estimator `probe`."""
    found = _of_blocks(probe, X, y, sample_weight) if isinstance(X, RowBlocks) else _of_dask(probe, X, y, sample_weight)
    if not found.sums.n_samples > 0.0:
        raise ValueError("there are no rows of positive weight.")
    if not found.sums.are_finite():
        raise ValueError("the squares of a column are too large to be added up in double precision. Scale X and y.")
    return found


def _of_blocks(probe: Any, blocks: RowBlocks, y: Any, sample_weight: Any) -> ColumnSums:
    if isinstance(blocks, DeviceRows):
        raise TypeError("fit takes RowBlocks in the memory of the host, got DeviceRows.")
    if not (y is None and sample_weight is None):
        raise ValueError("with RowBlocks, y and sample_weight come from the blocks: do not pass them to fit.")
    sums: Sums | None = None
    for rows in blocks.reading("adding up"):
        own, n_targets = _sums_of(rows), rows.targets.shape[1]
        sums = own if sums is None else sums + own
    if sums is None:
        raise ValueError("there are no rows: the factory of row blocks yielded nothing.")
    probe.n_features_in_ = len(sums.candidate_means) - n_targets
    if blocks.feature_names is not None:
        probe.feature_names_in_ = np.asarray(blocks.feature_names, dtype=object)
    return ColumnSums(sums, probe.n_features_in_, n_targets == 1)


def _of_dask(probe: Any, X: Any, y: Any, sample_weight: Any) -> ColumnSums:
    partitions = Partitions(X, y, sample_weight)
    check_kinds(partitions.X, "X")
    check_kinds(partitions.y, "y")
    if is_frame(partitions.X):
        validate_data(probe, partitions.X._meta, skip_check_array=True)
    probe.n_features_in_ = partitions.X.shape[1]
    return ColumnSums(partitions.total(_summed, Sums.total), probe.n_features_in_, np.ndim(partitions.y) == 1)


def _summed(number: int, X: Any, y: Any, sample_weight: Any) -> Sums:
    """Return the sums of a partition."""
    rows = checked_block(X, y, sample_weight, f"partition {number}")
    with one_thread():
        return _sums_of(rows)


def _sums_of(rows: Any) -> Sums:
    columns = np.ascontiguousarray(np.column_stack([rows.X, rows.targets]), dtype=np.float64)
    sums = Sums.empty(columns.shape[1], 0)
    with np.errstate(over="ignore", invalid="ignore"):  # the total is checked
        sums.absorb_parts([(columns, np.empty((len(columns), 0)), rows.weights)])
    return sums

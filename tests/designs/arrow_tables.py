"""Rows as Arrow tables, and what their blocks must be."""

import numpy as np
import pytest

from skarce.designs import RowBlocks

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

N = 500
NAMES = ("a", "b", "c")


def made_rows(n=N):
    """Inputs, targets and weights."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, len(NAMES)))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + rng.normal(0, 0.1, n), rng.integers(0, 4, n).astype(float)


def table_of(X, y, weights=None, **more):
    columns = {**dict(zip(NAMES, X.T, strict=False)), "y": y, **more}
    return pa.table(columns if weights is None else {"w": weights, **columns})


def assert_same(blocks, *arrays, block_rows=65_536):
    """The blocks are exactly those of these arrays: X, y and perhaps weights."""
    assert_equal_blocks(blocks, RowBlocks.from_arrays(*arrays, block_rows=block_rows))


def assert_equal_blocks(blocks, others):
    found, expected = list(blocks), list(others)
    assert [len(rows.X) for rows in found] == [len(rows.X) for rows in expected]
    for rows, right in zip(found, expected, strict=True):
        assert rows.X.dtype == right.X.dtype
        assert rows.X.flags.c_contiguous
        np.testing.assert_array_equal(rows.X, right.X)
        np.testing.assert_array_equal(rows.targets, right.targets)
        np.testing.assert_array_equal(rows.row_weights, right.row_weights)
        assert (rows.weights is None) == (right.weights is None)

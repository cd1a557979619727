"""Blocks of a Gram matrix in memory."""

import numpy as np
import pytest

from skarce.moments import WholeGram, gram


@pytest.mark.parametrize("few_rows", [0, 512], ids=["many rows", "few rows"])
def test_a_block_has_its_rows_and_columns_in_the_order_asked_for(few_rows, monkeypatch, rng):
    monkeypatch.setattr(gram, "FEW_ROWS", few_rows)
    matrix = rng.normal(size=(9, 9))
    rows, columns = np.array([7, 2, 2]), np.array([0, 8, 4, 1])
    expected = [[matrix[row, column] for column in columns] for row in rows]
    np.testing.assert_array_equal(WholeGram(matrix).block(rows, columns), expected)
    assert WholeGram(matrix).block(rows[:0], columns).shape == (0, 4)

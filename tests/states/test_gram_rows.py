"""Products with rows of the Gram matrix, against the whole matrix."""

import numpy as np
import pytest

from skarce.states.gram_rows import GramRows
from tests.problems import moments_of


@pytest.mark.parametrize("kind", ["whole", "columns"])
def test_products_with_rows_are_those_of_the_whole_matrix(kind):
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(90, 200))
    gram = phi.T @ phi
    rows = GramRows(moments_of(phi, phi[:, 0], kind).gram)
    largest = 0
    for size in (3, 5, 40, 4, 0, 90, 150, 2, 200):
        functions = rng.permutation(200)[:size]
        vectors = rng.normal(size=(2, size))
        for product, vector in zip(rows.products(functions, *vectors), vectors, strict=True):
            np.testing.assert_allclose(product, vector @ gram[functions], rtol=1e-10, atol=1e-10)
        others = rng.permutation(200)[:7]
        np.testing.assert_array_equal(rows.columns(functions, others), gram[np.ix_(functions, others)])
        largest = max(largest, size)
        assert len(rows) <= (200 if kind == "whole" and largest > 50 else 1.25 * largest + 32)


def test_rows_that_are_there_are_not_read_again():
    phi = np.random.default_rng(0).normal(size=(30, 12))
    gram = moments_of(phi, phi[:, 0], "columns").gram
    rows = GramRows(gram)
    rows.products(np.array([4, 7, 1]), np.ones(3))
    gram.columns = None
    (product,) = rows.products(np.array([1, 4]), np.array([2.0, -1.0]))
    np.testing.assert_allclose(product, (2.0 * phi[:, 1] - phi[:, 4]) @ phi)

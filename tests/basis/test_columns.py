"""Products and weighted squares of candidates in memory: those of dense matrices, and no call with arrays that do not fit."""

import numpy as np
import pytest

from skarce.basis import _columns
from skarce.basis.candidates import ColumnsEvaluation

NAMES = ("candidates", "weights", "squares")
HOSTILE = {
    "no array": lambda a: "candidates",
    "a list": lambda a: a.tolist(),
    "single precision": lambda a: a.astype(np.float32),
    "integers of the same size": lambda a: a.astype(np.int64),
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "one dimension": lambda a: a.ravel(),
    "column order": lambda a: np.asfortranarray(a),
    "every second column": lambda a: np.ones((a.shape[0], 2 * a.shape[1]))[:, ::2],
}


def good(n=7, m=4, s=2):
    return [np.ones((m, n)), np.ones((s, n)), np.empty((m, s))]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (256, 5), (515, 400), (20_000, 3)])
def test_products_and_squares_are_those_of_dense_matrices(rng, shape, dtype, order):
    values = np.asarray(rng.normal(size=shape), dtype=dtype, order=order)
    right, weights = rng.normal(size=(shape[0], 5)), rng.uniform(size=(shape[0], 2))
    wide = values.astype(np.float64)
    evaluation = ColumnsEvaluation(values)
    for each in (None, weights, weights[:, 0]):
        product, squares = evaluation.project(right, each)
        np.testing.assert_allclose(product, wide.T @ right, rtol=1e-10, atol=1e-10)
        if each is not None:
            np.testing.assert_allclose(squares, (wide**2).T @ each, rtol=1e-12)
    some = np.arange(shape[1])[::-2]
    np.testing.assert_array_equal(evaluation.columns(some), wide[:, some])


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", NAMES)
def test_arrays_that_do_not_fit_are_refused_by_name(name, hostile):
    arguments = good()
    arguments[NAMES.index(name)] = HOSTILE[hostile](arguments[NAMES.index(name)])
    with pytest.raises((ValueError, TypeError), match=name):
        _columns.weighted_squares(*arguments)


@pytest.mark.parametrize(("name", "place"), [("weights", 1), ("squares", 2)])
@pytest.mark.parametrize("axis", [0, 1])
def test_shapes_that_do_not_fit_are_refused(name, place, axis):
    arguments = good()
    arguments[place] = np.repeat(arguments[place], 2, axis=axis)
    with pytest.raises(ValueError, match="must have length"):
        _columns.weighted_squares(*arguments)


def test_memory_is_not_shared():
    arguments = good(n=4, m=4, s=4)
    arguments[2] = arguments[1]
    with pytest.raises(ValueError, match="squares shares memory with weights"):
        _columns.weighted_squares(*arguments)


def test_no_rows_and_no_candidates_give_zeros_and_nothing():
    arguments = good(n=0)
    _columns.weighted_squares(*arguments)
    np.testing.assert_array_equal(arguments[2], np.zeros((4, 2)))
    _columns.weighted_squares(*good(m=0))
    _columns.weighted_squares(*good(s=0))

"""Direct calls of the compiled kernels with arrays that do not fit: an error that names the argument, and no memory touched."""

import numpy as np
import pytest

from skarce.basis import _rbf

pytestmark = pytest.mark.skipif(not _rbf.TILE, reason="the compiler has no vector types, so NumPy does this work")

FILL = ("rows", "centers", "out")
PROJECT = ("rows", "centers", "right", "weights", "product", "squares")


def good(function):
    """Arguments that fit."""
    rows, centers = np.ones((5, 4)), np.ones((3, 4))
    if function is _rbf.fill:
        return [rows, centers, np.empty((5, 3))]
    return [rows, centers, np.ones((2, 5)), np.ones((1, 5)), np.zeros((2, 3)), np.zeros((1, 3)), 0, 5, False]


def unaligned(array):
    return np.frombuffer(bytearray(array.nbytes + 1), np.uint8)[1:].view(np.float64).reshape(array.shape)


HOSTILE = {
    "no array": lambda a: "rows",
    "nothing": lambda a: None,
    "a list": lambda a: a.tolist(),
    "objects": lambda a: a.astype(object),
    "dates": lambda a: a.astype("M8[s]"),
    "single precision": lambda a: a.astype(np.float32),
    "integers of the same size": lambda a: a.astype(np.int64),
    "complex numbers": lambda a: a.astype(complex),
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "bytes": lambda a: bytearray(a.tobytes()),
    "one dimension": lambda a: a.ravel(),
    "three dimensions": lambda a: a[None],
    "no dimension": lambda a: np.float64(1.0),
    "column order": lambda a: np.asfortranarray(np.ones((a.shape[0] + 1, a.shape[1] + 1)))[1:, 1:],
    "every second column": lambda a: np.ones((a.shape[0], 2 * a.shape[1]))[:, ::2],
    "backward columns": lambda a: a[:, ::-1],
    "unaligned": unaligned,
    "one row more": lambda a: np.ones((a.shape[0] + 1, a.shape[1])),
    "one column more": lambda a: np.ones((a.shape[0], a.shape[1] + 1)),
    "one column less": lambda a: np.ones((a.shape[0], a.shape[1] - 1)),
    "no column": lambda a: np.ones((a.shape[0], 0)),
}
CALLS = [(_rbf.fill, name) for name in FILL] + [(_rbf.project, name) for name in PROJECT] if _rbf.TILE else []


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize(("function", "name"), CALLS)
def test_arrays_that_do_not_fit_are_refused_by_name(function, name, hostile):
    arguments = good(function)
    place = (FILL if function is _rbf.fill else PROJECT).index(name)
    arguments[place] = HOSTILE[hostile](arguments[place])
    with pytest.raises((ValueError, TypeError), match=name):
        function(*arguments)


@pytest.mark.parametrize("function", [_rbf.fill, _rbf.project] if _rbf.TILE else [])
@pytest.mark.parametrize("n_terms", [0, 1])
def test_prepared_rows_have_two_terms_or_more(function, n_terms):
    arguments = good(function)
    arguments[:2] = np.ones((5, n_terms)), np.ones((3, n_terms))
    with pytest.raises(ValueError, match="t >= 2"):
        function(*arguments)


@pytest.mark.parametrize(
    ("first", "last"), [(-1, 3), (0, 6), (3, 3), (4, 2), (-(2**63), 2**63 - 1), (0, -(2**63)), (2**70, 2**71), (5, 5)]
)
def test_rows_outside_are_refused(first, last):
    with pytest.raises(ValueError, match=r"fit together|negative"):
        _rbf.project(*good(_rbf.project)[:6], first, last, False)


@pytest.mark.parametrize("wrong", [1.5, "2", None, [1]])
def test_row_numbers_are_integers(wrong):
    for place, name in ((6, "first"), (7, "last")):
        arguments = good(_rbf.project)
        arguments[place] = wrong
        with pytest.raises(TypeError, match=name):
            _rbf.project(*arguments)


def test_more_rows_than_a_tile_are_refused():
    n = _rbf.TILE + 1
    points, sums = np.ones((n, 3)), np.zeros((0, n))
    with pytest.raises(ValueError, match="fit together"):
        _rbf.project(points, points, sums, sums, sums.copy(), sums.copy(), 0, n, False)


@pytest.mark.parametrize("function", [_rbf.fill, _rbf.project] if _rbf.TILE else [])
def test_the_number_of_arguments(function):
    with pytest.raises(TypeError, match="arguments"):
        function()
    with pytest.raises(TypeError, match="arguments"):
        function(*good(function), 1)


def test_results_need_memory_that_can_be_written():
    for function, places in ((_rbf.fill, {2: "out"}), (_rbf.project, {4: "product", 5: "squares"})):
        for place, name in places.items():
            arguments = good(function)
            arguments[place].flags.writeable = False
            with pytest.raises(ValueError, match=f"{name} must be.* writable"):
                function(*arguments)


def test_inputs_may_be_read_only():
    arguments = good(_rbf.fill)
    arguments[0].flags.writeable = arguments[1].flags.writeable = False
    _rbf.fill(*arguments)
    assert np.isfinite(arguments[2]).all()


def test_results_that_share_memory_are_refused():
    room = np.zeros((8, 5))
    with pytest.raises(ValueError, match="out shares memory with rows"):
        _rbf.fill(room[:5], np.ones((5, 5)), room[3:])
    arguments = good(_rbf.project)
    arguments[3], arguments[5] = np.ones((2, 5)), arguments[4]
    with pytest.raises(ValueError, match="product shares memory with squares"):
        _rbf.project(*arguments)


def test_rows_of_the_result_may_go_backward():
    rows, centers, out = np.column_stack([np.zeros(5), -np.arange(5.0), np.ones(5)]), np.array([[0.0, 1.0, 0.0]]), np.empty((5, 1))
    _rbf.fill(rows, centers, out[::-1])
    np.testing.assert_allclose(out[::-1, 0], np.exp(-np.arange(5.0)))


def test_nothing_to_do():
    for n_rows, n_centers in ((0, 3), (3, 0)):
        around = np.full((5, 3), 7.0)
        _rbf.fill(np.ones((n_rows, 4)), np.ones((n_centers, 4)), around[:n_rows, :n_centers])
        assert (around == 7.0).all()


def test_far_points_and_numbers_that_are_none():
    payload = np.array([0x7FF0000000000FFF, 0xFFF8000000000001, 0x7FF8000000000ABC], np.uint64).view(np.float64)  # all are NaN
    exponents = np.concatenate([[-2000.5, -1e6, -1e18, -1e300, -np.inf, np.inf, 0.0, 5.0], payload])
    rows = np.column_stack([np.zeros_like(exponents), exponents, np.ones_like(exponents)])
    out = np.empty((len(rows), 1))
    _rbf.fill(rows, np.array([[0.0, 1.0, 0.0]]), out)
    np.testing.assert_array_equal(out[:, 0], [0.0] * 5 + [1.0] * 3 + [np.nan] * 3)

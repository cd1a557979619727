"""Direct calls of the compiled loop with arrays and numbers that do not fit: an error that names the argument."""

import numpy as np
import pytest

from skarce.searches import _climb

N_CANDIDATES, CAPACITY, MAX_STEPS = 6, 4, 20
SIZES = ("n_candidates", "size", "capacity", "max_active", "max_steps", "max_changes", "refine", "together")
NUMBERS = (
    "energy",
    "n_samples",
    "noise",
    "tol",
    "dependent",
    "lowest",
    "highest",
    "max_drift",
    "slack",
    "residual",
    "freedom",
    "floor",
    "exact",
)
CONVERGED, STEPS_DONE, DIGITS_LOST = range(3)


def good(*, squares=False):
    """The arguments of a start from the empty model, by name."""
    rng = np.random.default_rng(0)
    phi, target = rng.normal(size=(30, N_CANDIDATES)), rng.normal(size=30)
    target += phi[:, 1] - 2.0 * phi[:, 4]
    gram, projections, energy = phi.T @ phi, phi.T @ target, float(target @ target)
    return {
        "gram": gram,
        "diagonal": gram.diagonal().copy(),
        "leftover": gram.diagonal().copy(),
        "alignment": projections.copy(),
        "inverse": np.zeros((CAPACITY, CAPACITY)),
        "weights": np.zeros(CAPACITY),
        "ridges": np.zeros(CAPACITY),
        "active": np.zeros(CAPACITY, np.int64),
        "actions": np.empty(MAX_STEPS, np.int64),
        "indices": np.empty(MAX_STEPS, np.int64),
        "gains": np.empty(MAX_STEPS),
        "remainder": gram.diagonal().copy() if squares else np.empty(0),
        "overlap": projections.copy() if squares else np.empty(0),
        **dict(zip(SIZES, (N_CANDIDATES, 0, CAPACITY, CAPACITY, MAX_STEPS, 1000, 0, 1), strict=True)),
        **dict(zip(NUMBERS[:9], (energy, 30.0, -1.0, 1e-6, 1e-10, 1e-12, 1e12, 1e-6, 1e-10), strict=True)),
        **dict(zip(NUMBERS[9:], (energy if squares else 0.0, 30.0 if squares else 0.0, 0.0, 1e-20), strict=True)),
    }


ARRAYS = tuple(name for name, value in good().items() if isinstance(value, np.ndarray))
WRITTEN = tuple(name for name in ARRAYS if name not in ("gram", "diagonal"))


def climb(arguments):
    return _climb.climb(*arguments.values())


def unaligned(array):
    return np.frombuffer(bytearray(array.nbytes + 1), np.uint8)[1:].view(array.dtype).reshape(array.shape)


HOSTILE = {
    "no array": lambda a: "gram",
    "nothing": lambda a: None,
    "a list": lambda a: a.tolist(),
    "objects": lambda a: a.astype(object),
    "dates": lambda a: a.astype("M8[s]"),
    "the other type of the same size": lambda a: a.astype(np.float64 if a.dtype == np.int64 else np.int64),
    "unsigned": lambda a: np.zeros(a.shape, np.uint64),
    "half the size": lambda a: a.astype(np.int32 if a.dtype == np.int64 else np.float32),
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "bytes": lambda a: bytearray(a.tobytes()),
    "one dimension more": lambda a: a[None],
    "no dimension": lambda a: a.dtype.type(0),
    "flat or folded": lambda a: a.ravel() if a.ndim == 2 else a.reshape(1, -1),
    "longer": lambda a: np.zeros(np.array(a.shape) + 1, a.dtype),
    "empty or not": lambda a: np.zeros(np.array(a.shape) * 0 if a.size else 3, a.dtype),
    "every second": lambda a: np.zeros(np.array(a.shape) * 2 + 2, a.dtype)[..., ::2],
    "unaligned": lambda a: unaligned(a) if a.size else None,
}


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_do_not_fit_are_refused_by_name(name, hostile):
    arguments = good()
    arguments[name] = HOSTILE[hostile](arguments[name])
    with pytest.raises((ValueError, TypeError), match=name):
        climb(arguments)


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_writable_and_apart(name):
    arguments = good(squares=True)
    arguments[name].flags.writeable = False
    with pytest.raises(ValueError, match=f"{name} must be.* writable"):
        climb(arguments)
    arguments = good(squares=True)
    other = (
        next(key for key in ARRAYS if key != name and arguments[key].shape == arguments[name].shape) if name != "inverse" else None
    )
    if other is not None and arguments[other].dtype == arguments[name].dtype:
        arguments[other] = arguments[name]
        with pytest.raises(ValueError, match="shares memory"):
            climb(arguments)


def test_the_gram_matrix_may_be_read_only():
    arguments = good()
    arguments["gram"].flags.writeable = arguments["diagonal"].flags.writeable = False
    steps, size, _, status = climb(arguments)
    assert steps >= size > 0
    assert status == CONVERGED


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("wrong", [-1, -(2**63), -(2**70), 1.5, "3", None, [1]])
def test_sizes_are_integers_from_zero_on(name, wrong):
    arguments = good()
    arguments[name] = wrong
    with pytest.raises((ValueError, TypeError), match=name):
        climb(arguments)


@pytest.mark.parametrize("name", ["n_candidates", "size", "capacity", "max_steps"])
@pytest.mark.parametrize("wrong", [CAPACITY + N_CANDIDATES, 2**31, 2**32, 2**62, 2**63 - 1, 2**70])  # 2^32 squared is 0 modulo 2^64
def test_sizes_that_do_not_fit_the_arrays(name, wrong):
    arguments = good()
    arguments[name] = wrong
    with pytest.raises(ValueError, match=r"must have length|size must be"):
        climb(arguments)


@pytest.mark.parametrize("name", ["max_active", "max_changes"])
def test_limits_may_be_any_size(name):
    arguments, expected = good(), climb(good())
    arguments[name] = 2**80
    assert climb(arguments) == expected


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("wrong", ["1", None, 10**400, 1j, [1.0]])
def test_numbers_are_numbers(name, wrong):
    arguments = good()
    arguments[name] = wrong
    with pytest.raises(TypeError, match=name):
        climb(arguments)


@pytest.mark.parametrize("wrong", [-1, N_CANDIDATES, 2**62, -(2**63)])
def test_candidates_outside_are_refused(wrong):
    arguments = good()
    arguments["active"][0], arguments["size"] = wrong, 1
    arguments["inverse"][0, 0] = arguments["ridges"][0] = 1.0
    with pytest.raises(ValueError, match="active must hold candidates from 0 to 5"):
        climb(arguments)


@pytest.mark.parametrize("wrong", [-1.0, -1e-300, np.nan, -np.inf])
def test_a_step_gains_something(wrong):
    with pytest.raises(ValueError, match="tol"):
        climb({**good(), "tol": wrong})


def test_the_number_of_arguments():
    with pytest.raises(TypeError, match="34 arguments, got 0"):
        _climb.climb()
    with pytest.raises(TypeError, match="34 arguments, got 35"):
        _climb.climb(*good().values(), 1)


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -1.0, 5e-324, 1.7e308])
@pytest.mark.parametrize("name", [*NUMBERS, *(name for name in ARRAYS if name not in ("active", "actions", "indices"))])
def test_any_numbers_end_in_order(name, value, squares):
    if name == "tol" and not value >= 0.0:
        return
    arguments = good(squares=squares)
    for size in (0, 2):
        arguments["size"] = size
        arguments["active"][:2] = 3, 3
        arguments["inverse"][:] = np.eye(CAPACITY)
        arguments["ridges"][:] = 1.0
        if name in NUMBERS:
            arguments[name] = value
            arguments["residual"] = arguments["residual"] if squares else 0.0
            arguments["freedom"] = arguments["freedom"] if squares else min(arguments["freedom"], 0.0)
        else:
            arguments[name][...] = value
        if squares and not arguments["freedom"] > 0.0:
            arguments["remainder"] = arguments["overlap"] = np.empty(0)
            arguments["overlap"] = np.empty(0)
        steps, size, _, status = climb(arguments)
        assert 0 <= steps <= MAX_STEPS
        assert 0 <= size <= CAPACITY
        assert status in (CONVERGED, STEPS_DONE, DIGITS_LOST)
        assert set(arguments["active"][:size]) <= set(range(N_CANDIDATES))


def test_nothing_to_do():
    arguments = {
        name: value[:0, :0] if np.ndim(value) == 2 else value[:0] if np.ndim(value) else value for name, value in good().items()
    }
    arguments |= {"gram": np.empty((0, 0)), "inverse": np.empty((0, 0)), "n_candidates": 0, "capacity": 0, "max_steps": 0}
    assert climb(arguments)[:2] == (0, 0)


@pytest.mark.parametrize("wrong", [0, 33])
def test_the_number_of_changes_that_wait_has_bounds(wrong):
    with pytest.raises(ValueError, match=f"together must be from 1 to 32, got {wrong}"):
        climb({**good(), "together": wrong})

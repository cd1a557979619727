"""Direct calls of the compiled Laplace approximation with arrays and numbers that do not fit: an error that names the argument."""

import numpy as np
import pytest

from skarce.methods.latent import _mode

N, M = 9, 3


def good(function, kind=0):
    """Arguments that fit, by name."""
    rng = np.random.default_rng(0)
    columns, targets = rng.normal(size=(M, N)), (np.arange(N) % 2).astype(float)
    if function == "third_order":
        return {
            "columns": columns,
            "root": np.eye(M),
            "third": np.ones(N),
            "third_order": np.empty(N),
            "projections": np.empty(M),
        }
    shared = {"columns": columns, "targets": targets, "counts": np.ones(N), "log_targets": np.zeros(N if kind else 0)}
    if function == "settle":
        sizes = {"rates": np.full(M, 0.01), "largest": np.ones(M), "precisions": np.ones(M), "weights": np.zeros(M)}
        numbers = {"kind": kind, "level": 0.0, "at_level": -1e300, "n_fixed": 1, "tolerance": 1e-4, "max_steps": 5}
        return {**shared, **sizes, "places": np.empty(M, np.int64), **numbers}
    rows = {name: np.empty(N) for name in ("latent", "residual", "curvature", "third")}
    weights = {"precisions": np.ones(M), "weights": np.zeros(M)}
    return {**shared, **weights, **rows, "factor": np.empty((M, M)), "kind": kind, "level": 0.0, "at_level": -1e300}


FUNCTIONS = ("find_mode", "third_order", "settle")
ARRAYS = [(function, name) for function in FUNCTIONS for name, value in good(function).items() if isinstance(value, np.ndarray)]
NUMBERS = [(function, name) for function in FUNCTIONS for name in good(function) if (function, name) not in ARRAYS]
HOSTILE = {
    "no array": lambda a: "rows",
    "nothing": lambda a: None,
    "a list": lambda a: a.tolist(),
    "objects": lambda a: a.astype(object),
    "single precision": lambda a: a.astype(np.float32),
    "the other kind of number": lambda a: a.astype(np.int64 if a.dtype == np.float64 else np.float64),
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "another number of dimensions": lambda a: a[None],
    "every second number": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
}


def call(function, arguments):
    return getattr(_mode, function)(*arguments.values())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_good_arguments_are_taken(function):
    call(function, good(function))
    if function != "third_order":
        call(function, good(function, kind=1))


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize(("function", "name"), ARRAYS)
def test_arrays_that_do_not_fit_are_refused_by_name(function, name, hostile):
    arguments = good(function, kind=int(name == "log_targets"))
    arguments[name] = HOSTILE[hostile](arguments[name])
    with pytest.raises((ValueError, TypeError), match=name):
        call(function, arguments)


@pytest.mark.parametrize("n_more", [-1, 1])
@pytest.mark.parametrize(("function", "name"), ARRAYS)
def test_lengths_that_do_not_fit_are_refused(function, name, n_more):
    arguments = good(function, kind=int(name == "log_targets"))
    array = arguments[name]
    arguments[name] = np.ones((*array.shape[:-1], array.shape[-1] + n_more), array.dtype)
    with pytest.raises(ValueError, match="must have length"):
        call(function, arguments)


@pytest.mark.parametrize("wrong", ["1", None, [1]])
@pytest.mark.parametrize(("function", "name"), NUMBERS)
def test_numbers_that_do_not_fit_are_refused_by_name(function, name, wrong):
    with pytest.raises(TypeError, match=name):
        call(function, good(function) | {name: wrong})


@pytest.mark.parametrize("function", ["find_mode", "settle"])
def test_other_kinds_are_refused(function):
    with pytest.raises(ValueError, match="kind must be 0 for labels or 1 for counts, got 2"):
        call(function, good(function) | {"kind": 2})


@pytest.mark.parametrize("n_fixed", [2, 2**62])
def test_at_most_one_function_is_fixed(n_fixed):
    with pytest.raises(ValueError, match="n_fixed"):
        call("settle", good("settle") | {"n_fixed": n_fixed})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_number_of_arguments_is_checked(function):
    with pytest.raises(TypeError, match=f"{function} takes"):
        getattr(_mode, function)()


@pytest.mark.parametrize(
    ("function", "name", "other"),
    [("find_mode", "latent", "targets"), ("settle", "weights", "rates"), ("third_order", "third_order", "third")],
)
def test_memory_is_not_shared(function, name, other):
    arguments = good(function)
    arguments[name] = arguments[other]
    with pytest.raises(ValueError, match="shares memory"):
        call(function, arguments)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("n", "m"), [(0, 2), (5, 0), (0, 0)])
def test_no_rows_and_no_functions_are_taken(function, n, m):
    shapes = {N: n, M: m}
    arguments = {
        name: value if not isinstance(value, np.ndarray) else np.ones(tuple(shapes.get(k, k) for k in value.shape), value.dtype)
        for name, value in good(function).items()
    }
    if function == "settle":
        arguments["n_fixed"] = 0
    call(function, arguments)


@pytest.mark.parametrize("function", ["find_mode", "settle"])
def test_numbers_that_are_none_end_without_a_mode(function):
    for name in ("columns", "targets", "precisions"):
        arguments = good(function)
        arguments[name] = np.full_like(arguments[name], np.nan)
        assert call(function, arguments)[1] != 0

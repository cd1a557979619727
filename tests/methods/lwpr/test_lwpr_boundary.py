"""Direct calls of compiled code with arrays and numbers that do not fit: an error that names the argument, and nothing written."""

import numpy as np
import pytest

from skarce.methods.lwpr import Layout, Settings, _lwpr

LAYOUT = Layout(3, 2, False)
ARRAYS = ("state", "X", "y", "settings")


def good():
    rng = np.random.default_rng(0)
    return {
        "state": np.zeros((8, LAYOUT.size)),
        "X": rng.normal(size=(5, 3)),
        "y": rng.normal(size=5),
        "settings": np.array(Settings(initial_metric=1.0).numbers()),
        "n_fields": 0,
        "max_projections": 2,
        "is_full": False,
        "negligible": 1e-3,
    }


HOSTILE = {
    "no array": lambda a: "X",
    "nothing": lambda a: None,
    "a list": lambda a: a.tolist(),
    "objects": lambda a: a.astype(object),
    "integers": lambda a: a.astype(np.int64),
    "half the size": lambda a: a.astype(np.float32),
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "one dimension more": lambda a: a[None],
    "longer": lambda a: np.zeros(np.array(a.shape) + 1),
    "wider": lambda a: np.zeros((*a.shape[:-1], a.shape[-1] + 1)),
    "empty": lambda a: np.zeros(np.array(a.shape) * 0),
    "every second": lambda a: np.zeros(np.array(a.shape) * 2)[..., ::2],
}


def test_good_arguments_learn():
    arguments = good()
    n_done, n_fields = _lwpr.learn(*arguments.values())
    assert n_done == 5
    assert 0 < n_fields <= 5


def test_it_stops_where_a_field_has_no_room():
    arguments = good()
    arguments["state"] = arguments["state"][:1]
    arguments["X"] *= 100.0
    assert _lwpr.learn(*arguments.values()) == (1, 1)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_do_not_fit_are_refused_by_name(name, hostile):
    arguments = good()
    arguments[name] = HOSTILE[hostile](arguments[name])
    with pytest.raises((ValueError, TypeError), match=name):
        _lwpr.learn(*arguments.values())


@pytest.mark.parametrize("name", ["n_fields", "max_projections"])
@pytest.mark.parametrize("wrong", [-1, 9, 2**31, 2**32, 2**62, 2**63 - 1, 2**70, 1.5, "3", None])
def test_sizes_that_do_not_fit(name, wrong):
    arguments = good()
    arguments[name] = wrong
    with pytest.raises((ValueError, TypeError), match=name):
        _lwpr.learn(*arguments.values())


@pytest.mark.parametrize("number", [0.0, -1.0, 3.0, np.nan, np.inf])
def test_fields_with_a_wrong_number_of_projections_are_refused(number):
    arguments = good()
    arguments["n_fields"] = 1
    LAYOUT.part(arguments["state"], "n_projections")[0] = number
    with pytest.raises(ValueError, match="1 to 2 projections, but field 0"):
        _lwpr.learn(*arguments.values())


def test_the_state_is_writable_and_apart():
    arguments = good()
    arguments["state"].flags.writeable = False
    with pytest.raises(ValueError, match=r"state must be.* writable"):
        _lwpr.learn(*arguments.values())
    arguments = good()
    arguments["y"] = arguments["state"][0, :5]
    with pytest.raises(ValueError, match="shares memory"):
        _lwpr.learn(*arguments.values())


def test_wrong_numbers_of_arguments_and_numbers():
    with pytest.raises(TypeError, match="takes 8 arguments, got 0"):
        _lwpr.learn()
    with pytest.raises(TypeError, match="negligible"):
        _lwpr.learn(*{**good(), "negligible": "small"}.values())


def test_numbers_that_are_not_finite_do_no_harm():
    """They stay within the arrays; estimators let none of them through."""
    for number in (np.nan, np.inf, -np.inf, 1e300):
        arguments = good()
        arguments["X"][2, 1] = number
        assert _lwpr.learn(*arguments.values())[0] == 5

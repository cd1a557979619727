"""The tools for arrays on devices: what is where, what moves, and special functions."""

import numpy as np
import pytest
from scipy import special as scipy_special

from skarce import _device
from tests.devices import LIBRARIES, Device


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


def test_arrays_on_devices_are_known_by_their_class(device):
    assert _device.is_on_device(device([1.0, 2.0]))
    assert not any(_device.is_on_device(values) for values in (np.ones(2), np.float64(1.0), [1.0], 1.0, None, "torch"))


def test_a_round_trip_keeps_values_types_and_places(device):
    for values in (np.arange(6.0).reshape(2, 3), np.arange(3, dtype=np.float32), np.array([1, 5]), np.array([True, False])):
        moved = _device.to_device(values, like=device([0.0]))
        assert device.holds(moved)
        back = _device.to_host(moved)
        assert back.dtype == values.dtype
        np.testing.assert_array_equal(back, values)


def test_what_is_moved_shares_no_memory(device):
    values = np.ones(3)
    moved = _device.to_device(values, like=device([0.0]))
    moved += 1.0
    np.testing.assert_array_equal(values, 1.0)


def test_arrays_that_cannot_be_written_to_are_moved(device):
    values = np.ones(3)
    values.flags.writeable = False
    np.testing.assert_array_equal(_device.to_host(_device.to_device(values, like=device([0.0]))), 1.0)


@pytest.mark.parametrize("name", ["expit", "log_ndtr", "gammaln"])
def test_special_functions_are_those_of_scipy(device, name):
    values = np.concatenate([-np.geomspace(1e-3, 30.0, 20), [0.5], np.geomspace(1e-3, 30.0, 20)])
    values = np.abs(values) if name == "gammaln" else values
    found = _device.special(name, device(values))
    assert device.holds(found)
    expected = getattr(scipy_special, name)(values)
    np.testing.assert_allclose(_device.to_host(found), expected, rtol=1e-11, atol=1e-13)


def test_log_expit_keeps_its_digits(device):
    values = np.array([-800.0, -30.0, -1.0, 0.0, 1.0, 30.0, 800.0])
    found = _device.to_host(_device.log_expit(device(values)))
    np.testing.assert_allclose(found, scipy_special.log_expit(values), rtol=1e-14)


def test_memory_of_the_host_is_not_counted_as_that_of_a_device(device):
    assert device.name == "cuda" or _device.free_bytes(device([0.0])) is None
    if device.name != "cuda":
        _device.require_there(2**80, device([0.0]), "a matrix", "Use less")


def test_pytorch_tells_what_is_free_on_a_gpu(monkeypatch):
    """What its allocator holds but does not use is free, too."""
    torch = pytest.importorskip("torch")
    for name, answer in (("mem_get_info", (5 * 2**20, 2**40)), ("memory_reserved", 3 * 2**20), ("memory_allocated", 2**20)):
        monkeypatch.setattr(torch.cuda, name, lambda device, answer=answer: answer)
    monkeypatch.setattr(_device, "is_host_memory", lambda values: False)

    class Array(torch.Tensor):
        device = torch.device("cuda")

    like = torch.zeros(1).as_subclass(Array)
    assert _device.free_bytes(like) == 7 * 2**20
    _device.require_there(7 * 2**20, like, "a matrix", "Use less")
    with pytest.raises(ValueError, match=r"a matrix takes about 8 MiB on .*, which has 7 MiB left. Use less."):
        _device.require_there(8 * 2**20, like, "a matrix", "Use less")


def test_words_say_where_an_array_is(device):
    assert device.library in _device.where(device([1.0]))
    assert "host" in _device.where(np.ones(1))


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_and_columns_are_taken(device, axis):
    values, places = np.arange(12.0).reshape(3, 4), np.array([2, 0, 2])
    np.testing.assert_array_equal(_device.to_host(_device.taken(device(values), places, axis=axis)), values.take(places, axis=axis))
    np.testing.assert_array_equal(_device.taken(values, places, axis=axis), values.take(places, axis=axis))


def test_ones_stand_in_front_also_of_nothing(device):
    for columns in (np.arange(6.0).reshape(3, 2), np.empty((3, 0))):
        expected = np.column_stack([np.ones(3), columns])
        np.testing.assert_array_equal(_device.to_host(_device.ones_before(device(columns))), expected)
        np.testing.assert_array_equal(_device.ones_before(columns), expected)

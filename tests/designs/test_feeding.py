"""Blocks of the host on a device: they arrive whole and in order, also if the next one is copied meanwhile."""

import numpy as np
import pytest

from skarce._device import namespace_named, to_host
from skarce.designs.feeding import Feed, OverlappingFeed
from skarce.moments.block_sums import CheckedBlock
from tests.devices import LIBRARIES, PLACES, Device


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


def blocks(lengths=(5, 1, 400, 7, 3000)):
    """Blocks of different lengths, some with weights, so that buffers grow and are used again."""
    rng = np.random.default_rng(0)
    for number, n in enumerate(lengths):
        weights = rng.uniform(size=n) if number % 2 else None
        yield CheckedBlock(
            rng.normal(size=(n, 3)).astype(np.float32 if number == 3 else np.float64), rng.normal(size=(n, 1)), weights
        )


def assert_fed(device, feed):
    fed = list(feed(blocks()))
    for found, expected in zip(fed, blocks(), strict=True):
        for there, here in zip(found, expected, strict=True):
            assert (there is None) == (here is None)
            if here is not None:
                assert device.holds(there)
                np.testing.assert_array_equal(to_host(there), here)
                assert to_host(there).dtype == here.dtype


def test_blocks_arrive_whole_and_in_order(device):
    assert_fed(device, Feed.to(namespace_named(device.library), device.library, device.place))


def test_errors_of_the_source_arrive(device):
    def broken():
        yield from blocks((3,))
        raise OSError("the file is gone")

    feed = Feed.to(namespace_named(device.library), device.library, device.place)
    with pytest.raises(OSError, match="the file is gone"):
        list(feed(broken()))


def test_no_blocks_are_none(device):
    assert list(Feed.to(namespace_named(device.library), device.library, device.place)(())) == []


@pytest.mark.skipif(PLACES.get("torch") != "cuda", reason="needs a GPU")
def test_copies_to_a_gpu_overlap():
    device = Device("torch")
    feed = Feed.to(namespace_named("torch"), "torch", "cuda")
    assert isinstance(feed, OverlappingFeed)
    for _ in range(5):  # races would show now and then
        assert_fed(device, feed)

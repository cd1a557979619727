"""Copies of rows of the host to a device. On a GPU of PyTorch, the next block is copied while the one before it is summed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from skarce._device import placed
from skarce._text import one_line
from skarce.moments.block_sums import CheckedBlock


def _strict_device(name: str) -> Any:
    import array_api_strict

    return array_api_strict.Device(name)


def _cupy_device(name: str) -> Any:
    """Return a device by the name that PyTorch gives it, "cuda" or "cuda:1"."""
    import cupy

    kind, _, number = name.partition(":")
    if kind != "cuda":
        raise ValueError('the names of its devices are "cuda", "cuda:0", "cuda:1"')
    return cupy.cuda.Device(int(number or 0))


NAMED = {"array_api_strict": _strict_device, "cupy": _cupy_device}  # packages whose devices are objects, which a name stands for


class Feed:
    """Copies blocks to a device one after the other.

    Parameters
    ----------
    xp : module
        The functions of the package.
    device : object
        The device.
    """

    def __init__(self, xp: Any, device: Any) -> None:
        self._xp, self._device = xp, device
        self.like = xp.zeros(1, dtype=xp.float64, device=device)  # an array on the device

    @classmethod
    def to(cls, xp: Any, library: str, device: Any) -> Feed:
        """Return what copies to a device of a package. Raise a ValueError if there is no such device."""
        name = device
        try:
            if isinstance(device, str) and library in NAMED:
                device = NAMED[library](device)
            feed = cls(xp, device)
        except Exception as error:  # packages have errors of their own for missing devices
            raise ValueError(f"{library} has no device {name!r} with double precision: {one_line(error, 200)}.") from None
        return OverlappingFeed(xp, device) if library == "torch" and "cuda" in str(device) else feed

    def __call__(self, blocks: Iterable[CheckedBlock]) -> Iterator[CheckedBlock]:
        """Yield blocks on the device."""
        for rows in blocks:
            yield self._copied(rows)

    def _copied(self, rows: CheckedBlock) -> CheckedBlock:
        arrays: list[Any] = [None if values is None else placed(values, self._xp, self._device) for values in rows]
        return CheckedBlock(*arrays)


class OverlappingFeed(Feed):
    """The same for a GPU of PyTorch. A thread reads the next block into pinned memory, from which the GPU copies it by itself.

    Two sets of pinned buffers take turns. A buffer is filled again only after the copy out of it has ended.
    """

    def __call__(self, blocks: Iterable[CheckedBlock]) -> Iterator[CheckedBlock]:
        import torch

        stream, ahead = torch.cuda.Stream(self._device), iter(blocks)
        buffers: list[dict[int, Any]] = [{}, {}]
        copied: list[Any] = [None, None]

        def fetch(turn: int) -> tuple[CheckedBlock, Any] | None:
            rows = next(ahead, None)
            if rows is None:
                return None
            if copied[turn] is not None:
                copied[turn].synchronize()
            with torch.cuda.stream(stream):
                arrays = [self._pinned(buffers[turn], place, values) for place, values in enumerate(rows)]
                copied[turn] = torch.cuda.Event()
                copied[turn].record(stream)
            return CheckedBlock(*arrays), copied[turn]

        with ThreadPoolExecutor(1, thread_name_prefix="skarce-feed") as thread:
            coming, turn = thread.submit(fetch, 0), 0
            while (fetched := coming.result()) is not None:
                turn = 1 - turn
                coming = thread.submit(fetch, turn)
                yield _ready(*fetched)

    def _pinned(self, buffers: dict[int, Any], place: int, values: Any) -> Any:
        """Copy an array through pinned memory, on the stream of the caller. The copy to the device has not ended on return."""
        import torch

        if values is None:
            return None
        buffer, kind = buffers.get(place), torch.from_numpy(np.empty(0, dtype=values.dtype)).dtype
        if buffer is None or buffer.dtype != kind or buffer.numel() < values.size:
            buffer = buffers[place] = torch.empty(values.size, dtype=kind, pin_memory=True)
        pinned = buffer[: values.size].view(values.shape)
        np.copyto(pinned.numpy(), values)
        return pinned.to(self._device, non_blocking=True)


def _ready(rows: Any, copied: Any) -> CheckedBlock:
    """Make the current stream wait for the copies, and tell the allocator that it uses them."""
    import torch

    current = torch.cuda.current_stream(rows.X.device)
    current.wait_event(copied)
    for values in rows:
        if values is not None:
            values.record_stream(current)
    return rows

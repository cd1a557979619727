"""Threads for passes over the data, and one BLAS thread for small matrices.

NumPy releases the interpreter lock inside its loops and inside BLAS, so plain threads use all cores. Small factorisations lose
by threaded BLAS (a 1000 x 1000 Cholesky was seen a hundred times slower under load), so the step loops run on one thread and
ask for all of them only for large products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import joblib
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")


@cache
def n_cores() -> int:
    return int(joblib.cpu_count())


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Run the body with this many BLAS threads, and put back what was there."""
    with _controller().limit(limits=n_threads):
        yield


def for_each(work: Callable[[Item], object], items: Iterable[Item], *, elements: float) -> None:
    """Call `work` on every item, on all cores where `elements` numbers to compute make that worth while.

    The first exception is raised after the running items have ended; items not yet started are dropped.
    """
    items = list(items)
    if n_cores() == 1 or len(items) < 2 or elements < 1e5:
        for item in items:
            work(item)
        return
    with blas_threads(1), ThreadPoolExecutor(n_cores()) as threads:
        running = [threads.submit(work, item) for item in items]
        try:
            for future in running:
                future.result()
        finally:
            for future in running:
                future.cancel()

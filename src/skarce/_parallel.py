"""Threads for passes over the data, and one BLAS thread for small matrices.

NumPy releases the interpreter lock inside its loops and inside BLAS, so plain threads use all cores. Threaded BLAS is slow on small
factorizations (a 1000 x 1000 Cholesky took a hundred times longer under load), and each change of its number of threads costs
milliseconds. So the library keeps BLAS at one thread, and cuts large products into pieces that run on threads of the library.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, TypeVar, cast

import joblib
import numpy as np

from skarce._blas import blas_threads
from skarce._typing import Floats

__all__ = [
    "add_squares",
    "blas_threads",
    "by_threads",
    "for_each",
    "free_threads",
    "n_cores",
    "on_one_blas_thread",
    "one_thread",
    "product",
    "shares",
    "slices",
    "squares",
]

Item = TypeVar("Item")
Made = TypeVar("Made")
Function = TypeVar("Function", bound=Callable[..., Any])
WORTH_THREADS = 3e7  # floating-point operations above which threads pay for their start


_here = threading.local()  # its attribute is_worker is set on the threads of the pool


@cache
def n_cores() -> int:
    """Return the number of cores that this process may use."""
    return int(joblib.cpu_count())


def free_threads() -> int:
    """Return how many threads `for_each` would use for long work: one on a thread of the pool, and inside `one_thread`."""
    return 1 if getattr(_here, "is_worker", False) else n_cores()


@cache
def _threads() -> ThreadPoolExecutor:
    """Return a pool with one thread per core. It is kept: starting a thread and its BLAS buffers costs half a millisecond."""
    return ThreadPoolExecutor(n_cores(), thread_name_prefix="skarce")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)  # threads do not survive a fork


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the body on the calling thread only. This is for the case that each core already runs its own process."""
    before = getattr(_here, "is_worker", False)
    try:
        _here.is_worker = True
        with blas_threads(1):
            yield
    finally:
        _here.is_worker = before


def on_one_blas_thread(function: Function) -> Function:
    """Decorate a function that loops over small matrices, so that it runs on one BLAS thread."""

    @wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Any:
        with blas_threads(1):
            return function(*args, **kwargs)

    return cast(Function, limited)


def for_each(work: Callable[[Item], object], items: Iterable[Item], *, operations: float) -> None:
    """Call `work` on every item. All cores are used if the number of floating-point `operations` is large enough.

    The first exception is raised after the running items have ended; items that have not started are dropped. A call from within
    `work` stays on its thread: all threads are busy, and if they waited for each other, they would wait forever.
    """
    items = list(items)
    if free_threads() == 1 or len(items) < 2 or operations < WORTH_THREADS:
        for item in items:
            work(item)
        return

    def on_worker(item: Item) -> None:
        _here.is_worker = True
        work(item)

    with blas_threads(1):
        running: list[Future[None]] = []
        try:
            for item in items:
                running.append(_threads().submit(on_worker, item))
            for future in running:
                future.result()
        finally:
            for future in running:
                future.cancel()
            wait(running)


def by_threads(work: Callable[[list[Item]], Made], parts: list[Item], *, workers: int, operations: float) -> list[Made]:
    """Return what `work` makes of every `workers`-th of the parts, once on each thread. So each has sums of its own."""
    made: list[Any] = [None] * workers

    def run(worker: int) -> None:
        made[worker] = work(parts[worker::workers])

    for_each(run, range(workers), operations=operations)
    return made


def slices(n: int, step: int) -> list[slice]:
    """Return consecutive slices of at most `step` elements that cover range(n)."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def shares(n: int) -> list[slice]:
    """Cut range(n) into one slice per core."""
    return slices(n, max(1, -(-n // n_cores())))


def product(left: Floats, right: Floats) -> Floats:
    """Return left @ right, computed on all cores."""
    out = np.empty((len(left), right.shape[1]))

    def work(columns: slice) -> None:
        np.matmul(left, right[:, columns], out=out[:, columns])

    for_each(work, shares(right.shape[1]), operations=2.0 * left.size * right.shape[1])
    return out


def squares(phi: Floats) -> Floats:
    """Return phi'phi, computed on all cores."""
    gram = np.zeros((phi.shape[1], phi.shape[1]))
    add_squares(phi, gram)
    return gram


def add_squares(phi: Floats, gram: Floats) -> None:
    """Add phi'phi to `gram` on all cores. Each pair of column blocks is computed once and also added transposed."""
    if float(phi.size) * phi.shape[1] < WORTH_THREADS:
        gram += phi.T @ phi
        return
    blocks = slices(phi.shape[1], max(64, min(1024, -(-phi.shape[1] // n_cores()))))
    # A block on the diagonal costs half as much as one off the diagonal. The expensive ones come first.
    pairs = [(a, b) for i, a in enumerate(blocks) for b in blocks[i + 1 :]] + [(a, a) for a in blocks]

    def work(pair: tuple[slice, slice]) -> None:
        rows, columns = pair
        left = phi[:, rows]
        block = left.T @ (left if rows is columns else phi[:, columns])
        gram[rows, columns] += block
        if rows is not columns:
            gram[columns, rows] += block.T

    for_each(work, pairs, operations=float(phi.size) * phi.shape[1])

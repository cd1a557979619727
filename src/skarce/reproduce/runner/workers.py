"""Tasks on several processes, which never outlive this one."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from joblib import cpu_count
from joblib.externals.loky import ProcessPoolExecutor

from skarce._processes import end_with_parent

Result = TypeVar("Result")
LOOK = 1.0  # seconds; on Windows, Ctrl-C is noticed only between two waits
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class LostProcessError(RuntimeError):
    """A process of a run was killed from outside."""


def n_processes(n_jobs: int) -> int:
    """The number of processes; -1 means one per core."""
    return int(cpu_count()) if n_jobs == -1 else n_jobs


def results_of(tasks: Iterator[Callable[[], Result]], n_jobs: int) -> Generator[Result, None, None]:
    """The results as they arrive. A task is drawn only when a process is free for it. Processes are killed if this ends early."""
    if n_jobs == 1:
        yield from (task() for task in tasks)
        return
    with ignore_sigint_in_children():
        # Not the reusable executor: joblib.Parallel would take it over, and it lacks what Parallel needs.
        executor = ProcessPoolExecutor(n_jobs, timeout=None, initializer=_begin, initargs=(os.getpid(),), env=ONE_THREAD)
        running = {executor.submit(task) for task in islice(tasks, n_jobs)}  # starts the processes
    try:
        while running:
            done, running = wait(running, LOOK, FIRST_COMPLETED)
            running |= {executor.submit(task) for task in islice(tasks, len(done))}
            yield from (_result(future) for future in done)
    except BaseException:
        with ignore_sigint_in_children():  # a program that is started to find them must not stop either
            executor.shutdown(wait=True, kill_workers=True)
        raise
    executor.shutdown(wait=True)


def _begin(parent: int) -> None:
    """Prepare a process: Ctrl-C is for the parent, which ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)


def _result(future: Future[Any]) -> Any:
    try:
        return future.result()
    except BrokenExecutor:
        raise LostProcessError("a process of the run was killed, perhaps for lack of memory; try fewer --jobs.") from None


@contextmanager
def ignore_sigint_in_children() -> Iterator[None]:
    """Processes that start in this context ignore Ctrl-C. This process does not: it ends them, so they print no tracebacks."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set signal handlers
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)

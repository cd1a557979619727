"""The number of BLAS threads, which belongs to the whole process: all threads that want another one must agree.

A thread that saves the number, changes it and restores it later may save what another thread has set, and restores that for good.
So there is one list of all who hold a limit. The first one in saves the number, and the last one out restores it.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController

CHANGING = 0  # the limit while libraries are being told; no caller asks for it


class _Limit:
    """The limits that callers hold now. The smallest one is in force.

    A change that an interrupt cuts short is completed by the next call, because `in_force` says so until all libraries know.
    """

    def __init__(self, libraries: Sequence[Any]) -> None:
        self._libraries = libraries
        self._lock = threading.Lock()
        self._held: dict[weakref.ref[blas_threads], int] = {}
        self._before: list[int] = []
        self._in_force: int | None = None

    def take(self, holder: blas_threads) -> None:
        """Note the limit of a holder. If the holder vanishes without giving it back, its entry does too."""
        with self._lock:
            self._held[weakref.ref(holder, self._held.pop)] = holder.n_threads
            self._settle()

    def give_back(self, holder: blas_threads) -> None:
        with self._lock:
            self._held.pop(weakref.ref(holder), None)
            self._settle()

    def forget_other_threads(self) -> None:
        """After a fork, only this thread lives on. The others may have held limits, and the lock."""
        self._lock = threading.Lock()
        for reference in list(self._held):
            holder = reference()
            if holder is not None and holder.thread != threading.get_ident():
                del self._held[reference]
        self._settle()

    def _settle(self) -> None:
        """Tell the libraries, unless they know already: that costs ten times as much as to look."""
        wanted = min(list(self._held.values()), default=None)  # a copy: any thread may lose a holder meanwhile
        if wanted == self._in_force:
            return
        if self._in_force is None:
            self._before = [library.get_num_threads() for library in self._libraries]
        former, self._in_force = self._in_force, CHANGING
        for library, before in zip(self._libraries, self._before, strict=True):
            if wanted is not None:
                _set(library, wanted)
            elif former in (CHANGING, library.get_num_threads()):  # else somebody else has set it since, and knows why
                _set(library, before)
        self._in_force = wanted


def _set(library: Any, n_threads: int) -> None:
    """Set the number of threads of one library, from any thread.

    Since threadpoolctl 3.8, the thread that sets the number of OpenBLAS keeps others from setting it. Here the last one out may be
    on another thread than the first one in, and there is a lock, so the function behind that rule is called.
    """
    getattr(library, "_real_set_num_threads", library.set_num_threads)(n_threads)


_lock = threading.Lock()
_found: list[list[Any]] = []  # libraries with one number for the process, and those with one for each thread
_shared: list[_Limit] = []
_own = threading.local()  # its attribute limit is the one of this thread


def _limits() -> list[_Limit]:
    """The limit of the process. If there are libraries that keep one number for each thread, also the one of this thread."""
    if not _shared:
        with _lock:
            _find_libraries()
    if not _found[1]:
        return _shared
    if not hasattr(_own, "limit"):
        _own.limit = _Limit(_found[1])
    return [*_shared, _own.limit]


def _find_libraries() -> None:
    if _shared:  # another thread was here first
        return
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    _found[:] = [[one for one in libraries if _is_per_thread(one) is wanted] for wanted in (False, True)]
    _shared.append(_Limit(_found[0]))


def _is_per_thread(library: Any) -> bool:
    """Whether the library is OpenBLAS on top of OpenMP. It asks OpenMP, which keeps one number for each thread."""
    return library.internal_api == "openblas" and getattr(library, "threading_layer", "") == "openmp"


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    for limit in _shared:
        limit.forget_other_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class blas_threads:  # noqa: N801  (used like a function)
    """Run the body with at most this many BLAS threads, and restore the former number after the last body has ended.

    Bodies may lie inside one another and on any threads; the smallest number holds. An interrupt may come at any line.

    Parameters
    ----------
    n_threads : int, at least 1
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self.thread = threading.get_ident()
        self._taken: Sequence[_Limit] = ()

    def __enter__(self) -> None:
        try:
            self._taken = _limits()
            for limit in self._taken:
                limit.take(self)
        except BaseException:
            self._give_back()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._give_back()
        except BaseException:  # an interrupt in the middle of it
            self._give_back()
            raise

    def _give_back(self) -> None:
        for limit in self._taken:
            limit.give_back(self)

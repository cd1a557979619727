"""Processes that end with the one that started them, also if that one is killed and cannot tell them."""

from __future__ import annotations

import inspect
import os
import threading
import time
from typing import Any

import joblib

PAUSE = 0.5  # seconds between two looks at the parent
ORPHANED = 1  # exit code; nobody reads it


def end_with_parent(parent: int) -> None:
    """Let this process end when `parent`, the process that started it, has ended.

    A thread watches the parent, because the signal that Linux sends in this case comes when the thread that started this process
    ends, not its process. On Windows a process keeps the number of its parent, so there is nothing to watch.
    """
    if os.name == "posix":
        threading.Thread(target=_watch, args=(parent,), name="skarce-parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(ORPHANED)


def until_parent_ends() -> dict[str, Any]:
    """Return options of `joblib.Parallel` whose processes end with this one, also if they have only just begun.

    Only joblib's own processes get them: those of a cluster serve others too. joblib 1.4 has no such options.
    """
    backend, _ = joblib.parallel.get_active_backend()
    takes_more = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(joblib.Parallel).parameters.values())
    is_own = isinstance(backend, joblib.parallel.BACKENDS["loky"])
    return {"initializer": end_with_parent, "initargs": (os.getpid(),)} if takes_more and is_own else {}

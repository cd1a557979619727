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


def end_with_parent_if_child(parent: int) -> None:
    """Do the same, unless this is no child of `parent`, but a process of a cluster that serves others too."""
    if os.getppid() == parent:
        end_with_parent(parent)


def until_parent_ends() -> dict[str, Any]:
    """Return options of `joblib.Parallel` whose processes end with this one. joblib 1.4 has no such options."""
    takes_more = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(joblib.Parallel).parameters.values())
    return {"initializer": end_with_parent_if_child, "initargs": (os.getpid(),)} if takes_more else {}

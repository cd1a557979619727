"""Interrupt a call after a given number of lines of skarce, as Ctrl-C would."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from benchmarks.fuzz.faults import OWN
from skarce import _blas

# No signal handler runs between the end of a with block and the release of its lock, but the line of the with statement is traced
# there. An interrupt at that line would hold the lock for good.
LOCKED = _blas.__file__


def interrupted(work: Callable[[], Any], after: int) -> None:
    """Run `work`, and raise a KeyboardInterrupt inside it after that many lines of skarce, if it takes that many."""
    left = after

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(OWN) or frame.f_code.co_filename == LOCKED:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return
    finally:
        sys.settrace(before)

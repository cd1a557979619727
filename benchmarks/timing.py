"""Measure wall time, CPU seconds on one BLAS thread, and peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits


def wall_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Return CPU seconds of all threads, with BLAS limited to one thread."""
    with threadpool_limits(1):
        started = time.process_time()
        work()
        return time.process_time() - started


def peak_in_own_process(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m module arguments`` and return the JSON of its last line."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def peak_megabytes() -> float:
    """Return the largest resident size of this process so far.

    On Linux it is read from /proc, because the number of getrusage includes the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1024.0
    import resource  # Windows lacks it

    unit = 1024.0 if sys.platform != "darwin" else 1024.0**2
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def product_rate() -> float:
    """Return the floating-point operations per second of a matrix product on all cores of this machine."""
    A = np.random.default_rng(0).normal(size=(1500, 1500))
    return 2.0 * 1500**3 / min(wall_seconds(lambda: A @ A)[0] for _ in range(7))

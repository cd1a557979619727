"""Where a report comes from: the data by their fingerprint, the command, and the versions."""

from __future__ import annotations

import hashlib
import platform
import shlex
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

PACKAGES = ("skarce", "numpy", "scipy", "scikit-learn", "pandas")


def fingerprint(frame: Any) -> str:
    """The SHA-256 of names, types and values of a table: the same for the same rows in the same order, in any file format."""
    digest = hashlib.sha256(repr([(str(name), str(kind)) for name, kind in frame.dtypes.items()]).encode())
    digest.update(np.ascontiguousarray(pd.util.hash_pandas_object(frame, index=False).to_numpy()).tobytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """The versions of Python and of what computed the numbers."""
    return {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def versions_in_words() -> str:
    """The same in one line."""
    return ", ".join(f"{name} {number}" for name, number in versions().items())


def command_line(arguments: Sequence[str]) -> str:
    """The command as it can be pasted into a shell."""
    return shlex.join(["skarce", *arguments])

"""What a fault is, and which exceptions and warnings are one."""

from __future__ import annotations

import linecache
import traceback
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

LONGEST_MESSAGE = 600  # characters of a message that a person still reads
CASE_FILE = "<case>"  # the file name of the code of a case
LEAKED_WARNINGS = (RuntimeWarning, DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning, BytesWarning)
PACKAGE = find_spec("skarce")  # found, not imported: a worker that does not need it starts at once
OWN, TRUSTED = f"{Path(str(PACKAGE and PACKAGE.origin)).parent}/", "/sklearn/"  # code that checks inputs and explains what is wrong
# Folders of transformers, kernels and scores. What happens inside of them is not a fault of ours.
FOREIGN = tuple(f"/sklearn/{name}" for name in ("preprocessing/", "decomposition/", "kernel_approximation", "impute/", "metrics/"))


@dataclass(frozen=True)
class Fault:
    """Something that must not happen. Faults of the same kind at the same place are one fault.

    Parameters
    ----------
    kind : str
        What went wrong, such as "ZeroDivisionError" or "NaN in coef_".
    place : str
        The innermost function of skarce, or the estimator if there is none.
    detail : str
        The message, or the values seen. It does not tell faults apart.
    """

    kind: str
    place: str
    detail: str = ""

    @property
    def signature(self) -> tuple[str, str]:
        """What makes two faults the same."""
        return self.kind, self.place

    def __str__(self) -> str:
        return f"{self.kind} in {self.place}" + (f": {self.detail}" if self.detail else "")


NOT_RUNNABLE = Fault("not runnable", "the case itself")  # no fault: the lines before the attack do not work together


def fault_of_exception(error: BaseException) -> Fault | None:
    """The fault that an exception is, or None if it is a clear message for the user."""
    frames = traceback.extract_tb(error.__traceback__)
    if _is_foreign(frames):
        return None
    kind, message = type(error).__name__, " ".join(str(error).split())
    place, detail = place_of(frames), message[:300]
    if not isinstance(error, (ValueError, TypeError, AttributeError)) or isinstance(error, (np.linalg.LinAlgError, UnicodeError)):
        return Fault(kind, place, detail)
    if frames and frames[-1].filename == CASE_FILE:  # the case itself asked for what does not exist
        return None
    if isinstance(error, AttributeError) and not _is_deliberate(frames):
        return Fault(kind, place, detail)
    if not message:
        return Fault(f"{kind} without a message", place)
    if len(message) > LONGEST_MESSAGE and TRUSTED not in frames[-1].filename:
        return Fault(f"{kind} with a long message", place, f"{len(message)} characters: {detail[:120]} ...")
    if not _is_deliberate(frames):
        return Fault(f"unchecked {kind}", place, detail)
    return None


def fault_of_warning(category: type[Warning], message: str, frames: Any) -> Fault | None:
    """The fault that a warning is, or None if it is meant for the user."""
    if not issubclass(category, LEAKED_WARNINGS) or _is_foreign(frames):
        return None
    return Fault(category.__name__, place_of(frames), " ".join(message.split())[:200])


def place_of_stack(stack: list[tuple[str, str]]) -> str:
    """The function of skarce that a case without an end is in, from (file, function), the innermost first.

    The innermost function changes from moment to moment, so this is the outermost one below the estimators.
    """
    below = [f"{name}, {function}" for name, function in stack if not name.startswith(("estimators/", "_"))]
    return below[-1] if below else "unknown"


def place_of_exception(error: BaseException) -> str:
    """The innermost function of skarce in the traceback of an exception."""
    return place_of(traceback.extract_tb(error.__traceback__))


def place_of(frames: Any) -> str:
    """The innermost function of skarce among the frames of a traceback or a stack."""
    for frame in reversed(list(frames)):
        if frame.filename.startswith(OWN):
            return f"{frame.filename.removeprefix(OWN)}, {frame.name}"
    return f"{Path(frames[-1].filename).name}, {frames[-1].name}" if frames else "unknown"


def _called_by_us(frames: Any) -> Any:
    """The frames below the innermost function of skarce."""
    is_own = [frame.filename.startswith(OWN) for frame in frames]
    return frames[len(is_own) - is_own[::-1].index(True) :] if any(is_own) else frames


def _is_foreign(frames: Any) -> bool:
    """Whether this happened outside of skarce, inside a transformer, or in a function of the case that skarce called."""
    if not any(frame.filename.startswith(OWN) for frame in frames):
        return True
    return any(f.name == "<lambda>" or any(folder in f.filename for folder in FOREIGN) for f in _called_by_us(frames))


def _is_deliberate(frames: Any) -> bool:
    """Whether skarce raises by a statement of its own, or has called scikit-learn, whose messages are known."""
    called = _called_by_us(frames)
    if called:
        return any(TRUSTED in frame.filename for frame in called)
    return linecache.getline(frames[-1].filename, frames[-1].lineno).strip().startswith("raise")

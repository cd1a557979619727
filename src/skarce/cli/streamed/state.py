"""The state of a streamed fit in a file, so that a fit that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
import skops.io
from sklearn.compose import ColumnTransformer

from skarce import __version__
from skarce._text import one_line
from skarce._typing import Floats
from skarce._whole_file import OutputError, replacing
from skarce.basis import KernelBasis
from skarce.basis.default import INPUTS
from skarce.cli.archive import RefusedError, check_size, packed, read_parts
from skarce.cli.model_schema import allowed_types, checked_parts
from skarce.cli.streamed.files import ChangedFileError, DataFiles, Place
from skarce.datasets.tables import TableError
from skarce.moments import FoldSums, Sums
from skarce.moments.folds import N_FOLDS

HEADER = "skarce-state.json"  # the part of the file that says what it is
FORMAT = 2  # 1 had no folds
SECONDS = 5.0  # between two states at least
SHARE_OF_TIME = 0.05  # that is spent on writing states at most
NOTHING = "no file was written."  # how the message of an interrupt ends that left no file


class StateError(OutputError):
    """A state that cannot be used, and why."""


AnySums = Sums | FoldSums


@dataclass
class FitState:
    """All that is needed to go on with a streamed fit.

    Attributes
    ----------
    kinds : dict
        The kind of each input column.
    preprocessing : ColumnTransformer
        Scales numbers and encodes texts.
    basis : KernelBasis or "passthrough"
        The candidates.
    kept : array of shape (n_kept, n_inputs)
        A sample of the preprocessed rows, which shows where the data are.
    n_rows : int
        The number of all rows.
    place : Place
        The rows before this place are in the sums.
    sums : Sums or FoldSums
        Sums over these rows, for each fold of them if the std is to be calibrated.
    """

    kinds: dict[str, str]
    preprocessing: Any
    basis: Any
    kept: Floats
    n_rows: int
    place: Place
    sums: AnySums

    @property
    def n_done(self) -> int:
        """The number of rows in the sums."""
        return round(self.sums.n_samples)

    @property
    def whole(self) -> Sums:
        """The sums over all these rows."""
        return self.sums.whole() if isinstance(self.sums, FoldSums) else self.sums

    def go_on(self, sums: AnySums, place: Place) -> None:
        """Take the sums of the rows before a place. Both change at once, so that an interrupt cannot come in between."""
        vars(self).update(sums=sums, place=place)


def fingerprint(data: DataFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for a state to be used: the version, the files and the options."""
    files = {os.path.realpath(file.path): list(file.stamp) for file in data.files}
    given = {name: value for name, value in options.items() if value is not None}
    return {"version": __version__, "files": files, "options": {**given, "columns": list(data.columns), "block": data.block_rows}}


class StateFile:
    """A file for the state of one fit. Without a path, nothing is kept.

    Attributes
    ----------
    path : Path or None
        Where it is.
    n_saved : int
        The number of rows in the state that was read or written last.
    """

    n_saved: int = 0

    def __init__(self, path: Path | None, identity: dict[str, Any], clock: Callable[[], float] = time.monotonic) -> None:
        self.path, self._identity, self._clock = path, json.loads(json.dumps(identity)), clock
        self._next = clock() + SECONDS

    def load(self) -> FitState | None:
        """The state in the file, or None if there is none. Raise a StateError if it cannot be used for this fit."""
        if self.path is None or not self.path.exists():
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                state = self._read(self.path)
        except RefusedError as error:
            raise StateError(f"{self.path} {error} {_REMEDY}") from None
        except OSError as error:
            raise StateError(f"{self.path} cannot be read: {error.strerror or error}.") from None
        except BadZipFile:
            raise StateError(f"{self.path} is not a state of skarce fit, or it is damaged. {_REMEDY}") from None
        except Exception as error:  # a damaged file can raise anything
            raise StateError(f"{self.path} is damaged ({one_line(error, 100)}). {_REMEDY}") from None
        self.n_saved = state.n_done
        return state

    def save(self, state: FitState) -> None:
        """Write the state, completely or not at all."""
        if self.path is None:
            return
        started = self._clock()
        parts = list(state.sums.folds) if isinstance(state.sums, FoldSums) else [state.sums]
        content = {field.name: getattr(state, field.name) for field in fields(state)}
        content |= {"place": list(state.place), "sums": parts}
        with replacing(self.path) as draft:
            skops.io.dump(content, draft)
            with ZipFile(draft, "a") as archive:
                archive.writestr(HEADER, json.dumps({"format": FORMAT, **self._identity}))
            _check_size(draft, self.path)
        self.n_saved = state.n_done
        ended = self._clock()
        self._next = ended + max(SECONDS, (ended - started) / SHARE_OF_TIME)

    def save_now_and_then(self, state: FitState) -> None:
        """Write the state if the last time was a few seconds ago."""
        if self._clock() >= self._next:
            self.save(state)

    def error_of_change(self, error: ChangedFileError) -> TableError:
        """What to raise if a file has changed: a state of it, if there is one, belongs to what it was before."""
        if self.path is None or not self.path.is_file():
            return error
        return TableError(f"{error.found}, so {self.path} no longer fits. {_REMEDY}")

    def remove(self) -> None:
        """Delete the file: the fit is done."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _read(self, path: Path) -> FitState:
        parts = read_parts(path)
        if HEADER not in parts:
            raise RefusedError("is not a state of skarce fit.")
        header = json.loads(parts[HEADER])
        difference = _difference(header, {"format": FORMAT, **self._identity})
        if difference:
            raise RefusedError(f"belongs to another fit: {difference}.")
        content = skops.io.loads(packed(checked_parts(parts)), trusted=sorted(allowed_types()["ObjectNode"]))
        parts = content["sums"]
        sums = parts[0] if len(parts) == 1 else FoldSums(tuple(parts))
        state = FitState(**{**content, "place": Place(*content["place"]), "sums": sums})
        _check(state, len(self._identity["files"]))
        return state


@contextmanager
def mentioned(path: Path | None) -> Iterator[None]:
    """Let an interrupt say that a state is still there, unless it has written the state and says more itself."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        word, _, end = (str(interrupt) or f"Interrupted; {NOTHING}").partition("; ")
        if end == NOTHING and path is not None and path.is_file():
            interrupt.args = (f"{word}; no model was written. The state in {path} is still there.",)
        raise


_REMEDY = "Name another file for --state, or delete it to begin again."


def _check_size(draft: Path, path: Path) -> None:
    """Raise if the state is larger than what would be read."""
    try:
        check_size(draft)
    except RefusedError as error:
        raise StateError(f"{path} {error} Use fewer --centers, or leave --state out.") from None


def _difference(found: Any, wanted: dict[str, Any]) -> str:
    """The first difference between two fingerprints in words, or nothing."""
    for name, word in (("version", "of skarce "), ("format", "of format ")):
        if found[name] != wanted[name]:
            return f"it is {word}{found[name]}, and this is {wanted[name]}"
    return _difference_of_files(found["files"], wanted["files"]) or _difference_of_options(found["options"], wanted["options"])


def _difference_of_files(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    for path in sorted(found.keys() ^ wanted.keys()):
        return f"{path} is {'no longer' if path in found else 'now'} among the files"
    for path, stamp in wanted.items():
        if found[path] != stamp:
            what = "size" if found[path][0] != stamp[0] else "time of change"
            return f"{path} has another {what} now"
    return "the files have another order" if list(found) != list(wanted) else ""


def _difference_of_options(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    for name in sorted(found.keys() | wanted.keys()):
        before, now = (options.get(name, "not given") for options in (found, wanted))
        if before != now:
            return f"{name} was {one_line(before, 60)}, and is {one_line(now, 60)}"
    return ""


def _check(state: FitState, n_files: int) -> None:
    """Raise ValueError unless the parts of a state fit together."""
    parts = state.sums.folds if isinstance(state.sums, FoldSums) else (state.sums,)
    m = len(parts[0].candidate_means)
    is_sound = (
        len(parts) in (1, N_FOLDS)
        and isinstance(state.preprocessing, ColumnTransformer)
        and (state.basis.n_candidates == m if isinstance(state.basis, KernelBasis) else state.basis == INPUTS)
        and all(_are_sound(sums, m) for sums in parts)
        and _are_finite(state.kept)
        and 0 <= state.place.file < n_files
        and state.place.row >= 0
        and 0 <= state.n_done <= state.n_rows
    )
    if not is_sound:
        raise ValueError("its parts do not fit together")


def _are_sound(sums: Any, m: int) -> bool:
    """Whether these are sums over m candidates and one target."""
    shapes = [(m, m), (m, 1), (m,), (1,), (1,)]
    return isinstance(sums, Sums) and all(
        values.shape == shape and _are_finite(values)
        for values, shape in zip(
            [sums.gram, sums.projections, sums.candidate_means, sums.target_means, sums.target_energies], shapes, strict=True
        )
    )


def _are_finite(values: Any) -> bool:
    return values.dtype == np.float64 and bool(np.isfinite(values).all())

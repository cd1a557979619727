"""Parquet files by their paths: files, folders, patterns, and keys of Hive partitions in the names of folders."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from skarce._text import printable, quoted

SUFFIXES = (".parquet", ".pq")
HIDDEN = ("_", ".")  # how the names of files and folders begin that are not data, such as _SUCCESS and _delta_log


@dataclass(frozen=True)
class DataFile:
    """A file as it was when it was found.

    Attributes
    ----------
    path : Path
        Where it is.
    keys : dict
        The values of its Hive keys as text.
    stamp : tuple of int
        Its size and the time of its last change.
    """

    path: Path
    keys: dict[str, str]
    stamp: tuple[int, int]

    @classmethod
    def of(cls, path: Path, folders: tuple[str, ...]) -> DataFile:
        """Look at a file. `folders` may have Hive keys in their names."""
        pairs = (folder.partition("=") for folder in folders)
        return cls(path, {unquote(key): unquote(value) for key, equals, value in pairs if key and equals}, _stamp(path))

    @property
    def name(self) -> str:
        """The path for messages."""
        return printable(str(self.path))

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is as it was when it was found."""
        try:
            return _stamp(self.path) == self.stamp
        except OSError:
            return False

    def check_unchanged(self) -> None:
        """Raise a ValueError if the file has changed since it was found."""
        if not self.is_unchanged:
            raise ValueError(
                f"{self.name} has changed or was removed since RowBlocks.from_parquet found it, but each pass must read the same "
                "rows. Call RowBlocks.from_parquet and fit again."
            )


def find_files(paths: Any) -> list[DataFile]:
    """Return the files of a path or of a list of paths, sorted. Raise an error that names a path without files."""
    is_path = isinstance(paths, (str, bytes, os.PathLike))
    files = sorted((file for path in ([paths] if is_path else _listed(paths)) for file in _files_of(path)), key=lambda f: f.path)
    seen: dict[str, DataFile] = {}
    for file in files:
        first = seen.setdefault(os.path.realpath(file.path), file)
        if first is not file:
            raise ValueError(f"{file.name} is given twice, so its rows would count twice. Name each file, folder or pattern once.")
    return files


def hint_about_keys(path: Path, names: Iterable[str]) -> str:
    """Where columns of these names are if they are Hive keys of a path that was given as a file. Empty if none of them is."""
    wanted = set(names)
    places = [place for place, folder in enumerate(path.parts[:-1]) if _key(folder) in wanted]
    if not places or not path.name.lower().endswith(SUFFIXES):
        return ""
    keys, first = ", ".join(quoted(_key(path.parts[place])) for place in places), places[0]
    outside, folder = Path(*path.parts[:first]), path.parts[first].partition("=")[0]
    pattern = Path(outside, f"{folder}=*", *path.parts[first + 1 :])
    return (
        f" The path has values of {keys}, but keys in names of folders are read only below a folder, or from a wildcard on: give "
        f'the folder {printable(str(outside))}, or a pattern such as "{printable(str(pattern))}".'
    )


def _key(folder: str) -> str:
    """The Hive key in the name of a folder, or nothing."""
    key, equals, _ = folder.partition("=")
    return unquote(key) if equals else ""


def _listed(paths: Any) -> list[Any]:
    try:
        given = list(paths)
    except TypeError:
        raise TypeError(f"paths must be a path, a pattern, or a list of them, got {quoted(paths)}.") from None
    if not given:
        raise ValueError("paths is an empty list. Name at least one Parquet file or folder.")
    return given


def _files_of(given: Any) -> Iterator[DataFile]:
    """Yield the files of a path that is a folder, a file or a pattern. A name that exists is no pattern."""
    path = _checked_path(given)
    if path.is_dir():
        yield from _in_folder(path, len(path.parts))
    elif path.exists():
        yield DataFile.of(path, ())
    elif glob.has_magic(str(path)):
        yield from _matching(path)
    else:
        hint = " Only local files are read; for others, use RowBlocks.from_arrow." if "://" in str(given) else ""
        raise FileNotFoundError(f"{printable(str(given))} does not exist.{hint}")


def _checked_path(given: Any) -> Path:
    path = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(path, str) or not path:
        raise TypeError(f"paths must be a path, a pattern, or a list of them, got {quoted(given)}.")
    return Path(os.path.expanduser(path))


def _in_folder(folder: Path, n_outside: int) -> Iterator[DataFile]:
    """Yield the Parquet files below a folder. All but the first `n_outside` parts of their paths may have Hive keys."""
    is_empty = True
    for root, folders, names in os.walk(folder, onerror=_raise, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        for name in names:
            if name.lower().endswith(SUFFIXES) and not name.startswith(HIDDEN):
                is_empty = False
                path = Path(root, name)
                yield DataFile.of(path, path.parts[n_outside:-1])
    if is_empty:
        endings = " or ".join(SUFFIXES)
        raise FileNotFoundError(f"{printable(str(folder))} is a folder without Parquet files: no name in it ends in {endings}.")


def _matching(pattern: Path) -> Iterator[DataFile]:
    """Yield what a pattern matches. Hive keys begin at its first part with a wildcard."""
    n_outside = next(place for place, part in enumerate(pattern.parts) if glob.has_magic(part))
    found = (Path(match) for match in glob.glob(str(pattern), recursive=True))
    matches = [path for path in found if not any(part.startswith(HIDDEN) for part in path.parts[n_outside:])]
    if not matches:
        remark = "Names that begin with _ or . are left out."
        raise FileNotFoundError(f"nothing matches the pattern {printable(str(pattern))}. {remark}")
    for match in matches:
        if match.is_dir():
            yield from _in_folder(match, n_outside)
        else:
            yield DataFile.of(match, match.parts[n_outside:-1])


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _raise(error: OSError) -> None:
    raise error

"""Files that are written completely or not at all, and checks before any work is done that they can be."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class OutputError(ValueError):
    """A file that cannot be written, and why."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path that replaces `path` at the end; if anything fails before, `path` stays as it was."""
    target = _target(path)
    draft = _draft_in(target.parent)
    try:
        yield draft
        os.replace(draft, target)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def check_output(path: Path, *sources: Path) -> None:
    """Refuse, before any work is done, an output that cannot be written or that would overwrite an input."""
    try:
        _check_writable(path)
        is_input = path.exists() and any(source.exists() and path.samefile(source) for source in sources)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}.") from None
    if is_input:
        raise OutputError(f"{path} is an input; choose another name for the output.")


def _check_writable(path: Path) -> None:
    """Raise unless a file can be put there. An OSError says why not, as of a loop of links or a name that is too long."""
    target = _target(path)
    if not target.parent.is_dir():
        raise OutputError(f"{path} cannot be written: the folder {target.parent} does not exist.")
    try:
        path.stat()
    except FileNotFoundError:
        pass
    else:
        if not path.is_file():
            raise OutputError(f"{path} cannot be written: it exists and is not a regular file.")
        if not os.access(path, os.W_OK):
            raise OutputError(f"{path} cannot be written: it is write-protected.")
    draft = _draft_in(target.parent)
    try:
        draft.touch(exist_ok=False)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _target(path: Path) -> Path:
    """The file that the path leads to, through links."""
    return Path(os.path.realpath(path))


def _draft_in(folder: Path) -> Path:
    """A name that nobody else uses. It does not hold the name of the output, which may be as long as a name can be."""
    return folder / f".skarce-{os.getpid()}-{secrets.token_hex(4)}.part"

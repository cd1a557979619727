"""Files that are written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class OutputError(ValueError):
    """A file that cannot be written, and why."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path that replaces `path` at the end; if anything fails before, `path` stays as it was."""
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield draft
        os.replace(draft, target)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None
    finally:
        draft.unlink(missing_ok=True)


def check_output(path: Path, *sources: Path) -> None:
    """Refuse, before any work is done, an output whose folder does not exist or that would overwrite an input."""
    if not path.resolve().parent.is_dir():
        raise OutputError(f"{path} cannot be written: the folder {path.resolve().parent} does not exist.")
    if path.exists() and not path.is_file():
        raise OutputError(f"{path} cannot be written: it exists and is not a regular file.")
    if any(source.exists() and path.exists() and path.samefile(source) for source in sources):
        raise OutputError(f"{path} is an input; choose another name for the output.")

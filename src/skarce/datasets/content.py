"""The bytes of a data file. They are read once, so a pipe will do."""

from __future__ import annotations

import gzip
import io
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LARGEST = 4 * 2**30  # bytes of a table; its columns take about as much again
CHUNK = 2**20  # bytes to read at a time


class TableError(ValueError):
    """A table that cannot be used, and why."""


def is_gzipped(path: Path) -> bool:
    """Whether the name says that the file is gzipped."""
    return path.suffix.lower() == ".gz"


def read_content(path: Path) -> bytes:
    """The bytes of a file or pipe, unpacked if the name ends in .gz."""
    with reading(path):
        with path.open("rb") as file:
            content = _bounded(file, path)
        return _unpacked(content, path) if is_gzipped(path) else content


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Report in one sentence why a file cannot be read."""
    try:
        _refuse_devices(path)
        yield
    except FileNotFoundError:
        raise TableError(f"{path} does not exist.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (EOFError, zlib.error):
        raise TableError(f"{path} is not a complete gzip file.") from None
    except ValueError as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{str(path)!r} is not the name of a file: {error}.") from None


def _refuse_devices(path: Path) -> None:
    """Devices such as /dev/zero never end."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise TableError(f"{path} is a device; use a file or a pipe.")


def _unpacked(content: bytes, path: Path) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
        return _bounded(packed, path)


def _bounded(file: io.BufferedIOBase, path: Path) -> bytes:
    content = bytearray()
    while chunk := file.read(CHUNK):
        content += chunk
        if len(content) > LARGEST:
            raise TableError(f"{path} holds more than {LARGEST / 2**30:.0f} GiB; use fewer rows.")
    return bytes(content)

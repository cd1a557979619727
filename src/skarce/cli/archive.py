"""Archives of unknown origin, read with limits: what would unpack to too much is refused before it is unpacked."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

MOST_BYTES = 512 * 2**20  # of all parts of a file together, when unpacked
MOST_RATIO, SMALL = 100, 16 * 2**20  # unpacked to packed size, if it unpacks to more than a small size


class RefusedError(ValueError):
    """Why a file is not used: the rest of a sentence that begins with its name."""


def read_parts(path: Path) -> dict[str, bytes]:
    """The parts of an archive by name. Raise `RefusedError` if they are larger than a model may be."""
    check_size(path)
    with ZipFile(path) as archive:
        parts = archive.infolist()
        if len({part.filename for part in parts}) < len(parts):
            raise RefusedError("is damaged: two of its parts have the same name.")
        return {part.filename: _content(archive, part) for part in parts}


def check_size(path: Path) -> None:
    """Raise `RefusedError` if the file is larger than a model may be, packed or unpacked; nothing is unpacked."""
    packed = path.stat().st_size
    if packed > MOST_BYTES:
        raise RefusedError(f"is refused, because it has {megabytes(packed)}, and a model may have at most {megabytes(MOST_BYTES)}.")
    with ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > MOST_BYTES or (unpacked > SMALL and unpacked > MOST_RATIO * packed):
        most = min(MOST_BYTES, max(SMALL, MOST_RATIO * packed))
        raise RefusedError(
            f"is refused, because it unpacks to {megabytes(unpacked)}, and a file of its size may unpack to {megabytes(most)}."
        )


def packed(parts: Mapping[str, bytes]) -> bytes:
    """An archive of these parts in memory, without compression."""
    memory = io.BytesIO()
    with ZipFile(memory, "w", ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return memory.getvalue()


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 2**20:,.1f} MiB"


def _content(archive: ZipFile, part: ZipInfo) -> bytes:
    """One part, of exactly the size that was announced: a header may lie."""
    if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise RefusedError("is not a model written by skarce fit.")
    with archive.open(part) as stream:
        content = stream.read(part.file_size + 1)
    if len(content) != part.file_size:
        raise RefusedError("is damaged: a part of it is not as long as it says.")
    return content

"""Packages that a benchmark compares with. A stored result keeps their rows only if they are installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def require_rivals(packages: tuple[str, ...], extra: str, folder: Path | None) -> None:
    """End the program if results are to be stored, and rows would be lost because a package is not installed."""
    missing = [name for name in packages if find_spec(name) is None]
    if folder is not None and missing:
        raise SystemExit(
            f"{' and '.join(missing)} not installed, so {folder} would lose the rows of {'it' if len(missing) == 1 else 'them'}. "
            f'Run pip install "skarce[{extra}]", or leave out --out to print a table without them.'
        )

"""The entry point of the command line: ``skarce`` or ``python -m skarce``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

NEEDED = ("click", "rich", "pandas", "skops")


def main() -> None:
    """Run the command line."""
    loaded()(prog_name="skarce")


def loaded() -> Callable[..., Any]:
    """Return the command line. If a package is missing, say in one line what to install."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        print(f"Error: the command line needs {', '.join(missing)}: install skarce[cli].", file=sys.stderr)
        sys.exit(2)
    from skarce.cli import app

    return app


if __name__ == "__main__":
    main()

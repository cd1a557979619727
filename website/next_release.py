"""The changes of the next release, from the files of news/, as a part of the changelog."""

from __future__ import annotations

from pathlib import Path

HEADINGS = {"added": "New", "changed": "Changed", "fixed": "Fixed"}
PLACE = "<!-- news of the next release come here -->"


def with_next_release(changelog: str, news: Path) -> str:
    """Return the changelog with a section for the files of `news`, grouped by their kind. Without any, it stays as it is."""
    parts = [_part(kind, sorted(news.glob(f"*.{kind}.md"))) for kind in HEADINGS]
    written = "\n".join(part for part in parts if part)
    return changelog.replace(PLACE, f"## Next release\n\n{written}") if written else changelog


def _part(kind: str, files: list[Path]) -> str:
    entries = [" ".join(file.read_text(encoding="utf-8").split()) for file in files]
    lines = "".join(f"- {entry}\n" for entry in entries)
    return f"### {HEADINGS[kind]}\n\n{lines}" if entries else ""

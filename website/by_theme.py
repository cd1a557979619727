"""Pictures of pages: the dark twin of a picture on a dark page."""

from __future__ import annotations

import re
from pathlib import Path

PICTURE = re.compile(r"!\[(?P<words>[^\]]*)\]\((?P<path>[^)\s]+)\.png\)")


def with_dark_twins(text: str, folder: Path) -> str:
    """Return a page in Markdown in which every picture NAME.png that has a NAME-dark.png shows the one that suits the theme.

    Paths are relative to the folder of the page. Pictures without a dark twin stay as they are.
    """

    def both(found: re.Match[str]) -> str:
        words, path = found["words"], found["path"]
        if not (folder / f"{path}-dark.png").is_file():
            return found[0]
        return f"![{words}]({path}.png){{.only-light}}\n![{words}]({path}-dark.png){{.only-dark}}"

    return PICTURE.sub(both, text)

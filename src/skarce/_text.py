"""Text of others in one line of bounded length: names, values and messages from files and libraries."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection

LONGEST_LINE = 400  # characters of a message
LONGEST_WORD = 120  # characters without a space in a message; names of files may be long
LONGEST_NAME = 60  # characters of a quoted name
MOST_NAMES = 10  # names in a list
CUT = "..."


def one_line(text: object, longest: int = LONGEST_LINE) -> str:
    """Return the text in one printable line. The middle of long words is cut out, then the middle of a long line.

    Examples
    --------
    >>> one_line("two\\nlines, and \\x1b[31mcolor")
    'two lines, and ?[31mcolor'
    """
    words = printable(" ".join(str(text).split()))
    return _cut(re.sub(r"\S+", lambda found: _cut(found[0], LONGEST_WORD), words), longest)


def printable(text: str) -> str:
    """Return the text with a question mark for each character that could change the terminal, or that cannot be written."""
    return text if text.isprintable() else "".join(character if character.isprintable() else "?" for character in text)


def quoted(value: object) -> str:
    """Return the value as Python writes it, in one line of at most `LONGEST_NAME` characters."""
    try:
        text = repr(value)
    except Exception:  # the code of others, or a whole number with too many digits to be written
        text = f"an object of type {type(value).__name__}"
    lines = text.splitlines()
    return _cut(printable(text if len(lines) < 2 else " ".join(text.split())), LONGEST_NAME)


def listed(names: Collection[object]) -> str:
    """Return quoted names, comma-separated; of many names the first ones, and how many more there are."""
    shown = ", ".join(quoted(name) for name in list(names)[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"


def similar(name: str, names: Collection[object]) -> str:
    """Return quoted names that are like this one, comma-separated, or an empty text if none is.

    Examples
    --------
    >>> similar("aera", ["area", "rooms"])
    "'area'"
    """
    return listed(difflib.get_close_matches(name, [str(each) for each in names]))


def _cut(text: str, longest: int) -> str:
    """The text without its middle, if it is too long."""
    if len(text) <= longest:
        return text
    kept = longest - len(CUT)
    return text[: kept - kept // 2] + CUT + text[len(text) - kept // 2 :]

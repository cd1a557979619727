"""Names that C accepts, and text that a comment of C accepts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from skarce._text import one_line, quoted
from skarce.export.c.reading import OTHERS

RESERVED = frozenset(
    (
        *(
            "auto",
            "break",
            "case",
            "char",
            "const",
            "continue",
            "default",
            "do",
            "double",
            "else",
            "enum",
            "extern",
            "float",
            "for",
        ),
        *("goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct"),
        *("switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
    )
)


def check_name(name: Any) -> str:
    """Return the name of a model if all names in C may begin with it."""
    if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name)) or name in RESERVED:
        raise ValueError(f"name must be a name of C with at most 31 letters, digits and _, such as 'model', got {quoted(name)}.")
    return name


def own_names(prefix: str) -> set[str]:
    """Return the names in capitals that a header has for itself."""
    words = ("H", "STORAGE", "READ", *OTHERS, "EXP", "SQRT", "N_INPUTS", "N_OUTPUTS", "MISSING", "OUTPUT_SCALE")
    return {f"{prefix}_{word}" for word in words}


def constants(prefix: str, texts: Iterable[Any], taken: set[str]) -> list[str]:
    """Return a name in capitals for each text. It is none of those that are taken, and is taken from now on."""
    found: list[str] = []
    for place, text in enumerate(texts):
        word = _word(str(text)) or (f"X{place}" if str(text).strip() else "EMPTY")
        name, number = f"{prefix}_{word}", 2
        while name in taken:
            name, number = f"{prefix}_{word}_{number}", number + 1
        taken.add(name)
        found.append(name)
    return found


def _word(text: str) -> str:
    """Return text in capitals, digits and _. Accents are left out; nothing is left of other alphabets."""
    plain = unicodedata.normalize("NFKD", text.upper()).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Z0-9]+", "_", plain).strip("_")


def remark(value: Any) -> str:
    """Return a text or a label as Python writes it, as a comment beside its name. Letters that are not ASCII are escaped."""
    text = quoted(value).encode("ascii", "backslashreplace").decode()
    for ending, harmless in (("*/", "*\\/"), ("/*", "/\\*"), ("??", "?\\?")):
        text = text.replace(ending, harmless)
    return f"/* {text} */"


def in_comment(text: Any) -> str:
    """Return text in one line of plain letters that cannot end a comment."""
    line = one_line(text).encode("ascii", "replace").decode()
    return line.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/").replace("??", "? ?")

"""Elements of HTML and SVG as text. Whatever is not `Markup` already is escaped, so names from tables cannot become code."""

from __future__ import annotations

from html import escape

VOID = {"meta", "br", "hr", "line", "rect", "circle", "path", "col"}  # elements without content


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def text(content: object) -> Markup:
    """Return the content escaped, unless it is markup. Characters that no page may hold become question marks."""
    if isinstance(content, Markup):
        return content
    return Markup(escape("".join(_allowed(character) for character in str(content))))


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element. Attributes are written with ``_`` for ``-``, ``class_`` for ``class``; None leaves an attribute out.

    Examples
    --------
    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None and value is not False)
    if name in VOID and not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*parts: object) -> Markup:
    """Return markup of several parts, one after another. None is nothing."""
    return Markup("".join(text(part) for part in parts if part is not None))


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'


def _allowed(character: str) -> str:
    code = ord(character)
    is_forbidden = (code < 32 and character not in "\t\n\r") or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000
    return "?" if is_forbidden else character

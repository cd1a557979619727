"""The parts of a page: head, sections, tables, facts, figures. A page is one file that asks no host for anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from skarce.inspection.palette import DARK, LIGHT, Palette
from skarce.report.markup import Markup, joined, tag, text

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"  # nothing is loaded, whatever the page holds
OTHER_COLORS = {
    "light": {"muted": "#595959", "panel": "#f3f6f9", "link": "#00548a", "warning": "#a83a00", "good": "#00694d"},
    "dark": {"muted": "#a8a8a8", "panel": "#1d2126", "link": "#7cc6f2", "warning": "#ffab5c", "good": "#4fd1a5"},
}


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, what is shown, the numbers to sort by (None: by the words), and its name in JSON."""

    heading: str
    texts: Sequence[str]
    values: Sequence[float | None] | None = None
    is_long: bool = False  # cells hold sentences, which wrap
    key: str = ""


def page(title: str, lead: Markup, sections: Sequence[tuple[str, str, Markup]], foot: Markup) -> str:
    """Return a complete page. A section has an id, a heading and its content."""
    links = tag("ul", *(tag("li", tag("a", heading, href=f"#{key}")) for key, heading, _ in sections))
    parts = [_section(key, heading, content) for key, heading, content in sections]
    body = tag(
        "body",
        tag("a", "Skip to the content", class_="skip", href="#content"),
        tag("header", tag("h1", title), lead, tag("nav", links, aria_label="Sections")),
        tag("main", *parts, id="content"),
        tag("footer", foot),
        tag("p", id="said", class_="hidden", aria_live="polite"),
        tag("script", Markup(_resource("page.js"))),
    )
    return f"<!doctype html>\n{tag('html', _head(title), body, lang='en')}\n"


def table(key: str, columns: Sequence[Column], caption: str, *, best: Collection[int] = (), is_sortable: bool = False) -> Markup:
    """A table whose first column names its rows. `best` are the rows that are marked. A wide one scrolls under its caption."""
    headings = tag("tr", *(_heading(column, is_sortable, place == 0) for place, column in enumerate(columns)))
    n_rows = len(columns[0].texts)
    rows = [_row(columns, row, is_best=row in best) for row in range(n_rows)]
    name = f"{key}-caption"
    content = tag("table", tag("thead", headings), tag("tbody", *rows), aria_labelledby=name)
    scrolled = tag("div", content, class_="table", role="region", aria_labelledby=name, tabindex="0")
    return joined(tag("p", caption, class_="caption", id=name), scrolled)


def facts(pairs: Mapping[str, object]) -> Markup:
    """Names with their values."""
    return tag("dl", *(joined(tag("dt", name), tag("dd", value)) for name, value in pairs.items()))


def figure(chart: Markup, title: str, words: object, *, narrow: Markup | None = None) -> Markup:
    """A chart with its title and what it shows. One that has a narrow twin takes all of the page, and the twin a narrow screen."""
    heading, caption = tag("h3", title), tag("figcaption", words)
    if narrow is None:
        return tag("figure", heading, chart, caption)
    both = joined(tag("div", chart, class_="on-wide"), tag("div", narrow, class_="on-narrow"))
    return tag("figure", heading, both, caption, class_="wide")


def charts(*figures: Markup | None) -> Markup:
    """Figures side by side, as far as there is room."""
    return tag("div", *(each for each in figures if each is not None), class_="charts")


def key(class_: str, words: str) -> Markup:
    """A mark of a chart with what it stands for."""
    return joined(tag("span", class_=f"key {class_}", aria_hidden="true"), words)


def _section(name: str, heading: str, content: Markup) -> Markup:
    return tag("section", tag("h2", heading, id=f"{name}-heading"), content, id=name, aria_labelledby=f"{name}-heading")


def _head(title: str) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Markup(f"{_colors()}{_resource('style.css')}")),
    )


def _colors() -> str:
    light, dark = _variables(LIGHT, OTHER_COLORS["light"]), _variables(DARK, OTHER_COLORS["dark"])
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def _variables(palette: Palette, others: Mapping[str, str]) -> str:
    named = {name: getattr(palette, name) for name in ("background", "text", "main", "accent", "data", "grid")}
    return ";".join(f"--{name}:{color}" for name, color in {**named, **others}.items())


def _resource(name: str) -> str:
    return files("skarce.report").joinpath(name).read_text(encoding="utf-8")


def _heading(column: Column, is_sortable: bool, is_first: bool) -> Markup:
    is_word = is_first or column.values is None
    content = tag("button", column.heading, type="button") if is_sortable else text(column.heading)
    return tag("th", content, scope="col", aria_sort="none" if is_sortable else None, class_="word" if is_word else None)


def _row(columns: Sequence[Column], row: int, *, is_best: bool) -> Markup:
    return tag("tr", *(_cell(column, row, place == 0) for place, column in enumerate(columns)), class_="best" if is_best else None)


def _cell(column: Column, row: int, is_first: bool) -> Markup:
    if is_first:
        return tag("th", column.texts[row], scope="row", class_="word")
    if column.values is None:
        return tag("td", column.texts[row], class_="word long" if column.is_long else "word")
    value = column.values[row]
    return tag("td", column.texts[row], data_sort="" if value is None else repr(float(value)).replace("inf", "Infinity"))

"""Numbers and tables as text: the cells of a table, and Markdown tables whose columns line up."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from skarce.reproduce.runner.paper import Choice

MISSING = "-"
WHOLE_FROM = 999.5  # numbers from here on are written without digits after the point


def number_text(value: float | None, spec: str) -> str:
    """A number in this format, or a dash if there is none."""
    return MISSING if value is None else f"{value:{spec}}"


def short(value: float) -> str:
    """Three digits, or the whole number if it has more than three."""
    return f"{value:.3g}" if value < WHOLE_FROM else f"{value:.0f}"


def choice_text(choice: Choice) -> str:
    """One number, or several in parentheses."""
    return f"({', '.join(map(short, choice))})" if isinstance(choice, tuple) else short(choice)


def duration(seconds: float | None) -> str:
    """Seconds, or milliseconds if it is less than one second."""
    return MISSING if seconds is None else f"{short(1000.0 * seconds)} ms" if seconds < 0.9995 else f"{short(seconds)} s"


def beside(ours: str, printed: str) -> str:
    """Our number, and the paper's in parentheses if it prints one."""
    return ours if printed == MISSING else f"{ours} ({printed})"


def marked_if_least(value: float | None, least: float | None, spec: str, otherwise: str = "") -> str:
    """A number with an asterisk if it is the smallest. The others may get a filler, so that the digits line up."""
    return number_text(value, spec) + ("*" if value is not None and value == least else otherwise)


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """A table whose columns line up in plain text too. The columns in `left` are aligned to the left, the others to the right."""
    widths = [max(3, *(len(cell) for cell in column)) for column in zip(headings, *rows, strict=True)]
    rule = ["-" * width if place in left else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    return "\n".join(_markdown_row(cells, widths, left) for cells in (headings, rule, *rows))


def _markdown_row(cells: Sequence[str], widths: Sequence[int], left: Collection[int]) -> str:
    padded = zip(cells, widths, strict=True)
    texts = [cell.ljust(width) if place in left else cell.rjust(width) for place, (cell, width) in enumerate(padded)]
    return f"| {' | '.join(texts)} |"

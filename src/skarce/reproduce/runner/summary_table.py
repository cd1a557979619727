"""The table of one experiment: a row for each method, with our numbers and those that the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skarce.reproduce.runner.findings import Finding, Summary
from skarce.reproduce.runner.formatting import MISSING, choice_text, duration, marked_if_least, number_text

Table = tuple[list[str], list[list[str]]]


@dataclass(frozen=True)
class Column:
    """A heading, and the function that writes its cells. Only those `on_screen` fit there; optional ones go if they are empty."""

    heading: str
    cell: Callable[[Summary], str]
    on_screen: bool = False
    is_optional: bool = False


def summary_table(finding: Finding, *, on_screen: bool = False) -> Table:
    """Headings, and one row of texts for each method. The smallest median error is marked."""
    columns = [column for column in _columns(finding) if column.on_screen or not on_screen]
    kept = [c for c in columns if not c.is_optional or any(c.cell(summary) not in ("", MISSING) for summary in finding.summaries)]
    return [c.heading for c in kept], [[c.cell(summary) for c in kept] for summary in finding.summaries]


def _columns(finding: Finding) -> list[Column]:
    paper, spec = finding.paper, finding.paper.measure.spec
    least = min((summary.quartiles[1] for summary in finding.summaries if summary.quartiles), default=None)
    return [
        Column("method", lambda s: s.contender.label, on_screen=True),
        Column(f"{paper.measure.name} median", lambda s: _median(s, least, spec), on_screen=True),
        Column("quartiles", lambda s: _quartiles(s, spec), on_screen=True),
        Column("mean", lambda s: number_text(s.mean, spec)),
        Column("paper mean", lambda s: number_text(s.printed.error, "g"), on_screen=True, is_optional=True),
        Column("functions", lambda s: number_text(s.n_functions, ".4g"), on_screen=True),
        Column("paper functions", lambda s: number_text(s.printed.n_functions, "g"), on_screen=True, is_optional=True),
        *_extra_columns(finding.summaries),
        Column(paper.choice_heading, lambda s: MISSING if s.choice is None else choice_text(s.choice)),
        Column("fit", lambda s: duration(s.fit_seconds), on_screen=True),
        Column("paper fit", lambda s: duration(s.printed.fit_seconds), is_optional=True),
        Column("fit ratio", lambda s: number_text(s.time_ratio, ".2f"), on_screen=True),
        Column("repeats", lambda s: str(s.n_repeats)),
        Column("tuned", _tuned),
        Column("note", _note, on_screen=True, is_optional=True),
    ]


def _extra_columns(summaries: Sequence[Summary]) -> list[Column]:
    """The extra numbers of the contenders, each followed by the paper's."""
    names = dict.fromkeys(name for summary in summaries for name in summary.contender.extras)
    columns = []
    for name in names:
        columns += [
            Column(name, lambda s, name=name: number_text(s.extras.get(name), ".4g")),  # type: ignore[misc]
            Column(f"paper {name}", lambda s, name=name: number_text(s.printed.extras.get(name), "g"), is_optional=True),  # type: ignore[misc]
        ]
    return columns


def _median(summary: Summary, least: float | None, spec: str) -> str:
    return MISSING if summary.quartiles is None else marked_if_least(summary.quartiles[1], least, spec, otherwise=" ")


def _quartiles(summary: Summary, spec: str) -> str:
    return MISSING if summary.quartiles is None else f"{summary.quartiles[0]:{spec}} to {summary.quartiles[2]:{spec}}"


def _tuned(summary: Summary) -> str:
    return str(summary.n_tuned) if summary.contender.choices or not summary.n_repeats else "own"


def _note(summary: Summary) -> str:
    parts = [f"{summary.n_failed} failed" if summary.n_failed else "", f"{summary.n_warned} warned" if summary.n_warned else ""]
    return ", ".join(part for part in parts if part)

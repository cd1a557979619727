"""A report as Markdown: the verdict, the table and the checks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from skarce.report.checks import Check
from skarce.report.comparison_report import ComparisonReport
from skarce.report.export_part import HEADING, export_words
from skarce.report.functions_part import functions_caption, functions_columns
from skarce.report.model_report import ModelReport
from skarce.report.model_view import ModelView
from skarce.report.page import Column
from skarce.report.verdict import CHANGES, Verdict


def comparison_markdown(report: ComparisonReport) -> str:
    """A report on a comparison without its pictures."""
    lines = [*_verdict_lines(report.title, report.verdict), "## Methods", "", *table_lines(report.columns)]
    return _document(lines, report.checks, report.model, report.provenance)


def model_markdown(report: ModelReport) -> str:
    """A report on a stored model without its pictures."""
    model = report.model
    lines = [*_verdict_lines(report.title, report.verdict), "## The model", "", *_fact_lines(model.facts)]
    if report.quality is not None:
        lines += ["", "## On the given rows", "", *_fact_lines(report.quality.words(report.kind))]
    if len(model.functions):
        lines += ["", "## Functions", "", f"{escaped(functions_caption(model))}.", "", *table_lines(functions_columns(model))]
    return _document(lines, report.checks, model, report.provenance)


def _document(lines: list[str], found: Sequence[Check], model: ModelView | None, provenance: Mapping[str, str]) -> str:
    """The lines, and what stands at the end of every report."""
    lines += ["", "## Checks", ""]
    lines += [f"- **{check.finding.value}** {escaped(check.name)}: {escaped(check.words)}" for check in found]
    lines += _export_lines(model)
    lines += ["", "## Where this comes from", ""]
    lines += [f"- {escaped(name)}: {code(value)}" for name, value in provenance.items()]
    return "\n".join(lines) + "\n"


def _verdict_lines(title: str, found: Verdict) -> list[str]:
    changes = [CHANGES, "", *(f"- {escaped(change)}" for change in found.changes), ""] if found.changes else []
    notes = [line for note in found.notes for line in (escaped(note), "")]
    return [f"# {escaped(title)}", "", escaped(found.sentence), "", *changes, *notes]


def _fact_lines(facts: Mapping[str, str]) -> list[str]:
    return [f"- {escaped(name)}: {escaped(value)}" for name, value in facts.items()]


def _export_lines(model: ModelView | None) -> list[str]:
    """The model in C: its size, and the commands."""
    if model is None:
        return []
    return [
        "",
        f"## {HEADING}",
        "",
        f"{model.name}: {escaped(export_words(model))}",
        "",
        *(f"- {code(line)}" for line in model.commands_for_c),
    ]


def table_lines(columns: Sequence[Column]) -> list[str]:
    """A table: the columns of numbers are aligned right."""
    heading = [escaped(column.heading) for column in columns]
    rule = ["---" if column.values is None else "---:" for column in columns]
    rows = [[escaped(column.texts[row]) for column in columns] for row in range(len(columns[0].texts))]
    return [f"| {' | '.join(cells)} |" for cells in (heading, rule, *rows)]


def escaped(words: str) -> str:
    """The words in one line, without anything that Markdown or HTML would take for markup."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(words.split())).replace("&", "&amp;")


def code(words: str) -> str:
    """The words as code, in as many backticks as they need."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", words)), default=0))
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{space}{' '.join(words.split())}{space}{fence}"

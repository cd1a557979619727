"""A report as Markdown: the verdict, the table and the checks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skarce.report.comparison_report import ComparisonReport
from skarce.report.export_part import HEADING, export_words
from skarce.report.model_view import ModelView
from skarce.report.page import Column


def comparison_markdown(report: ComparisonReport) -> str:
    """The report without its pictures."""
    lines = [f"# {escaped(report.title)}", "", escaped(report.verdict.sentence), ""]
    lines += [f"- {escaped(change)}" for change in report.verdict.changes]
    lines += ["", "## Methods", "", *table_lines(report.columns), "", "## Checks", ""]
    lines += [f"- **{check.finding.value}** {escaped(check.name)}: {escaped(check.words)}" for check in report.checks]
    lines += _export_lines(report.model)
    lines += ["", "## Where this comes from", ""]
    lines += [f"- {escaped(name)}: {code(value)}" for name, value in report.provenance.items()]
    return "\n".join(lines) + "\n"


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
        *(f"- {code(line)}" for line in model.commands),
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

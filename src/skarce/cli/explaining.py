"""``skarce explain``: what is in a model and why."""

from __future__ import annotations

from pathlib import Path

import click

from skarce import __version__
from skarce.cli.explanation import active_functions, facts, last_steps
from skarce.cli.missing_rows import rows_missing_option
from skarce.cli.rendering import facts_table, functions_table, show, steps_table
from skarce.cli.reporting import REPORTING, ReportFiles, write_json
from skarce.cli.reporting_models import report_on_model
from skarce.cli.sound_model import model_in_use
from skarce.cli.streamed.progress import working
from skarce.report.markdown import model_markdown
from skarce.report.model_page import model_page

ROWS_SHOWN = 20


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option("--all", "show_all", is_flag=True, help=f"Show all functions, not only the {ROWS_SHOWN} most relevant.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Write a page with charts of the model to this file, such as model.html. It needs no network.",
)
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the numbers of the page to this file.")
@click.option("--markdown", type=click.Path(path_type=Path), help="Write verdict, functions and checks as Markdown to this file.")
@rows_missing_option
def explain(
    model: Path,
    data: Path | None,
    show_all: bool,
    report: Path | None,
    json_path: Path | None,
    markdown: Path | None,
    missing: str | None,
) -> None:
    """Show what is in a model and why.

    MODEL is a file that `skarce fit` wrote. For each active function, the table shows its center in the units of the data, its
    weight, the standard error of the weight, and its relevance: 1 if the data determine the weight, 0 if only the prior does. With
    three or more classes, each class has its own weights, and a function is listed once for every class that uses it. Inputs of a
    linear model have 95 % intervals and p values too. Inputs that were selected look more significant than they are.

    With --report, the same is written as a page with charts, and with --markdown and --json as text and numbers. DATA, a table with
    the inputs and the target, adds what its rows say: a verdict, checks, errors, coverage of intervals, which inputs matter, and
    rows far from all others. Use rows that the model was not fitted to.

    \b
    Examples:
      skarce explain houses.skops
      skarce explain houses.skops --all
      skarce explain houses.skops --report model.html
      skarce explain houses.skops new_houses.csv --report model.html
      skarce explain houses.skops new_houses.csv --report model.html --missing drop
      skarce explain houses.skops new_houses.csv --markdown model.md --json model.json
    """
    files, is_asked_for = ReportFiles(report, markdown), any((report, json_path, markdown))
    if data is not None and not is_asked_for:
        raise click.UsageError("DATA is for a report: add --report, --markdown or --json FILE, or leave DATA out.")
    if missing is not None and data is None:
        raise click.UsageError("--missing is for the rows of DATA: add DATA and --report FILE, or leave --missing out.")
    files.check([model, *([data] if data else [])], json_path)
    with model_in_use(model) as saved:
        functions = active_functions(saved)
        shown = functions if show_all else functions.head(ROWS_SHOWN)
        tables = (
            facts_table(facts(saved)),
            "",
            functions_table(shown, list(saved.columns), n_hidden=len(functions) - len(shown)),
            steps_table(last_steps(saved)),
        )
        if is_asked_for:
            with working(REPORTING):
                found = report_on_model(saved, data, missing)
            content = {"version": __version__, "target": saved.target, **found.as_dict()}
            files.write(found, model_page, model_markdown)
            if json_path is not None:
                write_json(json_path, content, "Numbers of the model")
    show(*tables)

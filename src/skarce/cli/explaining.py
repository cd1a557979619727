"""``skarce explain``: what is in a model and why."""

from __future__ import annotations

from pathlib import Path

import click

from skarce._whole_file import check_output
from skarce.cli.explanation import active_functions, facts, last_steps
from skarce.cli.missing_rows import rows_missing_option
from skarce.cli.rendering import facts_table, functions_table, show, steps_table
from skarce.cli.reporting import write_text
from skarce.cli.reporting_models import report_on_model
from skarce.cli.sound_model import model_in_use
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
@rows_missing_option
def explain(model: Path, data: Path | None, show_all: bool, report: Path | None, missing: str | None) -> None:
    """Show what is in a model and why.

    MODEL is a file that `skarce fit` wrote. For each active function, the table shows its center in the units of the data, its
    weight, the standard error of the weight, and its relevance: 1 if the data determine the weight, 0 if only the prior does. With
    three or more classes, each class has its own weights, and a function is listed once for every class that uses it. Inputs of a
    linear model have 95 % intervals and p values too. Inputs that were selected look more significant than they are.

    With --report, the same is written as a page with charts. DATA, a table with the inputs and the target, adds what its rows say:
    errors, coverage of intervals, and which inputs matter. Use rows that the model was not fitted to.

    \b
    Examples:
      skarce explain houses.skops
      skarce explain houses.skops --all
      skarce explain houses.skops --report model.html
      skarce explain houses.skops new_houses.csv --report model.html
      skarce explain houses.skops new_houses.csv --report model.html --missing drop
    """
    if data is not None and report is None:
        raise click.UsageError("DATA is for the page: add --report FILE, or leave DATA out.")
    if missing is not None and data is None:
        raise click.UsageError("--missing is for the rows of DATA: add DATA and --report FILE, or leave --missing out.")
    if report is not None:
        check_output(report, model, *([data] if data else []))
    with model_in_use(model) as saved:
        functions = active_functions(saved)
        shown = functions if show_all else functions.head(ROWS_SHOWN)
        tables = (
            facts_table(facts(saved)),
            "",
            functions_table(shown, list(saved.columns), n_hidden=len(functions) - len(shown)),
            steps_table(last_steps(saved)),
        )
        page = None if report is None else model_page(report_on_model(saved, data, missing))
    if report is not None and page is not None:
        write_text(report, page, "Report")
    show(*tables)

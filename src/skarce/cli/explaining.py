"""``skarce explain``: what is in a model and why."""

from __future__ import annotations

from pathlib import Path

import click

from skarce.cli.explanation import active_functions, facts, last_steps
from skarce.cli.rendering import facts_table, functions_table, show, steps_table
from skarce.cli.sound_model import model_in_use

ROWS_SHOWN = 20


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--all", "show_all", is_flag=True, help=f"Show all functions, not only the {ROWS_SHOWN} most relevant.")
def explain(model: Path, show_all: bool) -> None:
    """Show what is in a model and why.

    MODEL is a file that `skarce fit` wrote. For each active function, the table shows its center in the units of the data, its
    weight, the standard error of the weight, and its relevance: 1 if the data determine the weight, 0 if only the prior does. With
    three or more classes, each class has its own weights, and a function is listed once for every class that uses it. Inputs of a
    linear model have 95 % intervals and p values too. Inputs that were selected look more significant than they are.

    \b
    Examples:
      skarce explain houses.skops
      skarce explain houses.skops --all
    """
    with model_in_use(model) as saved:
        functions = active_functions(saved)
        shown = functions if show_all else functions.head(ROWS_SHOWN)
        tables = (
            facts_table(facts(saved)),
            "",
            functions_table(shown, list(saved.columns), n_hidden=len(functions) - len(shown)),
            steps_table(last_steps(saved)),
        )
    show(*tables)

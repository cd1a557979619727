"""``skarce compare``: which method fits this table best?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from skarce import __version__
from skarce._progress import progress
from skarce.cli.comparison_table import comparison_table
from skarce.cli.rendering import say, show
from skarce.cli.reporting import REPORTING, ReportFiles, report_on, uneven_words, write_json
from skarce.cli.streamed.progress import QUIET, shown_progress, working
from skarce.cli.target_methods import (
    basis_option,
    exclude_option,
    excluded_columns,
    find_for,
    load_training,
    missing_option,
    print_notes,
    rows_to_use,
    task_option,
)
from skarce.comparison import METHODS, TASKS, WIDTH_RULES, Method, Observer, Task, cross_validate, find_methods
from skarce.datasets.tables import Table, diabetes_table, read_table
from skarce.report.comparison_page import comparison_page
from skarce.report.markdown import comparison_markdown

LONGEST = max(len(name) for known in METHODS.values() for name in known)


def _methods_help(task: Task) -> str:
    lines = (f"  {method.name:<{LONGEST}} {method.title}\n" for method in METHODS[task].values())
    return f"\b\nMethods for {task.target.value}:\n{''.join(lines)}"


RULES = "".join(f"  {rule:<9} {meaning}\n" for rule, meaning in WIDTH_RULES.items())
HELP = f"""Cross-validate several methods on one table. All methods see the same folds.

DATA is a CSV (also .csv.gz) or Parquet file; without it, the diabetes data of scikit-learn are used. Within each fold, numbers are
scaled and text is one-hot encoded. The table shows the RMSE (mean and standard deviation over the folds), R2, the number of basis
functions, the median times to fit and to predict a fold, and the share of test targets inside the 95 % interval of their
prediction. A narrow terminal shows fewer columns; --json writes all numbers.

If the target is text, booleans or at most ten different whole numbers, classifiers are compared by accuracy, log loss and Brier
score. Use --task to override this.

{chr(10).join(map(_methods_help, TASKS.values()))}
By default, our kernel functions and their widths are learned from the training rows of each fold, once for all methods; the time
counts as time to fit of each. --basis rbf takes Gaussian kernels of one width by a quick rule. With --widths, widths are chosen by
the rule below. A method that cannot follow the rule follows the nearest one that it can, and a note below the table says so: svr
and svc are cross-validated if they should learn widths, and gp always learns them.

\b
{RULES}
\b
Examples:
  skarce compare
  skarce compare houses.csv --target price
  skarce compare houses.csv --target price --exclude id,sold_on
  skarce compare houses.csv --target price --missing fill    gaps in the table are filled in
  skarce compare houses.csv --target price --basis rbf       quick
  skarce compare houses.csv --target price --widths ard
  skarce compare flowers.csv --target species --methods frvm,svc
  skarce compare houses.csv --target price --report report.html     a page with charts, for any browser
  skarce compare houses.csv --target price --methods frvm,svr --cv 10 --repeats 3 --json result.json
"""


@click.command(help=HELP, short_help="Find out which method fits a table best.")
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option("--target", help="The column to predict; required with DATA.")
@exclude_option
@missing_option
@task_option
@click.option("--methods", help="Comma-separated names.  [default: all methods that are quick enough for the number of rows]")
@basis_option
@click.option("--widths", type=click.Choice(list(WIDTH_RULES)), help="How to choose kernel widths.  [default: varies by method]")
@click.option("--cv", type=click.IntRange(min=2), default=5, show_default=True, help="Number of folds.")
@click.option(
    "--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="Number of times to repeat with new folds."
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Random seed of the folds.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the numbers of every fold to this file.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Write a page with verdict, charts and checks to this file, such as report.html. It needs no network.",
)
@click.option("--markdown", type=click.Path(path_type=Path), help="Write verdict, table and checks as Markdown to this file.")
def compare(
    data: Path | None,
    target: str | None,
    exclude: tuple[str, ...],
    missing: str,
    task: Task | None,
    methods: str | None,
    basis: str,
    widths: str | None,
    cv: int,
    repeats: int,
    seed: int,
    json_path: Path | None,
    report: Path | None,
    markdown: Path | None,
) -> None:
    names = None if methods is None else methods.split(",")
    if names is not None:
        find_methods(names, task)  # a wrong name is reported before the file is read
    files = ReportFiles(report, markdown)
    observer = Observer() if files.is_asked_for else None
    files.check([data] if data else [], json_path)
    table, target = _load(data, target)
    table = rows_to_use(table, target, exclude, missing)
    training, task = load_training(table, target, task, exclude, missing)
    task.check_folds(training.y, cv, target)
    print_notes(training)
    chosen = _quick(task, len(training.y)) if names is None else find_for(target, task, partial(find_methods, names))
    chosen = [method.with_basis(basis) for method in chosen]
    if widths is not None:
        chosen = [method.with_widths(widths) for method in chosen]
    splitter = task.splitter(n_splits=cv, n_repeats=repeats, random_state=seed)
    with _progress(len(chosen) * cv * repeats) as on_start:
        results = cross_validate(training.X, training.y, chosen, training.preprocessing(), splitter, on_start, observer)
    sizes = {"n_rows": len(training.y), "n_inputs": len(training.kinds)}
    settings = {
        "data": table.name,
        **sizes,
        "exclude": excluded_columns(table, target, exclude),
        "missing": missing,
        "task": task.name,
        "basis": basis,
        "widths": widths,
        "cv": cv,
        "repeats": repeats,
        "seed": seed,
    }
    tests = [test for _, test in splitter.split(training.X, training.y)]
    content: dict[str, Any] = {"version": __version__, **settings, "methods": [result.as_dict() for result in results]}
    if observer is not None:
        with working(REPORTING):
            found = report_on(results, observer, table, training, tests, settings, target)
        files.write(found, comparison_page, comparison_markdown)
        content["report"] = found.as_dict()
    if json_path is not None:
        write_json(json_path, content, "Numbers of every fold")
    note = uneven_words(results[0], training, table, tests)
    show(*comparison_table(results, settings), *([note] if note else []))
    if any(result.error for result in results):
        click.get_current_context().exit(1)


def _load(data: Path | None, target: str | None) -> tuple[Table, str]:
    """The table and its target; without a file, the diabetes data."""
    if data is None:
        table = diabetes_table()
        say(f"No file was given; using {table.name}.")
        return table, target or "target"
    table = read_table(data)
    if target is None:
        raise click.UsageError(f"use --target to name the column of {table.name} to predict: {', '.join(table.frame.columns)}.")
    return table, target


def _quick(task: Task, n_rows: int) -> list[Method]:
    """All methods except those that would take very long on this many rows; a message names them."""
    known = METHODS[task].values()
    slow = [method.name for method in known if not method.is_quick_on(n_rows)]
    if slow:
        say(f"Note: left out because they are slow on {n_rows} rows: {', '.join(slow)}. Use --methods to run them.")
    return [method for method in known if method.is_quick_on(n_rows)]


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Method], None]]:
    """Progress of so many fits; call the function before each of them."""
    starts = iter(range(total))
    with shown_progress(first=QUIET), progress("Comparing", total, "fits") as part:
        yield lambda method: part.to(next(starts), lambda: method.name)
        part.to(total)

"""``skarce predict``: the target of new rows, and its uncertainty."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import click

from skarce._text import one_line
from skarce.cli.model_file import SavedModel
from skarce.cli.rendering import say, write
from skarce.cli.sound_model import model_in_use
from skarce.cli.task_output import output_for
from skarce.cli.whole_file import OutputError, check_output, replacing
from skarce.datasets.columns import NUMBER
from skarce.datasets.content import read_content
from skarce.datasets.tables import TableError, TableFile, is_gzipped, is_parquet
from skarce.datasets.training import inputs


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write CSV to this file, gzipped if the name ends in .gz.  [default: standard output]",
)
@click.option(
    "--std",
    type=click.Choice(["plain", "augmented"]),
    default="plain",
    show_default=True,
    help="Which standard deviation to add; the augmented one grows away from the training data.",
)
def predict(model: Path, data: Path, out: Path | None, std: str) -> None:
    """Predict the target for the rows of a table.

    MODEL is a file that `skarce fit` wrote. DATA is a CSV (also .csv.gz) or Parquet file with the same input columns. The result
    is DATA as CSV with two more columns: the mean of the target, and the standard deviation of a new observation. A model of
    classes adds the most probable class and the probability of each class instead.

    \b
    Examples:
      skarce predict houses.skops new_houses.csv
      skarce predict houses.skops new_houses.csv --out predictions.csv --std augmented
    """
    if out is not None:
        _check_csv_output(out, model, data)
    with model_in_use(model) as saved:
        text = _with_predictions(saved, data, std).to_csv(index=False, lineterminator="\n")
    if out is None:
        write(text)
        return
    with replacing(out) as draft:
        draft.write_bytes(gzip.compress(text.encode(), mtime=0) if is_gzipped(out) else text.encode())
    say(f"Predictions written to {out}")


def _check_csv_output(out: Path, *sources: Path) -> None:
    if is_parquet(out):
        raise OutputError(f"{out}: predictions are written as CSV; choose a name that ends in .csv.")
    check_output(out, *sources)


def _with_predictions(model: SavedModel, data: Path, std: str) -> Any:
    """The table as it is in its file, with columns for the predictions added."""
    texts = [name for name, kind in model.columns.items() if kind != NUMBER]
    file = TableFile(data, read_content(data))
    X = inputs(file.table(texts), model.columns)
    frame = file.verbatim()
    try:
        predictions = output_for(model).predictions(model, X, std)
    except (ValueError, ArithmeticError) as error:
        raise error if isinstance(error, TableError) else TableError(f"{data} cannot be predicted: {one_line(error)}") from None
    for name, values in predictions.items():
        if name in frame:
            raise TableError(f"{data} already has a column {name!r}; rename or drop it.")
        frame[name] = values
    return frame

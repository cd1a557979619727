"""``skarce predict``: the target of new rows, and its uncertainty."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import click

from skarce._text import listed, one_line, quoted
from skarce._whole_file import OutputError, check_output, replacing
from skarce.cli.model_file import SavedModel
from skarce.cli.rendering import say, write
from skarce.cli.sound_model import model_in_use
from skarce.cli.task_output import output_for
from skarce.datasets.columns import NUMBER
from skarce.datasets.content import read_content
from skarce.datasets.tables import TableError, TableFile, is_gzipped, is_parquet
from skarce.datasets.training import inputs, known_texts


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
@click.option(
    "--interval",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    metavar="COVERAGE",
    help="Add the ends of intervals that cover this share of new observations, such as 0.95.",
)
def predict(model: Path, data: Path, out: Path | None, std: str, interval: float | None) -> None:
    """Predict the target for the rows of a table.

    MODEL is a file that `skarce fit` wrote. DATA is a CSV (also .csv.gz) or Parquet file with the same input columns. The result
    is DATA as CSV with two more columns: the mean of the target, and the standard deviation of a new observation; with --interval
    also the lower and upper end of an interval. A model of classes adds the most probable class and the probability of each class
    instead.

    \b
    Examples:
      skarce predict houses.skops new_houses.csv
      skarce predict houses.skops new_houses.csv --interval 0.95
      skarce predict houses.skops new_houses.csv --out predictions.csv --std augmented
    """
    if interval is not None and std != "plain":
        raise click.UsageError(f"--interval is for --std plain, and --std {std} has no intervals; use one of them.")
    if out is not None:
        _check_csv_output(out, model, data)
    with model_in_use(model) as saved:
        text = _with_predictions(saved, data, std, interval).to_csv(index=False, lineterminator="\n")
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


def _with_predictions(model: SavedModel, data: Path, std: str, interval: float | None) -> Any:
    """The table as it is in its file, with columns for the predictions added."""
    texts = [name for name, kind in model.columns.items() if kind != NUMBER]
    file = TableFile(data, read_content(data))
    X = inputs(file.table(texts), model.columns)
    frame, output = file.verbatim(), output_for(model)
    try:
        predictions = output.predictions(model, X, std)
        if interval is not None:
            predictions.update(output.interval(model, X, interval))
    except (ValueError, ArithmeticError) as error:
        raise error if isinstance(error, TableError) else TableError(f"{data} cannot be predicted: {one_line(error)}") from None
    for name, values in predictions.items():
        if name in frame:
            raise TableError(f"{data} already has a column {name!r}; rename or drop it.")
        frame[name] = values
    _print_unseen(model, X)
    return frame


def _print_unseen(model: SavedModel, X: Any) -> None:
    """Tell the user about text that was not in the training rows."""
    for name, known in known_texts(model.pipeline[0]).items():
        unseen = X[name][~X[name].isin(known)]
        if len(unseen):
            counts = unseen.value_counts()
            of_rows = "1 row" if len(unseen) == 1 else f"{len(unseen)} rows"
            texts = f"text that the model has not seen: {listed(counts.index)}"
            say(f"Note: column {quoted(name)} has {texts} ({of_rows} of {len(X)}). Such a row is predicted as if it had no {name}.")

"""``skarce predict``: the target of new rows, and its uncertainty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

from skarce._text import listed, one_line, quoted
from skarce._typing import Indices
from skarce._whole_file import check_output
from skarce.cli.missing_rows import rows_missing_option, way_for
from skarce.cli.model_file import SavedModel
from skarce.cli.prediction_output import Output, check_format, opened_output
from skarce.cli.rendering import say
from skarce.cli.sound_model import model_in_use
from skarce.cli.streamed.choice import named_files
from skarce.cli.streamed.files import DataFiles, Part
from skarce.cli.streamed.progress import rows_progress
from skarce.cli.task_output import output_for
from skarce.datasets.columns import NUMBER
from skarce.datasets.content import read_content
from skarce.datasets.gaps import DROP, FILL, complete_rows, left_out, only_rows
from skarce.datasets.tables import Table, TableError, TableFile, is_parquet
from skarce.datasets.training import check_columns, inputs, known_texts
from skarce.designs.parquet_files import hint_about_keys


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write to this file: CSV, gzipped if the name ends in .gz, or .parquet.  [default: CSV to standard output]",
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
@rows_missing_option
def predict(model: Path, data: tuple[Path, ...], out: Path | None, std: str, interval: float | None, missing: str | None) -> None:
    """Predict the target for the rows of a table.

    MODEL is a file that `skarce fit` wrote. DATA is a CSV (also .csv.gz) or Parquet file with the same input columns, or several
    files of one format, folders of Parquet files, or patterns in quotes. They are read in blocks, in the order of their paths, so
    there may be more rows than fit into memory.

    The result is DATA with two more columns: the mean of the target, and the standard deviation of a new observation; with
    --interval also the lower and upper end of an interval. A model of classes adds the most probable class and the probability of
    each class instead. It is CSV, or Parquet if DATA is Parquet and the name of --out ends in .parquet.

    \b
    Examples:
      skarce predict houses.skops new_houses.csv
      skarce predict houses.skops new_houses.csv --interval 0.95
      skarce predict houses.skops new_houses.csv --missing drop
      skarce predict houses.skops new_houses.csv --out predictions.csv --std augmented
      skarce predict houses.skops "new/*.parquet" --out predictions.parquet
    """
    if interval is not None and std != "plain":
        raise click.UsageError(f"--interval is for --std plain, and --std {std} has no intervals; use one of them.")
    files = named_files(data)
    if out is not None:
        check_format(out, is_from_parquet=files is not None and is_parquet(files[0].path))
        check_output(out, model, *(data if files is None else [file.path for file in files]))
    with model_in_use(model) as saved, opened_output(out) as output:
        _Predictions(saved, std, interval, missing).write(
            None if files is None else DataFiles.of(files), data[0], output, is_quiet=out is None
        )
    if out is not None:
        say(f"Predictions written to {out}")


class _Predictions:
    """What a model predicts for rows, part by part."""

    def __init__(self, model: SavedModel, std: str, interval: float | None, missing: str | None) -> None:
        self._model, self._std, self._interval = model, std, interval
        self._missing = way_for(model, missing)
        self._texts = [name for name, kind in model.columns.items() if kind != NUMBER]
        self._unseen = UnseenTexts(known_texts(model.pipeline[0]))

    def write(self, data: DataFiles | None, path: Path, output: Output, *, is_quiet: bool) -> None:
        """Predict all rows of files, or of a pipe if there are none, and say which texts were new."""
        n_rows = n_predicted = 0
        with nullcontext(_ignore) if is_quiet else rows_progress("Predicting", None if data is None else data.n_rows) as on_rows:
            for part in _parts(data, path):
                table = part.table(self._texts)
                rows = self._rows(table)
                if len(rows):
                    output.add(part, rows, self._of(only_rows(table, rows)))
                n_rows += len(table.frame)
                n_predicted += len(rows)
                on_rows(n_rows)
        if not n_rows:
            raise TableError(f"there are no rows in {path if data is None else data.name}.")
        if not n_predicted:
            raise TableError(f"values are missing in each of the {n_rows} rows, so --missing drop leaves no row.")
        if n_predicted < n_rows:
            say(f"Note: {left_out(n_rows - n_predicted, n_rows)}, because values are missing.")
        for note in self._unseen.notes(n_predicted):
            say(note)

    def _rows(self, table: Table) -> Indices:
        """The numbers of the rows to predict."""
        check_columns(table, self._model.columns, partial(hint_about_keys, Path(table.name)))
        return complete_rows(table, self._model.columns if self._missing == DROP else ())

    def _of(self, table: Table) -> dict[str, Any]:
        """The columns of predictions for some rows."""
        X = inputs(table, self._model.columns, has_gaps=self._missing == FILL)
        output = output_for(self._model)
        try:
            predictions = output.predictions(self._model, X, self._std)
            if self._interval is not None:
                predictions.update(output.interval(self._model, X, self._interval))
        except (ValueError, ArithmeticError) as error:
            raise (
                error if isinstance(error, TableError) else TableError(f"{table.name} cannot be predicted: {one_line(error)}")
            ) from None
        for name in predictions:
            if name in table.frame:
                raise TableError(f"{table.name} already has a column {name!r}; rename or drop it.")
        self._unseen.add(X)
        return predictions


def _parts(data: DataFiles | None, path: Path) -> Iterable[Part]:
    """The rows of files, part by part, or those of a pipe as a whole."""
    return [TableFile(path, read_content(path))] if data is None else data.with_columns(data.columns).parts()


def _ignore(n_rows: int) -> None:
    """Show no progress: predictions go to the same terminal."""


class UnseenTexts:
    """Texts that were not in the training rows, and how often they came."""

    def __init__(self, known: dict[str, Any]) -> None:
        self._known, self._counts = known, {name: Counter[str]() for name in known}

    def add(self, X: Any) -> None:
        """Look at some rows."""
        for name, known in self._known.items():
            self._counts[name].update(X[name][~X[name].isin(known)])

    def notes(self, n_rows: int) -> Iterator[str]:
        """What the user should know about them, after all rows."""
        for name, counts in self._counts.items():
            if n_unseen := counts.total():
                texts = f"text that the model has not seen: {listed([text for text, _ in counts.most_common()])}"
                found = f"column {quoted(name)} has {texts} ({'1 row' if n_unseen == 1 else f'{n_unseen} rows'} of {n_rows})"
                yield f"Note: {found}. Such a row is predicted as one whose {name} is none of the known texts."

"""``skarce predict``: the target of new rows, and how far off it may be."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import click
from sklearn.base import is_classifier

from skarce.basis import KernelBasis
from skarce.cli.model_file import SavedModel, load
from skarce.cli.rendering import messages
from skarce.cli.whole_file import OutputError, check_output, replacing
from skarce.datasets.tables import NUMBER, TableError, inputs, is_gzipped, read_table, read_verbatim


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Write CSV to this file, gzipped if it ends in .gz.")
@click.option(
    "--std",
    type=click.Choice(["plain", "augmented"]),
    default="plain",
    show_default=True,
    help="How the standard deviation is taken; augmented grows away from the data the model was fitted to.",
)
def predict(model: Path, data: Path, out: Path | None, std: str) -> None:
    """Predict the target for the rows of a table.

    MODEL was written by `skarce fit`; DATA is a CSV (also .csv.gz) or Parquet file with the same input columns. The result is
    DATA as CSV with two more columns: the mean, and the standard deviation of a new observation around it. A classifier adds the
    most probable class and the probability of each.

    \b
    Examples:
      skarce predict houses.skops new_houses.csv
      skarce predict houses.skops new_houses.csv --out predictions.csv --std augmented
    """
    if out is not None:
        _check_csv_output(out, model, data)
    text = _with_predictions(load(model), data, std).to_csv(index=False, lineterminator="\n")
    if out is None:
        click.echo(text, nl=False)
        return
    with replacing(out) as draft:
        draft.write_bytes(gzip.compress(text.encode(), mtime=0) if is_gzipped(out) else text.encode())
    messages().print(f"Predictions written to {out}")


def _check_csv_output(out: Path, *sources: Path) -> None:
    if out.suffix.lower() in (".parquet", ".pq"):
        raise OutputError(f"{out}: predictions are written as CSV; choose a name that ends in .csv.")
    check_output(out, *sources)


def _with_predictions(model: SavedModel, data: Path, kind: str) -> Any:
    """The table as it stands in its file, with the mean and standard deviation of the target beside it."""
    texts = [name for name, kind in model.columns.items() if kind != NUMBER]
    X = inputs(read_table(data, texts), model.columns)
    frame = read_verbatim(data)
    for name, values in _predictions(model, X, kind).items():
        if name in frame:
            raise TableError(f"{data} already has a column {name!r}; rename or drop it.")
        frame[name] = values
    return frame


def _predictions(model: SavedModel, X: Any, kind: str) -> dict[str, Any]:
    """The columns to add: mean and standard deviation, or the class and the probability of each."""
    if not is_classifier(model.regressor):
        if kind == "augmented" and not isinstance(model.regressor.basis_, KernelBasis):
            raise TableError("--std augmented is for models on kernels, and this one has none; use --std plain.")
        mean, std = model.pipeline.predict(X, return_std=True, std=kind)
        return {f"{model.target}_mean": mean, f"{model.target}_std": std}
    if kind != "plain":
        raise TableError(f"--std {kind} is for numbers; this model predicts classes, with probabilities.")
    classes, probabilities = model.regressor.classes_, model.pipeline.predict_proba(X)
    each = {f"{model.target}_p_{label}": column for label, column in zip(classes, probabilities.T, strict=True)}
    return {f"{model.target}_predicted": classes[probabilities.argmax(axis=1)], **each}

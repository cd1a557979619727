"""``skarce export``: a model for use without Python."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from skarce._whole_file import check_output
from skarce.cli.exporting_gaps import pipeline_with_gaps
from skarce.cli.exporting_words import STDS, in_options
from skarce.cli.model_file import SavedModel
from skarce.cli.rendering import facts_table, show
from skarce.cli.sound_model import model_in_use
from skarce.datasets.columns import NUMBER
from skarce.datasets.gaps import complete_rows, only_rows
from skarce.datasets.tables import TableError, read_table
from skarce.datasets.training import inputs
from skarce.export import ExportError, to_c, to_onnx
from skarce.export.c.names import check_name
from skarce.export.onnx.conversion import CHECKED
from skarce.export.onnx.graph import REALS
from skarce.export.to_c import KINDS

C, ONNX = "c", "onnx"
DEFAULT_REALS = {C: "float", ONNX: "double"}


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice([C, ONNX]),
    help="c is one C99 header; onnx is a model for ONNX runtimes.  [default: by the end of --out; c]",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where to write it, such as model.h or model.onnx.")
@click.option("--name", help="How all names in C begin.  [default: the name of the output]")
@click.option("--real", type=click.Choice(list(KINDS)), help="The type of numbers.  [default: float in C, double in ONNX]")
@click.option(
    "--std",
    type=click.Choice(list(STDS)),
    default="plain",
    show_default=True,
    help="Which standard deviation numbers and counts have; the augmented one, in C only, needs a table of training rows.",
)
def export(model: Path, data: Path | None, kind: str | None, out: Path, name: str | None, real: str | None, std: str) -> None:
    """Write a model for use without Python.

    MODEL is a file that `skarce fit` wrote. The result takes raw rows: scaling and codes of text are in it. It is compared with the
    predictions of Python before it is written, at random points, at training rows that the model keeps (kernels have some, other
    models have none), and at the rows of DATA, a table with the input columns. Rows with missing values are left out, unless the
    model fills them in.

    An ONNX model has one input for each column, with the name of the column; text columns take strings. Its outputs are mean and
    std, or label and probabilities.

    \b
    Examples:
      skarce export houses.skops --format c --out houses.h
      skarce export houses.skops houses.csv --out houses.h --real double
      skarce export houses.skops --out houses.h --name house --std none
      skarce export houses.skops --format onnx --out houses.onnx
    """
    kind = _kind_of(out, kind)
    if kind == ONNX:
        _check_onnx(name, real, std)
    elif name is not None:
        _check_name(name)
    check_output(out, model, *([data] if data else []))
    with model_in_use(model) as saved:
        options = {"real": real or DEFAULT_REALS[kind], "std": STDS[std], "X": None if data is None else _rows(saved, data)}
        try:
            facts = _to_onnx(saved, out, options) if kind == ONNX else _to_c(saved, out, name, options)
        except ExportError as error:
            raise ExportError(in_options(error)) from None
    show(facts_table({**facts, "written to": str(out)}))


def _kind_of(out: Path, kind: str | None) -> str:
    """Return the format that is asked for, by its name or by the end of the file, which must not contradict it."""
    by_end = {".h": C, ".onnx": ONNX}.get(out.suffix.lower())
    if kind is not None and by_end not in (None, kind):
        raise click.UsageError(f"--format {kind} and --out {out} contradict each other; use --format {by_end} or another name.")
    return kind or by_end or C


def _check_name(name: str) -> None:
    try:
        check_name(name)
    except ValueError as error:
        raise click.UsageError(f"--{error}") from None


def _check_onnx(name: str | None, real: str | None, std: str) -> None:
    """Refuse options that only C has."""
    if name is not None:
        raise click.UsageError("--name is for --format c; ONNX models have the names of the columns.")
    if std == "augmented":
        raise click.UsageError("--std augmented is for --format c; use --std plain or none.")
    if real not in (None, *REALS):
        raise click.UsageError(f"--real {real} is for --format c; use {' or '.join(REALS)}.")


def _rows(saved: SavedModel, data: Path) -> Any:
    """The rows of a table. Those with missing values are left out if the model does not fill them in."""
    table = read_table(data, [column for column, of in saved.columns.items() if of != NUMBER])
    if not saved.fills_gaps:
        table = only_rows(table, complete_rows(table, saved.columns))
        if not len(table.frame):
            raise TableError(f"values are missing in each row of {data}, and the model does not fill them in; leave DATA out.")
    return inputs(table, saved.columns, has_gaps=saved.fills_gaps)


def _to_c(saved: SavedModel, out: Path, name: str | None, options: dict[str, Any]) -> dict[str, str]:
    exported = to_c(pipeline_with_gaps(saved), out, name=name or _name_of(out), **options)
    size = exported.size
    return {
        "tables": f"{size.table_bytes} bytes of flash, without the code",
        "stack": f"about {size.stack_bytes} bytes",
        "a prediction": f"about {size.n_multiplications} multiplications",
        "largest error": f"{exported.error:.1e} {exported.unit}",
        "checked at": exported.where,
    }


def _to_onnx(saved: SavedModel, out: Path, options: dict[str, Any]) -> dict[str, str]:
    try:
        converted = to_onnx(pipeline_with_gaps(saved), out, **options)
    except ImportError as error:
        raise ExportError(str(error)) from None
    graph, about = converted.graph, {fact.key: fact.value for fact in converted.metadata_props}
    return {
        "size": f"{out.stat().st_size} bytes",
        "inputs": ", ".join(one.name for one in graph.input),
        "outputs": ", ".join(one.name for one in graph.output),
        "checked at": about[CHECKED],
    }


def _name_of(out: Path) -> str:
    """The name of a file as a name of C."""
    word = re.sub(r"[^A-Za-z0-9_]+", "_", out.stem)[:31].lstrip("_0123456789")
    return word or "model"

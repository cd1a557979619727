"""``skarce export``: a model as a file for programs without Python."""

from __future__ import annotations

from pathlib import Path

import click

from skarce._whole_file import check_output
from skarce.cli.rendering import say
from skarce.cli.sound_model import model_in_use
from skarce.export import ExportError, to_onnx


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--format", "kind", type=click.Choice(["onnx"]), required=True, help="What to write.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write.")
@click.option("--std/--no-std", default=True, show_default=True, help="Whether the standard deviation is part of the export.")
@click.option(
    "--real",
    type=click.Choice(["double", "float"]),
    default="double",
    show_default=True,
    help="Precision of inputs, outputs and all between.",
)
def export(model: Path, kind: str, out: Path, std: bool, real: str) -> None:
    """Write a model for programs without Python.

    MODEL is a file that `skarce fit` wrote. The preprocessing of its columns is part of the export. An ONNX model has one input for
    each column, with the name of the column; text columns take strings. Its outputs are mean and std, or label and probabilities.

    The export is run and compared with the model before it is written.

    \b
    Examples:
      skarce export houses.skops --format onnx --out houses.onnx
      skarce export houses.skops --format onnx --out houses.onnx --real float
    """
    check_output(out, model)
    with model_in_use(model) as saved:
        try:
            to_onnx(saved.pipeline, out, std=std, real=real)
        except ImportError as error:
            raise ExportError(str(error)) from None
    say(f"ONNX model written to {out}")

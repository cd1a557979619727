"""``skarce export``: a model for use without Python."""

from __future__ import annotations

import re
from pathlib import Path

import click

from skarce._whole_file import check_output
from skarce.cli.rendering import facts_table, show
from skarce.cli.sound_model import model_in_use
from skarce.datasets.columns import NUMBER
from skarce.datasets.content import read_content
from skarce.datasets.tables import TableFile
from skarce.datasets.training import inputs
from skarce.export import to_c
from skarce.export.to_c import KINDS

STDS = {"plain": True, "augmented": "augmented", "none": False}


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option("--format", "kind", type=click.Choice(["c"]), default="c", show_default=True, help="c is one C99 header.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where to write it, such as model.h.")
@click.option("--name", help="How all names in C begin.  [default: the name of the output]")
@click.option("--real", type=click.Choice(list(KINDS)), default="float", show_default=True, help="The type of numbers in C.")
@click.option(
    "--std",
    type=click.Choice(list(STDS)),
    default="plain",
    show_default=True,
    help="Which standard deviation numbers and counts have; the augmented one needs a table of training rows.",
)
def export(model: Path, data: Path | None, kind: str, out: Path, name: str | None, real: str, std: str) -> None:
    """Write a model for use without Python.

    MODEL is a file that `skarce fit` wrote. The result takes raw rows: scaling and codes of text are in it. It is compared with the
    predictions of Python before it is written, at random points and at the rows of DATA, a table with the input columns.

    \b
    Examples:
      skarce export houses.skops --format c --out houses.h
      skarce export houses.skops houses.csv --out houses.h --real double
      skarce export houses.skops --out houses.h --name house --std none
    """
    check_output(out, model, *([data] if data else []))
    with model_in_use(model) as saved:
        X = None
        if data is not None:
            texts = [column for column, of in saved.columns.items() if of != NUMBER]
            X = inputs(TableFile(data, read_content(data)).table(texts), saved.columns)
        exported = to_c(saved.pipeline, out, name=name or _name_of(out), real=real, std=STDS[std], X=X)
    size = exported.size
    facts = {
        "tables": f"{size.table_bytes} bytes of flash",
        "stack": f"about {size.stack_bytes} bytes",
        "a prediction": f"about {size.n_multiplications} multiplications",
        "largest error": f"{exported.error:.1e} of the std of the target, at {exported.n_rows} rows",
        "written to": str(out),
    }
    show(facts_table(facts))


def _name_of(out: Path) -> str:
    """The name of a file as a name of C."""
    word = re.sub(r"[^A-Za-z0-9_]+", "_", out.stem)[:31].lstrip("_0123456789")
    return word or "model"

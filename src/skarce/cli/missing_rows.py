"""What ``skarce predict`` and ``skarce explain`` do about missing values in rows for a stored model."""

from __future__ import annotations

import click

from skarce.cli.model_file import SavedModel
from skarce.datasets.gaps import ERROR, FILL, WAYS
from skarce.datasets.tables import TableError

rows_missing_option = click.option(
    "--missing",
    type=click.Choice(WAYS),
    help="What to do about missing values: drop leaves out rows with some, fill is for models that were fitted with it.  "
    "[default: fill if the model was fitted with --missing fill, else error]",
)


def way_for(model: SavedModel, asked: str | None) -> str:
    """What to do about missing values: what was asked for, or else what the model was fitted with."""
    if asked == FILL and not model.fills_gaps:
        remedy = "fit it again with --missing fill, or use --missing drop"
        raise TableError(f"the model was fitted without --missing fill, so it has no values to fill in; {remedy}.")
    return asked or (FILL if model.fills_gaps else ERROR)

"""Models from files, in use: each is tried on a row before it gets a table, and an error in it ends in one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from skarce._whole_file import OutputError
from skarce.basis import KernelBasis
from skarce.cli.explanation import active_functions, facts, last_steps
from skarce.cli.model_file import ModelFileError, SavedModel, load, reason
from skarce.cli.rendering import StandardOutputError
from skarce.cli.task_output import ClassificationOutput, RegressionOutput, output_for
from skarce.datasets.tables import TableError
from skarce.export import ExportError

COVERAGE = 0.95  # of the interval that is tried
# Errors in a `with` block that are not those of the model: they say themselves what is wrong, or concern the output.
NOT_OF_THE_MODEL = (ModelFileError, TableError, OutputError, ExportError, StandardOutputError, click.ClickException, OSError)


@contextmanager
def model_in_use(path: Path) -> Iterator[SavedModel]:
    """A model from a file. If it cannot be used, although its parts are in order, the error is one line."""
    model = load(path)
    try:
        _try(model)
    except Exception as error:  # an edited file can raise anything
        raise ModelFileError(f"{path} is not a complete model: {reason(error)}") from None
    try:
        yield model
    except NOT_OF_THE_MODEL:
        raise
    except Exception as error:  # the model was sound on one row, and is not on these
        raise ModelFileError(f"the model of {path} cannot be used here: {reason(error)}") from None


def _try(model: SavedModel) -> None:
    """Predict one row in every way, and explain the model."""
    row, output = _typical_row(model), output_for(model)
    ways = ["plain"]
    if isinstance(output, RegressionOutput) and isinstance(model.regressor.basis_, KernelBasis):
        ways.append("augmented")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for std in ways:
            for name, values in output.predictions(model, row, std).items():
                _check_prediction(name, values)
        if not isinstance(output, ClassificationOutput):
            for name, values in output.interval(model, row, COVERAGE).items():
                _check_prediction(name, values)
        facts(model), active_functions(model), last_steps(model)


def _check_prediction(name: str, values: Any) -> None:
    values = np.asarray(values)
    if values.shape != (1,) or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        raise ValueError(f"{name} of a typical row is {values.tolist()!r}")


def _typical_row(model: SavedModel) -> Any:
    """The mean of each number, and the first known text."""
    values = {}
    for label, part, names in model.pipeline[0].transformers_:
        typical = part.mean_ if label == "numbers" else [texts[0] for texts in part.categories_]
        values.update({name: [value] for name, value in zip(names, typical, strict=True)})
    return pd.DataFrame({name: values[name] for name in model.columns})

"""Saved models: a pipeline and what is needed to use it on new tables, in a file that cannot run code."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import skops.io

from skarce._whole_file import replacing
from skarce.cli.archive import RefusedError, check_size, packed, read_parts
from skarce.cli.model_checks import check_model
from skarce.cli.model_schema import SCHEMA, allowed_types, checked_parts

FORMAT = 2  # of the files that `save` writes; files of format 1 had no number
HEADER = "skarce.json"  # the part that holds it, so that it can be read before anything else
MOST_LETTERS = 300  # of a reason in a message


class ModelFileError(ValueError):
    """A file that cannot be used as a model, and why."""


@dataclass(frozen=True)
class SavedModel:
    """A fitted pipeline, the name of the target, the kind of each input column, and skarce's version.

    The steps of the pipeline are the preprocessing, the filling of gaps if it was asked for, and the model.
    """

    pipeline: Any
    target: str
    columns: dict[str, str]
    version: str

    @property
    def regressor(self) -> Any:
        """The model without its preprocessing; it may be a classifier."""
        return self.pipeline[-1]

    @property
    def fills_gaps(self) -> bool:
        """Whether missing values are filled in."""
        return "filling" in self.pipeline.named_steps

    @property
    def has_posterior_per_class(self) -> bool:
        """Whether each class has its own functions, instead of one model for all."""
        return isinstance(self.regressor.posterior_, list)


def save(model: SavedModel, path: Path) -> None:
    """Write the model to a file, completely or not at all."""
    try:
        with replacing(path) as draft:
            skops.io.dump(vars(model), draft, compression=ZIP_DEFLATED)
            with ZipFile(draft, "a", ZIP_DEFLATED) as archive:
                archive.writestr(HEADER, json.dumps({"format": FORMAT, "version": model.version}))
            check_size(draft)
    except RefusedError as error:
        raise ModelFileError(f"{path} {error}") from None


def load(path: Path) -> SavedModel:
    """Read a model. Only types that models need are constructed, and the model is checked before it is used."""
    try:
        if not path.is_file():
            raise RefusedError("is not a file." if path.exists() else "does not exist.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the checks tell whether a file of another version can be used
            return _read(path)
    except RefusedError as error:
        raise ModelFileError(f"{path} {error}") from None
    except BadZipFile:
        raise ModelFileError(f"{path} is not a model written by skarce fit, or it is damaged.") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from None
    except Exception as error:  # a damaged file can raise anything
        raise ModelFileError(f"{path} is not a complete model: {reason(error)}") from None


def reason(error: Exception) -> str:
    """What an error says, in one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]} ..."


def _read(path: Path) -> SavedModel:
    parts = read_parts(path)
    _check_format(parts)
    sound = checked_parts(parts)
    allowed = allowed_types()
    trusted = sorted(allowed["ObjectNode"] | allowed["DTypeNode"])
    model = SavedModel(**skops.io.loads(packed(sound), trusted=trusted))
    check_model(model.pipeline, model.target, model.columns, model.version)
    return model


def _check_format(parts: Mapping[str, bytes]) -> None:
    """Raise if the file was written by a version whose files this one does not read."""
    if HEADER not in parts and SCHEMA not in parts:
        raise RefusedError("is not a model written by skarce fit.")
    if HEADER not in parts:
        raise RefusedError("has no format number, so it was not written by this or a later version of skarce: fit the model again.")
    number = json.loads(parts[HEADER])["format"]
    if isinstance(number, bool) or not isinstance(number, int) or number < FORMAT:
        raise RefusedError(f"is damaged: its format is {str(number)[:20]!r}.")
    if number > FORMAT:
        raise RefusedError(f"was written by skarce format {str(number)[:20]}; this version reads up to {FORMAT}: upgrade skarce.")

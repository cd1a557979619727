"""Saved models: a pipeline and what is needed to use it on new tables, in a file that cannot run code when it is read."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import skops.io
from sklearn.pipeline import Pipeline

from skarce.cli.whole_file import replacing
from skarce.states.outcome import Outcome

# Types beyond skarce's own that skops does not know and that a saved pipeline may hold.
# This one is a list of column positions that scikit-learn 1.6 keeps in a fitted ColumnTransformer.
ALSO_TRUSTED = frozenset({"sklearn.compose._column_transformer._RemainderColsList"})


class ModelFileError(ValueError):
    """A file that cannot be used as a model, and why."""


@dataclass(frozen=True)
class SavedModel:
    """A fitted pipeline (preprocessing and regressor), the target's name, the kind of every input column, skarce's version."""

    pipeline: Any
    target: str
    columns: dict[str, str]
    version: str

    @property
    def regressor(self) -> Any:
        return self.pipeline[-1]


def save(model: SavedModel, path: Path) -> None:
    """Write the model whole or not at all."""
    content = {**vars(model), "pipeline": _with_outcome(model.pipeline, lambda outcome: outcome.name)}
    with replacing(path) as draft:
        skops.io.dump(content, draft, compression=ZIP_DEFLATED)


def load(path: Path) -> SavedModel:
    """Read a model, and construct nothing but types of skarce, scikit-learn and NumPy."""
    if not path.is_file():
        raise ModelFileError(f"{path} {'is not a file' if path.exists() else 'does not exist'}.")
    try:
        types = skops.io.get_untrusted_types(file=path)
    except Exception:  # whatever a foreign file provokes in the reader
        raise ModelFileError(f"{path} is not a model written by skarce fit.") from None
    strangers = [name for name in types if not is_trusted(name)]
    if strangers:
        raise ModelFileError(f"{path} is refused: it holds {', '.join(strangers)}, which skarce does not trust.")
    return _constructed(path, types)


def is_trusted(type_name: str) -> bool:
    """Whether the name is that of a class that skarce itself defines; what its modules import from elsewhere is not."""
    module_name, _, class_name = type_name.rpartition(".")
    if type_name in ALSO_TRUSTED:
        return True
    if not module_name.startswith("skarce."):
        return False
    try:
        found = getattr(import_module(module_name), class_name, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module_name


def _constructed(path: Path, trusted: list[str]) -> SavedModel:
    try:
        content = skops.io.load(path, trusted=trusted)
        content["pipeline"] = _with_outcome(content["pipeline"], lambda name: Outcome[name])
        return SavedModel(**content)
    except Exception as error:  # a damaged file fails wherever the damage is
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{path} is not a complete model: {type(error).__name__}: {reason}") from None


def _with_outcome(pipeline: Any, convert: Callable[[Any], Any]) -> Any:
    """The pipeline with the outcome of its regressor converted: skops cannot construct enumerations, so files hold its name."""
    *before, (step, regressor) = pipeline.steps
    changed = copy.copy(regressor)
    changed.outcome_ = convert(regressor.outcome_)
    posteriors = regressor.posterior_ if isinstance(regressor.posterior_, list) else [regressor.posterior_]
    converted = [replace(posterior, outcome=convert(posterior.outcome)) for posterior in posteriors]
    changed.posterior_ = converted if isinstance(regressor.posterior_, list) else converted[0]
    return Pipeline([*before, (step, changed)])

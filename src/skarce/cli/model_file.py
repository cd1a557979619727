"""Saved models: a pipeline and what is needed to use it on new tables, in a file that cannot run code."""

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

# Types that skops does not know, that are not ours, and that a saved pipeline may hold:
# a list of column positions, which scikit-learn 1.6 keeps in a fitted ColumnTransformer.
ALSO_TRUSTED = frozenset({"sklearn.compose._column_transformer._RemainderColsList"})


class ModelFileError(ValueError):
    """A file that cannot be used as a model, and why."""


@dataclass(frozen=True)
class SavedModel:
    """A fitted pipeline (preprocessing and model), the name of the target, the kind of each input column, and skarce's version."""

    pipeline: Any
    target: str
    columns: dict[str, str]
    version: str

    @property
    def regressor(self) -> Any:
        """The model without its preprocessing; it may be a classifier."""
        return self.pipeline[-1]

    @property
    def has_posterior_per_class(self) -> bool:
        """Whether each class has its own functions, instead of one model for all."""
        return isinstance(self.regressor.posterior_, list)


def save(model: SavedModel, path: Path) -> None:
    """Write the model to a file, completely or not at all."""
    content = {**vars(model), "pipeline": _with_outcome(model.pipeline, lambda outcome: outcome.name)}
    with replacing(path) as draft:
        skops.io.dump(content, draft, compression=ZIP_DEFLATED)


def load(path: Path) -> SavedModel:
    """Read a model. Only types of skarce, scikit-learn and NumPy are constructed."""
    if not path.is_file():
        raise ModelFileError(f"{path} {'is not a file' if path.exists() else 'does not exist'}.")
    try:
        types = skops.io.get_untrusted_types(file=path)
    except Exception:  # a file of another kind can raise anything in the reader
        raise ModelFileError(f"{path} is not a model written by skarce fit.") from None
    untrusted = [name for name in types if not is_trusted(name)]
    if untrusted:
        raise ModelFileError(f"{path} is refused, because it holds {', '.join(untrusted)}, which skarce does not trust.")
    return _constructed(path, types)


def is_trusted(type_name: str) -> bool:
    """Whether the name is that of a class that skarce itself defines; what its modules import does not count."""
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
    except Exception as error:  # a damaged file can raise anything
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{path} is not a complete model: {type(error).__name__}: {reason}") from None


def _with_outcome(pipeline: Any, convert: Callable[[Any], Any]) -> Any:
    """The pipeline with the outcome of its model converted. skops cannot construct enumerations, so files hold its name."""
    *before, (step, regressor) = pipeline.steps
    changed = copy.copy(regressor)
    changed.outcome_ = convert(regressor.outcome_)
    posteriors = regressor.posterior_ if isinstance(regressor.posterior_, list) else [regressor.posterior_]
    converted = [replace(posterior, outcome=convert(posterior.outcome)) for posterior in posteriors]
    changed.posterior_ = converted if isinstance(regressor.posterior_, list) else converted[0]
    return Pipeline([*before, (step, changed)])

"""Tables split into inputs and a target, checked and ready for a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skarce._text import LONGEST_NAME, one_line, quoted
from skarce.datasets.columns import NUMBER, TEXT, counts, input_kind, labels, numbers, refuse_unusable, texts
from skarce.datasets.gaps import MISSING_TEXT, n_gaps, refuse_gaps
from skarce.datasets.leaks import exclude_option, leaks
from skarce.datasets.tables import Table, TableError, listed
from skarce.datasets.target_kinds import TargetKind

MOST_CLASSES = 10  # whole numbers with more distinct values are numbers
FEWEST_DISTINCT, SHARE_DISTINCT = 20, 0.25  # text with more distinct values than both allow is probably an identifier
MOST_TEXTS, SHARE_OF_NAMES = 100, 0.9  # with more than both allow, it is one: each text would become a column of its own
TEXTS = "texts"  # the part of the preprocessing that encodes text
READERS = {TargetKind.NUMBERS: numbers, TargetKind.CLASSES: labels, TargetKind.COUNTS: counts}


@dataclass(frozen=True)
class TrainingData:
    """Inputs, targets, the kind of every input column and of the target; `notes` tell the user what may be unexpected.

    `leaks` are columns that nearly tell the target, with a note on each. If `has_gaps`, numbers of the inputs may be NaN, which the
    preprocessing fills in.
    """

    X: Any
    y: Any
    kinds: dict[str, str]
    target_kind: TargetKind
    notes: list[str] = field(default_factory=list)
    has_gaps: bool = False
    leaks: dict[str, str] = field(default_factory=dict)

    def preprocessing(self) -> Pipeline:
        """The unfitted steps before a model."""
        return Pipeline([("preprocessing", make_preprocessing(self.kinds)), *([("filling", make_filling())] * self.has_gaps)])


def training_data(table: Table, target: str, kind: TargetKind | None = None, *, has_gaps: bool = False) -> TrainingData:
    """Split a table into inputs and target, and check that a model can be fitted.

    Without a `kind`, it is recognized from the values of the target. Values may be missing in inputs that `has_gaps`.
    """
    refuse_gaps(table, [target] if has_gaps else table.frame.columns)
    kind = kind or recognize_target(table, target)
    y = READERS[kind](table, target)
    if (y == y[0]).all():
        raise TableError(
            f"the target {quoted(target)} is the same in all rows ({one_line(y[0], LONGEST_NAME)}), so there is nothing to learn."
        )
    kinds = {name: input_kind(table, name) for name in table.frame.columns if name != target}
    if not kinds:
        raise TableError(f"the target {quoted(target)} is the only column left of {table.name}; a model needs inputs.")
    if has_gaps:
        _refuse_empty(table, kinds)
    _refuse_identifiers(table, kinds)
    X = inputs(table, kinds, has_gaps=has_gaps)
    filled = _notes_on_filling(table, kinds) if has_gaps else []
    return TrainingData(X, y, kinds, kind, filled + _notes(table, kinds), has_gaps, leaks(X, y, kind))


def recognize_target(table: Table, target: str) -> TargetKind:
    """Classes if the target is text, booleans, or at most ten distinct whole numbers with two rows or more each on average.

    Text is taken for numbers with typos if at least half of it are numbers, or if most rows differ and some are numbers. Reading
    it as numbers then reports the first typo.
    """
    refuse_unusable(table, target)
    values = table.column(target).dropna()
    if types.is_bool_dtype(values):
        return TargetKind.CLASSES
    if not types.is_numeric_dtype(values):
        share = pd.to_numeric(values, errors="coerce").notna().mean()
        return TargetKind.NUMBERS if share >= (0.5 if 2 * values.nunique() <= len(values) else 1e-9) else TargetKind.CLASSES
    n_distinct = int(values.nunique())
    is_whole = types.is_integer_dtype(values) or bool((values == values.round()).all())
    return TargetKind.CLASSES if is_whole and n_distinct <= min(MOST_CLASSES, len(values) // 2) else TargetKind.NUMBERS


def inputs(table: Table, kinds: dict[str, str], *, has_gaps: bool = False) -> Any:
    """The input columns as float64 or as text, by their kind; other columns are left out. Values may be missing if `has_gaps`."""
    check_columns(table, kinds)
    if not has_gaps:
        refuse_gaps(table, kinds)
    readers = {NUMBER: numbers, TEXT: texts}
    return pd.DataFrame({name: readers[kind](table, name, has_gaps=has_gaps) for name, kind in kinds.items()})


def check_columns(table: Table, names: Iterable[str], hint: Callable[[list[str]], str] = lambda lacking: "") -> None:
    """Raise if a table lacks columns that a model needs. A hint may say where they are."""
    lacking = [name for name in names if name not in table.frame]
    if lacking:
        raise TableError(f"{table.name} lacks {listed(lacking)}, which the model needs.{hint(lacking)}")


def make_preprocessing(kinds: dict[str, str]) -> Any:
    """Scaled numbers and one-hot encoded text, side by side; text not seen in training becomes zeros."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [("numbers", StandardScaler(), NUMBER), (TEXTS, encoder, TEXT)]
    chosen = [(label, part, [name for name, kind in kinds.items() if kind == wanted]) for label, part, wanted in parts]
    return ColumnTransformer([(label, part, names) for label, part, names in chosen if names])


def make_filling() -> Any:
    """The median of each number in place of NaN. It comes after the scaling, which leaves NaN as it is."""
    return SimpleImputer(strategy="median", keep_empty_features=True)


def known_texts(preprocessing: Any) -> dict[str, Any]:
    """The texts that each column of text had in the training rows."""
    encoded = [(names, part.categories_) for label, part, names in preprocessing.transformers_ if label == TEXTS]
    return {name: known for names, categories in encoded for name, known in zip(names, categories, strict=True)}


def _refuse_empty(table: Table, kinds: dict[str, str]) -> None:
    """Raise for columns without any value, of which no median is known."""
    empty = [name for name in kinds if table.frame[name].isna().all()]
    if empty:
        remedy = f"leave out what is empty: {exclude_option(','.join(empty))}"
        raise TableError(f"{table.name} has no value at all in {listed(empty)}, so nothing can be filled in; {remedy}")


def _refuse_identifiers(table: Table, kinds: dict[str, str]) -> None:
    """Raise for columns of many texts that nearly all differ. Models of them take long, and new rows have other texts."""
    for name in (name for name, kind in kinds.items() if kind == TEXT):
        values = table.frame[name].dropna()
        n_distinct = int(values.nunique())
        if n_distinct > max(MOST_TEXTS, SHARE_OF_NAMES * len(values)):
            typos = _almost_numbers(table, name)
            reason = typos or f"column {quoted(name)} has {n_distinct} different texts in {len(values)} rows, as an identifier has."
            remedy = "correct these values, or leave it out" if typos else "leave it out"
            raise TableError(f"{reason.rstrip('.')}; {remedy} ({exclude_option(name)}), and convert dates to numbers.")


def _notes_on_filling(table: Table, kinds: dict[str, str]) -> list[str]:
    n_missing, n_columns = n_gaps(table.frame[list(kinds)])
    where = f"{n_missing} missing value{'s'[: n_missing != 1]} in {n_columns} column{'s'[: n_columns != 1]}"
    how = f"numbers with the median of the training rows, text with {quoted(MISSING_TEXT)}"
    return [f"filled in {where}: {how}."] if n_missing else []


def _notes(table: Table, kinds: dict[str, str]) -> list[str]:
    of_text = [name for name, kind in kinds.items() if kind == TEXT]
    notes = [look(table, name) for name in of_text for look in (_almost_numbers, _nearly_all_distinct)]
    return [note for note in notes if note]


def _almost_numbers(table: Table, name: str) -> str | None:
    """A note on a text column in which most values are numbers: one typo is enough to make a column text."""
    values = table.frame[name]
    rows = np.flatnonzero(pd.to_numeric(values, errors="coerce").isna() & values.notna())
    if not 0 < len(rows) < len(values) / 2:
        return None
    first = f"{quoted(values.iloc[rows[0]])} in {table.place(int(rows[0]))}"
    reason = f"is not a number: {first}" if len(rows) == 1 else f"are not numbers, the first {first}"
    return f"column {quoted(name)} is treated as text, because {len(rows)} of its {len(values)} values {reason}."


def _nearly_all_distinct(table: Table, name: str) -> str | None:
    """A note on a text column that differs in most rows: a name, a license plate or a date says nothing about other rows."""
    values = table.frame[name]
    n_distinct = int(values.nunique())
    if n_distinct <= max(FEWEST_DISTINCT, SHARE_DISTINCT * len(values)):
        return None
    return (
        f"column {quoted(name)} has {n_distinct} different texts in {len(values)} rows, so a model memorizes its rows; "
        f"leave it out if it is an identifier ({exclude_option(name)}), and convert dates to numbers."
    )

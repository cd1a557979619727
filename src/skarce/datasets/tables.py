"""Data files as tables: read, checked, and prepared for a model. Every problem is one sentence that says where it is."""

from __future__ import annotations

import csv
import difflib
import gzip
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skarce._typing import Floats

NUMBER, TEXT = "number", "text"
REGRESSION, CLASSIFICATION = TASKS = ("regression", "classification")
MOST_CLASSES = 10  # whole numbers with more different values are taken for numbers
LARGEST = 1e150  # squares of larger numbers overflow


class TableError(ValueError):
    """A table that cannot be used, and why."""


@dataclass(frozen=True)
class Table:
    """Rows with named columns, the name of their source, and where in the source each row stands."""

    frame: Any
    name: str
    place: Callable[[int], str]

    def column(self, name: str) -> Any:
        """The column of this name; if there is none, the error lists names that are close to it."""
        if name in self.frame:
            return self.frame[name]
        close = difflib.get_close_matches(name, self.frame.columns)
        hint = f"did you mean {_listed(close)}?" if close else f"it has {_listed(self.frame.columns)}."
        raise TableError(f"{self.name} has no column {name!r}; {hint}")


@dataclass(frozen=True)
class TrainingData:
    """Inputs, targets (numbers or labels) and the kind of every input column; `notes` say what a user may not expect."""

    X: Any
    y: Any
    kinds: dict[str, str]
    notes: list[str] = field(default_factory=list)
    task: str = REGRESSION


def read_table(path: Path, text_columns: Collection[str] = ()) -> Table:
    """Read CSV (gzipped where the name ends in .gz), or Parquet where the name ends so.

    `text_columns` stay text, also where all values look like numbers.
    """
    if path.suffix.lower() in (".parquet", ".pq"):
        table = Table(_read(_parquet_frame, path, "Parquet"), str(path), lambda row: f"row {row + 1}")
    else:
        options = {"low_memory": False, "dtype": dict.fromkeys(text_columns, str)}
        table = Table(_read(lambda source: _csv_frame(source, options), path, "CSV"), str(path), lambda row: _csv_line(path, row))
    if not len(table.frame):
        raise TableError(f"{path} has no rows.")
    return table


def read_verbatim(path: Path) -> Any:
    """The table as it is written, to be written again: the fields of a CSV file stay the text they are."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return _read(_parquet_frame, path, "Parquet")
    return _read(lambda source: _csv_frame(source, {"dtype": str, "keep_default_na": False}), path, "CSV")


def is_gzipped(path: Path) -> bool:
    """By its name."""
    return path.suffix.lower() == ".gz"


def diabetes_table() -> Table:
    """The diabetes data that come with scikit-learn; the target is called ``target``."""
    return Table(load_diabetes(as_frame=True).frame, "the diabetes data of scikit-learn", lambda row: f"row {row + 1}")


def training_data(table: Table, target: str, at_least: int = 1, task: str | None = REGRESSION) -> TrainingData:
    """Split a table into inputs and target, after checking that a model can be fitted; `at_least` is the number of folds.

    Without a `task` it is classification where the target is text, truth values or few whole numbers.
    """
    task = task or recognised_task(table, target)
    y = _numbers(table, target) if task == REGRESSION else _classes(table, target)
    if (y == y[0]).all():
        raise TableError(f"the target {target!r} is the same in all rows ({y[0]}), so there is nothing to learn.")
    kinds = {name: _kind(table, name) for name in table.frame.columns if name != target}
    if not kinds:
        raise TableError(f"the target {target!r} is the only column of {table.name}; a model needs inputs.")
    X = inputs(table, kinds)
    if len(y) < at_least:
        raise TableError(f"{table.name} has {len(y)} rows, fewer than the {at_least} folds; lower --cv.")
    texts = [name for name, kind in kinds.items() if kind == TEXT]
    notes = [look(table, name) for name in texts for look in (_almost_numbers, _nearly_all_different)]
    return TrainingData(X, y, kinds, [note for note in notes if note], task)


def recognised_task(table: Table, target: str) -> str:
    """Classification for text, truth values and at most ten different whole numbers, each in two rows or more on average.

    Text of which half are numbers, or some where most rows differ, is taken for numbers with slips of the pen: the first is named.
    """
    values = table.column(target).dropna()
    if types.is_bool_dtype(values):
        return CLASSIFICATION
    if not types.is_numeric_dtype(values):
        share = pd.to_numeric(values, errors="coerce").notna().mean()
        return REGRESSION if share >= (0.5 if 2 * values.nunique() <= len(values) else 1e-9) else CLASSIFICATION
    n_distinct = int(values.nunique())
    is_whole = types.is_integer_dtype(values) or bool((values == values.round()).all())
    return CLASSIFICATION if is_whole and n_distinct <= min(MOST_CLASSES, len(values) // 2) else REGRESSION


def inputs(table: Table, kinds: dict[str, str]) -> Any:
    """The input columns as float64 or as text, by their kind; columns beyond those are left out."""
    missing = [name for name in kinds if name not in table.frame]
    if missing:
        raise TableError(f"{table.name} lacks {_listed(missing)}, which the model needs.")
    return pd.DataFrame({name: _numbers(table, name) if kind == NUMBER else _texts(table, name) for name, kind in kinds.items()})


def make_preprocessing(kinds: dict[str, str]) -> Any:
    """Scaled numbers and one-hot encoded texts, side by side; a text not seen in training becomes zeros."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [("numbers", StandardScaler(), NUMBER), ("texts", encoder, TEXT)]
    chosen = [(label, part, [name for name, kind in kinds.items() if kind == wanted]) for label, part, wanted in parts]
    return ColumnTransformer([(label, part, names) for label, part, names in chosen if names])


def _read(reader: Callable[[Path], Any], path: Path, kind: str) -> Any:
    """The frame in a file, or one sentence on why there is none."""
    try:
        frame = reader(path)
    except TableError:
        raise
    except FileNotFoundError:
        raise TableError(f"{path} does not exist.") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from None
    except pd.errors.EmptyDataError:
        raise TableError(f"{path} is empty.") from None
    except ImportError:
        raise TableError(f"{path} is Parquet, which needs pyarrow: install skarce[parquet].") from None
    except UnicodeDecodeError:
        raise TableError(f"{path} is not text in UTF-8, so it cannot be read as {kind}.") from None
    except (EOFError, zlib.error):
        raise TableError(f"{path} is not a complete gzip file.") from None
    except (ValueError, csv.Error) as error:
        raise TableError(f"{path} cannot be read as {kind}: {' '.join(str(error).split())}") from None
    frame.columns = [str(name) for name in frame.columns]
    return frame


def _parquet_frame(path: Path) -> Any:
    path.open("rb").close()
    frame = pd.read_parquet(path)
    _refuse_duplicates(path, list(frame.columns))
    return frame


def _csv_frame(path: Path, options: dict[str, Any]) -> Any:
    frame = pd.read_csv(path, compression="gzip" if is_gzipped(path) else None, skipinitialspace=True, **options)
    _refuse_duplicates(path, next(fields for _, fields in _csv_records(path)))
    if not isinstance(frame.index, pd.RangeIndex):
        raise TableError(f"{path}: the rows have more fields than the header has names.")
    return frame


def _csv_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The line each record begins in, and its fields; blank lines are no records."""
    open_text = gzip.open if is_gzipped(path) else open
    with open_text(path, "rt", newline="", encoding="utf-8-sig") as lines:
        reader, begins = csv.reader(lines, skipinitialspace=True), 1
        for fields in reader:
            if any(text.strip() for text in fields[:1]) or len(fields) > 1:
                yield begins, fields
            begins = reader.line_num + 1


def _csv_line(path: Path, row: int) -> str:
    """Where a row begins in its file, the header being line 1; quoted line breaks and blank lines count."""
    begins = (line for record, (line, _) in enumerate(_csv_records(path)) if record == row + 1)
    return f"line {next(begins, row + 2)}"


def _refuse_duplicates(path: Path, names: list[str]) -> None:
    duplicates = [name for name in dict.fromkeys(names) if name and names.count(name) > 1]
    if duplicates:
        raise TableError(f"{path} has more than one column {_listed(duplicates)}; give each a name of its own.")


def _kind(table: Table, name: str) -> str:
    values = table.frame[name]
    if types.is_bool_dtype(values) or types.is_numeric_dtype(values):
        return NUMBER
    if types.infer_dtype(values, skipna=True) in ("string", "empty", "categorical"):
        return TEXT
    raise TableError(f"column {name!r} of {table.name} holds {values.dtype} values; only numbers and texts can be inputs.")


def _numbers(table: Table, name: str) -> Floats:
    """A column as float64: true is 1, and nothing is missing, text, infinite or too large to square."""
    values = _complete(table, name)
    numbers = pd.to_numeric(values, errors="coerce")
    _refuse(
        table, numbers.isna(), lambda row: f"column {name!r} must hold numbers, and {table.place(row)} has {values.iloc[row]!r}"
    )
    floats: Floats = numbers.to_numpy(dtype=np.float64)
    too_large = np.abs(floats) > LARGEST
    _refuse(table, too_large, lambda row: f"column {name!r} is infinite, or beyond {LARGEST:g}, in {table.place(row)}")
    return floats


def _classes(table: Table, name: str) -> Any:
    """A column as labels: text, truth values or numbers."""
    values = _complete(table, name)
    is_text = not (types.is_bool_dtype(values) or types.is_numeric_dtype(values))
    labels = values.astype(str).to_numpy(dtype=str) if is_text else values.to_numpy()
    if np.issubdtype(labels.dtype, np.floating) and (labels == np.round(labels)).all():
        labels = labels.astype(np.int64)
    n_classes = len(np.unique(labels))
    if n_classes > len(labels) / 2:
        raise TableError(
            f"the target {name!r} has {n_classes} different values in {len(labels)} rows, too many for classes; is it an "
            "identifier? For numbers there is --task regression."
        )
    return labels


def _texts(table: Table, name: str) -> Any:
    return _complete(table, name).astype(str).to_numpy(dtype=object)


def _complete(table: Table, name: str) -> Any:
    values = table.column(name)
    n_missing = int(values.isna().sum())
    what = f"{n_missing} missing value{'s' if n_missing > 1 else ''}"
    _refuse(table, values.isna(), lambda row: f"column {name!r} has {what}, the first in {table.place(row)}; fill or drop them")
    return values


def _refuse(table: Table, is_bad: Any, say: Callable[[int], str]) -> None:
    """Raise for the first bad row, if there is one."""
    rows = np.flatnonzero(is_bad)
    if len(rows):
        raise TableError(f"{table.name}: {say(int(rows[0]))}.")


def _almost_numbers(table: Table, name: str) -> str | None:
    """A note on a text column where most values are numbers: one slip of the pen makes a column text."""
    values = table.frame[name]
    rows = np.flatnonzero(pd.to_numeric(values, errors="coerce").isna())
    if not 0 < len(rows) < len(values) / 2:
        return None
    first = f"{values.iloc[rows[0]]!r} in {table.place(int(rows[0]))}"
    return f"column {name!r} is taken as text because of {len(rows)} of its {len(values)} values, the first {first}."


def _nearly_all_different(table: Table, name: str) -> str | None:
    """A note on a text column that is different in most rows: a name, a number plate or a date tells nothing of other rows."""
    values = table.frame[name]
    n_distinct = int(values.nunique())
    if n_distinct <= max(20, len(values) / 4):
        return None
    return (
        f"column {name!r} has {n_distinct} different texts in {len(values)} rows, so a model learns its rows by heart; drop it if "
        "it is an identifier, and turn dates into numbers."
    )


def _listed(names: Collection[str]) -> str:
    return ", ".join(repr(name) for name in names)

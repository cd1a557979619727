"""What one pass over large data finds out: kinds of columns, means and scales, texts, and a sample of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.preprocessing import StandardScaler

from skarce._parameters import generator_of
from skarce._text import quoted
from skarce.cli.streamed.files import DataFiles, TableBlock
from skarce.datasets import TargetKind
from skarce.datasets.columns import NUMBER, TEXT, input_kind, numbers
from skarce.datasets.leaks import exclude_option, near_copies
from skarce.datasets.tables import Table, TableError, is_parquet
from skarce.datasets.training import MOST_CLASSES, TEXTS, inputs, make_preprocessing, recognize_target
from skarce.designs.sampling import SAMPLE_ROWS, RowSample

MOST_TEXTS = 100  # different texts in a column: each becomes a column of its own
NEEDS_ROWS = "classifiers need all rows in memory"
SEED = 0  # of the sample: the same data give the same model


@dataclass(frozen=True)
class Summary:
    """What is known about the rows before they are added up.

    Attributes
    ----------
    kinds : dict
        The kind of each input column.
    preprocessing : ColumnTransformer
        Fitted to all rows: it scales numbers and encodes texts.
    sample : RowSample
        At most 20,000 rows: inputs as a data frame, and targets.
    notes : list of str
        What the user may not expect in the data.
    """

    kinds: dict[str, str]
    preprocessing: Any
    sample: RowSample
    notes: list[str]

    @property
    def n_rows(self) -> int:
        """The number of all rows."""
        return self.sample.n_rows

    @property
    def text_columns(self) -> list[str]:
        """The columns of text."""
        return [name for name, kind in self.kinds.items() if kind == TEXT]


class _TurnsToTextError(Exception):
    """A column of a CSV file that was numbers has a text, so it is to be read again as text."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def summarize(data: DataFiles, target: str, *, is_asked: bool, on_rows: Callable[[int], None]) -> Summary:
    """Summarize all rows in one pass, and one more for each column whose first text comes late.

    If regression was not asked for, targets that are classes are refused.
    """
    texts: list[str] = []
    while True:
        try:
            return _summary_of(data, target, texts, is_asked=is_asked, on_rows=on_rows)
        except _TurnsToTextError as turned:
            texts.append(turned.name)
            on_rows(0)


def _summary_of(data: DataFiles, target: str, texts: Sequence[str], *, is_asked: bool, on_rows: Callable[[int], None]) -> Summary:
    first = next(data.blocks(texts), None)
    if first is None:
        raise TableError(f"there are no rows in {data.name}.")
    collected = _Collected(target, _kinds(first.table, target), may_turn=not is_parquet(data.files[0].path))
    if not is_asked:
        _refuse_classes(first.table, target)
    for block in data.blocks(collected.text_columns):
        collected.add(block)
        on_rows(collected.n_rows)
    collected.check_target(is_asked=is_asked)
    return collected.summary()


def _kinds(table: Table, target: str) -> dict[str, str]:
    kinds = {name: input_kind(table, name) for name in table.frame.columns if name != target}
    if not kinds:
        raise TableError(f"the target {quoted(target)} is the only column left of {table.name}; a model needs inputs.")
    return kinds


def _refuse_classes(table: Table, target: str) -> None:
    """Raise if the first rows tell that the target is text or booleans. Whole numbers may still have more values."""
    values = table.column(target)
    if types.is_numeric_dtype(values) and not types.is_bool_dtype(values):
        return
    if recognize_target(table, target) is TargetKind.CLASSES:
        raise TableError(f"the target {quoted(target)} was recognized as classes, and {NEEDS_ROWS}; {_remedy()}.")


def _remedy() -> str:
    return "use --no-stream if they fit, fewer rows, or --task regression if it holds amounts"


class _Collected:
    """What is known about the rows so far."""

    def __init__(self, target: str, kinds: dict[str, str], *, may_turn: bool) -> None:
        self.target, self.kinds = target, kinds
        self._may_turn = may_turn
        self._numbers = [name for name, kind in kinds.items() if kind == NUMBER]
        self._scaler = StandardScaler()
        self._are_bool: dict[str, bool] = {}
        self._texts: dict[str, set[str]] = {name: set() for name in self.text_columns}
        self._target_values: set[float] = set()
        self._rng = generator_of(SEED)
        self._drawn: list[RowSample] = []

    @property
    def text_columns(self) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind == TEXT]

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self._drawn)

    def add(self, block: TableBlock) -> None:
        """Take one more block into account."""
        table = block.table
        self._check_kinds(table)
        X, y = inputs(table, self.kinds), numbers(table, self.target)
        if self._numbers:
            self._scaler.partial_fit(X[self._numbers])
        for name, known in self._texts.items():
            known.update(X[name].unique())
            self._check_number_of_texts(name, table)
        if len(self._target_values) <= MOST_CLASSES:
            self._target_values.update(np.unique(y).tolist())
        self._drawn.append(RowSample.of(X, y, None, self._rng.random_sample(len(y))).least())
        if sum(len(part.keys) for part in self._drawn) > 2 * SAMPLE_ROWS:
            self._drawn = [RowSample.total_of(self._drawn)]

    def _check_kinds(self, table: Table) -> None:
        """Raise if a column is of another kind than before. In CSV files, one text makes a column text from its first row on."""
        for name, kind in self.kinds.items():
            values = table.frame[name]
            is_number = types.is_bool_dtype(values) or types.is_numeric_dtype(values)
            if kind == TEXT and is_number and not values.isna().any():
                raise TableError(f"column {quoted(name)} of {table.name} holds numbers, but it is text in the rows before.")
            if kind == NUMBER and self._may_turn and not values.isna().any():
                self._check_numbers(table, name, is_number=is_number)

    def _check_numbers(self, table: Table, name: str, *, is_number: bool) -> None:
        """Raise if a column of numbers has a text, or if it mixes numbers with the words true and false."""
        is_bool = types.is_bool_dtype(table.frame[name])
        if is_number and self._are_bool.setdefault(name, is_bool) == is_bool:
            return
        if not is_number and self._drawn and RowSample.total_of(self._drawn).X[name].nunique() > MOST_TEXTS:
            numbers(table, name)  # raises, and names the first text
        raise _TurnsToTextError(name)

    def _check_number_of_texts(self, name: str, table: Table) -> None:
        texts = self._texts[name]
        if len(texts) > MOST_TEXTS:
            are_numbers = pd.to_numeric(pd.Series(sorted(texts)), errors="coerce").notna()
            hint = "; most are numbers, so look for typos" if are_numbers.mean() > 0.5 else ""
            found = f"column {quoted(name)} of {table.name} has more than {MOST_TEXTS} different texts, too many to stream{hint}"
            raise TableError(f"{found}; leave it out ({exclude_option(name)}), or merge rare texts.")

    def check_target(self, *, is_asked: bool) -> None:
        """Raise if the target is constant, or if it has only a few whole numbers and nobody asked for regression."""
        values = sorted(self._target_values)
        if len(values) == 1:
            raise TableError(
                f"the target {quoted(self.target)} is the same in all rows ({values[0]:g}), so there is nothing to learn."
            )
        are_whole = all(value == round(value) for value in values)
        if not is_asked and are_whole and len(values) <= min(MOST_CLASSES, self.n_rows // 2):
            found = f"the target {quoted(self.target)} has {len(values)} different whole numbers, which were recognized as classes"
            raise TableError(f"{found}, and {NEEDS_ROWS}; {_remedy()}.")

    def summary(self) -> Summary:
        sample = RowSample.total_of(self._drawn)
        notes = near_copies(sample.X, sample.y, self._numbers)
        return Summary(self.kinds, self._preprocessing(), sample, notes)

    def _preprocessing(self) -> Any:
        """The preprocessing that a fit in memory has, with the scales and texts of all rows."""
        n_rows = max(map(len, self._texts.values()), default=1)
        blank = np.zeros(n_rows)
        columns = {name: _repeated(self._texts[name], n_rows) if name in self._texts else blank for name in self.kinds}
        preprocessing = make_preprocessing(self.kinds).fit(pd.DataFrame(columns))
        for label, part, _ in preprocessing.transformers_:
            if label != TEXTS:
                part.__dict__.update(vars(self._scaler))
        return preprocessing


def _repeated(texts: set[str], n_rows: int) -> Any:
    """Different texts in a column of given length."""
    known = sorted(texts)
    return np.array(known + known[:1] * (n_rows - len(known)), dtype=object)

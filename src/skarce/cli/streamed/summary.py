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
from skarce._text import LONGEST_NAME, one_line, quoted
from skarce.cli.streamed.files import DataFiles, TableBlock
from skarce.datasets import TargetKind
from skarce.datasets.columns import NUMBER, TEXT, counts_of_some, input_kind, is_number, labels_of_some, numbers
from skarce.datasets.gaps import REMEDY_STREAMED, left_out, refuse_gaps
from skarce.datasets.leaks import exclude_option, leaks
from skarce.datasets.tables import Table, TableError, is_parquet
from skarce.datasets.training import MOST_CLASSES, MOST_TEXTS, TEXTS, inputs, make_preprocessing, recognize_target
from skarce.designs.sampling import SAMPLE_ROWS, RowSample

MOST_LABELS = 100  # classes of a target: each has functions of its own
READERS = {TargetKind.NUMBERS: numbers, TargetKind.CLASSES: labels_of_some, TargetKind.COUNTS: counts_of_some}
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
    text_columns : list of str
        The columns to read as text; the target may be one of them.
    """

    kinds: dict[str, str]
    preprocessing: Any
    sample: RowSample
    notes: list[str]
    text_columns: list[str]

    @property
    def n_rows(self) -> int:
        """The number of all rows."""
        return self.sample.n_rows


class RecognizedClassesError(TableError):
    """A target that was not said to be numbers, and whose values are classes."""


class _TurnsToTextError(Exception):
    """A column of a CSV file that was numbers has a text, so it is to be read again as text."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def summarize(data: DataFiles, target: str, kind: TargetKind | None, on_rows: Callable[[int], None]) -> Summary:
    """Summarize all rows in one pass, and one more for each column whose first text comes late.

    If the kind of the target was not said, it is numbers, and values that are classes raise a `RecognizedClassesError`.
    """
    texts: list[str] = []
    while True:
        try:
            return _summary_of(data, target, kind, texts, on_rows)
        except _TurnsToTextError as turned:
            texts.append(turned.name)
            on_rows(0)


def _summary_of(
    data: DataFiles, target: str, kind: TargetKind | None, texts: Sequence[str], on_rows: Callable[[int], None]
) -> Summary:
    first = next(data.blocks(texts), None)
    if first is None:
        raise TableError(f"there are no rows {'without missing values ' if data.drops_gaps else ''}in {data.name}.")
    if kind is None:
        _refuse_classes(first.table, target)
    may_turn = not is_parquet(data.files[0].path)
    collected = _Collected(target, kind, _kinds(first.table, target), _type_of(first.table, target), may_turn=may_turn)
    for block in data.blocks(collected.text_columns):
        collected.add(block)
        on_rows(collected.n_rows)
    collected.check_target()
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
        raise RecognizedClassesError(f"the target {quoted(target)} was recognized as classes")


def _type_of(table: Table, name: str) -> str:
    values = table.column(name)
    return "text" if not is_number(values) else "booleans" if types.is_bool_dtype(values) else "numbers"


class _Collected:
    """What is known about the rows so far."""

    def __init__(self, target: str, kind: TargetKind | None, kinds: dict[str, str], target_type: str, *, may_turn: bool) -> None:
        self.target, self.kind, self.kinds, self._target_type = target, kind, kinds, target_type
        self._may_turn = may_turn
        self._numbers = [name for name, kind in kinds.items() if kind == NUMBER]
        self._scaler = StandardScaler()
        self._are_bool: dict[str, bool] = {}
        self._texts: dict[str, set[str]] = {name: set() for name, its_kind in kinds.items() if its_kind == TEXT}
        self._target_values: set[Any] = set()
        self._rng = generator_of(SEED)
        self._drawn: list[RowSample] = []
        self._n_left_out = 0

    @property
    def text_columns(self) -> list[str]:
        has_labels = self.kind is TargetKind.CLASSES and self._target_type == "text"
        return [*self._texts, *([self.target] if has_labels else [])]

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self._drawn)

    def add(self, block: TableBlock) -> None:
        """Take one more block into account."""
        table = block.table
        self._n_left_out += block.n_left_out
        refuse_gaps(table, table.frame.columns, REMEDY_STREAMED)
        self._check_kinds(table)
        X, y = inputs(table, self.kinds), READERS[self.kind or TargetKind.NUMBERS](table, self.target)
        if self._numbers:
            self._scaler.partial_fit(X[self._numbers])
        for name, known in self._texts.items():
            known.update(X[name].unique())
            self._check_number_of_texts(name, table)
        if len(self._target_values) <= MOST_LABELS:
            self._target_values.update(np.unique(y)[: MOST_LABELS + 1].tolist())
        self._drawn.append(RowSample.of(X, y, None, self._rng.random_sample(len(y))).least())
        if sum(len(part.keys) for part in self._drawn) > 2 * SAMPLE_ROWS:
            self._drawn = [RowSample.total_of(self._drawn)]

    def _check_kinds(self, table: Table) -> None:
        """Raise if a column is of another kind than before. In CSV files, one text makes a column text from its first row on."""
        for name, kind in self.kinds.items():
            values = table.frame[name]
            if kind == TEXT and is_number(values) and not values.isna().any():
                raise TableError(f"column {quoted(name)} of {table.name} holds numbers, but it is text in the rows before.")
            if kind == NUMBER and self._may_turn and not values.isna().any():
                self._check_numbers(table, name)
        found = _type_of(table, self.target)
        if self.kind is TargetKind.CLASSES and found != self._target_type and not table.column(self.target).isna().any():
            self._refuse_mixed_labels(table, found)

    def _refuse_mixed_labels(self, table: Table, found: str) -> None:
        """Read labels again as text, if a file does not tell their type, or raise."""
        if self._may_turn:
            raise _TurnsToTextError(self.target)
        before = f"but {self._target_type} in the rows before; write labels in the same way in all files"
        raise TableError(f"the target {quoted(self.target)} of {table.name} holds {found}, {before}.")

    def _check_numbers(self, table: Table, name: str) -> None:
        """Raise if a column of numbers has a text, or if it mixes numbers with the words true and false."""
        values = table.frame[name]
        is_bool = types.is_bool_dtype(values)
        if is_number(values) and self._are_bool.setdefault(name, is_bool) == is_bool:
            return
        if not is_number(values) and self._drawn and RowSample.total_of(self._drawn).X[name].nunique() > MOST_TEXTS:
            numbers(table, name)  # raises, and names the first text
        raise _TurnsToTextError(name)

    def _check_number_of_texts(self, name: str, table: Table) -> None:
        texts = self._texts[name]
        if len(texts) > MOST_TEXTS:
            are_numbers = pd.to_numeric(pd.Series(sorted(texts)), errors="coerce").notna()
            hint = "; most are numbers, so look for typos" if are_numbers.mean() > 0.5 else ""
            found = f"column {quoted(name)} of {table.name} has more than {MOST_TEXTS} different texts, too many to stream{hint}"
            raise TableError(f"{found}; leave it out ({exclude_option(name)}), or merge rare texts.")

    def check_target(self) -> None:
        """Raise if the target is constant, if it has too many classes, or if it has only a few whole numbers and may be classes."""
        values, target = self._target_values, quoted(self.target)
        if len(values) == 1:
            value = next(iter(values))
            same = f"{value:g}" if isinstance(value, float) else one_line(value, LONGEST_NAME)
            raise TableError(f"the target {target} is the same in all rows ({same}), so there is nothing to learn.")
        if self.kind is TargetKind.CLASSES and len(values) > min(MOST_LABELS, self.n_rows / 2):
            found = f"the target {target} has more than {min(MOST_LABELS, self.n_rows // 2)} different values"
            raise TableError(f"{found}, too many for classes. Use --task regression if it holds numbers.")
        if self.kind is None and len(values) <= min(MOST_CLASSES, self.n_rows // 2) and all(v == round(v) for v in values):
            found = f"the target {target} has {len(values)} different whole numbers, which were recognized as classes"
            raise RecognizedClassesError(found)

    def summary(self) -> Summary:
        sample = RowSample.total_of(self._drawn)
        notes = list(leaks(sample.X, sample.y, self.kind or TargetKind.NUMBERS).values())
        if self._n_left_out:
            notes.insert(0, f"{left_out(self._n_left_out, self.n_rows + self._n_left_out)}, because values are missing.")
        return Summary(self.kinds, self._preprocessing(), sample, notes, self.text_columns)

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

"""Rows of Arrow data in blocks: record batches as arrays, and streams that can be opened again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skarce._parallel import slices
from skarce._text import one_line, quoted
from skarce._typing import Floats
from skarce.designs.arrow_columns import Columns, Layout, is_text, pyarrow

Arrays = tuple[Floats, ...]  # X and y, and sample weights if there are any
STREAM = "the Arrow stream"
HAS_STREAM = "__arrow_c_stream__"
READ_ONCE = ("Reader", "Stream")  # how names of classes end whose rows can be read once only


class Piece(NamedTuple):
    """A record batch, and where its rows come from."""

    batch: Any
    source: str
    first_row: int

    def arrays(self, columns: Columns) -> Arrays:
        """Return X, y and perhaps sample weights."""
        X = self._matrix(columns.features, np.float32 if columns.is_single else np.float64)
        data = (X, self._target(columns.targets[0]) if columns.is_one_target else self._matrix(columns.targets))
        return data if columns.weight is None else (*data, self._matrix((columns.weight,))[:, 0])

    def _target(self, name: str) -> Any:
        """Return the values of a target: numbers, or texts."""
        if not is_text(self.batch.column(name).type):
            return self._matrix((name,))[:, 0]
        self._refuse_nulls(name)
        return np.asarray(self.batch.column(name).to_pylist(), dtype=str)

    def _refuse_nulls(self, name: str) -> None:
        column = self.batch.column(name)
        if column.null_count:
            raise self._refused(name, "null", column.is_null().to_numpy(zero_copy_only=False))

    def _matrix(self, names: tuple[str, ...], dtype: Any = np.float64) -> Floats:
        """Return columns as an array of shape (n_rows, n_columns)."""
        values = np.empty((self.batch.num_rows, len(names)), dtype)
        for place, name in enumerate(names):
            values[:, place] = self._numbers(name)
        return values

    def _numbers(self, name: str) -> Any:
        """Return the values of a column. Raise a ValueError for the first one that is null or not finite."""
        self._refuse_nulls(name)
        pa, column = pyarrow(), self.batch.column(name)
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.float64())
        values = column.to_numpy(zero_copy_only=False)
        is_finite = np.isfinite(values)
        if not is_finite.all():
            raise self._refused(name, "NaN" if np.isnan(values[~is_finite][0]) else "infinite", ~is_finite)
        return values

    def _refused(self, name: str, what: str, wrong: Any) -> ValueError:
        row = self.first_row + int(np.flatnonzero(wrong)[0])
        remedy = "Fill in such values, or drop their rows."
        return ValueError(f"{self.source}: column {quoted(name)} is {what} in row {row}, counted from 0. {remedy}")


def numbered(batches: Iterable[Any], source: str) -> Iterator[Piece]:
    """Yield the record batches of one source with the numbers of their first rows."""
    first_row = 0
    for batch in batches:
        yield Piece(batch, source, first_row)
        first_row += batch.num_rows


def blocks(pieces: Iterable[Piece], columns: Columns, n_rows: int) -> Iterator[Arrays]:
    """Yield blocks of `n_rows` rows, and a last one with the rest. They do not depend on how rows are spread over pieces."""
    kept: list[Arrays] = []
    n_missing = n_rows
    for part in _parts(pieces, columns, n_rows):
        rest = part
        while len(rest[0]):
            kept.append(tuple(values[:n_missing] for values in rest))
            rest = tuple(values[n_missing:] for values in rest)
            n_missing -= len(kept[-1][0])
            if not n_missing:
                yield _joined(kept)
                kept, n_missing = [], n_rows
    if kept:
        yield _joined(kept)


def _parts(pieces: Iterable[Piece], columns: Columns, most_rows: int) -> Iterator[Arrays]:
    """Yield the arrays of a few rows at a time. A record batch may be as large as the whole table."""
    for batch, source, first_row in pieces:
        for rows in slices(batch.num_rows, most_rows):
            yield Piece(batch.slice(rows.start, rows.stop - rows.start), source, first_row + rows.start).arrays(columns)


def _joined(parts: list[Arrays]) -> Arrays:
    return parts[0] if len(parts) == 1 else tuple(np.concatenate(values) for values in zip(*parts, strict=True))


@dataclass(frozen=True)
class ArrowRows:
    """Rows of an object with an Arrow stream, or of a function that returns such an object.

    Parameters
    ----------
    source : object
        The object or the function.
    columns : Columns
        The columns to take.
    batch_rows : int
        The number of rows in a block.
    """

    source: Any
    columns: Columns
    batch_rows: int
    n_rows: ClassVar[None] = None  # a stream does not tell

    @classmethod
    def of(cls, source: Any, columns: Columns, batch_rows: int) -> ArrowRows:
        """Check the source and the columns of its stream. No rows are read."""
        pyarrow()
        _check_source(source)
        with _opened(source) as reader:
            return cls(source, columns.within(Layout.of(reader.schema, STREAM)), batch_rows)

    def read(self) -> Iterator[Arrays]:
        """Yield (X, y) or (X, y, weights) for each block."""
        is_empty = True
        with _opened(self.source) as reader:
            self.columns.within(Layout.of(reader.schema, STREAM))
            for block in blocks(numbered(reader, STREAM), self.columns, self.batch_rows):
                is_empty = False
                yield block
        if is_empty:
            raise ValueError(f"{STREAM} has no rows. If a function opens it, each call must return a new stream.")


def _check_source(source: Any) -> None:
    """Raise a TypeError unless the source can be read several times."""
    kind, has_stream = type(source).__name__, hasattr(source, HAS_STREAM)
    if has_stream and kind.endswith(READ_ONCE):
        remedy = "Pass a function that returns a new one each time."
        raise TypeError(f"open_stream is a {kind}, which can be read once, but a fit reads all rows several times. {remedy}")
    if not has_stream and not callable(source):
        raise TypeError(
            f"open_stream must be a function that returns an object with {HAS_STREAM}, or an object with it that can be read "
            f"several times, such as a pyarrow.Table; got {quoted(source)}.{_dataset_hint(source)}"
        )


def _dataset_hint(source: Any) -> str:
    """How to read a dataset of pyarrow, which has no stream of its own."""
    return " For a dataset, pass lambda: dataset.scanner().to_reader()." if hasattr(source, "scanner") else ""


def _opened(source: Any) -> Any:
    """Return a reader of record batches."""
    stream = source if hasattr(source, HAS_STREAM) else source()
    if not hasattr(stream, HAS_STREAM):
        raise TypeError(f"open_stream must return an object with {HAS_STREAM}, got {quoted(stream)}.{_dataset_hint(stream)}")
    pa = pyarrow()
    try:
        return pa.RecordBatchReader.from_stream(stream)
    except pa.ArrowInvalid as error:  # such as a single column
        raise ValueError(f"{STREAM} is not one of tables: {one_line(error)}") from None

"""A Parquet file as tables of a few rows each. Row groups that are not needed are not read."""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from skarce.datasets.tables import Table, row_number
from skarce.designs.arrow_columns import pyarrow
from skarce.designs.parquet import NULL_KEY, key_number, opened
from skarce.designs.parquet_files import DataFile


@dataclass(frozen=True)
class ParquetPart:
    """Some rows of a Parquet file.

    Attributes
    ----------
    name : str
        The file in messages.
    rows : pyarrow.Table
        The columns, with the keys of Hive partitions.
    first : int
        The number of rows before them in the file.
    """

    name: str
    rows: Any
    first: int

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.rows.num_rows)

    def table(self, text_columns: Collection[str] = ()) -> Table:
        """The rows with numbers as numbers; decimals are among them. A Parquet file tells which columns are text."""
        frame = _without_decimals(self.rows).to_pandas(ignore_metadata=True)
        return Table(frame, self.name, lambda row: row_number(self.first + row))

    def verbatim(self) -> Any:
        """The rows as they are in the file, to be written as text: whole numbers stay whole, also if some are missing."""
        return self.rows.to_pandas(ignore_metadata=True, integer_object_nulls=True)


def parquet_parts(file: DataFile, columns: Sequence[str], n_rows: int, skip: int) -> Iterator[ParquetPart]:
    """Yield parts of `n_rows` rows, and a last one with the rest. The first `skip` rows are left out."""
    pa = pyarrow()
    stored = [name for name in columns if name not in file.keys]
    for rows in _tables(file, stored, n_rows, skip):
        table = rows.unify_dictionaries().replace_schema_metadata(None)
        for name in columns:
            if name in file.keys:
                table = table.append_column(name, pa.array([_key_value(file.keys[name])] * table.num_rows))
        yield ParquetPart(file.name, table.select(list(columns)), skip)
        skip += table.num_rows


def _without_decimals(rows: Any) -> Any:
    """The rows with floating-point numbers in place of decimals."""
    pa = pyarrow()
    for place, field in enumerate(rows.schema):
        if pa.types.is_decimal(field.type):
            rows = rows.set_column(place, field.name, rows.column(place).cast(pa.float64()))
    return rows


def _key_value(text: str) -> float | str | None:
    """The value of a Hive key: a number if it is one, and None if it is missing."""
    number = key_number(text)
    return (None if text == NULL_KEY else text) if number is None else number


def _tables(file: DataFile, names: Sequence[str], n_rows: int, skip: int) -> Iterator[Any]:
    pa = pyarrow()
    kept: list[Any] = []
    n_missing = n_rows
    for batch in _batches(file, names, n_rows, skip):
        rest = batch
        while rest.num_rows:
            kept.append(rest.slice(0, n_missing))
            rest = rest.slice(kept[-1].num_rows)
            n_missing -= kept[-1].num_rows
            if not n_missing:
                yield pa.Table.from_batches(kept)
                kept, n_missing = [], n_rows
    if kept:
        yield pa.Table.from_batches(kept)


def _batches(file: DataFile, names: Sequence[str], n_rows: int, skip: int) -> Iterator[Any]:
    """Yield record batches after the first `skip` rows. Row groups in which all rows are skipped are not read."""
    with opened(file) as content:
        sizes = [content.metadata.row_group(group).num_rows for group in range(content.num_row_groups)]
        first = bisect.bisect_right(list(accumulate(sizes)), skip)
        n_left = skip - sum(sizes[:first])
        for batch in content.iter_batches(batch_size=n_rows, columns=list(names), row_groups=range(first, len(sizes))):
            yield batch.slice(min(n_left, batch.num_rows))
            n_left -= min(n_left, batch.num_rows)

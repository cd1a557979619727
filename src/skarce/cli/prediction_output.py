"""Where predictions go, part by part: to standard output or a file as CSV, or to a Parquet file."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from skarce._text import one_line
from skarce._typing import Indices
from skarce._whole_file import OutputError, replacing
from skarce.cli.rendering import write
from skarce.cli.streamed.files import Part
from skarce.cli.streamed.parquet_parts import ParquetPart
from skarce.datasets.tables import TableError, is_gzipped, is_parquet
from skarce.designs.arrow_columns import pyarrow


class Output(Protocol):
    """Takes rows and what was predicted for them."""

    def add(self, part: Any, rows: Indices, predictions: dict[str, Any]) -> None:
        """Write some rows of a part with their predictions."""


@contextmanager
def opened_output(out: Path | None) -> Iterator[Output]:
    """The output: a file, which is written completely or not at all, or standard output if there is no name."""
    if out is None:
        yield CsvOutput(write)
        return
    with replacing(out) as draft:
        if is_parquet(out):
            with ParquetOutput(draft) as rows:
                yield rows
        else:
            with draft.open("wb") as file, _packed(file, out) as target:
                yield CsvOutput(lambda text: target.write(text.encode()))


def check_format(out: Path, *, is_from_parquet: bool) -> None:
    """Raise if predictions cannot be written in the format of this name: only Parquet files tell the types of their columns."""
    if is_parquet(out) and not is_from_parquet:
        raise OutputError(f"{out}: predictions for CSV data are written as CSV; choose a name that ends in .csv.")


class CsvOutput:
    """Rows as text, below one header."""

    def __init__(self, write_text: Callable[[str], Any]) -> None:
        self._write, self._is_first = write_text, True
        self._names: list[str] = []

    def add(self, part: Part, rows: Indices, predictions: dict[str, Any]) -> None:
        frame = part.verbatim().iloc[rows]
        self._names = self._names or list(frame)
        frame = frame[self._names].assign(**predictions)
        self._write(frame.to_csv(index=False, header=self._is_first, lineterminator="\n"))
        self._is_first = False


class ParquetOutput(ExitStack):
    """Rows with the types that they have in the first part."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._writer: Any = None

    def add(self, part: ParquetPart, rows: Indices, predictions: dict[str, Any]) -> None:
        from pyarrow.parquet import ParquetWriter

        written = part.rows.take(rows)
        for name, values in predictions.items():
            written = written.append_column(name, pyarrow().array(values))
        if self._writer is None:
            self._writer = self.enter_context(ParquetWriter(self._path, written.schema, write_page_checksum=True))
        self._writer.write_table(_as_before(written, self._writer.schema, part.name))


def _as_before(rows: Any, schema: Any, name: str) -> Any:
    """The rows with the types of a schema."""
    pa = pyarrow()
    try:
        return rows.cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(
            f"{name} has columns of other types than the first file: {one_line(error, 150)}; use CSV output."
        ) from None


def _packed(file: Any, out: Path) -> Any:
    """The file, gzipped if the name says so; the same rows give the same bytes."""
    return gzip.GzipFile("", "wb", fileobj=file, mtime=0) if is_gzipped(out) else nullcontext(file)

"""Whether a column holds the same kind of values in all Parquet files. Their schemas tell, so no row is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skarce._text import quoted
from skarce.datasets.tables import TableError
from skarce.designs.arrow_columns import is_numeric, is_text, pyarrow
from skarce.designs.parquet import NULL_KEY, key_number, opened
from skarce.designs.parquet_files import DataFile

NUMBERS, TEXT, TIMES, OBJECTS = "numbers", "text", "dates or times", "lists or other objects"


def check_kinds(files: Sequence[DataFile], names: Sequence[str]) -> None:
    """Raise a TableError that names two files if a column holds another kind of values in one of them than in the other.

    Files without rows do not count, and neither do columns without values: they may be of any type.
    """
    found: dict[str, dict[str, list[DataFile]]] = {name: {} for name in names}
    for file in files:
        for name, kind in _kinds(file, names).items():
            found[name].setdefault(kind, []).append(file)
    for name, by_kind in found.items():
        if len(by_kind) > 1:
            _check_kind(name, by_kind)


def _check_kind(name: str, by_kind: dict[str, list[DataFile]]) -> None:
    """Raise if there are values of more than one kind. The first file of each kind is named."""
    first = {kind: next((file for file in files if _has_values(file, name)), None) for kind, files in by_kind.items()}
    places = [f"{kind} in {file.name}" for kind, file in first.items() if file is not None]
    if len(places) > 1:
        raise TableError(f"column {quoted(name)} holds {places[0]}, but {places[1]}; write it in the same way in all files.")


def _kinds(file: DataFile, names: Sequence[str]) -> dict[str, str]:
    """The kinds of the columns that have one. Hive keys come before columns of the same name."""
    with opened(file) as content:
        if not content.metadata.num_rows:
            return {}
        schema = content.schema_arrow
    kinds = {name: _key_kind(file.keys[name]) if name in file.keys else _kind(schema.field(name).type) for name in names}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _kind(arrow_type: Any) -> str | None:
    """What a column of this type holds, or None if the type does not tell. Categories are text, whatever they are."""
    types = pyarrow().types
    if is_numeric(arrow_type):
        return NUMBERS
    if types.is_dictionary(arrow_type) or is_text(arrow_type):
        return TEXT
    if types.is_temporal(arrow_type):
        return TIMES
    return OBJECTS if types.is_nested(arrow_type) or types.is_binary(arrow_type) else None


def _key_kind(value: str) -> str | None:
    if value == NULL_KEY:
        return None
    return TEXT if key_number(value) is None else NUMBERS


def _has_values(file: DataFile, name: str) -> bool:
    """Whether a column has a value, as far as the statistics of the file tell."""
    if name in file.keys:
        return True
    with opened(file) as content:
        metadata = content.metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
    return not all(_is_missing(chunk) for chunk in chunks if chunk.path_in_schema.partition(".")[0] == name)


def _is_missing(chunk: Any) -> bool:
    """Whether all values of a column chunk are missing."""
    statistics = chunk.statistics
    return statistics is not None and statistics.has_null_count and statistics.null_count == chunk.num_values

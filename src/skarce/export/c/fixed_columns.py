"""Scaled numbers and values of categories in whole numbers, as C that reads tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from skarce.export.c.fixed_point import FixedColumn, FixedPoint
from skarce.export.c.fixed_tables import FixedTables
from skarce.export.columns import Lookup

SMALL = 2**16  # keys below take two bytes at most


def column_lines(model: FixedPoint, tables: FixedTables) -> list[str]:
    """Return the body of the function from inputs x to columns u."""
    columns = list(enumerate(model.columns))
    numbers = [(place, one) for place, one in columns if not isinstance(one.item, Lookup)]
    lookups = [(place, one) for place, one in columns if isinstance(one.item, Lookup)]
    lines = ["int64_t value;", "int i;", *(["int j;"] if lookups else [])]
    if numbers:
        lines += _loop(model, tables, numbers, _number_lines(model, tables, [one for _, one in numbers]))
    if lookups:
        lines += _loop(model, tables, lookups, _lookup_lines(model, tables, [one for _, one in lookups]))
    return lines if columns else ["u[0] = 0 * x[0];"]


def _loop(model: FixedPoint, tables: FixedTables, columns: Sequence[tuple[int, FixedColumn]], lines: list[str]) -> list[str]:
    """Return a loop over columns, which writes the value that `lines` compute from an input."""
    source = _place(tables, "sources", [model.described.used[one.item.source] for _, one in columns])
    output = _place(tables, "outputs", [place for place, _ in columns])
    body = [f"const int32_t from = x[{source}];", *lines, f"u[{output}] = (int32_t)value;"]
    return [f"for (i = 0; i < {len(columns)}; ++i) {{", *(f"    {line}" for line in body), "}"]


def _number_lines(model: FixedPoint, tables: FixedTables, columns: Sequence[FixedColumn]) -> list[str]:
    center = _long(tables, "shifts", [one.center for one in columns])
    factor = _cell(tables, [one.factor for one in columns], lambda values: tables.numbers("factors", values))
    drop = _cell(tables, [one.drop for one in columns], lambda values: tables.places("drops", values))
    lower = _long(tables, "lowest", [model.bounded(one.item.lower) for one in columns])
    upper = _long(tables, "highest", [model.bounded(one.item.upper) for one in columns])
    lines = [
        f"value = {tables.name}_round(((int64_t)from - {center}) * {factor}, {drop});",
        f"if (value < {lower}) value = {lower};",
        f"if (value > {upper}) value = {upper};",
    ]
    if all(np.isnan(one.item.missing) for one in columns):
        return lines
    missing = _long(tables, "fills", [one.missing for one in columns])
    return [*lines, f"if (from == {tables.name.upper()}_MISSING) value = {missing};"]


def _lookup_lines(model: FixedPoint, tables: FixedTables, columns: Sequence[FixedColumn]) -> list[str]:
    starts = tables.places("starts", np.cumsum([0, *(len(one.keys) for one in columns)]))
    keys = [key for one in columns for key in one.keys]
    is_small = min(keys, default=0) >= 0 and max(keys, default=0) < SMALL
    key = _place(tables, "keys", keys, "j") if is_small else _long(tables, "keys", keys, "j")
    result = _long(tables, "results", [value for one in columns for value in one.results], "j")
    missing = _long(tables, "missing", [one.missing for one in columns])
    otherwise = _long(tables, "otherwise", [model.bounded(one.item.otherwise) for one in columns])
    first, last = (tables.read(starts, place) for place in ("i", "i + 1"))
    return [
        f"value = from == {tables.name.upper()}_MISSING ? {missing} : {otherwise};",
        f"for (j = (int){first}; j < (int){last}; ++j)",
        f"    if (from == {key}) value = {result};",
    ]


def _long(tables: FixedTables, label: str, values: Sequence[int], index: str = "i") -> str:
    """Return the expression of one of some numbers of 32 bits."""
    return _cell(tables, values, lambda cells: tables.longs(label, cells), index)


def _place(tables: FixedTables, label: str, values: Sequence[int], index: str = "i") -> str:
    """Return the expression of one of some whole numbers that are not negative. Those of the loop itself need no table."""
    if list(values) == list(range(len(values))):
        return index
    return _cell(tables, values, lambda cells: tables.places(label, cells), index)


def _cell(tables: FixedTables, values: Sequence[int], table: Callable[[Sequence[int]], str], index: str = "i") -> str:
    """Return the expression of an entry: the number itself if all are the same."""
    if len(set(values)) <= 1:
        return str(next(iter(values), 0))
    return tables.read(table(values), index)

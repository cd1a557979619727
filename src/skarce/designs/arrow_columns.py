"""Which columns of Arrow data are inputs, targets and weights. pyarrow is imported when it is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from skarce._text import LONGEST_NAME, listed, one_line, quoted, similar


def pyarrow() -> Any:
    """Return the package. Raise an ImportError that says how to install it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError('reading Parquet and Arrow data needs pyarrow: pip install "skarce[parquet]"') from error
    return pyarrow


@dataclass(frozen=True)
class Layout:
    """The columns of a file or a stream.

    Attributes
    ----------
    source : str
        The name of the file or stream in messages.
    types : dict
        The Arrow type of each column, by its name.
    repeated : frozenset of str
        Names that more than one column has.
    index : frozenset of str
        Names of columns that were the index of a pandas data frame.
    """

    source: str
    types: dict[str, Any]
    repeated: frozenset[str] = frozenset()
    index: frozenset[str] = frozenset()

    @classmethod
    def of(cls, schema: Any, source: str) -> Layout:
        """Read the names and types of a schema."""
        counts = Counter(schema.names)
        index = (schema.pandas_metadata or {}).get("index_columns", ())
        return cls(
            source,
            {field.name: field.type for field in schema},
            frozenset(name for name, count in counts.items() if count > 1),
            frozenset(name for name in index if isinstance(name, str)),
        )

    def check(self, columns: Columns) -> None:
        """Raise a ValueError unless there is one column of numbers for each name. A single target may be text: labels."""
        for name in columns.names:  # a name that is misspelled can be why another column counts as a feature
            if name not in self.types:
                raise ValueError(self._without(name))
        for name in columns.names:
            if name in self.repeated:
                raise ValueError(f"{self.source} has more than one column named {quoted(name)}. Give each column its own name.")
            may_be_text = columns.is_one_target and name in columns.targets
            if not is_numeric(self.types[name]) and not (may_be_text and is_text(self.types[name])):
                raise ValueError(self._without_numbers(name, is_feature=name in columns.features))

    def is_single(self, columns: Columns) -> bool:
        """Tell whether all features are in single precision."""
        single = pyarrow().float32()
        return all(self.types[name] == single for name in columns.features)

    def _without(self, name: str) -> str:
        close = similar(name, self.types)
        hint = f" Did you mean {close}?" if close else ""
        return f"{self.source} has no column {quoted(name)}. Its columns are {listed(self.types)}.{hint}"

    def _without_numbers(self, name: str, *, is_feature: bool) -> str:
        kind = self.types[name]
        remedy = "encode it as numbers"
        if pyarrow().types.is_temporal(kind):
            remedy = "convert it to numbers, such as days since the first one"
        hint = f"name other columns by features=[...], or {remedy}" if is_feature else remedy
        found = f"column {quoted(name)} is of type {one_line(kind, LONGEST_NAME)}, but numbers are needed"
        return f"{self.source}: {found}; {hint}."


@dataclass(frozen=True)
class Columns:
    """Names of columns by their roles.

    Attributes
    ----------
    features : tuple of str
        The columns of X. If this is empty, they are all other columns, and `within` names them.
    targets : tuple of str
        The columns of the targets.
    weight : str or None
        The column of the sample weights.
    is_one_target : bool
        Whether y has one dimension.
    is_single : bool
        Whether X is in single precision.
    has_labels : bool or None
        Whether the target is text. None before `within`.
    """

    features: tuple[str, ...]
    targets: tuple[str, ...]
    weight: str | None = None
    is_one_target: bool = True
    is_single: bool = False
    has_labels: bool | None = None

    @classmethod
    def of(cls, target: Any, features: Any, weight: Any) -> Columns:
        """Check the names that the user gave."""
        if not (weight is None or isinstance(weight, str)):
            raise TypeError(f"weight must be None or the name of a column, got {quoted(weight)}.")
        is_one = isinstance(target, str)
        targets = _names("target", [target] if is_one else target, "the name of a column, or a list of names")
        inputs = () if features is None else _names("features", features, "None or a list of names")
        columns = cls(inputs, targets, weight, is_one)
        for name, count in Counter(columns.names).items():
            if count > 1:
                raise ValueError(f"column {quoted(name)} is named {count} times in target, features and weight. Name it once.")
        return columns

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.features, *self.targets, *(() if self.weight is None else (self.weight,)))

    def within(self, layout: Layout) -> Columns:
        """Return the columns with features and precision by this layout. Raise a ValueError if it lacks one of them."""
        others = tuple(name for name in layout.types if name not in self.names and name not in layout.index)
        columns = replace(self, features=self.features or others)
        layout.check(columns)
        if not columns.features:
            raise ValueError(f"{layout.source} has no columns for features. Its columns are {listed(layout.types)}.")
        has_labels = is_text(layout.types[self.targets[0]])
        if self.has_labels not in (None, has_labels):
            kinds = ("text", "numbers") if has_labels else ("numbers", "text")
            found = f"column {quoted(self.targets[0])} holds {kinds[0]}, but it was {kinds[1]} before"
            raise ValueError(f"{layout.source}: {found}. Write labels in the same way everywhere.")
        return replace(columns, is_single=layout.is_single(columns), has_labels=has_labels)


def _names(parameter: str, values: Any, expected: str) -> tuple[str, ...]:
    """Return the names in a list. A set is refused, because it has no order."""
    is_list = isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping, Set))
    names = tuple(values) if is_list else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{parameter} must be {expected}, got {quoted(values)}.")
    return tuple(str(name) for name in names)


def is_text(kind: Any) -> bool:
    """Tell whether a column holds texts, perhaps as a dictionary."""
    types = pyarrow().types
    values = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(values) or types.is_large_string(values))


def is_numeric(kind: Any) -> bool:
    """Tell whether a column holds numbers, booleans or decimals."""
    types = pyarrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))

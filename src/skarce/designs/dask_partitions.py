"""The partitions of Dask arrays and data frames that belong together, each as one task. A tree of tasks adds up what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from skarce._progress import is_watched, progress
from skarce._text import one_line
from skarce.designs.dask_columns import check_collection, check_inputs, with_columns_taken

Total = TypeVar("Total")
FAN_IN = 8  # results that one task of the tree adds up
PACKAGES = ("dask", "dask_expr")  # whose modules define the classes of arrays and frames
REMEDY = "Make X, y and sample_weight from one frame, or give them the same partitions (rechunk, repartition)."
MERGED = (
    "If they are .values of one frame, Dask has merged files because it reads few columns: pass frames and series instead, or the "
    'frame with the name of a column, as in fit(frame, "y").'
)


def is_dask(values: Any) -> bool:
    """Tell whether these are data of Dask, without importing it."""
    return any(kind.__module__.partition(".")[0] in PACKAGES for kind in type(values).__mro__[:-1])


def check_not_lazy(y: Any, sample_weight: Any) -> None:
    """Raise a TypeError if targets or weights of an X in memory are data of Dask."""
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if is_dask(values):
            raise TypeError(
                f"{name} is of type dask.{type(values).__name__}, but X is in memory. Call .compute() on {name}, or pass X as Dask "
                "data, too. A pipeline passes on rows in memory: give its transformers to the model as basis=."
            )


class Partitions:
    """Partitions of X, y and sample weights that belong together.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Inputs.
    y : Dask array, series or frame, array in memory, str or list of str
        Targets. Names stand for columns of X.
    sample_weight : Dask array or series, array in memory, str or None
        Sample weights. A name stands for a column of X.

    Attributes
    ----------
    X, y : the inputs and targets, lazy as they came, and without columns that are named
    n_rows : the number of rows, or None if it is not known before a pass
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        for name, values in (("X", X), ("y", y), ("sample_weight", sample_weight)):
            if is_dask(values):
                check_collection(values, name)
        X, y, sample_weight = with_columns_taken(X, y, sample_weight)
        if y is None:
            raise ValueError("y is None: pass the targets as a Dask array or series, or the name of a column of X.")
        check_inputs(X)
        self.X, self.y = X, y
        lengths = lengths_of(X)
        self.n_rows = None if lengths is None else int(sum(lengths))
        given = {"y": y} if sample_weight is None else {"y": y, "sample_weight": sample_weight}
        are_frames = all(hasattr(values, "map_partitions") for values in (X, *given.values()))
        self._parts = _parts_of_frames(X, given) if are_frames else _parts_of_arrays(with_whole_rows(X), given)

    def __str__(self) -> str:
        return f"the {len(self)} partition{'s'[: len(self) != 1]} of X"

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def n_held(self) -> int:
        """How many results a task of the tree may hold: those that it adds up, and their total."""
        return min(len(self), FAN_IN) + 1

    def total(self, work: Callable[..., Any], add: Callable[[list[Any]], Total], *shared: Any, label: str = "adding up") -> Total:
        """Return the sum of ``work(number, X, y, sample_weight, *shared)`` over all partitions, by a tree of tasks."""
        import dask

        # All tasks share one value. With several, Dask would put the making of all partitions before the first task on one.
        task, common = dask.delayed(_on_part), dask.delayed((work, shared), traverse=False)
        results = [task(number, part, common) for number, part in enumerate(self._parts)]
        keys = {result.key for result in results}
        while len(results) > 1:
            results = [dask.delayed(add)(results[start : start + FAN_IN]) for start in range(0, len(results), FAN_IN)]
        with _counted_tasks(keys, label):
            try:
                (total,) = dask.compute(results[0])
            except KeyError:
                self._check_columns()
                raise
        return total

    def _check_columns(self) -> None:
        """Raise a ValueError that names the first partition without a column that it should have. An error of Dask does not."""
        import dask

        task = dask.delayed(_nothing)
        for number, part in enumerate(self._parts):
            try:
                dask.compute(task(part))
            except KeyError as error:
                found = f"partition {number} does not have the columns of the frame: {one_line(error.args[0])}"
                raise ValueError(f"{found}. Give all partitions the same columns.") from None


@contextmanager
def _counted_tasks(keys: set[Any], label: str) -> Iterator[None]:
    """Show how many of these tasks are done. The schedulers of this machine tell; a cluster does not, but has its dashboard."""
    if not is_watched():
        yield
        return
    from dask.base import get_scheduler
    from dask.callbacks import Callback

    is_cluster = getattr(get_scheduler(), "__module__", "").startswith("distributed")
    known = (f"{label} {len(keys):,} partitions",) if is_cluster else (label, len(keys), "partitions")
    with progress(*known) as part, Callback(posttask=lambda key, *task: part.step(key in keys)):
        yield


def with_whole_rows(X: Any) -> Any:
    """Return X with whole rows in each partition."""
    return X.rechunk({1: -1}) if hasattr(X, "numblocks") and X.numblocks[1] > 1 else X


def _parts_of_frames(X: Any, given: dict[str, Any]) -> list[Any]:
    """Return the partitions of a frame with those of its targets and weights, each as one task.

    They are put together first: if each were asked for its partitions alone, Dask might read a column in fewer of them.
    """
    for name, values in given.items():
        _check_divisions(X, values, name)
        if values.npartitions != X.npartitions:
            raise ValueError(f"X has {X.npartitions} partitions, but {name} has {values.npartitions}. {REMEDY}")
    together = X.map_partitions(_together, *given.values(), align_dataframes=False, enforce_metadata=False, meta=X._meta)
    return delayed_parts(together)


def _parts_of_arrays(X: Any, given: dict[str, Any]) -> list[Any]:
    """Return the partitions of an array with those of its targets and weights."""
    cut = [X, *(_cut_like(values, X, name) for name, values in given.items())]
    of_arrays = iter(_delayed_together([values for values in cut if hasattr(type(values), "chunks")]))
    inputs, *others = [next(of_arrays) if hasattr(type(values), "chunks") else _delayed_or_cut(values) for values in cut]
    aligned = dict(zip(given, others, strict=True))
    for name, parts in aligned.items():
        if len(parts) != len(inputs):
            raise ValueError(f"X has {len(inputs)} partitions, but {name} has {len(parts)}. {REMEDY} {MERGED}")
    return [list(part) for part in zip(inputs, *aligned.values(), strict=True)]


def _together(*parts: Any) -> list[Any]:
    """Return inputs, targets and perhaps weights of one partition."""
    return list(parts)


def _nothing(part: Any) -> None:
    """Make a partition, and no more."""


def _on_part(number: int, part: list[Any], common: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    """Call ``work(number, X, y, sample_weight, *shared)`` with what a partition has."""
    (X, y, sample_weight), (work, shared) = (*part, None)[:3], common
    return work(number, X, y, sample_weight, *shared)


def delayed_parts(values: Any) -> list[Any]:
    """Return one task for each partition, in the order and number in which the user knows them.

    The optimizer of frames merges files if it reads few of their columns. Then only columns that nobody reads are left out.
    """
    if not hasattr(values, "simplify"):  # an array
        return _delayed_together([values])[0]
    optimized = values.optimize()
    kept = optimized if optimized.npartitions == values.npartitions else values.simplify()
    return list(kept.to_delayed(optimize_graph=False))


def _delayed_together(arrays: list[Any]) -> list[list[Any]]:
    """Return one task for each partition of each array, after one optimization of all of them.

    Each array alone would get copies of the tasks that it shares with others, so that these are done several times.
    """
    if not arrays:
        return []
    from dask.core import flatten
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph

    keys = [list(flatten(values.__dask_keys__())) for values in arrays]
    graph = HighLevelGraph.merge(*(values.__dask_graph__() for values in arrays))
    name = "-".join(["delayed", *(values.name for values in arrays)])
    shared = HighLevelGraph.from_collections(name, arrays[0].__dask_optimize__(graph, keys), dependencies=())
    return [[Delayed(key, shared, layer=name) for key in own] for own in keys]


def _delayed_or_cut(values: Any) -> list[Any]:
    """Return the partitions of a frame, or parts in memory as they are."""
    return values if isinstance(values, list) else delayed_parts(values)


def _cut_like(values: Any, X: Any, name: str) -> Any:
    """Return targets or weights with the partitions of X. Those in memory become a list of parts."""
    lengths = lengths_of(X)
    if not is_dask(values):
        return _split(values, lengths, name)
    if hasattr(type(values), "chunks"):
        own = lengths_of(values)
        if own is not None and lengths is not None and own != lengths:
            if sum(own) != sum(lengths):
                raise ValueError(f"X has {sum(lengths)} rows, but {name} has {sum(own)}.")
            values = values.rechunk({0: lengths})
        return with_whole_rows(values) if values.ndim == 2 else values
    _check_divisions(X, values, name)
    return values


def lengths_of(values: Any) -> tuple[int, ...] | None:
    """Return the number of rows in each partition of an array, if they are known."""
    return values.chunks[0] if hasattr(type(values), "chunks") and not np.isnan(values.chunks[0]).any() else None


def _check_divisions(X: Any, values: Any, name: str) -> None:
    if getattr(X, "known_divisions", False) and getattr(values, "known_divisions", False) and X.divisions != values.divisions:
        raise ValueError(f"X and {name} have different divisions. {REMEDY}")


def _split(values: Any, lengths: Any, name: str) -> list[Any]:
    """Return parts of an array in memory."""
    if lengths is None:
        raise ValueError(
            f"{name} is in memory, but the lengths of the partitions of X are not known. Pass {name} as Dask data, or the name of "
            "a column of a data frame X."
        )
    values = np.asarray(values)
    if len(values) != sum(lengths):
        raise ValueError(f"X has {sum(lengths)} rows, but {name} has {len(values)}.")
    return np.split(values, np.cumsum(lengths)[:-1])

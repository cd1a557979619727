"""Rows in the partitions of Dask arrays and data frames. One task for each partition makes sums, and a tree of tasks adds them up.

Tasks are ordinary tasks of whatever scheduler is active. None is bound to a worker, so that a worker may leave at any time, and
each of them works on one thread. Dask is imported when its data arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.validation import _num_samples

from skarce._memory import require
from skarce._parallel import one_thread
from skarce._parameters import check_choice
from skarce._progress import is_watched, progress
from skarce._text import quoted
from skarce._typing import Floats
from skarce.basis import takes_arrays
from skarce.designs.choice import IN_BATCHES, KINDS, Access
from skarce.designs.design import Recipe, Rows
from skarce.designs.fold_sums import require_room, sums_of_folds, total_of_folds
from skarce.designs.labels import Codes
from skarce.designs.passes import HasPasses, coded
from skarce.designs.sampling import RowSample
from skarce.moments import Moments, Sums
from skarce.moments.block_sums import checked_block, sums_of_rows
from skarce.moments.passes import Center, check_candidates

Total = TypeVar("Total")
FAN_IN = 8  # results that one task of the tree adds up
PACKAGES = ("dask", "dask_expr")  # whose modules define the classes of arrays and frames
REMEDY = "Make X, y and sample_weight from one frame, or give them the same partitions (rechunk, repartition)."


def is_dask(values: Any) -> bool:
    """Tell whether these are data of Dask, without importing it."""
    return any(kind.__module__.partition(".")[0] in PACKAGES for kind in type(values).__mro__[:-1])


class Partitions:
    """Partitions of X, y and sample weights that belong together.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Inputs.
    y : Dask array, series or frame, array in memory, or str
        Targets. A name stands for a column of X.
    sample_weight : Dask array or series, array in memory, or None
        Sample weights.
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        if isinstance(y, str):
            X, y = _without_column(X, y)
        if y is None:
            raise ValueError("y is None: pass the targets as a Dask array or series, or the name of a column of X.")
        _check_inputs(X)
        given = {"y": y} if sample_weight is None else {"y": y, "sample_weight": sample_weight}
        are_frames = all(hasattr(values, "map_partitions") for values in (X, *given.values()))
        self._parts = _parts_of_frames(X, given) if are_frames else _parts_of_arrays(_with_whole_rows(X), given)

    def __len__(self) -> int:
        return len(self._parts)

    def total(self, work: Callable[..., Any], add: Callable[[list[Any]], Total], *shared: Any, label: str = "adding up") -> Total:
        """Return the sum of ``work(number, X, y, sample_weight, *shared)`` over all partitions, by a tree of tasks."""
        import dask

        task, common = dask.delayed(_on_part), [dask.delayed(value, traverse=False) for value in (work, *shared)]
        results = [task(number, part, *common) for number, part in enumerate(self._parts)]
        keys = {result.key for result in results}
        while len(results) > 1:
            results = [dask.delayed(add)(results[start : start + FAN_IN]) for start in range(0, len(results), FAN_IN)]
        with _counted_tasks(keys, label):
            (total,) = dask.compute(results[0])
        return total


class DaskDesign(HasPasses):
    """Candidates at the rows of a Dask array or data frame. The Gram matrix of all candidates is made in one pass.

    Parameters
    ----------
    candidates : object
        The fitted basis, with `on(X)` and `n_candidates`.
    partitions : Partitions
        All rows.
    sample : Rows
        A sample of the rows, or all of them if they are few.
    is_array : bool, default=True
        Whether the basis takes checked arrays. Other transformers take each partition as it is.
    fit_intercept : bool, default=True
        Whether to integrate out a constant under a flat prior.
    factor : float, default=1.0
        Factor on the weights of all rows. Those of the sample have it already.
    in_folds : bool, default=False
        Whether sums are made for each fold, too.
    codes : Codes or None, default=None
        How labels become numbers. None if targets are numbers.
    """

    counts_worth: ClassVar[bool] = True
    _sums: Sums | None = None

    def __init__(
        self,
        candidates: Any,
        partitions: Partitions,
        sample: Rows,
        *,
        is_array: bool = True,
        fit_intercept: bool = True,
        factor: float = 1.0,
        in_folds: bool = False,
        codes: Codes | None = None,
    ) -> None:
        if in_folds:
            require_room(candidates.n_candidates)
        m = candidates.n_candidates
        require(m, m, f"the Gram matrix of all {m} candidates, of which each task makes its part,", "Use fewer candidates")
        self.candidates, self.rows, self.fit_intercept = candidates, sample, fit_intercept
        self._partitions, self._is_array, self._factor = partitions, is_array, factor
        self._in_folds, self._codes = in_folds, codes

    @classmethod
    def takes(cls, X: Any) -> bool:
        return is_dask(X)

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, recipe: Recipe) -> DaskDesign:
        """Draw a sample of the rows in one pass, and fit the basis on it."""
        partitions, is_array = Partitions(X, y, sample_weight), takes_arrays(recipe.basis)
        sample = partitions.total(_sampled, RowSample.total_of, recipe.seed, is_array, recipe.codes is not None, label="sampling")
        if not sample.n_counted:
            raise ValueError(f"there are no rows of positive weight in the {len(partitions)} partitions of X.")
        recipe.check_not_every_row(sample, "Dask data")
        codes = recipe.codes_of_sample(sample)
        rows, factor = recipe.rows_of_sample(sample, codes)
        candidates = recipe.candidates(rows)
        return cls(
            candidates,
            partitions,
            rows,
            is_array=is_array,
            fit_intercept=recipe.fit_intercept,
            factor=factor,
            in_folds=recipe.wants_folds(sample.n_rows),
            codes=codes,
        )

    @property
    def n_samples(self) -> float:  # type: ignore[override]
        return self.sums.n_samples if self._spread is None else self._spread.total

    def total(self, work: Callable[[Any], Any], add: Callable[[list[Any]], Any]) -> Any:
        return self._partitions.total(_worked, add, work, self._is_array, self._codes, self._factor)

    @property
    def sums(self) -> Sums:
        """The sums over all rows."""
        if self._sums is None:
            shared = self.candidates, self._is_array
            if self._in_folds:
                folds = self._partitions.total(_summed_by_fold, total_of_folds, *shared)
                self.fold_sums = [sums.faded(self._factor) for sums in folds]
                self._sums = Sums.total(self.fold_sums)
            else:
                self._sums = self._partitions.total(_summed, Sums.total, *shared).faded(self._factor)
        return self._sums

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """Return one `Moments` for each output. The Gram matrix is always whole: each request for columns would take a pass."""
        check_choice("moments", kind, KINDS)
        check_candidates(self.sums.raw_squares, self.n_samples, lambda: (self.candidates.on(self.rows.X),))
        about_mean = self.fit_intercept
        self._center = Center(self.sums.candidate_means * about_mean, self.sums.target_means * about_mean)
        return self.sums.moments(about_mean=about_mean)


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


def _sampled(number: int, X: Any, y: Any, sample_weight: Any, seed: int, is_array: bool, has_labels: bool) -> RowSample:
    """Return a sample of a partition. All its rows are checked, so that errors name the partition and the row."""
    rows = checked_block(X, y, sample_weight, f"partition {number}", is_array=is_array, has_labels=has_labels)
    uniform = np.random.default_rng([seed, number]).random(_num_samples(X))
    targets = rows.targets[:, 0] if has_labels else y if len(np.shape(y)) > 1 else np.asarray(y)
    return RowSample.of(X, targets, rows.weights, uniform, has_labels=has_labels).least()


def _summed(number: int, X: Any, y: Any, sample_weight: Any, candidates: Any, is_array: bool) -> Sums:
    """Return the sums of a partition."""
    with one_thread():
        return sums_of_rows(candidates, checked_block(X, y, sample_weight, f"partition {number}", is_array=is_array))


def _worked(
    number: int,
    X: Any,
    y: Any,
    sample_weight: Any,
    work: Callable[[Any], Any],
    is_array: bool,
    codes: Codes | None,
    factor: float,
) -> Any:
    """Return what some work makes of the rows of a partition."""
    with one_thread():
        rows = checked_block(X, y, sample_weight, f"partition {number}", is_array=is_array, has_labels=codes is not None)
        return work(coded(rows, codes, factor))


def _summed_by_fold(number: int, X: Any, y: Any, sample_weight: Any, candidates: Any, is_array: bool) -> list[Sums]:
    """Return the sums of each fold of a partition."""
    with one_thread():
        return sums_of_folds(candidates, *checked_block(X, y, sample_weight, f"partition {number}", is_array=is_array))


def _check_inputs(X: Any) -> None:
    """Raise for collections of Dask that have no rows of one length."""
    if not hasattr(X, "to_delayed") or getattr(X, "ndim", 0) != 2:
        raise ValueError(
            f"X must be a Dask array or data frame with rows and columns, got {type(X).__name__} with "
            f"{getattr(X, 'ndim', 'no')} dimensions."
        )


def _without_column(X: Any, name: str) -> tuple[Any, Any]:
    if not hasattr(X, "columns") or name not in X.columns:
        known = list(X.columns) if hasattr(X, "columns") else type(X).__name__
        raise ValueError(f"y={quoted(name)} must be a column of the data frame X, which is {quoted(known)}.")
    return X.drop(columns=[name]), X[name]


def _with_whole_rows(X: Any) -> Any:
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
    return _delayed(together)


def _parts_of_arrays(X: Any, given: dict[str, Any]) -> list[Any]:
    """Return the partitions of an array with those of its targets and weights."""
    inputs = _delayed(X)
    aligned = {name: _aligned(values, X, name) for name, values in given.items()}
    for name, parts in aligned.items():
        if len(parts) != len(inputs):
            raise ValueError(f"X has {len(inputs)} partitions, but {name} has {len(parts)}. {REMEDY}")
    return [list(part) for part in zip(inputs, *aligned.values(), strict=True)]


def _together(*parts: Any) -> list[Any]:
    """Return inputs, targets and perhaps weights of one partition."""
    return list(parts)


def _on_part(number: int, part: list[Any], work: Callable[..., Any], *shared: Any) -> Any:
    """Call ``work(number, X, y, sample_weight, *shared)`` with what a partition has."""
    X, y, sample_weight = (*part, None)[:3]
    return work(number, X, y, sample_weight, *shared)


def _delayed(values: Any) -> list[Any]:
    parts = values.to_delayed()
    return list(parts.ravel()) if isinstance(parts, np.ndarray) else list(parts)


def _aligned(values: Any, X: Any, name: str) -> list[Any]:
    """Return the partitions of targets or weights that belong to those of X."""
    lengths = X.chunks[0] if hasattr(X, "chunks") and not np.isnan(X.chunks[0]).any() else None
    if not is_dask(values):
        return _split(values, lengths, name)
    if hasattr(values, "chunks"):
        known = not np.isnan(values.chunks[0]).any()
        if known and lengths is not None and values.chunks[0] != lengths:
            if sum(values.chunks[0]) != sum(lengths):
                raise ValueError(f"X has {sum(lengths)} rows, but {name} has {sum(values.chunks[0])}.")
            values = values.rechunk({0: lengths})
        return _delayed(_with_whole_rows(values) if values.ndim == 2 else values)
    _check_divisions(X, values, name)
    return _delayed(values)


def _check_divisions(X: Any, values: Any, name: str) -> None:
    if getattr(X, "known_divisions", False) and getattr(values, "known_divisions", False) and X.divisions != values.divisions:
        raise ValueError(f"X and {name} have different divisions. {REMEDY}")


def _split(values: Any, lengths: Any, name: str) -> list[Any]:
    """Return parts of an array in memory."""
    if lengths is None:
        raise ValueError(f"{name} is in memory, but the lengths of the partitions of X are not known. Pass {name} as Dask data.")
    values = np.asarray(values)
    if len(values) != sum(lengths):
        raise ValueError(f"X has {sum(lengths)} rows, but {name} has {len(values)}.")
    return np.split(values, np.cumsum(lengths)[:-1])


def lazily(answer: Callable[[Any], Floats], X: Any, trailing: tuple[int, ...], dtype: Any) -> Any:
    """Return a Dask array of answers to the rows of X. Each has the shape `trailing`."""
    import dask
    import dask.array

    _check_inputs(X)
    X = _with_whole_rows(X)
    parts, lengths = _delayed(X), X.chunks[0] if hasattr(X, "chunks") else None
    task = dask.delayed(_answered)
    shared = dask.delayed(answer, traverse=False)
    arrays = [
        dask.array.from_delayed(
            task(shared, part, trailing, dtype), (np.nan if lengths is None else lengths[number], *trailing), dtype=dtype
        )
        for number, part in enumerate(parts)
    ]
    return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


def _answered(answer: Callable[[Any], Floats], X: Any, trailing: tuple[int, ...], dtype: Any) -> Floats:
    """Return the answers to a partition, which may be empty."""
    if not _num_samples(X):
        return np.empty((0, *trailing), dtype=dtype)
    with one_thread():
        return answer(X)

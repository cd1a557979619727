"""Rows in the partitions of Dask arrays and data frames. One task for each partition makes sums, and a tree of tasks adds them up.

Tasks are ordinary tasks of whatever scheduler is active. None is bound to a worker, so that a worker may leave at any time, and
each of them works on one thread. Dask is imported when its data arrive.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.validation import _num_samples

from skarce._memory import require
from skarce._parallel import one_thread
from skarce._parameters import check_choice
from skarce._progress import is_watched, progress
from skarce._typing import Floats
from skarce.basis import takes_arrays
from skarce.designs.choice import IN_BATCHES, KINDS, Access
from skarce.designs.dask_columns import check_inputs, check_kinds, with_columns_taken
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
MERGED = (
    "If they are .values of one frame, Dask has merged files because it reads few columns: pass frames and series instead, or the "
    'frame with the name of a column, as in fit(frame, "y").'
)


def is_dask(values: Any) -> bool:
    """Tell whether these are data of Dask, without importing it."""
    return any(kind.__module__.partition(".")[0] in PACKAGES for kind in type(values).__mro__[:-1])


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
        X, y, sample_weight = with_columns_taken(X, y, sample_weight)
        if y is None:
            raise ValueError("y is None: pass the targets as a Dask array or series, or the name of a column of X.")
        check_inputs(X)
        self.X, self.y = X, y
        lengths = _lengths(X)
        self.n_rows = None if lengths is None else int(sum(lengths))
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
        _require_sums(candidates.n_candidates, in_folds=in_folds)
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
        _check_before_passes(partitions, recipe)
        check = recipe.check_targets if recipe.codes is None else None
        sample = partitions.total(_sampled, RowSample.total_of, recipe.seed, is_array, check, label="sampling")
        if not sample.n_counted:
            raise ValueError(f"there are no rows of positive weight in the {len(partitions)} partitions of X.")
        recipe.check_centers(sample.n_rows, "Dask data")
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


def _check_before_passes(partitions: Partitions, recipe: Recipe) -> None:
    """Raise for what is known to be impossible before any partition is computed."""
    if takes_arrays(recipe.basis):
        check_kinds(partitions.X, "X")
    if recipe.codes is None:
        check_kinds(partitions.y, "y")
    most = sys.maxsize if partitions.n_rows is None else partitions.n_rows
    if partitions.n_rows is not None:
        recipe.check_centers(most, "Dask data")
    if recipe.n_centers is not None:
        _require_sums(min(recipe.n_centers, most), in_folds=recipe.wants_folds(most))


def _require_sums(m: int, *, in_folds: bool) -> None:
    """Raise a ValueError if sums over m candidates do not fit into memory."""
    if in_folds:
        require_room(m)
    require(m, m, f"the Gram matrix of all {m} candidates, of which each task makes its part,", "Use fewer candidates")


def _sampled(
    number: int, X: Any, y: Any, sample_weight: Any, seed: int, is_array: bool, check: Callable[[Floats], None] | None
) -> RowSample:
    """Return a sample of a partition. All its rows are checked, so that errors name the partition and the row.

    `check` raises for impossible targets. None means that they are labels.
    """
    has_labels = check is None
    rows = checked_block(X, y, sample_weight, f"partition {number}", is_array=is_array, has_labels=has_labels)
    if check is not None:
        with naming_partition(number):
            for targets in rows.targets.T:
                check(targets)
    uniform = np.random.default_rng([seed, number]).random(_num_samples(X))
    given = rows.targets[:, 0] if has_labels else y if len(np.shape(y)) > 1 else np.asarray(y)
    return RowSample.of(X, given, rows.weights, uniform, has_labels=has_labels).least()


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
            raise ValueError(f"X has {len(inputs)} partitions, but {name} has {len(parts)}. {REMEDY} {MERGED}")
    return [list(part) for part in zip(inputs, *aligned.values(), strict=True)]


def _together(*parts: Any) -> list[Any]:
    """Return inputs, targets and perhaps weights of one partition."""
    return list(parts)


def _on_part(number: int, part: list[Any], work: Callable[..., Any], *shared: Any) -> Any:
    """Call ``work(number, X, y, sample_weight, *shared)`` with what a partition has."""
    X, y, sample_weight = (*part, None)[:3]
    return work(number, X, y, sample_weight, *shared)


def _delayed(values: Any) -> list[Any]:
    """Return one task for each partition, in the order and number in which the user knows them.

    The optimizer of frames merges files if it reads few of their columns. Then only columns that nobody reads are left out.
    """
    if not hasattr(values, "simplify"):  # an array
        return list(values.to_delayed().ravel())
    optimized = values.optimize()
    kept = optimized if optimized.npartitions == values.npartitions else values.simplify()
    return list(kept.to_delayed(optimize_graph=False))


def _aligned(values: Any, X: Any, name: str) -> list[Any]:
    """Return the partitions of targets or weights that belong to those of X."""
    lengths = _lengths(X)
    if not is_dask(values):
        return _split(values, lengths, name)
    if hasattr(values, "chunks"):
        own = _lengths(values)
        if own is not None and lengths is not None and own != lengths:
            if sum(own) != sum(lengths):
                raise ValueError(f"X has {sum(lengths)} rows, but {name} has {sum(own)}.")
            values = values.rechunk({0: lengths})
        return _delayed(_with_whole_rows(values) if values.ndim == 2 else values)
    _check_divisions(X, values, name)
    return _delayed(values)


def _lengths(values: Any) -> tuple[int, ...] | None:
    """Return the number of rows in each partition of an array, if they are known."""
    return values.chunks[0] if hasattr(values, "chunks") and not np.isnan(values.chunks[0]).any() else None


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


def lazily(answer: Callable[[Any], Floats], X: Any, trailing: tuple[int, ...], dtype: Any) -> Any:
    """Return a Dask array of answers to the rows of X. Each has the shape `trailing`."""
    import dask
    import dask.array

    X = _with_whole_rows(X)
    parts, lengths = _delayed(X), X.chunks[0] if hasattr(X, "chunks") else None
    task = dask.delayed(_answered)
    shared = dask.delayed(answer, traverse=False)
    arrays = [
        dask.array.from_delayed(
            task(shared, part, number, trailing, dtype), (np.nan if lengths is None else lengths[number], *trailing), dtype=dtype
        )
        for number, part in enumerate(parts)
    ]
    return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


def _answered(answer: Callable[[Any], Floats], X: Any, number: int, trailing: tuple[int, ...], dtype: Any) -> Floats:
    """Return the answers to a partition, which may be empty."""
    if not _num_samples(X):
        return np.empty((0, *trailing), dtype=dtype)
    with one_thread(), naming_partition(number):
        return answer(X)


@contextmanager
def naming_partition(number: int) -> Iterator[None]:
    """Say in which partition a value is wrong, if the check inside does not know."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"in partition {number}: {error}") from None

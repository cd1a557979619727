"""Rows in the partitions of Dask arrays and data frames. One task for each partition makes sums, and a tree of tasks adds them up.

Tasks are ordinary tasks of whatever scheduler is active. None is bound to a worker, so that a worker may leave at any time, and
each of them works on one thread. Dask is imported when its data arrive.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import _num_samples

from skarce._memory import ALL_ARRAYS, require
from skarce._parallel import one_thread
from skarce._parameters import check_choice
from skarce._typing import Floats
from skarce._validation import Unusable, first_unusable
from skarce.basis import takes_arrays
from skarce.designs.choice import IN_BATCHES, KINDS, Access
from skarce.designs.dask_columns import check_kinds
from skarce.designs.dask_partitions import Partitions, delayed_parts, is_dask, with_whole_rows
from skarce.designs.design import Recipe, Rows
from skarce.designs.labels import Codes
from skarce.designs.passes import HasPasses, coded
from skarce.designs.sampling import RowSample, largest_key
from skarce.moments import FoldSums, Moments, Sums
from skarce.moments.block_sums import checked_block, sums_of_folds, sums_of_rows
from skarce.moments.folds import N_FOLDS

ABOUT_GAPS = ("NaN", "nan", "infinity", "missing", "None", "<NA>")  # words of transformers for missing and infinite values


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
    n_rows : int
        The number of all rows.
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
        n_rows: int,
        *,
        is_array: bool = True,
        fit_intercept: bool = True,
        factor: float = 1.0,
        in_folds: bool = False,
        codes: Codes | None = None,
    ) -> None:
        _require_sums(candidates.n_candidates, partitions, in_folds=in_folds)
        self.candidates, self.rows, self.n_rows, self.fit_intercept = candidates, sample, n_rows, fit_intercept
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
        largest = largest_key(partitions.n_rows) if sample_weight is None else np.inf
        sample = partitions.total(_sampled, RowSample.total_of, recipe.seed, is_array, check, largest, label="sampling")
        if not sample.n_counted:
            raise ValueError(f"there are no rows of positive weight in {partitions}.")
        recipe.check_centers(sample.n_rows, "Dask data")
        codes = recipe.codes_of_sample(sample)
        rows, factor = recipe.rows_of_sample(sample, codes)
        with nullcontext() if is_array else _naming_place(sample):
            candidates = recipe.candidates(rows)
        return cls(
            candidates,
            partitions,
            rows,
            sample.n_rows,
            is_array=is_array,
            fit_intercept=recipe.fit_intercept,
            factor=factor,
            in_folds=recipe.wants_folds(sample.n_rows),
            codes=codes,
        )

    @property
    def n_samples(self) -> float:  # type: ignore[override]
        return self.sums.n_samples if self._spread is None else self._spread.total

    def require_room(self, n_rows: int, n_columns: int, what: str, remedy: str) -> None:
        super().require_room(n_rows, n_columns, what, remedy)
        require(n_rows, n_columns, what, remedy, ALL_ARRAYS, self._partitions.n_held)

    def total(self, work: Callable[[Any], Any], add: Callable[[list[Any]], Any]) -> Any:
        return self._partitions.total(_worked, add, work, self._is_array, self._codes, self._factor)

    @property
    def sums(self) -> Sums:
        """The sums over all rows."""
        if self._sums is None:
            shared = self.candidates, self._is_array
            if self._in_folds:
                self.fold_sums = self._partitions.total(_summed_by_fold, FoldSums.total, *shared).faded(self._factor)
                self._sums = self.fold_sums.whole()
            else:
                self._sums = self._partitions.total(_summed, Sums.total, *shared).faded(self._factor)
        return self._sums

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """Return one `Moments` for each output. The Gram matrix is always whole: each request for columns would take a pass."""
        check_choice("moments", kind, KINDS)
        return self._moments_of(self.sums)


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
        _require_sums(min(recipe.n_centers, most), partitions, in_folds=recipe.wants_folds(most))


def _require_sums(m: int, partitions: Partitions, *, in_folds: bool) -> None:
    """Raise a ValueError if sums over m candidates do not fit into memory, or if those that a task of the tree holds do not."""
    n_folds, remedy = (N_FOLDS, "Use fewer candidates, or calibrate_std=False") if in_folds else (1, "Use fewer candidates")
    require(m, m, f"the Gram matrix of all {m} candidates, of which each task makes its part,", remedy)
    what = f"a task that adds up Gram matrices of all {m} candidates{f' in each of {n_folds} folds' if in_folds else ''}"
    require(m, m, what, remedy, ALL_ARRAYS, partitions.n_held * n_folds)


def _sampled(
    number: int,
    X: Any,
    y: Any,
    sample_weight: Any,
    seed: int,
    is_array: bool,
    check: Callable[[Floats], None] | None,
    largest: float,
) -> RowSample:
    """Return a sample of a partition. All its rows are checked, so that errors name the partition and the row.

    `check` raises for impossible targets. None means that they are labels. Rows with a key above the largest are not kept.
    """
    has_labels = check is None
    rows = checked_block(X, y, sample_weight, f"partition {number}", is_array=is_array, has_labels=has_labels)
    if check is not None:
        with naming_partition(number):
            for targets in rows.targets.T:
                check(targets)
    uniform = np.random.default_rng([seed, number]).random(_num_samples(X))
    given = rows.targets[:, 0] if has_labels else y if len(np.shape(y)) > 1 else np.asarray(y)
    return RowSample.of(X, given, rows.weights, uniform, has_labels=has_labels, number=number).least(largest_key=largest)


def _summed(number: int, X: Any, y: Any, sample_weight: Any, candidates: Any, is_array: bool) -> Sums:
    """Return the sums of a partition."""
    rows = checked_block(X, y, sample_weight, f"partition {number}", is_array=is_array)
    with one_thread(), naming_partition(number, X):
        return sums_of_rows(candidates, rows)


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
    rows = checked_block(X, y, sample_weight, f"partition {number}", is_array=is_array, has_labels=codes is not None)
    with one_thread(), naming_partition(number, X):
        return work(coded(rows, codes, factor))


def _summed_by_fold(number: int, X: Any, y: Any, sample_weight: Any, candidates: Any, is_array: bool) -> FoldSums:
    """Return the sums of each fold of a partition."""
    rows = checked_block(X, y, sample_weight, f"partition {number}", is_array=is_array)
    with one_thread(), naming_partition(number, X):
        return sums_of_folds(candidates, rows)


def lazily(answer: Callable[[Any], Floats], X: Any, trailing: tuple[int, ...], dtype: Any) -> Any:
    """Return a Dask array of answers to the rows of X. Each has the shape `trailing`."""
    import dask
    import dask.array

    X = with_whole_rows(X)
    parts, lengths = delayed_parts(X), X.chunks[0] if hasattr(type(X), "chunks") else None
    task = dask.delayed(answered)
    shared = dask.delayed(answer, traverse=False)
    arrays = [
        dask.array.from_delayed(
            task(shared, part, number, trailing, dtype), (np.nan if lengths is None else lengths[number], *trailing), dtype=dtype
        )
        for number, part in enumerate(parts)
    ]
    return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


def answered(answer: Callable[[Any], Floats], X: Any, number: int, trailing: tuple[int, ...], dtype: Any) -> Floats:
    """Return the answers to a partition, which may be empty."""
    if not _num_samples(X):
        return np.empty((0, *trailing), dtype=dtype)
    with one_thread(), naming_partition(number, X):
        return answer(X)


@contextmanager
def naming_partition(number: int, X: Any = None) -> Iterator[None]:
    """Say in which partition a value is wrong, if the check inside does not know, and where it is if inputs X miss it."""
    try:
        yield
    except ValueError as error:
        raise _located(error, number, None if X is None else first_unusable(X)) from None


@contextmanager
def _naming_place(sample: RowSample) -> Iterator[None]:
    """Say where a value is that a transformer cannot be fitted on, if inputs miss it."""
    try:
        yield
    except ValueError as error:
        unusable = first_unusable(sample.X)
        if unusable is None or not _is_about_gaps(error):
            raise ValueError(f"in a sample of the rows, which the basis is fitted on: {error}") from None
        number, row = sample.places[unusable.row]
        raise _located(error, number, unusable._replace(row=row)) from None


def _located(error: ValueError, number: int, unusable: Unusable | None) -> ValueError:
    place = f"{str(error).rstrip('.')}. X has {unusable}." if unusable is not None and _is_about_gaps(error) else str(error)
    return ValueError(f"in partition {number}: {place}")


def _is_about_gaps(error: ValueError) -> bool:
    """Tell whether an error of a transformer is about missing or infinite values."""
    return any(word in str(error) for word in ABOUT_GAPS)

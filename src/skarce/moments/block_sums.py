"""Sums of a block of rows, made wherever these rows are. They add up, and a model is fitted to their total."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, validate_data

from skarce._parallel import blas_threads
from skarce._scales import CANDIDATES, SQUARED, check_targets, checked_counts, checked_scales
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce._validation import SPARSE_REFUSED, check_container, checked_array, in_brief, is_missing
from skarce.basis.fingerprint import fingerprint
from skarce.basis.kernel_basis import KernelBasis
from skarce.basis.transformers import candidates_of, check_fitted, takes_arrays
from skarce.moments.fold_sums import FoldSums
from skarce.moments.folds import N_FOLDS, fold_numbers
from skarce.moments.passes import Block, absorbed
from skarce.moments.sums import Sums


class CheckedBlock(NamedTuple):
    """Inputs, targets with a column for each output, and sample weights or None."""

    X: Any
    targets: Floats
    weights: Floats | None


@overload
def block_sums(basis: Any, X: Any, y: Any, sample_weight: Any = None, *, folds: Literal[False] = False) -> Sums: ...


@overload
def block_sums(basis: Any, X: Any, y: Any, sample_weight: Any = None, *, folds: Literal[True]) -> FoldSums: ...


def block_sums(basis: Any, X: Any, y: Any, sample_weight: Any = None, *, folds: bool = False) -> Sums | FoldSums:
    """Return the sums of a block of rows that `fit_moments` of an estimator needs.

    Sums of different rows add up with ``+`` or `sum`, in any order. So the rows may be on several machines, or belong to parties
    that do not show them to each other.

    Parameters
    ----------
    basis : fitted transformer or "passthrough"
        The candidates, the same for all blocks: kernels at centers, or another transformer. ``"passthrough"`` are the inputs
        themselves.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs of these rows, or whatever the transformer takes. There may be none. Sparse matrices are for ``"passthrough"``. All
        blocks have the same columns in the same order. Names of columns are compared with those that the basis was fitted on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Targets.
    sample_weight : array-like of shape (n_samples,), default=None
        Number of times that each row counts. None counts each row once.
    folds : bool, default=False
        Whether to make sums for each of five folds, so that `fit_moments` can calibrate the std of predictions. The fold of a row
        is a hash of its inputs. This takes five times the memory. All blocks need the same choice.

    Returns
    -------
    sums : Sums or FoldSums
        Number of rows, means, and products about the means: one number for each pair of candidates. With `folds`, such sums for
        each fold.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import KernelBasis, RelevanceVectorRegressor
    >>> from skarce.moments import block_sums
    >>> basis = KernelBasis(gamma=1.0, centers=np.linspace(0, 10, 30)[:, None]).fit(np.zeros((1, 1)))
    >>> def sums_of(part):
    ...     x = np.linspace(part, part + 1, 50, endpoint=False)[:, None]
    ...     return block_sums(basis, x, np.sin(x[:, 0]) + 0.1 * np.cos(1e4 * x[:, 0]))
    >>> total = sum(sums_of(part) for part in range(10))
    >>> model = RelevanceVectorRegressor().fit_moments(basis, total)
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.02)
    True
    """
    check_fitted(basis)
    if isinstance(basis, KernelBasis):
        _check_columns(basis, X)
    block = checked_block(X, y, sample_weight, is_array=takes_arrays(basis), are_candidates=isinstance(basis, str))
    candidates, made_with = candidates_of(basis, block.X), fingerprint(basis, X)
    if folds:
        return FoldSums(tuple(replace(sums, made_with=made_with) for sums in sums_of_folds(candidates, block).folds))
    return replace(sums_of_rows(candidates, block), made_with=made_with)


def sums_of_rows(candidates: Any, rows: Any) -> Sums:
    """Return the sums of checked rows with `X`, `targets` and `weights`. There may be none."""
    empty = Sums.empty(candidates.n_candidates, rows.targets.shape[1])
    if not len(rows.targets):
        return empty
    with blas_threads(1):
        return absorbed(empty, Block(candidates.on(rows.X), rows.targets, rows.weights))


def sums_of_folds(candidates: Any, rows: Any) -> FoldSums:
    """Return the sums of each fold of checked rows. There may be none."""
    numbers = fold_numbers(rows.X, candidates) if len(rows.targets) else np.empty(0, dtype=np.intp)
    return FoldSums(tuple(sums_of_rows(candidates, _rows_at(rows, np.flatnonzero(numbers == fold))) for fold in range(N_FOLDS)))


def _rows_at(rows: Any, places: Indices) -> CheckedBlock:
    """Return the rows at these places."""
    weights = None if rows.weights is None else rows.weights[places]
    return CheckedBlock(_safe_indexing(rows.X, places), rows.targets[places], weights)


def checked_block(
    X: Any,
    y: Any,
    sample_weight: Any,
    place: str = "",
    *,
    is_array: bool = True,
    are_candidates: bool = False,
    has_labels: bool = False,
) -> CheckedBlock:
    """Check some of many rows. There may be none, and others may be larger. Errors name the `place` of the block and the row.

    X is left as it is unless it `is_array`: a transformer takes it. If its columns `are_candidates`, it may be sparse. With
    `has_labels`, y has one label for each row.
    """
    of = f" of {place}" if place else ""
    if is_array:
        X = _array(X, f"X{of}", accept_sparse="csr" if are_candidates else False)
        X = checked_scales(X, CANDIDATES if are_candidates else SQUARED, is_first=False, name=f"X{of}")
    else:
        check_container(X, f"X{of}")
    targets = _labels(y, f"y{of}") if has_labels else _targets(y, f"y{of}")
    if len(targets) != _num_samples(X):
        raise ValueError(f"X{of} has {_num_samples(X)} rows, but y has {len(targets)}.")
    weights = None if sample_weight is None else _weights(sample_weight, len(targets), of)
    return CheckedBlock(X, targets, weights)


def _targets(y: Any, name: str) -> Floats:
    y = _array(y, name, ensure_2d=False, dtype=np.float64)
    if y.ndim == 0:
        raise ValueError(f"{name} must have a target for each row, got one number.")
    targets = y[:, None] if y.ndim == 1 else y
    check_targets(targets, is_first=False)
    return targets


def _labels(y: Any, name: str) -> Any:
    """Return one column of labels. Missing ones are an error."""
    check_container(y, name)
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{name} must have one label for each row, got shape {labels.shape}.")
    if labels.dtype.kind in "fO":
        missing = [place for place, label in enumerate(labels.tolist()) if is_missing(label)]
        if missing:
            raise ValueError(f"{name} has {len(missing)} missing labels, the first in row {missing[0]}. Drop these rows.")
    return labels[:, None]


def _check_columns(basis: KernelBasis, X: Any) -> None:
    """Raise if X does not have the columns that kernels were fitted on."""
    check_container(X, "X")
    if issparse(X):
        raise TypeError(SPARSE_REFUSED)
    with in_brief("X"):
        validate_data(basis, X, skip_check_array=True, reset=False)


def _weights(sample_weight: Any, n_rows: int, of: str) -> Floats:
    weights = _array(sample_weight, f"sample_weight{of}", ensure_2d=False, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"X{of} has {n_rows} rows, but sample_weight has shape {weights.shape}.")
    if (weights < 0.0).any():
        row = int(weights.argmin())
        raise ValueError(f"sample_weight{of} must not be negative, got {weights[row]:.6g} in row {row}.")
    return checked_counts(weights, is_all=False)


def _array(values: Any, name: str, **options: Any) -> Any:
    """Check an array. A value that is not finite is named by its row, and by the name or the number of its column."""
    checked = checked_array(values, name, ensure_min_samples=0, ensure_all_finite=False, **options)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(checked.sum()):  # if the sum is finite, all its terms are
            return checked
    entries = checked.tocoo() if issparse(checked) else None
    stored = checked.ravel() if entries is None else entries.data
    wrong = np.flatnonzero(~np.isfinite(stored))
    if len(wrong):
        first = wrong[0]
        numbers = np.unravel_index(first, checked.shape) if entries is None else (entries.row[first], entries.col[first])
        names = [quoted(column) for column in getattr(values, "columns", ())]
        columns = [names[number] if names else str(number) for number in numbers[1:]]
        place = ", column ".join([str(numbers[0]), *columns])
        raise ValueError(f"{name} must hold finite numbers, got {stored[first]} in row {place}. Drop or fill such rows.")
    return checked

"""Sums of each fold of the rows, made in the same pass as the sums of all. Refits without a fold then need no rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skarce._memory import require
from skarce._typing import Indices
from skarce.basis import KernelBasis
from skarce.designs.design import Rows
from skarce.designs.folds import N_FOLDS, are_few, fold_numbers, may_stay
from skarce.moments import Sums
from skarce.moments.block_sums import sums_of_rows


def sums_of_folds(candidates: Any, X: Any, targets: Any, weights: Any) -> list[Sums]:
    """Return the sums of checked rows, one for each fold. The fold of a row is a hash of its inputs, as in memory."""
    rows = Rows(X, targets, weights)
    numbers = fold_numbers(X, candidates) if len(targets) else np.empty(0, dtype=np.intp)
    return [sums_of_rows(candidates, rows.at(np.flatnonzero(numbers == fold))) for fold in range(N_FOLDS)]


def total_of_folds(parts: Sequence[list[Sums]]) -> list[Sums]:
    """Return the sums of each fold over all parts, at least one."""
    return [Sums.total(of_fold) for of_fold in zip(*parts, strict=True)]


def centers_in_fold(candidates: Any, fold: int, total: Sums) -> Indices:
    """Return the kernels that are centered at training rows of a fold. A refit without these rows has none of them.

    As in memory, kernels that are few and reach many rows stay. `total` are the sums of all folds.
    """
    if not isinstance(candidates, KernelBasis) or candidates.center_indices_ is None:
        return np.empty(0, dtype=np.intp)
    leaves = fold_numbers(candidates.centers_, candidates) == fold
    if are_few(candidates.n_candidates, total.n_samples):
        leaves &= ~may_stay(candidates, total.gram.diagonal() + total.n_samples * total.candidate_means**2)
    return np.flatnonzero(leaves)


def require_room(n_candidates: int) -> None:
    """Raise a ValueError if the sums of all folds do not fit into memory."""
    what = f"the sums of {N_FOLDS} folds, each with a number for each pair of {n_candidates} candidates,"
    require(n_candidates, n_candidates * (N_FOLDS + 1), what, "Use fewer candidates, or calibrate_std=False", n_arrays=N_FOLDS + 1)

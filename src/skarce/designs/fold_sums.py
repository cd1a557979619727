"""What sums of folds take: which kernels a refit without a fold has not, and room for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._memory import require
from skarce._typing import Indices
from skarce.basis import KernelBasis
from skarce.designs.folds import are_few, may_stay
from skarce.moments import Sums
from skarce.moments.folds import N_FOLDS, fold_numbers


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

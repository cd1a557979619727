"""How much of Phi'Phi to keep: a small cost model and a memory budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._memory import fits, require

NEGLIGIBLE_FLOPS = 1.5e8  # operations not worth saving: a few milliseconds
# The price of one column by itself, in columns of the whole product: measured at 2000 x 2000.
SINGLE, SINGLE_SYMMETRIC = 14.0, 5.0
KINDS = ("auto", "whole", "columns")


@dataclass(frozen=True)
class Access:
    """How a method asks for columns of the Gram matrix.

    Parameters
    ----------
    one_by_one : whether columns are asked for one at a time; if not, in batches
    n_columns : how many will be asked for, infinity for all of them; None if that is not known
    """

    one_by_one: bool = False
    n_columns: float | None = None


IN_BATCHES, ONE_BY_ONE, ALL_ONE_BY_ONE = Access(), Access(one_by_one=True), Access(one_by_one=True, n_columns=np.inf)


@dataclass(frozen=True)
class Costs:
    """Estimated floating-point work of keeping all of Phi'Phi, and of computing the columns that will enter.

    `passes` is how often rows are read where Phi is not stored. About 4 sqrt(min(N, M)) functions enter on the way to a model; a
    product with few columns runs at a quarter of the rate of the whole product, and one with a single column waits for memory.
    """

    n_rows: float
    n_candidates: float
    element: float  # work for one element of Phi
    access: Access = IN_BATCHES
    is_symmetric: bool = False  # half of Phi is read for a column, where columns come one by one

    @property
    def whole(self) -> float:
        return self.n_rows * self.n_candidates * (self.n_candidates + self.element)

    @property
    def columns(self) -> float:
        entering = 4.0 * np.sqrt(min(self.n_rows, self.n_candidates))
        if self.access.one_by_one and self.access.n_columns is not None:
            entering = self.access.n_columns
        entering = min(self.n_candidates, entering)
        stored = fits(int(self.n_rows), int(self.n_candidates))
        if not self.access.one_by_one:
            passes, column = 1.0 if stored else 6.0, 4.0
        else:
            passes, column = 1.0 if stored else 1.0 + entering, SINGLE_SYMMETRIC if self.is_symmetric and stored else SINGLE
        return self.n_rows * self.n_candidates * (column * entering + passes * self.element)


def choose_kind(kind: str, costs: Costs) -> str:
    """Turn ``"auto"`` into ``"whole"`` or ``"columns"``; check anything else."""
    if kind not in KINDS:
        raise ValueError(f"moments must be one of {list(KINDS)}, got {kind!r}.")
    m = int(costs.n_candidates)
    if kind == "auto":
        # Batches of columns serve searches that take compiled steps on a whole Gram; one by one, the cheaper is the better.
        is_cheap = costs.whole <= max(costs.columns, 0.0 if costs.access.one_by_one else NEGLIGIBLE_FLOPS)
        return "whole" if is_cheap and fits(m, m) else "columns"
    if kind == "whole":
        require(m, m, 'moments="whole"', "Use fewer candidates (centers=500), or moments='columns'")
    return kind

"""How much of Phi'Phi to keep: a small cost model and a memory budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._memory import fits, memory_budget

NOTHING = 1.5e8  # operations not worth saving: a few milliseconds
# The price of one column by itself, in columns of the whole product: measured at 2000 x 2000.
SINGLE, SINGLE_SYMMETRIC = 14.0, 5.0
KINDS = ("auto", "whole", "columns")


@dataclass(frozen=True)
class Costs:
    """Estimated floating-point work of keeping all of Phi'Phi, and of computing the columns that will enter.

    `passes` is how often rows are read where Phi is not stored. About 4 sqrt(min(N, M)) functions enter on the way to a model; a
    product with few columns runs at a quarter of the rate of the whole product, and one with a single column waits for memory.
    """

    n_rows: float
    n_candidates: float
    element: float  # work for one element of Phi
    one_by_one: float | None = None  # so many columns are asked for one at a time (infinite: unknown how many); None: in batches
    is_symmetric: bool = False  # half of Phi is read for a column, where columns come one by one

    @property
    def whole(self) -> float:
        return self.n_rows * self.n_candidates * (self.n_candidates + self.element)

    @property
    def columns(self) -> float:
        entering = 4.0 * np.sqrt(min(self.n_rows, self.n_candidates))
        if self.one_by_one is not None and np.isfinite(self.one_by_one):
            entering = self.one_by_one
        entering = min(self.n_candidates, entering)
        stored = fits(int(self.n_rows), int(self.n_candidates))
        if self.one_by_one is None:
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
        is_cheap = costs.whole <= max(costs.columns, NOTHING if costs.one_by_one is None else 0.0)
        return "whole" if is_cheap and fits(m, m) else "columns"
    if kind == "whole" and not fits(m, m):
        needed, budget = 8.0 * m * m / 2**20, memory_budget() / 2**20
        raise ValueError(
            f'moments="whole" keeps a {m} x {m} array of {needed:.0f} MiB, above the budget of {budget:.0f} MiB. '
            "Use fewer candidates (centers=500), moments='columns', or sklearn.set_config(working_memory=...)."
        )
    return kind

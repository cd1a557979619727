"""How much of Phi'Phi to keep: a small cost model and the memory budget decide."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skarce._memory import fits, require
from skarce._parameters import check_choice

NEGLIGIBLE_FLOPS = 1.5e8  # operations that are not worth saving: they take a few milliseconds
# The cost of one column computed alone, relative to its cost within the whole product: measured at 2000 x 2000.
SINGLE, SINGLE_SYMMETRIC = 14.0, 5.0
SPARSE = 10.0  # the cost of an operation of a sparse product, relative to one of a dense product
KEPT_BYTES = 2**24  # a fit keeps a Gram matrix of at most this size, so that a stream can continue from it
LONG_PASS = 1e9  # elements of Phi that take more than a second to evaluate
ARRAYS_OF_COLUMNS = 4  # the columns that a sparse method keeps may take as much memory as this many arrays
REMEDY = 'Use fewer candidates (KernelBasis(centers="auto"), or centers=500)'
KINDS = ("auto", "whole", "columns")


@dataclass(frozen=True)
class Access:
    """How a method asks for columns of the Gram matrix.

    Parameters
    ----------
    one_by_one : bool, default=False
        Whether the method asks for one column at a time. If not, it asks for batches of columns.
    n_columns : float, default=None
        How many columns the method will ask for. Infinity stands for all of them; None means that the number is not known.
    """

    one_by_one: bool = False
    n_columns: float | None = None


IN_BATCHES, ONE_BY_ONE, ALL_ONE_BY_ONE = Access(), Access(one_by_one=True), Access(one_by_one=True, n_columns=np.inf)
ALL_AT_ONCE = Access(n_columns=np.inf)


@dataclass(frozen=True)
class Costs:
    """Estimated number of floating-point operations for all of Phi'Phi, and for the columns that a method needs.

    About 4 sqrt(N) functions enter on the way to a model, or all of them if there are fewer. A product with few columns runs at a
    quarter of the speed of the whole product, and a product with a single column waits for memory. If Phi is not stored, every pass
    evaluates it again.

    Parameters
    ----------
    n_rows : float
        N, the number of rows.
    n_candidates : float
        M, the number of candidates.
    element : float
        The number of operations for one element of Phi.
    access : Access, default=IN_BATCHES
        How the method asks for columns.
    is_symmetric : bool, default=False
        Whether Phi is symmetric. A single column then needs only half of Phi.
    """

    n_rows: float
    n_candidates: float
    element: float
    access: Access = IN_BATCHES
    is_symmetric: bool = False

    @property
    def whole(self) -> float:
        """Operations for all of Phi'Phi."""
        return self.n_rows * self.n_candidates * (self.n_candidates + self.element)

    @property
    def entering(self) -> float:
        """The number of functions that enter on the way to a model."""
        asked = self.access.n_columns
        return min(self.n_candidates, 4.0 * np.sqrt(self.n_rows) if asked is None else asked)

    @property
    def columns(self) -> float:
        """Operations for the columns that a method needs."""
        # Batches of all columns are products with the whole of a stored Phi, and cost no more than those of a sparse method.
        entering = self.entering if self.access.one_by_one else replace(self, access=IN_BATCHES).entering
        stored = fits(int(self.n_rows), int(self.n_candidates))
        if not self.access.one_by_one:
            passes, column = 1.0 if stored else 6.0, 4.0
        else:
            passes, column = 1.0 if stored else 1.0 + entering, SINGLE_SYMMETRIC if self.is_symmetric and stored else SINGLE
        return self.n_rows * self.n_candidates * (column * entering + passes * self.element)


@dataclass(frozen=True)
class SparseCosts(Costs):
    """The same for columns of a sparse matrix, of whose values only some are stored.

    A sparse product costs as many operations as there are pairs of stored values in a row, and each operation waits for memory.

    Parameters
    ----------
    n_stored : float
        The number of stored values.
    """

    n_stored: float = 0.0

    @property
    def whole(self) -> float:
        return SPARSE * (self.n_stored**2 / max(self.n_rows, 1.0) + self.n_candidates**2)

    @property
    def columns(self) -> float:
        return self.whole * self.entering / max(self.n_candidates, 1.0)


def choose_kind(kind: str, costs: Costs) -> str:
    """Turn ``"auto"`` into ``"whole"`` or ``"columns"``, and check any other value."""
    check_choice("moments", kind, KINDS)
    m = int(costs.n_candidates)
    if kind == "auto":
        # Searches that ask for batches can take compiled steps if the Gram matrix is whole, so a negligible cost is worth it.
        is_cheap = costs.whole <= max(costs.columns, 0.0 if costs.access.one_by_one else NEGLIGIBLE_FLOPS)
        return "whole" if is_cheap and fits(m, m) else "columns"
    if kind == "whole":
        require(m, m, 'moments="whole"', "Use fewer candidates (centers=500), or moments='columns'")
    return kind


def require_room_for_columns(costs: Costs) -> None:
    """Raise a ValueError before a long first pass, if the columns of Phi'Phi that a method keeps do not fit into the memory budget.

    After a short pass, the method itself knows better what it needs, and says so. A method that asks for all columns holds them in
    one array. How many columns a sparse method keeps is only a guess, so these may take all of the working memory.
    """
    n, m = round(costs.entering), int(costs.n_candidates)
    if costs.n_rows * m < LONG_PASS:
        return
    n_arrays = 1 if costs.access.n_columns == np.inf else ARRAYS_OF_COLUMNS
    require(n, m, f"a fit with {m} candidates, which keeps about {n} columns of their Gram matrix,", REMEDY, n_arrays)

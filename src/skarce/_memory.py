"""The memory budget, and one error message for arrays that do not fit into it."""

from __future__ import annotations

from math import ceil

from sklearn import get_config

MEBIBYTE = 2**20
ALL_ARRAYS = 4  # that fill the whole of scikit-learn's ``working_memory``


def memory_budget() -> float:
    """Return the bytes that one array may take: a quarter of scikit-learn's ``working_memory`` setting."""
    return float(get_config()["working_memory"]) * MEBIBYTE / 4.0


def fits(n_rows: int, n_columns: int) -> bool:
    """Tell whether an array of doubles of this shape fits into the budget."""
    return 8.0 * n_rows * n_columns <= memory_budget()


def require(n_rows: int, n_columns: int, what: str, remedy: str, n_arrays: int = 1, times: int = 1) -> None:
    """Raise a ValueError if an array of doubles of this shape, so many times, does not fit into the budget of `n_arrays` arrays.

    The message says what needs too much memory, and what would help.

    Examples
    --------
    >>> require(10, 10, "the Gram matrix of all 10 candidates", "Use fewer candidates")
    """
    needed, budget = times * 8.0 * n_rows * n_columns / MEBIBYTE, n_arrays * memory_budget() / MEBIBYTE
    if needed <= budget:
        return
    raise ValueError(
        f"{what} needs {'an array' if times == 1 else f'{times} arrays'} of {n_rows} x {n_columns} ({needed:.0f} MiB), above the "
        f"memory budget of {budget:.0f} MiB. "
        f"{remedy}, or raise the budget with sklearn.set_config(working_memory={ceil(4.0 * needed / n_arrays)})."
    )

"""The memory budget, and one message for what does not fit it."""

from __future__ import annotations

from sklearn import get_config


def memory_budget() -> float:
    """Bytes that one array may take: a quarter of scikit-learn's ``working_memory`` setting."""
    return float(get_config()["working_memory"]) * 2**20 / 4.0


def fits(n_rows: int, n_columns: int) -> bool:
    """Whether an array of doubles of this shape stays within the budget."""
    return 8.0 * n_rows * n_columns <= memory_budget()

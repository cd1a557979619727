"""Methods that take rows in memory: Dask data and `RowBlocks` are refused with what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from skarce.designs import RowBlocks
from skarce.designs.dask_partitions import is_dask

Function = TypeVar("Function", bound=Callable[..., Any])


def takes_rows_in_memory(remedy: str) -> Callable[[Function], Function]:
    """Decorate a method of a model so that it refuses X that is not in memory, and says what to do."""

    def decorated(method: Function) -> Function:
        @wraps(method)
        def checked(self: Any, X: Any, *args: Any, **options: Any) -> Any:
            check_in_memory(self, X, method.__name__, remedy)
            return method(self, X, *args, **options)

        return cast(Function, checked)

    return decorated


def check_in_memory(model: Any, X: Any, name: str, remedy: str) -> None:
    """Raise a TypeError if X is Dask data or `RowBlocks`, which the method of this name does not take."""
    if is_dask(X) or isinstance(X, RowBlocks):
        kind = f"Dask data ({type(X).__name__})" if is_dask(X) else type(X).__name__
        raise TypeError(f"{name} of {type(model).__name__} takes rows in memory, but X is {kind}. {remedy}")


FIT_A_SAMPLE = "Pass arrays, such as a sample of the rows."
FIT_BATCHES = "Call partial_fit for each block of rows: of RowBlocks, or of Dask data by .compute() of each partition."
EACH_BATCH = "Call it for each block of rows: of RowBlocks, or of Dask data by .compute() of each partition."
FIT_OR_BATCHES = f"{EACH_BATCH} Or give all of them to fit, which takes them with most methods."
SOME_ROWS = "Pass arrays, such as .compute() of one partition."

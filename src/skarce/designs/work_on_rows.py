"""Work on candidates, targets and weights at a few rows at a time, on all cores or on the device of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from skarce._device import is_on_device, namespace
from skarce._parallel import by_threads, free_threads
from skarce._typing import Floats
from skarce.moments.passes import Block, evaluated, parts_of

Blocks = Iterable[tuple[Floats, Floats, Floats]]  # candidates, targets and weights at some rows
Made = TypeVar("Made")


def work_on_rows(work: Callable[[Blocks], Made], candidates: Any, rows: Any, *, operations: float) -> list[Made]:
    """Return what `work` makes of the candidates, targets and weights at a few rows at a time, once for each thread.

    `operations` are those for each row and candidate.
    """
    if not rows.targets.shape[0]:
        return [work(())]
    if is_on_device(rows.targets):
        return [work(_on_device(candidates, rows))]
    evaluation = candidates.on(rows.X)
    block, parts = Block(evaluation, rows.targets, rows.weights), parts_of(evaluation, free_threads())

    def blocks(own: list[slice]) -> Blocks:
        for phi, targets, weights in evaluated(block, own):
            yield phi, targets, np.ones(len(phi)) if weights is None else weights

    return by_threads(
        lambda own: work(blocks(own)),
        parts,
        workers=min(free_threads(), len(parts)),
        operations=operations * evaluation.n_rows * evaluation.n_candidates,
    )


def _on_device(candidates: Any, rows: Any) -> Blocks:
    """Yield the same for rows on a device, on which everything stays."""
    for part, phi in candidates.on_device(rows.X).blocks():
        targets = rows.targets[part, :]
        yield phi, targets, namespace(phi).ones_like(targets[:, 0]) if rows.weights is None else rows.weights[part]

"""Whether a target can be taken for classes: labels that are none, and classes too small to be cross-validated."""

from __future__ import annotations

import numpy as np

from skarce.datasets.tables import CLASSIFICATION, Table, TableError, TrainingData


def check_labels(table: Table, target: str, training: TrainingData) -> None:
    """Raise where numbers that are not whole were to be classes."""
    if training.task != CLASSIFICATION or not np.issubdtype(training.y.dtype, np.floating):
        return
    row = int(np.flatnonzero(training.y != np.round(training.y))[0])
    raise TableError(
        f"{table.name}: column {target!r} has {training.y[row]:g} in {table.place(row)}, and numbers must be whole to be classes. "
        "Write the classes as texts or whole numbers, or say --task regression."
    )


def check_class_sizes(target: str, training: TrainingData, n_folds: int) -> None:
    """Raise where a class has fewer rows than there are folds."""
    labels, counts = np.unique(training.y, return_counts=True)
    smallest = int(counts.min())
    if smallest >= n_folds:
        return
    name = f"class {labels[counts.argmin()]!s} of {target!r}"
    remedy = "it needs more rows" if len(labels) == 2 else "drop the class, or merge it with another"
    if smallest == 1:
        raise TableError(f"{name} has one row, which cannot be learned from and tested on; {remedy}.")
    raise TableError(f"{name} has {smallest} rows, fewer than the {n_folds} folds; say --cv {smallest}, else {remedy}.")

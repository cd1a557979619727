"""The DELVE tasks of the paper: eight prototasks with several numbers of training rows, each cut into instances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skarce import datasets
from skarce.reproduce.runner.findings import Finding
from skarce.reproduce.runner.paper import Experiment
from skarce.reproduce.runner.splits import Parts

PROTOTASKS = ("puma8fh", "puma8fm", "puma8nh", "puma8nm", "kin8fh", "kin8fm", "kin8nh", "kin8nm")
SIZES = (64, 128, 256, 512, 1024)
LARGEST = 1024
N_TRAINING_HALF = 4096  # the first rows of the shuffled table are for training, the other half for testing


def task_name(prototask: str, size: int) -> str:
    return f"{prototask}-{size}"


def prototask_of(finding: Finding) -> str:
    return finding.experiment.name.rpartition("-")[0]


def size_of(finding: Finding) -> int:
    return int(finding.experiment.name.rpartition("-")[2])


def delve_task(prototask: str, size: int) -> Experiment:
    """A prototask with this number of training rows. Its repeats are the instances."""
    n_instances, n_test = (4, 1024) if size == LARGEST else (8, 512)
    return Experiment(
        task_name(prototask, size),
        f"{prototask}, {size} rows",
        n_instances,
        disjoint_rows(prototask, size, n_test),
        disjoint=True,
    )


def disjoint_rows(prototask: str, n_train: int, n_test: int) -> Callable[[np.random.Generator, int], Parts]:
    """A `draw` function: training rows from one half of a table, test rows from the other. No row is in two instances."""

    def draw(rng: np.random.Generator, instance: int) -> Parts:
        X, y, *_ = datasets.load(prototask)
        order = rng.permutation(len(y))
        train = order[:N_TRAINING_HALF][instance * n_train : (instance + 1) * n_train]
        test = order[N_TRAINING_HALF:][instance * n_test : (instance + 1) * n_test]
        if len(train) < n_train or len(test) < n_test:
            raise ValueError(f"{prototask} has no rows left for instance {instance} of {n_train} rows.")
        return X[train], y[train], X[test], y[test]

    return draw

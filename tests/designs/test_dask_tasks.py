"""What Dask gets to do: one task for each partition and a tree by eight, and no work twice. An interrupt leaves the model alone."""

import pickle
import tracemalloc
from collections import Counter
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.callbacks import Callback
from dask.utils import key_split
from sklearn import config_context
from sklearn.base import clone

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, RelevanceVectorRegressor
from skarce.designs.dask_partitions import FAN_IN, Partitions
from skarce.methods.latent.by_passes import Expansion, total_of_expansions
from skarce.moments import FoldSums, Sums, block_sums
from tests.interrupts import Lines, spread

N_PARTS, ROWS = 20, 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_PARTS * ROWS, 2))
LATENT = 2.0 * np.sin(2.0 * X[:, 0]) + X[:, 1]
KERNELS = KernelBasis(gamma=0.7, centers=X[:15])
CASES = {
    "numbers": (RelevanceVectorRegressor(KERNELS), LATENT + 0.1 * RNG.normal(size=len(X))),
    "calibrated": (RelevanceVectorRegressor(KERNELS, calibrate_std=True), LATENT + 0.1 * RNG.normal(size=len(X))),
    "labels": (RelevanceVectorClassifier(KERNELS, calibrate_proba=False), (LATENT + RNG.logistic(size=len(X)) > 0).astype(float)),
    "counts": (RelevanceVectorPoissonRegressor(KERNELS), RNG.poisson(np.exp(0.5 * LATENT)).astype(float)),
}


pytestmark = pytest.mark.usefixtures("rows_in_passes")


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def arrays(targets):
    return da.from_array(X, chunks=(ROWS, 2)), da.from_array(targets, chunks=ROWS)


def made_by(make, targets):
    """X and y whose partitions are made by a function of the number and the rows."""
    rows = np.column_stack([X, targets]).reshape(N_PARTS, ROWS, 3)
    task = dask.delayed(make)
    parts = [da.from_delayed(task(number, part), part.shape, dtype=float) for number, part in enumerate(rows)]
    both = da.concatenate(parts)
    return both[:, :2], both[:, 2]


# The graph -------------------------------------------------------------------------------------------------------------------


class Graphs(Callback):
    """Keeps the graph of each pass: the tasks that each task waits for."""

    def __init__(self):
        super().__init__(start=self._keep)
        self.passes = []

    def _keep(self, graph):
        self.passes.append({key: set(getattr(task, "dependencies", ())) for key, task in graph.items()})


def tree_of(graph):
    """The tasks on partitions, and the levels of tasks that add up, from the partitions to the one that has no user."""
    work = {key for key in graph if key_split(key) == "on_part"}
    levels, below = [], work
    while len(below) > 1:
        above = {key for key, needed in graph.items() if needed & below}
        levels.append([graph[key] for key in above])
        below = above
    return work, levels


def test_a_pass_has_one_task_for_each_partition_and_a_tree_by_eight(case):
    model, targets = case
    with Graphs() as graphs:
        clone(model).fit(*arrays(targets))
    assert len(graphs.passes) >= 2
    for graph in graphs.passes:
        work, levels = tree_of(graph)
        assert len(work) == N_PARTS
        assert [len(level) for level in levels] == [3, 1]  # 20 partitions, 3 totals of at most 8, and 1 of these
        for level in levels:
            assert max(map(len, level)) <= FAN_IN
            assert max(Counter(key for needed in level for key in needed).values()) == 1  # each part is added up once
        others = set(graph) - work
        assert sum(key_split(key) not in ("array", "on_part") for key in others) <= 4 + 12  # totals, and what all tasks share


@pytest.mark.parametrize(("name", "n_passes"), [("numbers", 2), ("calibrated", 2)])
def test_numbers_take_two_passes(name, n_passes):
    """One samples the rows, and one adds them up, for all folds at once."""
    model, targets = CASES[name]
    with Graphs() as graphs:
        clone(model).fit(*arrays(targets))
    assert len(graphs.passes) == n_passes


# Memory ----------------------------------------------------------------------------------------------------------------------


def sums_of(number, folds=False):
    rng = np.random.default_rng(number)
    return block_sums("passthrough", rng.normal(size=(50, 300)), rng.normal(size=50), folds=folds)


def expansions_of(number):
    rng = np.random.default_rng(number)
    return [Expansion(1.0, rng.normal(size=300), rng.normal(size=(300, 300)), rng.normal(size=300))]


@pytest.mark.parametrize(
    ("make", "add", "n_matrices"),
    [
        (sums_of, Sums.total, 1),
        (partial(sums_of, folds=True), FoldSums.total, 5),
        (expansions_of, total_of_expansions, 1),
    ],
    ids=["numbers", "calibrated", "labels"],
)
def test_a_task_of_the_tree_holds_its_parts_and_their_total(make, add, n_matrices, no_collection):
    """It adds them up one by one, in place."""
    parts = [make(number) for number in range(FAN_IN)]
    before = pickle.dumps(parts)
    tracemalloc.start()
    try:
        total = add(parts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total is not None
    assert peak < 1.2 * n_matrices * 8 * 300**2
    assert pickle.dumps(parts) == before


# Arrays of the memory budget hold 2**21 numbers in all: 9 matrices of 482 x 482 of a tree task, or 45 of 215 x 215 of five folds.
@pytest.mark.parametrize(("folds", "most"), [(False, 482), (True, 215)])
@pytest.mark.parametrize("is_known", [False, True], ids=["candidates", "number of centers"])
def test_what_a_task_holds_must_fit_into_memory(folds, most, is_known):
    model = RelevanceVectorRegressor(calibrate_std=folds, max_active=1)
    for n_candidates in (most, most + 1):
        rows = np.random.default_rng(0).normal(size=(600, 2 if is_known else n_candidates))
        model.basis = KernelBasis(gamma=1.0, centers=n_candidates) if is_known else "passthrough"
        data = da.from_array(rows, chunks=(60, -1)), da.from_array(rows[:, 0], chunks=60)
        with config_context(working_memory=16), nullcontext() if n_candidates == most else pytest.raises(ValueError) as error:
            model.fit(*data)
    n_held = 9 * (5 if folds else 1)
    assert f"needs {n_held} arrays of {most + 1} x {most + 1} (16 MiB), above the memory budget of 16 MiB" in str(error.value)


@pytest.mark.parametrize("n_parts", [1, 3, 20])
def test_few_partitions_are_added_up_by_smaller_tasks(n_parts):
    partitions = Partitions(da.from_array(X, chunks=(-(-len(X) // n_parts), 2)), X[:, 0])
    assert partitions.n_held == min(n_parts, FAN_IN) + 1


# Persisted input -------------------------------------------------------------------------------------------------------------


def test_persisted_input_is_not_made_again(case, tmp_path):
    """Without `persist`, each pass makes all partitions."""
    model, targets = case

    def make(number, part):
        Path(tmp_path, f"{len(list(tmp_path.iterdir()))}").touch()
        return part

    def n_made():
        return len(list(tmp_path.iterdir()))

    lazy = made_by(make, targets)
    kept = dask.persist(*lazy)
    before = n_made()
    found = clone(model).fit(*kept)
    found.predict(kept[0]).compute()
    assert n_made() == before
    with Graphs() as graphs:
        expected = clone(model).fit(*lazy)
    assert n_made() == before + N_PARTS * len(graphs.passes)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_columns_of_a_frame_are_made_once_in_a_pass(tmp_path):
    """Also if one of them has the name of an attribute of arrays."""

    def make(number):
        Path(tmp_path, f"{len(list(tmp_path.iterdir()))}").touch()
        return pd.DataFrame(X, columns=["p", "chunks"]).assign(y=LATENT).iloc[number * ROWS : (number + 1) * ROWS]

    frame = dd.from_map(make, range(N_PARTS), meta=make(0).iloc[:0])
    before = len(list(tmp_path.iterdir()))
    found = Partitions(frame[["p", "chunks"]], frame["y"]).total(lambda number, X, y, w: [len(y)], sum_of_lists)
    assert found == [ROWS] * N_PARTS
    assert len(list(tmp_path.iterdir())) == before + N_PARTS


def sum_of_lists(parts):
    return [one for part in parts for one in part]


@pytest.mark.parametrize("kind", ["arrays", "frames"])
def test_persisted_input_is_not_copied(kind):
    """Each pass gets views of the memory that is kept."""
    targets = CASES["numbers"][1]
    frames = dd.from_pandas(pd.DataFrame(X), npartitions=5), dd.from_pandas(pd.Series(targets), npartitions=5)
    kept = Partitions(*dask.persist(*(arrays(targets) if kind == "arrays" else frames)))

    def values(number, X, y, sample_weight):
        return [np.asarray(X), np.asarray(y)]

    first, second = (kept.total(values, sum_of_lists) for _ in range(2))
    assert len(first) == 2 * len(kept)
    assert all(np.shares_memory(one, other) for one, other in zip(first, second, strict=True))


# Interrupts ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_passes", [0, 1])
def test_an_interrupt_in_a_partition_leaves_the_model_as_it_was(case, tmp_path, n_passes):
    model, targets = case

    def make(number, part):
        calls = len(list(tmp_path.glob(f"{number}-*")))
        Path(tmp_path, f"{number}-{calls}").touch()
        if number == 7 and calls == n_passes:
            raise KeyboardInterrupt
        return part

    for fresh in (clone(model), clone(model).fit(X, targets)):
        before = pickle.dumps(fresh)
        with pytest.raises(KeyboardInterrupt):
            fresh.fit(*made_by(make, targets))
        assert pickle.dumps(fresh) == before
        for path in tmp_path.iterdir():
            path.unlink()


def test_an_interrupt_anywhere_on_the_way_leaves_the_model_as_it_was():
    """In tasks, between passes, and in the search. The last lines are those of every fit, which have tests of their own."""
    model, targets = CASES["calibrated"]
    data = arrays(targets)
    old = clone(model).fit(X, targets)
    before = pickle.dumps(old)
    n_lines = Lines().run(lambda: clone(model).fit(*data)).count
    for stop in spread(int(0.9 * n_lines), 8, 0):
        assert Lines(stop).run(lambda: old.fit(*data)).was_interrupted
        assert pickle.dumps(old) == before

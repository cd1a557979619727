"""A real cluster of processes: the model of the rows in memory, also if a worker dies in the middle of a pass."""

import os
import re
import signal
import time
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.distributed import Client, LocalCluster, wait
from sklearn.base import clone

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, RelevanceVectorRegressor

N_PARTS, ROWS = 6, 500
MODEL = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=np.linspace(-3, 3, 40)[:, None]), calibrate_std=True)


def part_of(number):
    rng = np.random.default_rng(number)
    X = rng.normal(size=(ROWS, 1))
    return np.column_stack([X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=ROWS)])


def deadly_part(number, folder, deadly_call=1):
    """The rows of a partition. The worker that makes partition 3 for the second pass, or for another one, ends without a word."""
    calls = len(list(Path(folder).glob(f"{number}-*")))
    Path(folder, f"{number}-{calls}").touch()
    if number == 3 and calls == deadly_call:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows has only the other
    return part_of(number)


def deadly_frame(number, folder, deadly_call):
    """The same with labels and counts, as a data frame."""
    frame = pd.DataFrame(deadly_part(number, folder, deadly_call), columns=["x", "y"])
    rng = np.random.default_rng([1, number])
    labels = np.where(frame["y"] + 0.5 * rng.logistic(size=ROWS) > 0.0, "yes", "no")
    return frame.assign(label=labels, count=rng.poisson(np.exp(frame["y"])).astype(float))


def lazy_frame(folder, deadly_call=-1):
    folder.mkdir()
    meta = pd.DataFrame({"x": [0.0], "y": [0.0], "label": [""], "count": [0.0]}).iloc[:0]
    return dd.from_map(deadly_frame, range(N_PARTS), folder=str(folder), deadly_call=deadly_call, meta=meta)


def pids(client):
    return {worker["pid"] for worker in client.run(lambda: {"pid": os.getpid()}).values()}


def lazy(make, *args):
    parts = [da.from_delayed(dask.delayed(make)(number, *args), (ROWS, 2), dtype=float) for number in range(N_PARTS)]
    return da.concatenate(parts)


@pytest.fixture(scope="module")
def client():
    config = {"distributed.worker.memory.terminate": False, "distributed.scheduler.allowed-failures": 3}
    with (
        dask.config.set(config),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


@pytest.mark.filterwarnings("default")  # those of sockets and processes that were killed
def test_a_cluster_gives_the_model_of_the_rows_in_memory_and_survives_the_death_of_a_worker(client, tmp_path):
    rows = np.concatenate([part_of(number) for number in range(N_PARTS)])
    with dask.config.set(scheduler="synchronous"):
        calm = lazy(part_of)
        expected = clone(MODEL).fit(calm[:, :1], calm[:, 1])
    in_memory = clone(MODEL).set_params(moments="whole").fit(rows[:, :1], rows[:, 1])
    np.testing.assert_allclose(expected.predict(rows[:, :1]), in_memory.predict(rows[:, :1]), atol=1e-6)

    data = lazy(deadly_part, str(tmp_path))
    before = pids(client)
    found = clone(MODEL).fit(data[:, :1], data[:, 1])
    after = pids(client)
    assert (tmp_path / "3-1").exists()  # it happened
    assert before != after
    np.testing.assert_array_equal(found.predict(rows[:, :1]), expected.predict(rows[:, :1]))
    assert found.std_scale_ == expected.std_scale_

    answers = found.predict(lazy(part_of)[:, :1], return_std=True)
    for answer, plain in zip(dask.compute(*answers), found.predict(rows[:, :1], return_std=True), strict=True):
        np.testing.assert_allclose(answer, plain, rtol=1e-12)


@pytest.mark.filterwarnings("default")  # those of sockets and processes that were killed
@pytest.mark.usefixtures("rows_in_passes")
@pytest.mark.parametrize(
    ("model", "target"),
    [
        (RelevanceVectorClassifier(MODEL.basis, calibrate_proba=False), "label"),
        (RelevanceVectorPoissonRegressor(MODEL.basis), "count"),
    ],
    ids=["labels", "counts"],
)
def test_newton_passes_over_frames_survive_the_death_of_a_worker(client, tmp_path, model, target):
    """A pass samples, one finds means and spreads, and two or more are Newton steps. A worker dies in the second of these."""
    with dask.config.set(scheduler="synchronous"):
        calm = lazy_frame(tmp_path / "calm")
        expected = clone(model).fit(calm[["x", target]], target)
    assert len(list((tmp_path / "calm").glob("3-*"))) >= 4
    before = pids(client)
    data = lazy_frame(tmp_path / "deadly", 3)
    found = clone(model).fit(data[["x", target]], target)
    assert (tmp_path / "deadly" / "3-4").exists()  # it happened, and the partition was made again
    assert before != pids(client)
    np.testing.assert_array_equal(found.active_, expected.active_)
    assert found.criterion_ == expected.criterion_
    some = pd.DataFrame({"x": np.linspace(-2.0, 2.0, 50)})
    np.testing.assert_array_equal(found.predict(some), expected.predict(some))
    lazy = found.predict(lazy_frame(tmp_path / "again")[["x"]])
    rows = pd.DataFrame(np.concatenate([part_of(number) for number in range(N_PARTS)])[:, :1], columns=["x"])
    np.testing.assert_array_equal(lazy.compute(), found.predict(rows))


MEGABYTE = 2**20
ROWS_OF_PART, INPUTS = 20_000, 10


def many_rows(number):
    """A partition of 1.8 MB. As with files, making it takes longer than asking the scheduler. Dask makes quicker ones ahead."""
    time.sleep(0.03)
    rows = np.random.default_rng(number).random((ROWS_OF_PART, INPUTS + 1))
    rows[:, -1] += rows[:, 0]
    return rows


def many_parts(n_parts):
    parts = [da.from_delayed(dask.delayed(many_rows)(number), (ROWS_OF_PART, INPUTS + 1), dtype=float) for number in range(n_parts)]
    rows = da.concatenate(parts)
    return rows[:, :INPUTS], rows[:, INPUTS]


def peaks(client):
    """The largest memory that each worker has ever had, in megabytes. (`ru_maxrss` would be that of the process that forked it.)"""

    def peak():
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024 / MEGABYTE

    return sum(client.run(peak).values())


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.filterwarnings("default")
def test_memory_of_workers_does_not_grow_with_the_rows(client):
    """From 40 to 160 partitions, all rows grow by 201 MB. The two workers would show that, as they do when rows are kept."""
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=np.random.default_rng(0).random((20, INPUTS))))
    after = []
    for n_parts in (40, 160):
        clone(model).fit(*many_parts(n_parts))
        after.append(peaks(client))
    kept = dask.persist(*many_parts(160))
    wait(kept)
    assert after[1] - after[0] < 80.0 < 200.0 < peaks(client) - after[0]

"""The pieces of streamed fits: files in blocks, the summary, the state file, and the progress."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from skarce import KernelBasis
from skarce._progress import Lines
from skarce.cli.streamed import files, progress
from skarce.cli.streamed.files import BEGINNING, DataFiles, Place, found_files
from skarce.cli.streamed.fit import StreamedFit
from skarce.cli.streamed.state import FitState, StateFile, fingerprint
from skarce.cli.streamed.summary import summarize
from skarce.comparison import METHODS, REGRESSION
from skarce.datasets import TargetKind
from skarce.datasets.columns import NUMBER, TEXT
from skarce.datasets.tables import read_table
from skarce.datasets.training import make_preprocessing, training_data
from skarce.moments import Sums, block_sums

pytest.importorskip("pyarrow")


@pytest.fixture(params=["csv", "parquet"])
def data(request, tmp_path, monkeypatch):
    """Three files, of which one has no rows, in blocks of at most 7 rows."""
    monkeypatch.setattr(files, "BLOCK_ROWS", 7)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(5, 3, 40), "t": rng.choice(list("abc"), 40), "c": 2.0, "y": rng.normal(size=40)})
    for number, rows in enumerate([slice(0, 17), slice(17, 17), slice(17, 40)]):
        if request.param == "csv":
            frame[rows].to_csv(tmp_path / f"{number}.csv", index=False)
        else:
            frame[rows].to_parquet(tmp_path / f"{number}.parquet", row_group_size=5)
    frame.to_csv(tmp_path / "all", index=False)
    return DataFiles.of(found_files([tmp_path / f"*.{request.param}"]))


def test_blocks_from_every_place_on_are_those_of_a_whole_pass(data):
    whole = list(data.blocks(["t"]))
    assert [block.n_rows for block in whole] == [7, 7, 3, 7, 7, 7, 2]
    for done in range(len(whole) + 1):
        rest = list(data.blocks(["t"], whole[done - 1].after if done else BEGINNING))
        assert [block.after for block in rest] == [block.after for block in whole[done:]]
        for found, wanted in zip(rest, whole[done:], strict=True):
            pd.testing.assert_frame_equal(found.table.frame, wanted.table.frame)
            assert found.table.place(0) == wanted.table.place(0)


def test_wide_tables_have_short_blocks(data, monkeypatch):
    monkeypatch.setattr(files, "BLOCK_ROWS", 65_536)
    assert DataFiles(data.files, tuple("abcd")).block_rows == 65_536
    assert DataFiles(data.files, tuple(map(str, range(1000)))).block_rows == 2**22 // 1000
    assert DataFiles(data.files, tuple(map(str, range(100_000)))).block_rows == 1024


def test_the_summary_is_that_of_the_table(data, tmp_path):
    seen = []
    summary = summarize(data, "y", None, seen.append)
    training = training_data(read_table(tmp_path / "all"), "y")
    assert summary.kinds == training.kinds == {"x": NUMBER, "t": TEXT, "c": NUMBER}
    assert (summary.n_rows, seen[-1]) == (40, 40)
    wanted = make_preprocessing(training.kinds).fit(training.X)
    np.testing.assert_allclose(summary.preprocessing.transform(training.X), wanted.transform(training.X), atol=1e-12)
    pd.testing.assert_frame_equal(summary.sample.X, training.X)
    np.testing.assert_allclose(summary.sample.y, training.y, rtol=1e-14)  # pandas before 3 reads texts to within the last digit


def with_small_samples(monkeypatch, n_rows):
    monkeypatch.setattr("skarce.cli.streamed.summary.SAMPLE_ROWS", n_rows)
    monkeypatch.setattr("skarce.designs.sampling.RowSample.least.__defaults__", (n_rows,))
    monkeypatch.setattr("skarce.designs.sampling.RowSample.total_of.__func__.__defaults__", (n_rows,))


def test_the_sample_of_many_rows_is_bounded(data, monkeypatch):
    with_small_samples(monkeypatch, 5)
    summary = summarize(data, "y", TargetKind.NUMBERS, lambda rows: None)
    assert (len(summary.sample.y), summary.n_rows) == (5, 40)
    assert summary.preprocessing.named_transformers_["numbers"].n_samples_seen_ == 40


def peak_of_a_fit(path):
    """The memory of a fit whose state is written, and its R2."""
    data, parameters = DataFiles.of(found_files([path])), {"basis__centers": 10, "basis__gamma": 0.1}
    file = StateFile(path.with_suffix(".state"), fingerprint(data, parameters))
    tracemalloc.start()
    try:
        _, score = StreamedFit(data, "y", METHODS[REGRESSION]["frvm"], parameters).run(file)
        return tracemalloc.get_traced_memory()[1], score
    finally:
        tracemalloc.stop()
        file.remove()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(files, "BLOCK_ROWS", 5000)
    with_small_samples(monkeypatch, 500)
    peaks = []
    for n_rows in (15_000, 15_000, 60_000):  # the first one also pays for what is imported
        x = np.random.default_rng(0).normal(size=n_rows)
        frame = pd.DataFrame({"x": x, "t": np.where(x > 1, "a", "b"), "y": np.sin(x)})
        path = tmp_path / f"{n_rows}.{kind}"
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
        peak, score = peak_of_a_fit(path)
        assert score > 0.9
        peaks.append(peak)
    assert peaks[2] < peaks[1] + 45_000 * 8  # one column of the further rows


def test_a_state_is_read_as_it_was_written(data, tmp_path):
    summary = summarize(data, "y", TargetKind.NUMBERS, lambda rows: None)
    X = summary.preprocessing.transform(summary.sample.X)
    basis = KernelBasis(gamma=0.3, centers=10, random_state=0).fit(X)
    sums = block_sums(basis, X, summary.sample.y)
    file = StateFile(tmp_path / "s", fingerprint(data, {"--target": "y", "--centers": 10, "--gamma": None, "--exclude": ["a"]}))
    assert file.load() is None
    state = FitState(summary.kinds, summary.preprocessing, basis, X, 40, Place(2, 7), sums)
    file.save(state)
    found = file.load()
    assert (found.kinds, found.n_rows, found.place, found.n_done) == (state.kinds, 40, Place(2, 7), 40)
    for name, values in vars(sums).items():
        np.testing.assert_array_equal(getattr(found.sums, name), values)
    assert found.sums.gram.flags.c_contiguous
    assert found.sums.gram.flags.writeable
    np.testing.assert_array_equal(found.preprocessing.transform(summary.sample.X), X)
    np.testing.assert_array_equal(found.basis.transform(X), basis.transform(X))
    np.testing.assert_array_equal(found.kept, X)
    file.remove()
    assert not (tmp_path / "s").exists()


def test_states_take_a_small_share_of_the_time(tmp_path, monkeypatch):
    times, written = iter([0.0, 10.0, 10.0, 12.0, 49.0, 52.1, 52.1, 52.2]), []
    file = StateFile(tmp_path / "s", {}, clock=lambda: next(times))
    monkeypatch.setattr("skarce.cli.streamed.state.skops.io.dump", lambda content, draft: draft.write_bytes(b""))
    monkeypatch.setattr("skarce.cli.streamed.state._check_size", lambda draft, path: written.append(path))
    state = FitState({}, None, None, None, 0, BEGINNING, Sums.empty(1, 1))
    file.save_now_and_then(state)  # at 10 seconds; it takes 2 seconds, so 40 seconds are free of it
    assert len(written) == 1
    file.save_now_and_then(state)
    assert len(written) == 1
    file.save_now_and_then(state)
    assert len(written) == 2


def test_progress_is_a_line_for_a_log(monkeypatch):
    lines = []
    monkeypatch.setattr(progress, "say", lines.append)
    monkeypatch.setattr(progress, "Lines", lambda say, first: Lines(say, lambda: -10.0, first))  # the first line is due at once
    with progress.rows_progress("Adding up", 5_000_000, 1_000_000) as on_rows:
        on_rows(3_000_000)
    (line,) = lines
    assert line.startswith("Adding up: 3,000,000 of 5,000,000 rows (60%), ")

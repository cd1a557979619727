"""Rows of Parquet files: which files, their Hive keys, and what is read of them."""

import gc
import os
import pickle
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.designs import RowBlocks
from tests.designs.arrow_tables import NAMES, N, assert_equal_blocks, assert_same, made_rows, pa, table_of

pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

CUTS = (0, 13, 13, 200, N)  # of rows between files; the second file is empty


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is also the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rows():
    return made_rows()


def write(table, path, **options):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **options)
    return path


def write_parts(table, paths):
    for path, start, stop in zip(paths, CUTS[:-1], CUTS[1:], strict=True):
        write(table.slice(start, stop - start), path)


# Where files are -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_rows", [1, 64, 65_536])
@pytest.mark.parametrize("group_rows", [1, 50, N])
def test_one_file_with_row_groups(folder, rows, group_rows, batch_rows):
    write(table_of(*rows), "t.parquet", row_group_size=group_rows)
    for path in ("t.parquet", Path("t.parquet"), str(folder / "t.parquet")):
        blocks = RowBlocks.from_parquet(path, target="y", weight="w", batch_rows=batch_rows)
        assert blocks.feature_names == NAMES
        assert_same(blocks, *rows, block_rows=batch_rows)


@pytest.mark.parametrize("batch_rows", [7, 100, 65_536])
@pytest.mark.parametrize(
    ("files", "paths"),
    [
        (["d/1.parquet", "d/2.parquet", "d/3.parquet", "d/4.parquet"], "d"),
        (["d/1.parquet", "d/2/0.parquet", "d/2/1.PQ", "d/4.pq"], Path("d")),
        (["d/1.parquet", "d/2.parquet", "d/3.parquet", "d/4.parquet"], "d/[0-9].parquet"),
        (["d/1.parquet", "d/2/0.parquet", "d/2/1/1.parquet", "d/4.parquet"], "d/**/*.parquet"),
        (["1.parquet/0.parquet", "2.parquet", "3.parquet/0.parquet", "4.parquet"], "*.parquet"),
        (["1.parquet", "d/1.parquet", "e/1.parquet", "e/2.parquet"], ["e/*", "1.parquet", Path("d")]),
        (["1", "2", "3", "4"], ["4", "3", "1", "2"]),
        (["[a]1.parquet", "[a]2.parquet", "[a]3.parquet", "[a]4.parquet"], [f"[a]{part}.parquet" for part in (1, 2, 3, 4)]),
    ],
    ids=["folder", "nested", "pattern", "recursive", "folders-by-pattern", "list", "no-endings", "brackets"],
)
def test_rows_come_in_the_order_of_paths(folder, rows, files, paths, batch_rows):
    write_parts(table_of(*rows), files)
    blocks = RowBlocks.from_parquet(paths, target="y", weight="w", batch_rows=batch_rows)
    for _ in range(2):
        assert_same(blocks, *rows, block_rows=batch_rows)


def test_files_that_are_no_data_are_left_out(folder, rows):
    X, y, _ = rows
    write(table_of(X, y), "d/part-0.parquet")
    for name in ("_SUCCESS", "_metadata", ".part.parquet.crc", "notes.txt", "_delta_log/1.parquet", ".old/1.parquet", "_x.parquet"):
        Path("d", name).parent.mkdir(exist_ok=True)
        Path("d", name).write_bytes(b"no data")
    assert_same(RowBlocks.from_parquet("d", target="y"), X, y)
    assert_same(RowBlocks.from_parquet("d/**/*.parquet", target="y"), X, y)


def test_links_to_folders_are_followed(folder, rows):
    X, y, _ = rows
    write(table_of(X, y), "elsewhere/1.parquet")
    Path("d").mkdir()
    Path("d/link").symlink_to(folder / "elsewhere")
    assert_same(RowBlocks.from_parquet("d", target="y"), X, y)


def test_the_home_folder_is_known(folder, rows, monkeypatch):
    X, y, _ = rows
    write(table_of(X, y), "1.parquet")
    monkeypatch.setenv("HOME", str(folder))
    assert_same(RowBlocks.from_parquet("~/1.parquet", target="y"), X, y)


@pytest.mark.parametrize("paths", [["a.parquet", "./a.parquet"], ["a.parquet", "*.parquet"], ["a.parquet", "link.parquet"]])
def test_a_file_given_twice_is_refused(folder, rows, paths):
    write(table_of(*rows), "a.parquet")
    Path("link.parquet").symlink_to("a.parquet")
    with pytest.raises(ValueError, match=r"\.parquet is given twice, so its rows would count twice"):
        RowBlocks.from_parquet(paths, target="y")


@pytest.mark.parametrize(
    ("paths", "kind", "message"),
    [
        ("no.parquet", FileNotFoundError, r"^no\.parquet does not exist\.$"),
        (Path("no/at/all"), FileNotFoundError, "^no/at/all does not exist"),
        ("s3://bucket/x.parquet", FileNotFoundError, r"^s3://bucket/x\.parquet does not exist\. Only local files .*from_arrow"),
        ("missing*.parquet", FileNotFoundError, r"^nothing matches the pattern missing\*\.parquet"),
        ("empty", FileNotFoundError, r"^empty is a folder without Parquet files: no name in it ends in \.parquet or \.pq"),
        (["good.parquet", "empty"], FileNotFoundError, "^empty is a folder"),
        ([], ValueError, "paths is an empty list"),
        ("", TypeError, "paths must be a path, a pattern, or a list of them, got ''"),
        (3, TypeError, "paths must be a path, a pattern, or a list of them, got 3"),
        (["good.parquet", None], TypeError, "got None"),
        (b"good.parquet", TypeError, "got b'good.parquet'"),
        ("zero.parquet", ValueError, r"^zero\.parquet cannot be read as Parquet: .*0 bytes"),
        ("csv.parquet", ValueError, r"^csv\.parquet cannot be read as Parquet: .*magic bytes"),
        ("cut.parquet", ValueError, r"^cut\.parquet cannot be read as Parquet"),
        (["good.parquet", "cut.parquet"], ValueError, r"^cut\.parquet cannot be read as Parquet"),
        ("none.parquet", ValueError, r"^none\.parquet has no rows\.$"),
        (["none.parquet", "void.parquet"], ValueError, r"^none\.parquet and all other files have no rows\.$"),
    ],
)
def test_paths_that_give_no_rows(folder, rows, paths, kind, message):
    write(table_of(*rows), "good.parquet")
    write(table_of(*rows).slice(0, 0), "none.parquet")
    write(pa.table({"other": pa.array([], pa.string())}), "void.parquet")
    Path("empty").mkdir()
    Path("empty/notes.txt").touch()
    Path("zero.parquet").touch()
    Path("csv.parquet").write_text("a,y\n1,2\n")
    Path("cut.parquet").write_bytes(Path("good.parquet").read_bytes()[:-40])
    with pytest.raises(kind, match=message) as error:
        RowBlocks.from_parquet(paths, target="y")
    assert "\n" not in str(error.value)


def test_files_and_row_groups_without_rows_are_skipped(folder, rows):
    X, y, _ = rows
    table = table_of(X, y)
    write(pa.table({"other": pa.array([], pa.string())}), "d/0.parquet")
    with pq.ParquetWriter("d/1.parquet", table.schema) as writer:
        for start, n_rows in ((0, 0), (0, 100), (100, 0), (100, N - 100), (0, 0)):
            writer.write_table(table.slice(start, n_rows))
    assert_same(RowBlocks.from_parquet("d", target="y", batch_rows=60), X, y, block_rows=60)


# Hive keys -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def hive(folder, rows):
    """Files by year and a flag, and the rows in their order with these two columns."""
    X, y, _ = rows
    table, kept = table_of(X, y), []
    parts = [(year, flag) for year in (2019, 2020) for flag in ("false", "true")]
    for place, (year, flag) in enumerate(parts):
        part = slice(100 * place, 100 * place + 100)
        write(table.slice(part.start, 100), f"d/year={year}/flag={flag}/0.parquet")
        kept.append(np.c_[X[part], np.full(100, year), np.full(100, flag == "true")])
    return np.concatenate(kept), y[:400]


@pytest.mark.parametrize("paths", ["d", "d/*", "d/year=*/*/0.parquet", "d/**/*.parquet", ["d/year=2020*", "d/*2019"]])
def test_hive_keys_become_columns(hive, paths):
    X, y = hive
    blocks = RowBlocks.from_parquet(paths, target="y", batch_rows=70)
    assert blocks.feature_names == (*NAMES, "year", "flag")
    assert_same(blocks, X, y, block_rows=70)
    assert_same(RowBlocks.from_parquet(paths, target="c", features=["year", "b"], weight="flag"), X[:, [3, 1]], X[:, 2], X[:, 4])


def test_only_keys_may_be_read(hive):
    X, _ = hive
    assert_same(RowBlocks.from_parquet("d", target="year", features=["flag"], batch_rows=70), X[:, 4:], X[:, 3], block_rows=70)


def test_keys_above_what_was_given_are_no_columns(hive):
    assert RowBlocks.from_parquet("d/year=2019", target="y").feature_names == (*NAMES, "flag")
    assert RowBlocks.from_parquet("d/year=2019/flag=true/*.parquet", target="y").feature_names == NAMES
    assert RowBlocks.from_parquet("d/year=2019/flag=true/0.parquet", target="y").feature_names == NAMES


def test_keys_come_before_columns_of_the_same_name(folder):
    write(pa.table({"k": ["text"], "y": [1.0], "a b": [5.0]}), "d/k=-1.5e3/a%20b=2/0.parquet")
    assert_same(RowBlocks.from_parquet("d", target="y"), np.array([[-1500.0, 2.0]]), np.array([1.0]))


@pytest.mark.parametrize(
    ("value", "kind"), [("DE", "string"), ("nan", "string"), ("1_000", "string"), ("__HIVE_DEFAULT_PARTITION__", "null")]
)
def test_keys_without_numbers_are_named(folder, value, kind):
    write(pa.table({"x": [1.0], "y": [1.0]}), f"d/k={value}/0.parquet")
    with pytest.raises(ValueError, match=rf"^d/k={value}/0\.parquet: column 'k' is of type {kind}, but numbers are needed"):
        RowBlocks.from_parquet("d", target="y")
    assert len(list(RowBlocks.from_parquet("d", target="y", features=["x"]))) == 1


# Columns of several files ----------------------------------------------------------------------------------------------


def test_files_may_have_other_columns_in_another_order(folder, rows):
    X, y, _ = rows
    table = table_of(X, y)
    write(table.slice(0, 100), "1.parquet")
    write(table.slice(100).select(["y", "c", "b", "a"]).append_column("text", [["more"] * (N - 100)]), "2.parquet")
    assert_same(RowBlocks.from_parquet("*.parquet", target="y"), X, y)


def test_a_file_that_lacks_a_column_is_named(folder, rows):
    table = table_of(*rows[:2])
    write(table, "1.parquet")
    write(table.drop_columns("b"), "2.parquet")
    with pytest.raises(ValueError, match=r"^2\.parquet has no column 'b'\. Its columns are 'a', 'c', 'y'\."):
        RowBlocks.from_parquet("*.parquet", target="y")


def test_a_file_with_text_in_a_column_is_named(folder):
    write(pa.table({"x": [1.0], "y": [1.0]}), "1.parquet")
    write(pa.table({"x": ["1.0"], "y": [1.0]}), "2.parquet")
    with pytest.raises(ValueError, match=r"^2\.parquet: column 'x' is of type string"):
        RowBlocks.from_parquet("*.parquet", target="y")


@pytest.mark.parametrize("types", [(np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float32)])
def test_single_precision_stays_if_all_files_have_it(folder, types):
    for number, kind in enumerate(types):
        write(pa.table({"x": np.array([0.1, 0.2], dtype=kind), "y": [1.0, 2.0]}), f"{number}.parquet")
    expected = np.concatenate([np.array([0.1, 0.2], dtype=kind) for kind in types])[:, None]
    for batch_rows in (2, 3):
        blocks = RowBlocks.from_parquet("*.parquet", target="y", batch_rows=batch_rows)
        assert_same(blocks, expected, np.array([1.0, 2.0, 1.0, 2.0]), block_rows=batch_rows)


def test_a_missing_value_is_named_with_its_file_and_row(folder, rows):
    X, y, _ = rows
    write(table_of(X, y), "1.parquet")
    X[[321, 400], 1] = np.nan
    write(table_of(X, y), "2.parquet", row_group_size=100)
    for batch_rows in (1, 64, 65_536):
        with pytest.raises(ValueError, match=r"^2\.parquet: column 'b' is NaN in row 321, counted from 0"):
            list(RowBlocks.from_parquet(["1.parquet", "2.parquet"], target="y", batch_rows=batch_rows))


def test_the_index_of_a_data_frame_is_no_feature(folder):
    pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=[7, 5]).to_parquet("1.parquet")
    assert_same(RowBlocks.from_parquet("1.parquet", target="y"), np.array([[1.0], [2.0]]), np.array([3.0, 4.0]))


def test_dots_in_names_are_no_paths(folder):
    write(pa.table({"x": [1.0], "x.y": [2.0], "y": [3.0]}), "1.parquet")
    assert_same(RowBlocks.from_parquet("1.parquet", target="y", features=["x"]), np.array([[1.0]]), np.array([3.0]))
    assert_same(RowBlocks.from_parquet("1.parquet", target="y", features=["x.y"]), np.array([[2.0]]), np.array([3.0]))


# What is read ----------------------------------------------------------------------------------------------------------


def test_columns_that_are_not_needed_are_not_read(folder, rows):
    """The bytes of column b are destroyed, which only those notice who read them."""
    X, y, _ = rows
    write(table_of(X, y), "1.parquet", compression="none", use_dictionary=False)
    chunk = pq.read_metadata("1.parquet").row_group(0).column(1)
    assert chunk.path_in_schema == "b"
    content = bytearray(Path("1.parquet").read_bytes())
    start = chunk.data_page_offset
    content[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    Path("1.parquet").write_bytes(content)
    assert_same(RowBlocks.from_parquet("1.parquet", target="y", features=["c", "a"]), X[:, [2, 0]], y)
    with pytest.raises(ValueError, match=r"^1\.parquet cannot be read as Parquet"):
        list(RowBlocks.from_parquet("1.parquet", target="y"))


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_file_is_one_error_or_rows(folder, seed):
    rng = np.random.default_rng(seed)
    write(pa.table({"x": np.arange(30.0), "y": np.arange(30.0)}), "whole.parquet")
    whole = Path("whole.parquet").read_bytes()
    messages = []
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 4):
            damaged[place] = rng.integers(256)
        Path("damaged.parquet").write_bytes(damaged)
        try:
            list(RowBlocks.from_parquet("damaged.parquet", target="y", features=["x"]))
        except ValueError as error:
            messages.append(str(error))
    assert messages
    for message in messages:
        assert re.match(r"damaged\.parquet|(X|y) |column", message), message  # the last two: finite numbers that are too large
        assert "\n" not in message
        assert len(message) < 600


def test_a_file_that_claims_too_much_memory_is_named(folder, rows, monkeypatch):
    def refuse(*args, **options):
        raise pa.ArrowMemoryError("malloc of size 10**15 failed")

    write(table_of(*rows[:2]), "1.parquet")
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", refuse)
    with pytest.raises(MemoryError, match=r"^1\.parquet is damaged or needs too much memory: malloc"):
        list(RowBlocks.from_parquet("1.parquet", target="y"))


@pytest.mark.parametrize("group_rows", [2000, 10**6], ids=["many-row-groups", "one-row-group"])
@pytest.mark.parametrize("n_files", [1, 4])
def test_memory_does_not_grow_with_rows(folder, group_rows, n_files):
    def peak(n):
        for number in range(n_files):
            part = table_of(*made_rows(n // n_files)[:2])
            write(part, f"{n}/{number}.parquet", row_group_size=group_rows, data_page_size=2**16, use_dictionary=False)
        del part
        blocks = RowBlocks.from_parquet(str(n), target="y", batch_rows=2000)
        gc.collect()
        before = pa.total_allocated_bytes()
        tracemalloc.start()
        of_arrow = max(pa.total_allocated_bytes() - before for _ in blocks)
        _, of_arrays = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        gc.collect()
        assert pa.total_allocated_bytes() <= before
        return of_arrow, of_arrays

    peak(1000)  # what is allocated once
    few, many = peak(40_000), peak(320_000)
    assert many[0] < 1.1 * few[0]
    assert many[1] < few[1] + 2**17  # the arrays of all rows take 80 times as much


def open_files():
    """The files of this process that are open, but for the folder that is being listed."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:
            continue
    return {name for name in found if name.endswith(".parquet")}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are listed in /proc on Linux only")
def test_no_file_stays_open(folder, rows):
    X, y, _ = rows
    write_parts(table_of(X, y), ["1.parquet", "2.parquet", "3.parquet", "4.parquet"])
    blocks = RowBlocks.from_parquet("*.parquet", target="y", batch_rows=10)
    assert not open_files()
    reading = iter(blocks)
    for _ in range(10):
        next(reading)
    assert len(open_files()) == 1
    reading.close()
    assert not open_files()
    list(blocks)
    assert not open_files()
    X[450, 0] = np.nan
    write(table_of(X, y), "5.parquet")
    with pytest.raises(ValueError, match="NaN"):
        list(RowBlocks.from_parquet("5.parquet", target="y"))
    assert not open_files()


# Files that change -----------------------------------------------------------------------------------------------------


def touch(path):
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000))


def grow(path):
    status = path.stat()
    pq.write_table(pa.concat_tables([pq.read_table(path)] * 2), path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("change", [touch, grow, Path.unlink])
def test_a_file_that_changes_between_passes_is_named(folder, rows, change):
    table = table_of(*rows[:2])
    for name in ("1.parquet", "2.parquet"):
        write(table, name)
    blocks = RowBlocks.from_parquet("*.parquet", target="y")
    assert sum(len(part.X) for part in blocks) == 2 * N
    change(Path("2.parquet"))
    with pytest.raises(ValueError, match=r"^2\.parquet has changed or was removed since .* Call RowBlocks\.from_parquet and"):
        list(blocks)


def test_a_file_that_changes_during_a_pass_is_named(folder, rows):
    write(table_of(*rows[:2]), "1.parquet")
    reading = iter(RowBlocks.from_parquet("1.parquet", target="y", batch_rows=100))
    next(reading)
    touch(Path("1.parquet"))
    with pytest.raises(ValueError, match=r"^1\.parquet has changed"):
        list(reading)


def test_files_that_come_later_are_not_read(folder, rows):
    X, y, _ = rows
    write(table_of(X, y), "d/1.parquet")
    blocks = RowBlocks.from_parquet("d", target="y")
    write(table_of(X, y), "d/2.parquet")
    assert_same(blocks, X, y)


# Models ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_a_model_is_that_of_the_arrays(folder, rows, moments):
    X, y, weights = rows
    write_parts(table_of(*rows), [f"d/{number}.parquet" for number in range(4)])
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=X[:20]), moments=moments)
    model.fit(RowBlocks.from_parquet("d", target="y", weight="w", batch_rows=64))
    assert list(model.feature_names_in_) == list(NAMES)
    found = model.predict(pd.DataFrame(X, columns=list(NAMES)), return_std=True)
    expected = model.fit(RowBlocks.from_arrays(X, y, weights, block_rows=64)).predict(X, return_std=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_model_of_several_targets(folder, rows):
    X, y, _ = rows
    write(table_of(X, y), "1.parquet")
    blocks = RowBlocks.from_parquet("1.parquet", target=["y", "c"], features=["a", "b"], batch_rows=64)
    model = RelevanceVectorRegressor("passthrough").fit(blocks)
    found = model.predict(pd.DataFrame(X[:, :2], columns=["a", "b"]))
    expected = RelevanceVectorRegressor("passthrough").fit(RowBlocks.from_arrays(X[:, :2], np.c_[y, X[:, 2]], block_rows=64))
    assert found.shape == (N, 2)
    np.testing.assert_allclose(found, expected.predict(X[:, :2]), rtol=1e-12, atol=1e-12)


def test_row_blocks_of_files_can_be_pickled(folder, rows):
    X, y, _ = rows
    write(table_of(X, y), "1.parquet")
    blocks = RowBlocks.from_parquet("1.parquet", target="y", batch_rows=64)
    assert_equal_blocks(pickle.loads(pickle.dumps(blocks)), blocks)


def test_bytes_that_changed_inside_a_file_are_found_by_their_checksum(tmp_path):
    values = np.random.default_rng(0).normal(size=1000)
    table = pa.table({"a": values, "y": values})
    pq.write_table(table, tmp_path / "0.parquet", compression="none", use_dictionary=False, write_page_checksum=True)
    content = bytearray((tmp_path / "0.parquet").read_bytes())
    place = content.index(values[500].tobytes())
    content[place : place + 8] = np.float64(np.nan).tobytes()
    (tmp_path / "0.parquet").write_bytes(content)
    with pytest.raises(ValueError, match=r"0\.parquet cannot be read as Parquet: .*[Cc]hecksum"):
        list(RowBlocks.from_parquet(tmp_path, target="y"))

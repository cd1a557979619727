"""Tables from files: what cannot be read without a doubt is refused, and the message says where and what would do."""

import gzip
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skarce.datasets import content
from skarce.datasets.tables import TableError, TableFile, read_table
from skarce.datasets.training import TargetKind, inputs, recognize_target, training_data

REFUSED = {
    "one field more in all rows": ("a,b,y\n1,2,3,4\n5,6,7,8\n", ["line 2 has more fields than the header: 4 instead of 3"]),
    "an empty field more in all rows": ("a,y\n1,2,\n3,4,\n", ["line 2 has more fields", "3 instead of 2"]),
    "one field more in one row": ("a,y\n1,2\n3,4,5\n6,7\n", ["line 3 has more fields", "quote texts that hold commas"]),
    "one field less": ("a,b,y\n1,2,3\n\n4,5\n", ["line 4 has fewer fields", "2 instead of 3", "'a', 'b', 'y'"]),
    "decimal commas": ("a,y\n1,5,2,5\n", ["line 2 has more fields", "decimals with a point"]),
    "semicolons": ("a;y\n1,5;2\n", ["'a;y'", "semicolons", "commas"]),
    "tabs": ("a\ty\n1\t2\n", ["tabs"]),
    "duplicate names": ("a,b,a\n1,2,3\n", ["more than one column named 'a'"]),
    "no name": ("a,,y\n1,2,3\n", ["column 2 has no name"]),
    "blank name": ("a, ,y\n1,2,3\n", ["column 2 has no name"]),
    "only a header": ("a,y\n", ["no rows"]),
    "NUL in the header": ("a\0,y\n1,2\n", ["NUL", "line 1"]),
    "NUL in a row": ("a,y\n1,2\n3,\0\n", ["NUL", "line 3"]),
    "open quote": ('a,y\n1,2\n"3,4\n5,6\n', ["quote that opens in line 3 is never closed"]),
    "open quote in the last row": ('a,y\n1,2\n3,"4\n', ["quote that opens in line 3 is never closed"]),
    "huge field": ('a,y\n1,2\n"' + 200_000 * "x", ["after line 2", "never closed"]),
    "JSON": ('[{"a": 1, "y": 2}]', ["JSON"]),
    "BOM and more": ("\ufeffa,y\n1,2,3\n", ["line 2 has more fields"]),
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(text, name="bad.csv"):
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return Path(name)


@pytest.mark.parametrize(("text", "mentions"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_not_a_table_is_refused(text, mentions):
    with pytest.raises(TableError) as refused:
        read_table(written(text))
    for mention in mentions:
        assert mention in str(refused.value)
    assert str(refused.value).startswith("bad.csv")


@pytest.mark.parametrize(
    ("raw", "mention"),
    [
        (b"a,y\n1,2\n\xe9,3\n", "byte 0xe9 in line 3"),
        ("a,y\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"PAR1rest", "name that ends in .parquet"),
        (gzip.compress(b"a,y\n1,2\n", mtime=0), "name that ends in .gz"),
        (b"PK\x03\x04rest", "spreadsheet"),
    ],
)
def test_other_formats_are_recognized(raw, mention):
    with pytest.raises(TableError, match=mention):
        read_table(written(raw))


@pytest.mark.parametrize(
    "text", ["a,y\r1,2\r3,4\r", "a,y\r\n1,2\r\n3,4", "\ufeffa,y\n1,2\n3,4\n", "\na, y\n\n1, 2\n3,4\n\n", '"a","y"\n1,2\n3,4\n']
)
def test_line_ends_and_marks_of_all_systems_are_read(text):
    frame = read_table(written(text)).frame
    assert frame.to_dict("list") == {"a": [1, 3], "y": [2, 4]}
    assert TableFile(Path("bad.csv"), text.encode()).verbatim().to_dict("list") == {"a": ["1", "3"], "y": ["2", "4"]}


def test_a_table_that_is_too_large_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(content, "LARGEST", 1000)
    with pytest.raises(TableError, match="use fewer rows"):
        read_table(written(gzip.compress(b"a,y\n" + b"1,2\n" * 100_000), "bomb.csv.gz"))


def test_a_column_of_numbers_with_commas_is_refused():
    table = read_table(written('a,y\n"1,5",1\n"2,5",2\n"-3,25",4\n'))
    with pytest.raises(TableError, match=r"commas in its numbers, such as '1,5'; write 1\.5"):
        training_data(table, "y")
    with pytest.raises(TableError, match=r"write 1\.5, not 1,5"):
        training_data(table, "a", TargetKind.NUMBERS)


UNUSABLE = {
    "dates": (lambda n: pd.date_range("2020-01-01", periods=n), "holds dates"),
    "dates with a zone": (lambda n: pd.date_range("2020-01-01", periods=n, tz="UTC"), "holds dates"),
    "days": (lambda n: list(pd.date_range("2020-01-01", periods=n).date), "holds dates"),
    "durations": (lambda n: pd.to_timedelta(np.arange(n), unit="s"), "holds times"),
    "lists": (lambda n: [[1, 2]] * n, "holds lists"),
    "dictionaries": (lambda n: [{"a": 1}] * n, "holds lists or other objects"),
    "bytes": (lambda n: [b"x"] * n, "holds lists or other objects"),
    "categories of dates": (lambda n: pd.Categorical(pd.date_range("2020-01-01", periods=n)), "holds dates"),
}


@pytest.mark.parametrize(("make", "mention"), UNUSABLE.values(), ids=list(UNUSABLE))
@pytest.mark.parametrize("kind", [None, *TargetKind])
def test_dates_and_objects_are_refused_everywhere(make, mention, kind):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"x": [1.0, 2.0] * 6, "odd": make(12)}).to_parquet("odd.parquet")
    table = read_table(Path("odd.parquet"))
    with pytest.raises(TableError, match=mention):
        training_data(table, "odd", kind)
    with pytest.raises(TableError, match=mention):
        training_data(table, "x", kind)
    for kind_of_input in ("number", "text"):
        with pytest.raises(TableError, match=mention):
            inputs(table, {"odd": kind_of_input})


def test_infinite_labels_are_refused():
    table = read_table(written("a,y\n1,1\n2,1\n3,inf\n4,inf\n"))
    with pytest.raises(TableError, match="line 4"):
        training_data(table, "y", TargetKind.CLASSES)


def test_missing_values_do_not_hide_the_kind_of_a_target():
    assert recognize_target(read_table(written("a,y\n1,u\n2,v\n3,\n4,u\n5,v\n")), "y") is TargetKind.CLASSES


@pytest.mark.parametrize("seed", range(5))
def test_damaged_parquet_is_one_error(seed):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(seed)
    pd.DataFrame({"x": np.arange(30.0), "t": ["a", "b"] * 15}).to_parquet("whole.parquet")
    whole = Path("whole.parquet").read_bytes()
    for _ in range(40):
        damaged = bytearray(whole)
        for place in rng.integers(4, len(whole), 3):
            damaged[place] = rng.integers(256)
        with suppress(TableError):  # nothing else may come out
            read_table(written(bytes(damaged), "damaged.parquet"))

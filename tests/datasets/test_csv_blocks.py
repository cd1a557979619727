"""CSV files in blocks: the same rows as the whole file, with the lines in which they begin."""

import gzip

import numpy as np
import pandas as pd
import pytest

from skarce.datasets.content import read_content
from skarce.datasets.csv_blocks import csv_header, csv_parts
from skarce.datasets.tables import TableError, TableFile, read_table

TEXT = 'name,size,note\n"Bonn, north",1.5,"two\nlines"\n\nKiel, 2.25,x\r\n"a ""b""",3,\'\n  \nUlm,4e3,end'


@pytest.fixture(params=["plain", "gzipped", "with a mark"])
def path(request, tmp_path):
    content = TEXT.encode("utf-8-sig" if request.param == "with a mark" else "utf-8")
    path = tmp_path / ("t.csv.gz" if request.param == "gzipped" else "t.csv")
    path.write_bytes(gzip.compress(content) if request.param == "gzipped" else content)
    return path


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 100])
def test_blocks_are_the_rows_of_the_file_at_their_lines(path, n_rows):
    whole = read_table(path)
    parts = list(csv_parts(path, n_rows))
    tables = [part.table() for part in parts]
    assert csv_header(path) == list(whole.frame)
    assert [len(table.frame) for table in tables[:-1]] == [n_rows] * (len(tables) - 1)
    pd.testing.assert_frame_equal(pd.concat([table.frame for table in tables], ignore_index=True), whole.frame)
    places = [table.place(row) for table in tables for row in range(len(table.frame))]
    assert places == [whole.place(row) for row in range(len(whole.frame))] == ["line 2", "line 5", "line 6", "line 8"]
    verbatim = pd.concat([part.verbatim() for part in parts], ignore_index=True)
    pd.testing.assert_frame_equal(verbatim, TableFile(path, read_content(path)).verbatim())


@pytest.mark.parametrize("skip", [0, 1, 3, 4, 9])
def test_rows_can_be_skipped(path, skip):
    rows = [name for part in csv_parts(path, 2, skip) for name in part.table().frame["name"]]
    assert rows == read_table(path).frame["name"].tolist()[skip:]


def test_columns_can_be_read_as_text(path):
    (part,) = csv_parts(path, 10)
    assert part.table(["size", "not there"]).frame["size"].tolist() == ["1.5", "2.25", "3", "4e3"]


def test_numbers_are_those_of_the_whole_file(tmp_path):
    values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(500).clip(0, 80)
    pd.DataFrame({"x": values, "y": 1}).to_csv(tmp_path / "t.csv", index=False)
    found = np.concatenate([part.table().frame["x"] for part in csv_parts(tmp_path / "t.csv", 64)])
    np.testing.assert_array_equal(found, read_table(tmp_path / "t.csv").frame["x"])


WRONG = {
    "": "empty",
    "a,b\n1\n": "line 2 has fewer fields",
    "a,b\n1,2\n1,2,3\n": "line 3 has more fields",
    "a,a\n1,2\n": "more than one column",
    "a;b\n1;2\n": "separated by semicolons",
    'a,b\n1,2\n"1,2\n': "a quote that opens in line 3 is never closed",
    "a,b\n1,2\n1,\0\n": "NUL character in line 3",
    '[{"a": 1}]': "JSON",
    "PAR1": "Parquet",
}


@pytest.mark.parametrize(("text", "mention"), WRONG.items())
def test_what_is_no_table_is_said_as_for_the_whole_file(tmp_path, text, mention):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=mention) as found:
        [part.table() for part in csv_parts(path, 2)]
    with pytest.raises(TableError) as wanted:
        read_table(path)
    assert str(found.value) == str(wanted.value)


def test_a_quote_that_is_never_closed_does_not_fill_the_memory(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n1,2\n"1' + 300_000 * "2,2\n")
    with pytest.raises(TableError, match="is there a quote that is never closed"):
        [part.table() for part in csv_parts(tmp_path / "t.csv", 2)]

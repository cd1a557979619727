"""Tables that commands read: CSV, gzip, Parquet, and files with faults."""

import gzip
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.commands import assert_one_line, rows_of, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


def test_compare_reads_parquet(houses):
    pytest.importorskip("pyarrow")
    houses.to_parquet("houses.parquet")
    by_csv = run("compare", "houses.csv", "--target", "price", "--methods", "ridge")
    by_parquet = run("compare", "houses.parquet", "--target", "price", "--methods", "ridge")
    assert rows_of(by_csv.stdout)["ridge"].split()[:6] == rows_of(by_parquet.stdout)["ridge"].split()[:6]


def test_gzipped_tables_are_read_and_written(houses, model):
    houses.to_csv("houses.csv.gz", index=False)
    assert Path("houses.csv.gz").read_bytes()[:2] == b"\x1f\x8b"
    fitted = [run("fit", name, "--target", "price", "--out", "x.skops").stdout for name in ("houses.csv", "houses.csv.gz")]
    assert fitted[0] == fitted[1]
    assert run("compare", "houses.csv.gz", "--target", "price", "--methods", "ridge").exit_code == 0
    plain, gzipped = (run("predict", model, name).stdout for name in ("houses.csv", "houses.csv.gz"))
    assert plain == gzipped
    assert run("predict", model, "houses.csv.gz", "--out", "predicted.csv.gz").exit_code == 0
    assert gzip.decompress(Path("predicted.csv.gz").read_bytes()).decode() == plain


def test_gzipped_tables_that_are_none_or_broken(houses):
    houses.loc[7, "price"] = np.nan
    houses.to_csv("gap.csv.gz", index=False)
    assert_one_line(run("fit", "gap.csv.gz", "--target", "price"), "column 'price' has 1 missing value, in line 9")
    Path("plain.csv.gz").write_text("x,y\n1,2\n")
    assert_one_line(run("fit", "plain.csv.gz", "--target", "y"), "plain.csv.gz cannot be read: Not a gzipped file")
    Path("half.csv.gz").write_bytes(Path("gap.csv.gz").read_bytes()[:200])
    assert_one_line(run("fit", "half.csv.gz", "--target", "y"), "half.csv.gz is not a complete gzip file")


BAD_TABLES = {
    "empty": ("", ["is empty"]),
    "blank lines": ("\n\n\n", ["is empty"]),
    "no rows": ("a,y\n", ["no rows"]),
    "close column": ("a,yy\n1,2\n2,3\n", ["no column 'y'", "'yy'"]),
    "unknown column": ("a,height\n1,2\n2,3\n", ["no column 'y'", "'a', 'height'"]),
    "text in the target": ("a,y\n1,2\n2,many\n3,few\n", ["'y'", "line 3", "'many'"]),
    "blank lines count": ("a,y\n\n1,2\n\n2,many\n", ["line 5", "'many'"]),
    "quoted line breaks count": ('a,y\n"x\nz",2\nu,many\n', ["line 4", "'many'"]),
    "missing number": ("a,y\n1,2\n,3\n4,5\nNA,6\n", ["'a'", "2 missing values", "line 3", "--missing drop", "--missing fill"]),
    "missing text": ("a,y\nu,2\nv,3\n,5\n", ["'a'", "1 missing value,", "line 4"]),
    "missing target": ("a,y\n1,2\n2,\n", ["'y'", "1 missing value,", "line 3"]),
    "short row": ("a,b,y\n1,2,3\n1,2\n", ["'y'", "line 3"]),
    "constant target": ("a,y\n1,7\n2,7\n", ["'y'", "same in all rows", "7"]),
    "only column": ("y\n1\n2\n", ["'y'", "only column"]),
    "infinite input": ("a,y\n1,2\n2,3\n-inf,4\n", ["'a'", "infinite", "line 4", "which --missing drop leaves out"]),
    "infinite target": ("a,y\n1,inf\n2,3\n", ["'y'", "infinite", "line 2"]),
    "too large to square": ("a,y\n1,2\n1e200,3\n", ["'a'", "1e+150", "line 3"]),
    "duplicate names": ("a,b,a,y\n1,2,3,4\n", ["Error: bad.csv has more than one column named 'a'"]),
    "long row": ("a,y\n1,2\n1,2,3\n", ["CSV", "line 3"]),
    "long rows": ("a,y\n1,2,3\n1,2,4\n", ["more fields"]),
}


@pytest.mark.parametrize("command", ["fit", "compare"])
@pytest.mark.parametrize(("content", "mentions"), BAD_TABLES.values(), ids=list(BAD_TABLES))
def test_a_bad_table_is_one_line_that_says_where(command, content, mentions, tmp_path):
    (tmp_path / "bad.csv").write_text(content)
    output = {"fit": "--out", "compare": "--json"}[command]
    assert_one_line(run(command, "bad.csv", "--target", "y", output, "result"), *mentions)
    assert os.listdir() == ["bad.csv"]


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_file_that_is_not_there(command):
    assert_one_line(run(command, "no.csv", "--target", "y"), "no.csv does not exist")
    assert_one_line(run(command, "no.parquet", "--target", "y"), "no.parquet does not exist")


def test_files_that_are_no_tables(tmp_path):
    (tmp_path / "image.csv").write_bytes(b"\x89PNG\xff\xfe\x00")
    (tmp_path / "broken.parquet").write_text("a,y\n1,2\n")
    assert_one_line(run("fit", "image.csv", "--target", "y"), "image.csv")
    (tmp_path / "folder").mkdir()
    assert_one_line(run("fit", "folder", "--target", "y"), "folder without Parquet files")
    pytest.importorskip("pyarrow")
    assert_one_line(run("fit", "broken.parquet", "--target", "y"), "Parquet")


def test_parquet_without_pyarrow_says_what_to_install(houses, monkeypatch, tmp_path):
    (tmp_path / "houses.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "fastparquet", None)
    assert_one_line(run("fit", "houses.parquet", "--target", "price"), "pyarrow", "skarce[parquet]")


def test_dates_are_refused_as_inputs(houses):
    pytest.importorskip("pyarrow")
    houses.assign(sold=pd.Timestamp("2020-01-01")).to_parquet("dates.parquet")
    assert_one_line(run("fit", "dates.parquet", "--target", "price"), "'sold'", "datetime")


def test_a_typo_in_a_column_of_numbers_is_noted(houses):
    sizes = houses["size"].astype(str)
    houses.assign(size=sizes.where(houses.index != 6, "12,5")).to_csv("typo.csv", index=False)
    result = run("fit", "typo.csv", "--target", "price")
    assert result.exit_code == 0
    assert "'size' is treated as text, because 1 of its 90 values is not a number: '12,5' in line 8" in result.stderr


def test_a_wrong_option_is_one_line(houses):
    assert_one_line(run("fit", "houses.csv"), "--target")
    assert_one_line(run("compare", "--cv", "1"), "--cv")
    assert_one_line(run("boost"), "boost")

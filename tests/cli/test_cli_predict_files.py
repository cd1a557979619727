"""`skarce predict` on several files, folders and patterns, and on more rows than one block."""

import os
import tracemalloc
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skarce.cli.streamed import files
from skarce.datasets.tables import read_table
from tests.cli.commands import N_ROWS, assert_one_line, run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def parts(model, houses, monkeypatch):
    """Three files of each format, of which one has no rows, in blocks of at most 7 rows."""
    monkeypatch.setattr(files, "BLOCK_ROWS", 7)
    os.mkdir("parts")
    for number, rows in enumerate([slice(0, 17), slice(17, 17), slice(17, N_ROWS)]):
        houses[rows].to_parquet(f"parts/{number}.parquet", row_group_size=5)
        houses[rows].to_csv(f"part{number}.csv", index=False)
    houses.to_parquet("all.parquet")
    return houses


def predicted(*arguments, out="p.csv"):
    result = run("predict", "houses.skops", *arguments, "--out", out)
    assert result.exit_code == 0, result.output
    return result


def whole(monkeypatch, data, *options):
    """What is predicted if all rows are one block."""
    with monkeypatch.context() as patch:
        patch.setattr(files, "BLOCK_ROWS", 65_536)
        predicted(data, *options, out="whole.csv")
    return pd.read_csv("whole.csv")


WAYS = [
    (["parts"], ["--std", "augmented"]),
    (["parts/*.parquet"], ["--interval", "0.9"]),
    (["part1.csv", "part2.csv", "part0.csv"], ["--interval", "0.9"]),
    (["part*.csv"], []),
]


@pytest.mark.parametrize(("data", "options"), WAYS)
def test_several_files_are_predicted_like_one_table(parts, monkeypatch, data, options):
    wanted = whole(monkeypatch, "houses.csv", *options)
    predicted(*data, *options)
    found = pd.read_csv("p.csv")
    assert list(found) == list(wanted)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)
    shown = run("predict", "houses.skops", *data, *options)
    assert shown.stdout == Path("p.csv").read_text()


def test_gzipped_output_is_that_of_one_block(parts, monkeypatch):
    wanted = whole(monkeypatch, "houses.csv")
    predicted("houses.csv", out="p.csv.gz")
    pd.testing.assert_frame_equal(pd.read_csv("p.csv.gz"), wanted, rtol=1e-12)


def test_the_fields_of_csv_files_stay_as_they_are(parts, houses):
    texts = houses.astype(str)
    texts["code"] = [f"{number:05d}" for number in range(N_ROWS)]
    texts.iloc[:50].to_csv("a.csv", index=False)
    texts.iloc[50:][texts.columns[::-1]].to_csv("b.csv", index=False)
    predicted("a.csv", "b.csv")
    found = pd.read_csv("p.csv", dtype=str)
    pd.testing.assert_frame_equal(found[list(texts)], texts)


def test_parquet_output_has_the_types_of_its_input(parts, monkeypatch):
    wanted = whole(monkeypatch, "all.parquet", "--interval", "0.9")
    table = pa.Table.from_pandas(parts, preserve_index=False)
    price = pa.array([None if number % 3 else Decimal(number) for number in range(N_ROWS)], pa.decimal128(9, 2))
    table = table.append_column("limit", price).append_column(
        "town again", pa.array(parts["town"], pa.string()).dictionary_encode()
    )
    pq.write_table(table, "types.parquet", row_group_size=11)
    predicted("types.parquet", "--interval", "0.9", out="p.parquet")
    found = pq.read_table("p.parquet")
    same = found.select(table.column_names)
    assert same.schema.equals(table.schema.remove_metadata())
    assert same.to_pydict() == table.to_pydict()
    added = list(wanted)[-4:]
    assert added == ["price_mean", "price_std", "price_lower", "price_upper"]
    np.testing.assert_allclose(found.select(added).to_pandas(), wanted[added], rtol=1e-9)


def test_whole_numbers_stay_whole_if_some_are_missing(parts):
    table = pa.Table.from_pandas(parts, preserve_index=False)
    pq.write_table(table.append_column("id", pa.array([*range(20), *[None] * 10, *range(60)])), "ids.parquet")
    predicted("ids.parquet")
    found = pd.read_csv("p.csv", dtype=str, keep_default_na=False)["id"].tolist()
    assert found == [*map(str, range(20)), *[""] * 10, *map(str, range(60))]


def test_keys_of_folders_are_columns_of_the_output(parts):
    for town, rows in parts.groupby("town"):
        os.makedirs(f"hive/town={town}")
        rows.drop(columns="town").to_parquet(f"hive/town={town}/0.parquet")
    for out, read in (("p.csv", pd.read_csv), ("p.parquet", pd.read_parquet)):
        predicted("hive", out=out)
        assert read(out)["town"].value_counts().to_dict() == parts["town"].value_counts().to_dict()


def test_keys_of_a_file_that_is_named_are_explained(parts):
    os.makedirs("hive/year=2020/town=Bonn")
    parts.drop(columns="town").to_parquet("hive/year=2020/town=Bonn/0.parquet")
    parts.drop(columns="town").to_csv("hive/year=2020/town=Bonn/0.csv", index=False)
    path = "hive/year=2020/town=Bonn/0.parquet"
    result = run("predict", "houses.skops", path, "--out", "p.csv")
    pattern = "hive/year=2020/town=*/0.parquet"
    assert_one_line(result, f"{path} lacks 'town'", "The path has values of 'town'", "the folder hive/year=2020", f'"{pattern}"')
    predicted("hive/year=2020")
    predicted(pattern)
    csv = run("predict", "houses.skops", path.replace("parquet", "csv"), "--out", "p.csv")
    assert_one_line(csv, "lacks 'town', which the model needs.")
    assert "folder" not in csv.stderr


def test_new_texts_are_counted_over_all_blocks(parts):
    parts.assign(town=parts["town"].where(parts.index % 10 != 0, "Rom")).to_csv("new.csv", index=False)
    result = predicted("new.csv")
    assert "column 'town' has text that the model has not seen: 'Rom' (9 rows of 90)" in result.stderr
    assert result.stderr.count("Note: ") == 1


@pytest.mark.usefixtures("no_collection")
def test_memory_does_not_grow_with_the_rows(parts, monkeypatch):
    monkeypatch.setattr(files, "BLOCK_ROWS", 200)
    peaks = []
    for n_copies in (5, 5, 40):  # the first one also pays for what is imported
        pd.concat([parts] * n_copies).to_parquet("many.parquet", index=False)
        tracemalloc.start()
        predicted("many.parquet", out="many_p.parquet")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.5 * peaks[1]


# What is refused ------------------------------------------------------------------------------------------------------------------


def test_a_file_that_fails_late_leaves_no_output(parts):
    parts.assign(age=parts["age"].astype(object).where(parts.index != 80, "old")).to_csv("late.csv", index=False)
    for out in ("p.csv", "p.csv.gz"):
        assert_one_line(run("predict", "houses.skops", "late.csv", "--out", out), "late.csv", "line 82", "'old'")
        assert not Path(out).exists()
    assert not list(Path().glob(".skarce-*"))


def test_files_that_cannot_be_predicted_together_are_refused(parts):
    parts.drop(columns="age").to_csv("narrow.csv", index=False)
    parts.assign(age=parts["age"].astype(float) + 0.5).to_parquet("parts/9.parquet")
    for data, mentions in (
        (["houses.csv", "narrow.csv"], ["narrow.csv has no column 'age'"]),
        (["narrow.csv"], ["narrow.csv lacks 'age'"]),
        (["houses.csv", "all.parquet"], ["one format"]),
        (["houses.csv", "houses.csv"], ["given twice"]),
        (["no*.csv"], ["nothing matches the pattern no*.csv"]),
        (["part1.csv"], ["there are no rows in part1.csv"]),
    ):
        assert_one_line(run("predict", "houses.skops", *data, "--out", "p.csv"), *mentions)
    assert_one_line(run("predict", "houses.skops", "houses.csv", "--out", "p.parquet"), "CSV data are written as CSV")
    assert_one_line(run("predict", "houses.skops", "parts", "--out", "p.parquet"), "9.parquet has columns of other types")
    assert_one_line(run("predict", "houses.skops", "parts", "--out", "parts/0.parquet"), "is an input")


# Decimals -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("data", "how"), [("decimals.parquet", "--no-stream"), ("decimals*.parquet", "--stream")])
def test_decimals_are_numbers(parts, data, how):
    table = pa.Table.from_pandas(parts, preserve_index=False)
    for name in ("size", "price"):
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.decimal128(20, 12), safe=False))
    pq.write_table(table, "decimals.parquet")
    fitting = ("--target", "price", "--centers", "20", "--gamma", "0.2", how)
    for rows, out in ((data, "d.skops"), ("houses.csv", "w.skops")):
        result = run("fit", rows, *fitting, "--out", out)
        assert result.exit_code == 0, result.output
        assert run("predict", out, rows, "--out", f"{out}.csv").exit_code == 0
    found, wanted = (read_table(Path(f"{name}.skops.csv")).frame["price_mean"] for name in ("d", "w"))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)

"""Rows of Arrow data: the columns, their values, and streams that are opened again."""

import gc
import sys
import tracemalloc
import warnings
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import PolynomialFeatures

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorRegressor, VBLSRegressor
from skarce.designs import RowBlocks
from tests.designs.arrow_tables import NAMES, N, assert_same, made_rows, pa, table_of

KINDS = [*(pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64())]
KINDS += [pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.decimal128(9, 2), pa.decimal256(40, 3)]
VALUES = [1, 0, 1, 1]


def column(kind):
    if "decimal" in str(kind):
        return pa.array([Decimal(value) for value in VALUES]).cast(kind)
    return pa.array(np.array(VALUES, dtype=kind.to_pandas_dtype()))


# What streams give -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_rows", [1, 64, 125, N, 65_536])
@pytest.mark.parametrize("chunk_rows", [1, 7, 125, N])
def test_blocks_do_not_depend_on_the_batches_of_the_stream(batch_rows, chunk_rows):
    X, y, weights = made_rows()
    table = table_of(X, y, weights)
    blocks = RowBlocks.from_arrow(lambda: table.to_reader(chunk_rows), target="y", weight="w", batch_rows=batch_rows)
    for _ in range(2):
        assert_same(blocks, X, y, weights, block_rows=batch_rows)


@pytest.mark.parametrize("given", ["table", "record batch", "pandas", "function", "batches of no rows"])
def test_sources_that_can_be_read_again(given):
    if given == "pandas" and not hasattr(pd.DataFrame, "__arrow_c_stream__"):
        pytest.skip("pandas has this interface since 2.2")
    X, y, _ = made_rows()
    table = table_of(X, y)
    empty = pa.RecordBatch.from_pylist([], schema=table.schema)
    source = {
        "table": table,
        "record batch": table.to_batches()[0],
        "pandas": pd.DataFrame(np.c_[X, y], columns=[*NAMES, "y"]),
        "function": lambda: table,
        "batches of no rows": pa.Table.from_batches([empty, *table.to_batches(), empty]),
    }[given]
    blocks = RowBlocks.from_arrow(source, target="y", batch_rows=64)
    assert blocks.feature_names == NAMES
    assert_same(blocks, X, y, block_rows=64)
    assert_same(blocks, X, y, block_rows=64)


def test_polars_frames_are_taken():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    X, y, _ = made_rows()
    frame = polars.DataFrame({**dict(zip(NAMES, X.T, strict=True)), "y": y})
    assert_same(RowBlocks.from_arrow(frame, target="y"), X, y)
    assert_same(RowBlocks.from_arrow(lambda: frame.lazy().collect(), target="y"), X, y)


def test_relations_of_duckdb_are_taken():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    X, y, _ = made_rows()
    connection = duckdb.connect()
    connection.register("rows", table_of(X, y))
    assert_same(RowBlocks.from_arrow(lambda: connection.sql("select * from rows"), target="y"), X, y)


def test_a_large_batch_is_converted_a_few_rows_at_a_time():
    def peak(n):
        table = table_of(*made_rows(n)[:2]).combine_chunks()
        blocks = RowBlocks.from_arrow(table, target="y", batch_rows=500)
        gc.collect()
        tracemalloc.start()
        for _ in blocks:
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1000)  # what is allocated once
    assert peak(80_000) < peak(10_000) + 2**17  # the arrays of all rows take 20 times as much


def test_a_model_is_that_of_the_arrays():
    X, y, weights = made_rows()
    basis = KernelBasis(gamma=0.5, centers=X[:20])
    stream = RowBlocks.from_arrow(table_of(X, y, weights), target="y", weight="w", batch_rows=64)
    found = RelevanceVectorRegressor(basis).fit(stream)
    expected = RelevanceVectorRegressor(basis).fit(RowBlocks.from_arrays(X, y, weights, block_rows=64))
    np.testing.assert_allclose(found._mean(X[:50]), expected._mean(X[:50]), rtol=1e-12)


# Columns ---------------------------------------------------------------------------------------------------------------


def test_columns_are_chosen_by_name_and_in_order():
    X, y, weights = made_rows()
    table = table_of(X, y, weights, text=["never read"] * N)
    blocks = RowBlocks.from_arrow(table, target="y", features=["c", "a"])
    assert blocks.feature_names == ("c", "a")
    assert_same(blocks, X[:, [2, 0]], y)
    assert_same(RowBlocks.from_arrow(table, target=["y", "b"], features=["a"], weight="w"), X[:, :1], np.c_[y, X[:, 1]], weights)
    assert_same(RowBlocks.from_arrow(table, target=["y"], features=np.array(["a"])), X[:, :1], y)
    assert RowBlocks.from_arrow(table.drop_columns("text"), target="y").feature_names == ("w", *NAMES)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_numbers_of_every_kind(kind):
    table = pa.table({"x": column(kind), "y": column(kind), "w": column(kind)})
    numbers = np.array(VALUES, dtype=np.float32 if kind == pa.float32() else np.float64)
    assert_same(RowBlocks.from_arrow(table, target="y", weight="w"), numbers[:, None], numbers, numbers)


def test_decimals_and_wide_numbers_keep_their_digits():
    table = pa.table({"x": [Decimal("0.1"), Decimal("-12345678.9")], "i": [2**53, -(2**53)], "y": [0.0, 1.0]})
    X = np.array([[0.1, 2.0**53], [-12345678.9, -(2.0**53)]])
    assert_same(RowBlocks.from_arrow(table, target="y"), X, np.array([0.0, 1.0]))


def test_single_precision_stays_only_if_all_features_have_it():
    X, y, _ = made_rows()
    table = table_of(X.astype(np.float32), y)
    assert_same(RowBlocks.from_arrow(table, target="y"), X.astype(np.float32), y)
    mixed = table.append_column("i", pa.array(np.ones(N, dtype=np.int8)))
    assert_same(RowBlocks.from_arrow(mixed, target="y"), np.c_[X.astype(np.float32).astype(np.float64), np.ones(N)], y)
    assert_same(RowBlocks.from_arrow(mixed, target="y", features=["b"]), X[:, [1]].astype(np.float32), y)


def test_the_index_of_a_data_frame_is_no_feature():
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=pd.Index([7, 5], name="id"))
    table = pa.Table.from_pandas(frame)
    assert RowBlocks.from_arrow(table, target="y").feature_names == ("x",)
    assert RowBlocks.from_arrow(table, target="y", features=["id", "x"]).feature_names == ("id", "x")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["u", "v"], "string"),
        (pa.array(["u", "v"]).dictionary_encode(), "dictionary<values=string"),
        (pa.array([1.0, 2.0]).dictionary_encode(), "dictionary<values=double"),
        ([[1.0], [2.0]], "list<"),
        ([{"q": 1}, {"q": 2}], "struct<"),
        ([None, None], "null"),
        ([b"1", b"2"], "binary"),
    ],
)
def test_columns_without_numbers_are_named(values, kind):
    table = pa.table({"x": [1.0, 2.0], "odd": values, "y": [1.0, 2.0]})
    with pytest.raises(ValueError, match=rf"column 'odd' is of type {kind}.* by features=\[...\], or encode it as numbers\.$"):
        RowBlocks.from_arrow(table, target="y")
    for target in (["odd"],) if "string" in kind else ("odd", ["odd"]):  # one target may be text: labels
        with pytest.raises(ValueError, match=rf"column 'odd' is of type {kind}.*needed; encode it as numbers\.$"):
            RowBlocks.from_arrow(table, target=target, features=["x"])
    assert RowBlocks.from_arrow(table, target="y", features=["x"]).feature_names == ("x",)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_labels_may_be_text(kind):
    X, y, weights = made_rows()
    labels = np.where(y > np.median(y), "high", np.where(X[:, 0] > 0, "low", "very low"))
    table = table_of(X, y, weights).drop_columns("y").append_column("label", pa.array(labels).cast(kind))
    blocks = RowBlocks.from_arrow(lambda: table.to_reader(99), target="label", weight="w", batch_rows=64)
    found = RelevanceVectorClassifier("passthrough").fit(blocks)
    expected = RelevanceVectorClassifier("passthrough").fit(RowBlocks.from_arrays(X, labels, weights, block_rows=64))
    numbers = np.unique(labels, return_inverse=True)[1]
    by_number = RelevanceVectorClassifier("passthrough").fit(RowBlocks.from_arrays(X, numbers, weights, block_rows=64))
    assert found.classes_.tolist() == ["high", "low", "very low"]
    for other in (expected, by_number):
        np.testing.assert_allclose(found.predict_proba(pd.DataFrame(X[:50], columns=NAMES)), other.predict_proba(X[:50]), rtol=1e-9)


def test_labels_that_are_missing_are_named():
    table = pa.table({"x": [1.0, 2.0, 3.0], "label": ["a", None, "b"]})
    with pytest.raises(ValueError, match="column 'label' is null in row 1, counted from 0"):
        RelevanceVectorClassifier("passthrough").fit(RowBlocks.from_arrow(table, target="label"))


def test_a_regressor_refuses_text():
    blocks = RowBlocks.from_arrow(pa.table({"x": [1.0, 2.0], "label": ["a", "b"]}), target="label")
    with pytest.raises(ValueError, match=r"y of row block 0 must hold numbers.*'a'"):
        RelevanceVectorRegressor("passthrough").fit(blocks)


def test_a_target_that_turns_to_numbers_is_refused():
    streams = iter([pa.table({"x": [1.0], "y": ["1"]}), pa.table({"x": [1.0], "y": [1.0]})])
    with pytest.raises(ValueError, match=r"column 'y' holds numbers, but it was text before\. Write labels in the same way"):
        list(RowBlocks.from_arrow(lambda: next(streams), target="y"))


def test_datasets_are_read_by_their_scanner(tmp_path):
    from pyarrow import dataset, parquet

    X, y, _ = made_rows()
    parquet.write_table(table_of(X, y), tmp_path / "0.parquet")
    rows = dataset.dataset(tmp_path)
    for source in (rows, lambda: rows):
        with pytest.raises(TypeError, match=r"For a dataset, pass lambda: dataset\.scanner\(\)\.to_reader\(\)\.$"):
            RowBlocks.from_arrow(source, target="y")
    assert_same(RowBlocks.from_arrow(lambda: rows.scanner().to_reader(), target="y"), X, y)


def test_dates_are_named():
    table = pa.table({"day": [date(2020, 1, 1)], "y": [1.0]})
    with pytest.raises(ValueError, match=r"column 'day' is of type date32\[day\].* such as days since the first one"):
        RowBlocks.from_arrow(table, target="y")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, r"^the Arrow stream has no column 'z'\. Its columns are 'a', 'b', 'c', 'y'\.$"),
        ({"target": "y", "features": ["a", "bb"]}, r"no column 'bb'.* Did you mean 'b'\?"),
        ({"target": "y", "weight": "w"}, "no column 'w'"),
        ({"target": "y", "features": ["a", "y"]}, "column 'y' is named 2 times in target, features and weight"),
        ({"target": ["y", "y"]}, "column 'y' is named 2 times"),
        ({"target": "y", "weight": "y"}, "column 'y' is named 2 times"),
        ({"target": ["a", "b", "c", "y"]}, "no columns for features"),
        ({"target": "y", "batch_rows": 0}, "batch_rows must be a whole number of at least 1, got 0"),
    ],
)
def test_wrong_names_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RowBlocks.from_arrow(table_of(*made_rows()[:2]), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": None}, "target must be the name of a column, or a list of names, got None"),
        ({"target": []}, "target must be"),
        ({"target": "y", "features": "a"}, "features must be None or a list of names, got 'a'"),
        ({"target": "y", "features": []}, "features must be"),
        ({"target": "y", "features": {"a", "b"}}, "features must be"),
        ({"target": "y", "features": ["a", 1]}, "features must be"),
        ({"target": "y", "weight": ["a"]}, r"weight must be None or the name of a column, got \['a'\]"),
    ],
)
def test_names_of_a_wrong_kind_are_refused(options, message):
    with pytest.raises(TypeError, match=message):
        RowBlocks.from_arrow(table_of(*made_rows()[:2]), **options)


def test_a_target_that_is_not_there_is_said_before_texts_among_the_others():
    table = pa.table({"color": ["red", "blue"], "a": [1.0, 2.0], "y": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"has no column 'Y'\. Its columns are 'color', 'a', 'y'\."):
        RowBlocks.from_arrow(table, target="Y")


def test_blocks_say_their_number_of_features():
    blocks = RowBlocks.from_arrow(table_of(*made_rows()[:2]), target="y")
    assert repr(blocks) == "RowBlocks(an unknown number of rows, 3 features)"


def test_a_name_of_two_columns_is_refused():
    table = pa.table([[1.0], [2.0], [3.0]], names=["a", "a", "y"])
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        RowBlocks.from_arrow(table, target="y")


# Values ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["a", "y", "w"])
@pytest.mark.parametrize(("value", "word"), [(None, "null"), (np.nan, "NaN"), (-np.inf, "infinite")])
def test_values_that_are_missing_are_named_with_their_row(role, value, word):
    table = table_of(*made_rows())
    values = table[role].to_pylist()
    values[390] = values[400] = value
    table = table.set_column(table.schema.get_field_index(role), role, pa.array(values, pa.float64()))
    blocks = RowBlocks.from_arrow(lambda: table.to_reader(100), target="y", weight="w", batch_rows=64)
    with pytest.raises(ValueError, match=rf"^the Arrow stream: column '{role}' is {word} in row 390, counted from 0\. Fill in"):
        list(blocks)


def test_nulls_of_whole_numbers_and_of_unused_columns():
    table = pa.table({"i": [1, None], "y": [1.0, 2.0], "x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="column 'i' is null in row 1"):
        list(RowBlocks.from_arrow(table, target="y"))
    assert len(list(RowBlocks.from_arrow(table, target="y", features=["x"]))) == 1


# Sources ---------------------------------------------------------------------------------------------------------------


def test_a_reader_that_can_be_read_once_is_refused():
    table = table_of(*made_rows()[:2])
    with pytest.raises(TypeError, match=r"open_stream is a RecordBatchReader, which can be read once.* Pass a function"):
        RowBlocks.from_arrow(table.to_reader(), target="y")
    reader = table.to_reader()
    blocks = RowBlocks.from_arrow(lambda: reader, target="y")
    assert len(list(blocks)) == 1
    with pytest.raises(ValueError, match="each call must return a new stream"):
        list(blocks)


@pytest.mark.parametrize("source", [3, "rows.parquet", None, [1.0]])
def test_other_sources_are_refused(source):
    with pytest.raises(TypeError, match=r"open_stream must be a function .* such as a pyarrow.Table; got"):
        RowBlocks.from_arrow(source, target="y")
    with pytest.raises(TypeError, match=r"open_stream must return an object with __arrow_c_stream__, got"):
        RowBlocks.from_arrow(lambda: source, target="y")


def test_a_stream_that_changes_its_columns_is_refused():
    table = table_of(*made_rows()[:2])
    streams = iter([table, table.drop_columns("b")])
    with pytest.raises(ValueError, match="the Arrow stream has no column 'b'"):
        list(RowBlocks.from_arrow(lambda: next(streams), target="y"))


def test_a_stream_that_changes_its_rows_is_refused():
    table = table_of(*made_rows()[:2])
    n_rows = iter([N, N, N - 1, N - 1])  # the first stream is opened for the names of the columns
    with pytest.raises(ValueError, match=rf"gave {N - 1} rows in this pass, but {N} in the one before"):
        RelevanceVectorRegressor("passthrough").fit(RowBlocks.from_arrow(lambda: table.slice(0, next(n_rows)), target="y"))


def test_a_stream_without_rows_is_refused():
    with pytest.raises(ValueError, match="the Arrow stream has no rows"):
        RelevanceVectorRegressor("rbf").fit(RowBlocks.from_arrow(table_of(*made_rows()[:2]).slice(0, 0), target="y"))


@pytest.mark.parametrize("make", [RowBlocks.from_arrow, RowBlocks.from_parquet])
def test_without_pyarrow_the_error_says_what_to_install(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "skarce\[parquet\]"'):
        make(lambda: None, target="y")


# Names of inputs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [RelevanceVectorRegressor("rbf"), RelevanceVectorRegressor(), VBLSRegressor()], ids=str)
def test_models_know_the_names_of_their_inputs(model):
    X, y, _ = made_rows()
    model.fit(RowBlocks.from_arrow(table_of(X, y), target="y", features=["c", "a"]))
    assert list(model.feature_names_in_) == ["c", "a"]
    assert model.n_features_in_ == 2
    frame = pd.DataFrame(X, columns=list(NAMES))
    assert model.predict(frame[["c", "a"]]).shape == (N,)  # without a warning
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["a", "c"]])


def test_transformers_of_others_get_arrays_without_names():
    X, y, _ = made_rows()
    model = RelevanceVectorRegressor(PolynomialFeatures(2)).fit(RowBlocks.from_arrow(table_of(X, y), target="y"))
    assert not hasattr(model, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(X[:3]).shape == (3,)


def test_blocks_of_arrays_have_no_names():
    X, y, _ = made_rows()
    model = RelevanceVectorRegressor("passthrough").fit(RowBlocks.from_arrow(table_of(X, y), target="y"))
    assert list(model.feature_names_in_) == list(NAMES)
    model.fit(RowBlocks.from_arrays(X, y))
    assert not hasattr(model, "feature_names_in_")

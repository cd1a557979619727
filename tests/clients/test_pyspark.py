"""Spark makes the sums of each partition where its rows are, and adds them up in a tree."""

import os
import pickle
import shutil
import sys
from operator import add

import numpy as np
import pandas as pd
import pytest

from skarce import KernelBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.moments import block_sums

N = 1000
NAMES = ["p", "q"]
QUIET = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "70",  # several batches in each partition
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: pip install pyspark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = sql.SparkSession.builder.master("local[2]").config(map=QUIET)
        session = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse"))).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=N)
    return pd.DataFrame(X, columns=NAMES).assign(y=y, w=rng.integers(0, 3, N).astype(float))


@pytest.fixture(scope="module")
def rows(spark, table):
    """Rows in six partitions by three values of a column, so that some partitions are empty."""
    frame = spark.createDataFrame(list(table.itertuples(index=False)), schema="p double, q double, y double, w double")
    return frame.repartition(6, "w")


def sums_by_partition(basis):
    """Return what `mapInPandas` takes. It is defined here, so that it travels to the workers by value."""

    def partition_sums(batches):
        total = sum(block_sums(basis, batch[NAMES], batch["y"], batch["w"]) for batch in batches)
        if total:  # a partition may have no batch
            yield pd.DataFrame({"sums": [pickle.dumps(total)]})

    return partition_sums


def assert_same(found, expected, table):
    np.testing.assert_allclose(found.predict(table[NAMES]), expected.predict(table[NAMES]), rtol=0.0, atol=1e-6)
    assert found.criterion_ == pytest.approx(expected.criterion_, abs=max(expected.tol, 1e-8))
    assert found.n_effective_ == table["w"].sum()


def test_kernels_by_a_tree(rows, table):
    basis = KernelBasis(gamma=2.0, centers=table[NAMES].to_numpy()[:40]).fit(table[NAMES])
    parts = rows.mapInPandas(sums_by_partition(basis), "sums binary")
    total = parts.rdd.map(lambda row: pickle.loads(row.sums)).treeReduce(add)
    found = RelevanceVectorRegressor().fit_moments(basis, total)
    assert list(found.feature_names_in_) == NAMES
    same = KernelBasis(gamma=2.0, centers=basis.centers_)
    expected = RelevanceVectorRegressor(same, moments="whole", calibrate_std=False).fit(table[NAMES], table["y"], table["w"])
    assert_same(found, expected, table)


def test_inputs_without_an_rdd(rows, table):
    """Spark Connect has no RDD: the driver adds up one row of each partition."""
    parts = rows.mapInPandas(sums_by_partition("passthrough"), "sums binary")
    found = VBLSRegressor().fit_moments("passthrough", sum(pickle.loads(row.sums) for row in parts.collect()))
    expected = VBLSRegressor(moments="whole", calibrate_std=False).fit(table[NAMES].to_numpy(), table["y"], table["w"])
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0.0, atol=1e-6)
    assert found.criterion_ == pytest.approx(expected.criterion_, abs=1e-5)


def test_predictions_where_the_rows_are(rows, table):
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=20, random_state=0)).fit(table[NAMES], table["y"])

    def predictions(batches):
        for batch in batches:
            mean, std = model.predict(batch[NAMES], return_std=True)
            yield pd.DataFrame({"p": batch["p"], "mean": mean, "std": std})

    found = rows.mapInPandas(predictions, "p double, mean double, std double").orderBy("p").collect()
    ordered = table.sort_values("p")
    mean, std = model.predict(ordered[NAMES], return_std=True)
    np.testing.assert_allclose([row["mean"] for row in found], mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose([row["std"] for row in found], std, rtol=1e-10)


def test_a_bad_row_is_named(rows):
    def with_a_hole(batches):
        for batch in batches:
            holed = batch.assign(q=batch["q"].where(np.arange(len(batch)) != 3))
            block_sums("passthrough", holed[NAMES], holed["y"])
            yield batch

    with pytest.raises(Exception, match="X must hold finite numbers, got nan in row 3, column 'q'"):
        rows.mapInPandas(with_a_hole, rows.schema).collect()


def test_a_spark_frame_is_not_collected_silently(rows):
    with pytest.raises(TypeError, match=r"X is of type pyspark\.DataFrame.*\.toPandas\(\)"):
        VBLSRegressor().fit(rows, "y")
    with pytest.raises(TypeError, match=r"X is of type pyspark\.DataFrame.*\.toPandas\(\)"):
        block_sums("passthrough", rows, [1.0])

"""Rows that come in blocks."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skarce import (
    JointFactorRegressor,
    KernelDimensionReduction,
    LWPRRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.designs import DeviceRows, RowBlocks


def test_row_blocks_hold_one_block_and_read_a_memory_map(tmp_path, rng):
    n = 20_000
    X = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=(n, 4))
    X[:] = rng.normal(size=(n, 4))
    y = np.memmap(tmp_path / "y", dtype=np.float64, mode="w+", shape=n)
    y[:] = X[:, 0] + rng.normal(size=n)
    sizes = [len(rows.X) for rows in RowBlocks.from_arrays(X, y, block_rows=6000)]
    assert sizes == [6000, 6000, 6000, 2000]
    sample = RowBlocks.from_arrays(X, y, block_rows=999).sample(0, n_rows=500)
    assert (len(sample.X), sample.is_all, sample.n_rows) == (500, False, n)
    assert sample.X.dtype == np.float32


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        (LWPRRegressor(), "Call partial_fit for each block of rows"),
        (JointFactorRegressor(), "a sample of the rows"),
        (KernelDimensionReduction(), "a sample of the rows"),
    ],
)
def test_models_that_need_rows_in_memory_say_so(model, remedy, rng):
    blocks = RowBlocks.from_arrays(rng.normal(size=(50, 3)), rng.normal(size=50), block_rows=20)
    with pytest.raises(TypeError, match=f"^fit of .* takes rows in memory, but X is RowBlocks.*{remedy}"):
        model.fit(blocks)


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("kind", ["R2", "R2 of several targets", "accuracy", "D2"])
def test_the_score_of_blocks_is_that_of_the_rows(kind, has_weights, rng):
    X, weights = rng.normal(size=(150, 3)), rng.integers(0, 4, 150).astype(float) if has_weights else None
    y = X[:, 0] + 0.3 * rng.normal(size=150)
    model, y = {
        "R2": (VBLSRegressor(), y),
        "R2 of several targets": (VBLSRegressor(), np.column_stack([y, X[:, 1] ** 2, np.ones(150)])),
        "accuracy": (RelevanceVectorClassifier("passthrough"), np.where(y > 0.2, "yes", "no")),
        "D2": (RelevanceVectorPoissonRegressor("passthrough"), rng.poisson(np.exp(X[:, 0])).astype(float)),
    }[kind]
    model.fit(X, y)
    assert model.score(RowBlocks.from_arrays(X, y, weights, block_rows=40)) == pytest.approx(model.score(X, y, weights), abs=1e-12)


def test_the_score_of_named_blocks_compares_the_names(rng):
    pa = pytest.importorskip("pyarrow")
    columns = dict(zip("abcy", rng.normal(size=(4, 60)), strict=True))
    table = pa.table(columns)
    blocks = RowBlocks.from_arrow(table, target="y", batch_rows=25)
    model = VBLSRegressor().fit(blocks)
    frame = table.to_pandas()
    assert model.score(blocks) == pytest.approx(model.score(frame[["a", "b", "c"]], frame["y"]), abs=1e-12)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(
        ValueError, match="the row blocks have the columns 'b', 'a', 'c', but the model was fitted on 'a', 'b', 'c'"
    ):
        model.score(RowBlocks.from_arrow(table, target="y", features=["b", "a", "c"]))


def test_scores_of_blocks_that_are_not_defined_say_so(rng):
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    model = VBLSRegressor().fit(X, y)
    blocks = RowBlocks.from_arrays(X, y)
    with pytest.raises(ValueError, match="come from the blocks: do not pass them to score"):
        model.score(blocks, y)
    with pytest.raises(ValueError, match="y is None: pass the targets"):
        model.score(X)
    with pytest.raises(ValueError, match="no rows of positive weight in the row blocks"):
        model.score(RowBlocks.from_arrays(X, y, np.zeros(50)))
    with pytest.raises(ValueError, match="y has 2 targets, but the model predicts 1"):
        model.score(RowBlocks.from_arrays(X, np.column_stack([y, y])))
    with pytest.raises(NotFittedError):
        VBLSRegressor().score(blocks)
    with pytest.raises(TypeError, match="in the memory of the host, got DeviceRows"):
        model.score(DeviceRows(lambda: [(X, y)]))


def test_a_sample_of_a_stream_is_uniform():
    def read():
        for part in range(10):
            yield np.full((1000, 1), float(part)), np.zeros(1000)

    sample = RowBlocks(read).sample(0, n_rows=2000)
    counts = np.bincount(sample.X[:, 0].astype(int), minlength=10)
    assert np.abs(counts - 200).max() < 60


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([(np.zeros((3, 2)), np.zeros(4))], "X of row block 0 has 3 rows, but y has 4"),
        ([np.zeros((3, 2))], r"row block 0 must be \(X, y\)"),
        (
            [(np.ones((3, 2)), np.ones(3)), (np.full((2, 2), np.nan), np.ones(2))],
            "X of row block 1 must hold finite numbers, got nan in row 0, column 0",
        ),
        ([(np.ones((3, 2)), np.ones(3)), (np.ones((2, 3)), np.ones(2))], "row block 1 has 3 inputs"),
        ([(np.ones((3, 2)), np.ones(3), -np.ones(3))], "sample_weight of row block 0 must not be negative, got -1 in row 0"),
        ([], "no rows"),
    ],
)
def test_bad_blocks_are_named(parts, message):
    with pytest.raises(ValueError, match=message):
        RowBlocks(lambda: iter(parts)).sample()
    if len(parts) > 1:
        with pytest.raises(ValueError, match=message):
            list(RowBlocks(lambda: iter(parts)))


def test_row_blocks_want_a_factory():
    with pytest.raises(TypeError, match="from_arrays"):
        RowBlocks([(np.zeros((1, 1)), np.zeros(1))])


@pytest.mark.usefixtures("rows_in_passes")
@pytest.mark.parametrize("model", [RelevanceVectorRegressor("passthrough"), RelevanceVectorClassifier("passthrough")], ids=str)
def test_rows_that_change_between_passes_are_refused(model, rng):
    X, y = rng.normal(size=(100, 2)), np.arange(100.0) % 2
    n_rows = iter([100, 90, 90, 90])

    def read():
        n = next(n_rows)
        yield X[:n], y[:n]

    with pytest.raises(ValueError, match=r"gave 90 rows in this pass, but 100 in the one before\. .* read the same rows again"):
        model.fit(RowBlocks(read))


def test_an_iterator_that_is_used_up_is_refused(rng):
    once = iter([(rng.normal(size=(100, 2)), rng.normal(size=100))])
    with pytest.raises(ValueError, match=r"gave 0 rows in this pass, but 100 in the one before"):
        RelevanceVectorRegressor("passthrough").fit(RowBlocks(lambda: once))


def test_a_pass_that_was_given_up_does_not_count(rng):
    blocks = RowBlocks.from_arrays(rng.normal(size=(100, 2)), rng.normal(size=100), block_rows=30)
    assert len(next(iter(blocks)).X) == 30
    assert sum(len(rows.X) for rows in blocks) == 100


def test_blocks_say_what_they_hold(rng):
    X, y = rng.normal(size=(12_000, 2)), rng.normal(size=12_000)
    blocks = RowBlocks(lambda: [(X, y)])
    assert repr(blocks) == "RowBlocks(an unknown number of rows)"
    list(blocks)
    assert repr(blocks) == "RowBlocks(12,000 rows)"

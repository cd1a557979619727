import tracemalloc

import numpy as np
import pytest
from sklearn import config_context

from skarce import KernelBasis
from skarce._memory import memory_budget
from skarce.designs import InMemoryDesign, RowBlocks
from skarce.designs.choice import Costs, choose_kind
from skarce.moments import Sums


def test_many_rows_and_few_candidates_are_kept_whole_and_the_other_way_by_column():
    assert choose_kind("auto", Costs(1e6, 500, 40.0)) == "whole"
    assert choose_kind("auto", Costs(3000, 3000, 30.0)) == "columns"
    assert choose_kind("auto", Costs(200, 200, 30.0)) == "whole"
    assert choose_kind("columns", Costs(200, 200, 30.0)) == "columns"


def test_columns_that_come_one_by_one_cost_a_pass_each():
    assert choose_kind("auto", Costs(3000, 3000, 30.0, one_by_one=1000)) == "whole"
    assert choose_kind("auto", Costs(3000, 3000, 30.0, one_by_one=100)) == "columns"
    assert choose_kind("auto", Costs(3000, 3000, 30.0, one_by_one=400)) == "whole"
    assert choose_kind("auto", Costs(3000, 3000, 30.0, one_by_one=400, is_symmetric=True)) == "columns"
    # Where Phi is not stored every column evaluates all kernels again.
    assert choose_kind("auto", Costs(1e6, 5000, 30.0, one_by_one=200)) == "whole"
    assert choose_kind("auto", Costs(1e6, 5000, 30.0, one_by_one=50)) == "columns"
    assert choose_kind("auto", Costs(1e4, 500, 30.0, one_by_one=np.inf)) == "whole"


@pytest.mark.parametrize("n_rows", [12, 54, 500])
def test_single_precision_gives_the_gram_of_one_matrix(rng, n_rows):
    """Kernels in single precision are not symmetric to the last digit: columns once belonged to another Phi than the diagonal."""
    X = rng.normal(size=(n_rows, 2)).astype(np.float32)
    gram = InMemoryDesign(KernelBasis("matern52", gamma=0.1).fit(X), X, X[:, :1]).moments("columns", one_by_one=5)[0].gram
    matrix = np.array([gram.column(j) for j in range(n_rows)])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12 * matrix.max())
    np.testing.assert_allclose(matrix.diagonal(), gram.diagonal, rtol=1e-12)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-12 * matrix.max()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gamma", [1e-8, 1e-5, 1e-2, 1.0])
def test_wide_symmetric_kernels_keep_their_digits(rng, gamma, weighted):
    """Columns of Phi'Phi that come one by one are those of explicitly centred columns, relative to their lengths."""
    X = rng.normal(size=(300, 2))
    weights = rng.uniform(0.5, 1e6, 300) if weighted else None
    basis = KernelBasis(gamma=gamma).fit(X)
    gram = InMemoryDesign(basis, X, X[:, :1], weights).moments("columns", one_by_one=10)[0].gram
    weights = np.ones(300) if weights is None else weights
    phi = basis.transform(X)
    phi -= weights @ phi / weights.sum()
    phi *= np.sqrt(weights)[:, None]
    lengths = np.linalg.norm(phi, axis=0)
    for j in (0, 17, 200):
        error = np.abs(gram.column(j) - phi.T @ phi[:, j]) / (lengths * lengths[j])
        assert error.max() < 1e-12
        assert gram.column(j)[j] == pytest.approx(gram.diagonal[j], rel=1e-12)


def test_the_budget_is_scikit_learns_working_memory():
    with config_context(working_memory=64):
        assert memory_budget() == 16 * 2**20
        with pytest.raises(ValueError, match="above the budget of 16 MiB"):
            choose_kind("whole", Costs(1e5, 5000, 30.0))
        assert choose_kind("auto", Costs(1e5, 5000, 30.0)) == "columns"
    with pytest.raises(ValueError, match=r"moments must be one of .* got 'some'"):
        choose_kind("some", Costs(10, 10, 1.0))


def test_streaming_never_holds_the_design_matrix(rng):
    n = 3000
    X = rng.normal(size=(n, 3))
    basis = KernelBasis(gamma=0.5).fit(X)
    with config_context(working_memory=8):
        tracemalloc.start()
        moments = InMemoryDesign(basis, X, X[:, :1]).moments()[0]
        moments.gram.columns(np.arange(5))
        moments.restricted_to(np.arange(0, n, 60))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 0.4 * 8 * n * n


def test_columns_are_computed_once(rng):
    X = rng.normal(size=(600, 2))
    moments = InMemoryDesign(KernelBasis().fit(X), X, X[:, :1]).moments("columns")[0]
    moments.gram.columns(np.array([4, 9]))
    first = moments.gram.column(4)
    moments.gram.columns(np.array([4, 11]))
    assert moments.gram.n_kept == 3
    assert moments.gram.column(4) is first


def test_sums_of_different_candidates_do_not_add():
    with pytest.raises(ValueError, match="same candidates and outputs"):
        Sums.empty(3, 1) + Sums.empty(4, 1)


def test_row_blocks_hold_one_block_and_read_a_memory_map(tmp_path, rng):
    n = 20_000
    X = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=(n, 4))
    X[:] = rng.normal(size=(n, 4))
    y = np.memmap(tmp_path / "y", dtype=np.float64, mode="w+", shape=n)
    y[:] = X[:, 0] + rng.normal(size=n)
    sizes = [len(rows.X) for rows in RowBlocks.from_arrays(X, y, block_rows=6000)]
    assert sizes == [6000, 6000, 6000, 2000]
    sample, is_all, n_rows = RowBlocks.from_arrays(X, y, block_rows=999).sample(0, n_rows=500)
    assert (len(sample.X), is_all, n_rows) == (500, False, n)
    assert sample.X.dtype == np.float32


def test_a_sample_of_a_stream_is_uniform():
    def read():
        for part in range(10):
            yield np.full((1000, 1), float(part)), np.zeros(1000)

    sample, _, _ = RowBlocks(read).sample(0, n_rows=2000)
    counts = np.bincount(sample.X[:, 0].astype(int), minlength=10)
    assert np.abs(counts - 200).max() < 60


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([(np.zeros((3, 2)), np.zeros(4))], "row block 0 has 3 rows of X but 4 of y"),
        ([np.zeros((3, 2))], r"row block 0 must be \(X, y\)"),
        ([(np.ones((3, 2)), np.ones(3)), (np.full((2, 2), np.nan), np.ones(2))], "X of row block 1 contains NaN"),
        ([(np.ones((3, 2)), np.ones(3)), (np.ones((2, 3)), np.ones(2))], "row block 1 has 3 inputs"),
        ([(np.ones((3, 2)), np.ones(3), -np.ones(3))], "negative sample weight"),
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

"""Sums of blocks of rows: those of the textbook, in any order, in any tree, and from any process."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from skarce import KernelBasis, ProcessBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.moments import Sums, block_sums

FIELDS = ("n_samples", "candidate_means", "target_means", "gram", "projections", "target_energies")
N = 60
RNG = np.random.default_rng(0)
X = RNG.normal((0.0, 2.0, -5.0), 1.0, (N, 3))
Y = np.column_stack([np.sin(X[:, 0]) + 0.1 * RNG.normal(size=N), 3.0 * X[:, 1] + 100.0])
WEIGHTS = RNG.integers(0, 4, N) + np.where(np.arange(N) % 5 == 0, 0.5, 0.0)
FRAME = pd.DataFrame(X, columns=["p", "q", "r"])
GAMMA, CENTERS = 0.3, X[:7]

# Each basis with its candidates, written out by hand.
BASES = {
    "passthrough": ("passthrough", X),
    "kernels": (
        KernelBasis(gamma=GAMMA, centers=CENTERS).fit(X),
        np.array([[np.exp(-GAMMA * sum((row[k] - center[k]) ** 2 for k in range(3))) for center in CENTERS] for row in X]),
    ),
    "transformer": (
        PolynomialFeatures(2, include_bias=False).fit(X),
        np.array([[p, q, r, p * p, p * q, p * r, q * q, q * r, r * r] for p, q, r in X]),
    ),
}


class WithoutNames(TransformerMixin, BaseEstimator):
    """A transformer that neither names its columns nor counts its inputs."""

    def fit(self, X, y=None):
        self.is_fitted_ = True
        return self

    def transform(self, X):
        return np.column_stack([np.asarray(X), np.asarray(X)[:, 0] ** 2])


def slow_sums(phi, targets, weights):
    """One row after the other, and one pair of columns after the other."""
    n = sum(weights)
    means = [sum(w * v for w, v in zip(weights, column, strict=True)) / n for column in phi.T]
    target_means = [sum(w * v for w, v in zip(weights, column, strict=True)) / n for column in targets.T]

    def product(left, left_mean, right, right_mean):
        return sum(w * (a - left_mean) * (b - right_mean) for w, a, b in zip(weights, left, right, strict=True))

    gram = [[product(a, m, b, k) for b, k in zip(phi.T, means, strict=True)] for a, m in zip(phi.T, means, strict=True)]
    cross = [[product(a, m, t, k) for t, k in zip(targets.T, target_means, strict=True)] for a, m in zip(phi.T, means, strict=True)]
    energies = [product(t, k, t, k) for t, k in zip(targets.T, target_means, strict=True)]
    return Sums(n, *(np.array(values) for values in (means, target_means, gram, cross, energies)))


def assert_same(found, expected, tol=1e-12):
    for name in FIELDS:
        a, b = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=0.0, atol=tol * np.abs(b).max(), err_msg=name)


def assert_equal(found, expected):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def cut(basis, pieces, weights=WEIGHTS, inputs=X):
    """Return the sums of consecutive pieces of the rows."""
    return [block_sums(basis, inputs[rows], Y[rows], None if weights is None else weights[rows]) for rows in pieces]


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("name", BASES)
def test_sums_are_those_of_the_textbook(name, n_outputs, has_weights):
    basis, phi = BASES[name]
    targets = Y[:, :n_outputs]
    found = block_sums(basis, X, targets[:, 0] if n_outputs == 1 else targets, WEIGHTS if has_weights else None)
    assert_same(found, slow_sums(phi, targets, WEIGHTS if has_weights else np.ones(N)))


@pytest.mark.parametrize("name", BASES)
def test_one_row_at_a_time_and_blocks_without_rows(name):
    basis, phi = BASES[name]
    expected = slow_sums(phi, Y, WEIGHTS)
    assert_same(sum(cut(basis, np.arange(N)[:, None])), expected)
    pieces = [slice(0, 0), slice(0, 0), slice(0, 20), slice(20, 20), slice(20, N), slice(N, N)]
    parts = cut(basis, pieces)
    assert [part.n_samples > 0.0 for part in parts] == [False, False, True, False, True, False]
    assert_same(sum(parts), expected)


@pytest.mark.parametrize("name", BASES)
def test_any_order_and_any_tree_give_the_same(name):
    basis, phi = BASES[name]
    parts = cut(basis, np.array_split(np.arange(N), 11))
    expected = slow_sums(phi, Y, WEIGHTS)
    rng = np.random.default_rng(1)
    for _ in range(20):
        tree = [parts[place] for place in rng.permutation(len(parts))]
        while len(tree) > 1:
            left = tree.pop(rng.integers(len(tree)))
            right = tree.pop(rng.integers(len(tree)))
            tree.append(left + right)
        assert_same(tree[0], expected)
    assert_same(Sums.total(parts), expected)


def test_the_total_is_of_any_iterable_but_not_of_nothing():
    basis, phi = BASES["kernels"]
    assert_same(Sums.total(part for part in cut(basis, np.array_split(np.arange(N), 3))), slow_sums(phi, Y, WEIGHTS))
    with pytest.raises(ValueError, match=r"^parts must have the sums of at least one block, got \[\]\.$"):
        Sums.total([])


def test_parts_stay_as_they_are():
    parts = cut("passthrough", np.array_split(np.arange(N), 3))
    before = [pickle.dumps(part) for part in parts]
    sum(parts)
    assert [pickle.dumps(part) for part in parts] == before
    inputs, targets = X.copy(), Y.copy()
    block_sums("passthrough", inputs, targets, WEIGHTS)
    np.testing.assert_array_equal(inputs, X)
    np.testing.assert_array_equal(targets, Y)


def test_the_order_of_a_matrix_in_memory_does_not_matter():
    """A matrix in the order of Fortran lost what different means add to it."""
    left, right = cut("passthrough", [slice(0, 20), slice(20, N)])
    expected = left + right
    left.gram = np.asfortranarray(left.gram)
    assert_same(left + right, expected)
    assert_same(right + left, expected)


def test_large_means_lose_no_digits():
    """A sum of squares less the square of a sum would leave nothing of the variance."""
    far = X + 1e8
    expected = slow_sums(far - far[0], Y, np.ones(N))
    found = sum(cut("passthrough", np.arange(N)[:, None], weights=None, inputs=far))
    np.testing.assert_allclose(found.gram, expected.gram, rtol=0.0, atol=1e-6 * np.abs(expected.gram).max())


def test_rows_of_weight_zero_do_not_count():
    basis, _ = BASES["kernels"]
    kept = WEIGHTS > 0.0
    assert_same(block_sums(basis, X, Y, WEIGHTS), block_sums(basis, X[kept], Y[kept], WEIGHTS[kept]))
    assert block_sums(basis, X, Y, np.zeros(N)).n_samples == 0.0


def test_weight_two_is_the_row_twice():
    basis, _ = BASES["kernels"]
    once = block_sums(basis, X, Y)
    assert_same(block_sums(basis, X, Y, np.full(N, 2.0)), once + once)


def test_single_precision_is_summed_in_double():
    single = X.astype(np.float32)
    for name in ("passthrough", "kernels"):
        basis, _ = BASES[name]
        found = block_sums(basis, single, Y, WEIGHTS)
        assert {np.asarray(getattr(found, field)).dtype for field in FIELDS} == {np.dtype(np.float64)}
        assert_same(found, block_sums(basis, single.astype(np.float64), Y, WEIGHTS), tol=1e-12 if name == "passthrough" else 1e-6)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix])
def test_sparse_inputs_have_the_sums_of_dense_ones(form):
    dense = np.where(np.random.default_rng(2).random((N, 3)) < 0.3, X, 0.0)
    expected = slow_sums(dense, Y, WEIGHTS)
    assert_same(block_sums("passthrough", form(dense), Y, WEIGHTS), expected)
    rows = [block_sums("passthrough", form(dense[k : k + 1]), Y[k : k + 1], WEIGHTS[k : k + 1]) for k in range(N)]
    assert_same(sum(rows) + block_sums("passthrough", form(dense[:0]), Y[:0]), expected)


def test_frames_lists_and_numbers_of_other_types():
    expected = block_sums("passthrough", X, Y[:, 0], WEIGHTS)
    basis = KernelBasis(gamma=GAMMA, centers=CENTERS).fit(FRAME)
    assert_same(block_sums("passthrough", FRAME, pd.Series(Y[:, 0]), pd.Series(WEIGHTS)), expected)
    assert_same(block_sums("passthrough", X.tolist(), Y[:, 0].tolist(), WEIGHTS.tolist()), expected)
    assert_same(block_sums(basis, FRAME, Y), block_sums(BASES["kernels"][0], X, Y))
    whole = np.arange(12).reshape(6, 2)
    assert_same(block_sums("passthrough", whole, whole[:, 0]), block_sums("passthrough", whole.astype(float), whole[:, 0]))


def test_tables_with_text_go_through_a_transformer():
    table = FRAME.assign(kind=np.array(["a", "b", "c"])[np.arange(N) % 3])
    basis = make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["p", "q"])).fit(table)
    expected = slow_sums(np.asarray(basis.transform(table)), Y, WEIGHTS)
    pieces = [slice(0, 1), slice(1, 1), slice(1, N)]
    assert_same(sum(block_sums(basis, table[rows], Y[rows], WEIGHTS[rows]) for rows in pieces), expected)


@pytest.mark.parametrize(
    "basis", [ProcessBasis(gamma=0.5), make_pipeline(StandardScaler(), PolynomialFeatures(2)), WithoutNames()], ids=str
)
def test_empty_blocks_of_transformers(basis):
    basis.fit(X)
    empty = block_sums(basis, X[:0], Y[:0])
    assert empty.n_samples == 0.0
    assert_equal(empty + block_sums(basis, X, Y), block_sums(basis, X, Y))


# Other processes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BASES)
def test_sums_survive_a_pickle_exactly(name):
    sums = block_sums(BASES[name][0], X, Y, WEIGHTS)
    again = pickle.loads(pickle.dumps(sums))
    assert type(again) is Sums
    assert_equal(again, sums)
    assert_equal(again + sums, sums + sums)


def test_sums_travel_as_arrays(tmp_path):
    """A pickle of a stranger may run code, and arrays do not."""
    sums = block_sums(BASES["kernels"][0], X, Y, WEIGHTS)
    np.savez(tmp_path / "sums.npz", **vars(sums))
    with np.load(tmp_path / "sums.npz", allow_pickle=False) as arrays:
        again = Sums(**arrays)
    assert_equal(again, sums)
    assert_equal(again + again, sums + sums)
    basis = BASES["kernels"][0]
    models = [RelevanceVectorRegressor().fit_moments(basis, some) for some in (again, sums)]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))


def block_of_process(number):
    """The sums of one of 8 blocks. Each block has rows of its own, made where it is summed up."""
    rng = np.random.default_rng(number)
    x = rng.uniform(0.0, 10.0, (500 + number, 1))
    centers = np.linspace(0.0, 10.0, 40)[:, None]
    basis = KernelBasis(gamma=1.0, centers=centers).fit(centers)
    return block_sums(basis, x, np.sin(x[:, 0]) + 0.1 * rng.normal(size=len(x)), rng.integers(0, 3, len(x)))


def test_two_processes_give_the_same_bits_as_one():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(block_of_process, range(8)))
    here = [block_of_process(number) for number in range(8)]
    for part, expected in zip(parts, here, strict=True):
        assert_equal(part, expected)
    assert_equal(sum(parts), sum(here))
    centers = np.linspace(0.0, 10.0, 40)[:, None]
    basis = KernelBasis(gamma=1.0, centers=centers).fit(centers)
    model, same = (RelevanceVectorRegressor().fit_moments(basis, sum(some)) for some in (parts, here))
    queries = np.linspace(1.0, 9.0, 30)[:, None]
    np.testing.assert_array_equal(model.predict(queries), same.predict(queries))
    np.testing.assert_allclose(model.predict(queries), np.sin(queries[:, 0]), atol=0.05)


# Errors ----------------------------------------------------------------------------------------------------------------------


def with_value(values, place, value):
    changed = values.copy()
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": with_value(X, (7, 2), np.nan)}, r"X must hold finite numbers, got nan in row 7, column 2\."),
        ({"X": sparse.csr_array(with_value(X, (7, 2), np.inf))}, r"X must hold finite numbers, got inf in row 7, column 2\."),
        ({"y": with_value(Y[:, 0], 3, -np.inf)}, r"y must hold finite numbers, got -inf in row 3\."),
        ({"y": with_value(Y, (3, 1), np.nan)}, r"y must hold finite numbers, got nan in row 3, column 1\."),
        ({"sample_weight": with_value(WEIGHTS, 4, np.nan)}, r"sample_weight must hold finite numbers, got nan in row 4\."),
        ({"sample_weight": with_value(WEIGHTS, 4, -1.0)}, "sample_weight must not be negative, got -1 in row 4"),
        ({"sample_weight": WEIGHTS[:-1]}, r"X has 60 rows, but sample_weight has shape \(59,\)"),
        ({"y": Y[:-1]}, "X has 60 rows, but y has 59"),
        ({"y": 1.0}, "y must have a target for each row, got one number"),
        ({"y": Y[:, 0] * 1e160}, "y has a largest absolute value"),
        ({"X": X * 1e70}, "column 0 of X has a largest absolute value"),
        ({"X": X[:, 0]}, "Expected 2D array"),
        ({"y": ["a"] * N}, "y must hold numbers"),
        ({"basis": "rbf"}, r'basis must be "passthrough" or a fitted transformer, such as KernelBasis.*got \'rbf\''),
        ({"basis": BASES["kernels"][0], "X": X[:, :2]}, "X has 2 features, but KernelBasis is expecting 3 features"),
    ],
)
def test_wrong_data_are_named(change, message):
    given = {"basis": "passthrough", "X": X, "y": Y[:, 0], "sample_weight": WEIGHTS, **change}
    with pytest.raises(ValueError, match=message):
        block_sums(**given)


def test_columns_of_other_names_are_refused():
    for basis in (KernelBasis(gamma=GAMMA, centers=CENTERS).fit(FRAME), PolynomialFeatures(2).fit(FRAME)):
        with pytest.raises(ValueError, match="in the same order as they were in fit"):
            block_sums(basis, FRAME[["q", "p", "r"]], Y)


def test_a_basis_must_be_fitted():
    for basis in (KernelBasis(), PolynomialFeatures()):
        with pytest.raises(NotFittedError):
            block_sums(basis, X, Y)
    for basis in (None, KernelBasis, 3):
        with pytest.raises(TypeError, match="basis must be"):
            block_sums(basis, X, Y)


def test_kernels_refuse_sparse_inputs():
    with pytest.raises(TypeError, match="kernels need dense inputs"):
        block_sums(BASES["kernels"][0], sparse.csr_array(X), Y)


def test_only_sums_of_the_same_candidates_and_outputs_add_up():
    sums = block_sums("passthrough", X, Y)
    for other in (block_sums("passthrough", X[:, :2], Y), block_sums("passthrough", X, Y[:, 0])):
        with pytest.raises(ValueError, match="only sums over the same candidates and outputs add up"):
            sums + other
    for wrong in (lambda: sums + 1, lambda: 1 + sums, lambda: sums + X):
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong()


@pytest.mark.parametrize(
    "other",
    [
        {"gamma": 0.5000001},
        {"kernel": "laplacian"},
        {"centers": X[1:11]},
        {"kernel": "poly", "gamma": 0.5, "degree": 2},
    ],
)
def test_sums_with_other_kernels_do_not_add_up_and_have_no_model_on_these(other):
    options = {"gamma": 0.5, "centers": X[:10]}
    basis, another = KernelBasis(**options).fit(X), KernelBasis(**{**options, **other}).fit(X)
    own, foreign = block_sums(basis, X, Y), block_sums(another, X, Y)
    with pytest.raises(ValueError, match="different kernels or columns"):
        own + foreign
    with pytest.raises(ValueError, match="made with another basis"):
        RelevanceVectorRegressor().fit_moments(another, own)
    same = pickle.loads(pickle.dumps(basis))
    assert_same(own + block_sums(same, X, Y), block_sums(basis, np.vstack([X, X]), np.vstack([Y, Y])))
    RelevanceVectorRegressor().fit_moments(same, own)


def test_columns_in_another_order_do_not_add_up():
    frame = pd.DataFrame(X, columns=[f"input {k}" for k in range(X.shape[1])])
    own = block_sums("passthrough", frame, Y)
    with pytest.raises(ValueError, match="different kernels or columns"):
        own + block_sums("passthrough", frame[frame.columns[::-1]], Y)
    assert (own + block_sums("passthrough", X, Y)).made_with == own.made_with  # columns without names may be the same ones
    VBLSRegressor().fit_moments("passthrough", own)

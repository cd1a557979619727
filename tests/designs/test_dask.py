"""Dask arrays and frames: the models of the same rows in memory, under every scheduler, and no row is lost."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from skarce import (
    JointFactorRegressor,
    KernelBasis,
    LWPRRegressor,
    PrimalSVMClassifier,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.designs import DaskDesign, Recipe, RowBlocks, Rows
from skarce.designs.dask_partitions import Partitions, is_dask
from skarce.designs.sampling import SAMPLE_ROWS, RowSample, largest_key
from skarce.moments import block_sums
from tests.estimator_lists import REGRESSORS

N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * RNG.normal(size=N)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
NAMES = ["p", "q", "r"]
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=Y, w=WEIGHTS)
KERNELS = KernelBasis(gamma=0.5, centers=X[:40])
BASES = {"kernels": KERNELS, "passthrough": "passthrough", "transformer": PolynomialFeatures(2, include_bias=False)}


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def arrays(rows=90):
    return da.from_array(X, chunks=(rows, 2)), da.from_array(Y, chunks=rows)


def frame(n_partitions=5):
    return dd.from_pandas(FRAME, npartitions=n_partitions)


def assert_same(found, expected, tol=None):
    """Predictions to 1e-6 of the target's std, and the criterion within the tolerance of the search."""
    inputs = pd.DataFrame(X, columns=NAMES) if hasattr(found, "feature_names_in_") else X
    np.testing.assert_allclose(found.predict(inputs), expected.predict(X), atol=1e-6 * Y.std())
    assert found.criterion_ == pytest.approx(expected.criterion_, abs=max(expected.tol, 1e-8) if tol is None else tol)


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("estimator", REGRESSORS)
def test_every_regressor_is_that_of_the_rows_in_memory(estimator, basis):
    if "basis" not in estimator().get_params():
        pytest.skip("no basis")
    model = estimator(basis)
    if "calibrate_std" in model.get_params():
        model.set_params(calibrate_std=False)
    sums = block_sums(clone(basis).fit(X) if not isinstance(basis, str) else basis, X, Y)
    expected = clone(model).fit_moments(clone(basis).fit(X) if not isinstance(basis, str) else basis, sums)
    assert_same(clone(model).fit(*arrays()), expected)
    assert_same(clone(model).fit(frame()[NAMES], frame()["y"]), expected)


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("estimator", REGRESSORS)
def test_every_regressor_with_fixed_widths_is_that_of_a_fit_in_memory(estimator, basis):
    """The other test adds up sums in memory. Here, `fit(X, y)` has the rows, and may choose another way to the same model."""
    params = estimator().get_params()
    if "basis" not in params:
        pytest.skip("no basis")
    model = estimator(basis).set_params(**({"calibrate_std": False} if "calibrate_std" in params else {}))
    expected = clone(model).fit(X, Y)
    for found in (clone(model).fit(*arrays()), clone(model).fit(frame()[NAMES], frame()["y"])):
        inputs = pd.DataFrame(X, columns=NAMES) if hasattr(found, "feature_names_in_") else X
        np.testing.assert_array_equal(found.active_, expected.active_)
        np.testing.assert_allclose(found.predict(inputs), expected.predict(X), rtol=0.0, atol=1e-6 * Y.std())


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_sums_are_those_of_the_rows_in_memory(fit_intercept, has_weights):
    weights = WEIGHTS if has_weights else None
    recipe = Recipe(lambda X, y, w, is_whole: Rows(X, np.asarray(y)[:, None], w), KERNELS, fit_intercept=fit_intercept)
    lazy = None if weights is None else da.from_array(weights, chunks=33)
    found = DaskDesign.of(*arrays(), lazy, recipe).sums
    expected = block_sums(KERNELS.fit(X), X, Y, weights)
    for name in ("n_samples", "candidate_means", "target_means", "gram", "projections", "target_energies"):
        size = np.abs(getattr(expected, name)).max()
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=0.0, atol=1e-12 * size)


def test_a_fit_in_memory_finds_the_same_model():
    for basis in ("passthrough", KERNELS):
        model = VBLSRegressor(basis, calibrate_std=False)
        assert_same(clone(model).fit(*arrays()), clone(model).fit(X, Y), tol=1e-5)


def test_weights_and_what_they_are_worth():
    lazy = da.from_array(WEIGHTS, chunks=90)
    for params in ({}, {"weights": "relative"}, {"effective_samples": 100}, {"effective_samples": 0.3}):
        model = VBLSRegressor(calibrate_std=False, **params)
        found, expected = clone(model).fit(*arrays(), lazy), clone(model).fit(X, Y, WEIGHTS)
        assert_same(found, expected, tol=1e-5)
        assert found.n_effective_ == pytest.approx(expected.n_effective_)


def test_targets_may_be_a_column_of_the_frame_or_in_memory():
    expected = VBLSRegressor(calibrate_std=False).fit(X, Y)
    by_name = VBLSRegressor().fit(frame()[[*NAMES, "y"]], "y")
    np.testing.assert_array_equal(by_name.feature_names_in_, NAMES)
    assert_same(by_name, expected, tol=1e-5)
    assert_same(VBLSRegressor().fit(arrays()[0], Y), expected, tol=1e-5)


def test_columns_of_a_file_that_dask_would_read_in_different_partitions(tmp_path):
    """The optimizer reads a single small column in fewer partitions than the others."""
    for number, rows in enumerate(np.array_split(np.arange(N), 8)):
        table = FRAME.iloc[rows].assign(**{f"z{k}": 0.0 for k in range(10)})
        table.to_parquet(tmp_path / f"{number}.parquet", row_group_size=10)
    table = dd.read_parquet(tmp_path)
    inputs, targets = table[NAMES], table["y"]
    expected = VBLSRegressor(calibrate_std=False).fit(X, Y, WEIGHTS)
    assert_same(VBLSRegressor().fit(inputs, targets, table["w"]), expected, tol=1e-5)
    assert_same(VBLSRegressor().fit(table[[*NAMES, "y"]], "y"), VBLSRegressor(calibrate_std=False).fit(X, Y), tol=1e-5)


def test_several_targets():
    targets = np.column_stack([Y, -2.0 * Y, RNG.normal(size=N)])
    found = VBLSRegressor().fit(arrays()[0], da.from_array(targets, chunks=(100, 1)))
    np.testing.assert_allclose(found.predict(X), VBLSRegressor(calibrate_std=False).fit(X, targets).predict(X), atol=1e-6)


def test_single_precision_stays():
    model = RelevanceVectorRegressor(KERNELS).fit(arrays()[0].astype(np.float32), arrays()[1])
    lazy = model.predict(arrays()[0].astype(np.float32))
    assert lazy.dtype == lazy.compute().dtype == np.float32
    assert_same(model, RelevanceVectorRegressor(KERNELS, moments="whole").fit(X.astype(np.float32), Y), tol=1e-3)


def test_unknown_chunks_and_empty_partitions():
    rows = frame(6)
    some = rows[rows["p"] > -0.5]
    lengths = some.map_partitions(len).compute()
    emptied = some[(some["r"] < 5.0) & (some.index > 150)]  # the first partitions have no row left
    assert 0 in set(emptied.map_partitions(len).compute())
    assert len(set(lengths)) > 1
    kept = FRAME[(FRAME["p"] > -0.5) & (FRAME.index > 150)]
    expected = VBLSRegressor(calibrate_std=False).fit(kept[NAMES].to_numpy(), kept["y"])
    for inputs, targets in ((emptied[NAMES].to_dask_array(), emptied["y"].to_dask_array()), (emptied[NAMES], emptied["y"])):
        found = VBLSRegressor().fit(inputs, targets)
        assert_same(found, expected, tol=1e-5)
        lazy = found.predict(inputs)
        np.testing.assert_allclose(lazy.compute(), expected.predict(kept[NAMES].to_numpy()), atol=1e-6)


def test_categories_and_nullable_columns_go_through_a_transformer():
    table = FRAME.assign(
        kind=pd.Categorical(np.array(["a", "b", "c"])[np.arange(N) % 3]), n=pd.array(np.arange(N) % 7, dtype="Int64")
    )
    table["y"] += (table["kind"] == "b") * 1.0
    columns = [*NAMES, "kind", "n"]
    basis = make_column_transformer((OneHotEncoder(categories=[["a", "b", "c"]]), ["kind"]), (StandardScaler(), [*NAMES, "n"]))
    found = VBLSRegressor(basis).fit(dd.from_pandas(table, npartitions=4)[columns], dd.from_pandas(table, npartitions=4)["y"])
    expected = VBLSRegressor(basis, calibrate_std=False).fit(table[columns], table["y"])
    np.testing.assert_allclose(found.predict(table[columns]), expected.predict(table[columns]), atol=1e-6)
    lazy = found.predict(dd.from_pandas(table, npartitions=4)[columns])
    np.testing.assert_allclose(lazy.compute(), expected.predict(table[columns]), atol=1e-6)


@pytest.fixture(scope="module")
def processes():
    """Two processes for all computations, which Dask would otherwise start for each of them."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


def make_numbers(size):
    """Inputs, targets, labels and counts of a partition, made in the process that works on it."""
    return FRAME[NAMES].assign(y=FRAME["y"], label=np.where(Y > 0, "yes", "no"), count=np.round(np.exp(Y))).iloc[:size]


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (RelevanceVectorRegressor(KERNELS, calibrate_std=True), "y"),
        (VBLSRegressor(), "y"),
        (RelevanceVectorClassifier(KERNELS), "label"),
        (RelevanceVectorPoissonRegressor(KERNELS), "count"),
    ],
    ids=["calibrated", "linear", "labels", "counts"],
)
def test_the_scheduler_of_processes_gives_the_same_model(model, target, processes, rows_in_passes):
    data = dd.from_map(make_numbers, [150, 90, 160])[[*NAMES, target]]
    expected = clone(model).fit(data, target)
    with dask.config.set(scheduler="processes", pool=processes):
        found = clone(model).fit(data, target)
        answers = found.predict(data[NAMES]).compute()
    np.testing.assert_array_equal(found.predict(FRAME[NAMES]), expected.predict(FRAME[NAMES]))
    assert found.criterion_ == expected.criterion_
    if target == "label":
        np.testing.assert_array_equal(answers, expected.predict(data[NAMES].compute()))
    else:
        np.testing.assert_allclose(answers, expected.predict(data[NAMES].compute()), rtol=1e-12)


@pytest.mark.parametrize(("target", "weight"), [("Float64", "Int64"), ("Int64", "Float64"), ("Float32", "boolean")])
def test_nullable_targets_and_weights(target, weight):
    table = FRAME.assign(
        y=np.round(FRAME["y"]).astype(target), w=(FRAME["w"] > 1 if weight == "boolean" else FRAME["w"]).astype(weight)
    )
    plain = table.astype({"y": "float64", "w": "float64"})
    expected = VBLSRegressor(calibrate_std=False).fit(X, plain["y"], plain["w"])
    lazy = dd.from_pandas(table, npartitions=4)
    for found in (VBLSRegressor().fit(lazy, "y", "w"), VBLSRegressor().fit(lazy[NAMES], lazy["y"], lazy["w"])):
        np.testing.assert_allclose(found.predict(table[NAMES]), expected.predict(X), atol=1e-6)
        assert found.n_effective_ == pytest.approx(plain["w"].sum())
        assert found.score(lazy, "y", "w") == pytest.approx(expected.score(X, plain["y"], plain["w"]))
    counts = RelevanceVectorPoissonRegressor("passthrough")
    table["y"] = (table["y"] - table["y"].min()).astype(target)
    found = clone(counts).fit(dd.from_pandas(table, npartitions=4), "y", "w")
    np.testing.assert_allclose(
        found.predict(table[NAMES]), counts.fit(X, table["y"].astype(float), plain["w"]).predict(X), rtol=1e-9
    )


def test_missing_values_of_nullable_columns_are_named():
    for name, said in (("y", "y of partition 1"), ("w", "sample_weight of partition 1")):
        table = FRAME.assign(y=FRAME["y"].astype("Float64"), w=FRAME["w"].astype("Int64"))
        table.loc[107, name] = pd.NA
        with pytest.raises(ValueError, match=rf"{said} .*row 7\b"):
            VBLSRegressor().fit(dd.from_pandas(table, npartitions=4), "y", "w")


def test_candidates_come_from_a_sample_that_does_not_depend_on_the_scheduler():
    n = 3 * SAMPLE_ROWS
    inputs = np.random.default_rng(1).normal(size=(n, 2))
    targets = np.sin(inputs[:, 0])
    lazy = da.from_array(inputs, chunks=(5000, -1)), da.from_array(targets, chunks=5000)
    basis = KernelBasis(gamma=1.0, centers=20, random_state=0)
    models = []
    for name in ("synchronous", "threads"):
        with dask.config.set(scheduler=name):
            models.append(RelevanceVectorRegressor(basis).fit(*lazy))
    np.testing.assert_array_equal(models[0].predict(inputs[:50]), models[1].predict(inputs[:50]))
    assert models[0].score(inputs, targets) > 0.9
    with pytest.raises(ValueError, match=r"centers=None would make each of the 60000 rows a candidate, but Dask data"):
        RelevanceVectorRegressor(KernelBasis(centers=None)).fit(*lazy)


SINGLE_FRAMES = {
    "singles": "float32",
    "doubles": "float64",
    "one double": {"p": "float64", "q": "float32", "r": "float32"},
    "halves": "float16",
    "small whole numbers beside singles": {"p": "int8", "q": "float32", "r": "float32"},
    "whole numbers beside singles": {"p": "int32", "q": "float32", "r": "float32"},
    "nullable": "Float32",
}


@pytest.mark.parametrize("kinds", SINGLE_FRAMES.values(), ids=SINGLE_FRAMES)
@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
def test_lazy_answers_to_frames_have_the_type_that_is_computed(basis, kinds):
    rows = FRAME[NAMES].astype(kinds)
    lazy = dd.from_pandas(rows, npartitions=3)
    regressor, classifier = VBLSRegressor(basis).fit(rows, Y), RelevanceVectorClassifier(basis).fit(rows, Y > 0)
    for answer, expected in (
        (regressor.predict(lazy), regressor.predict(rows)),
        (regressor.predict_interval(lazy)[0], regressor.predict_interval(rows)[0]),
        (classifier.predict_proba(lazy), classifier.predict_proba(rows)),
    ):
        assert answer.dtype == answer.compute().dtype == expected.dtype


# Answers ---------------------------------------------------------------------------------------------------------------------


def test_answers_are_lazy_and_have_the_partitions_of_x():
    inputs, _ = arrays()
    model = VBLSRegressor(KERNELS, calibrate_std=False).fit(X, Y)
    mean, std = model.predict(inputs, return_std=True)
    assert is_dask(mean)
    assert mean.chunks == std.chunks == (inputs.chunks[0],)
    for found, expected in zip((mean, std), model.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-12, atol=1e-12)
    for found, expected in zip(model.predict_interval(inputs, coverage=0.5), model.predict_interval(X, coverage=0.5), strict=True):
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="return_cov=True has a number for each pair of rows"):
        model.predict(inputs, return_cov=True)


def never(block):
    raise AssertionError("a partition was computed")


@pytest.mark.parametrize(
    ("model", "targets"),
    [
        (LWPRRegressor(n_passes=1, random_state=0), Y),
        (JointFactorRegressor(1), Y),
        (JointFactorRegressor(1), np.column_stack([Y, X[:, 1]])),
    ],
    ids=["LWPR", "one target", "two targets"],
)
def test_models_without_a_basis_answer_lazily(model, targets):
    model = model.fit(X, targets)
    untouched = arrays()[0].map_blocks(never, dtype=float, meta=np.empty((0, 0)))
    for name, options in (("predict", {}), ("predict", {"return_std": True}), ("predict_interval", {"coverage": 0.5})):
        answer, expected = (getattr(model, name)(inputs, **options) for inputs in (arrays()[0], X))
        for lazy, plain in zip(*((many if isinstance(many, tuple) else (many,)) for many in (answer, expected)), strict=True):
            assert (lazy.shape, lazy.dtype, lazy.chunks[0]) == (plain.shape, plain.dtype, arrays()[0].chunks[0])
            np.testing.assert_allclose(lazy.compute(), plain, rtol=1e-12, atol=1e-12)
        getattr(model, name)(untouched, **options)  # nothing is computed before it is asked for
    assert model.predict(arrays()[0].astype(np.float32)).compute().dtype == np.float64
    blocks = RowBlocks(lambda: ((X[part], targets[part]) for part in np.array_split(np.arange(N), 3)))
    for score in (model.score(arrays()[0], da.from_array(targets, chunks=(90, *targets.shape[1:]))), model.score(blocks)):
        assert score == pytest.approx(model.score(X, targets), abs=1e-12)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(arrays()[0][:, :2])
    with pytest.raises(NotFittedError):
        clone(model).predict(arrays()[0])


def test_inputs_that_are_missing_stay_missing_in_partitions():
    inputs = np.where(RNG.random(X.shape) < 0.3, np.nan, X)
    model, lazy = JointFactorRegressor(1).fit(X, Y), da.from_array(inputs, chunks=(90, 2))
    for found, expected in zip(model.predict(lazy, return_std=True), model.predict(inputs, return_std=True), strict=True):
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-12, atol=1e-12)
    assert model.score(lazy, arrays()[1]) == pytest.approx(model.score(inputs, Y), abs=1e-12)


@pytest.mark.parametrize("labels", [Y > 0, np.digitize(Y, [-0.3, 0.3]), np.where(Y > 0, "yes", "no")])
def test_classifiers_answer_lazily(labels):
    inputs, _ = arrays()
    model = RelevanceVectorClassifier("passthrough", calibrate_proba=False).fit(X, labels)
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        lazy, expected = getattr(model, name)(inputs), getattr(model, name)(X)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        if name == "predict":
            np.testing.assert_array_equal(lazy.compute(), expected)
        else:
            np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-12, atol=1e-12)


def test_support_vector_machines_add_up_margins_of_partitions():
    inputs, _ = arrays()
    labels = da.from_array(Y > 0.3, chunks=inputs.chunks[0])
    model = PrimalSVMClassifier(KERNELS, max_active=7, calibrate_proba=False)
    expected = clone(model).fit(X, Y > 0.3)
    found = model.fit(inputs, labels)
    np.testing.assert_array_equal(found.active_, expected.active_)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(found.predict(inputs).compute(), expected.predict(X))


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize(
    ("model", "targets"),
    [
        (VBLSRegressor(), {"y": Y}),
        (VBLSRegressor(), {"y": Y, "z": -3.0 * X[:, 2] + RNG.normal(size=N), "one": np.ones(N)}),
        (RelevanceVectorClassifier("passthrough"), {"y": np.where(Y > 0.3, "yes", "no")}),
        (RelevanceVectorPoissonRegressor("passthrough"), {"y": RNG.poisson(np.exp(X[:, 0])).astype(float)}),
    ],
    ids=["R2", "R2 of several targets", "accuracy", "D2"],
)
def test_scores_are_those_of_the_rows_in_memory(model, targets, weight):
    table = FRAME[NAMES].assign(**targets, w=WEIGHTS)
    one = next(iter(targets)) if len(targets) == 1 else list(targets)
    model = clone(model).fit(table[NAMES], table[one])
    expected = model.score(table[NAMES], table[one], table["w"] if weight else None)
    lazy = dd.from_pandas(table, npartitions=5)
    used = [*NAMES, *targets, *([weight] if weight else [])]
    emptied = lazy[used][lazy["p"] < np.inf].repartition(npartitions=1)
    assert model.score(lazy[used], one, weight) == pytest.approx(expected, abs=1e-12)
    assert model.score(lazy[NAMES], lazy[one], lazy["w"] if weight else None) == pytest.approx(expected, abs=1e-12)
    assert model.score(dd.concat([lazy[used][lazy["p"] > np.inf], emptied]), one, weight) == pytest.approx(expected, abs=1e-12)


def test_scores_that_are_not_defined_say_so():
    inputs, targets = arrays()
    model = VBLSRegressor().fit(X, Y)
    with pytest.raises(ValueError, match=r"no rows of positive weight in the 1 partition of X\."):
        model.score(*arrays(N), da.zeros(N, chunks=N))
    with pytest.raises(ValueError, match=r"no rows of positive weight in the 5 partitions of X\."):
        model.score(inputs, targets, da.zeros(N, chunks=90))
    with pytest.raises(ValueError, match=r"in partition \d: y has 2 targets, but the model predicts 1"):
        model.score(inputs, da.stack([targets, targets], axis=1))
    with pytest.raises(NotFittedError):
        VBLSRegressor().score(inputs, targets)
    counts = RelevanceVectorPoissonRegressor("passthrough").fit(X, np.round(np.exp(X[:, 0])))
    with pytest.warns(UndefinedMetricWarning, match="without any event"):
        assert np.isnan(counts.score(inputs, da.zeros(N, chunks=90)))


def test_a_fitted_model_holds_no_data_of_dask():
    import pickle

    model = VBLSRegressor(KERNELS).fit(*arrays())
    assert b"dask" not in pickle.dumps(model)


# Errors ----------------------------------------------------------------------------------------------------------------------


def with_value(values, row, value):
    return da.from_array(np.where(np.arange(N) == row, value, values), chunks=100)


def with_nan_in(row):
    values = X.copy()
    values[row, 1] = np.nan
    return values


def test_a_bad_row_is_named_with_its_partition():
    model = VBLSRegressor().fit(X, Y)
    before = model.predict(X)
    cases = [
        ((da.from_array(with_nan_in(205), chunks=(100, 3)), arrays()[1]), r"X of partition 2 .* got nan in row 5, column 1"),
        (
            (arrays(100)[0], da.from_array(np.where(np.arange(N) == 310, np.inf, Y), chunks=100)),
            "y of partition 3 .* inf in row 10",
        ),
    ]
    for data, message in cases:
        with pytest.raises(ValueError, match=message):
            model.fit(*data)
        np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match=r"sample_weight of partition 1 must not be negative, got -1 in row 3"):
        model.fit(*arrays(100), with_value(np.ones(N), 103, -1.0))


def test_data_that_do_not_belong_together_are_refused():
    inputs, targets = arrays()
    cases = [
        (lambda: Partitions(inputs, targets[:300]), "X has 400 rows, but y has 300"),
        (lambda: Partitions(inputs, Y[:300]), "X has 400 rows, but y has 300"),
        (lambda: Partitions(frame(5)[NAMES], frame(4)["y"]), "different divisions"),
        (lambda: Partitions(frame(5)[NAMES], Y), "lengths of the partitions of X are not known"),
        (lambda: Partitions(frame(5)[NAMES].to_dask_array(), frame(4)["y"].to_dask_array()), "X has 5 partitions, but y has 4"),
        (lambda: Partitions(inputs, None), "y is None"),
        (lambda: Partitions(frame(), "z"), "y='z': X has no column 'z'; its columns are 'p', 'q', 'r', 'y', 'w'"),
        (lambda: Partitions(targets, targets), "with rows and columns, got Array with 1 dimensions"),
    ]
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(ValueError, match="no rows of positive weight"):
        VBLSRegressor().fit(inputs, targets, da.zeros(N, chunks=90))


def test_what_needs_rows_says_so():
    with pytest.raises(ValueError, match="memory budget"), config_context(working_memory=0.001):
        VBLSRegressor(KERNELS).fit(*arrays())


# A sample --------------------------------------------------------------------------------------------------------------------


def test_samples_add_up_and_draw_by_weight():
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(10_000) < 100, 50.0, 1.0)
    weights[500:600] = 0.0
    places = np.arange(10_000)[:, None]
    parts = [
        RowSample.of(places[part], places[part, 0], weights[part], rng.random(len(part)))
        for part in np.array_split(np.arange(10_000), 7)
    ]
    sample = RowSample.total_of([RowSample.total_of(parts[:3], 500), RowSample.total_of(parts[3:], 500)], 500)
    chosen = sample.X[:, 0]
    assert len(set(chosen)) == 500
    assert not np.isin(chosen, np.arange(500, 600)).any()
    assert np.count_nonzero(chosen < 100) > 60  # of 100 heavy rows; with equal chances it would be five
    assert (sample.n_rows, sample.n_counted, sample.total) == (10_000, 9_900, weights.sum())
    np.testing.assert_array_equal(sample.row_weights, np.full(500, weights.sum() / 9_900))
    whole = RowSample.total_of(parts)
    np.testing.assert_array_equal(whole.row_weights, weights)


@pytest.mark.parametrize("n_rows", [200, 2_000, 50_000])
def test_rows_that_cannot_be_in_the_sample_are_not_kept(n_rows):
    rows, uniform = np.arange(n_rows)[:, None], np.random.default_rng(0).random(n_rows)
    every = RowSample.of(rows, rows[:, 0], None, uniform)
    few = every.least(n_rows, largest_key=largest_key(n_rows, 100))
    assert len(few.keys) <= min(n_rows, 100 + 15 * 10)
    np.testing.assert_array_equal(few.least(100).X, every.least(100).X)
    assert few.n_rows == n_rows
    assert largest_key(None, 100) == largest_key(100, 100) == np.inf

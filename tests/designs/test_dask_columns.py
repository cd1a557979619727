"""Dask frames: names of columns, the partitions that the user knows, and refusals before any partition is computed."""

from functools import partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skarce import (
    JointFactorRegressor,
    KernelBasis,
    KernelDimensionReduction,
    KernelMatchingPursuitClassifier,
    KernelMatchingPursuitRegressor,
    LWPRRegressor,
    PrimalSVMClassifier,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce.designs.dask_partitions import Partitions
from skarce.designs.row_blocks import RowBlocks
from skarce.designs.sampling import SAMPLE_ROWS, RowSample
from skarce.moments import block_sums

N, N_FILES = 240, 12
RNG = np.random.default_rng(0)
NAMES = ["p", "q", "r"]
X = RNG.normal(size=(N, 3))
FRAME = pd.DataFrame(X, columns=NAMES).assign(
    y=X @ [1.0, -2.0, 0.5] + RNG.normal(size=N),
    z=X @ [0.0, 1.0, 1.0] + RNG.normal(size=N),
    w=RNG.integers(1, 4, N).astype(float),
    color=np.where(X[:, 0] > 0, "red", "blue"),
    day=pd.Timestamp("2020-01-01"),
)


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def frame(rows=FRAME, n_partitions=4):
    return dd.from_pandas(rows, npartitions=n_partitions)


def computed(rows, number):
    raise AssertionError(f"partition {number} was computed")


def untouchable(rows=FRAME):
    """A frame that fails the test as soon as one of its partitions is computed."""
    return dd.from_map(partial(computed, rows), range(3), meta=frame(rows)._meta)


def untouchable_array(n_rows=3000):
    part = dask.delayed(computed)(None, 0)
    return da.concatenate([da.from_delayed(part, (n_rows // 3, 3), dtype=float)] * 3)


@pytest.fixture
def files(tmp_path):
    """Twelve files with more columns than a model reads, so that Dask would merge them. One value is missing."""
    for number, rows in enumerate(np.array_split(np.arange(N), N_FILES)):
        part = FRAME.iloc[rows].reset_index(drop=True).assign(**{f"other{k}": 0.0 for k in range(10)})
        if number == 7:
            part.loc[5, "q"] = np.nan
        part.to_parquet(tmp_path / f"{number:02d}.parquet")
    return dd.read_parquet(tmp_path)


# Partitions --------------------------------------------------------------------------------------------------------------------


def test_dask_would_merge_these_files(files):
    merged = files[[*NAMES, "y"]].map_partitions(len).compute()
    assert len(merged) < N_FILES == files.npartitions


def test_errors_name_the_partition_and_the_column_that_the_user_knows(files):
    assert np.isnan(files.partitions[7].compute()["q"].iloc[5])
    assert len(Partitions(files[[*NAMES, "y"]], "y")) == N_FILES
    with pytest.raises(ValueError, match=r"X of partition 7 .* got nan in row 5, column 'q'"):
        VBLSRegressor().fit(files[[*NAMES, "y"]], "y")
    model = VBLSRegressor().fit(FRAME[NAMES], FRAME["y"])
    answers = model.predict(files[NAMES])
    assert answers.npartitions == N_FILES
    with pytest.raises(ValueError, match=r"in partition 7: X contains NaN: values are missing in column 'q' \(1 of 20 values\)"):
        answers.compute()
    np.testing.assert_allclose(answers.blocks[3].compute(), model.predict(FRAME[NAMES].iloc[60:80]))


def test_files_that_are_read_whole_and_kept(files):
    kept = files.fillna({"q": 0.0}).persist()
    expected = VBLSRegressor(calibrate_std=False).fit(FRAME[NAMES].assign(q=kept["q"].compute().to_numpy()), FRAME["y"])
    np.testing.assert_allclose(VBLSRegressor().fit(kept[[*NAMES, "y"]], "y").coef_, expected.coef_, atol=1e-6)


def test_values_of_one_frame_with_merged_files_are_explained(files):
    for inputs in (files[NAMES], files[[*NAMES, *(f"other{k}" for k in range(5))]].to_dask_array()):
        with pytest.raises(
            ValueError, match=r"X has \d+ partitions, but y has \d\. .* Dask has merged files .* fit\(frame, \"y\"\)"
        ):
            Partitions(inputs, files["y"].to_dask_array())


# Names -------------------------------------------------------------------------------------------------------------------------


def test_names_of_several_targets_and_of_weights():
    found = VBLSRegressor().fit(frame(FRAME[[*NAMES, "y", "z", "w"]]), ["y", "z"], sample_weight="w")
    expected = VBLSRegressor(calibrate_std=False).fit(FRAME[NAMES], FRAME[["y", "z"]], FRAME["w"])
    assert found.feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    assert found.n_effective_ == pytest.approx(FRAME["w"].sum())


def test_a_name_may_be_a_whole_number():
    rows = pd.DataFrame(np.column_stack([X, FRAME["y"], FRAME["z"]]))
    expected = VBLSRegressor(calibrate_std=False).fit(X, FRAME[["y", "z"]])
    found = VBLSRegressor().fit(frame(rows), [3, 4])
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    one = VBLSRegressor().fit(frame(rows[[0, 1, 2, 3]]), np.int64(3))
    np.testing.assert_allclose(one.coef_, expected.coef_[0], atol=1e-6)
    assert one.score(frame(rows[[0, 1, 2, 3]]), 3) == pytest.approx(one.score(X, FRAME["y"]))


def test_a_list_of_labels_next_to_an_array_is_not_a_list_of_names():
    labels = FRAME["color"].tolist()
    model = RelevanceVectorClassifier("passthrough", calibrate_proba=False)
    assert model.fit(da.from_array(X, chunks=(60, 3)), labels).classes_.tolist() == ["blue", "red"]


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        (["y", "Z"], None, r"X has no column 'Z'; its columns are 'p', 'q', 'r', 'y', 'z'"),
        ("y", "W", r"sample_weight='W': X has no column 'W'"),
        ("y", "y", r"each column has one use, but both y and sample_weight name 'y'\."),
        (["z", "y"], "y", r"each column has one use, but both y and sample_weight name 'y'\."),
        (["y", "z", "y"], None, r"each column has one use, but y names 'y' twice\."),
        (["y", "y", "y"], "w", r"each column has one use, but y names 'y' 3 times\."),
        ([*NAMES, "y", "z", "w"], None, r"X has no columns, or none but targets"),
    ],
)
def test_names_that_cannot_be_used(y, weight, message):
    with pytest.raises(ValueError, match=message):
        VBLSRegressor().fit(untouchable(FRAME[[*NAMES, "y", "z", "w"]]), y, weight)


def test_names_next_to_arrays_and_frames_in_memory():
    with pytest.raises(ValueError, match=r"y='y' is for data frames, but X is of type Array"):
        VBLSRegressor().fit(untouchable_array(), "y")
    inputs = FRAME[[*NAMES, "y", "z"]]
    with pytest.raises(ValueError, match=r"y='y': names .* y=frame\['y'\], and X=frame.drop\(columns=\['y'\]\)"):
        VBLSRegressor().fit(inputs, "y")
    with pytest.raises(ValueError, match=r"y=\['y', 'z'\]: names .* y=frame\[\['y', 'z'\]\]"):
        VBLSRegressor().fit(inputs, ["y", "z"])
    with pytest.raises(ValueError, match=r"sample_weight='w': names of columns are for Dask data frames"):
        VBLSRegressor().fit(X, FRAME["y"], sample_weight="w")


def test_labels_in_memory_may_be_called_as_columns_are():
    rows = FRAME[NAMES].iloc[:40]
    labels = np.where(rows["p"] > 0, "p", "q").tolist()
    assert RelevanceVectorClassifier("passthrough", calibrate_proba=False).fit(rows, labels).classes_.tolist() == ["p", "q"]


# Refusals before any pass ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "columns", "y", "message"),
    [
        (VBLSRegressor(), ["p", "color", "y"], "y", r"column 'color' of X holds text .* as basis="),
        (VBLSRegressor(), ["p", "day", "y"], "y", r"column 'day' of X holds dates or times"),
        (VBLSRegressor(), ["p", "color"], "color", r"y holds text .* classifiers take text"),
        (VBLSRegressor(), ["p", "day"], "day", r"y holds dates or times"),
        (RelevanceVectorRegressor(KernelBasis(gamma=1.0, centers=15_000)), ["p", "y"], "y", r"15000 x 15000 .* memory budget"),
        (RelevanceVectorRegressor(KernelBasis(gamma=1.0, centers=500_000)), ["p", "y"], "y", r"all 500000 candidates"),
        (VBLSClassifier(), ["p", "color"], "color", r"VBLSClassifier changes the weights .* needs them in memory, and Dask data"),
        (PrimalSVMClassifier(calibrate_proba=True), ["p", "color"], "color", r"calibrate_proba=True .* not kept in memory"),
        (KernelMatchingPursuitClassifier(), ["p", "color"], "color", r"PursuitClassifier changes .* needs them in memory"),
        (KernelMatchingPursuitRegressor(loss="huber"), ["p", "y"], "y", r"PursuitRegressor changes .* needs them in memory"),
        (VBLSRegressor(noise="student-t"), ["p", "y"], "y", r"VBLSRegressor changes the weights .* needs them in memory"),
        (RelevanceVectorClassifier(calibrate_proba=True), ["p", "color"], "color", r"calibrate_proba=True .* not kept in memory"),
        (RelevanceVectorRegressor(calibrate_std=KFold(3)), ["p", "y"], "y", r"calibrate_std=True takes five folds"),
    ],
)
def test_what_metadata_and_parameters_tell_is_refused_at_once(model, columns, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(untouchable(FRAME[columns]), y)


@pytest.mark.parametrize("n_times", [2, 3])
def test_a_name_that_is_there_more_than_once_is_counted(n_times):
    rows = untouchable(FRAME[["q", *["p"] * n_times, "y"]])
    model = VBLSRegressor().fit(FRAME[["p", "q"]], FRAME["y"])
    said = rf"^X has {n_times} columns named 'p'\. Give each column its own name\.$"
    for ask in (
        lambda: model.fit(rows, "y"),
        lambda: model.fit(rows, "p"),
        lambda: model.predict(rows),
        lambda: model.score(rows, "y"),
    ):
        with pytest.raises(ValueError, match=said):
            ask()


def test_delayed_objects_are_named_by_their_type():
    late, rows, model = dask.delayed(computed)(FRAME, 0), untouchable(), VBLSRegressor().fit(X, FRAME["y"])
    asked = {
        "X": (lambda: model.fit(late, FRAME["y"]), lambda: model.predict(late), lambda: model.score(late, FRAME["y"])),
        "y": (lambda: model.fit(rows[NAMES], late),),
        "sample_weight": (lambda: model.fit(rows[NAMES], rows["y"], late),),
    }
    for name, calls in asked.items():
        for ask in calls:
            with pytest.raises(
                TypeError, match=rf"^{name} must be a Dask array, series or data frame, got Delayed\. .*from_delayed"
            ):
                ask()


def test_a_pipeline_is_told_how_dask_data_go_through_a_transformer():
    for rows in (frame()[NAMES], frame()[NAMES].to_dask_array(lengths=True)):
        with pytest.raises(TypeError, match=r"Call \.compute\(\) .* give its transformers to the model as basis=\.$"):
            make_pipeline(KernelBasis(gamma=1.0, centers=5), VBLSRegressor()).fit(rows, frame()["y"])
    with pytest.raises(TypeError, match=r"^y is of type dask\..* give its transformers to the model as basis=\.$"):
        make_pipeline(StandardScaler(), VBLSRegressor()).fit(frame()[NAMES], frame()["y"])


def test_what_takes_rows_in_memory_says_what_to_do():
    rows, targets = frame()[NAMES], frame()["y"]
    fitted = VBLSRegressor("passthrough").fit(FRAME[NAMES], FRAME["y"])
    counts = RelevanceVectorPoissonRegressor("passthrough").fit(FRAME[NAMES], FRAME["w"])
    for ask, message in (
        (
            lambda: VBLSRegressor().fit(X, targets),
            r"^y is of type dask\.Series, but X is in memory\..* X as Dask data, too\.",
        ),
        (lambda: VBLSRegressor().fit(X, FRAME["y"], frame()["w"]), r"^sample_weight is of type dask\.Series, but X is in memory"),
        (lambda: fitted.sample_y(rows), r"^sample_y of VBLSRegressor takes rows in memory, but X is Dask data \(DataFrame\)"),
        (lambda: counts.sample_y(rows), r"^sample_y of RelevanceVectorPoissonRegressor takes rows in memory"),
        (
            lambda: fitted.partial_fit(rows, targets),
            r"^partial_fit of VBLSRegressor .* Or give all of them to fit",
        ),
        (lambda: counts.partial_fit(rows, targets), r"^partial_fit of RelevanceVectorPoissonRegressor takes rows in memory"),
        (
            lambda: RelevanceVectorClassifier("passthrough").partial_fit(rows, frame()["color"], ["red", "blue"]),
            "^partial_fit",
        ),
        (
            lambda: LWPRRegressor().fit(rows, targets),
            r"^fit of LWPRRegressor takes rows in memory, .* Call partial_fit for each",
        ),
        (lambda: JointFactorRegressor().fit(rows, targets), r"^fit of JointFactorRegressor takes .* such as a sample of the rows"),
        (lambda: KernelDimensionReduction().fit(rows, targets), r"^fit of KernelDimensionReduction takes .* a sample of the rows"),
        (lambda: block_sums("passthrough", rows, targets), r"^X is of type dask\..* Rows in memory are needed here"),
    ):
        with pytest.raises(TypeError, match=message):
            ask()


IN_MEMORY = {
    VBLSClassifier(): "RelevanceVectorClassifier or PrimalSVMClassifier",
    KernelMatchingPursuitClassifier(): "RelevanceVectorClassifier or PrimalSVMClassifier",
    KernelMatchingPursuitRegressor(loss="huber"): 'loss="squared"',
    VBLSRegressor(noise="student-t"): 'noise="gaussian"',
}


@pytest.mark.parametrize(("model", "instead"), IN_MEMORY.items(), ids=str)
def test_methods_that_need_rows_in_memory_say_what_to_use_instead(model, instead):
    rows, targets = FRAME[NAMES].to_numpy(), (FRAME["y"] > 0.0).astype(int)
    for data in ((da.from_array(rows), da.from_array(targets.to_numpy())), (RowBlocks.from_arrays(rows, targets.to_numpy()),)):
        with pytest.raises(ValueError) as error:
            clone(model).fit(*data)
        assert str(error.value).endswith(f"Pass arrays X and y to fit, such as a sample of the rows, or use {instead}.")


def test_as_many_centers_as_rows_are_enough():
    """A number above that of the rows stands for all of them, and the lengths of chunks say how many there are."""
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.1, centers=10**6))
    found = model.fit(da.from_array(X, chunks=(60, 3)), da.from_array(FRAME["y"].to_numpy(), chunks=60))
    assert found.relevance_.shape == (N,)


@pytest.mark.parametrize(
    ("centers", "message"),
    [(None, "centers=None would make each of the 60000 rows"), (30_000, "centers=30000 is above 20000, the rows of the sample")],
)
def test_more_centers_than_a_sample_holds(centers, message):
    n_rows = 3 * SAMPLE_ROWS
    model = RelevanceVectorRegressor(KernelBasis(gamma=1.0, centers=centers))
    with config_context(working_memory=10**6), pytest.raises(ValueError, match=message):
        model.fit(untouchable_array(n_rows), da.zeros(n_rows, chunks=n_rows // 3))
    with config_context(working_memory=10**6), pytest.raises(ValueError, match=message):
        model.fit(RowBlocks(lambda: ((np.ones((SAMPLE_ROWS, 1)), np.ones(SAMPLE_ROWS)) for _ in range(3))))


def test_columns_of_lazy_predictions_are_checked_at_once():
    model = VBLSRegressor().fit(FRAME[NAMES], FRAME["y"])
    rows = untouchable(FRAME)
    for columns, message in (
        (["p", "q"], "missing:\n- r"),
        ([*NAMES, "y"], "unseen at fit time:\n- y"),
        (["q", "p", "r"], "order"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(rows[columns])
    with pytest.raises(ValueError, match=r"column 'r' of X holds text"):
        model.predict(rows[["p", "q", "color"]].rename(columns={"color": "r"}))
    with pytest.raises(ValueError, match="X has 2 features, but VBLSRegressor is expecting 3"):
        VBLSRegressor().fit(X, FRAME["y"]).predict(untouchable_array()[:, :2])


# Values ------------------------------------------------------------------------------------------------------------------------


def test_text_among_objects_is_named_by_column_and_partition():
    mixed = FRAME["q"].astype(object)
    mixed[130] = "blue"
    with dask.config.set({"dataframe.convert-string": False}):
        rows = frame(FRAME[[*NAMES, "y"]].assign(q=mixed))
    with pytest.raises(ValueError, match=r"X of partition 2 must hold numbers, but there is text in column 'q' \('blue'\)"):
        VBLSRegressor().fit(rows, "y")


def behind(*steps):
    """Scaled numbers and encoded colors, and perhaps more steps."""
    encoded = make_column_transformer(
        (OneHotEncoder(categories=[["blue", "red"]], sparse_output=False), ["color"]), (StandardScaler(), ["p"])
    )
    return make_pipeline(encoded, *steps)


@pytest.mark.parametrize("drawn", [N, 10], ids=["in the sample", "elsewhere"])
@pytest.mark.parametrize("basis", [behind(), behind(KernelBasis(gamma=1.0, centers=5, random_state=0))], ids=["linear", "kernels"])
@pytest.mark.parametrize(("column", "bad", "said"), [("p", np.nan, "nan"), ("p", np.inf, "inf"), ("color", None, r"\S+")])
def test_a_value_that_is_missing_behind_a_transformer_is_named(column, bad, said, basis, drawn, monkeypatch):
    monkeypatch.setattr(RowSample.least, "__defaults__", (drawn,))
    monkeypatch.setattr(RowSample.total_of.__func__, "__defaults__", (drawn,))
    table = FRAME[["p", "color", "y"]].astype({"color": object})
    table.loc[187, column] = bad
    with pytest.raises(ValueError, match=rf"^in partition 3: .* X has {said} in row 7, column '{column}'\.$"):
        VBLSRegressor(basis).fit(frame(table), "y")


def test_an_unknown_category_is_named_by_its_partition(monkeypatch):
    table = FRAME[["p", "color", "y"]].copy()
    table.loc[187, "color"] = "green"
    with pytest.raises(ValueError, match=r"^in a sample of the rows, .* unknown categories \['green'\]"):
        VBLSRegressor(behind()).fit(frame(table), "y")
    monkeypatch.setattr(RowSample.least, "__defaults__", (10,))
    monkeypatch.setattr(RowSample.total_of.__func__, "__defaults__", (10,))
    for model in (VBLSRegressor(behind(), calibrate_std=False), VBLSRegressor(behind(), calibrate_std=True)):
        with pytest.raises(ValueError, match=r"^in partition 3: Found unknown categories \['green'\]"):
            model.fit(frame(table), "y")
    with pytest.raises(ValueError, match=r"^in partition 3: Found unknown categories \['green'\]"):
        RelevanceVectorClassifier(behind()).fit(frame(table.assign(y=table["y"] > 0)), "y")


def part_of(number):
    return FRAME[["p", "q", "y"]].drop(columns=["q"] if number == 2 else []).iloc[60 * number : 60 * number + 60]


@pytest.mark.parametrize("y", ["y", None], ids=["by name", "as a series"])
def test_a_column_that_a_partition_lacks_is_named_with_the_partition(y):
    rows = dd.from_map(part_of, range(4), meta=FRAME[["p", "q", "y"]].iloc[:0], enforce_metadata=False)
    data = (rows, y) if y else (rows[["p", "q"]], rows["y"])
    with pytest.raises(ValueError, match=r"partition 2 does not have the columns of the frame: .*'q'"):
        VBLSRegressor().fit(*data)


def test_a_negative_count_is_named_by_its_partition():
    counts = FRAME[NAMES].assign(y=RNG.integers(0, 5, N).astype(float))
    counts.loc[[185, 187], "y"] = -1.0
    counts.loc[:59, "y"] = 0.0  # a partition without any event is fine
    model = RelevanceVectorPoissonRegressor("passthrough")
    with pytest.raises(ValueError, match=r"in partition 3: y must have counts .* row 5 has -1, and 1 more rows are like it"):
        model.fit(frame(counts), "y")
    found = model.fit(frame(counts.clip(lower=0.0).assign(**FRAME[NAMES])), "y")
    assert np.isfinite(found.predict(FRAME[NAMES])).all()


def test_the_advice_of_a_fit_on_landmarks_is_for_rows_in_memory():
    model = VBLSRegressor("rbf", calibrate_std=False)
    rows = RNG.normal(size=(2500, 1))
    model.fit(da.from_array(rows, chunks=(500, 1)), da.from_array(np.sin(rows[:, 0]) + RNG.normal(size=2500), chunks=500))
    assert str(model.outcome_).endswith("centers=None for all inputs if they are in memory.")

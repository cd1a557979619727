"""`skarce fit` of classes and counts to files that are streamed."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skarce.cli.model_file import load
from skarce.cli.streamed import files
from skarce.cli.streamed.passes import METHODS, accuracy, explained_deviance
from skarce.comparison import CLASSIFICATION, own_names
from skarce.datasets import TargetKind
from skarce.datasets.tables import read_table
from skarce.datasets.training import inputs
from tests.cli.commands import assert_one_line, rows_of, run

pytest.importorskip("pyarrow")
N_ROWS = 300
FIT = ("--target", "y", "--centers", "12", "--gamma", "0.3")


@pytest.fixture
def rows(in_a_folder_of_its_own, monkeypatch):
    """Inputs that are read in blocks of at most 64 rows."""
    monkeypatch.setattr(files, "BLOCK_ROWS", 64)
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(5, 3, N_ROWS), "b": rng.choice(["u", "v"], N_ROWS), "noise": rng.logistic(0, 0.5, N_ROWS)})


def labels_of(rows, kind):
    is_high = rows["a"] - 5 + (rows["b"] == "u") + rows["noise"] > 0
    return {"text": is_high.map({False: "low", True: "high"}), "booleans": is_high, "numbers": is_high.astype(int)}[kind]


def written(rows, y, kind):
    frame = rows.drop(columns="noise").assign(y=y)
    frame.to_csv("all.csv", index=False)
    if kind == "csv":
        return "all.csv"
    os.makedirs("parts", exist_ok=True)
    for number, part in enumerate(np.array_split(np.arange(N_ROWS), [70, 200])):
        frame.iloc[part].to_parquet(f"parts/{number}.parquet", index=False)
    return "parts"


def fitted(*arguments, out="m.skops"):
    result = run("fit", *arguments, "--out", out)
    assert result.exit_code == 0, result.output
    return result


def probabilities(model):
    saved = load(Path(model))
    return saved.pipeline.predict_proba(inputs(read_table(Path("all.csv")), saved.columns))


def latent(model):
    """The latent function at all rows. Only rows in memory ask left-out ones for the temperature of the probabilities."""
    saved = load(Path(model))
    return saved.regressor.latent(saved.pipeline[:-1].transform(inputs(read_table(Path("all.csv")), saved.columns)))


@pytest.mark.parametrize(("kind", "label"), [("csv", "text"), ("csv", "numbers"), ("parquet", "booleans"), ("parquet", "text")])
def test_classes_are_those_of_a_fit_in_memory(rows, kind, label):
    y = labels_of(rows, label)
    result = fitted(written(rows, y, kind), *FIT, "--stream")
    assert "Note: the target 'y' " in result.stderr
    assert "recognized as classes" in result.stderr
    fitted("all.csv", *FIT, "--no-stream", out="whole.skops")
    streamed, whole = load(Path("m.skops")), load(Path("whole.skops"))
    assert streamed.regressor.classes_.tolist() == whole.regressor.classes_.tolist() == sorted(set(y))
    np.testing.assert_array_equal(streamed.regressor.active_, whole.regressor.active_)
    np.testing.assert_allclose(latent("m.skops"), latent("whole.skops"), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(probabilities("m.skops"), probabilities("whole.skops"), atol=0.01)
    shown = rows_of(result.stdout)
    right = (np.array(sorted(set(y)))[probabilities("m.skops").argmax(axis=1)] == y).mean()
    assert f"{right:.2%} on the training rows" in shown["accuracy"]
    assert "300, streamed" in shown["rows"]
    assert run("predict", "m.skops", "all.csv", "--out", "p.csv").exit_code == 0


def test_counts_are_those_of_a_fit_in_memory(rows):
    y = np.random.default_rng(1).poisson(np.exp(0.2 * rows["a"]))
    result = fitted(written(rows, y, "parquet"), *FIT, "--stream", "--task", "counts")
    wanted = fitted("all.csv", *FIT, "--no-stream", "--task", "counts", out="whole.skops")
    found, whole = (load(Path(name)) for name in ("m.skops", "whole.skops"))
    X = inputs(read_table(Path("all.csv")), found.columns)
    np.testing.assert_allclose(found.pipeline.predict(X), whole.pipeline.predict(X), rtol=1e-9)
    assert f"D2 {found.pipeline.score(X, y):9.4f}".split() == rows_of(result.stdout)["D2"].split()[:2]
    assert rows_of(wanted.stdout)["D2"].split()[2:] == rows_of(result.stdout)["D2"].split()[2:]


@pytest.mark.parametrize("method", own_names(CLASSIFICATION))
def test_methods_that_need_rows_in_memory_say_so(rows, method):
    data = written(rows, labels_of(rows, "text"), "csv")
    kernels = FIT if method in METHODS[TargetKind.CLASSES] else FIT[:2]
    result = run("fit", data, *kernels, "--stream", "--method", method, "--task", "classification")
    if method in METHODS[TargetKind.CLASSES]:
        assert result.exit_code == 0, result.output
    else:
        assert_one_line(
            result, f"--method {method} needs all rows in memory for classes", "--method frvm or rvm or psvm", "--no-stream"
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_of_a_streamed_machine_are_predicted(rows, n_classes):
    labels = labels_of(rows, "text")
    if n_classes == 3:
        labels = labels.where(rows["a"] > 2.0, "tiny")
    fitted(written(rows, labels, "csv"), *FIT, "--stream", "--method", "psvm", "--task", "classification")
    assert run("predict", "m.skops", "all.csv", "--out", "p.csv").exit_code == 0
    saved, found = load(Path("m.skops")), pd.read_csv("p.csv")
    names = saved.regressor.classes_[1:] if n_classes == 2 else saved.regressor.classes_
    X = inputs(read_table(Path("all.csv")), saved.columns)
    margins = found[[f"y_margin_{name}" for name in names]].to_numpy()
    np.testing.assert_allclose(margins.reshape(-1) if n_classes == 2 else margins, saved.pipeline.decision_function(X))
    best = (margins[:, 0] > 0).astype(int) if n_classes == 2 else margins.argmax(axis=1)
    np.testing.assert_array_equal(found["y_predicted"], saved.regressor.classes_[best])
    assert "y_p_low" not in found


def test_labels_whose_first_text_comes_late_are_text(rows):
    codes = labels_of(rows, "numbers").astype(str)
    codes[250:] = codes[250:].replace("1", "one")
    data = written(rows, codes, "csv")
    fitted(data, *FIT, "--stream", "--task", "classification")
    assert load(Path("m.skops")).regressor.classes_.tolist() == ["0", "1", "one"]


def test_labels_and_counts_that_cannot_be_used_are_one_line(rows):
    def refused(y, *options, kind="csv"):
        result = run("fit", written(rows, y, kind), *FIT, "--stream", *options, "--out", "refused.skops")
        assert not Path("refused.skops").exists()
        return result

    names = pd.Series([f"n{row}" for row in range(N_ROWS)])
    assert_one_line(refused(names, "--task", "classification"), "'y' has more than 100 different values", "too many for classes")
    halves = pd.Series(np.arange(N_ROWS) % 3 + 0.5)
    assert_one_line(refused(halves, "--task", "classification"), "0.5 in line 2", "must be whole")
    assert_one_line(refused(halves.where(halves.index != 203, -1.0), "--task", "counts"), "line 205 of 'y' has -1")
    missing = labels_of(rows, "text").where(rows.index != 203)
    assert_one_line(refused(missing, "--task", "classification"), "1 missing value, in line 205")
    for labels, said in (
        (labels_of(rows, "text"), ", but numbers in parts/9.parquet"),
        (rows["noise"] > 0, "'y' of parts/9.parquet holds numbers, but booleans in the rows before"),
    ):
        written(rows, labels, "parquet")
        rows.drop(columns="noise").assign(y=1).to_parquet("parts/9.parquet")
        assert_one_line(run("fit", "parts", *FIT, "--stream", "--task", "classification"), said)


class Constant:
    """A model that predicts the same for all rows."""

    def __init__(self, value):
        self.value = value

    def predict(self, X):
        return np.full(len(X), self.value)


def test_scores_over_blocks_are_those_of_all_rows(rng):
    from sklearn.metrics import accuracy_score, d2_tweedie_score

    y = rng.poisson(2.0, 100).astype(float)
    blocks = [(np.zeros((len(part), 1)), part) for part in np.array_split(y, [10, 37])]
    assert accuracy(Constant(2.0), iter(blocks)) == pytest.approx(accuracy_score(y, np.full(100, 2.0)))
    assert explained_deviance(Constant(1.5), iter(blocks)) == pytest.approx(d2_tweedie_score(y, np.full(100, 1.5), power=1))

"""`skarce fit` on streamed files calibrates the std from sums of folds, by the rule of every other way in."""

import json
import os
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import pytest

from skarce.cli.model_file import load
from skarce.cli.streamed import files, fit, state
from skarce.comparison import METHODS, REGRESSION
from skarce.datasets.tables import read_table
from skarce.datasets.training import inputs
from skarce.designs import RowBlocks
from tests.cli.commands import assert_one_line, run
from tests.cli.test_cli_large import N_ROWS, predictions, refused, table

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")
LEARNED = ("--target", "price", "--centers", "30", "--widths", "learned", "--stream")


@pytest.fixture
def homes(in_a_folder_of_its_own, monkeypatch):
    """A table in two Parquet files, which are read in blocks of at most 64 rows."""
    monkeypatch.setattr(files, "BLOCK_ROWS", 64)
    frame = table(N_ROWS)
    os.mkdir("parts")
    for number, rows in enumerate(np.array_split(np.arange(N_ROWS), 2)):
        frame.iloc[rows].to_parquet(f"parts/{number}.parquet", row_group_size=100, index=False)
    frame.to_csv("homes.csv", index=False)
    return frame


def fitted(*arguments):
    result = run("fit", "parts", *arguments, "--out", "m.skops")
    assert result.exit_code == 0, result.output
    return result, load(Path("m.skops"))


def by_row_blocks(saved):
    """The model of the same preprocessed rows in `RowBlocks`."""
    training = read_table(Path("homes.csv"))
    X = np.ascontiguousarray(saved.pipeline[0].transform(inputs(training, saved.columns)))  # other rounding is another fold
    model = METHODS[REGRESSION]["frvm"].with_widths("learned").prepared(X, basis__centers=30, basis__random_state=0)
    return model.fit(RowBlocks.from_arrays(X, training.frame["price"].to_numpy(), block_rows=100)), X


def test_the_std_of_learned_widths_is_that_of_row_blocks(homes):
    _, saved = fitted(*LEARNED)
    expected, X = by_row_blocks(saved)
    assert expected.std_scale_ != 1.0
    # Blocks of other sizes add up in another order, and the search stops within its tolerance.
    assert saved.regressor.std_scale_ == pytest.approx(expected.std_scale_, rel=1e-5)
    np.testing.assert_allclose(predictions("m.skops")[1], expected.predict(X, return_std=True)[1], rtol=1e-5)


def test_given_widths_and_many_rows_are_not_calibrated(homes, monkeypatch):
    assert fitted("--target", "price", "--centers", "30", "--gamma", "0.2", "--stream")[1].regressor.std_scale_ == 1.0
    monkeypatch.setattr("skarce.estimators.regressor.MANY_ROWS", N_ROWS - 1)
    assert fitted(*LEARNED)[1].regressor.std_scale_ == 1.0


def stop_after(n_blocks, patch):
    """Let the pass that adds up end with an error after some blocks; a state is written after each of them."""
    real, seen = fit.sums_of_folds, []

    def sums_of_folds(candidates, block):
        if len(seen) == n_blocks:
            raise RuntimeError("stopped")
        seen.append(block)
        return real(candidates, block)

    patch.setattr(state, "SECONDS", 0.0)
    patch.setattr(state, "SHARE_OF_TIME", 1e9)
    patch.setattr(fit, "sums_of_folds", sums_of_folds)


@pytest.fixture
def stopped(homes, monkeypatch):
    """A state of a fit with folds that was stopped after five blocks."""
    with monkeypatch.context() as patch:
        stop_after(5, patch)
        assert run("fit", "parts", *LEARNED, "--state", "s.state").exit_code == 70
    return "s.state"


def test_a_state_keeps_the_folds(homes, stopped):
    result, saved = fitted(*LEARNED, "--state", stopped)
    found, scale = predictions("m.skops"), saved.regressor.std_scale_
    assert "rows are already in s.state" in result.stderr
    assert scale == fitted(*LEARNED)[1].regressor.std_scale_ != 1.0
    np.testing.assert_array_equal(found, predictions("m.skops"))


def rewritten(path, name, edited):
    with ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    parts[name] = json.dumps(edited(json.loads(parts[name]))).encode()
    with ZipFile(path, "w", ZIP_STORED) as archive:
        for part, content in parts.items():
            archive.writestr(part, content)


def test_a_state_of_the_format_before_is_refused(stopped):
    rewritten(stopped, state.HEADER, lambda header: {**header, "format": 1})
    assert_one_line(
        refused("parts", *LEARNED, "--state", stopped), "s.state belongs to another fit: it is of format 1, and this is 2"
    )


@pytest.mark.parametrize("n_folds", [0, 4])
def test_a_state_without_some_of_its_folds_is_refused(stopped, n_folds):
    def cut(schema):
        schema["content"]["sums"]["content"] = schema["content"]["sums"]["content"][:n_folds]
        return schema

    rewritten(stopped, "schema.json", cut)
    assert_one_line(refused("parts", *LEARNED, "--state", stopped), "s.state", "damaged")

"""`skarce fit` on files that are streamed: the same models as in memory, stops and restarts, and what is refused."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import pandas as pd
import pytest

from skarce._whole_file import OutputError
from skarce.cli.ending import Stopped
from skarce.cli.model_file import load
from skarce.cli.streamed import files, fit, state
from skarce.comparison import REGRESSION, own_names
from skarce.datasets.tables import read_table
from skarce.datasets.training import inputs
from tests.cli.commands import assert_one_line, rows_of, run
from tests.cli.real_process import KILL, PATIENCE, assert_one_line_of, command, needs_posix

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")
N_ROWS = 1000
MANY_CSV = ["part0.csv", "part1.csv", "part2.csv"]
FIT = ("--target", "price", "--centers", "30", "--gamma", "0.2")


@pytest.fixture
def homes(in_a_folder_of_its_own, monkeypatch):
    """A table as CSV, gzipped CSV and Parquet files, which is read in blocks of at most 64 rows."""
    monkeypatch.setattr(files, "BLOCK_ROWS", 64)
    frame = table(N_ROWS)
    frame.to_csv("homes.csv", index=False)
    Path("homes.csv.gz").write_bytes(gzip.compress(Path("homes.csv").read_bytes()))
    os.mkdir("parts")
    for number, part in enumerate(np.array_split(np.arange(N_ROWS), [150, 700])):
        frame.iloc[part].to_parquet(f"parts/{number}.parquet", row_group_size=100, index=False)
        frame.iloc[part].to_csv(f"part{number}.csv", index=False)
    return frame


def table(n_rows):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(30, 200, n_rows).round(1),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], n_rows),
            "age": rng.integers(0, 80, n_rows),
            "garden": rng.choice([True, False], n_rows),
        }
    )
    waves = 30.0 * np.sin(frame["size"] / 20.0)
    frame["price"] = frame["size"] - frame["age"] + 50.0 * (frame["town"] == "Bonn") + waves + rng.normal(0, 5, n_rows)
    return frame


def fitted(*arguments, out="m.skops"):
    result = run("fit", *arguments, "--out", out)
    assert result.exit_code == 0, result.output
    return result


def predictions(model, data="homes.csv"):
    saved = load(Path(model))
    return np.array(saved.pipeline.predict(inputs(read_table(Path(data)), saved.columns), return_std=True))


def in_stream(*data):
    fitted(*data, *FIT, "--stream")
    return predictions("m.skops")


def gap(found, wanted, frame):
    """The largest difference of two sets of predictions, in standard deviations of the target."""
    return np.abs(found - wanted).max() / frame["price"].std()


# The same models ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [["homes.csv"], ["homes.csv.gz"], ["parts"], ["parts/*.parquet"], MANY_CSV])
def test_streamed_files_give_the_model_of_a_table_in_memory(homes, data):
    fitted("homes.csv", *FIT, "--no-stream", out="whole.skops")
    assert gap(in_stream(*data)[0], predictions("whole.skops")[0], homes) < 1e-6
    whole, streamed = load(Path("whole.skops")), load(Path("m.skops"))
    assert streamed.columns == whole.columns
    assert streamed.regressor.active_.tolist() == whole.regressor.active_.tolist()
    np.testing.assert_allclose(streamed.regressor.noise_variance_, whole.regressor.noise_variance_, rtol=1e-6)


@pytest.mark.parametrize("method", own_names(REGRESSION))
def test_every_method_for_numbers_can_be_streamed(homes, method):
    kernels = () if method in ("vbls", "stepwise") else ("--centers", "12")
    arguments = ("--target", "price", "--method", method, *kernels)
    if method not in ("vbls", "stepwise", "gps", "gps-u"):
        arguments = (*arguments, "--gamma", "0.2")
    fitted("homes.csv", *arguments, out="whole.skops")
    fitted("homes.csv", *arguments, "--stream")
    tolerance = 1e-3 if method in ("gps", "gps-u") else 1e-6  # learned widths amplify rounding
    assert gap(predictions("m.skops")[0], predictions("whole.skops")[0], homes) < tolerance


def test_several_files_in_memory_are_one_table(homes):
    fitted("homes.csv", *FIT, out="whole.skops")
    for data in (["parts"], MANY_CSV, ["parts/2.parquet", "parts/0.parquet", "parts/1.parquet"]):
        fitted(*data, *FIT)
        assert gap(predictions("m.skops")[0], predictions("whole.skops")[0], homes) < 1e-9


def test_predict_and_explain_take_a_streamed_model(homes):
    fitted("homes.csv", *FIT, out="whole.skops")
    result = fitted("parts", *FIT, "--stream")
    for options in (["--std", "augmented"], ["--interval", "0.9"]):
        tables = []
        for model in ("m.skops", "whole.skops"):
            assert run("predict", model, "homes.csv", "--out", "p.csv", *options).exit_code == 0
            tables.append(pd.read_csv("p.csv"))
        assert list(tables[0]) == list(tables[1])
    assert run("explain", "m.skops").exit_code == 0
    shown, wanted = rows_of(result.stdout), rows_of(fitted("homes.csv", *FIT).stdout)
    assert shown["R2"] == wanted["R2"]
    assert shown["noise"] == wanted["noise"]
    assert shown["functions"] == wanted["functions"]
    assert "1,000, streamed" in shown["rows"]


def test_the_scales_and_texts_are_those_of_all_rows(homes):
    homes.sort_values(["town", "size"]).to_csv("sorted.csv", index=False)
    fitted("sorted.csv", *FIT, "--no-stream", out="whole.skops")
    in_stream("sorted.csv")
    streamed, whole = (load(Path(name)).pipeline[0] for name in ("m.skops", "whole.skops"))
    np.testing.assert_allclose(streamed.transform(homes), whole.transform(homes), rtol=1e-9, atol=1e-12)


def test_excluded_columns_are_not_read(homes):
    homes.assign(id=[f"h{row}" for row in range(N_ROWS)]).to_parquet("ids.parquet")
    fitted("ids.parquet", *FIT, "--stream", "--exclude", "id,age")
    assert list(load(Path("m.skops")).columns) == ["size", "town", "garden"]


def test_files_may_lack_excluded_columns_and_have_others(homes):
    homes[:500].assign(id=1).to_csv("a.csv", index=False)
    homes[500:].assign(other=1)[[*homes.columns[::-1], "other"]].to_csv("b.csv", index=False)
    fitted("homes.csv", *FIT, out="whole.skops")
    for how in ("--stream", "--no-stream"):
        fitted("a.csv", "b.csv", *FIT, how, "--exclude", "id")
        assert gap(predictions("m.skops")[0], predictions("whole.skops")[0], homes) < 1e-6
        assert_one_line(refused("a.csv", "b.csv", *FIT, how), "b.csv has no column 'id'")


def test_a_column_that_is_text_in_one_file_is_text_in_all(homes):
    homes[:500].assign(code=1).to_csv("a.csv", index=False)
    for values in ("new", True):
        homes[500:].assign(code=values).to_csv("b.csv", index=False)
        for how in ("--stream", "--no-stream"):
            fitted("a.csv", "b.csv", *FIT, how)
            saved = load(Path("m.skops"))
            assert saved.columns["code"] == "text"
            assert saved.pipeline[0].named_transformers_["texts"].categories_[1].tolist() == ["1", str(values)]


def test_keys_of_folders_are_columns(homes):
    for town, part in homes.groupby("town"):
        os.makedirs(f"hive/town={town}")
        part.drop(columns="town").to_parquet(f"hive/town={town}/0.parquet")
    for how in ("--stream", "--no-stream"):
        fitted("hive", *FIT, how)
        assert load(Path("m.skops")).columns["town"] == "text"


def test_a_column_whose_first_text_comes_late_is_text(homes):
    codes = homes["age"] % 3
    late = codes.astype(object).where(homes.index < 900, "new")
    homes.assign(code=late).to_csv("late.csv", index=False)
    fitted("late.csv", *FIT, "--no-stream", out="whole.skops")
    fitted("late.csv", *FIT, "--stream")
    assert load(Path("m.skops")).columns["code"] == "text"
    assert gap(predictions("m.skops", "late.csv")[0], predictions("whole.skops", "late.csv")[0], homes) < 1e-6


# Which data are streamed --------------------------------------------------------------------------------------------------------


def test_data_above_the_memory_budget_are_streamed(homes, monkeypatch):
    assert "streamed" not in fitted("homes.csv", *FIT).output
    monkeypatch.setattr("skarce.cli.streamed.choice.memory_budget", lambda: 20_000.0)
    for data in ("homes.csv", "homes.csv.gz", "parts"):
        result = fitted(data, *FIT)
        assert "so they are streamed; --no-stream" in result.stderr
        assert "1,000, streamed" in result.stdout
    assert "streamed" not in fitted("homes.csv", *FIT, "--no-stream").output


@needs_posix
def test_a_pipe_is_read_as_one_table(homes):
    text = Path("homes.csv").read_bytes()
    arguments = command("fit", "/dev/stdin", *FIT, "--out", "m.skops")
    assert subprocess.run(arguments, input=text, capture_output=True, timeout=PATIENCE, check=False).returncode == 0
    refused = subprocess.run([*arguments, "--stream"], input=text, capture_output=True, timeout=PATIENCE, check=False)
    assert_one_line_of(refused.stderr, "/dev/stdin", "read twice")


# What is refused ----------------------------------------------------------------------------------------------------------------


def refused(*arguments):
    result = run("fit", *arguments, "--out", "refused.skops")
    assert not Path("refused.skops").exists()
    return result


def test_missing_values_are_named(homes):
    gaps = homes.assign(age=homes["age"].where(homes.index != 203), town=homes["town"].where(homes.index != 407))
    gaps.to_csv("gaps.csv", index=False)
    gaps.to_parquet("gaps.parquet")
    streamed = "--missing fill with --no-stream"
    assert_one_line(refused("gaps.csv", *FIT, "--stream"), "gaps.csv", "'age'", "line 205", "--missing drop", streamed)
    assert_one_line(refused("gaps.parquet", *FIT, "--stream"), "gaps.parquet", "'age'", "row 204")
    assert_one_line(refused("gaps.csv", *FIT, "--stream", "--exclude", "age"), "'town'", "line 409")
    assert_one_line(refused("gaps.parquet", "homes.parquet", *FIT, "--stream"), "homes.parquet does not exist")
    shutil.move("gaps.parquet", "parts/9.parquet")
    assert_one_line(refused("parts", *FIT, "--stream"), "parts/9.parquet", "row 204")
    assert_one_line(
        refused("parts", *FIT, "--no-stream"), "'age' (1)", "'town' (1)", "row 204 of parts/9.parquet", "--missing fill to fill in"
    )


def test_too_many_texts_are_refused(homes):
    homes.assign(id=[f"h{row}" for row in range(N_ROWS)]).to_csv("ids.csv", index=False)
    assert_one_line(refused("ids.csv", *FIT, "--stream"), "'id'", "more than 100 different texts", "--exclude id")
    homes.assign(size=homes["size"].astype(object).where(homes.index != 777, "12.O")).to_csv("typo.csv", index=False)
    assert_one_line(refused("typo.csv", *FIT, "--stream"), "'size'", "line 779", "'12.O'")


def test_classes_and_counts_have_no_state(homes):
    for values in (homes["town"], homes["garden"], homes["age"] % 4):
        homes.assign(price=values).to_csv("classes.csv", index=False)
        result = refused("classes.csv", *FIT, "--stream", "--state", "s.state")
        assert_one_line(result, "recognized as classes", "leave --state out", "--task regression")
    for task in ("classification", "counts"):
        assert_one_line(refused("classes.csv", *FIT, "--stream", "--state", "s", "--task", task), "leave --state out")
    fitted("classes.csv", *FIT, "--stream", "--state", "s", "--task", "regression")


def test_a_target_that_is_the_same_in_all_rows_is_refused(homes):
    for value, options in ((3, []), ("a", ["--task", "classification"]), (0, ["--task", "counts"])):
        homes.assign(price=value).to_csv("constant.csv", index=False)
        assert_one_line(refused("constant.csv", *FIT, "--stream", *options), f"the same in all rows ({value})")


def test_what_needs_rows_in_memory_says_so(homes):
    assert_one_line(refused("homes.csv", "--target", "price", "--stream", "--widths", "cv"), "--widths evidence")
    assert_one_line(refused("homes.csv", "--target", "price", "--stream", "--method", "svr"), "'svr' is a rival")


def test_sums_that_do_not_fit_are_refused(homes, monkeypatch):
    monkeypatch.setattr(fit, "fits", lambda *shape: False)
    assert_one_line(refused("homes.csv", *FIT, "--stream"), "30 candidates", "--centers")


def test_files_that_do_not_go_together_are_refused(homes):
    homes.drop(columns="age").to_csv("narrow.csv", index=False)
    for how in ("--stream", "--no-stream"):
        assert_one_line(refused("homes.csv", "narrow.csv", *FIT, how), "narrow.csv", "'age'")
        assert_one_line(refused("homes.csv", "parts/0.parquet", *FIT, how), "one format")
        assert_one_line(refused("homes.csv", "homes.csv", *FIT, how), "given twice")
        assert_one_line(refused("no*.csv", *FIT, how), "no*.csv")
    homes.assign(town=1).to_parquet("parts/9.parquet")
    assert_one_line(refused("parts", *FIT, "--stream"), "parts/9.parquet", "'town'", "numbers")


def written(frame, path, **columns):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    frame.assign(**columns).to_parquet(path)


KINDS = {
    "numbers, but text": (lambda homes: homes["size"], lambda homes: homes["size"].astype(str)),
    "text, but numbers": (lambda homes: homes["town"].astype("category"), lambda homes: 1),
    "numbers, but dates or times": (lambda homes: homes["size"], lambda homes: pd.Timestamp("2024-01-01")),
    "text, but lists or other objects": (lambda homes: homes["town"], lambda homes: [[1]] * N_ROWS),
}


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
@pytest.mark.parametrize(("kinds", "columns"), KINDS.items(), ids=list(KINDS))
def test_a_column_of_two_kinds_is_named_with_both_files(homes, how, kinds, columns):
    for number, column in enumerate(columns):
        written(homes, f"mixed/{number}.parquet", mark=column(homes))
    before, after = kinds.split(", ")
    said = f"Error: column 'mark' holds {before} in mixed/0.parquet, {after} in mixed/1.parquet; write it in the same way"
    assert_one_line(refused("mixed", *FIT, how), said)
    fitted("mixed", *FIT, how, "--exclude", "mark")


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
def test_keys_of_folders_are_of_one_kind(homes, how):
    for key in ("12", "A1"):
        written(homes, f"zones/zone={key}/0.parquet")
    assert_one_line(refused("zones", *FIT, how), "'zone' holds numbers in zones/zone=12/0.parquet, but text in zones/zone=A1/")


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
def test_a_file_without_values_in_a_column_says_nothing_about_its_kind(homes, how):
    written(homes, "gaps/0.parquet", town=np.nan)
    written(homes, "gaps/1.parquet")
    written(homes[:0], "gaps/2.parquet", town=np.zeros(0))
    fitted("gaps", *FIT, how, "--missing", "drop")
    assert load(Path("m.skops")).columns["town"] == "text"


@pytest.mark.parametrize("damage", ["cut", "text", "quote", "bytes", "gzip"])
def test_damaged_files_are_one_line(homes, damage):
    content = Path("homes.csv").read_bytes()
    name = "bad.csv.gz" if damage == "gzip" else "bad.csv"
    lines = content.splitlines(keepends=True)
    middle = {"cut": b"1,2\n", "text": b"a,b,c,d,e,f\n", "quote": b'"1,Bonn,1,True,2\n', "bytes": b"1,B\xffnn,1,True,2\n"}
    Path(name).write_bytes(gzip.compress(content)[:-100] if damage == "gzip" else b"".join([*lines[:500], middle[damage]]))
    mention = {"cut": "line 501", "text": "line 501", "quote": "line 501", "bytes": "UTF-8", "gzip": "gzip"}[damage]
    assert_one_line(refused(name, *FIT, "--stream"), name, mention)


def test_a_damaged_parquet_file_is_one_line(homes):
    content = bytearray(Path("parts/1.parquet").read_bytes())
    content[200:2000] = b"\xff" * 1800
    Path("parts/1.parquet").write_bytes(content)
    assert_one_line(refused("parts", *FIT, "--stream"), "parts/1.parquet cannot be read as Parquet")


def test_a_file_that_changes_between_the_passes_is_refused(homes, monkeypatch):
    real = fit.summarize

    def summarize(*arguments, **options):
        summary = real(*arguments, **options)
        with open("homes.csv", "a") as file:
            file.write("1,Bonn,1,True,2\n")
        return summary

    monkeypatch.setattr(fit, "summarize", summarize)
    monkeypatch.setattr(fit, "sums_of_rows", lambda *arguments: pytest.fail("worked in vain"))
    assert_one_line(refused("homes.csv", *FIT, "--stream"), "homes.csv has changed", "run the command again")
    result = refused("homes.csv", *FIT, "--stream", "--state", "s.state")
    assert_one_line(result, "homes.csv has changed", "s.state no longer fits", "delete it")
    assert "run the command again" not in result.stderr
    Path("s.state").unlink()
    assert_one_line(refused("homes.csv", *FIT, "--stream", "--state", "s.state"), "s.state no longer fits")


# The state ----------------------------------------------------------------------------------------------------------------------


class BrokenError(Exception):
    """Ends a fit in the middle of a pass."""


def stop_after(n_blocks, monkeypatch, error=BrokenError):
    """Let the pass that adds up end with an error after some blocks; a state is written after each of them."""
    real, seen = fit.sums_of_rows, []

    def sums_of_rows(candidates, block):
        if len(seen) == n_blocks:
            raise error
        seen.append(block)
        return real(candidates, block)

    monkeypatch.setattr(state, "SECONDS", 0.0)
    monkeypatch.setattr(state, "SHARE_OF_TIME", 1e9)
    monkeypatch.setattr(fit, "sums_of_rows", sums_of_rows)


@pytest.fixture
def stopped(homes, monkeypatch):
    """A state of a fit that was stopped after five blocks."""
    with monkeypatch.context() as patch:
        stop_after(5, patch)
        assert run("fit", "parts", *FIT, "--stream", "--state", "s.state").exit_code == 70
    assert Path("s.state").exists()
    return "s.state"


@pytest.mark.parametrize("data", [["parts"], ["homes.csv"], ["homes.csv.gz"]])
@pytest.mark.parametrize("n_blocks", [0, 1, 3, 9])
def test_a_fit_that_was_stopped_goes_on_to_the_same_model(homes, monkeypatch, data, n_blocks):
    wanted = in_stream(*data)
    with monkeypatch.context() as patch:
        stop_after(n_blocks, patch)
        assert run("fit", *data, *FIT, "--stream", "--state", "s.state", "--out", "x.skops").exit_code == 70
    assert not Path("x.skops").exists()
    monkeypatch.setattr(fit, "summarize", lambda *arguments, **options: pytest.fail("the summary is in the state"))
    result = fitted(*data, *FIT, "--stream", "--state", "s.state")
    assert "rows are already in s.state" in result.stderr
    np.testing.assert_array_equal(predictions("m.skops"), wanted)
    assert not Path("s.state").exists()


@pytest.mark.parametrize("data", ["parts", "homes.csv"])
def test_after_a_search_that_failed_no_row_is_added_again(homes, monkeypatch, data):
    wanted = in_stream(data)
    with monkeypatch.context() as patch:
        patch.setattr(fit, "explained_share", lambda *arguments: {}["lost"])
        assert run("fit", data, *FIT, "--stream", "--state", "s.state", "--out", "x.skops").exit_code == 70
    monkeypatch.setattr(fit, "sums_of_rows", lambda *arguments: pytest.fail("all rows are in the state"))
    assert "1,000 of 1,000 rows" in fitted(data, *FIT, "--stream", "--state", "s.state").stderr
    np.testing.assert_array_equal(predictions("m.skops"), wanted)


def test_a_model_that_cannot_be_written_leaves_the_state(homes, monkeypatch):
    def full(model, path):
        raise OutputError(f"{path} cannot be written: No space left on device.")

    monkeypatch.setattr("skarce.cli.fitting.save", full)
    assert_one_line(refused("parts", *FIT, "--stream", "--state", "s.state"), "No space left")
    assert Path("s.state").exists()


def test_the_state_knows_which_rows_are_in(stopped):
    result = fitted("parts", *FIT, "--stream", "--state", stopped)
    assert f"{64 + 64 + 22 + 64 + 64} of 1,000 rows are already in" in result.stderr


def test_a_state_is_written_after_each_file(homes, monkeypatch):
    written = []
    real = state.StateFile.save
    monkeypatch.setattr(state.StateFile, "save", lambda self, now: (written.append(now.n_done), real(self, now)))
    fitted("parts", *FIT, "--stream", "--state", "s.state")
    assert written == [0, 150, 700, 1000]


def test_a_state_is_replaced_as_a_whole(stopped, monkeypatch):
    before = Path(stopped).read_bytes()

    def half_written(content, draft):
        draft.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(state.skops.io, "dump", half_written)
    assert refused("parts", *FIT, "--stream", "--state", stopped).exit_code == 130
    assert Path(stopped).read_bytes() == before
    assert not list(Path().glob(".skarce-*"))


def test_states_are_written_after_some_seconds(homes):
    now, written = [0.0], []
    file = state.StateFile(None, {}, clock=lambda: now[0])
    file.save = lambda of: written.append(now[0])
    for now[0] in (1.0, 4.9, 5.0):
        file.save_now_and_then(None)
    assert written == [5.0]


CHANGES = {
    "option": (["parts", "--target", "price", "--centers", "31", "--gamma", "0.2"], "--centers was 30, and is 31"),
    "new option": (["parts", *FIT, "--max-time", "9"], "--max-time was not given, and is 9"),
    "target": (["parts", "--target", "age", "--centers", "30", "--gamma", "0.2"], "--target was price, and is age"),
    "fewer files": (["parts/1.parquet", "parts/2.parquet", *FIT], "0.parquet is no longer among the files"),
    "other files": (["homes.csv", *FIT], "among the files"),
}


@pytest.mark.parametrize(("arguments", "mention"), CHANGES.values(), ids=list(CHANGES))
def test_a_state_of_another_fit_is_refused(stopped, arguments, mention):
    before = Path(stopped).read_bytes()
    assert_one_line(refused(*arguments, "--stream", "--state", stopped), "s.state belongs to another fit", mention)
    assert Path(stopped).read_bytes() == before


def test_a_state_of_changed_files_is_refused(stopped, homes):
    os.utime("parts/1.parquet", (1, 1))
    assert_one_line(refused("parts", *FIT, "--stream", "--state", stopped), "1.parquet has another time of change now")
    homes.to_parquet("parts/1.parquet")
    assert_one_line(refused("parts", *FIT, "--stream", "--state", stopped), "1.parquet has another size now")


def test_a_state_of_another_version_is_refused(stopped, monkeypatch):
    monkeypatch.setattr(state, "__version__", "99.0")
    assert_one_line(refused("parts", *FIT, "--stream", "--state", stopped), "it is of skarce", "this is 99.0")


def rewritten(path, **changes):
    """Write an archive again with some parts changed."""
    with ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with ZipFile(path, "w", ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, changes[name](content) if name in changes else content)


def test_damaged_states_are_one_line(stopped):
    whole = Path(stopped).read_bytes()
    places = np.linspace(0, len(whole) - 1, 12).astype(int)
    flipped = [whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :] for place in places]
    for content in (b"", b"text", whole[:-50], whole[: len(whole) // 2], Path("homes.csv").read_bytes(), *flipped):
        Path(stopped).write_bytes(content)
        result = run("fit", "parts", *FIT, "--stream", "--state", stopped, "--out", "refused.skops")
        if result.exit_code:  # a date in the archive may be any
            assert_one_line(result, "s.state", "--state")
        Path(stopped).write_bytes(whole)


@pytest.mark.parametrize("what", ["gram", "place", "foreign"])
def test_states_that_were_edited_are_one_line(stopped, what):
    def edited(content):
        schema = json.loads(content)
        parts = schema["content"]
        if what == "gram":
            sums = parts["sums"]["content"][0]["content"]["content"]
            sums["gram"], sums["projections"] = sums["projections"], sums["gram"]
        elif what == "place":
            parts["place"]["content"][0]["content"] = "7"
        else:
            parts["basis"]["__module__"], parts["basis"]["__class__"] = "os", "system"
        return json.dumps(schema).encode()

    rewritten(stopped, **{"schema.json": edited})
    assert_one_line(refused("parts", *FIT, "--stream", "--state", stopped), "s.state", "--state")


def test_a_model_is_no_state(homes):
    fitted("homes.csv", *FIT)
    before = Path("m.skops").read_bytes()
    assert_one_line(refused("homes.csv", *FIT, "--stream", "--state", "m.skops"), "m.skops is not a state")
    assert Path("m.skops").read_bytes() == before


def test_where_a_state_cannot_be(homes):
    for path, mention in (("homes.csv", "is an input"), ("no/s.state", "does not exist"), (".", "regular file")):
        assert_one_line(refused("homes.csv", *FIT, "--stream", "--state", path), mention)
    assert "different names" in refused("homes.csv", *FIT, "--stream", "--state", "refused.skops").stderr
    result = refused("homes.csv", *FIT, "--state", "s.state")
    assert result.exit_code == 2
    assert "--stream" in result.stderr
    assert not Path("s.state").exists()


def test_ctrl_c_keeps_the_state_and_says_so(homes, monkeypatch):
    wanted = in_stream("parts")
    with monkeypatch.context() as patch:
        stop_after(5, patch, KeyboardInterrupt)
        result = refused("parts", *FIT, "--stream", "--state", "s.state")
    assert result.exit_code == 130
    kept = "The sums of 278 of 1,000 rows are in s.state: the same command goes on."
    assert result.stderr.splitlines()[-1] == f"Interrupted; no model was written. {kept}"
    fitted("parts", *FIT, "--stream", "--state", "s.state")
    np.testing.assert_array_equal(predictions("m.skops"), wanted)


def test_ctrl_c_loses_the_block_at_work_only(homes, monkeypatch):
    wanted, real, seen = in_stream("homes.csv"), fit.sums_of_rows, []

    def sums_of_rows(candidates, block):
        seen.append(block)
        sums = real(candidates, block)
        if len(seen) == 6:
            raise KeyboardInterrupt
        return sums

    with monkeypatch.context() as patch:
        patch.setattr(fit, "sums_of_rows", sums_of_rows)
        result = refused("homes.csv", *FIT, "--stream", "--state", "s.state")
    assert f"The sums of {5 * 64} of 1,000 rows are in s.state" in result.stderr
    assert "320 of 1,000 rows are already in s.state" in fitted("homes.csv", *FIT, "--stream", "--state", "s.state").stderr
    np.testing.assert_array_equal(predictions("m.skops"), wanted)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_if_the_sums_cannot_be_written_ctrl_c_tells_the_rows_of_the_last_state(homes, monkeypatch, error):
    real, n_written = state.skops.io.dump, []

    def dump(content, draft):
        n_written.append(content)
        if len(n_written) > 2:  # one state at the beginning, and one after the first file
            raise error
        real(content, draft)

    with monkeypatch.context() as patch:
        stop_after(5, patch, KeyboardInterrupt)
        patch.setattr(state, "SECONDS", 1e9)
        patch.setattr(state.skops.io, "dump", dump)
        result = refused("parts", *FIT, "--stream", "--state", "s.state")
    assert result.exit_code == 130
    assert "The sums of 150 of 1,000 rows are in s.state" in result.stderr
    assert "150 of 1,000 rows are already in s.state" in fitted("parts", *FIT, "--stream", "--state", "s.state").stderr


def test_ctrl_c_in_the_search_says_that_all_rows_are_in(homes, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "explained_share", interrupted)
    result = refused("homes.csv", *FIT, "--stream", "--state", "s.state")
    assert "The sums of 1,000 of 1,000 rows are in s.state" in result.stderr


@pytest.mark.parametrize("message", ["", "Terminated; no file was written."], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("place", ["named_files", "StateFile.load", "save"])
def test_a_stop_before_and_after_the_pass_says_that_the_state_is_there(stopped, monkeypatch, message, place):
    def interrupted(*arguments):
        raise Stopped(message)

    word = "Terminated" if message else "Interrupted"
    monkeypatch.setattr(f"skarce.cli.fitting.{place}", interrupted)
    for name in (stopped, "new.state"):
        said = refused("parts", *FIT, "--stream", "--state", name).stderr.splitlines()[-1]
        kept = f"no model was written. The state in {name} is still there."
        assert said == f"{word}; {kept if Path(name).exists() else 'no file was written.'}"
    assert Path("new.state").exists() == (place == "save")
    assert Path(stopped).exists()


def test_ctrl_c_without_a_state_is_one_line(homes, monkeypatch):
    stop_after(5, monkeypatch, KeyboardInterrupt)
    result = refused("parts", *FIT, "--stream")
    assert result.exit_code == 130
    assert result.stderr == "Interrupted; no file was written.\n"


WAITS = """if True:
    import os, sys
    from skarce.cli import app
    from skarce.cli.streamed import files, fit, state
    files.BLOCK_ROWS, state.SECONDS, state.SHARE_OF_TIME = 64, 0.0, 1e9
    real, seen = fit.sums_of_rows, []
    def sums_of_rows(candidates, block):
        sums = real(candidates, block)
        seen.append(block)
        if len(seen) == 7:  # in the middle of a block: the sums have it, and the state does not
            os.write(1, b".")
            sys.stdin.read()
        return sums
    fit.sums_of_rows = sums_of_rows
    app(sys.argv[1:])
"""


@needs_posix
@pytest.mark.parametrize("data", ["parts", "homes.csv"])
@pytest.mark.parametrize(("number", "code"), [(KILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_process_that_is_killed_can_be_started_again(homes, data, number, code):
    wanted = in_stream(data)
    arguments = ["fit", data, *FIT, "--stream", "--state", "s.state", "--out", "killed.skops"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", WAITS, *arguments], **pipes)
    try:
        assert process.stdout.read(1) == b".", process.stderr.read()
        process.send_signal(number)
        process.wait(PATIENCE)
        said = process.stderr.read()
    finally:
        process.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
    assert process.returncode == code
    if number != KILL:
        assert_one_line_of(said, "no model was written", "s.state")
    assert not Path("killed.skops").exists()
    assert not list(Path().glob(".skarce-*"))
    result = fitted(data, *FIT, "--stream", "--state", "s.state")
    assert "rows are already in s.state" in result.stderr
    np.testing.assert_array_equal(predictions("m.skops"), wanted)
    assert not Path("s.state").exists()

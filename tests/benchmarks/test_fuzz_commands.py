"""What the fuzz harness says about commands, tables and model files, and its report."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fuzz import __main__ as fuzz
from benchmarks.fuzz import archive, commands, table_twists
from benchmarks.fuzz.commands import judged, judged_prediction, judged_table, little_memory, no_code_is_run
from benchmarks.fuzz.model_files import ModelCase
from benchmarks.fuzz.names import namespace
from benchmarks.fuzz.tables import TableCase
from benchmarks.fuzz.watch import Seen, run_lines
from tests.benchmarks import jobs


def kinds(faults):
    return {fault.kind for fault in faults}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("output", "code", "kind"),
    [
        ("Error: there is no such column.\n", 2, None),
        ("Note: one column is text.\nError: too few rows.\n", 2, None),
        ("", 0, None),
        ("", 2, "exit code 2 without a message"),
        ("", 77, "exit code 77"),
        ("Error: one\ntwo\n", 2, "error of several lines"),
        ("Error: " + "x" * 1000, 2, "long error message"),
        ("Traceback (most recent call last):\n", 1, "traceback is printed"),
    ],
)
def test_messages_of_commands_are_judged(output, code, kind):
    assert kinds(judged(Seen(output=output), code, ("fit",))) == ({kind} if kind else set())


def test_exceptions_of_commands_are_faults():
    assert kinds(judged(Seen(error=KeyError("y")), None, ("fit",))) == {"KeyError reaches the user"}


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("a,y_mean,y_std\n1,2,3\n4,5,6\n", None),
        ("a,y_mean,y_std\n1,2,3\n4,5\n", "records of different length are written"),
        ("a,y_mean,y_std\n1,2,3\n", "rows are lost"),
        ("a,y_mean,y_std\n1,2,3\n4,nan,6\n", "predictions are not finite"),
    ],
)
def test_predictions_are_judged(written, kind):
    Path("table.csv").write_text("a\n1\n4\n")
    Path("predictions.csv").write_text(written)
    assert kinds(judged_prediction(Path("table.csv"), Path("predictions.csv"))) == ({kind} if kind else set())


def test_records_longer_than_the_header_are_seen():
    Path("table.csv").write_text("a,y\n1,2,3\n4,5,6\n")
    assert kinds(judged_table(Path("table.csv"), "fit")) == {"longer records than the header are accepted"}


def test_code_that_is_run_is_heard():
    found = []
    with no_code_is_run(found):
        os.system("true")
    assert kinds(found) == {"a model file runs code"}


@pytest.mark.skipif(not commands.CLEAR.exists(), reason="the peak of the memory is known on Linux only")
def test_much_memory_is_seen(monkeypatch):
    monkeypatch.setattr(commands, "MOST_MEGABYTES", 20.0)
    found = []
    with little_memory(found, "skarce explain"):
        np.ones(2**23).sum()
    assert kinds(found) == {"much memory"}


def test_a_command_that_ends_in_a_traceback_is_seen(monkeypatch):
    case = ModelCase("regression", "frvm", edits=("data = data[:100]",))
    assert case.run() == []

    def entry():
        if sys.argv[1] == "explain":
            raise KeyError("model")
        sound()

    sound = commands.main
    monkeypatch.setattr(commands, "main", entry)
    assert kinds(case.run()) == {"KeyError reaches the user"}


def test_a_sound_table_has_no_faults():
    assert TableCase("predict").run() == []
    assert TableCase("fit", target="nothing").run() == []


@pytest.mark.parametrize("place", ["twists", "byte_twists", "file_twist"])
def test_every_line_that_changes_a_table_runs(place):
    columns = [f"frame['y'] = {column}" for column in table_twists.ODD_COLUMNS]
    texts = [f"data = with_cell(data, 2, 1, {text})" for text in table_twists.ODD_TEXTS]
    lines = {
        "twists": [*table_twists.FRAME_TWISTS, *columns],
        "byte_twists": [*table_twists.BYTE_TWISTS, *texts],
        "file_twist": table_twists.FILE_TWISTS,
    }
    for number, line in enumerate(lines[place]):
        case = TableCase("fit", name=f"{number}.csv", **{place: line if place == "file_twist" else (line,)})
        seen = run_lines("\n".join(case.setup()), namespace(case.snippet()))
        assert seen.error is None, case.snippet()


def test_edits_of_an_archive_do_what_they_say():
    exec(TableCase("fit").snippet(), {})
    data = Path("model.skops").read_bytes()
    assert archive.flipped(b"\x00\x00", 1) == b"\x00\x02"
    for edited in (
        archive.with_value(data, 3, 7),
        archive.with_type(data, 3, "os", "system"),
        archive.with_entry(data, 3, 1, None),
        archive.without_entry(data, 3, 1),
        archive.without_attribute(data, 0, 0),
        archive.with_copy(data, 3, 9),
        archive.with_array(data, 1, lambda a: a * np.nan),
        archive.with_part(data, 0, b"x"),
        archive.with_flipped_part(data, 0, 9),
        archive.with_bomb(data, 1),
    ):
        before, after = archive._parts(data), archive._parts(edited)
        assert sum(before.get(name) != part for name, part in after.items()) >= 1


def test_the_report_groups_faults_and_the_exit_code_tells(monkeypatch, capsys):
    monkeypatch.setitem(fuzz.PARTS, "estimators", lambda rng: jobs.Faulty(int(rng.integers(4, 20))))
    assert fuzz.main(["--fits", "5", "--seed", "1"]) == 1
    told = capsys.readouterr().out
    assert told.count("# too large in here: ") == 1
    assert "(5 cases)" in told
    assert "size = 4" in told
    monkeypatch.setitem(fuzz.PARTS, "estimators", lambda rng: jobs.Faulty(1))
    assert fuzz.main(["--fits", "2"]) == 0

"""`skarce reproduce`, from arguments to files and exit codes."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from skarce._progress import Lines
from skarce.cli.reproducing import _progress as shown_run
from skarce.datasets import DataNotFoundError
from skarce.reproduce.runner.findings import findings
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.run import Run
from skarce.reproduce.runner.summary_table import summary_table
from skarce.reproduce.runner.workers import ignore_sigint_in_children
from tests.cli.commands import assert_one_line, run
from tests.reproduce.tiny_paper import PLAIN, RIDGE, TINY, Failing


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """`skarce reproduce fgcv` with the tiny paper in its place, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: TINY)
    return tmp_path


def test_the_command_writes_tables_numbers_and_pictures(tiny):
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert result.exit_code == 0, result.output
    assert sorted(os.listdir("out")) == ["one.png", "records.jsonl", "results.json", "tables.md", "two.png"]
    assert "First: 4 of the paper's 4 were run, 4 of them tuned" in result.stdout
    assert len(json.loads(Path("out/results.json").read_text())["records"]) == 12
    again = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert "12 results are already in out" in again.stderr


@pytest.mark.parametrize("width", ["30", None])
def test_a_file_gets_whole_tables(tiny, monkeypatch, width):
    monkeypatch.delenv("COLUMNS")
    if width is not None:
        monkeypatch.setenv("COLUMNS", width)
    renamed = {contender.name: f"{contender.label} by a name that makes the table wide" for contender in TINY.contenders}
    wide = replace(TINY, contenders=tuple(replace(c, printed_as=renamed[c.name]) for c in TINY.contenders))
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: wide)
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out", "--repeats", "2")
    assert "…" not in result.stdout
    (finding, _) = findings(wide, list(Store.open(tiny / "out" / "records.jsonl").records.values()))
    headings, rows = summary_table(finding, on_screen=True)
    lines = [line.strip() for line in result.stdout.splitlines()]
    for cells in (headings, *rows):
        assert any(line.startswith(cells[0].strip()) and all(cell.strip() in line for cell in cells) for line in lines)
    assert max(map(len, lines)) > 100


def test_quick_results_have_a_folder_of_their_own(tiny):
    assert run("reproduce", "fgcv", "--jobs", "1", "--quick", "--repeats", "1").exit_code == 0
    assert run("reproduce", "fgcv", "--jobs", "1", "--only", "two").exit_code == 0
    assert sorted(os.listdir("results/reproduce")) == ["fgcv", "fgcv-quick"]
    assert len(json.loads(Path("results/reproduce/fgcv/results.json").read_text())["records"]) == 4


def test_fresh_forgets_what_was_there(tiny):
    run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out", "--fresh", "--only", "one", "--repeats", "1")
    assert "already" not in result.stderr
    assert len(Path("out/records.jsonl").read_text().splitlines()) == 2


def test_without_matplotlib_the_command_says_how_to_get_pictures(tiny, monkeypatch):
    monkeypatch.setattr("skarce.reproduce.runner.figures.find_spec", lambda name: None)
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert result.exit_code == 0
    assert 'pip install ".[plot]"' in result.stderr
    assert not list(Path("out").glob("*.png"))
    assert "![" not in Path("out/tables.md").read_text()


def test_an_interrupt_says_how_to_go_on_and_keeps_what_there_is(tiny, monkeypatch):
    def interrupted(self, on_progress):
        self._work([self._unit("one", 0, "ridge")], None, on_progress)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Run, "run", interrupted)
        result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert result.exit_code == 130
    # An older rich ends its progress bar with an empty line.
    assert result.stderr.lstrip() == "Interrupted; 1 results are in out. The same command continues from there.\n"
    assert sorted(os.listdir("out")) == ["records.jsonl", "results.json", "tables.md"]


def test_processes_of_a_run_ignore_an_interrupt():
    before = signal.getsignal(signal.SIGINT)
    ask = [sys.executable, "-c", "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"]
    with ignore_sigint_in_children():
        assert subprocess.run(ask, capture_output=True, text=True, check=True).stdout == "True\n"
    assert signal.getsignal(signal.SIGINT) is before
    assert subprocess.run(ask, capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_log_is_told_how_far_a_run_is_and_how_long_it_will_take(monkeypatch):
    said = []
    monkeypatch.setattr("skarce.cli.streamed.progress.Lines", lambda say, first: Lines(said.append, first=0.0))  # each step is told
    with shown_run() as on_progress:
        on_progress(2, 20)  # two are there from an earlier run
        on_progress(4, 10)  # and there is time for fewer than was thought
    first, second, last = said
    assert first.startswith("Running: 2 of 20 results (10%)")
    assert "left" not in first
    assert second.startswith("Running: 4 of 10 results (40%)")
    assert second.endswith("left")
    assert last.startswith("Running: 2 results in")


def test_failures_are_counted_and_end_in_exit_code_1(tiny, monkeypatch):
    paper = replace(TINY, contenders=(RIDGE, replace(PLAIN, make=lambda gamma: Failing())))
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: paper)
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert result.exit_code == 1
    assert "6 fits failed" in result.stderr


def test_what_the_user_can_mend_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_one_line(run("reproduce"), "no paper was named; choose from fgcv")
    assert_one_line(run("reproduce", "moby"), "unknown paper 'moby'; choose from fgcv")


def test_what_the_user_can_mend_in_a_run_is_one_line(tiny, monkeypatch):
    Path("a file").write_text("")
    assert_one_line(run("reproduce", "fgcv", "--only", "three"), "unknown experiment 'three'; tiny has one, two")
    assert_one_line(run("reproduce", "fgcv", "--out", "a file/below"), "cannot be written")
    assert_one_line(run("reproduce", "fgcv", "--budget", "-1"), "--budget")

    def nowhere(rng):
        raise DataNotFoundError("data set 'lost' was not found.")

    paper = replace(TINY, experiments=(TINY.experiments[0], replace(TINY.experiments[1], draw=nowhere)))
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: paper)
    assert_one_line(run("reproduce", "fgcv", "--only", "one,two"), "'lost' was not found", "--only one")
    assert_one_line(run("reproduce", "fgcv", "--only", "two"), "'lost' was not found")


def test_experiments_without_data_are_left_out_and_the_others_run(tiny, monkeypatch):
    def nowhere(rng):
        raise DataNotFoundError("data set 'lost' was not found.")

    paper = replace(TINY, experiments=(TINY.experiments[0], replace(TINY.experiments[1], draw=nowhere)))
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: paper)
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert result.exit_code == 0, result.output
    assert "'lost' was not found. 1 of 2 experiments are left out." in result.stderr
    records = json.loads(Path("out/results.json").read_text())["records"]
    assert {record["experiment"] for record in records} == {"one"}

"""The file of results: resuming, failures, budgets and progress."""

import io
import json

import pytest
from sklearn.dummy import DummyRegressor

from benchmarks.accuracy.board import Board, Options, OtherSettingsError, Progress, fill
from benchmarks.accuracy.cells import Cell
from benchmarks.accuracy.contenders import CONTENDERS, Contender

TABLES, METHODS = ["friedman2", "step"], ["vbls", "stepwise"]
ROWS = 40


class Failing(DummyRegressor):
    def fit(self, X, y):
        raise ValueError("never")


@pytest.fixture
def board(tmp_path):
    return Board.open(tmp_path / "board.json", ROWS, 0)


def again(board):
    return Board.open(board.path, ROWS, 0)


def run(board, n_splits=1, **options):
    """Fill the board and return the names of the cells that were run."""
    run_now = []
    n_left = fill(board, board.jobs(TABLES, METHODS, n_splits), Options(**options), lambda cell, n_left: run_now.append(cell.key))
    return run_now, n_left


def test_every_cell_is_run_once_and_splits_come_first(board):
    done, n_left = run(board, 2)
    assert done == [(table, split, method) for split in (0, 1) for table in TABLES for method in METHODS]
    assert n_left == 0
    assert run(again(board), 2) == ([], 0)
    assert again(board).cells == board.cells


@pytest.mark.parametrize("stop_after", [1, 3])
def test_a_run_that_was_stopped_goes_on_where_it_was(board, stop_after):
    seen = []

    def stopping(cell, n_left):
        seen.append(cell.key)
        if len(seen) == stop_after:
            raise KeyboardInterrupt

    jobs = board.jobs(TABLES, METHODS, 1)
    with pytest.raises(KeyboardInterrupt):
        fill(board, jobs, Options(), stopping)
    assert sorted(again(board).cells) == sorted(seen)
    assert run(again(board))[0] == [job[:3] for job in jobs[stop_after:]]


def test_the_file_is_replaced_as_a_whole(board, monkeypatch):
    run(board)
    before = board.path.read_text()

    def broken(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("skarce._whole_file.os.replace", broken)
    with pytest.raises(KeyboardInterrupt):
        board.add(next(iter(board.cells.values())))
    assert board.path.read_text() == before
    assert [path.name for path in board.path.parent.iterdir()] == ["board.json"]
    assert len(json.loads(before)["cells"]) == 4


def test_what_failed_is_kept_as_failed_and_tried_again(board, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setitem(CONTENDERS, "vbls", Contender("vbls", "", lambda n_inputs, seed: Failing(), ""))
        run(board)
    assert [cell.failure for cell in again(board).cells.values() if cell.method == "vbls"] == ["ValueError: never"] * 2
    assert run(again(board))[0] == [(table, 0, "vbls") for table in TABLES]


def test_new_defaults_of_a_method_make_its_cells_run_again(board, monkeypatch):
    run(board)
    monkeypatch.setitem(CONTENDERS, "vbls", Contender("vbls", "", lambda n_inputs, seed: DummyRegressor(strategy="median"), ""))
    monkeypatch.setattr("benchmarks.accuracy.cells.size_of", lambda model: 1)
    assert run(again(board))[0] == [(table, 0, "vbls") for table in TABLES]


def test_fresh_forgets_only_what_was_chosen(board):
    run(board)
    board.forget(board.jobs(["step"], ["vbls"], 1))
    assert run(board)[0] == [("step", 0, "vbls")]


def test_a_budget_that_is_spent_begins_nothing(board):
    assert run(board, budget=0.0) == ([], 4)
    assert not board.path.exists()


def test_processes_give_the_same_results_as_one(board, tmp_path):
    run(board)
    other = Board.open(tmp_path / "parallel.json", ROWS, 0)
    run(other, n_jobs=2)
    assert {key: cell.rmse for key, cell in other.cells.items()} == {key: cell.rmse for key, cell in board.cells.items()}


def test_results_of_other_settings_are_not_mixed(board):
    run(board)
    with pytest.raises(OtherSettingsError, match=f"--rows {ROWS} --seed 0"):
        Board.open(board.path, ROWS + 1, 0)
    with pytest.raises(OtherSettingsError):
        Board.open(board.path, ROWS, 1)
    assert (Board.open(board.path).rows, Board.open(board.path).seed) == (ROWS, 0)


def test_progress_is_one_line_that_does_not_hide_a_failure():
    times, out = iter([0.0, 60.0, 120.0]), io.StringIO()
    progress = Progress(4, out, lambda: next(times))
    common = {"table": "step", "split": 1, "method": "vbls", "settings": ""}
    progress(Cell(**common, rmse=0.25, functions=7, fit_seconds=1.5), 3)
    progress(Cell(**common, failure="ValueError: never"), 2)
    first, second = out.getvalue().splitlines()
    assert first == "[1/4, 3 min left] step, split 1, vbls: 0.2500      7    1.50 s"
    assert second == "[2/4, 2 min left] step, split 1, vbls: failed: ValueError: never"

"""The page of the board matches its results, and its picture can be drawn."""

from pathlib import Path

import pytest

from benchmarks.accuracy.__main__ import PAGE, PICTURE, RESULTS, ROWS, chosen, main
from benchmarks.accuracy.board import Board
from benchmarks.accuracy.cells import Cell
from benchmarks.accuracy.contenders import CONTENDERS
from benchmarks.accuracy.labels import LETTER, LINE, Box, places
from benchmarks.accuracy.page import END, START, duels, grid_table, text, verdict, with_board
from benchmarks.accuracy.summary import grid_of
from benchmarks.accuracy.tables import TABLES

ROOT = Path(__file__).parents[2]


def cell(table="boston", method="frvm", rmse=0.25, split=0, **others):
    numbers = {"functions": 10, "fit_seconds": 0.5, "predict_seconds": 0.01, **others}
    return Cell(table=table, split=split, method=method, settings="", rmse=rmse, **numbers)


def board_of(*cells):
    return Board(Path("unused"), 500, 0, {each.key: each for each in cells})


def test_the_page_matches_the_results():
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert with_board(page, Board.open(ROOT / RESULTS)) == page, "run python -m benchmarks.accuracy"


def test_the_page_names_every_contender_table_and_its_picture():
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    by_hand = page[: page.index(START)] + page[page.index(END) :]
    for name, contender in CONTENDERS.items():
        assert f"| `{name}` | `{contender.title.split(',')[0]}" in by_hand
    for name in TABLES:
        family = name[:-2] + "*" if name[:5] in ("kin8f", "kin8n", "puma8") else name
        assert f"`{family}`" in by_hand
    assert f"at most {ROWS} for training" in by_hand
    assert f"({PICTURE.relative_to('docs')})" in page
    assert (ROOT / PICTURE).exists()


def test_the_measured_part_is_replaced_and_the_rest_stays():
    page = with_board(f"before\n{START}old\n{END}after\n", board_of(cell(), cell(method="gp", rmse=0.2)))
    assert page.startswith(f"before\n{START}")
    assert page.endswith(f"{END}after\n")
    assert "old" not in page
    assert with_board(page, board_of(cell(), cell(method="gp", rmse=0.2))) == page


def test_failures_and_missing_cells_are_told():
    broken = Cell(table="step", split=2, method="as", settings="", failure="ValueError: never")
    page = with_board(f"{START}{END}", board_of(cell(), broken))
    assert "- `as` on step, split 2: ValueError: never" in page
    n_cells = 3 * len(TABLES) * len(CONTENDERS)
    assert f"**{n_cells - 2} of {n_cells} cells have not been run.**" in page


def test_the_least_error_is_bold_and_a_win_of_a_rival_is_told():
    grid = grid_of([cell(), cell(method="gp", rmse=0.2), cell("step"), cell("step", "svr", 0.5)], "rmse")
    rows = {line.split("|")[1].strip(): line for line in grid_table(grid, ".3f", bold_least=True).splitlines()}
    assert "**0.200**" in rows["boston"]
    assert rows["boston"].count("**") == 2
    told = {line.split("|")[1].strip(): [part.strip() for part in line.split("|")[2:-1]] for line in duels(grid).splitlines()}
    assert told["boston"] == ["TUNE", "frvm", "0.250", "gp", "0.200", "1.25"]
    assert told["step"] == ["REPORT", "frvm", "0.250", "svr", "0.500", "0.50"]


def test_the_verdict_names_the_tables_that_rivals_win():
    grid = grid_of([cell(), cell(method="gp", rmse=0.2), cell("step"), cell("step", "svr", 0.5)], "rmse")
    said = verdict(grid)
    assert said.startswith("A rival has the least error on 1 of 2 tables: `boston` (gp). ")
    assert f"{(1.25 * 0.5) ** 0.5:.2f} times" in said
    assert verdict(grid_of([cell()], "rmse")) == "There is nothing to compare yet."


def test_columns_without_numbers_are_left_out():
    grid = grid_of([cell(coverage=0.9), cell(method="svr")], "coverage")
    assert "svr" not in grid_table(grid, ".3f")
    assert text(float("nan"), ".2f") == "-"
    assert text(-1e12, ".2f") == "< -99.9"


def test_names_and_patterns():
    assert chosen("puma8*, boston", list(TABLES), "table") == ["boston", "puma8fh", "puma8fm", "puma8nh", "puma8nm"]
    with pytest.raises(SystemExit, match="unknown table 'nowhere'; choose from boston"):
        chosen("boston,nowhere", list(TABLES), "table")


def test_names_cover_neither_points_nor_each_other(rng):
    panel = Box(0.0, 0.0, 400.0, 300.0)
    anchors = {f"name{i}": (200.0 + 60.0 * rng.random(), 150.0 + 40.0 * rng.random()) for i in range(10)}
    found = places(anchors, panel)
    boxes = [Box(x - LETTER * 2.5, y - LINE / 2, x + LETTER * 2.5, y + LINE / 2) for x, y in found.values()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert not any(box.left < x < box.right and box.lower < y < box.upper for box in boxes for x, y in anchors.values())
    assert all(box.lies_in(panel) for box in boxes)


def test_a_picture_is_drawn_of_whatever_there_is(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.accuracy.picture import draw

    broken = Cell(table="step", split=0, method="as", settings="", failure="ValueError: never")
    some = [cell(), cell(method="gp", rmse=0.2), cell("abalone", rmse=0.9), cell("abalone", "gp", 0.1)]
    for place, cells in enumerate(([cell()], some, [*some, broken])):
        path = tmp_path / f"{place}.png"
        draw(cells, path)
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_command_checks_its_page(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["accuracy", "--check"])
    monkeypatch.chdir(tmp_path)
    for path, content in ((PAGE, f"{START}old\n{END}"), (RESULTS, (ROOT / RESULTS).read_text())):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    with pytest.raises(SystemExit, match="does not match"):
        main()
    PAGE.write_text(with_board(PAGE.read_text(), Board.open(RESULTS)))
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0


def test_the_command_runs_what_is_chosen_and_writes_only_its_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = "--tables friedman2 --methods vbls,stepwise --splits 1 --rows 40 --jobs 1 --out some.json"
    monkeypatch.setattr("sys.argv", ["accuracy", *options.split()])
    main()
    said = capsys.readouterr()
    assert "2 cells, 0 of them done." in said.err
    assert "TUNE" in said.out
    assert [path.name for path in tmp_path.iterdir()] == ["some.json"]
    main()
    assert "2 cells, 2 of them done." in capsys.readouterr().err

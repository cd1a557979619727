"""Interrupts, full disks, help, and the entry point."""

import os
import runpy
import sys
from pathlib import Path

import pytest

import skarce.__main__ as entry
from skarce import __version__
from tests.cli.commands import assert_one_line, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("skarce.cli.comparing.cross_validate", ["compare", "houses.csv", "--target", "price", "--json", "result"]),
        (
            "skarce._whole_file.os.replace",
            ["compare", "houses.csv", "--target", "price", "--methods", "ridge", "--json", "result"],
        ),
        ("skarce._whole_file.os.replace", ["fit", "houses.csv", "--target", "price", "--out", "result"]),
        ("skarce._whole_file.os.replace", ["predict", "houses.skops", "houses.csv", "--out", "result"]),
    ],
)
def test_an_interrupt_leaves_no_file_behind(model, monkeypatch, place, arguments):
    monkeypatch.setattr(place, interrupt)
    before = sorted(os.listdir())
    result = run(*arguments)
    assert result.exit_code == 130
    assert "Interrupted" in result.stderr
    assert sorted(os.listdir()) == before


def test_an_interrupt_leaves_the_former_result_as_it_was(houses, model, monkeypatch):
    former = Path(model).read_bytes()
    monkeypatch.setattr("skarce._whole_file.os.replace", interrupt)
    houses.assign(price=-houses["price"]).to_csv("other.csv", index=False)
    assert run("fit", "other.csv", "--target", "price", "--out", model).exit_code == 130
    assert Path(model).read_bytes() == former


def test_a_full_disk_is_one_line(houses, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("skarce._whole_file.os.replace", full)
    assert_one_line(run("fit", "houses.csv", "--target", "price"), "model.skops cannot be written: No space left")
    assert os.listdir() == ["houses.csv"]


@pytest.mark.parametrize("command", ["compare", "fit", "predict", "explain", "export", "reproduce"])
def test_every_command_has_help_with_examples(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Examples:\n    skarce {command}" in result.stdout
    assert command in run("--help").stdout


@pytest.mark.parametrize("name", entry.NEEDED)
def test_the_entry_point_says_what_to_install(name, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit) as stopped:
        entry.main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"Error: the command line needs {name}: install skarce[cli].\n"


def test_the_package_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["skarce", "--version"])
    monkeypatch.delitem(sys.modules, "skarce.__main__")
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("skarce", run_name="__main__", alter_sys=True)
    assert stopped.value.code == 0
    assert __version__ in capsys.readouterr().out

"""Pipes, devices, odd terminals and odd paths: no traceback, and nothing is lost that was asked for."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from skarce._text import LONGEST_LINE
from skarce._whole_file import OutputError, check_output, replacing
from skarce.cli import app
from tests.cli.commands import assert_one_line, run
from tests.cli.real_process import PATIENCE, assert_one_line_of, command, needs_posix, skarce

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")


@pytest.fixture(autouse=True)
def waves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 40)
    frame = pd.DataFrame({"x": x, "größe": rng.choice(["ä", "b"], 40), "y": np.sin(x) + rng.normal(0, 0.1, 40)})
    frame.to_csv("waves.csv", index=False)
    return frame


@pytest.fixture
def model():
    assert run("fit", "waves.csv", "--target", "y", "--out", "waves.skops").exit_code == 0
    return "waves.skops"


# Input ----------------------------------------------------------------------------------------------------------------------


@needs_posix
def test_a_pipe_is_read_like_a_file(model):
    content = Path("waves.csv").read_bytes()
    piped = skarce("predict", model, "/dev/stdin", input=content)
    assert piped.returncode == 0, piped.stderr
    assert run("predict", model, "waves.csv", "--out", "predicted.csv").exit_code == 0
    assert piped.stdout == Path("predicted.csv").read_bytes()


@needs_full
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/null"])
def test_a_device_is_refused(model, device):
    assert_one_line(run("fit", device, "--target", "y"), f"{device} is a device; use a file or a pipe")
    assert_one_line(run("predict", model, device), f"{device} is a device")


@needs_posix
def test_a_loop_of_links_is_one_line():
    os.symlink("loop", "loop")
    assert_one_line(run("fit", "loop", "--target", "y"), "loop cannot be read: Too many levels of symbolic links")
    assert_one_line(run("fit", "waves.csv", "--target", "y", "--out", "loop"), "loop cannot be written: Too many levels")


def test_a_name_that_is_too_long_is_one_line():
    assert_one_line(run("fit", f"{'a' * 300}.csv", "--target", "y"), "cannot be read: File name too long")


# Output ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [230, 245, 255])
def test_an_output_may_have_the_longest_name_there_is(length):
    out = "m" * length
    assert run("fit", "waves.csv", "--target", "y", "--out", out).exit_code == 0
    assert sorted(os.listdir()) == [out, "waves.csv"]


def in_vain(*arguments, **options):
    pytest.fail("worked in vain")


BAD_OUTPUTS = {
    "too long": ("m" * 256, "File name too long"),
    "folder": (".", "not a regular file"),
    "no folder": ("no/model", "does not exist"),
    "file as folder": ("waves.csv/model", "does not exist"),
    "input": ("waves.csv", "is an input"),
}


@pytest.mark.parametrize(("out", "mention"), BAD_OUTPUTS.values(), ids=list(BAD_OUTPUTS))
@pytest.mark.parametrize("which", ["fit", "compare", "predict"])
def test_outputs_are_checked_before_the_work(model, monkeypatch, which, out, mention):
    for place in ("fitting.read_table", "comparing.read_table", "sound_model.load"):
        monkeypatch.setattr(f"skarce.cli.{place}", in_vain)
    arguments = {
        "fit": ["waves.csv", "--target", "y", "--out", out],
        "compare": ["waves.csv", "--target", "y", "--json", out],
        "predict": [model, "waves.csv", "--out", out],
    }[which]
    assert_one_line(run(which, *arguments), mention)


@needs_posix
def test_a_folder_without_permission_is_found_before_the_work(monkeypatch):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    monkeypatch.setattr("skarce.cli.fitting.read_table", in_vain)
    os.mkdir("locked", 0o500)
    assert_one_line(run("fit", "waves.csv", "--target", "y", "--out", "locked/m"), "locked/m cannot be written: Permission denied")
    os.mkdir("unsearchable", 0o000)
    assert_one_line(run("fit", "waves.csv", "--target", "y", "--out", "unsearchable/m"), "cannot be written")
    assert_one_line(run("fit", "unsearchable/a.csv", "--target", "y"), "cannot be read: Permission denied")
    Path("protected").touch(0o400)
    assert_one_line(run("fit", "waves.csv", "--target", "y", "--out", "protected"), "write-protected")


def test_the_folder_of_a_run_is_checked_before_the_work(monkeypatch):
    monkeypatch.setattr("skarce.cli.reproducing.Run", in_vain)
    os.makedirs("out/results.json")
    assert_one_line(run("reproduce", "fgcv", "--quick", "--out", "out"), "results.json cannot be written")
    os.makedirs("pictures/friedman2.png")
    assert_one_line(run("reproduce", "fgcv", "--quick", "--out", "pictures"), "friedman2.png cannot be written")


def test_old_results_stay_if_the_data_for_new_ones_are_missing(monkeypatch):
    monkeypatch.setenv("SKARCE_DATA", "nowhere")
    os.mkdir("out")
    Path("out/records.jsonl").write_text("{}\n")
    assert_one_line(run("reproduce", "fgcv", "--only", "boston", "--fresh", "--out", "out"), "SKARCE_DATA")
    assert Path("out/records.jsonl").read_text() == "{}\n"


def test_a_draft_whose_folder_has_vanished_is_one_error(tmp_path):
    (tmp_path / "gone").mkdir()
    with pytest.raises(OutputError, match="cannot be written"), replacing(tmp_path / "gone" / "file"):
        (tmp_path / "gone").rmdir()


def test_a_check_leaves_nothing_behind(tmp_path):
    before = sorted(os.listdir())
    check_output(tmp_path / "new")
    check_output(tmp_path / "waves.csv")
    assert sorted(os.listdir()) == before


# Terminals ------------------------------------------------------------------------------------------------------------------


@needs_full
def test_a_full_standard_output_is_one_line(model):
    for arguments in (["predict", model, "waves.csv"], ["--help"]):
        with open("/dev/full", "wb") as full:
            result = subprocess.run(command(*arguments), stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
        assert result.returncode == 2
        assert_one_line_of(result.stderr, "No space left on device")


@needs_full
def test_numbers_are_written_before_they_are_shown():
    arguments = command("compare", "waves.csv", "--target", "y", "--methods", "ridge", "--json", "out.json")
    with open("/dev/full", "wb") as full:
        assert subprocess.run(arguments, stdout=full, stderr=full, timeout=PATIENCE, check=False).returncode == 2
    assert json.loads(Path("out.json").read_text())["methods"][0]["name"] == "ridge"


@needs_posix
def test_a_pipe_gets_all_rows(model):
    pd.concat([pd.read_csv("waves.csv")] * 100).to_csv("long.csv", index=False)
    assert run("predict", model, "long.csv", "--out", "predicted.csv").exit_code == 0
    result = skarce("predict", model, "long.csv", env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert result.stdout == Path("predicted.csv").read_bytes()


@needs_posix
def test_a_reader_that_goes_away_is_no_error(model):
    pd.concat([pd.read_csv("waves.csv")] * 200).to_csv("long.csv", index=False)
    process = subprocess.Popen(command("predict", model, "long.csv"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline().startswith(b"x,")
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(PATIENCE) == 1


@needs_posix
def test_closed_streams_are_no_tracebacks(model):
    run_in_shell = "exec {} >&- 2>&-"
    for arguments, code in ((["explain", model], 0), (["predict", model, "waves.csv"], 2)):
        quoted = " ".join(command(*arguments))
        assert subprocess.run(run_in_shell.format(quoted), shell=True, timeout=PATIENCE, check=False).returncode == code


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_characters_that_the_terminal_lacks_do_not_fail(model, encoding):
    def bytes_of(*arguments):
        result = CliRunner(charset=encoding).invoke(app, arguments)
        assert result.exit_code == 0, result.output
        return result.stdout_bytes

    assert b" +- " in bytes_of("compare", "waves.csv", "--target", "y", "--methods", "ridge")  # wherever lines of tables are plain
    assert b"candidates" in bytes_of("explain", model)
    predicted = bytes_of("predict", model, "waves.csv").decode("utf-8" if encoding == "ascii" else encoding)
    assert "x,größe,y,y_mean,y_std\n" in predicted
    refused = CliRunner(charset=encoding).invoke(app, ["fit", "waves.csv", "--target", "größer\u2026"])
    assert refused.exit_code == 2


# Messages -------------------------------------------------------------------------------------------------------------------


def test_a_message_is_one_line_of_a_few_hundred_characters(waves):
    long = "n" * 50_000
    many = pd.DataFrame(np.zeros((3, 5000)), columns=[f"a long name of column {i}" for i in range(5000)])
    many.to_csv("many.csv", index=False)
    waves.rename(columns={"x": f"{long}\x1b[2J\n"}).to_csv("long.csv", index=False)
    waves.assign(x=["z" * 10_000, *waves["x"][1:]]).to_csv("value.csv", index=False)
    for arguments in (
        ["fit", "many.csv", "--target", "y"],
        ["compare", "many.csv"],
        ["fit", "long.csv", "--target", "nothing"],
        ["fit", "value.csv", "--target", "x"],
        ["fit", "waves.csv", "--target", long],
        ["fit", "waves.csv", "--target", "y", "--method", long],
        ["fit", "waves.csv", "--target", "y", "--gamma", long],
        ["fit", "waves.csv", f"--{long}"],
        [long],
        ["--bogus"],
        ["explain", long],
    ):
        result = run(*arguments)
        assert_one_line(result)
        assert len(result.stderr) <= LONGEST_LINE + 1
        assert result.stderr[:-1].isprintable()


def test_an_error_that_nobody_expected_is_one_line_with_its_own_code(monkeypatch, capfd):
    monkeypatch.setattr("skarce.cli.fitting.read_table", lambda path: {}["lost\nkey"])
    assert_one_line(run("fit", "waves.csv", "--target", "y"), "fault of skarce", "KeyError", "SKARCE_DEBUG", code=70)
    monkeypatch.setenv("SKARCE_DEBUG", "1")
    assert "Traceback" in run("fit", "waves.csv", "--target", "y").stderr


def test_no_memory_is_one_line(monkeypatch):
    def too_large(path):
        raise MemoryError

    monkeypatch.setattr("skarce.cli.fitting.read_table", too_large)
    assert_one_line(run("fit", "waves.csv", "--target", "y"), "not enough memory", "fewer rows")

"""Signals: whatever stops a command, it ends with its exit code and one line, and leaves no process and no draft behind."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import joblib
import pytest
from packaging.version import Version

from tests.cli.real_process import KILL, PATIENCE, assert_one_line_of, command, in_session, needs_posix, needs_proc, wait_until

pytestmark = [needs_posix, needs_proc]


def started(arguments):
    """A process in a session of its own."""
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def end_all(process):
    for left in in_session(process.pid):
        os.kill(left, KILL)
    process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, KILL])
def test_a_run_that_is_stopped_leaves_no_process_behind(tmp_path, number):
    out = tmp_path / "out"
    process = started(command("reproduce", "fgcv", "--only", "friedman2", "--jobs", "2", "--out", out))
    try:
        records = out / "records.jsonl"
        wait_until(lambda: records.exists() and records.read_bytes().count(b"\n") >= 1, "a result")
        assert len(in_session(process.pid)) > 2
        process.send_signal(number)
        _, stderr = process.communicate(timeout=PATIENCE)
        wait_until(lambda: not in_session(process.pid), "all processes to end")
    finally:
        end_all(process)
    if number == KILL:
        assert process.returncode == -KILL
        return
    assert process.returncode == 128 + number
    assert_one_line_of(stderr, "results are in", "The same command continues")
    assert sorted(path.name for path in out.iterdir()) == ["records.jsonl", "results.json", "tables.md"]


SEARCH = """
    import numpy as np
    from skarce import CriterionSearch, KernelBasis, RelevanceVectorRegressor

    if __name__ == "__main__":
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(1500, 3))
        widths = {"basis__gamma": list(np.geomspace(1.0, 3.0, 200))}
        search = CriterionSearch(RelevanceVectorRegressor(KernelBasis()), widths, n_jobs=2, verbose=1)
        search.fit(X, rng.normal(size=1500))
"""


@pytest.mark.skipif(
    Version(joblib.__version__) < Version("1.5"), reason="joblib before 1.5 cannot tell its processes to watch their parent"
)
def test_the_processes_of_a_search_end_with_it(tmp_path):
    script = tmp_path / "search.py"
    script.write_text(textwrap.dedent(SEARCH))
    process = started([sys.executable, str(script)])
    try:
        wait_until(lambda: len(in_session(process.pid)) > 3, "processes to start")
        process.stderr.readline()  # the first candidate is done
        process.kill()
        wait_until(lambda: not in_session(process.pid), "all processes to end")
    finally:
        end_all(process)


def stopped_by(number, process):
    """Send a signal, and return what the process says. A signal just before the system call that waits for data waits, too."""
    for _ in range(6):
        process.send_signal(number)
        try:
            return process.communicate(timeout=PATIENCE / 6)[1]
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("no signal ends the process")


@pytest.mark.parametrize("patience", [0.0, 0.05, 0.2, 0.5])
@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "Interrupted"), (signal.SIGTERM, "Terminated")])
def test_a_command_that_is_stopped_while_it_starts_is_one_line(number, word, patience):
    source = """if True:
        import os, sys
        from _skarce_start import main
        sys.addaudithook(lambda event, of: event == "import" and of[0] == "skarce" and os.write(1, b"."))
        sys.argv = ["skarce", "--version"]
        main()
    """
    process = started([sys.executable, "-c", source])
    try:
        assert process.stdout.read(1) == b"."  # imports begin
        time.sleep(patience)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    finally:
        end_all(process)
    if process.returncode == 0:  # it was quicker
        assert b"version" in stdout
    else:
        assert process.returncode == 128 + number
        assert_one_line_of(stderr, word, "no file was written")


@pytest.mark.parametrize("options", [["--state", "fit.state"], ["--state=fit.state"], ["--state", "no.state"], ["--state"]])
def test_a_fit_that_is_stopped_while_it_starts_says_that_its_state_is_there(tmp_path, options):
    (tmp_path / "fit.state").write_bytes(b"sums")
    source = f"""if True:
        import os, signal, sys
        from _skarce_start import main
        sys.addaudithook(lambda event, of: event == "import" and of[0] == "skarce" and os.kill(os.getpid(), signal.SIGTERM))
        sys.argv = ["skarce", "fit", "a.parquet", *{options}]
        main()
    """
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=False)
    kept = b"no model was written. The state in fit.state is still there."
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr == b"Terminated; " + (kept if "fit.state" in options[-1] else b"no file was written.") + b"\n"


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "Interrupted"), (signal.SIGTERM, "Terminated")])
def test_a_fit_that_is_stopped_is_one_line(tmp_path, number, word):
    os.mkfifo(tmp_path / "pipe.csv")
    process = started(command("fit", tmp_path / "pipe.csv", "--target", "y", "--out", tmp_path / "m.skops"))
    try:
        with (tmp_path / "pipe.csv").open("wb") as pipe:  # opens when the command reads
            pipe.write(b"x,y\n")
            pipe.flush()
            stderr = stopped_by(number, process)
    finally:
        end_all(process)
    assert process.returncode == 128 + number
    assert_one_line_of(stderr, word, "no file was written")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe.csv"]

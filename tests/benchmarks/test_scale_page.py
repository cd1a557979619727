"""Tables of many rows in the docs."""

import argparse
import json
import os
import subprocess
import sys
import time

import dask
import pytest

import skarce
from benchmarks import scale
from benchmarks.scale import MEGABYTE, coverage_of, memory_of, peaks_of_processes
from benchmarks.scale_page import table, with_table

RESULTS = [
    {
        "rows": 1_000_000,
        "method": "ours",
        "seconds": 8.0,
        "peak_mb": [75.2],
        "error": 1.198,
        "kilobytes": 3946.4,
        "functions": 478,
        "coverage": 0.95,
    },
    {"rows": 1_000_000, "method": "theirs", "seconds": 16.0, "peak_mb": [1138.4, 20.0, 31.6], "error": 1.204},
]


def test_a_table_has_a_row_for_each_result_and_blanks_where_nothing_is_known():
    lines = table(RESULTS, "RMSE").splitlines()
    assert lines[0] == "| rows | method | seconds | rows per second | peak memory | model | RMSE | functions | coverage |"
    assert lines[2] == "| 1,000,000 | ours | 8.0 | 125,000 | 75 MB | 3,946 kB | 1.1980 | 478 | 0.950 |"
    assert lines[3] == "| 1,000,000 | theirs | 16.0 | 62,500 | 1,138 + 20 + 32 MB |  | 1.2040 |  | no std |"


def test_only_what_stands_between_the_marks_changes():
    page = "before\n<!-- measured: scale -->\nold\n<!-- end -->\nafter\n<!-- measured: other -->\n<!-- end -->\n"
    once = with_table(page, "scale", "new\n")
    assert once == page.replace("old", "new")
    assert with_table(once, "other", "more\n") == once.replace("other -->\n", "other -->\nmore\n")


def test_each_process_has_a_peak_of_its_own():
    pytest.importorskip("psutil")
    child = "import sys; kept = bytearray(b'x') * (60 * 2**20); print('.', flush=True); sys.stdin.read()"
    with (
        subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker,
        peaks_of_processes() as peaks,
    ):
        worker.stdout.read(1)
        for _ in range(1000):
            if peaks.get(worker.pid, 0) > 60 * MEGABYTE:
                break
            time.sleep(0.02)  # it is sampled now and then
        worker.stdin.close()
    assert peaks[worker.pid] > 60 * MEGABYTE
    assert next(iter(peaks)) == os.getpid()
    assert memory_of({"peak_mb": [75.2, 1138.4]}) == "75 + 1,138"


def test_added_rows_say_what_they_were_made_with_and_others_stay(tmp_path, monkeypatch):
    old = {"machine": {"cores": 64}, "results": [{**RESULTS[0], "method": "Nystroem + SGD"}, {**RESULTS[0], "method": "RowBlocks"}]}
    (tmp_path / "scale.json").write_text(json.dumps(old))
    monkeypatch.setattr(scale, "in_own_process", lambda *job: {"seconds": 1.0, "peak_mb": [1.0], "error": 1.0})
    monkeypatch.setattr(scale, "written", lambda folder, n_rows: [])
    for made in ({"commit": "first"}, {"commit": "second"}):
        monkeypatch.setattr(scale, "made_with", lambda made=made: made)
        methods = ["RowBlocks"] if made["commit"] == "first" else ["xgboost.dask"]
        monkeypatch.setattr(scale, "find_spec", lambda name: True)
        options = {"labels": False, "methods": methods, "rows": [1_000_000], "out": tmp_path, "add": True, "data": tmp_path}
        scale.show_all(argparse.Namespace(**options))
    found = {one["method"]: one["made"] for one in json.loads((tmp_path / "scale.json").read_text())["results"]}
    assert found == {
        "Nystroem + SGD": {"machine": {"cores": 64}},
        "RowBlocks": {"commit": "first"},
        "xgboost.dask": {"commit": "second"},
    }


def test_a_result_is_made_with_a_commit_and_packages(monkeypatch):
    monkeypatch.setattr(scale, "machine", lambda: {"cores": 2})
    made = scale.made_with()
    assert set(made) == {"date", "commit", "packages", "machine"}
    assert made["packages"]["skarce"] == skarce.__version__
    assert made["packages"]["dask"] == dask.__version__


def test_rivals_without_a_std_say_so():
    assert [coverage_of(one) for one in RESULTS] == ["0.950", "no std"]

"""The page of benchmarks has the command of every stored result, and says which are parts of `make bench`."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "benchmarks"


def section():
    return (ROOT / "docs" / "benchmarks.md").read_text().split("## Every stored result, and its command")[1]


@pytest.mark.skipif(not RESULTS.is_dir(), reason="results are not in the source archive")
def test_every_stored_result_has_a_command():
    stored = {path.stem for path in RESULTS.iterdir()}
    listed = set(re.findall(r"^\| \[([\w-]+)\]", section(), flags=re.MULTILINE))
    commands = set(re.findall(r"`python -m benchmarks\.(\w+)", section()))
    assert listed <= stored <= listed | commands


@pytest.mark.skipif(not (ROOT / "Makefile").exists(), reason="the Makefile is not in the source archive")
def test_the_page_and_the_target_agree():
    target = (ROOT / "Makefile").read_text().split("\nbench: ")[1].split("\n\n")[0]
    made = set(re.findall(r"python -m (benchmarks[\w.]*)", target))
    parts, others = section().split("These are not")
    assert made == set(re.findall(r"`python -m (benchmarks[\w.]*)", parts))
    assert not made & set(re.findall(r"`python -m (benchmarks[\w.]*)", others))

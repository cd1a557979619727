"""What a release says about itself, in one voice: version, dependencies, changelog, citation and recipe."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import skarce
from skarce.reproduce.papers import PAPERS, find_paper

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PROJECT["project"]["version"]


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def parsed(path):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(text_of(path))


def floors(requirements):
    """The oldest version of each package that is asked for, by name."""
    asked = [Requirement(one) for one in requirements]
    return {one.name: next(s.version for s in one.specifier if s.operator == ">=") for one in asked if one.name != "skarce"}


def test_the_version_stands_in_one_place():
    assert skarce.__version__ == VERSION
    assert parsed("CITATION.cff")["version"] == VERSION
    assert parsed("conda/recipe/recipe.yaml")["context"]["version"] == VERSION


def test_the_changelog_has_a_heading_for_each_release():
    """`## Unreleased` comes first, if it is there; then `## 1.2.3 (2030-01-31)`, newest first, up to the version of the project."""
    headings = re.findall(r"^## (.+)$", text_of("CHANGELOG.md"), flags=re.M)
    released = [re.fullmatch(r"(\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)", heading) for heading in headings if heading != "Unreleased"]
    assert all(released), f"a heading is neither 'Unreleased' nor 'VERSION (YYYY-MM-DD)': {headings}"
    assert "Unreleased" not in headings[1:]
    versions = [Version(found[1]) for found in released]
    assert versions == sorted(set(versions), reverse=True)
    assert all(version <= Version(VERSION) for version in versions)
    assert PROJECT["tool"]["towncrier"]["start_string"] in text_of("CHANGELOG.md")


def test_news_are_of_a_known_kind():
    kinds = [kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]]
    for file in (ROOT / "news").iterdir():
        if file.name != "README.md":
            assert re.fullmatch(rf"\+[\w-]+\.({'|'.join(kinds)})\.md", file.name), file.name
            assert file.read_text(encoding="utf-8").strip()


def test_a_source_archive_has_all_that_is_compiled(tmp_path):
    pytest.importorskip("setuptools", minversion="77", reason="setuptools is not there, or older than pyproject.toml asks for")
    if not (ROOT / "src").is_dir():
        pytest.skip("the sources are not here")
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    listed = (tmp_path / "skarce.egg-info" / "SOURCES.txt").read_text(encoding="utf-8").split()
    compiled = {file.relative_to(ROOT).as_posix() for file in (ROOT / "src").rglob("*.[ch]")}
    assert compiled
    assert compiled <= set(listed)


def test_the_oldest_versions_are_those_that_are_tested():
    """Each floor in pyproject.toml has a line in .ci/oldest.txt, so `make test-oldest` tests what we promise."""
    extras = PROJECT["project"]["optional-dependencies"]
    asked = floors(
        [*PROJECT["project"]["dependencies"], *(one for name in ("cli", "dask", "parquet", "plot", "test") for one in extras[name])]
    )
    pinned = dict(line.split("==") for line in text_of(".ci/oldest.txt").split())
    for name, floor in asked.items():
        assert pinned[name].removesuffix(".*").startswith(floor), f"{name}>={floor}, and the tests use {pinned[name]}"


def test_the_recipe_asks_for_the_same_packages():
    lines = [Requirement(one) for one in parsed("conda/recipe/recipe.yaml")["requirements"]["run"]]
    expected = {**floors(PROJECT["project"]["dependencies"]), "python": PROJECT["project"]["requires-python"].removeprefix(">=")}
    assert floors(map(str, lines)) == expected


def test_the_limited_api_is_that_of_the_oldest_python():
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f"OLDEST = ({oldest.replace('.', ', ')})" in text_of("setup.py")
    assert f"cp{oldest.replace('.', '')}-*" in PROJECT["tool"]["cibuildwheel"]["build"]


def test_the_source_archive_has_what_the_tests_import():
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    imported = {name for source in sources for name in re.findall(r"^(?:from|import) (\w+)", source, flags=re.M)}
    folders = {name for name in imported if (ROOT / name).is_dir()}
    assert {"tests", "benchmarks"} <= folders
    assert folders <= set(re.findall(r"^(?:graft|recursive-include) ([\w.]+)", text_of("MANIFEST.in"), flags=re.M))


def test_the_papers_are_cited():
    cited = {reference["title"].casefold() for reference in parsed("CITATION.cff")["references"]}
    for name in PAPERS:
        reference = find_paper(name).reference
        assert any(title in reference.casefold() for title in cited), reference


@pytest.mark.parametrize("path", sorted(str(path.relative_to(ROOT)) for path in (ROOT / ".github").rglob("*.yml")))
def test_github_can_read_its_files(path):
    content = parsed(path)
    assert isinstance(content, dict)
    for job in content.get("jobs", {}).values():
        assert job["runs-on"]
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])

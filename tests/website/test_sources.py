"""What the website makes of pages before Sphinx sees them: pictures for both themes, and the news of the next release."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
IMAGES = REPOSITORY / "docs" / "images"
LARGEST = 100_000


def module(name):
    spec = importlib.util.spec_from_file_location(f"website_{name}", REPOSITORY / "website" / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_pictures_with_a_dark_twin_are_shown_by_theme(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a-dark.png").touch()
    text = "One ![two words](images/a.png) and ![other](images/b.png)."
    shown = "![two words](images/a.png){.only-light}\n![two words](images/a-dark.png){.only-dark}"
    assert module("by_theme").with_dark_twins(text, tmp_path) == f"One {shown} and ![other](images/b.png)."


def test_every_picture_of_a_display_has_a_small_dark_twin():
    pytest.importorskip("matplotlib").use("agg")
    from benchmarks.pictures import PICTURES

    for name in PICTURES:
        for path in (IMAGES / f"{name}.png", IMAGES / f"{name}-dark.png"):
            assert path.stat().st_size < LARGEST, path
    dark = {path.stem.removesuffix("-dark") for path in IMAGES.glob("*-dark.png")}
    assert dark == set(PICTURES)


def test_the_changelog_gets_the_news_by_kind(tmp_path):
    (tmp_path / "+b.fixed.md").write_text("A fault\nis gone.\n")
    (tmp_path / "+a.added.md").write_text("Something new.\n")
    (tmp_path / "README.md").write_text("How to write news.\n")
    next_release = module("next_release")
    changelog = f"# Changelog\n\n{next_release.PLACE}\n\n## 1.0\n"
    expected = "# Changelog\n\n## Next release\n\n### New\n\n- Something new.\n\n### Fixed\n\n- A fault is gone.\n\n\n## 1.0\n"
    assert next_release.with_next_release(changelog, tmp_path) == expected
    assert next_release.with_next_release(changelog, tmp_path / "none") == changelog


def test_faults_have_one_heading_on_the_website_and_in_releases():
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    names = {kind["directory"]: kind["name"] for kind in settings["type"]}
    assert names["fixed"] == module("next_release").HEADINGS["fixed"] == "Fixed"


def test_all_news_of_the_repository_come_into_its_changelog():
    next_release = module("next_release")
    text = next_release.with_next_release((REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8"), REPOSITORY / "news")
    files = [path for path in (REPOSITORY / "news").glob("*.md") if path.name != "README.md"]
    assert "## Next release" in text or not files
    for path in files:
        assert " ".join(path.read_text(encoding="utf-8").split()) in text, path


def test_the_start_page_names_commands_that_there_are():
    from skarce.cli import app

    text = (REPOSITORY / "website" / "pages" / "index.md").read_text(encoding="utf-8")
    used = re.findall(r"^\$ skarce (\w+)", text, flags=re.MULTILINE)
    assert used[:2] == ["fit", "explain"]
    assert set(used) <= set(app.list_commands(None))

"""Plain text of the website has all pages, in order, and the examples."""

import importlib.util
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SOURCE = REPOSITORY / "website" / "plain_text.py"
SECTIONS = ("guide.md", "mathematics.md", "results.md", "development.md")


@pytest.fixture(scope="module")
def plain_text():
    spec = importlib.util.spec_from_file_location("website_plain_text", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(plain_text, tmp_path):
    """Two pages, one with a label of its own, and an example."""
    for section in SECTIONS:
        (tmp_path / section).write_text(f"# Section {section}\n\nText.\n")
    (tmp_path / "guide.md").write_text("# Guide\n\n```{toctree}\n:maxdepth: 1\n\nFirst steps <b>\ndocs/a\n```\n\nMore.\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Page A\n\nOne sentence. Another one.\n")
    (tmp_path / "b.md").write_text("# Page B\n\n```python\n>>> 1.5 + 1. # a\n```\n")
    (tmp_path / "gallery").mkdir()
    (tmp_path / "gallery" / "plot_c.py").write_text('"""\nA picture\n=========\n\nText.\n"""\nx = 1\n')
    plain_text.write_plain_text(tmp_path, tmp_path)
    return (tmp_path / "llms.txt").read_text(), (tmp_path / "llms-full.txt").read_text()


def test_the_list_has_titles_or_labels_and_first_sentences_in_order(written):
    listed, _ = written
    lines = [line for line in listed.splitlines() if line.startswith("- ")]
    assert lines[:3] == ["- [First steps](b.html)", "- [Page A](docs/a.html): One sentence.", "- [A picture](gallery/plot_c.html)"]


def test_the_long_file_has_all_text(written):
    _, full = written
    assert 0 < full.index("# Page B") < full.index("Another one.") < full.index("x = 1")


def test_all_pages_of_the_docs_are_listed(plain_text):
    listed = {page.path for section in SECTIONS for page in plain_text.toctree(REPOSITORY / "website" / "pages" / section)}
    assert {f"docs/{page.stem}" for page in (REPOSITORY / "docs").glob("*.md")} <= listed

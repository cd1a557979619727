"""The pictures of the docs are those that the command draws."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def pictures():
    pytest.importorskip("matplotlib").use("agg")
    from benchmarks import pictures

    return pictures


def shown_on(page):
    return set(re.findall(r"\(images/([\w-]+)\.png\)", page.read_text(encoding="utf-8")))


def test_the_pages_show_every_picture_that_is_drawn(pictures):
    shown = set.union(*(shown_on(page) for page in DOCS.glob("*.md")))
    assert set(pictures.PICTURES) <= shown
    assert shown_on(DOCS / "pictures.md") <= set(pictures.PICTURES)
    assert all((DOCS / "images" / f"{name}.png").is_file() for name in shown)


def test_a_picture_is_drawn_on_a_light_and_on_a_dark_background(pictures, tmp_path):
    from matplotlib.image import imread

    pictures.draw(["functions"], tmp_path)
    light, dark = (imread(tmp_path / f"functions{ending}.png") for ending in ("", "-dark"))
    assert light[0, 0, :3].min() > 0.9
    assert dark[0, 0, :3].max() < 0.1
    assert dark[..., :3].max() > 0.9

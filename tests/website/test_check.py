"""The check of a built website finds broken links and what comes from other hosts, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "website" / "check.py"


@pytest.fixture(scope="module")
def check_site():
    spec = importlib.util.spec_from_file_location("website_check", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.check_site


@pytest.fixture
def site(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "style.css").write_text("body { background: url(picture.png) }")
    (tmp_path / "picture.png").write_bytes(b"")
    (tmp_path / "index.html").write_text(
        '<link rel="stylesheet" href="style.css?v=1"><a href="sub/page.html#part">there</a><a href="https://example.org">out</a>'
        '<img src="picture.png" srcset="picture.png 2x, data:image/png;base64,AAAA 3x"><a href="#top" id="top">up</a>'
        '<img src="data:image/png;base64,AAAA">'
    )
    (tmp_path / "sub" / "page.html").write_text('<h2 id="part">Part</h2><a href="../index.html">back</a><a href="..">back</a>')
    return tmp_path


def test_a_sound_site_has_no_faults(check_site, site):
    assert check_site(site) == []


@pytest.mark.parametrize(
    ("extra", "named"),
    [
        ('<a href="missing.html">x</a>', "missing.html"),
        ('<a href="index.html#nowhere">x</a>', "index.html#nowhere"),
        ('<a href="#nowhere">x</a>', "#nowhere"),
        ('<a href="../../outside.html">x</a>', "outside.html"),
        ('<img src="missing.png">', "missing.png"),
        ('<script src="https://example.org/a.js"></script>', "https://example.org/a.js"),
        ('<script src="//example.org/a.js"></script>', "//example.org/a.js"),
        ('<link rel="stylesheet" href="https://example.org/a.css">', "https://example.org/a.css"),
        ('<img srcset="https://example.org/a.png 2x">', "https://example.org/a.png"),
        ("<style>@import 'https://example.org/a.css';</style>", "https://example.org/a.css"),
        ("<style>p { background: url(https://example.org/a.png) }</style>", "https://example.org/a.png"),
    ],
)
def test_a_fault_is_named(check_site, site, extra, named):
    (site / "other.html").write_text(extra)
    (fault,) = check_site(site)
    assert named in fault
    assert "other.html" in fault


def test_styles_from_other_hosts_are_named(check_site, site):
    (site / "fonts.css").write_text("@font-face { src: url('https://example.org/font.woff2') }")
    (fault,) = check_site(site)
    assert "fonts.css" in fault
    assert "https://example.org/font.woff2" in fault


def test_an_address_that_is_only_named_is_not_loaded(check_site, site):
    (site / "other.html").write_text('<link rel="canonical" href="https://example.org/other.html">')
    assert check_site(site) == []

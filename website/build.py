"""Build the website into build/site: `python website/build.py`. Nothing is fetched."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
from pathlib import Path

from check import check_site
from next_release import with_next_release
from plain_text import write_plain_text

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
SOURCES = REPOSITORY / "build" / "site-sources"
SITE = REPOSITORY / "build" / "site"
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "news/README.md", "CITATION.cff", "LICENSE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--without-examples", action="store_true", help="show examples, but do not run them (a quick look at other pages)"
    )
    arguments = parser.parse_args()
    os.environ["SKARCE_REPOSITORY"] = str(REPOSITORY)
    os.environ["SKARCE_GALLERY"] = str(not arguments.without_examples)
    gather_sources()
    run_sphinx()
    write_plain_text(SOURCES, SITE)
    faults = check_site(SITE)
    if faults:
        sys.exit("\n".join(faults))
    print(f"The website is in {SITE.relative_to(REPOSITORY)}: open {SITE.relative_to(REPOSITORY)}/index.html")


def gather_sources() -> None:
    """Copy all pages into one folder. It mirrors the repository, so links between pages stay as they are."""
    if SOURCES.exists():
        shutil.rmtree(SOURCES)
    shutil.copytree(HERE / "pages", SOURCES)
    shutil.copytree(REPOSITORY / "docs", SOURCES / "docs")
    shutil.copytree(REPOSITORY / "results", SOURCES / "results")
    for name in PAGES:
        (SOURCES / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / name, SOURCES / name)
    changelog = SOURCES / "CHANGELOG.md"
    changelog.write_text(with_next_release(changelog.read_text(encoding="utf-8"), REPOSITORY / "news"), encoding="utf-8")
    formulas = SOURCES / "assets" / "mathjax"
    formulas.mkdir(parents=True)
    shutil.copy(mathjax(), formulas)


def mathjax() -> Path:
    """Return the file that shows formulas, from a package that holds it."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    if package is None or package.origin is None:
        sys.exit('sphinx-mathjax-offline is missing. Install what the website needs: pip install -e ".[docs]"')
    return Path(package.origin).parent / "static" / "mathjax" / "tex-svg-full.js"


def run_sphinx() -> None:
    """Make HTML. A warning is an error."""
    from sphinx.cmd.build import main as sphinx

    if SITE.exists():
        shutil.rmtree(SITE)
    options = ["-b", "html", "-W", "--keep-going", "-q", "-d", str(REPOSITORY / "build" / "site-doctrees"), "-c", str(HERE)]
    if sphinx([*options, str(SOURCES), str(SITE)]):
        sys.exit("Sphinx has found faults, see above.")


if __name__ == "__main__":
    main()

"""The sources of the website, without Sphinx: nothing public is missing, and links between pages lead somewhere."""

import ast
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import skarce

REPOSITORY = Path(__file__).parents[2]
PAGES = REPOSITORY / "website" / "pages"
DOCS = sorted((REPOSITORY / "docs").glob("*.md"))
EXAMPLES = sorted((REPOSITORY / "examples").glob("plot_*.py"))
LINKED = [*DOCS, *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
TOCTREE = {
    ".md": re.compile(r"^```\{toctree\}\n(.*?)^```", flags=re.MULTILINE | re.DOTALL),
    ".rst": re.compile(r"^\.\. toctree::\n((?:   .*\n|\n)*)", flags=re.MULTILINE),
}
AUTOSUMMARY = re.compile(r"^\.\. currentmodule:: (\S+)\n\n\.\. autosummary::\n((?:   .*\n|\n)*)", flags=re.MULTILINE)
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")


def public_packages() -> list[str]:
    """Return skarce, and its packages that say what is public in them. None of them is imported."""
    rooms = [f"skarce.{room.name}" for room in pkgutil.iter_modules(skarce.__path__) if room.ispkg]
    sources = {room: Path(importlib.util.find_spec(room).origin).read_text(encoding="utf-8") for room in rooms}
    return ["skarce", *(room for room, source in sources.items() if "\n__all__ = " in source)]


def reference() -> dict[str, list[str]]:
    """Return the names that the reference lists, for each module."""
    listed: dict[str, list[str]] = {}
    for page in sorted((PAGES / "api").glob("*.rst")):
        for module, block in AUTOSUMMARY.findall(page.read_text(encoding="utf-8")):
            names = [line.strip() for line in block.splitlines()]
            listed.setdefault(module, []).extend(name for name in names if name and not name.startswith(":"))
    return listed


def in_contents() -> list[str]:
    """Return what the tables of contents list, as paths without endings from the root of the site."""
    found = []
    for page in [*PAGES.glob("*.md"), *PAGES.glob("api/*.rst")]:
        for block in TOCTREE[page.suffix].findall(page.read_text(encoding="utf-8")):
            lines = [line.strip() for line in block.splitlines()]
            entries = [line.split("<")[-1].rstrip(">") for line in lines if line and not line.startswith(":")]
            folder = page.parent.relative_to(PAGES)
            found += [(folder / entry).as_posix() for entry in entries]
    return found


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("module", public_packages())
def test_every_public_name_is_in_the_reference(module):
    listed = reference()
    documented = {id(getattr(importlib.import_module(home), name)) for home, names in listed.items() for name in names}
    package = importlib.import_module(module)
    names = [name for name in package.__all__ if name != "__version__"]
    missing = [name for name in names if name not in listed.get(module, []) and id(getattr(package, name)) not in documented]
    assert not missing, f"{module} has {missing}: add them to a page in website/pages/api."


@pytest.mark.parametrize("module", sorted(reference()))
def test_the_reference_lists_public_names_once(module):
    names = reference()[module]
    assert len(names) == len(set(names))
    assert set(names) <= set(importlib.import_module(module).__all__)


def test_every_page_of_the_docs_is_in_the_contents_once():
    listed = in_contents()
    assert sorted(page for page in listed if page.startswith("docs/")) == sorted(f"docs/{page.stem}" for page in DOCS)


def test_every_page_of_the_site_is_in_the_contents():
    pages = [page.relative_to(PAGES).with_suffix("").as_posix() for page in PAGES.rglob("*.*") if page.suffix in (".md", ".rst")]
    assert {*pages, "gallery/index"} - {"index"} <= set(in_contents())


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_local_links_exist(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in LINK.findall(re.sub(r"`[^`]*`", "", text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {link}"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {link}"


def test_there_are_examples():
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_compiles_and_has_a_title_and_a_picture(example):
    tree = ast.parse(example.read_text(encoding="utf-8"))
    title, line, *rest = (ast.get_docstring(tree) or "").split("\n")
    assert title
    assert line == "=" * len(title)
    assert "\n".join(rest).strip(), "a few sentences below the title"
    assert example.read_text(encoding="utf-8").rstrip().endswith("plt.show()")


def test_every_example_has_a_place_in_the_gallery():
    source = (REPOSITORY / "website" / "examples_style.py").read_text(encoding="utf-8")
    (order,) = (node.value for node in ast.parse(source).body if isinstance(node, ast.Assign) and node.targets[0].id == "ORDER")
    assert sorted(ast.literal_eval(order)) == [example.name for example in EXAMPLES]

"""Plain text of the website, for language models: llms.txt is a list of pages, llms-full.txt has all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ABOUT = """\
# skarce

> Compact, uncertainty-aware sparse kernel and linear models with the scikit-learn interface: a handful of basis functions, chosen
> by Bayesian evidence or generalized cross validation, with error bars on every prediction.

Install from a copy of the repository: `pip install .`, or `pip install ".[cli]"` for the command `skarce`. Start:
`from skarce import RelevanceVectorRegressor; model = RelevanceVectorRegressor().fit(X, y)`, then
`mean, std = model.predict(X_new, return_std=True)`.
"""
SECTIONS = ("guide.md", "mathematics.md", "results.md", "development.md")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^(?:(?P<label>.+) <(?P<named>[^>]+)>|(?P<plain>[\w./-]+))$")


class Listed(NamedTuple):
    """A page in a table of contents: its path without an ending, and its label if it is not the title."""

    path: str
    label: str | None


def write_plain_text(sources: Path, site: Path) -> None:
    """Write llms.txt and llms-full.txt, in the order of the tables of contents."""
    listed, full = [ABOUT], [ABOUT]
    for section in SECTIONS:
        pages = [page for page in toctree(sources / section) if (sources / f"{page.path}.md").is_file()]
        listed.append(f"## {_title(sources / section)}\n\n" + "\n".join(_line(sources, page) for page in pages) + "\n")
        full += [_text(sources, page) for page in pages]
    examples = sorted((sources / "gallery").glob("plot_*.py"))
    listed.append("## Examples\n\n" + "\n".join(f"- [{_heading(path)}](gallery/{path.stem}.html)" for path in examples) + "\n")
    full += [f"# Example: {_heading(path)}\n\n```python\n{path.read_text(encoding='utf-8')}```\n" for path in examples]
    listed.append("## Reference\n\n- [All names](api/index.html)\n- [All pages and examples in one file](llms-full.txt)\n")
    (site / "llms.txt").write_text("\n".join(listed), encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(full), encoding="utf-8")


def toctree(page: Path) -> list[Listed]:
    """Return the pages that a page in Markdown lists in its tables of contents, in order."""
    blocks = TOCTREE.findall(page.read_text(encoding="utf-8"))
    lines = [line.strip() for block in blocks for line in block.splitlines() if not line.startswith(":")]
    entries = [ENTRY.match(line) for line in lines if line]
    return [Listed(entry["named"] or entry["plain"], entry["label"]) for entry in entries if entry]


def _line(sources: Path, page: Listed) -> str:
    text = _text(sources, page)
    return f"- [{page.label or _title(sources / f'{page.path}.md')}]({page.path}.html){_first_sentence(text)}"


def _text(sources: Path, page: Listed) -> str:
    return (sources / f"{page.path}.md").read_text(encoding="utf-8")


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")


def _first_sentence(text: str) -> str:
    """Return ': ' and the first sentence after the title, or nothing if the page begins with something else."""
    paragraphs = text.split("\n\n")
    if len(paragraphs) < 2 or not re.match(r"[\w*]|`[^`]", paragraphs[1]):
        return ""
    sentence = re.split(r"(?<=[.?!])(?:\s|\*\*)", " ".join(paragraphs[1].split()), maxsplit=1)[0]
    return f": {sentence.strip('*')}"


def _heading(example: Path) -> str:
    """Return the title of an example: the first line of its docstring."""
    return example.read_text(encoding="utf-8").removeprefix('"""').strip().split("\n", 1)[0]

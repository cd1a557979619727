"""Plain text of the website, for language models: llms.txt is a list of pages, llms-full.txt has all of them."""

from __future__ import annotations

import re
from pathlib import Path

ABOUT = """\
# skarce

> Compact, uncertainty-aware sparse kernel and linear models with the scikit-learn interface: a handful of basis functions, chosen
> by Bayesian evidence or generalized cross validation, with error bars on every prediction.

Install from a copy of the repository: `pip install .`, or `pip install ".[cli]"` for the command `skarce`. Start:
`from skarce import RelevanceVectorRegressor; model = RelevanceVectorRegressor().fit(X, y)`, then
`mean, std = model.predict(X_new, return_std=True)`.
"""
SECTIONS = ("guide.md", "mathematics.md", "results.md", "development.md")
ENTRY = re.compile(r"^(?:.*<(?P<named>[^>]+)>|(?P<plain>[\w./-]+))$")


def write_plain_text(sources: Path, site: Path) -> None:
    """Write llms.txt and llms-full.txt, in the order of the tables of contents."""
    listed, full = [ABOUT], [ABOUT]
    for section in SECTIONS:
        pages = [page for page in toctree(sources / section) if (sources / f"{page}.md").is_file()]
        listed.append(f"## {_title(sources / section)}\n\n" + "\n".join(_entry(sources, page) for page in pages) + "\n")
        full += [(sources / f"{page}.md").read_text(encoding="utf-8") for page in pages]
    examples = sorted((sources / "gallery").glob("plot_*.py"))
    listed.append("## Examples\n\n" + "\n".join(f"- [{_heading(path)}](gallery/{path.stem}.html)" for path in examples) + "\n")
    full += [f"## Example: {_heading(path)}\n\n```python\n{path.read_text(encoding='utf-8')}```\n" for path in examples]
    listed.append("## Reference\n\n- [All names](api/index.html)\n- [All pages and examples in one file](llms-full.txt)\n")
    (site / "llms.txt").write_text("\n".join(listed), encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(full), encoding="utf-8")


def toctree(page: Path) -> list[str]:
    """Return the pages that a page lists in its tables of contents, in order."""
    listed: list[str] = []
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL):
        entries = [ENTRY.match(line.strip()) for line in block.splitlines() if line.strip() and not line.startswith(":")]
        listed += [entry["named"] or entry["plain"] for entry in entries if entry]
    return listed


def _entry(sources: Path, page: str) -> str:
    path = sources / f"{page}.md"
    return f"- [{_title(path)}]({page}.html)"


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")


def _heading(example: Path) -> str:
    """Return the title of an example: the first line of its docstring."""
    return example.read_text(encoding="utf-8").removeprefix('"""').strip().split("\n", 1)[0]

"""Check a built website without a network: links between pages, anchors, and that nothing is loaded from another host."""

from __future__ import annotations

import re
import sys
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
}
NOT_LOADED = {"canonical", "license", "author", "next", "prev", "search", "index", "genindex"}  # values of rel=
ELSEWHERE = re.compile(r"^(https?:)?//")
TEMPLATES = {"webpack-macros.html"}  # of the theme, in its static files
IN_STYLES = re.compile(r"(?:@import\s*|url\(\s*)['\"]?((?:https?:)?//[^'\")\s]+)")


class Page(HTMLParser):
    """What an HTML page links to, what it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)
        self.loads |= set(IN_STYLES.findall(text))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attributes if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag == "link" and set(given.get("rel", "").split()) & NOT_LOADED:
            return
        for name in LOADED.get(tag, ()):
            if name in given:
                self.loads |= set(_addresses(given[name], is_set=name == "srcset"))


class Site:
    """All files of a built website."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    @cached_property
    def pages(self) -> dict[Path, Page]:
        found = sorted(self.folder.rglob("*.html"))
        return {path: Page(path.read_text(encoding="utf-8")) for path in found if path.name not in TEMPLATES}

    def faults(self) -> list[str]:
        found = [fault for path in self.pages for fault in self._faults_of(path)]
        for path in sorted(self.folder.rglob("*.css")):
            name = path.relative_to(self.folder)
            found += [f"{name} loads {address}" for address in IN_STYLES.findall(path.read_text(encoding="utf-8"))]
        return found

    def _faults_of(self, path: Path) -> list[str]:
        page, name = self.pages[path], path.relative_to(self.folder)
        foreign = [f"{name} loads {address} from another host" for address in sorted(page.loads) if ELSEWHERE.match(address)]
        broken = [
            f"{name} links to {link}, which does not exist"
            for link in sorted(page.links | page.loads)
            if self._is_broken(path, link)
        ]
        return foreign + broken

    def _is_broken(self, path: Path, link: str) -> bool:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return False
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        if not target.is_file() or not target.is_relative_to(self.folder):
            return True
        is_anchor = parts.fragment and target in self.pages
        return bool(is_anchor) and unquote(parts.fragment) not in self.pages[target].anchors


def check_site(folder: Path) -> list[str]:
    """Return one line for each broken link, and for each thing that a page would load from another host."""
    return Site(folder).faults()


def _addresses(value: str, *, is_set: bool) -> list[str]:
    """Return the addresses in an attribute. Those of a set are followed by their sizes; one that begins with data: holds commas."""
    given = [part.split()[0] for part in re.split(r",\s+", value.strip()) if part] if is_set else [value]
    return [address for address in given if not address.startswith("data:")]


if __name__ == "__main__":
    sys.exit("\n".join(check_site(Path(sys.argv[1]))))

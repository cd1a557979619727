"""Measure the house: where code lies, how imports go, how long functions and files are, what one fit visits.

python -m benchmarks.house [ROOT]          # ROOT is the folder of a package, by default that of the installed skarce
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import skarce

PROTOCOLS = {
    *("Criterion", "Judge", "Search", "Design", "Likelihood", "Method", "MomentMethod", "Members", "State"),
    *("ActiveSet", "EigenSet", "MeasuredSet", "InMemoryDesign", "RowBlocksDesign", "StreamDesign", "WholeGram"),
    *("IndividualEvidence", "SharedEvidence", "GCV", "LaplaceGCV", "GivenWeightVariance", "PenalizedError", "VariationalBound"),
    *("LikelihoodWithoutPrior", "OneByOne", "Forward", "MomentRegressor", "FakeTargets"),
}
HOOKS = {"settle", "climb", "starting", "new_state", "worth", "penalty", "ranking", "run"}
ROOM_OF_INPUT_CHECKS = "estimators"  # where isinstance tells a user that a parameter is of the wrong kind


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(skarce.__file__).parent)
    root = parser.parse_args().root
    trees = {path: ast.parse(path.read_text()) for path in sorted(root.rglob("*.py"))}
    for title, value in measures(root, trees):
        print(f"{title:<62} {value}")


def measures(root: Path, trees: dict[Path, ast.Module]) -> list[tuple[str, Any]]:
    lines = [len(path.read_text().splitlines()) for path in trees]
    functions = [_length(node) for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    asked = asked_of_protocols(root, trees)
    rows = [
        ("files, lines", f"{len(trees)}, {sum(lines)}"),
        ("files in the root", len(list(root.glob("*.py")))),
        ("package-level cycles, groups of rooms that import each other", cycles(root, trees) or "none"),
        ("hasattr on protocol hooks, isinstance on protocols", len(asked)),
        ("function lines without docstring: median, longest", f"{statistics.median(functions):g}, {max(functions)}"),
        ("file lines: median, longest", f"{statistics.median(lines):g}, {max(lines)}"),
        ("module constants", sum(_n_constants(tree) for tree in trees.values())),
    ]
    if root == Path(skarce.__file__).parent:
        rows.append(("files visited by RelevanceVectorRegressor().fit", len(visited_by_a_fit(root))))
    return [*rows, *(("  asked", place) for place in asked)]


def _length(node: ast.FunctionDef) -> int:
    docstring = ast.get_docstring(node, clean=False)
    return (node.end_lineno or 0) - node.lineno + 1 - (len(docstring.splitlines()) if docstring else 0)


def _n_constants(tree: ast.Module) -> int:
    targets = [t for node in tree.body if isinstance(node, ast.Assign) for t in node.targets]
    names = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return sum(name.id.isupper() for name in names)


def asked_of_protocols(root: Path, trees: dict[Path, ast.Module]) -> list[str]:
    """Return places that ask what a protocol should say. Checks of a user's parameters in the estimators are not counted."""
    found = []
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2):
                continue
            asked, what = node.args
            is_hook = node.func.id == "hasattr" and isinstance(what, ast.Constant) and what.value in HOOKS
            names = {name.id for name in ast.walk(what) if isinstance(name, ast.Name)}
            is_protocol = node.func.id == "isinstance" and names & PROTOCOLS and not _is_parameter(path, root, asked, tree)
            if is_hook or is_protocol:
                found.append(f"{path.relative_to(root)}:{node.lineno} {ast.unparse(node)}")
    return found


def _is_parameter(path: Path, root: Path, asked: ast.expr, tree: ast.Module) -> bool:
    """Whether the answer only decides about an error that names a parameter."""
    if path.relative_to(root).parts[0] != ROOM_OF_INPUT_CHECKS:
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and any(inner is asked for inner in ast.walk(node.test)):
            return all(isinstance(statement, ast.Raise) for statement in node.body)
    return False


def cycles(root: Path, trees: dict[Path, ast.Module]) -> list[list[str]]:
    """Return groups of rooms each of which reaches the others, the root counted as one room."""
    imports: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skarce"):
                imports[_room(path, root)].add(_target(node.module or "", root))
    if root == Path(skarce.__file__).parent:
        imports.pop("root", None)  # it imports every room in order to export names; no room but the command line imports it
    reach = {room: _reached(room, imports) for room in imports}
    groups = {tuple(sorted(a for a in reach if a in reach[room] and room in reach.get(a, ()))) for room in reach}
    return [list(group) for group in sorted(groups) if len(group) > 1]


def _room(path: Path, root: Path) -> str:
    parts = path.relative_to(root).parts
    return parts[0] if len(parts) > 1 else ("tools" if parts[0].startswith("_") and not parts[0].startswith("__") else "root")


def _target(module: str, root: Path) -> str:
    name = module.split(".")[1] if "." in module else ""
    return name if name and (root / name).is_dir() else ("tools" if name.startswith("_") else "root")


def _reached(room: str, imports: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    open_rooms = [room]
    while open_rooms:
        for other in imports.get(open_rooms.pop(), set()) - seen:
            seen.add(other)
            open_rooms.append(other)
    return seen - {room} | ({room} if room in seen and len(seen) > 1 else set())


def visited_by_a_fit(root: Path) -> set[str]:
    """Return the files of ours in which a call was made during one fit."""
    seen: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(root)):
            seen.add(frame.f_code.co_filename)

    rng = np.random.default_rng(0)
    X = rng.uniform(-5, 5, (200, 1))
    sys.setprofile(note)
    try:
        skarce.RelevanceVectorRegressor("rbf").fit(X, np.sin(X[:, 0]) + rng.normal(0, 0.1, 200))
    finally:
        sys.setprofile(None)
    return seen


if __name__ == "__main__":
    main()

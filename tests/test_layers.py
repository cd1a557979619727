"""Imports go one way, down the layers, also inside functions and under TYPE_CHECKING."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import skarce

ROOT = Path(skarce.__file__).parent
LAYERS = (
    *("datasets", "basis", "moments", "likelihoods", "designs", "states", "criteria", "searches", "posteriors", "methods"),
    *("model_selection", "estimators", "inspection", "export", "comparison", "report", "reproduce", "cli"),
)
BESIDE = {("inspection", "export"), ("export", "inspection")}  # rooms on one floor, which do not see each other
IN_THE_ROOT = {"__init__.py", "__main__.py"}
MODULES = sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else parts[0].removesuffix(".py")


def imported_rooms(tree: ast.AST) -> list[tuple[int, str]]:
    """Line and room of every import of ours."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            found.append((node.lineno, "."))
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module == "skarce":
            names = [f"skarce.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        found += [(node.lineno, name.split(".")[1]) for name in names if name.startswith("skarce.")]
    return found


def height(room: str) -> int:
    """Private tools lie below all rooms, `__main__` above; what the package itself exports counts as an estimator."""
    if room == "__main__":
        return len(LAYERS)
    if room.startswith("_"):
        return -1
    return LAYERS.index(room if room in LAYERS else "estimators")


def faults_of(source: str, room: str) -> list[str]:
    faults = []
    for line, target in imported_rooms(ast.parse(source)):
        if target == ".":
            faults.append(f"line {line}: relative import")
        elif target != room and (height(target) > height(room) or (room, target) in BESIDE):
            faults.append(f"line {line}: {room} imports {target}")
    return faults


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path != ROOT / "__init__.py"], ids=lambda path: str(path.relative_to(ROOT))
)
def test_imports_go_down_the_layers(path):
    assert faults_of(path.read_text(), room_of(path)) == []


def test_the_root_holds_private_tools_only():
    loose = {path.name for path in ROOT.glob("*.py")} - IN_THE_ROOT
    assert all(name.startswith("_") for name in loose)
    assert {path.name for path in ROOT.iterdir() if path.is_dir()} - {"__pycache__"} <= set(LAYERS)


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("basis", "from skarce.estimators import VBLSRegressor"),
        ("criteria", "def f():\n    from skarce.searches import Forward"),
        ("designs", "if TYPE_CHECKING:\n    from skarce.states.fit import Fit"),
        ("_linalg", "import skarce.basis.kernels"),
        ("moments", "from skarce import designs"),
        ("states", "from .fit import Fit"),
        ("model_selection", "from skarce import VBLSRegressor"),
    ],
)
def test_a_fault_would_be_found(room, source):
    assert len(faults_of(source, room)) == 1

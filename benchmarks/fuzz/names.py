"""The names that the code of a case may use, and the lines that import them."""

from __future__ import annotations

import re
from typing import Any

import skarce
import skarce.criteria
import skarce.searches
from benchmarks.fuzz import archive, table_edits

TABLE_EDITS = [name for name in vars(table_edits) if name == "inserted" or name.startswith("with")]
EDITS = [name for name in vars(archive) if name in ("flipped", "deep") or name.startswith("with")]
IMPORTS = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "scipy": "import scipy.sparse",
    "stats": "from scipy import stats",
    "pickle": "import pickle",
    "clone": "from sklearn.base import clone",
    "make_pipeline": "from sklearn.pipeline import make_pipeline",
    "PCA": "from sklearn.decomposition import PCA",
    "SimpleImputer": "from sklearn.impute import SimpleImputer",
    "Ridge": "from sklearn.linear_model import Ridge",
    "RowBlocks": "from skarce.designs import RowBlocks",
    "os": "import os",
    "gzip": "import gzip",
    "Path": "from pathlib import Path",
    "dense": "from benchmarks.fuzz.problems import dense",
    "interrupted": "from benchmarks.fuzz.interrupts import interrupted",
    "command": "from benchmarks.fuzz.commands import command",
    "through_pipe": "from benchmarks.fuzz.commands import through_pipe",
    "Decimal": "from decimal import Decimal",
    "date": "from datetime import date",
    **dict.fromkeys(TABLE_EDITS, "from benchmarks.fuzz.table_edits import {}"),
    **dict.fromkeys(EDITS, "from benchmarks.fuzz.archive import {}"),
    **dict.fromkeys(("summary", "sobol_indices"), "from skarce.inspection import {}"),
    **dict.fromkeys(("KFold", "GroupKFold"), "from sklearn.model_selection import {}"),
    **dict.fromkeys(("Nystroem", "RBFSampler"), "from sklearn.kernel_approximation import {}"),
    **dict.fromkeys(("rbf_kernel", "laplacian_kernel", "linear_kernel"), "from sklearn.metrics.pairwise import {}"),
    **dict.fromkeys(
        ("StandardScaler", "PolynomialFeatures", "SplineTransformer", "OneHotEncoder", "FunctionTransformer"),
        "from sklearn.preprocessing import {}",
    ),
    **dict.fromkeys(skarce.criteria.__all__, "from skarce.criteria import {}"),
    **dict.fromkeys(skarce.searches.__all__, "from skarce.searches import {}"),
    **dict.fromkeys((name for name in skarce.__all__ if not name.startswith("_")), "from skarce import {}"),
}


def import_lines(source: str) -> list[str]:
    """The imports that a piece of source code needs, those of one module on one line."""
    used = [name for name in IMPORTS if re.search(rf"(?<![\w.'\"]){name}\b", source)]
    grouped: dict[str, list[str]] = {}
    for name in used:
        grouped.setdefault(IMPORTS[name], []).append(name)
    return [line.format(", ".join(sorted(names))) for line, names in sorted(grouped.items())]


def namespace(source: str) -> dict[str, Any]:
    """Names for the code of a case, as after its imports."""
    names: dict[str, Any] = {"__name__": "case"}
    exec("\n".join(import_lines(source)), names)
    return names

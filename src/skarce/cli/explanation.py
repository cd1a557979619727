"""What is in a saved model and why, as tables in the units of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.cli.model_file import SavedModel


def facts(model: SavedModel) -> dict[str, str]:
    """The model in a few lines."""
    regressor = model.regressor
    criterion = "log evidence" if regressor.criterion_sense_ > 0 else "criterion (smaller is better)"
    return {
        "model": f"{regressor} of {model.target!r}, saved by skarce {model.version}",
        "functions": f"{len(regressor.active_)} of {len(regressor.relevance_)} candidates",
        "noise": f"{np.sqrt(regressor.noise_variance_):.6g} (standard deviation, in units of {model.target})",
        "intercept": f"{regressor.intercept_:.6g}",
        criterion: f"{regressor.criterion_:.6g}",
        "outcome": regressor.outcome_.value,
    }


def active_functions(model: SavedModel) -> Any:
    """One row per active function, most relevant first: where it stands, its weight, the weight's error, its relevance."""
    regressor = model.regressor
    table = _places(model)
    table.insert(0, "candidate", regressor.active_)
    table["weight"] = regressor.coef_
    table["std error"] = np.sqrt(np.diag(regressor.posterior_.covariance))
    table["relevance"] = regressor.relevance_[regressor.active_]
    return table.sort_values("relevance", ascending=False, kind="stable", ignore_index=True)


def last_steps(model: SavedModel, n_steps: int = 5) -> Any:
    """The end of the search: what was done, to which candidate, and what it gave. Steps on all functions have no candidate."""
    trace = model.regressor.trace_
    steps = pd.DataFrame({name: trace[name] for name in ("action", "index", "criterion", "n_active")})
    steps.insert(0, "step", np.arange(1, len(trace) + 1))
    steps["index"] = [str(index) if index >= 0 else "all" for index in steps["index"]]
    return steps.rename(columns={"index": "candidate", "n_active": "functions"}).tail(n_steps)


def _places(model: SavedModel) -> Any:
    """Kernel centres in the units of the data; for any other basis the names of the functions."""
    preprocessing, basis = model.pipeline[:-1], model.regressor.basis_
    if isinstance(basis, KernelBasis) and basis.kernel != "precomputed":
        return original_inputs(preprocessing[-1], basis.centers_)[list(model.columns)]
    inputs = [name.partition("__")[2] for name in preprocessing.get_feature_names_out()]
    return pd.DataFrame({"function": basis.get_feature_names_out(inputs)})


def original_inputs(preprocessing: Any, rows: Floats) -> Any:
    """Prepared rows as they were before scaling and encoding."""
    if not len(rows):
        return pd.DataFrame(columns=preprocessing.feature_names_in_)
    columns = {}
    for label, transformer, names in preprocessing.transformers_:
        block = transformer.inverse_transform(rows[:, preprocessing.output_indices_[label]])
        columns.update(dict(zip(names, block.T, strict=True)))
    return pd.DataFrame(columns)

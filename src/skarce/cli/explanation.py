"""What is in a saved model and why, as tables in the units of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.cli.model_file import SavedModel
from skarce.estimators import LaplacePriorRegressor, VBLSClassifier, VBLSRegressor

MOST_WIDTHS = 20  # listed


def facts(model: SavedModel) -> dict[str, str]:
    """The model in a few lines."""
    regressor = model.regressor
    criterion = "criterion (smaller is better)"
    if regressor.criterion_sense_ > 0:
        is_bound = isinstance(regressor, (VBLSRegressor, VBLSClassifier))
        criterion = "lower bound" if is_bound else "log evidence"
    remark = "" if is_classifier(regressor) else getattr(regressor._criterion(), "remark", "")
    return {
        "model": f"{regressor} of {model.target!r}, saved by skarce {model.version}",
        "functions": f"{len(regressor.active_)} of {len(regressor.relevance_)} candidates",
        **kernel_width(model),
        **penalty(model),
        **_level(model),
        criterion: f"{regressor.criterion_:.6g}" + (f" ({remark})" if remark else ""),
        "outcome": regressor.outcome_.value,
    }


def _level(model: SavedModel) -> dict[str, str]:
    """The noise of a regressor or the classes of a classifier, and the constant."""
    regressor = model.regressor
    intercept = ", ".join(f"{value:.6g}" for value in np.atleast_1d(regressor.intercept_))
    if is_classifier(regressor):
        classes = ", ".join(map(str, regressor.classes_))
        return {"classes": classes, "intercept": f"{intercept} (log odds{_of_second(regressor)})"}
    noise = f"{np.sqrt(regressor.noise_variance_):.6g} (standard deviation, in units of {model.target})"
    return {"noise": noise, "intercept": intercept}


def _of_second(classifier: Any) -> str:
    return f" of {classifier.classes_[1]}" if len(classifier.classes_) == 2 else ""


def kernel_width(model: SavedModel) -> dict[str, str]:
    """gamma on the scaled inputs and the rule behind it; where each input has its own, the narrowest first, which matters most."""
    basis, asked = model.regressor.basis_, model.regressor.basis
    if not isinstance(basis, KernelBasis) or basis.gamma_ is None:
        return {}
    rule = asked.gamma if isinstance(asked, KernelBasis) else "scale"
    origin = f"by {rule!r}, on scaled inputs" if isinstance(rule, str) else "on scaled inputs"
    if np.ndim(basis.gamma_) == 0:
        return {"kernel": f"{basis.kernel}, gamma {basis.gamma_:.4g} ({origin})"}
    names, narrowest = _input_names(model), np.argsort(-basis.gamma_, kind="stable")
    listed = [f"{names[place]} {basis.gamma_[place]:.3g}" for place in narrowest[:MOST_WIDTHS]]
    more = f", and {len(narrowest) - MOST_WIDTHS} wider ones" if len(narrowest) > MOST_WIDTHS else ""
    return {"kernel": f"{basis.kernel}, one gamma per input ({origin}): {', '.join(listed)}{more}"}


def penalty(model: SavedModel) -> dict[str, str]:
    """The L1 penalty, and how it was chosen, where there is one."""
    regressor = model.regressor
    if not isinstance(regressor, LaplacePriorRegressor):
        return {}
    is_chosen = isinstance(regressor.penalty, str) or np.size(regressor.penalty) > 1
    origin = f"by GCV, degrees of freedom {regressor.degrees_of_freedom!r}" if is_chosen else "as given"
    return {"penalty": f"{regressor.penalty_:.4g} ({origin})"}


def active_functions(model: SavedModel) -> Any:
    """One row per active function, most relevant first: where it stands, its weight, the weight's error, its relevance."""
    regressor = model.regressor
    table = _places(model)
    table.insert(0, "candidate", regressor.active_)
    if regressor.coef_.ndim == 1:
        table["weight"] = regressor.coef_
        table["std error"] = np.sqrt(np.diag(regressor.posterior_.covariance))
    else:
        for label, weights in zip(regressor.classes_, regressor.coef_, strict=True):
            table[f"weight {label}"] = weights
    table["relevance"] = regressor.relevance_[regressor.active_]
    return table.sort_values("relevance", ascending=False, kind="stable", ignore_index=True)


def last_steps(model: SavedModel, n_steps: int = 5) -> Any:
    """The end of the search: what was done, to which candidate, and what it gave. Steps on all functions have no candidate."""
    trace = model.regressor.trace_
    steps = pd.DataFrame({name: trace[name] for name in ("action", "index", "criterion", "n_active")})
    steps.insert(0, "step", np.arange(1, len(trace) + 1))
    steps["index"] = [_acted_on(step["action"], step["index"]) for step in trace]
    return steps.rename(columns={"index": "candidate", "n_active": "functions"}).tail(n_steps)


def _acted_on(action: str, index: int) -> str:
    """The candidate of a step; the index of an undo is the number of steps it takes back."""
    if action == "undo":
        return f"{index} step{'' if index == 1 else 's'} back"
    return str(index) if index >= 0 else "all"


def _places(model: SavedModel) -> Any:
    """Kernel centres in the units of the data; for any other basis the names of the functions."""
    preprocessing, basis = model.pipeline[:-1], model.regressor.basis_
    if isinstance(basis, KernelBasis) and basis.kernel != "precomputed":
        return original_inputs(preprocessing[-1], basis.centers_)[list(model.columns)]
    return pd.DataFrame({"function": basis.get_feature_names_out(_input_names(model))})


def _input_names(model: SavedModel) -> list[str]:
    """The inputs as the regressor sees them: texts one-hot encoded."""
    return [name.partition("__")[2] for name in model.pipeline[:-1].get_feature_names_out()]


def original_inputs(preprocessing: Any, rows: Floats) -> Any:
    """Prepared rows as they were before scaling and encoding."""
    if not len(rows):
        return pd.DataFrame(columns=preprocessing.feature_names_in_)
    columns = {}
    for label, transformer, names in preprocessing.transformers_:
        block = transformer.inverse_transform(rows[:, preprocessing.output_indices_[label]])
        columns.update(dict(zip(names, block.T, strict=True)))
    return pd.DataFrame(columns)

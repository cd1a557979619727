"""What is in a saved model and why, as tables in the units of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.preprocessing import StandardScaler

from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.cli.model_file import SavedModel
from skarce.estimators import LaplacePriorRegressor, VBLSClassifier, VBLSRegressor

MOST_WIDTHS = 20  # listed
MOST_STEPS, MOST_STEPS_OF_ALL = 5, 15  # of the search shown, of one class and of all together


def facts(model: SavedModel) -> dict[str, str]:
    """The model in a few lines."""
    regressor = model.regressor
    criterion = "criterion (smaller is better)"
    if regressor.criterion_sense_ > 0:
        is_bound = isinstance(regressor, (VBLSRegressor, VBLSClassifier))
        criterion = "lower bound" if is_bound else "log evidence"
    if is_classifier(regressor):
        remark = "the sum over the classes" if _has_many_classes(regressor) else ""
    else:
        remark = getattr(regressor._criterion(), "remark", "")
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


def _has_many_classes(model: Any) -> bool:
    """Whether there is a latent function for each class, in place of one model for all."""
    return isinstance(model.posterior_, list)


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
    """One row per active function, most relevant first: where it stands, its weight, the weight's error, its relevance.

    Where each class has functions of its own, one row for each class that has the function.
    """
    regressor = model.regressor
    table = _places(model)
    table.insert(0, "candidate", regressor.active_)
    if _has_many_classes(regressor):
        parts = [
            _with_weights(table[np.isin(regressor.active_, posterior.active)], posterior, posterior.well_determined, label)
            for label, posterior in zip(regressor.classes_, regressor.posterior_, strict=True)
        ]
        table = pd.concat(parts, ignore_index=True)
    else:
        table = _with_weights(table, regressor.posterior_, regressor.relevance_[regressor.active_])
    return table.sort_values("relevance", ascending=False, kind="stable", ignore_index=True)


def _with_weights(functions: Any, posterior: Any, relevance: Floats, label: Any = None) -> Any:
    """The functions of one posterior, that of the class `label` where there are several, with what it knows of their weights."""
    of_class = {} if label is None else {"for class": label}
    std_error = {"std error": np.sqrt(np.diag(posterior.covariance))}
    return functions.assign(**of_class, weight=posterior.mean, **std_error, relevance=relevance)


def last_steps(model: SavedModel) -> Any:
    """The end of the search, of each class where there are several: what was done, to which candidate, and what it gave.

    Steps on all functions have no candidate.
    """
    regressor = model.regressor
    if not _has_many_classes(regressor):
        return _end_of(regressor.trace_, MOST_STEPS)
    n_steps = min(max(MOST_STEPS_OF_ALL // len(regressor.classes_), 1), MOST_STEPS)
    ends = [_end_of(posterior.trace, n_steps) for posterior in regressor.posterior_]
    for label, end in zip(regressor.classes_, ends, strict=True):
        end.insert(0, "for class", label)
    return pd.concat(ends, ignore_index=True)


def _end_of(trace: Any, n_steps: int) -> Any:
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
        if isinstance(transformer, StandardScaler):  # a zero comes back as a rounding error of the mean
            block = np.where(np.abs(block) <= 4.0 * np.finfo(np.float64).eps * np.abs(transformer.mean_), 0.0, block)
        columns.update(dict(zip(names, block.T, strict=True)))
    return pd.DataFrame(columns)

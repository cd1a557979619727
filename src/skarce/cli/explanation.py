"""What is in a saved model and why, as tables in the units of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from skarce._typing import Floats
from skarce.basis import KernelBasis, check_basis
from skarce.cli.model_file import SavedModel
from skarce.cli.task_output import output_for
from skarce.estimators import LaplacePriorRegressor
from skarce.inspection.path import criterion_name
from skarce.inspection.summary import COLUMNS, has_tests, weight_values
from skarce.report.outcome_words import command_line_words

MOST_WIDTHS = 20  # kernel widths in the list
NO_TESTS = "how far a weight may move at little cost; a margin has no likelihood, so there are no tests and no intervals"
LEVEL = 0.95  # of the intervals of weights
HEADINGS = {"coefficient": "weight", "std": "std error", "p": "p value"}
OF_COLUMNS = ["lower", "upper", "p value"]  # kernels have none: each was chosen for its place, and is not tested
OF_MARGINS_STD = "curvature std"  # in place of the standard error
MOST_STEPS, MOST_STEPS_OF_ALL = 5, 15  # last steps of the search, of one class and of all classes together


def facts(model: SavedModel) -> dict[str, str]:
    """The model in a few lines."""
    regressor, output = model.regressor, output_for(model)
    remark = output.criterion_remark(model)
    return {
        "model": f"{regressor} for {model.target!r}, saved by skarce {model.version}",
        **size_facts(model),
        **output.level(model),
        **({} if has_tests(regressor) else {OF_MARGINS_STD: NO_TESTS}),
        criterion_name(regressor): f"{regressor.criterion_:.6g}" + (f" ({remark})" if remark else ""),
        "outcome": command_line_words(regressor.outcome_.value),
    }


def size_facts(model: SavedModel) -> dict[str, str]:
    """How many functions there are, and what decided it: the kernel width, and the penalty if there is one."""
    functions = f"{len(model.regressor.active_)} of {len(model.regressor.relevance_)} candidates"
    return {"functions": functions, **kernel_width(model), **penalty(model)}


def kernel_width(model: SavedModel) -> dict[str, str]:
    """gamma on the scaled inputs, and the rule behind it. If each input has its own, the narrowest is first."""
    basis, asked = model.regressor.basis_, model.regressor.basis
    if not isinstance(basis, KernelBasis) or basis.gamma_ is None:
        return {}
    rule = check_basis(asked).gamma
    origin = f"by {rule!r}, on scaled inputs" if isinstance(rule, str) else "on scaled inputs"
    if np.ndim(basis.gamma_) == 0:
        return {"kernel": f"{basis.kernel_}, gamma {basis.gamma_:.4g} ({origin})"}
    names, narrowest = _input_names(model), np.argsort(-basis.gamma_, kind="stable")
    listed = [f"{names[place]} {basis.gamma_[place]:.3g}" for place in narrowest[:MOST_WIDTHS]]
    more = f", and {len(narrowest) - MOST_WIDTHS} wider ones" if len(narrowest) > MOST_WIDTHS else ""
    return {"kernel": f"{basis.kernel_}, one gamma per input ({origin}): {', '.join(listed)}{more}"}


def penalty(model: SavedModel) -> dict[str, str]:
    """The L1 penalty if there is one, and how it was chosen."""
    regressor = model.regressor
    if not isinstance(regressor, LaplacePriorRegressor):
        return {}
    is_chosen = isinstance(regressor.penalty, str) or np.size(regressor.penalty) > 1
    origin = f"by GCV, degrees of freedom {regressor.degrees_of_freedom!r}" if is_chosen else "as given"
    return {"penalty": f"{regressor.penalty_:.4g} ({origin})"}


def active_functions(model: SavedModel) -> Any:
    """One row per active function, most relevant first: its center, its weight, the error of the weight, its relevance.

    Functions that are columns have intervals and p values too. If each class has its own functions, there is one row for each class
    that has the function.
    """
    regressor = model.regressor
    table = _places(model)
    table.insert(0, "candidate", regressor.active_)
    if model.has_posterior_per_class:
        parts = [
            _with_weights(table[np.isin(regressor.active_, posterior.active)], regressor, posterior, {"for class": label})
            for label, posterior in zip(regressor.classes_, regressor.posterior_, strict=True)
        ]
        table = pd.concat(parts, ignore_index=True)
    else:
        table = _with_weights(table, regressor, regressor.posterior_, {})
    return table.sort_values("relevance", ascending=False, kind="stable", ignore_index=True)


def _with_weights(functions: Any, regressor: Any, posterior: Any, of_class: dict[str, Any]) -> Any:
    """The functions of one posterior with what it says about their weights.

    Tests are left out if no noise can be told, and for margins, whose std is no standard error.
    """
    is_tested = has_tests(regressor)
    values = weight_values(posterior, LEVEL, tested=is_tested)[int(posterior.fit_intercept) :]
    tested = [] if isinstance(regressor.basis_, KernelBasis) else OF_COLUMNS
    weights = pd.DataFrame(values, columns=list(COLUMNS), index=functions.index).rename(columns=HEADINGS)
    shown = weights[["weight", "std error", *tested, "relevance"]].dropna(axis="columns")
    shown = shown if is_tested else shown.rename(columns={"std error": OF_MARGINS_STD})
    return functions.assign(**of_class, **dict(shown.items()))


def last_steps(model: SavedModel) -> Any:
    """The last steps of the search, of each class if there are several: the action, its candidate, and the criterion after it.

    A step that changes many functions has no candidate of its own.
    """
    regressor = model.regressor
    if not model.has_posterior_per_class:
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
    """The candidate of a step, or for an undo the number of steps that it takes back."""
    if action == "undo":
        return f"{index} step{'' if index == 1 else 's'} back"
    return str(index) if index >= 0 else "all"


def _places(model: SavedModel) -> Any:
    """Kernel centers in the units of the data, or the names of the functions of any other basis."""
    preprocessing, basis = model.pipeline[:-1], model.regressor.basis_
    if isinstance(basis, KernelBasis) and basis.kernel_ != "precomputed":
        return original_inputs(preprocessing[0], basis.centers_)[list(model.columns)]
    return pd.DataFrame({"function": basis.get_feature_names_out(_input_names(model))})


def _input_names(model: SavedModel) -> list[str]:
    """The names of the inputs after text was one-hot encoded."""
    return [name.partition("__")[2] for name in model.pipeline[:-1].get_feature_names_out()]


def original_inputs(preprocessing: Any, rows: Floats) -> Any:
    """Preprocessed rows as they were before scaling and encoding."""
    if not len(rows):
        return pd.DataFrame(columns=preprocessing.feature_names_in_)
    columns = {}
    for label, transformer, names in preprocessing.transformers_:
        block = transformer.inverse_transform(rows[:, preprocessing.output_indices_[label]])
        if isinstance(transformer, StandardScaler):  # without this, a zero comes back as a rounding error of the mean
            block = np.where(np.abs(block) <= 4.0 * np.finfo(np.float64).eps * np.abs(transformer.mean_), 0.0, block)
        columns.update(dict(zip(names, block.T, strict=True)))
    return pd.DataFrame(columns)

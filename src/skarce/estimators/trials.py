"""What a search by the criterion makes of its candidates: fits on shared moments, comparisons, and a table."""

from __future__ import annotations

import math
import pickle
import time
import warnings
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from skarce._parallel import blas_threads, one_thread
from skarce.estimators.base import Prepared, SparseEstimator
from skarce.posteriors.inflation import inflated

# With "basis" and all that is inside it, the parameters on which the moments depend.
OF_THE_MOMENTS = ("fit_intercept", "moments", "random_state")
Group = list[tuple[int, Any]]  # places among the candidates, and unfitted estimators


class Inflation(NamedTuple):
    """What a degree of freedom that a model uses counts as, and how often each observation is counted."""

    factor: float = 1.0
    times_counted: float = 1.0


class Trial(NamedTuple):
    """What one candidate came to."""

    place: int  # among the candidates
    criterion: float
    compared: float
    sense: int
    kind: str  # of criterion
    n_active: int
    outcome: str
    seconds: float
    warnings: list[warnings.WarningMessage]


def shares_moments(estimator: Any) -> bool:
    """Whether it is fitted as all of our regressors are, on moments."""
    is_ours = isinstance(estimator, SparseEstimator) and type(estimator).fit is SparseEstimator.fit
    return is_ours and estimator._likelihood().has_moments


def moments_key(estimator: SparseEstimator, params: dict[str, Any]) -> Any:
    """Equal for candidates whose basis and moments are the same."""
    chosen = {name: params[name] for name in params if name.split("__")[0] == "basis" or name in OF_THE_MOMENTS}
    try:
        return joblib.hash(chosen), estimator._method().access
    except (pickle.PicklingError, AttributeError, TypeError):  # a kernel that is a function without a name
        return object()


def fit_group_on_one_core(
    group: Group, X: Any, y: Any, fit_params: dict[str, Any], inflation: Inflation
) -> tuple[list[Trial], Any]:
    with one_thread():
        return fit_group(group, X, y, fit_params, inflation)


def fit_group(group: Group, X: Any, y: Any, fit_params: dict[str, Any], inflation: Inflation) -> tuple[list[Trial], Any]:
    """Fit candidates of one basis; returns all trials, and the model of the best."""
    trials: list[Trial] = []
    best: tuple[Trial, Any] | None = None
    prepared: Prepared | None = None
    for index, estimator in group:
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                if len(group) == 1:
                    estimator.fit(X, y, **fit_params)
                else:
                    prepared = _fit_prepared(estimator, prepared, X, y, fit_params)
            except Exception as error:
                error.add_note(f"This was candidate {index} of CriterionSearch: {estimator}.")
                raise
        trial = _trial(index, estimator, time.perf_counter() - started, caught, inflation)
        trials.append(trial)
        if best is None or order(trial) < order(best[0]):
            best = trial, estimator
    assert best is not None
    return trials, best[1]


def _fit_prepared(estimator: SparseEstimator, prepared: Prepared | None, X: Any, y: Any, fit_params: dict[str, Any]) -> Prepared:
    """Fit on what another estimator has prepared, or prepare it."""
    started = time.monotonic()
    estimator._check_limits()
    method = estimator._method()
    with blas_threads(1):
        prepared = estimator._prepare(X, y, fit_params.get("sample_weight"), method) if prepared is None else prepared
        estimator._fit_on(prepared, method, started)
    return prepared


def _trial(index: int, estimator: Any, seconds: float, caught: list[warnings.WarningMessage], inflation: Inflation) -> Trial:
    model = last_step(estimator)
    if not hasattr(model, "criterion_") or not hasattr(model, "criterion_sense_"):
        raise TypeError(
            f"{type(model).__name__} has no criterion_ and criterion_sense_ to be judged by. Use an estimator of skarce, a "
            "pipeline that ends in one, or GridSearchCV."
        )
    n_active, outcome = len(getattr(model, "active_", ())), getattr(getattr(model, "outcome_", None), "name", "")
    criterion, sense = float(model.criterion_), int(model.criterion_sense_)
    is_inflated = sense < 0 and inflation.factor > 1.0 and hasattr(model, "posterior_")
    compared = inflated(model._posteriors(), *inflation) if is_inflated else criterion
    return Trial(index, criterion, compared, sense, kind_of(model), n_active, outcome, seconds, caught)


def last_step(estimator: Any) -> Any:
    """The model itself, where preparations stand before it."""
    return last_step(estimator.steps[-1][1]) if isinstance(estimator, Pipeline) else estimator


def kind_of(model: Any) -> str:
    """By what a model is judged, in words; GCV of one class is of one kind, but for how its degrees of freedom are counted."""
    words = [type(model).__name__]
    if isinstance(model, SparseEstimator):
        words.append(model._method().kind)
    if model.criterion_sense_ < 0 and hasattr(model, "degrees_of_freedom"):
        words.append(f"degrees_of_freedom={model.degrees_of_freedom!r}")
    return " with ".join(words)


def order(trial: Trial) -> tuple[float, int]:
    """Smaller is better; what is no number comes last."""
    return (np.inf if math.isnan(trial.compared) else -trial.sense * trial.compared), trial.place


def check_same_kind(trials: list[Trial]) -> None:
    kinds = list(dict.fromkeys((trial.kind, trial.sense) for trial in trials))
    if len(kinds) > 1:
        raise ValueError(
            f"the candidates are judged by criteria that do not compare: {' and '.join(kind for kind, _ in kinds)}. Search each of "
            "them by itself, or use GridSearchCV."
        )


def warn_if_none_is_finite(trials: list[Trial], best: Trial, inflation: float) -> None:
    """A search without anything to compare keeps its first candidate, which nobody should take for a choice."""
    if any(math.isfinite(trial.compared) for trial in trials):
        return
    why = "the criterion of none is a finite number"
    if any(math.isfinite(trial.criterion) for trial in trials):
        why = (
            f"with inflation={inflation:g} all of them use up every degree of freedom. Lower inflation, widen the kernel, or take "
            "fewer candidates"
        )
    warnings.warn(
        f"CriterionSearch cannot tell its {len(trials)} candidates from each other, and keeps number {best.place}: {why}. "
        "results_ has what came out.",
        ConvergenceWarning,
        stacklevel=3,
    )


def results_table(candidates: list[dict[str, Any]], trials: list[Trial]) -> dict[str, Any]:
    """In the layout of `GridSearchCV.cv_results_`."""
    table: dict[str, Any] = {"params": candidates}
    for name in sorted({name for params in candidates for name in params}):
        column = np.ma.masked_all(len(candidates), dtype=object)
        for index, params in enumerate(candidates):
            if name in params:
                column[index] = params[name]
        table[f"param_{name}"] = column
    table["criterion"] = np.array([trial.criterion for trial in trials])
    table["compared"] = np.array([trial.compared for trial in trials])
    table["rank"] = rankdata([order(trial)[0] for trial in trials], method="min").astype(np.intp)
    table["n_active"] = np.array([trial.n_active for trial in trials])
    table["outcome"] = np.array([trial.outcome for trial in trials])
    table["fit_time"] = np.array([trial.seconds for trial in trials])
    return table

"""The candidates of `CriterionSearch`: fits on shared moments, comparisons, and the table of results."""

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

from skarce._atomic import become
from skarce._parallel import blas_threads, one_thread
from skarce._text import quoted
from skarce.estimators.base import Prepared, SparseEstimator
from skarce.estimators.waiting import Waiting, calibration_waits
from skarce.posteriors.inflation import inflated

# Moments depend on these parameters, on "basis", and on all parameters inside it.
OF_THE_MOMENTS = ("fit_intercept", "weights", "effective_samples", "moments", "random_state")
Group = list[tuple[int, Any]]  # indices among the candidates, with unfitted estimators


class Inflation(NamedTuple):
    """How many each used degree of freedom counts as, and the number of distinct rows: some may be counted more than once."""

    factor: float = 1.0
    n_distinct: float = np.inf

    def compared(self, model: Any) -> float:
        """Return the criterion of a model that is compared with that of others."""
        return inflated(model._posteriors(), self.factor, max(model.n_effective_ / self.n_distinct, 1.0))


class Trial(NamedTuple):
    """The result of one candidate."""

    place: int  # index among the candidates
    criterion: float
    compared: float
    sense: int
    kind: str  # description of the criterion
    n_active: int
    outcome: str
    seconds: float
    warnings: list[warnings.WarningMessage]


class Leader(NamedTuple):
    """The best candidate so far: its trial, its model, and the calibration of the model, which waits. None: it is done."""

    trial: Trial
    model: Any
    waiting: Waiting | None

    def standing(self) -> str:
        """Return in a few words how good the best candidate is."""
        return f"best criterion {self.trial.compared:.6g}"

    def calibrated(self) -> Leader:
        """Return the same with a model that is calibrated."""
        if self.waiting is None:
            return self
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for remark in self.waiting.finish():
                warnings.warn(remark, ConvergenceWarning, stacklevel=2)
        return Leader(self.trial._replace(warnings=[*self.trial.warnings, *caught]), self.model, None)


def shares_moments(estimator: Any) -> bool:
    """Whether the estimator is one of our regressors, fitted on moments."""
    is_ours = isinstance(estimator, SparseEstimator) and type(estimator).fit is SparseEstimator.fit
    return is_ours and estimator._likelihood().has_moments


def moments_key(estimator: SparseEstimator, params: dict[str, Any]) -> Any:
    """Return a key that is equal for candidates with the same basis and moments."""
    chosen = {name: params[name] for name in params if name.split("__")[0] == "basis" or name in OF_THE_MOMENTS}
    try:
        method = estimator._method()
        return joblib.hash(chosen), method.access, method.n_landmarks(1)
    except (pickle.PicklingError, AttributeError, TypeError):  # a kernel that is a lambda cannot be hashed
        return object()


def check_samples(estimator: Any) -> None:
    """Raise a ValueError if each candidate would estimate how many observations there are: criteria would not compare."""
    given = getattr(last_step(estimator), "effective_samples", None)
    if isinstance(given, str) and given == "auto":
        raise ValueError(
            'CriterionSearch compares criteria for the same number of observations, but effective_samples="auto" estimates one for '
            "each candidate. Give a number, such as n_effective_ of one fit."
        )


def fit_group_on_one_core(
    group: Group, X: Any, y: Any, fit_params: dict[str, Any], inflation: Inflation
) -> tuple[list[Trial], Leader]:
    """Do the same in a process of its own. The best model is calibrated there, because the training rows do not travel back."""
    with one_thread():
        trials, best = fit_group(group, X, y, fit_params, inflation)
        return trials, best.calibrated()


def fit_group(group: Group, X: Any, y: Any, fit_params: dict[str, Any], inflation: Inflation) -> tuple[list[Trial], Leader]:
    """Fit candidates with the same basis. Return all trials, and the best one."""
    trials: list[Trial] = []
    best: Leader | None = None
    prepared: Prepared | None = None
    for index, estimator in group:
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught, calibration_waits(last_step(estimator)) as waiting:
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
        if best is None or order(trial) < order(best.trial):
            best = Leader(trial, estimator, waiting)
    assert best is not None
    return trials, best


def _fit_prepared(estimator: SparseEstimator, prepared: Prepared | None, X: Any, y: Any, fit_params: dict[str, Any]) -> Prepared:
    """Fit on the basis and moments of another estimator, or prepare them."""
    started = time.monotonic()
    estimator._check_limits()
    method = estimator._method()
    with blas_threads(1):
        prepared = estimator._prepare(X, y, fit_params.get("sample_weight"), method) if prepared is None else prepared
        fitted = estimator._fitted_on(prepared, method, started)
    become(estimator, fitted)
    return prepared


def _trial(index: int, estimator: Any, seconds: float, caught: list[warnings.WarningMessage], inflation: Inflation) -> Trial:
    model = last_step(estimator)
    if not hasattr(model, "criterion_") or not hasattr(model, "criterion_sense_"):
        raise TypeError(
            f"{type(model).__name__} has no criterion_ and criterion_sense_ after fit. Use an estimator of skarce, a "
            "pipeline that ends in one, or GridSearchCV."
        )
    n_active, outcome = len(getattr(model, "active_", ())), getattr(getattr(model, "outcome_", None), "name", "")
    criterion, sense = float(model.criterion_), int(model.criterion_sense_)
    is_inflated = sense < 0 and inflation.factor > 1.0 and hasattr(model, "posterior_")
    compared = inflation.compared(model) if is_inflated else criterion
    return Trial(index, criterion, compared, sense, kind_of(model), n_active, outcome, seconds, caught)


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    from sklearn.pipeline import Pipeline  # slow to import

    return last_step(estimator.steps[-1][1]) if isinstance(estimator, Pipeline) else estimator


def kind_of(model: Any) -> str:
    """Describe the criterion of a model. Criteria compare only if their descriptions are equal."""
    words = [type(model).__name__]
    if isinstance(model, SparseEstimator):
        words.append(model._method().kind)
        if model.effective_samples is not None:
            words.append(f"effective_samples={quoted(model.effective_samples)}")
    if model.criterion_sense_ < 0 and hasattr(model, "degrees_of_freedom"):
        words.append(f"degrees_of_freedom={quoted(model.degrees_of_freedom)}")
    return " with ".join(words)


def order(trial: Trial) -> tuple[float, int]:
    """Return a key for sorting: smaller is better, and NaN comes last."""
    return (np.inf if math.isnan(trial.compared) else -trial.sense * trial.compared), trial.place


def check_same_kind(trials: list[Trial]) -> None:
    kinds = list(dict.fromkeys((trial.kind, trial.sense) for trial in trials))
    if len(kinds) > 1:
        raise ValueError(
            f"The candidates have criteria that do not compare: {' and '.join(kind for kind, _ in kinds)}. Search each kind "
            "separately, or use GridSearchCV."
        )


def warn_if_none_is_finite(trials: list[Trial], best: Trial, inflation: float) -> None:
    """Warn if there is nothing to compare: the search then keeps its first candidate, which is not a choice."""
    if any(math.isfinite(trial.compared) for trial in trials):
        return
    why = "no criterion is a finite number"
    if any(math.isfinite(trial.criterion) for trial in trials):
        why = (
            f"with inflation={inflation:g} all of them use up every degree of freedom. Lower inflation, widen the kernel, or use "
            "fewer candidate functions"
        )
    warnings.warn(
        f"CriterionSearch cannot compare its {len(trials)} candidates and keeps number {best.place}: {why}. See results_ for "
        "the details.",
        ConvergenceWarning,
        stacklevel=3,
    )


def results_table(candidates: list[dict[str, Any]], trials: list[Trial]) -> dict[str, Any]:
    """Return the results as arrays, in the layout of `GridSearchCV.cv_results_`."""
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

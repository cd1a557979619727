"""Search over parameters by the model's own criterion: one fit for each candidate, and no folds."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skarce._parallel import one_thread
from skarce.estimators.base import MomentRegressor

# With "basis" and all that is inside it, the parameters on which the moments depend.
OF_THE_MOMENTS = ("fit_intercept", "moments", "random_state")


class Trial(NamedTuple):
    """What one candidate came to."""

    index: int
    criterion: float
    compared: float
    sense: int
    n_active: int
    outcome: str
    seconds: float
    warnings: list[warnings.WarningMessage]


def _best_estimator_has(name: str) -> Any:
    def check(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class CriterionSearch(MetaEstimatorMixin, BaseEstimator):
    """Choose parameters by the criterion of the model itself: evidence, generalized cross validation or a bound.

    Like `GridSearchCV`, but each candidate is fitted once, on all the data, and judged by its own `criterion_`: the estimator knows
    whether larger (evidence) or smaller (GCV) is better. There are no folds and no refit, so the search takes about as many fits as
    there are candidates. Candidates that differ in nothing before the search for functions (all but the basis, the intercept and
    the kind of moments) share the basis and its moments.

    Criteria are compared as they stand, so all candidates should be models of one kind and the targets the same for all: GCV of two methods, or
    with two ways to count degrees of freedom, do not compare.

    Parameters
    ----------
    estimator : estimator with `criterion_` and `criterion_sense_` after `fit`
        Any regressor of this package, or a pipeline that ends in one. Moments are shared where it stands by itself: put the scaler in
        front of the search, not into it.
    param_grid : dict or list of dicts
        As in `GridSearchCV`; nested names such as ``basis__gamma`` reach inside.
    param_distributions : dict or list of dicts
        As in `RandomizedSearchCV`, in place of a grid.
    n_iter : int, default=10
        How many candidates are drawn from `param_distributions`.
    n_jobs : int, default=None
        Processes; candidates that share moments stay together. None is one, unless in a `joblib.parallel_config`.
    inflation : float, default=2.0
        Only for GCV: each degree of freedom that a model uses counts as so many when candidates are compared. 1 compares `criterion_` as it
        is. GCV does not know that functions were chosen among many, so kernels that are too narrow look too good to it; 2 or 3 mends
        that (Friedman 1991 charges for a search in this way; for smoothing without one, 1.4 is common).
    verbose : int, default=0
        1 prints a line for each candidate.
    random_state : int, RandomState or None, default=None
        Seeds the draws from `param_distributions`.

    Attributes
    ----------
    best_estimator_ : the fitted model of the best candidate; the first of those that are equally good
    best_params_, best_index_ : its parameters, and its place in `results_`
    criterion_, criterion_sense_ : its criterion, and whether larger (+1) or smaller (-1) is better
    results_ : dict of arrays
        ``params``, ``param_<name>``, ``criterion``, ``compared`` (the criterion after `inflation`), ``rank``, ``n_active``, ``outcome``
        and ``fit_time``, ready for `pandas.DataFrame`. Time for shared moments counts for the first candidate that needs them.
    n_features_in_, feature_names_in_ : as in the best estimator

    See Also
    --------
    skarce.model_selection.learn_widths : widths by continuous optimisation of the evidence, many at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import CriterionSearch, FastGCVRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> search = CriterionSearch(FastGCVRegressor(), {"basis__gamma": [0.01, 0.1, 1.0]}).fit(X, y)
    >>> search.best_params_
    {'basis__gamma': 0.1}
    >>> mean, std = search.predict([[1.5]], return_std=True)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        param_distributions: Any = None,
        n_iter: int = 10,
        n_jobs: int | None = None,
        inflation: float = 2.0,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.n_jobs = n_jobs
        self.inflation = inflation
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit every candidate, and keep the best.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or what else the estimator takes
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        **fit_params
            For the estimator's `fit`, such as `sample_weight`.

        Returns
        -------
        self
        """
        if not (isinstance(self.inflation, (int, float, np.number)) and 1.0 <= self.inflation < np.inf):
            raise ValueError(f"inflation must be a finite number of at least 1, got {self.inflation!r}.")
        candidates = self._candidates()
        trials: list[Trial] = []
        best: Any = None
        for done, model in self._run(self._groups(candidates), X, y, fit_params):
            for trial in done:
                trials.append(trial)
                if self.verbose:
                    self._print(trial, candidates, len(trials))
            leader = min(done, key=_order)
            _check_same_sense(leader, best)
            if best is None or _order(leader) < _order(best[0]):
                best = leader, model
        trials.sort(key=lambda trial: trial.index)
        leader, model = best
        self.best_estimator_ = model
        self.best_index_, self.best_params_ = leader.index, candidates[leader.index]
        self.criterion_, self.criterion_sense_ = leader.criterion, leader.sense
        self.results_ = _table(candidates, trials)
        for message in leader.warnings:
            warnings.warn(str(message.message), message.category, stacklevel=2)
        return self

    def predict(self, X: Any, **params: Any) -> Any:
        """The prediction of the best model; `return_std` and its like are passed on."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X, **params)

    @available_if(_best_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of the best model, where it is a classifier."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """That of the best model: R2 of a regressor."""
        check_is_fitted(self, "best_estimator_")
        return float(self.best_estimator_.score(X, y, **params))

    @property
    def classes_(self) -> Any:
        """Of the best model, where it is a classifier."""
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """As the best model saw."""
        return self._of_the_best("n_features_in_")

    @property
    def feature_names_in_(self) -> Any:
        """As the best model saw."""
        return self._of_the_best("feature_names_in_")

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags, tags.input_tags = inner.target_tags, inner.input_tags
        return tags

    def _of_the_best(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before it is fitted.")
        return getattr(self.best_estimator_, name)

    def _candidates(self) -> list[dict[str, Any]]:
        if (self.param_grid is None) == (self.param_distributions is None):
            raise ValueError("give either param_grid or param_distributions, and not both.")
        if self.param_grid is not None:
            candidates = list(ParameterGrid(self.param_grid))
        else:
            candidates = list(ParameterSampler(self.param_distributions, self.n_iter, random_state=self.random_state))
        if not candidates:
            raise ValueError("there is no candidate: every list of values in param_grid needs one at least.")
        return candidates

    def _groups(self, candidates: list[dict[str, Any]]) -> list[Group]:
        """Unfitted estimators with their places, those together that share moments."""
        groups: dict[Any, Group] = {}
        for index, params in enumerate(candidates):
            # Values may be estimators, of which every candidate needs its own.
            estimator = clone(self.estimator).set_params(**{name: clone(value, safe=False) for name, value in params.items()})
            key = _moments_of(estimator, params) if isinstance(estimator, MomentRegressor) else index
            groups.setdefault(key, []).append((index, estimator))
        return list(groups.values())

    def _run(self, groups: list[Group], X: Any, y: Any, fit_params: dict[str, Any]) -> Iterator[Any]:
        common = X, y, fit_params, self.inflation
        if joblib.effective_n_jobs(self.n_jobs) == 1:
            return (_fit_group(group, *common) for group in groups)
        parallel = joblib.Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")
        return parallel(joblib.delayed(_fit_group_on_one_core)(group, *common) for group in groups)

    def _print(self, trial: Trial, candidates: list[dict[str, Any]], n_done: int) -> None:
        width = len(str(len(candidates)))
        params = ", ".join(f"{name}={value}" for name, value in candidates[trial.index].items())
        print(
            f"{n_done:{width}d}/{len(candidates)}  criterion {trial.criterion: .6e}  functions {trial.n_active:5d}  "
            f"{trial.seconds:7.2f} s  {params}",
            file=sys.stderr,
        )


def _moments_of(estimator: MomentRegressor, params: dict[str, Any]) -> Any:
    """Equal for candidates whose basis and moments are the same."""
    chosen = {name: params[name] for name in params if name.split("__")[0] == "basis" or name in OF_THE_MOMENTS}
    return joblib.hash(chosen), estimator._columns_one_by_one()


Group = list[tuple[int, Any]]  # places among the candidates, and unfitted estimators


def _fit_group_on_one_core(group: Group, X: Any, y: Any, fit_params: dict[str, Any], inflation: float) -> tuple[list[Trial], Any]:
    with one_thread():
        return _fit_group(group, X, y, fit_params, inflation)


def _fit_group(group: Group, X: Any, y: Any, fit_params: dict[str, Any], inflation: float) -> tuple[list[Trial], Any]:
    """Fit candidates of one basis; returns all trials, and the model of the best."""
    trials, best, prepared = [], None, None
    for index, estimator in group:
        started = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                if len(group) > 1 and prepared is None:
                    prepared = estimator._prepare(X, y, fit_params.get("sample_weight"))
                if prepared is None:
                    estimator.fit(X, y, **fit_params)
                else:
                    estimator._fit_on(prepared, time.monotonic())
            except Exception as error:
                error.add_note(f"This was candidate {index} of CriterionSearch: {estimator}.")
                raise
        trial = _trial(index, estimator, time.perf_counter() - started, caught, inflation)
        trials.append(trial)
        if best is None or _order(trial) < _order(best[0]):
            best = trial, estimator
    assert best is not None
    return trials, best[1]


def _trial(index: int, estimator: Any, seconds: float, caught: list[warnings.WarningMessage], inflation: float) -> Trial:
    model = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(model, "criterion_") or not hasattr(model, "criterion_sense_"):
        raise TypeError(
            f"{type(model).__name__} has no criterion_ and criterion_sense_ to be judged by. Use an estimator of skarce, a pipeline that "
            "ends in one, or GridSearchCV."
        )
    n_active, outcome = len(getattr(model, "active_", ())), getattr(getattr(model, "outcome_", None), "name", "")
    criterion, sense = float(model.criterion_), int(model.criterion_sense_)
    compared = inflated(model, inflation) if sense < 0 and inflation > 1.0 else criterion
    return Trial(index, criterion, compared, sense, n_active, outcome, seconds, caught)


def inflated(model: Any, inflation: float) -> float:
    """GCV of a fitted model where each degree of freedom that it uses counts as `inflation` of them, summed over outputs.

    With V = N q / v^2 and noise variance q / v, v is N noise / V.
    """
    total = 0.0
    for posterior in model.posterior_ if isinstance(model.posterior_, list) else [model.posterior_]:
        n, value = posterior.n_samples, posterior.criterion
        freedom = n * posterior.noise_variance / value if value > 0.0 else 0.0
        left = n - posterior.fit_intercept - inflation * (n - posterior.fit_intercept - freedom)
        total += value * (freedom / left) ** 2 if left > 0.0 else np.inf
    return total


def _order(trial: Trial) -> tuple[float, int]:
    """Smaller is better; what is no number comes last."""
    return (np.inf if math.isnan(trial.compared) else -trial.sense * trial.compared), trial.index


def _check_same_sense(leader: Trial, best: Any) -> None:
    if best is not None and leader.sense != best[0].sense:
        raise ValueError(
            "the candidates have criteria of which one should be large and another small, such as evidence and GCV: these do not "
            "compare. Search each by itself, or use GridSearchCV."
        )


def _table(candidates: list[dict[str, Any]], trials: list[Trial]) -> dict[str, Any]:
    """In the layout of `GridSearchCV.cv_results_`."""
    table: dict[str, Any] = {"params": candidates}
    for name in sorted({name for params in candidates for name in params}):
        column = np.ma.masked_all(len(candidates), dtype=object)
        for index, params in enumerate(candidates):
            if name in params:
                column[index] = params[name]
        table[f"param_{name}"] = column
    ranks = np.empty(len(trials), dtype=np.intp)
    ranks[[trial.index for trial in sorted(trials, key=_order)]] = np.arange(1, len(trials) + 1)
    table["criterion"] = np.array([trial.criterion for trial in trials])
    table["compared"] = np.array([trial.compared for trial in trials])
    table["rank"] = ranks
    table["n_active"] = np.array([trial.n_active for trial in trials])
    table["outcome"] = np.array([trial.outcome for trial in trials])
    table["fit_time"] = np.array([trial.seconds for trial in trials])
    return table

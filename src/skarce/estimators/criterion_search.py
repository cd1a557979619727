"""Search over parameters by the criterion of the model: one fit for each candidate, without folds."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils._metadata_requests import _routing_enabled
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skarce._atomic import become, unfitted_twin
from skarce._parameters import as_number, check_verbose, generator_of, is_count
from skarce._processes import until_parent_ends
from skarce._progress import progress, shown
from skarce._text import LONGEST_LINE, one_line, quoted
from skarce.designs.repeats import n_distinct_in
from skarce.estimators.trials import (
    Group,
    Inflation,
    Leader,
    Trial,
    check_same_kind,
    check_samples,
    fit_group,
    fit_group_on_one_core,
    moments_key,
    order,
    results_table,
    shares_moments,
    warn_if_none_is_finite,
)

MOST_CORES = 2**15  # n_jobs=-1 is all cores, -2 all but one, and so on


def _best_estimator_has(name: str) -> Any:
    def check(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class CriterionSearch(MetaEstimatorMixin, BaseEstimator):
    r"""Search over parameters by the criterion of the model itself, without folds.

    Like `GridSearchCV`, but each candidate is fitted once on all data and judged by its own `criterion_`: evidence, generalized
    cross validation or a bound. The estimator knows whether larger or smaller is better. There is no refit, so the search takes as
    many fits as there are candidates. Candidates with the same basis, intercept and moments share the fitted basis and its moments.
    Only the best model is calibrated; with several processes, the best of those that share moments.

    All candidates must be models of one kind for the same targets. Criteria that do not compare raise a ValueError: those of two
    classes, two kinds of evidence, or GCV with two ways to count degrees of freedom.

    Parameters
    ----------
    estimator : estimator object
        Regressor or classifier of this package, or a pipeline that ends in one. After `fit` it must have `criterion_` and
        `criterion_sense_`. Moments are shared only if it is not in a pipeline: put a scaler in front of the search, not inside it.
    param_grid : dict, list of dict or None, default=None
        Parameter names with lists of values to try, as in `GridSearchCV`. Nested names such as ``basis__gamma`` work. Give either
        `param_grid` or `param_distributions`.
    param_distributions : dict, list of dict or None, default=None
        Parameter names with lists or distributions to sample from, as in `RandomizedSearchCV`.
    n_iter : int, default=10
        Number of candidates drawn from `param_distributions`.
    n_jobs : int or None, default=None
        Number of processes. Candidates that share moments stay together. None means 1 unless in a :obj:`joblib.parallel_config`
        context. -1 means all processors.
    inflation : float, default=2.0
        Only for GCV: how many degrees of freedom each used degree of freedom counts as when candidates are compared. 1.0 compares
        `criterion_` as it is. 1.4 is enough for smoothing without selection, and if many functions are needed.
    verbose : int, default=0
        Verbosity level. 1 prints a line for each candidate, with the compared value if `inflation` changes it.
    random_state : int, RandomState instance or None, default=None
        Seed for the draws from `param_distributions`. Pass an int for reproducible draws.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted model of the best candidate. The first one if several are equally good.
    best_params_ : dict
        Parameters of the best candidate.
    best_index_ : int
        Index of the best candidate in `results_`.
    criterion_ : float
        Criterion of the best model.
    criterion_sense_ : int
        1 if a larger `criterion_` is better, -1 if a smaller one is better.
    results_ : dict of ndarray
        Results of all candidates, ready for `pandas.DataFrame`: ``params``, ``param_<name>``, ``criterion``, ``compared`` (the
        criterion after `inflation`), ``rank`` (equal for equally good candidates), ``n_active``, ``outcome`` and ``fit_time``. The
        time for shared moments counts for the first candidate that needs them.
    classes_ : ndarray of shape (n_classes,)
        Class labels of the best model. Only available for classifiers.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    skarce.model_selection.learn_widths : Kernel widths by continuous maximization of the evidence, many at a time.
    EvidenceRegressor : Its evidence is a good guide to the kernel width.
    sklearn.model_selection.GridSearchCV : Search over parameters by cross validation.

    Notes
    -----
    GCV does not know that functions were chosen from many candidates, so kernels that are too narrow look too good. Candidates are
    therefore compared by

    .. math:: V = \frac{N q}{(n - \text{inflation}\cdot\text{used})^2},

    with the squared error q, the used degrees of freedom, and n = N (N - 1 with an intercept). Friedman [1]_ charges for a search
    in this way, with up to 4. The models are the same; only their comparison changes.

    The search is several times faster than cross validation. The evidence of a sparse model also prefers kernels that are too
    narrow, and `inflation` does not change it. Choose its kernel width by ``KernelBasis(gamma="evidence")``, or search with
    `EvidenceRegressor`.

    References
    ----------
    .. [1] Friedman, J. H. (1991). Multivariate adaptive regression splines. Annals of Statistics 19, 1-67.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import CriterionSearch, FastGCVRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> search = CriterionSearch(FastGCVRegressor(), {"basis__gamma": [0.01, 1.0, 100.0]}).fit(X, y)
    >>> search.best_params_
    {'basis__gamma': 1.0}
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
        """Fit all candidates and keep the best one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs, or any other input that the estimator takes.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets, or class labels of a classifier.
        **fit_params : dict
            Parameters for `fit` of the estimator, such as `sample_weight`, or ``step__sample_weight`` for a step of a pipeline. If
            metadata routing is enabled, those that the estimator requested by `set_fit_request`.

        Returns
        -------
        self : object
            Fitted search.
        """
        self._check_choices()
        if _routing_enabled():
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        candidates = self._candidates()
        trials: list[Trial] = []
        best: Leader | None = None
        with shown(self.verbose), progress("fitting candidates", len(candidates), "candidates") as part:
            for done, leader in self._run(self._groups(candidates), X, y, fit_params):
                for trial in done:
                    trials.append(trial)
                    if self.verbose:
                        self._print(trial, candidates, len(trials))
                check_same_kind(trials)
                if best is None or order(leader.trial) < order(best.trial):
                    best = leader
                part.to(len(trials), best.standing)
            assert best is not None
            trials.sort(key=lambda trial: trial.place)
            winner, model, _ = best.calibrated()
        twin = unfitted_twin(self)
        twin.best_estimator_ = model
        twin.best_index_, twin.best_params_ = winner.place, candidates[winner.place]
        twin.criterion_, twin.criterion_sense_ = winner.criterion, winner.sense
        twin.results_ = results_table(candidates, trials)
        warn_if_none_is_finite(trials, winner, self.inflation)
        for message in winner.warnings:
            warnings.warn(str(message.message), message.category, stacklevel=2)
        return become(self, twin)

    def predict(self, X: Any, **params: Any) -> Any:
        """Predict with the best model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        **params : dict
            Parameters for `predict` of the best model, such as `return_std`.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions of the best model. A tuple with their std if ``return_std=True``.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X, **params)

    @available_if(_best_estimator_has("predict_interval"))  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, coverage: float = 0.95) -> Any:
        """Return intervals of the best model that cover new targets. Only available for regressors of skarce.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.95
            Share of new targets that the intervals are to cover, between 0 and 1.

        Returns
        -------
        lower : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Lower ends.
        upper : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Upper ends.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_interval(X, coverage)

    @available_if(_best_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities of the best model. Only available for classifiers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    @available_if(_best_estimator_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return logarithms of class probabilities of the best model. Only available for classifiers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Logarithms of probabilities in the order of `classes_`.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_log_proba(X)

    @available_if(_best_estimator_has("sample_y"))  # type: ignore[untyped-decorator]
    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Any:
        """Draw new observations from the best model. Only available for regressors of skarce.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Inputs.
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws. Pass an int for the same draws in every call.

        Returns
        -------
        y_samples : ndarray of shape (n_samples_X, n_samples) or (n_samples_X, n_outputs, n_samples)
            The draws.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.sample_y(X, n_samples, random_state)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the score of the best model: R^2 of a regressor, accuracy of a classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Test inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Test targets. None if X is `skarce.designs.RowBlocks`, which bring them.
        **params : dict
            Parameters for `score` of the best model, such as `sample_weight`.

        Returns
        -------
        score : float
            Score of the best model.
        """
        check_is_fitted(self, "best_estimator_")
        if _routing_enabled():
            params = process_routing(self, "score", **params).estimator.score
        return float(self.best_estimator_.score(X, y, **params))

    @property
    def classes_(self) -> Any:
        """Class labels of the best model. Only available for classifiers."""
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during :term:`fit`."""
        return self._of_the_best("n_features_in_")

    @property
    def feature_names_in_(self) -> Any:
        """Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings."""
        return self._of_the_best("feature_names_in_")

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags, tags.input_tags = inner.target_tags, inner.input_tags
        return tags

    def get_metadata_routing(self) -> Any:
        """Return the metadata routing of this search: `fit` and `score` go to those of the estimator.

        Returns
        -------
        routing : MetadataRouter
            Routing information of scikit-learn.
        """
        same = MethodMapping().add(caller="fit", callee="fit").add(caller="score", callee="score")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=same)

    def _check_choices(self) -> None:
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "set_params"):
            raise TypeError(f"estimator must be an object of skarce, such as FastGCVRegressor(), got {quoted(self.estimator)}.")
        check_verbose(self.verbose)
        if not 1.0 <= as_number(self.inflation) < np.inf:
            raise ValueError(f"inflation must be a finite number of at least 1, got {quoted(self.inflation)}.")
        if not is_count(self.n_iter):
            raise ValueError(f"n_iter, the number of draws, must be a whole number of at least 1, got {quoted(self.n_iter)}.")
        is_whole = isinstance(self.n_jobs, (int, np.integer)) and not isinstance(self.n_jobs, bool)
        if self.n_jobs is not None and not (is_whole and self.n_jobs != 0):
            raise ValueError(
                f"n_jobs must be None (one process), a number of processes, or -1 for all cores, got {quoted(self.n_jobs)}."
            )

    def _of_the_best(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before it is fitted.")
        return getattr(self.best_estimator_, name)

    def _candidates(self) -> list[dict[str, Any]]:
        from sklearn.model_selection import ParameterGrid, ParameterSampler  # slow to import

        if (self.param_grid is None) == (self.param_distributions is None):
            raise ValueError("Give either param_grid or param_distributions, not both.")
        name, rng = "param_distributions" if self.param_grid is None else "param_grid", generator_of(self.random_state)
        try:
            if self.param_grid is not None:
                candidates = list(ParameterGrid(self.param_grid))
            else:
                candidates = list(ParameterSampler(self.param_distributions, self.n_iter, random_state=rng))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name} cannot be read: {one_line(error, LONGEST_LINE // 2)}") from None
        if not candidates:
            raise ValueError(f"There is no candidate. Every list of values in {name} needs at least one value.")
        return candidates

    def _groups(self, candidates: list[dict[str, Any]]) -> list[Group]:
        """Return unfitted estimators with their indices, grouped by shared moments."""
        groups: dict[Any, Group] = {}
        for index, params in enumerate(candidates):
            # Values may be estimators, and every candidate needs its own copy.
            estimator = clone(self.estimator).set_params(**{name: clone(value, safe=False) for name, value in params.items()})
            check_samples(estimator)
            key = moments_key(estimator, params) if shares_moments(estimator) else index
            groups.setdefault(key, []).append((index, estimator))
        return list(groups.values())

    def _run(self, groups: list[Group], X: Any, y: Any, fit_params: dict[str, Any]) -> Iterator[Any]:
        common = X, y, fit_params, Inflation(self.inflation, n_distinct_in(X, y, fit_params))
        n_jobs = None if self.n_jobs is None else max(min(int(self.n_jobs), len(groups)), -MOST_CORES)
        if len(groups) == 1 or joblib.effective_n_jobs(n_jobs) == 1:
            return (fit_group(group, *common) for group in groups)
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", **until_parent_ends())
        return parallel(delayed(fit_group_on_one_core)(group, *common) for group in groups)

    def _print(self, trial: Trial, candidates: list[dict[str, Any]], n_done: int) -> None:
        width = len(str(len(candidates)))
        params = ", ".join(f"{name}={value}" for name, value in candidates[trial.place].items())
        inflated = f"  compared {trial.compared: .6e}" if trial.compared != trial.criterion else ""
        print(
            f"{n_done:{width}d}/{len(candidates)}  criterion {trial.criterion: .6e}{inflated}  functions {trial.n_active:5d}  "
            f"{trial.seconds:7.2f} s  {params}",
            file=sys.stderr,
        )

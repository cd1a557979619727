"""Base of all estimators: `fit` is written once, and each estimator names its method."""

from __future__ import annotations

import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from skarce._atomic import become, unfitted_twin
from skarce._parallel import blas_threads
from skarce._parameters import as_number, check_choice, check_effective_samples
from skarce._progress import shown
from skarce._scales import checked_counts
from skarce._typing import Floats
from skarce._validation import validated_weights
from skarce.basis import takes_arrays
from skarce.designs import Design, Problem, Recipe, Rows, Worth, as_design
from skarce.designs.worth import with_mean_one
from skarce.estimators.callbacks import CallbackSupport, called_back
from skarce.estimators.on_basis import OnBasis, print_centers, print_ends
from skarce.estimators.waiting import waiting_for
from skarce.estimators.width_report import report_options
from skarce.likelihoods import Gaussian, Likelihood
from skarce.methods.method import Method
from skarce.model_selection.dependent_rows import dependence_of_rows
from skarce.states.budget import Budget
from skarce.states.outcome import HALF_USED_BY_INPUTS, Outcome

WEIGHTS = ("counts", "relative")
SEEN = ("n_features_in_", "feature_names_in_")
WIDTHS_SHARE_OF_TIME = 0.5  # of max_time, for learning kernel widths


class Prepared(NamedTuple):
    """A design, its problems, and what validation found out about X. Shared by estimators with the same basis and moments."""

    design: Design
    problems: list[Problem]
    seen: dict[str, Any]


class SparseEstimator(OnBasis, CallbackSupport, BaseEstimator, ABC):
    """Parameters, validation and fitted attributes. The method does all numerical work."""

    moments: str = "auto"
    weights: str = "counts"  # of a model of an older version, which has neither this nor the next
    effective_samples: Any = None
    _instead_of_rows: ClassVar[str] = ""  # what to use if rows are not in memory, if a method needs them there

    @abstractmethod
    def _method(self) -> Method[Any]:
        """Return the method with the parameters of this estimator. Raise a ValueError for invalid parameters."""

    def _likelihood(self) -> Likelihood:
        """Return how targets arise. Default: normal noise."""
        return Gaussian()

    @abstractmethod
    def _checked_rows(
        self, probe: Any, X: Any, y: Any, sample_weight: Any, *, is_first: bool = True, is_whole: bool = True
    ) -> Rows:
        """Validate the data by scikit-learn's rules. `n_features_in_` and its like are set on `probe`, not on the estimator.

        If it is not the first batch, or not the whole of the rows, others may have what these lack.
        """

    @abstractmethod
    def _keep(self, posteriors: list[Any], design: Design) -> None:
        """Set all fitted attributes. Called on an unfitted twin, so that a failed fit changes nothing."""

    def _names_of_models(self, posteriors: list[Any]) -> list[str]:
        """Return what each model is for, in a word or two. Default: the number of the output, if there are several."""
        return ["model"] if len(posteriors) == 1 else [f"output {output}" for output in range(len(posteriors))]

    def _remember(self, prepared: Prepared) -> None:
        """Keep what later batches go on from. Default: nothing, there are no later batches."""
        return

    _codes: Any = None  # how labels become numbers, if targets are labels: (classes, weight of each) -> Codes

    def _wants_folds(self, n_rows: int) -> bool:
        """Whether a design that keeps none of its rows, which are so many, makes sums for each fold of them. Default: no."""
        return False

    def _why_rows(self, method: Method[Any]) -> str | None:
        """Why all rows must be in memory, and what to do if they are not. None if they need not be."""
        if not method.needs_rows:
            return None
        return (
            f"this method of {type(self).__name__} changes the weights of the rows again and again, so it needs them in memory, "
            "and Dask data and RowBlocks are not there. Pass arrays X and y to fit, such as a sample of the rows, or use "
            f"{self._instead_of_rows}."
        )

    def _plan(self, design: Design) -> Any:
        """Return how rows are left out to calibrate the model. Raise a ValueError if that is impossible. Default: none are."""
        return None

    def _calibrate(self, plan: Any, prepared: Prepared, method: Method[Any], budget: Budget) -> list[str]:
        """Set what left-out rows say about this fitted twin, and return warnings for the user. Default: nothing."""
        return []

    def _warnings(self, posteriors: list[Any]) -> list[str]:
        """Return warnings for the user. Default: limits that were reached, and models that cannot be trusted."""
        return list(dict.fromkeys(self._advice(p.outcome) for p in posteriors if self._is_doubtful(p)))

    def _advice(self, outcome: Outcome) -> str:
        """Return how the fit ended, with advice that the user does not follow yet."""
        uses_inputs = isinstance(getattr(self, "basis", None), str) and self.basis == "passthrough"
        return HALF_USED_BY_INPUTS if uses_inputs and outcome is Outcome.HALF_USED else outcome.value

    def _is_doubtful(self, posterior: Any) -> bool:
        """Whether the outcome of a model deserves a warning. Default: it always or never does."""
        return bool(posterior.outcome.deserves_a_warning)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), `skarce.designs.RowBlocks`, or a Dask array or frame
            Training inputs. Sparse matrices are for ``basis="passthrough"``, and are not made dense as a whole. With `RowBlocks`,
            targets and weights come from the blocks, and `y` and `sample_weight` must be None. Dask data stay where they are.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), str or list of str, default=None
            Targets, or class labels of a classifier. Names stand for columns of X, if that is a Dask data frame.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Number of times that each row counts. Weight 2 equals the same row twice, in the noise and the criterion too. None
            counts each row once. With ``weights="relative"``, only ratios of weights matter.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        started = time.monotonic()
        self._check_limits()
        method = self._method()
        with called_back(self, X, y, sample_weight) as tell:
            with shown(self.verbose), blas_threads(1):
                prepared = self._prepare(X, y, sample_weight, method)
                if self._worth().needs_order:
                    n_effective = self._estimated_samples(prepared, method, started)
                    prepared = self._prepare(X, y, sample_weight, method, n_effective)
                fitted = self._fitted_on(prepared, method, started)
            tell(fitted)
        return become(self, fitted)

    def _check_limits(self) -> None:
        super()._check_limits()
        check_choice("weights", self.weights, WEIGHTS)
        check_effective_samples(self.effective_samples)

    def _worth(self) -> Worth:
        """Return what sample weights mean, and how many observations the rows are worth."""
        is_auto = isinstance(self.effective_samples, str)
        n_effective = None if is_auto or self.effective_samples is None else as_number(self.effective_samples)
        return Worth(self.weights == "relative", n_effective, needs_order=is_auto)

    def _estimated_samples(self, prepared: Prepared, method: Method[Any], started: float) -> float:
        """Return how many observations the rows are worth, by the residuals of a fit that takes them for independent."""
        fits = method.run_all(prepared.problems, self._budget(started).share(2))
        posteriors = [method.posterior(fit, problem) for fit, problem in zip(fits, prepared.problems, strict=True)]
        n_counted, dependence = self._n_effective(prepared.design), dependence_of_rows(prepared.problems, posteriors)
        n_effective, doubt = dependence.n_effective(n_counted), dependence.doubt(n_counted)
        if doubt:
            warnings.warn(doubt, UserWarning, stacklevel=3)
        if self.verbose:
            print(f"effective samples: {n_effective:.4g} of {n_counted:.4g}", file=sys.stderr)
        return n_effective

    def _n_effective(self, design: Design) -> float:
        """Return how many observations the rows of a design are worth. Default: the sum of their weights."""
        return float(design.n_samples)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, method: Method[Any], n_effective: float | None = None) -> Prepared:
        """Validate the data, fit the basis, and compute what the method needs.

        `n_effective` is the number of observations that the rows are worth, if it has been estimated.
        """
        probe, worth = unfitted_twin(self), self._worth()
        if n_effective is not None:
            worth = worth._replace(n_effective=n_effective)
        recipe = self._recipe(probe, X, method, worth)
        design = as_design(X, y, sample_weight, recipe)
        _warn_if_more_than_all(worth, design)
        if self.verbose:
            print_centers(design.candidates, len(design.rows.targets))
        problems = design.problems(self._likelihood(), self.moments, method.access)
        return Prepared(design, problems, {name: getattr(probe, name) for name in SEEN if hasattr(probe, name)})

    def _recipe(self, probe: Any, X: Any, method: Method[Any], worth: Worth) -> Recipe:
        return Recipe(
            check=lambda *data, **known: worth.of_dependent(self._checked_rows(probe, *data, **known)),
            basis=self._basis_for(X),
            fit_intercept=self.fit_intercept,
            seed=self._seed(),
            width_options=lambda rows: self._width_options(rows, method, self._input_names(probe)),
            n_landmarks=method.n_landmarks,
            worth=worth,
            wants_folds=self._wants_folds,
            codes=self._codes,
            name_inputs=lambda names: self._name_inputs(probe, names),
            needs_rows=self._why_rows(method),
            check_targets=self._likelihood().check_some_targets,
        )

    def _name_inputs(self, probe: Any, names: Sequence[str] | None) -> None:
        """Give names to the inputs of the probe. Transformers of others get arrays without names, and would warn about them."""
        if names is not None and takes_arrays(self._seeded_basis()):
            probe.feature_names_in_ = np.asarray(names, dtype=object)

    def _fitted_on(self, prepared: Prepared, method: Method[Any], started: float) -> Any:
        """Run the method, and return a twin with fitted attributes from its posteriors. This estimator does not change.

        Warnings come before the estimator changes, because a user may turn them into errors.
        """
        plan, budget = self._plan(prepared.design), self._budget(started)
        fits = method.run_all(prepared.problems, budget)
        posteriors = [method.posterior(fit, problem) for fit, problem in zip(fits, prepared.problems, strict=True)]
        twin = unfitted_twin(self)
        twin.__dict__.update(prepared.seen, criterion_sense_=method.sense, n_effective_=self._n_effective(prepared.design))
        twin._keep(posteriors, prepared.design)
        if self.verbose:
            print_ends(twin._names_of_models(posteriors), posteriors)
        waiting = waiting_for(self)
        if waiting is not None:
            waiting.put_off(self._calibrate, plan, prepared, method, budget=budget)
            plan = None
        remarks = twin._calibrate(plan, prepared, method, budget)
        twin._remember(prepared)
        for message in (*twin._warnings(posteriors), *remarks):
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return twin

    def _basis_for(self, X: Any) -> Any:
        """Return the basis that is fitted on X. Default: the `basis` parameter."""
        return self._seeded_basis()

    def _budget(self, started: float) -> Budget:
        deadline = None if self.max_time is None else started + as_number(self.max_time)
        return Budget(as_number(self.tol), self.max_iter, self.max_active, deadline, self.verbose)

    def _width_options(self, rows: Rows, method: Method[Any], names: Any) -> dict[str, Any]:
        """Return options for learning kernel widths, and for a report with names of inputs.

        They are used if the basis learns its widths from the targets.
        """
        share = WIDTHS_SHARE_OF_TIME / (2 if self._worth().needs_order else 1)  # there are two fits
        return {
            "fit_intercept": self.fit_intercept,
            "max_time": None if self.max_time is None else share * as_number(self.max_time),
            **report_options(self.verbose, names),
            **method.width_options(rows),
        }


def _warn_if_more_than_all(worth: Worth, design: Design) -> None:
    """Warn if dependent rows are to be worth more observations than there are rows, by their number and by their weights."""
    rows = design.rows
    if worth.n_effective is None or not design.keeps_rows or rows.share <= 1.0:
        return
    n_rows = max(int(np.count_nonzero(rows.row_weights)), float(rows.row_weights.sum()) / rows.share)
    if worth.n_effective > n_rows:
        warnings.warn(
            f"effective_samples={worth.n_effective:g} is above the {n_rows:.4g} observations that there are, so the std is too "
            "small. Rows that depend on each other are worth less.",
            UserWarning,
            stacklevel=4,
        )


def as_counts(estimator: SparseEstimator, sample_weight: Any, X: Any) -> Floats | None:
    """Return checked sample weights, or None. Relative ones have mean one over the rows of positive weight."""
    if sample_weight is None:
        return None
    weights = validated_weights(sample_weight, X)
    is_relative = estimator.weights == "relative" and (weights > 0.0).any()
    return with_mean_one(checked_counts(weights / weights.max())) if is_relative else checked_counts(weights)


def checked_weights(estimator: SparseEstimator, sample_weight: Any, X: Any) -> Floats | None:
    """Return the same. Warn if weights look relative and no parameter says what they are worth."""
    weights = as_counts(estimator, sample_weight, X)
    if weights is None or estimator.weights == "relative" or estimator.effective_samples is not None:
        return weights
    n_rows, total = int((weights > 0.0).sum()), float(weights.sum())
    if total < 0.5 * n_rows:  # weights that sum to one are a common habit
        warnings.warn(
            f"Sample weights are counts, and with these {n_rows} rows are worth {total:.3g} observations. If they are relative "
            'weights, use weights="relative".',
            UserWarning,
            stacklevel=7,
        )
    return weights

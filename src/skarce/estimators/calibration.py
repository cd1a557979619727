"""The step of `fit` that asks left-out rows how uncertain the model is."""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skarce._parameters import check_calibration
from skarce._text import quoted
from skarce.basis import learns_widths
from skarce.designs import Design
from skarce.designs.folds import Split, blocked_splits, hashed_splits
from skarce.designs.repeats import times_counted
from skarce.estimators.base import Prepared, SparseEstimator
from skarce.methods.method import Method
from skarce.model_selection.cross_fitting import LeftOut, TimeIsUpError, cross_fit
from skarce.model_selection.cross_fitting_sums import LeftOutSums, cross_fit_sums
from skarce.states.budget import Budget
from skarce.states.outcome import Outcome

MANY_ROWS = 50_000  # with more rows than this, widths are hardly in doubt, and refits would take minutes
MANY_FUNCTIONS = 0.1  # weights that the data determine, as a share of the rows; intervals of larger models are too narrow
TIMES_DEPENDENT = 5.0  # rows that depend on each other: a block that is left out is this many times as long
NOT_CALIBRATED = "The uncertainty of the model is not calibrated, because"
TIME_IS_UP = f"{NOT_CALIBRATED} max_time came before the refits without some of the rows. Raise max_time, or set {{}}=False."
NO_SPLIT = f"{NOT_CALIBRATED} equal rows are left out together, and all rows are equal."


class Plan(NamedTuple):
    """How rows are left out.

    Attributes
    ----------
    name : the parameter that asked for it
    splits : given by the user; None stands for five folds by hashes of the rows
    is_asked : whether the user wants it in any case, and not only if it is advised
    """

    name: str
    splits: list[Split] | None
    is_asked: bool


def planned(name: str, choice: Any, design: Design) -> Plan | None:
    """Return how rows are left out, or None if they are not. Raise a ValueError if that is asked for and impossible."""
    is_auto, can_calibrate = isinstance(choice, str), design.keeps_rows or design.fold_sums is not None
    if _is_off(choice) or (is_auto and not can_calibrate):
        return None
    is_by_folds = _is_by_folds(choice)
    if not can_calibrate or not (is_by_folds or design.keeps_rows):
        raise ValueError(_refusal(name, choice))
    if is_by_folds:
        return Plan(name, None, not is_auto)
    return Plan(name, _given_splits(name, choice, design), True)


def _is_by_folds(choice: Any) -> bool:
    """Whether rows are left out by folds of their hashes, and not by splits of the user."""
    return isinstance(choice, (str, bool, np.bool_))


def _is_off(choice: Any) -> bool:
    return isinstance(choice, (bool, np.bool_)) and not choice


def _refusal(name: str, choice: Any) -> str:
    """Say that rows which are not kept cannot be left out."""
    remedy = (
        f'Use {name}=False or "auto".' if _is_by_folds(choice) else f"With RowBlocks or Dask data, {name}=True takes five folds."
    )
    return (
        f"{name}={quoted(choice)} fits the model again without some of the rows, but they are not kept in memory (as in "
        f"streams, sums without folds, and dependent rows in blocks). {remedy}"
    )


class Calibrated(SparseEstimator):
    """Adds what left-out rows say about the uncertainty of a model."""

    calibration_parameter: ClassVar[str]

    @abstractmethod
    def _keep_calibration(self, left_out: Any) -> list[str]:
        """Set the fitted attributes of the calibration, and return warnings. None stands for a model that is not calibrated."""

    def _is_advised(self, design: Design) -> bool:
        """Tell whether the model is likely to be too sure of itself: it has learned its widths, or has many functions.

        Sums of folds are there only if this has been decided already.
        """
        has_learned = learns_widths(self._seeded_basis()) and len(design.rows.targets) <= MANY_ROWS
        return design.fold_sums is not None or has_learned or has_many_functions(self._posteriors(), design)

    def _check_limits(self) -> None:
        super()._check_limits()
        check_calibration(self.calibration_parameter, getattr(self, self.calibration_parameter))

    def _why_rows(self, method: Method[Any]) -> str | None:
        """Rows are also needed if they are to be left out, unless sums of folds do instead."""
        name = self.calibration_parameter
        choice = getattr(self, name)
        is_asked = not (isinstance(choice, str) or _is_off(choice))
        if is_asked and not (_is_by_folds(choice) and self._wants_folds(sys.maxsize)):
            return _refusal(name, choice)
        return super()._why_rows(method)

    def _plan(self, design: Design) -> Plan | None:
        return planned(self.calibration_parameter, getattr(self, self.calibration_parameter), design)

    def _calibrate(self, plan: Plan | None, prepared: Prepared, method: Method[Any], budget: Budget) -> list[str]:
        left_out: LeftOut | LeftOutSums | str = ""
        if plan is not None and (plan.is_asked or self._is_advised(prepared.design)):
            left_out = self._left_out(plan, prepared, method, budget)
        if isinstance(left_out, str):
            self._keep_calibration(None)
            return [left_out] if left_out else []
        return self._keep_calibration(left_out)

    def _left_out(self, plan: Plan, prepared: Prepared, method: Method[Any], budget: Budget) -> LeftOut | LeftOutSums | str:
        """Return what refits say about the rows that they have not seen, or in words why there is nothing."""
        if self.outcome_ is Outcome.TIME_LIMIT:
            return ""  # there is a warning about that already
        try:
            found = self._cross_fitted(plan, prepared, method, budget)
            return (NO_SPLIT if plan.is_asked else "") if found is None else found
        except TimeIsUpError:
            return TIME_IS_UP.format(plan.name)
        except ValueError as error:
            return f"{NOT_CALIBRATED} a fit without some of the rows failed: {quoted(str(error))}"

    def _cross_fitted(self, plan: Plan, prepared: Prepared, method: Method[Any], budget: Budget) -> LeftOut | LeftOutSums | None:
        """Return what refits say about the rows that they have not seen. None if there is no split."""
        design, posteriors = prepared.design, self._posteriors()
        if design.fold_sums is not None:
            return cross_fit_sums(method, design, design.fold_sums, self._likelihood(), posteriors, budget)
        splits = self._folds(design) if plan.splits is None else plan.splits
        if not splits:
            return None
        whole = (prepared.problems, posteriors)
        return cross_fit(method, design, *whole, splits, budget, kind=self.moments, are_folds=plan.splits is None)

    def _folds(self, design: Design) -> list[Split]:
        """Return five folds, by hashes of the rows. If neighbors depend on each other, blocks of them are left out together."""
        if self.effective_samples is None:
            return hashed_splits(design)
        n_rows = np.count_nonzero(design.rows.row_weights)
        return blocked_splits(design, int(np.ceil(TIMES_DEPENDENT * n_rows / self._n_effective(design))))


def has_many_functions(posteriors: list[Any], design: Design) -> bool:
    """Tell whether the data determine more than a tenth as many weights as there are observations, for any target."""
    n_observations = design.n_samples / times_counted(design.rows)
    return any(float(p.well_determined.sum()) > MANY_FUNCTIONS * n_observations for p in posteriors)


def print_calibration(name: str, value: Any, verbose: int) -> None:
    """Print what the left-out rows say."""
    if verbose:
        print(f"calibration: {name} {np.array2string(np.asarray(value), precision=4)}", file=sys.stderr)


def _given_splits(name: str, choice: Any, design: Design) -> list[Split]:
    rows, n_rows = design.rows, len(design.rows.targets)
    y = rows.y if rows.labels is None else rows.labels
    try:
        pairs = list(choice.split(rows.X, y)) if hasattr(choice, "split") else list(choice)
        places = np.arange(n_rows)
        splits = [(places[np.asarray(fitted)], places[np.asarray(left_out)]) for fitted, left_out in pairs]
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(
            f"{name} must split the {n_rows} rows into (train, test) indices. A splitter that needs groups gives them by "
            f"list(splitter.split(X, y, groups)). {quoted(str(error))}"
        ) from None
    counts = rows.row_weights > 0.0
    splits = [(fitted[counts[fitted]], left_out[counts[left_out]]) for fitted, left_out in splits]
    splits = [(fitted, left_out) for fitted, left_out in splits if len(fitted) and len(left_out)]
    if not splits:
        raise ValueError(f"{name} must give at least one split with rows to fit and rows to leave out, got {quoted(choice)}.")
    return splits

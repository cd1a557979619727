"""What all estimators share: `fit` is written once, and each estimator says only which method it is."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from copy import copy
from typing import Any, NamedTuple

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight

from skarce._parallel import blas_threads
from skarce._typing import Floats
from skarce.designs import Design, Problem, Recipe, Rows, as_design
from skarce.estimators.on_basis import OnBasis, print_progress
from skarce.likelihoods import Gaussian, Likelihood
from skarce.methods.method import Method
from skarce.states.budget import Budget

SEEN = ("n_features_in_", "feature_names_in_")
WIDTHS_SHARE_OF_TIME = 0.5  # of max_time, for learning kernel widths


class Prepared(NamedTuple):
    """A design and its problems, and what the checks found out about the inputs. Estimators with the same basis share it."""

    design: Design
    problems: list[Problem]
    seen: dict[str, Any]


class SparseEstimator(OnBasis, BaseEstimator, ABC):
    """Parameters, validation and fitted attributes. All that is numerical is done by the method."""

    moments: str = "auto"

    @abstractmethod
    def _method(self) -> Method[Any]:
        """Return the method with this estimator's parameters; raise a ValueError for parameters that cannot be."""

    def _likelihood(self) -> Likelihood:
        """Return how targets arise. Default: with normal noise."""
        return Gaussian()

    @abstractmethod
    def _checked_rows(self, probe: Any, X: Any, y: Any, sample_weight: Any, *, is_first: bool = True) -> Rows:
        """Check the data by scikit-learn's rules. What they find out about the inputs is set on `probe`, not on the estimator."""

    @abstractmethod
    def _keep(self, posteriors: list[Any], design: Design) -> None:
        """Set every fitted attribute, after all that could fail."""

    def _remember(self, prepared: Prepared) -> None:
        """Keep what later batches go on from. Default: nothing, there are no later batches."""
        return

    def _warnings(self, posteriors: list[Any]) -> list[str]:
        """Return what the user must know: by default, limits that were reached."""
        return list(dict.fromkeys(p.outcome.value for p in posteriors if p.outcome.deserves_a_warning))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or `skarce.designs.RowBlocks`
            With `RowBlocks` the targets and weights come from the blocks.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets, or the labels of a classifier.
        sample_weight : array-like of shape (n_samples,), default=None
            Counts: weight 2 equals the row twice, in the noise and the criterion too.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        started = time.monotonic()
        self._check_limits()
        method = self._method()
        with blas_threads(1):
            prepared = self._prepare(X, y, sample_weight, method)
            self._fit_on(prepared, method, started)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any, method: Method[Any]) -> Prepared:
        """Check the data, fit the basis, and ask for what the method needs."""
        probe = copy(self)
        recipe = Recipe(
            check=lambda *data: self._checked_rows(probe, *data),
            basis=self._basis_for(X),
            fit_intercept=self.fit_intercept,
            seed=self._seed(),
            width_options=lambda rows: self._width_options(rows, method),
        )
        design = as_design(X, y, sample_weight, recipe)
        problems = design.problems(self._likelihood(), self.moments, method.access)
        return Prepared(design, problems, {name: getattr(probe, name) for name in SEEN if hasattr(probe, name)})

    def _fit_on(self, prepared: Prepared, method: Method[Any], started: float) -> None:
        """Run the method, make posteriors, and keep them."""
        fits = method.run_all(prepared.problems, self._budget(started))
        posteriors = [method.posterior(fit, problem) for fit, problem in zip(fits, prepared.problems, strict=True)]
        for name in SEEN:
            if name in prepared.seen:
                setattr(self, name, prepared.seen[name])
            elif hasattr(self, name):
                delattr(self, name)
        self.criterion_sense_ = method.sense
        self._keep(posteriors, prepared.design)
        self._remember(prepared)
        for message in self._warnings(posteriors):
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _basis_for(self, X: Any) -> Any:
        """Return the basis that is fitted on X. Default: the one that was given."""
        return self._seeded_basis()

    def _budget(self, started: float) -> Budget:
        deadline = None if self.max_time is None else started + self.max_time
        return Budget(self.tol, self.max_iter, self.max_active, deadline, self.verbose)

    def _width_options(self, rows: Rows, method: Method[Any]) -> dict[str, Any]:
        """Return how kernel widths are learned, if the basis leaves them to the targets."""
        return {
            "fit_intercept": self.fit_intercept,
            "max_time": None if self.max_time is None else WIDTHS_SHARE_OF_TIME * self.max_time,
            "callback": print_progress if self.verbose else None,
            **method.width_options(rows),
        }


def checked_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Return weights that can be used as counts, or None; warn if they are meant as something else."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=float, ensure_non_negative=True)
    if not weights.sum() > 0.0:
        raise ValueError("sample_weight must not be zero for every row.")
    n_rows, total = int((weights > 0.0).sum()), float(weights.sum())
    if total < 0.5 * n_rows:  # weights that were scaled to add up to one are a common habit
        warnings.warn(
            f"sample weights are counts, and these say that {n_rows} rows are worth {total:.3g} observations. If they are meant as "
            "relative, multiply them by the number of rows over their sum.",
            UserWarning,
            stacklevel=7,
        )
    return weights

"""What all regressors share: fit on a basis through a design, keep the active functions, predict with uncertainty."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from skarce._parallel import blas_threads
from skarce._typing import Floats, Indices
from skarce._validation import validated
from skarce.basis import KernelBasis, fit_basis
from skarce.criteria import Criterion
from skarce.designs import InMemoryDesign, RowBlocks, RowBlocksDesign, StreamDesign
from skarce.estimators.on_basis import OnBasis, print_progress, takes_arrays
from skarce.estimators.streaming import Streaming, Training
from skarce.moments import Moments
from skarce.moments.moments import power_of_two_near
from skarce.posteriors.augmentation import Augmentation
from skarce.posteriors.of_fit import Design, posterior_of
from skarce.posteriors.posterior import Posterior
from skarce.searches.spanning_start import spanning_start
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

SETTLED = (Outcome.CONVERGED, Outcome.NO_ADDITION_HELPS, Outcome.NONE_BETTER_FOUND)


Search = Callable[[Any, Moments, Journal], Fit]


class Prepared(NamedTuple):
    """A fitted basis and its moments, one for each output, and what the checks found out about the inputs."""

    candidates: Any
    design: Design
    moments: list[Moments]
    one_output: bool
    rows: Training
    seen: dict[str, Any]


class MomentRegressor(OnBasis, Streaming, RegressorMixin, BaseEstimator, ABC):
    """Base of the regressors that select functions by moments. Subclasses say which criterion and which search."""

    basis: Any
    fit_intercept: bool
    tol: float
    max_iter: int
    max_active: int | None
    max_time: float | None
    moments: str
    verbose: int
    random_state: Any

    _trace_fields: tuple[str, ...] = ()  # beside those that all methods have

    @abstractmethod
    def _criterion(self) -> Criterion:
        """The criterion, for targets in user units."""

    @abstractmethod
    def _search(self, criterion: Criterion, moments: Moments, journal: Journal) -> Fit:
        """Run the search on the moments of one (scaled) target."""

    def _criterion_of(self, output: int, criterion: Criterion, rows: Training) -> Criterion:
        """The criterion of one output, where it depends on its targets."""
        return criterion

    def _columns_one_by_one(self) -> float | None:
        """How many columns of the Gram the search asks for one at a time (infinite: unknown), or None where it asks for batches."""
        return None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or `skarce.designs.RowBlocks`
            With `RowBlocks` the targets and weights come from the blocks.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), optional
            Counts: weight 2 equals the row twice, in the noise and the criterion too.

        Returns
        -------
        self
        """
        started = time.monotonic()
        self._check_limits()
        self._criterion()
        with blas_threads(1):
            prepared = self._prepare(X, y, sample_weight)
            self._fit_on(prepared, started)
            self._stream = self._stream_after(prepared.candidates, prepared.design, prepared.moments)
        return self

    def predict(self, X: Any, return_std: bool = False, std: str = "plain") -> Any:
        """Predict the target, and how far a new observation may be from it.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        return_std : bool, default=False
            Also return the standard deviation of a new observation: noise, intercept and weights.
        std : {"plain", "augmented"}, default="plain"
            A sparse model has nothing to be uncertain about away from its functions: its plain std falls to the noise there.
            ``"augmented"`` adds one more function at each query point, as if it had been in the model with the prior variance of
            the signal, so that far from the data the std grows to that of the target. It needs a kernel basis.

        Returns
        -------
        mean : array of shape (n_samples,) or (n_samples, n_outputs)
        std : the same shape, only with ``return_std=True``
        """
        check_is_fitted(self, "posterior_")
        if std not in ("plain", "augmented"):
            raise ValueError(f"std must be 'plain' or 'augmented', got {std!r}.")
        if isinstance(X, RowBlocks):
            raise TypeError("predict takes one array of rows at a time: call it for the X of each row block.")
        X = self._checked_inputs(X)
        with blas_threads(1):
            if not return_std:
                return np.concatenate([self._mean(part) for part in self._parts(X)])
            augment = self._augmentation() if std == "augmented" else None
            means, stds = zip(*(self._mean_and_std(part, augment) for part in self._parts(X)), strict=True)
            return np.concatenate(means), np.concatenate(stds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        basis = self.basis
        tags.input_tags.pairwise = isinstance(basis, KernelBasis) and basis.__sklearn_tags__().input_tags.pairwise
        return tags

    # Fitting ------------------------------------------------------------------------------------------------------------

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None) -> Prepared:
        """Check the data, fit the basis and ask for moments: what estimators may share that differ in nothing before that."""
        read = self._streamed if isinstance(X, RowBlocks) else self._in_memory
        candidates, design, one_output, rows = read(X, y, sample_weight)
        moments = design.moments(self.moments, self._columns_one_by_one())
        seen = {name: getattr(self, name) for name in ("n_features_in_", "feature_names_in_") if hasattr(self, name)}
        return Prepared(candidates, design, moments, one_output, rows, seen)

    def _fit_on(self, prepared: Prepared, started: float) -> Any:
        """Search on prepared moments, this estimator's own or those of another one."""
        self._check_limits()
        candidates, rows, criterion = prepared.candidates, prepared.rows, self._criterion()
        limits = Budget(self.tol, self.max_iter, self.max_active, None if self.max_time is None else started + self.max_time)
        posteriors = [
            self._solve(self._criterion_of(output, criterion, rows), moments, prepared.design, output, self._journal(limits))
            for output, moments in enumerate(prepared.moments)
        ]
        for name, value in prepared.seen.items():
            setattr(self, name, value)
        self._keep(posteriors, candidates, prepared.one_output)
        self._keep_rows(candidates, rows)
        self._keep_path(posteriors, candidates)
        for outcome in dict.fromkeys(p.outcome for p in posteriors if p.outcome.deserves_a_warning):
            warnings.warn(outcome.value, ConvergenceWarning, stacklevel=3)
        return self

    def _fit_stream(self, stream: StreamDesign, one_output: bool, rows: Training, started: float) -> None:
        self._fit_on(Prepared(stream.candidates, stream, stream.moments(), one_output, rows, {}), started)

    def _in_memory(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Design, bool, Training]:
        rows, one_output, basis = self._checked_rows(X, y, sample_weight)
        targets = rows.targets[:, 0] if one_output else rows.targets
        candidates = fit_basis(basis, rows.X, targets, rows.weights, **self._learning(rows))
        design = InMemoryDesign(candidates, *rows, fit_intercept=self.fit_intercept)
        return candidates, design, one_output, rows

    def _checked_rows(self, X: Any, y: Any, sample_weight: Any, *, is_first: bool = True) -> tuple[Training, bool, Any]:
        """Rows that can be used, whether y has one dimension, and the basis, not yet fitted."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Pass y, or RowBlocks that hold both."
            )
        basis = self._seeded_basis()
        if takes_arrays(basis):
            X, y = validated(self, X, y, reset=is_first)
        else:
            validate_data(self, X, skip_check_array=True, reset=is_first)
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
            check_consistent_length(X, y)
        y = np.asarray(y, dtype=np.float64)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if not weights.sum() > 0.0:
                raise ValueError("sample_weight must not be zero for every row.")
            _warn_of_small_weights(weights)
        return Training(X, y[:, None] if y.ndim == 1 else y, weights), y.ndim == 1, basis

    def _streamed(self, blocks: Any, y: Any, sample_weight: Any) -> tuple[Any, Design, bool, Training]:
        if y is not None or sample_weight is not None:
            raise ValueError("with RowBlocks, y and sample_weight come from the blocks: leave them out of fit.")
        basis = self._seeded_basis()
        rows, is_all, n_rows = blocks.sample(self._seed())
        if not is_all and isinstance(basis, KernelBasis) and basis.centers is None:
            raise ValueError(
                f"centers=None would make each of the {n_rows} rows a candidate, and RowBlocks are not held in memory. Give "
                "KernelBasis(centers=500), or an array of centers."
            )
        validate_data(self, rows.X, dtype=[np.float64, np.float32])
        one_output = rows.targets.shape[1] == 1
        y = rows.targets[:, 0] if one_output else rows.targets
        candidates = fit_basis(basis, rows.X, y, rows.weights, **self._learning(Training(*rows)))
        design = RowBlocksDesign(candidates, blocks, n_rows, fit_intercept=self.fit_intercept)
        return candidates, design, one_output, Training(*rows)

    def _learning(self, rows: Training) -> dict[str, Any]:
        """How kernel widths are learned where the basis leaves them to the targets: in half of the time there is."""
        max_time = None if self.max_time is None else 0.5 * self.max_time
        return {"fit_intercept": self.fit_intercept, "max_time": max_time, "callback": print_progress if self.verbose else None}

    def _start(self, moments: Moments) -> tuple[Indices, Floats] | None:
        """Where a search begins that may begin anywhere: the empty model, unless widths were learned (there is one per input)."""
        basis = self.basis
        learned = isinstance(basis, KernelBasis) and (basis.learns_width or np.ndim(basis.gamma) == 1)
        return spanning_start(moments, self.max_active, self._seed()) if learned else None

    def _solve(
        self, criterion: Criterion, moments: Moments, design: Design, output: int, journal: Journal, search: Search | None = None
    ) -> Posterior:
        """Search on a target scaled to unit variance (by a power of two, so exactly), and go back to user units."""
        varies = moments.target_energy > 1e-24 * (moments.target_energy + design.n_samples * design.target_means[output] ** 2)
        if not varies or moments.n_samples <= 0.0:
            outcome = Outcome.CONSTANT_TARGET if moments.n_samples > 0.0 else Outcome.TOO_LITTLE_DATA
            found = Fit(np.empty(0, dtype=np.intp), np.empty(0), outcome)
            return posterior_of(criterion, moments, design, output, found, journal, 1.0)
        factor = 1.0 / power_of_two_near(float(np.sqrt(moments.target_energy / moments.n_samples)))
        scaled, scaled_criterion = moments.scaled(factor), criterion.scaled(factor)
        journal.value = lambda score: float(scaled_criterion.value(score, scaled.n_samples, design.n_samples, factor))
        found = (search or self._search)(scaled_criterion, scaled, journal)
        if not len(found.active) and found.outcome in SETTLED:
            found = found._replace(outcome=Outcome.NOTHING_HELPS)
        return self._posterior(scaled_criterion, scaled, design, output, found, journal, factor)

    def _posterior(
        self, criterion: Criterion, moments: Moments, design: Design, output: int, found: Fit, journal: Journal, factor: float
    ) -> Posterior:
        return posterior_of(criterion, moments, design, output, found, journal, factor)

    def _journal(self, limits: Budget) -> Journal:
        return Journal(limits, self.verbose, self._trace_fields)

    def _keep(self, posteriors: list[Posterior], candidates: Any, one_output: bool) -> None:
        """Set every fitted attribute, after all that could fail."""
        self._keep_models(posteriors, candidates, one_output, self._criterion().sense)
        self.noise_variance_ = posteriors[0].noise_variance if one_output else np.array([p.noise_variance for p in posteriors])

    def _keep_rows(self, candidates: Any, rows: Training) -> None:
        """What the uncertainty off the data is computed from."""
        self._augmentation_rows = Augmentation.rows_of(candidates, rows.X, rows.weights, self.random_state)

    def _keep_path(self, posteriors: list[Posterior], candidates: Any) -> None:
        """What other models on the way are made from, where the search has nested ones."""

    # Predicting ---------------------------------------------------------------------------------------------------------

    def _mean(self, X: Any) -> Floats:
        return self._phi(X) @ self.coef_.T + self.intercept_

    def _mean_and_std(self, X: Any, augment: Augmentation | None) -> tuple[Floats, Floats]:
        phi = self._phi(X)
        one_output = isinstance(self.posterior_, Posterior)
        posteriors: Any = [self.posterior_] if one_output else self.posterior_
        variances = []
        for posterior, place in zip(posteriors, self._places, strict=True):
            variance = posterior.variance(phi[:, place])
            if augment is not None:
                variance = variance + augment.extra_variance(posterior, self.basis_.select(place), X, phi[:, place])
            variances.append(variance)
        std = np.sqrt(np.array(variances))
        return phi @ self.coef_.T + self.intercept_, std[0] if one_output else std.T

    def _augmentation(self) -> Augmentation:
        if self._augmentation_rows is None:
            raise ValueError(
                "std='augmented' puts one more kernel at each query point, so it needs a KernelBasis other than 'precomputed'; "
                f"this model has basis={self.basis!r}. Use std='plain'."
            )
        return Augmentation(*self._augmentation_rows)


def _warn_of_small_weights(weights: Floats) -> None:
    """Weights that were scaled to add up to one are a common habit, and mean a single observation here."""
    n_rows, total = int(np.count_nonzero(weights)), float(weights.sum())
    if total < 0.5 * n_rows:
        warnings.warn(
            f"sample weights are counts, and these say that {n_rows} rows are worth {total:.3g} observations. If they are meant as "
            "relative, multiply them by the number of rows over their sum.",
            UserWarning,
            stacklevel=5,
        )

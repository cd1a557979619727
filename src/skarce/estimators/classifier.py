"""What the classifiers share: labels, one latent function per class, probabilities moderated by their uncertainty."""

from __future__ import annotations

import sys
import time
import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from skarce._parallel import blas_threads
from skarce._typing import Floats, Indices
from skarce._validation import is_missing
from skarce.basis import KernelBasis, fit_basis
from skarce.basis.candidates import Evaluation
from skarce.designs.centered import centred
from skarce.estimators.base import _warn_of_small_weights
from skarce.estimators.on_basis import OnBasis, print_progress, takes_arrays
from skarce.likelihoods import Labels, moderated_log_odds
from skarce.posteriors.latent import LatentPosterior
from skarce.states.budget import Budget


class LatentClassifier(OnBasis, ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers: two classes have one latent function, more have one each, against the rest, on shared kernels."""

    class_weight: Any

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for parameters that cannot be."""

    @abstractmethod
    def _solve(self, evaluation: Evaluation, means: Floats, problems: list[Labels], limits: Budget) -> list[LatentPosterior]:
        """A posterior for each problem, on candidates at the training rows, less these means where there is a constant."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels: text, booleans or numbers, of two classes or more.
        sample_weight : array of shape (n_samples,), optional
            Counts: weight 2 equals the row twice.

        Returns
        -------
        self
        """
        limits = self._limits()
        self._check_parameters()
        with blas_threads(1):
            X, y, weights = self._checked_rows(X, y, sample_weight)
            classes, codes = np.unique(y, return_inverse=True)
            weights = weights * self._class_weights(classes, codes, weights)[codes]
            targets = _targets(codes, len(classes))
            candidates = self._fitted_basis(X, y, targets, weights)
            problems = [Labels(column, weights) for column in targets.T]
            evaluation, means = candidates.on(X), np.zeros(candidates.n_candidates)
            if self.fit_intercept:
                evaluation, means = centred(evaluation, weights)
            posteriors = self._solve(evaluation, means, problems, limits)
            self.classes_ = classes
            self._keep(posteriors, candidates)
        if self.verbose:
            _print_ends(classes[-len(posteriors) :], posteriors)
        for outcome in dict.fromkeys(p.outcome for p in posteriors if p.outcome.deserves_a_warning):
            warnings.warn(outcome.value, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> Any:
        """The most probable class of each row."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, shape (n_samples, n_classes).

        The latent functions are uncertain, and the more so the nearer to one half: each probability is the mean over the
        posterior, E g(f). With more than two classes, the probabilities of each against the rest are divided by their sum.
        """
        log_odds = self.decision_function(X)
        if log_odds.ndim == 1:
            return np.column_stack([expit(-log_odds), expit(log_odds)])
        each = expit(log_odds)
        return each / each.sum(axis=1, keepdims=True)

    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """The log odds of the second class, or of each class against the rest, moderated as the probabilities are.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        return_std : bool, default=False
            Also return the standard deviation of the latent function, as `latent` gives it.

        Returns
        -------
        log_odds : array of shape (n_samples,) or (n_samples, n_classes)
        std : the same shape, only with ``return_std=True``
        """
        means, std = self.latent(X)
        log_odds = moderated_log_odds(means, std**2)
        return (log_odds, std) if return_std else log_odds

    def latent(self, X: Any) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the latent function, whose logistic function is the probability.

        Returns
        -------
        mean, std : arrays of shape (n_samples,), or (n_samples, n_classes) where there are more than two classes
        """
        check_is_fitted(self, "posterior_")
        X = self._checked_inputs(X)
        with blas_threads(1):
            means, variances = zip(*(self._latent_of(self._phi(part)) for part in self._parts(X)), strict=True)
        mean, std = np.concatenate(means), np.sqrt(np.concatenate(variances))
        return (mean[:, 0], std[:, 0]) if mean.shape[1] == 1 else (mean, std)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    # Fitting ------------------------------------------------------------------------------------------------------------

    def _limits(self) -> Budget:
        self._check_limits()
        deadline = None if self.max_time is None else time.monotonic() + self.max_time
        return Budget(self.tol, self.max_iter, getattr(self, "max_active", None), deadline)

    def _learning(self) -> dict[str, Any]:
        """How kernel widths are learned where the basis leaves them to the targets: in half of the time there is."""
        max_time = None if self.max_time is None else 0.5 * self.max_time
        return {"fit_intercept": self.fit_intercept, "max_time": max_time, "callback": print_progress if self.verbose else None}

    def _checked_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Floats]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        _check_labels(y)
        if takes_arrays(self._seeded_basis()):
            X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        else:
            validate_data(self, X, skip_check_array=True)
            check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if sample_weight is None:
            weights = np.ones(_num_samples(X))
        else:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            _warn_of_small_weights(weights)
        seen = np.unique(y[weights > 0.0])
        if len(seen) < 2:
            named = f"one class, {seen.tolist()[0]!r}," if len(seen) else "no class"
            raise ValueError(f"{type(self).__name__} needs at least two classes, got {named} among the rows of positive weight.")
        return X, y, weights

    def _class_weights(self, classes: Any, codes: Indices, weights: Floats) -> Floats:
        """A factor for each class; balanced ones make all classes weigh the same, sample weights counted."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            counts = np.bincount(codes, weights, minlength=len(classes))
            return np.where(counts > 0.0, weights.sum() / (np.count_nonzero(counts) * np.maximum(counts, 1e-300)), 1.0)
        if self.class_weight is not None and not isinstance(self.class_weight, dict):
            raise ValueError(
                f"class_weight must be None, 'balanced' or a dict of a weight for each class, got {self.class_weight!r}."
            )
        factors = np.asarray(compute_class_weight(self.class_weight, classes=classes, y=classes[codes]), dtype=np.float64)
        if not (np.isfinite(factors).all() and (factors > 0.0).all()):
            raise ValueError(f"class_weight must be positive for every class, got {self.class_weight!r}.")
        return factors

    def _fitted_basis(self, X: Any, y: Any, targets: Floats, weights: Floats) -> Any:
        """The candidates."""
        return self._fit_basis(self._seeded_basis(), X, y, targets, weights)

    def _fit_basis(self, basis: Any, X: Any, y: Any, targets: Floats, weights: Floats) -> Any:
        """Widths are learned, where they are, on the zeros and ones of the classes as on numbers."""
        numbers = targets[:, 0] if targets.shape[1] == 1 else targets
        given = None if (weights == 1.0).all() else weights
        return fit_basis(basis, X, numbers if isinstance(basis, KernelBasis) else y, given, **self._learning())

    def _keep(self, posteriors: list[LatentPosterior], candidates: Any) -> None:
        """Set every fitted attribute, after all that could fail."""
        self._keep_models(posteriors, candidates, len(posteriors) == 1, sense=1)

    # Predicting ---------------------------------------------------------------------------------------------------------

    def _latent_of(self, phi: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of each latent function, shapes (n_samples, n_functions)."""
        posteriors: Any = [self.posterior_] if isinstance(self.posterior_, LatentPosterior) else self.posterior_
        pairs = [(p, phi[:, place]) for p, place in zip(posteriors, self._places, strict=True)]
        return np.stack([p.predict(own) for p, own in pairs], axis=1), np.stack([p.variance(own) for p, own in pairs], axis=1)


def _print_ends(classes: Any, posteriors: list[LatentPosterior]) -> None:
    """A line on where the search for each class ended, also where it was too short for a line on the way."""
    for label, posterior in zip(classes, posteriors, strict=True):
        print(
            f"class {label}  {posterior.n_iter} steps  criterion {posterior.criterion: .6e}  active {len(posterior.active):5d}  "
            f"{posterior.outcome.name}",
            file=sys.stderr,
        )


def _check_labels(y: Any) -> None:
    """Raise for labels of no fixed kind that are missing or cannot be put in order; the other checks are scikit-learn's."""
    labels = np.asarray(y)
    if labels.dtype != object or labels.ndim != 1:
        return
    missing = np.flatnonzero([is_missing(label) for label in labels])
    if len(missing):
        raise ValueError(
            f"y has {len(missing)} missing label{'' if len(missing) == 1 else 's'}, the first ({labels[missing[0]]!r}) in row "
            f"{missing[0]}. Drop these rows, or give them a class of their own."
        )
    is_text = np.array([isinstance(label, str) for label in labels])
    if is_text.any() and not is_text.all():
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"y mixes texts with other labels (types {', '.join(kinds)}), which have no order. Write all as texts.")


def _targets(codes: Indices, n_classes: int) -> Floats:
    """Zeros and ones, a column for each latent function: the second class of two, or each class against the rest."""
    if n_classes == 2:
        return (codes == 1).astype(np.float64)[:, None]
    return (codes[:, None] == np.arange(n_classes)).astype(np.float64)

"""What the classifiers share: labels, one latent function per class, probabilities moderated by their uncertainty."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from skarce._atomic import snapshot
from skarce._device import is_on_device, log_expit, namespace, stacked, to_device, to_host
from skarce._scales import checked_counts
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce._validation import are_plain_labels, check_container, in_brief, is_missing
from skarce.designs import Design, Rows
from skarce.designs.labels import Codes, targets_of
from skarce.estimators.base import checked_weights
from skarce.estimators.calibration import print_calibration
from skarce.estimators.latent import LatentEstimator
from skarce.estimators.on_basis import in_type_of
from skarce.estimators.on_dask import lazy_on_dask
from skarce.estimators.score_on_dask import ACCURACY, score_on_dask
from skarce.likelihoods import Bernoulli, moderated_log_odds
from skarce.methods.method import Method
from skarce.model_selection.calibration import about, log_odds_of_shares, temperature
from skarce.model_selection.cross_fitting import LeftOut
from skarce.posteriors.latent import LatentPosterior

MOST_PLAIN_CLASSES = 0.5  # of the rows: with more, scikit-learn warns that these may be no classes


class LatentClassifier(ClassifierMixin, LatentEstimator):
    """Base of the classifiers. Two classes have one latent function; more have one each, against the rest, on shared kernels."""

    class_weight: Any
    _weights_are_rows = True
    _instead_of_rows = "RelevanceVectorClassifier or PrimalSVMClassifier"

    @score_on_dask(ACCURACY)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy, the share of rows whose class is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), `skarce.designs.RowBlocks`, or a Dask array or frame
            Test inputs.
        y : array-like of shape (n_samples,) or str, default=None
            Class labels. A name stands for a column of X, if that is a Dask data frame. With `RowBlocks`, they come from
            the blocks, and y and `sample_weight` must be None.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Sample weights.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        return float(super().score(X, y, sample_weight))

    @lazy_on_dask
    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        model = snapshot(self)
        log_odds, _ = model._moderated(model._checked_queries(X))
        return labels_at(model.classes_, _log_probabilities(log_odds))

    @lazy_on_dask
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class.

        The latent functions are uncertain, and uncertainty draws probabilities towards one half: each is the mean over the
        posterior, E g(f). The distance of its log odds from those of the share of the class is divided by `temperature_`. With more
        than two classes, the probabilities of each against the rest are divided by their sum.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        model = snapshot(self)
        X = model._checked_queries(X)
        log_odds, _ = model._moderated(X)
        if is_on_device(log_odds):
            return in_type_of(X, namespace(log_odds).exp(_log_probabilities(log_odds)))
        if log_odds.ndim == 1:
            return in_type_of(X, np.column_stack([expit(-log_odds), expit(log_odds)]))
        # Each g is divided by their sum, also if all of them are zero to working precision.
        return in_type_of(X, softmax(log_expit(log_odds), axis=1))

    @lazy_on_dask
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the probability of each class.

        It comes from the log odds, so it keeps its digits if a probability is as small as 1e-300 or smaller.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        model = snapshot(self)
        X = model._checked_queries(X)
        return in_type_of(X, _log_probabilities(model._moderated(X)[0]))

    @lazy_on_dask
    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """Return the log odds of the second class, or of each class against the rest, moderated as the probabilities are.

        Their distance from the log odds of the shares of the classes is divided by `temperature_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Also return the standard deviation of the latent function, as `latent` gives it.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,) or (n_samples, n_classes)
        std : ndarray of the same shape
            Only with ``return_std=True``.
        """
        model = snapshot(self)
        X = model._checked_queries(X)
        log_odds, std = model._moderated(X)
        return in_type_of(X, log_odds, std) if return_std else in_type_of(X, log_odds)

    def _moderated(self, X: Any) -> tuple[Floats, Floats]:
        """Return log odds and the standard deviation of the latent function at checked inputs, in double precision."""
        means, std = self._latent_at(X)
        log_odds = moderated_log_odds(means, std)
        if getattr(self, "temperature_", 1.0) != 1.0:  # a model of an older version has none
            log_odds = about(log_odds, to_device(self._class_log_odds, log_odds), self.temperature_)
        return log_odds, std

    # Fitting ------------------------------------------------------------------------------------------------------------

    def _likelihood(self) -> Bernoulli:
        return Bernoulli()

    def _checked_rows(
        self, probe: Any, X: Any, y: Any, sample_weight: Any, *, is_first: bool = True, is_whole: bool = True, classes: Any = None
    ) -> Rows:
        X, y = self._checked_pair(probe, X, checked_labels(y), is_first=is_first)
        y = _as_classes(y)
        weights = checked_weights(self, sample_weight, X)
        classes, codes = self._coded(y, weights, classes)
        counts = np.ones(len(y)) if weights is None else weights
        totals = np.bincount(codes, counts, minlength=len(classes))
        counts = checked_counts(counts * self._class_weights(classes, totals)[codes])
        targets = targets_of(codes, len(classes))
        kept = None if (counts == 1.0).all() else counts
        # Two classes that change places change the sign of these numbers only, so no width depends on the names of the classes.
        signs = Rows(X, 2.0 * targets - 1.0, kept, is_one_output=len(classes) == 2)
        return Rows(X, targets, kept, labels=y, is_one_output=len(classes) == 2, for_widths=signs, classes=classes)

    def _coded(self, y: Any, weights: Floats | None, classes: Any) -> tuple[Any, Indices]:
        """Return the classes and the place of each label among them. If they are not given, they are those of the rows."""
        if classes is not None:
            unknown = np.setdiff1d(y, classes)
            if len(unknown):
                raise ValueError(f"y has {quoted(unknown.tolist())}, but the classes are {quoted(classes.tolist())}.")
            return classes, np.searchsorted(classes, y)
        seen = np.unique(y if weights is None else y[weights > 0.0])
        if len(seen) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, got one class, {quoted(seen.tolist()[0])}, among the rows of "
                "positive weight."
            )
        classes = np.unique(y)
        return classes, np.searchsorted(classes, y)

    def _width_options(self, rows: Rows, method: Method[Any], names: Any) -> dict[str, Any]:
        """Two classes learn by the evidence of labels. Models of one class against the rest share one expansion of it."""
        own = {"likelihood": "bernoulli"} if rows.is_one_output else {"noise_share": 1.0}
        return {**super()._width_options(rows, method, names), **own}

    def _codes(self, classes: Any, totals: Floats) -> Codes:
        """Return how labels become numbers, if their classes have these weights."""
        return Codes(classes, self._class_weights(classes, totals))

    def _class_weights(self, classes: Any, totals: Floats) -> Floats:
        """A factor for each class; balanced ones make all classes weigh the same, sample weights counted."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return np.where(totals > 0.0, totals.sum() / (np.count_nonzero(totals) * np.maximum(totals, 1e-300)), 1.0)
        if self.class_weight is None:
            return np.ones(len(classes))
        if not isinstance(self.class_weight, dict):
            raise ValueError(
                f"class_weight must be None, 'balanced' or a dict with a weight for each class, got {quoted(self.class_weight)}."
            )
        factors = np.asarray(compute_class_weight(self.class_weight, classes=classes, y=classes), dtype=np.float64)
        if not (np.isfinite(factors).all() and (factors > 0.0).all()):
            raise ValueError(f"class_weight must be positive for every class, got {quoted(self.class_weight)}.")
        return factors

    def _keep_calibration(self, left_out: LeftOut | None) -> list[str]:
        self.temperature_ = 1.0
        if left_out is not None:
            log_odds = moderated_log_odds(left_out.means, np.sqrt(left_out.variances))
            self.temperature_ = temperature(log_odds, left_out.targets, left_out.weights, self._class_log_odds)
            print_calibration("temperature", self.temperature_, self.verbose)
        return []

    def _keep(self, posteriors: list[LatentPosterior], design: Design) -> None:
        super()._keep(posteriors, design)
        self.classes_ = design.rows.classes
        self._class_log_odds = log_odds_of_shares(design.rows.targets, design.rows.row_weights)

    def _names_of_models(self, posteriors: list[LatentPosterior]) -> list[str]:
        return [f"class {label}" for label in self.classes_[-len(posteriors) :]]


def _log_probabilities(log_odds: Floats) -> Floats:
    """Return log probabilities, a column for each class."""
    if log_odds.ndim == 1:
        return stacked([log_expit(-log_odds), log_expit(log_odds)], axis=1)
    logs = log_expit(log_odds)
    if not is_on_device(logs):
        return np.asarray(log_softmax(logs, axis=1))
    xp = namespace(logs)
    below = logs - xp.max(logs, axis=1, keepdims=True)
    return below - xp.log(xp.sum(xp.exp(below), axis=1, keepdims=True))


def labels_at(classes: Any, values: Any) -> Any:
    """Return the class with the largest of the values in each row. On a device, labels that are numbers are there, too."""
    xp = namespace(values)
    places = xp.argmax(values, axis=1)
    if xp is np or classes.dtype.kind not in "biuf":  # no device holds text
        return classes[to_host(places)]
    return xp.take(to_device(classes, values), places, axis=0)


def _as_classes(y: Any) -> Any:
    """Return labels in one dimension after scikit-learn's checks. It has none for a few whole numbers."""
    if are_plain_labels(y) and len(np.unique(y)) <= MOST_PLAIN_CLASSES * len(y):
        return y
    with np.errstate(invalid="ignore"):  # scikit-learn casts labels to whole numbers, to see whether they are
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
    return y


def checked_labels(y: Any) -> Any:
    """Return labels of no fixed kind as whole numbers or booleans if they all are; the other checks are scikit-learn's.

    Raise for labels that are missing or cannot be put in order.
    """
    check_container(y, "y")
    with in_brief("y"):
        labels = np.asarray(y)
    if labels.dtype != object or labels.ndim != 1:
        return y
    missing = np.flatnonzero([is_missing(label) for label in labels])
    if len(missing):
        raise ValueError(
            f"y has {len(missing)} missing label{'' if len(missing) == 1 else 's'}, the first ({quoted(labels[missing[0]])}) in "
            f"row {missing[0]}. Drop these rows, or give them their own class."
        )
    is_text = np.array([isinstance(label, str) for label in labels])
    if is_text.any() and not is_text.all():
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"y mixes strings with other labels (types {', '.join(kinds)}). Convert all labels to strings.")
    for kind in ((bool, np.bool_), Integral):
        if len(labels) and all(isinstance(label, kind) for label in labels):
            return np.array(labels.tolist())
    return y

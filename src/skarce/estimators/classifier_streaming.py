"""`partial_fit` for classifiers: all classes are known from the first batch on."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._available import available_if
from skarce._text import quoted
from skarce.estimators.classifier import LatentClassifier
from skarce.estimators.latent_streaming import LatentStreaming
from skarce.estimators.rows_in_memory import FIT_OR_BATCHES, takes_rows_in_memory
from skarce.estimators.streaming import can_stream


class StreamingClassifier(LatentClassifier, LatentStreaming):
    """Base of the classifiers that learn from batches."""

    @available_if(can_stream)
    @takes_rows_in_memory(FIT_OR_BATCHES)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Update the model with a batch of rows.

        The batch is fitted next to what is left of earlier ones: their log likelihood, expanded to second order about the model of
        its time. So many small batches give a similar model as `fit` on all rows, but not the same. A batch is added as a whole or
        not at all. The method is available if the candidates are fixed in advance: ``basis="passthrough"``, a transformer, or
        kernels at given centers or landmarks. Landmarks, widths and all else that a basis learns come from the first batch. Streams
        are not calibrated. Classes should be mixed, at least in the first batches: a model of rows of one class is so sure of them
        that hardly anything is left of these rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of the batch.
        y : array-like of shape (n_samples,)
            Class labels of the batch. Not all classes need to be among them.
        classes : array-like of shape (n_classes,), default=None
            All classes that will come. Needed in the first call, unless `fit` was called before.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times that each row counts. None counts each row once.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={quoted(self.class_weight)} needs all rows, and partial_fit has one batch. Give a dict with the "
                "weight of each class."
            )
        return self._absorb(X, y, sample_weight, classes=self._known_classes(classes))

    def _known_classes(self, classes: Any) -> Any:
        """Return all classes of the stream, ascending. Raise a ValueError if they are not known, or others than before."""
        known: Any = getattr(self, "classes_", None)
        if classes is None and known is None:
            raise ValueError("classes must be passed on the first call to partial_fit: all labels that will come.")
        given: Any = known if classes is None else np.unique(np.asarray(classes))
        if len(given) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two classes, got classes={quoted(classes)}.")
        if known is not None and not np.array_equal(given, known):
            raise ValueError(f"classes={quoted(classes)} is not the same as in earlier calls, {quoted(known.tolist())}.")
        return given

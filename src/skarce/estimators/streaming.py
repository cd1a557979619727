"""`partial_fit`: one mechanism, on whole moments, for every estimator whose candidates are fixed in advance."""

from __future__ import annotations

import time
from copy import copy
from typing import Any

from sklearn.utils.metaestimators import available_if

from skarce._parallel import blas_threads
from skarce._validation import check_forgetting
from skarce.basis import KernelBasis, fit_basis
from skarce.designs import StreamDesign
from skarce.estimators.base import SEEN, Prepared, SparseEstimator
from skarce.methods.method import Method
from skarce.posteriors.augmentation import Augmentation


def _can_stream(estimator: Any) -> bool:
    """Whether the candidates, and the weights of rows, do not depend on rows that are still to come."""
    basis = estimator.basis
    is_named = isinstance(basis, str) and basis == "rbf"
    if is_named or (isinstance(basis, KernelBasis) and (basis.centers is None or basis.kernel == "precomputed")):
        raise AttributeError(
            "partial_fit needs candidates that are fixed in advance, and these are at the training rows. Use "
            'KernelBasis(centers=500), an array of centers, or basis="passthrough".'
        )
    estimator._check_streaming()
    return True


class Streaming(SparseEstimator):
    """Adds `partial_fit` to an estimator for which moments say all."""

    forgetting: float = 1.0
    _stream: StreamDesign | None = None

    def _check_streaming(self) -> None:
        """Raise an AttributeError if the method needs rows that a stream does not keep. Default: it needs none."""

    @available_if(_can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Add a batch of rows. Only their moments are kept, so memory does not grow with the stream. After `fit` it goes on.

        It is available if the candidates are fixed in advance: inputs that are passed through, or kernels at given centers or
        landmarks. Landmarks, widths and other things that a basis learns are learned from the first batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Counts, as in `fit`.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        started = time.monotonic()
        self._check_limits()
        method = self._method()
        with blas_threads(1):
            prepared = self._absorbed(X, y, sample_weight, method)
            self._fit_on(prepared, self._following(method), started)
        return self

    def _remember(self, prepared: Prepared) -> None:
        self._stream = prepared.design.stream(prepared.problems) if hasattr(self, "partial_fit") else None

    def _following(self, method: Method[Any]) -> Method[Any]:
        """The method that goes on from the model of the last batch, until it is time to solve from scratch."""
        stream = self._stream
        assert stream is not None
        if hasattr(self, "posterior_") and not stream.is_due:
            return method.following(self._posteriors())
        stream.n_solved = stream.n_seen
        return method

    def _absorbed(self, X: Any, y: Any, sample_weight: Any, method: Method[Any]) -> Prepared:
        """The stream with one more batch, and rows that stand for all."""
        stream = self._stream
        if stream is None and hasattr(self, "posterior_"):
            raise ValueError(
                "fit keeps what partial_fit would go on from only if it has all of the Gram matrix, and that within 16 MiB. Use "
                'moments="whole" for fewer than 1448 candidates, or begin with partial_fit.'
            )
        forgetting = check_forgetting(self.forgetting)
        if stream is not None and stream.fit_intercept != self.fit_intercept:
            raise ValueError(
                f"fit_intercept={self.fit_intercept}, and the batches before this one had {stream.fit_intercept}: begin again, "
                "with clone(model)."
            )
        probe = copy(self)
        rows = self._checked_rows(probe, X, y, sample_weight, is_first=stream is None)
        if stream is None:
            candidates = fit_basis(self._seeded_basis(), rows.X, rows.y, rows.weights, **self._width_options(rows, method))
            stream = StreamDesign(candidates, rows.targets.shape[1], fit_intercept=self.fit_intercept)
        elif stream.n_outputs != rows.targets.shape[1]:
            raise ValueError(f"y has {rows.targets.shape[1]} outputs, the batches before it {stream.n_outputs}.")
        stream.absorb(rows, forgetting)
        stream.rows = Augmentation.joined(getattr(self, "_augmentation_rows", None), rows, forgetting)
        self._stream = stream
        seen = {name: getattr(probe, name) for name in SEEN if hasattr(probe, name)}
        return Prepared(stream, stream.problems(self._likelihood()), seen)

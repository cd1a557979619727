"""`partial_fit`: one mechanism, on whole moments, for every estimator whose candidates are fixed in advance."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from sklearn.utils.metaestimators import available_if

from skarce._parallel import blas_threads
from skarce._typing import Floats
from skarce._validation import check_forgetting
from skarce.basis import KernelBasis, fit_basis
from skarce.designs import StreamDesign
from skarce.posteriors.augmentation import Augmentation


class Training(NamedTuple):
    """Checked training data: inputs (or a foreign transformer's raw input), targets (n_rows, n_outputs), weights."""

    X: Any
    targets: Floats
    weights: Floats | None


def _can_stream(estimator: Any) -> bool:
    """Whether the candidates, and the weights of rows, do not depend on rows that are still to come."""
    basis = estimator.basis
    is_named = isinstance(basis, str) and basis == "rbf"
    if is_named or (isinstance(basis, KernelBasis) and (basis.centers is None or basis.kernel == "precomputed")):
        raise AttributeError(
            "partial_fit needs candidates that are fixed in advance, and these are at the training rows. Use "
            'KernelBasis(centers=500), an array of centers, or basis="passthrough".'
        )
    if getattr(estimator, "noise", "gaussian") != "gaussian":
        raise AttributeError('partial_fit keeps no rows, and noise="student-t" weighs them again and again. Use noise="gaussian".')
    return True


class Streaming(ABC):
    """Adds `partial_fit` to an estimator that can check rows (`_checked_rows`) and fit to a stream of moments (`_fit_stream`)."""

    fit_intercept: bool
    _stream: StreamDesign | None

    @abstractmethod
    def _checked_rows(self, X: Any, y: Any, sample_weight: Any, *, is_first: bool = True) -> tuple[Training, bool, Any]: ...

    @abstractmethod
    def _fit_stream(self, stream: StreamDesign, one_output: bool, rows: Training, started: float) -> None: ...

    @abstractmethod
    def _learning(self, rows: Training) -> dict[str, Any]: ...

    @abstractmethod
    def _check_limits(self) -> None: ...

    @abstractmethod
    def _criterion(self) -> Any: ...

    @available_if(_can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Add a batch of rows, of which only the moments are kept: memory does not grow with the stream. After `fit` it goes on.

        It is there where the candidates are fixed in advance: inputs that are passed through, or kernels at given centres or
        landmarks. Landmarks, widths and other things that a basis learns are learned from the first batch.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), optional
            Counts, as in `fit`.

        Returns
        -------
        self
        """
        started = time.monotonic()
        self._check_limits()
        self._criterion()
        with blas_threads(1):
            self._fit_stream(*self._absorbed(X, y, sample_weight), started)
        return self

    def _absorbed(self, X: Any, y: Any, sample_weight: Any) -> tuple[StreamDesign, bool, Training]:
        """The stream with one more batch, and rows that stand for all."""
        stream: StreamDesign | None = getattr(self, "_stream", None)
        if stream is None and hasattr(self, "posterior_"):
            raise ValueError(
                "fit keeps what partial_fit would go on from only where it has all of the Gram matrix, and that within 16 MiB. Use "
                'moments="whole" for fewer than 1448 candidates, or begin with partial_fit.'
            )
        forgetting = check_forgetting(getattr(self, "forgetting", 1.0))
        if stream is not None and stream.fit_intercept != self.fit_intercept:
            raise ValueError(
                f"fit_intercept={self.fit_intercept}, and the batches before this one had {stream.fit_intercept}: begin afresh, "
                "with clone(model)."
            )
        rows, one_output, basis = self._checked_rows(X, y, sample_weight, is_first=stream is None)
        if stream is None:
            targets = rows.targets[:, 0] if one_output else rows.targets
            candidates = fit_basis(basis, rows.X, targets, rows.weights, **self._learning(rows))
            stream = StreamDesign(candidates, rows.targets.shape[1], fit_intercept=self.fit_intercept)
        elif stream.n_outputs != rows.targets.shape[1]:
            raise ValueError(f"y has {rows.targets.shape[1]} outputs, the batches before it {stream.n_outputs}.")
        stream.absorb(*rows, forgetting)
        self._stream = stream
        return stream, one_output, Augmentation.joined(getattr(self, "_augmentation_rows", None), rows, forgetting)

    def _stream_after(self, candidates: Any, design: Any, moments: Any) -> StreamDesign | None:
        """What `partial_fit` would go on from after `fit`."""
        if not hasattr(self, "partial_fit"):
            return None
        return StreamDesign.after(candidates, design, moments, fit_intercept=self.fit_intercept)

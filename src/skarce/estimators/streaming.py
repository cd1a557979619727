"""`partial_fit`: one mechanism, on whole moments, for every estimator whose candidates are fixed in advance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from sklearn.utils.metaestimators import available_if

from skarce._parallel import blas_threads
from skarce._typing import Floats
from skarce.basis import KernelBasis, fit_basis
from skarce.designs import StreamDesign
from skarce.estimators.augmentation import Augmentation


class Training(NamedTuple):
    """Checked training data: inputs (or a foreign transformer's raw input), targets (n_rows, n_outputs), weights."""

    X: Any
    targets: Floats
    weights: Floats | None


def _has_fixed_candidates(estimator: Any) -> bool:
    """Whether the candidates do not depend on rows that are still to come."""
    basis = estimator.basis
    is_named = isinstance(basis, str) and basis == "rbf"
    if is_named or (isinstance(basis, KernelBasis) and (basis.centers is None or basis.kernel == "precomputed")):
        raise AttributeError(
            "partial_fit needs candidates that are fixed in advance, and these are at the training rows. Use "
            'KernelBasis(centers=500), an array of centers, or basis="passthrough".'
        )
    return True


class Streaming(ABC):
    """Adds `partial_fit` to an estimator that can check rows (`_checked_rows`) and select on a design (`_select`)."""

    fit_intercept: bool

    @abstractmethod
    def _checked_rows(self, X: Any, y: Any, sample_weight: Any, *, is_first: bool = True) -> tuple[Training, bool, Any]: ...

    @abstractmethod
    def _select(self, criterion: Any, limits: Any, candidates: Any, design: Any, one_output: bool, rows: Training) -> None: ...

    @abstractmethod
    def _learning(self) -> dict[str, Any]: ...

    @abstractmethod
    def _limits(self) -> Any: ...

    @abstractmethod
    def _criterion(self) -> Any: ...

    @available_if(_has_fixed_candidates)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Add a batch of rows, of which only the moments are kept: memory does not grow with the stream.

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
        limits, criterion = self._limits(), self._criterion()
        with blas_threads(1):
            stream, one_output, rows = self._absorbed(X, y, sample_weight)
            self._select(criterion, limits, stream.candidates, stream, one_output, rows)
        return self

    def _absorbed(self, X: Any, y: Any, sample_weight: Any) -> tuple[StreamDesign, bool, Training]:
        """The stream with one more batch, and rows that stand for all."""
        stream: StreamDesign | None = getattr(self, "_stream", None)
        if stream is None and hasattr(self, "posterior_"):
            raise ValueError(
                "fit does not keep what partial_fit would go on from: begin with partial_fit on the first rows, or on a clone."
            )
        forgetting = float(getattr(self, "forgetting", 1.0))
        if not 0.0 < forgetting <= 1.0:
            raise ValueError(f"forgetting must be above 0 and at most 1 (never), got {forgetting!r}.")
        rows, one_output, basis = self._checked_rows(X, y, sample_weight, is_first=stream is None)
        if stream is None:
            targets = rows.targets[:, 0] if one_output else rows.targets
            candidates = fit_basis(basis, rows.X, targets, rows.weights, **self._learning())
            stream = StreamDesign(candidates, rows.targets.shape[1], fit_intercept=self.fit_intercept)
        elif stream.n_outputs != rows.targets.shape[1]:
            raise ValueError(f"y has {rows.targets.shape[1]} outputs, the batches before it {stream.n_outputs}.")
        stream.absorb(*rows, forgetting)
        self._stream = stream
        return stream, one_output, Augmentation.joined(getattr(self, "_augmentation_rows", None), rows, forgetting)

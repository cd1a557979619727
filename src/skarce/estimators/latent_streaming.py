"""`partial_fit` for latent functions with fixed candidates: earlier batches are kept as a quadratic in the weights."""

from __future__ import annotations

import time
from copy import copy
from typing import Any

from skarce._atomic import become
from skarce._parallel import blas_threads
from skarce._progress import shown
from skarce.designs import LatentStream, Rows
from skarce.estimators.base import SEEN, Prepared
from skarce.estimators.latent import LatentEstimator
from skarce.estimators.streaming import check_landmarks, check_same_intercept, worth_of_batch

TOO_LARGE = (
    "partial_fit can continue after fit only if fit kept a quadratic in the weights of all candidates, which it does for few "
    "candidates and rows. Begin with partial_fit."
)


class LatentStreaming(LatentEstimator):
    """Adds what `partial_fit` needs to an estimator of latent functions by `SparseLatent`."""

    _stream: LatentStream | None = None

    def _check_streaming(self) -> None:
        """Nothing more is needed than fixed candidates."""

    def _remember(self, prepared: Prepared) -> None:
        can_stream = hasattr(self, "partial_fit")
        self._stream = prepared.design.latent_stream(self._likelihood(), self._posteriors()) if can_stream else None

    def _absorb(self, X: Any, y: Any, sample_weight: Any, **known: Any) -> Any:
        """Fit the batch next to what is left of earlier ones, and become that model. The checks get what else is known."""
        started = time.monotonic()
        self._check_limits()
        method, stream = self._method(), self._stream
        if stream is None and hasattr(self, "posterior_"):
            raise ValueError(TOO_LARGE)
        check_same_intercept(self, stream)
        probe, worth = copy(self), worth_of_batch(self)  # with the names and the number of features of earlier batches
        with shown(self.verbose), blas_threads(1):
            rows = worth.of_dependent(self._checked_rows(probe, X, y, sample_weight, is_first=stream is None, **known))
            stream = self._begun(probe, X, rows) if stream is None else stream
            design = stream.with_batch(rows)
            seen = {name: getattr(probe, name) for name in SEEN if hasattr(probe, name)}
            fitted = self._fitted_on(Prepared(design, design.problems(self._likelihood()), seen), method, started)
        return become(self, fitted)

    def _begun(self, probe: Any, X: Any, rows: Rows) -> LatentStream:
        """Return a stream without rows. All that a basis learns comes from the first batch."""
        candidates = self._recipe(probe, X, self._method(), worth_of_batch(self)).candidates(rows)
        check_landmarks(self.basis, candidates)
        return LatentStream(candidates, rows.targets.shape[1], fit_intercept=self.fit_intercept)

r"""The uncertainty of a sparse model away from its functions, mended by one more function at the query point.

Rasmussen and Quinonero-Candela (2005): with a function :math:`k(\cdot, x_*)` of prior weight variance :math:`1/\alpha_*`
beside the model's own, the predictive variance at :math:`x_*` grows by

.. math:: \frac{e_*^2}{\alpha_* + s_*}, \quad e_* = k_{**} - \varphi_*^T H^{-1}\Phi^Tk_*, \quad s_* = \sigma^{-2}\,k_*^TPk_*,

where :math:`k_*` is the new function at the training rows. Near the data :math:`s_*` is large and nothing changes; far away
:math:`e_*\to k_{**}` and :math:`s_*\to 0`, and the whole prior variance is added. The prior variance is that of the signal:
what the model explains of the target. The predicted mean is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skarce._linalg import solve_lower
from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.posteriors.posterior import Posterior

KEPT_ROWS = 1000  # training rows kept with a model; of more, a random sample stands for all with larger weights


@dataclass(frozen=True)
class Augmentation:
    """Training rows that tell where the data are, with their weights."""

    X: Floats
    weights: Floats

    @staticmethod
    def rows_of(candidates: Any, X: Any, weights: Floats | None, random_state: Any) -> tuple[Floats, Floats] | None:
        """The rows to keep: all up to `KEPT_ROWS`, else a sample; None where the basis has no function at a query point."""
        if not isinstance(candidates, KernelBasis) or candidates.kernel == "precomputed":
            return None
        if weights is None and len(X) <= KEPT_ROWS:
            return X.copy(), np.ones(len(X))
        weights = np.ones(len(X)) if weights is None else weights
        rows = np.flatnonzero(weights > 0.0)
        if len(rows) > KEPT_ROWS:
            rng = check_random_state(0 if random_state is None else random_state)
            rows = np.sort(rng.choice(rows, KEPT_ROWS, replace=False))
        kept = weights[rows]
        return X[rows], kept * (weights.sum() / kept.sum())

    @staticmethod
    def joined(kept: tuple[Floats, Floats] | None, rows: Any, forgetting: float) -> Any:
        """Rows of a stream: those kept so far, which count `forgetting` times as much, and a new batch."""
        if kept is None:
            return rows
        weights = np.ones(len(rows.X)) if rows.weights is None else rows.weights
        return rows._replace(X=np.vstack([kept[0], rows.X]), weights=np.concatenate([forgetting * kept[1], weights]))

    def extra_variance(self, posterior: Posterior, basis: KernelBasis, X: Floats, phi: Floats) -> Floats:
        """What one more function at each row of X adds to the predictive variance there."""
        n_active = len(posterior.active)
        own = basis.on(self.X).columns(np.arange(n_active)) - posterior.center
        kernel = basis.make_kernel()
        new = np.empty((len(self.X), len(X)), dtype=X.dtype)
        kernel.fill(kernel.prepare_rows(self.X.astype(X.dtype, copy=False)), kernel.prepare_centers(X), new)
        new = new.astype(np.float64, copy=False)
        at_query = kernel.diagonal(X)
        if posterior.fit_intercept:
            means = self.weights @ new / self.weights.sum()
            new -= means
            at_query = at_query - means
        cross = solve_lower(posterior.factor, own.T @ (self.weights[:, None] * new))
        rest = solve_lower(posterior.factor, np.ascontiguousarray((phi - posterior.center).T))
        error = at_query - np.einsum("ai,ai->i", rest, cross)
        energy = np.einsum("ni,ni,n->i", new, new, self.weights)
        left = np.maximum(energy - np.einsum("ai,ai->i", cross, cross), 0.0)
        signal = self._signal_variance(posterior, own)
        if signal == 0.0 or posterior.noise_variance == 0.0:
            return np.zeros(len(X))
        with np.errstate(divide="ignore"):
            precision = np.maximum(kernel.diagonal(X), 1e-300) / signal
        return error**2 / (precision + left / posterior.noise_variance)

    def _signal_variance(self, posterior: Posterior, own: Floats) -> float:
        fitted = own @ posterior.mean
        return float(self.weights @ fitted**2 / self.weights.sum())

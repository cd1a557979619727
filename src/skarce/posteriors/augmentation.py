r"""Larger uncertainty away from the data: one more function at the query point.

A sparse model is too sure of itself far from its functions. Rasmussen and Quinonero-Candela (2005) add a function
:math:`k(\cdot, x_*)` with prior weight variance :math:`1/\alpha_*` to the model. The predictive variance at :math:`x_*` grows by

.. math:: \frac{e_*^2}{\alpha_* + s_*}, \quad e_* = k_{**} - \varphi_*^T H^{-1}\Phi^Tk_*, \quad s_* = \sigma^{-2}\,k_*^TPk_*,

where :math:`k_*` is the new function at the training rows. Near the data :math:`s_*` is large and nothing changes. Far away
:math:`e_*\to k_{**}` and :math:`s_*\to 0`, and the whole prior variance is added. The prior variance is the variance of the
signal, which is the part of the target that the model explains. The predicted mean does not change.
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

KEPT_ROWS = 1000  # training rows kept with a model; if there are more, a random sample with larger weights represents them


@dataclass(frozen=True)
class Augmentation:
    """Training rows that show where the data are.

    Attributes
    ----------
    X : ndarray of shape (n_kept, n_features)
        The rows, at most `KEPT_ROWS`.
    weights : ndarray of shape (n_kept,)
        The weight of each row. The sum equals that of all training rows, also if only a sample is kept.
    """

    X: Floats
    weights: Floats

    @staticmethod
    def rows_of(candidates: Any, X: Any, weights: Floats | None, random_state: Any) -> tuple[Floats, Floats] | None:
        """Return the rows to keep and their weights: all rows, or a sample if there are more than `KEPT_ROWS`.

        Returns None if the basis cannot place a function at a query point, or if there are no rows.
        """
        if not isinstance(candidates, KernelBasis) or candidates.kernel_ == "precomputed" or not len(X):
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
        """Return the rows of a stream: those kept so far, with weights multiplied by `forgetting`, and the new batch."""
        if kept is None:
            return rows
        weights = np.ones(len(rows.X)) if rows.weights is None else rows.weights
        return rows._replace(X=np.vstack([kept[0], rows.X]), weights=np.concatenate([forgetting * kept[1], weights]))

    def extra_variance(self, posterior: Posterior, basis: KernelBasis, X: Floats, phi: Floats) -> Floats:
        """Return what one more function at each row of X adds to the predictive variance of that row.

        Parameters
        ----------
        posterior : Posterior
            The model.
        basis : KernelBasis
            The active candidates of the model.
        X : ndarray of shape (n_queries, n_features)
            The query points.
        phi : ndarray of shape (n_queries, n_active)
            The active candidates at the query points.
        """
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
        # Both terms of the denominator are zero if the new function is: k(x, x) of a linear kernel at the origin. It adds nothing.
        denominator = kernel.diagonal(X) / signal + left / posterior.noise_variance
        return np.divide(error**2, denominator, out=np.zeros(len(X)), where=denominator != 0.0)

    def _signal_variance(self, posterior: Posterior, own: Floats) -> float:
        fitted = own @ posterior.mean
        return float(self.weights @ fitted**2 / self.weights.sum())

"""Generalized cross validation with one ridge on the orthogonalized weights (Orr's package for radial basis functions)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skarce._linalg import solve_lower
from skarce._typing import Floats, Indices
from skarce.criteria.one_ridge import OrthogonalFit
from skarce.criteria.published_gcv import PublishedGCV
from skarce.criteria.shared_gcv import check_ridge, first_ranking, first_ridge, gain_of, quotient
from skarce.criteria.without_ridges import independent_candidates, independent_start
from skarce.moments import Moments
from skarce.states.members import Members
from skarce.states.state import State, left_of, resolved_energy


@dataclass(frozen=True)
class OrthogonalGCV(PublishedGCV):
    r"""Generalized cross validation with one ridge on the weights of the orthogonalized functions; smaller is better.

    The penalty depends on the order in which functions entered. So functions cannot leave, and the search must be `Forward`.

    Parameters
    ----------
    ridge : "gcv" or float, default="gcv"
        With ``"gcv"``, every set has the ridge of smallest GCV. A number fixes the ridge, in the units of phi'phi, the sum of a
        candidate's squares over the rows. (With an intercept, the mean of the candidate is subtracted first.)

    See Also
    --------
    skarce.RegularizedForwardRegressor : The estimator that uses this criterion with ``penalize="orthogonal"``.
    SharedGCV : The same with a ridge on the weights themselves.
    ExplainedVariance : The same without a ridge.

    Notes
    -----
    The active functions are orthogonalized in the order in which they entered: :math:`\Phi = \tilde QU` with U unit upper
    triangular. The penalty is :math:`\lambda|Uw|^2`. Let :math:`p_j` be the squared norm of an orthogonalized function, which is
    its :math:`\gamma=\varphi^TP\varphi` when it enters. Let :math:`o_j` be its projection of the target, which is its
    :math:`r=\varphi^TPt` when it enters. Then

    .. math:: q = t^Tt - \sum_j o_j^2\frac{p_j+2\lambda}{(p_j+\lambda)^2}, \qquad v = n - \sum_j\frac{p_j}{p_j+\lambda}.

    The functions stay orthogonal at any ridge, so the state has no ridges. Its Cholesky factor is :math:`L = U^TD^{1/2}` with
    :math:`D = \operatorname{diag}p`, and the best ridge follows from p and o alone.

    References
    ----------
    .. [1] Orr, M. J. L. (1995b). Regularization in the selection of radial basis function centres. Neural Computation 7, 606-623.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import OrthogonalGCV
    >>> from skarce.searches import Forward
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", OrthogonalGCV(), Forward()).fit(X, y).active_
    array([1, 3])
    """

    ridge: float | str = "gcv"

    allows_removal: ClassVar[bool] = False
    has_final_penalty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_ridge(self.ridge)

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Return as many of these functions as are independent. No ridge enters the state."""
        return independent_start(moments, members)

    def ranking(self, state: State) -> Floats:
        """Return V without a candidate over V with it, at the ridge of the set. It is above 1 exactly if adding helps."""
        if self.ridge == "gcv" and not len(state):
            return first_ranking(state)
        usable = np.flatnonzero(independent_candidates(state))
        ranking = np.zeros(state.moments.n_candidates)
        fit = _fit(state, len(state))
        ranking[usable] = _improvement(state, usable, fit, self._ridge_of(fit))
        ranking[state.active] = 0.0
        return ranking

    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        """Return no ridge, because the state has none, and the gain at the ridge of the set."""
        fit = _fit(state, len(state))
        ridge = self._ridge_of(fit) if len(state) or self.ridge != "gcv" else first_ridge(state, candidate)
        return 0.0, gain_of(_improvement(state, candidate, fit, ridge), state.moments.n_samples)

    def state_score(self, state: State) -> float:
        """Return the score at the best ridge, because the state has no ridges."""
        fit = _fit(state, len(state))
        return fit.score(self._ridge_of(fit))

    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        raise TypeError(
            "the penalty on orthogonalized weights depends on the order of entry, so functions cannot leave: use Forward."
        )

    def penalty(self, state: State, size: int) -> tuple[Floats, Floats]:
        """Return the ridges of the first `size` functions, and the matrix U that maps their weights to the orthogonalized ones."""
        lower = state.cholesky[:size, :size]
        return np.full(size, self._ridge_of(_fit(state, size))), (lower / lower.diagonal()).T

    def _ridge_of(self, fit: OrthogonalFit) -> float:
        if not isinstance(self.ridge, str):
            return float(self.ridge)
        return fit.best_ridge() if len(fit.squared_norms) else np.inf


def _fit(state: State, size: int) -> OrthogonalFit:
    """Return the fit of the first `size` functions. p is the squared diagonal of the Cholesky factor."""
    lower = state.cholesky[:size, :size]
    explained = solve_lower(lower, state.moments.projections[state.active[:size]])
    roots = lower.diagonal()
    unexplained = left_of(resolved_energy(state.moments), explained)
    return OrthogonalFit(roots**2, explained * roots, unexplained, state.moments.n_samples)


def _improvement(state: State, where: Any, fit: OrthogonalFit, ridge: float) -> Any:
    """Return V over V with one more candidate, which has p = gamma and o = r."""
    length, projection = state.leftover[where], state.alignment[where]
    total = length + ridge
    residual, freedom = fit.residual(ridge), fit.freedom(ridge)
    explained = (projection / total) ** 2 * (total + ridge)
    return quotient(residual, residual - explained, freedom, freedom - length / total, fit.n_samples)

"""Generalized cross validation with one ridge for all weights (Orr 1995b, regularized forward selection)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skarce._parameters import as_number
from skarce._scales import check_parameter
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.criteria.ceilings import most_gcv
from skarce.criteria.one_ridge import NO_FREEDOM, SEARCHED, OrthogonalFit
from skarce.criteria.published_gcv import PublishedGCV
from skarce.moments import Moments
from skarce.states.shared_set import SharedSet
from skarce.states.state import DEPENDENT, Quantities, State, resolved_energy

STILL = 0.01  # a ridge that would move by less than this share stays
PER_DOUBLING = 128  # the ridge is estimated again after every addition, or about this often while the number of functions doubles
FEW, SCAN_EVERY = 32, 16  # all ridges are compared for models of at most 32 functions, then for every 16th size,
SCANS = 8  # and for larger models this many times while the number of functions doubles
FARTHEST = 1.5  # the nearest minimum of V is within this distance in the logarithm of the ridge, or all ridges are compared
FIRST_STEP, NEARBY, MOST_STEPS = 0.05, 1e-3, 8  # the first and the last step of the secant method, in the same logarithm
NONE_LEFT = 1e-15  # the smallest share of q that counts; rounding may leave less


class FineFit(OrthogonalFit):
    """A fit to quantities without rounding errors, for which smaller ridges make a difference."""

    searched: ClassVar[tuple[float, float]] = (0.1 * SEARCHED[0], SEARCHED[1])


def check_ridge(ridge: Any) -> None:
    """Raise a ValueError if a ridge is neither "gcv" nor a finite number of at least 0."""
    is_rule = isinstance(ridge, str) and ridge == "gcv"
    if not (is_rule or 0.0 <= as_number(ridge) < np.inf):
        raise ValueError(f'ridge must be "gcv", or a finite number of at least 0 in the units of phi\'phi; got {quoted(ridge)}.')
    if not is_rule:
        check_parameter("ridge", ridge, float(ridge))


def first_ranking(state: State) -> Floats:
    """Return n kappa with kappa = o^2 / (t't p). In an empty set, each candidate is at its own best ridge (FGCV errata 2.4)."""
    usable = state.leftover > 0.0
    ratio = state.alignment**2 * (state.moments.n_samples / state.energy)
    ratio /= np.where(usable, state.leftover, np.inf)
    return ratio


def first_ridge(state: State, candidate: int) -> float:
    """Return the ridge of smallest V for one candidate alone.

    It is p (t't p - o^2) / (n o^2 - t't p), within the range that is searched.
    """
    length, projected = float(state.leftover[candidate]), float(state.alignment[candidate]) ** 2
    lowest, highest = (bound * length for bound in SEARCHED)
    surplus = state.moments.n_samples * projected - state.energy * length
    if not surplus > 0.0:
        return highest
    return min(max(length * (state.energy * length - projected) / surplus, lowest), highest)


def gain_of(improvement: float, n_samples: float) -> float:
    """Return the gain n/2 log(V / V after) from the ratio V / V after."""
    return 0.5 * n_samples * float(np.log(improvement)) if improvement > 0.0 else -np.inf


@dataclass(frozen=True)
class SharedGCV(PublishedGCV):
    r"""Generalized cross validation with one ridge for all weights; smaller is better.

    Parameters
    ----------
    ridge : "gcv" or float, default="gcv"
        With ``"gcv"``, the ridge moves to the smallest GCV after every addition or removal. (With 256 functions or more it
        does so less often, to save time.) A number fixes the ridge, in the units of phi'phi, the sum of a candidate's squares over
        the rows. (With an intercept, the mean of the candidate is subtracted first.)

    See Also
    --------
    skarce.RegularizedForwardRegressor : The estimator that uses this criterion with `Forward`.
    OrthogonalGCV : The same with a ridge on the orthogonalized weights.
    GCV : GCV with one ridge per weight.
    SharedEvidence : The evidence with one precision for all weights.

    Notes
    -----
    The criterion is :math:`V = Nq/v^2` with :math:`q = t^TP^2t` and :math:`v = \operatorname{tr}P`. At the present ridge
    :math:`\lambda`, one more candidate changes q and v as in `GCV`, with :math:`x = 1/(\gamma+\lambda)`:

    .. math:: q' = q - 2\,r\,\xi\,x + u\,r^2x^2, \qquad v' = v - u\,x .

    Here :math:`\gamma=\varphi^TP\varphi`, :math:`r=\varphi^TPt`, :math:`u=\varphi^TP^2\varphi` and :math:`\xi=\varphi^TP^2t`. After
    an addition the ridge moves to the minimum of V for the set. In terms of the eigenvectors of the active block, this is a problem
    in one dimension.

    References
    ----------
    .. [1] Orr, M. J. L. (1995b). Regularization in the selection of radial basis function centres. Neural Computation 7, 606-623.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import SharedGCV
    >>> from skarce.searches import Forward
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", SharedGCV(), Forward()).fit(X, y).active_
    array([1, 3])
    """

    ridge: float | str = "gcv"

    needs_squares: ClassVar[bool] = True
    shares_ridge: ClassVar[bool] = True
    has_final_penalty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_ridge(self.ridge)

    def new_state(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> State:
        """Return a state that makes changes of the ridge cheap if the ridge moves and the rows are available."""
        if self.ridge == "gcv" and SharedSet.is_possible(moments):
            return SharedSet(moments, active, ridges)
        return super().new_state(moments, active, ridges)

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Return all of these functions, at the ridge of smallest V."""
        ridge = self.ridge
        if isinstance(ridge, str):
            gram, projections = moments.gram.block(members, members), moments.projections[members]
            ridge = OrthogonalFit.of_block(gram, projections, resolved_energy(moments), moments.n_samples).best_ridge()
        return members, np.full(len(members), float(ridge))

    def ranking(self, state: State) -> Floats:
        """Return V without a candidate over V with it. It is above 1 exactly if adding helps."""
        if self.ridge == "gcv" and not len(state):
            return first_ranking(state)
        others = state.others()
        usable = others.at(np.flatnonzero(others.remainder > DEPENDENT * state.moments.gram.diagonal[others.where]))
        ranking = np.zeros(state.moments.n_candidates)
        ranking[usable.where] = _improvement(state, usable, self._ridge_of(state, -1))
        ranking[state.active] = 0.0
        return ranking

    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        ridge, others = self._ridge_of(state, candidate), state.others()
        one = others.at(np.searchsorted(others.where, candidate))
        return ridge, gain_of(_improvement(state, one, ridge), state.moments.n_samples)

    def state_score(self, state: State) -> float:
        """Return -n/2 log(q / v^2) of the state."""
        n = state.moments.n_samples
        return n * float(np.log(max(state.freedom, NO_FREEDOM * n)) - 0.5 * np.log(max(state.residual, NONE_LEFT * state.energy)))

    def settle(self, state: State) -> None:
        """Move the ridge of the state to the smallest V of the set. With few functions, do so after every step."""
        size = len(state)
        if self.ridge != "gcv" or not size or size % max(size // PER_DOUBLING, 1):
            return
        ridge = _ridge_nearby(state) if size > FEW and size % max(SCAN_EVERY, interval(size, SCANS)) else None
        if ridge is None:
            ridge = _global_ridge(state)
        if abs(ridge - state.ridges[0]) > STILL * ridge:
            state.keep(np.arange(size), np.full(size, ridge))

    def ceiling(self, moments: Moments, left: Floats, size: int) -> Floats:
        return most_gcv(left, moments.target_energy, moments.n_samples)

    def penalty(self, state: State, size: int) -> tuple[Floats, None]:
        """Return the best ridge for the first `size` functions alone. It penalizes the weights themselves."""
        if not isinstance(self.ridge, str):
            return np.full(size, float(self.ridge)), None
        first = state if size == len(state) else self.new_state(state.moments, state.active[:size], state.ridges[:size])
        return np.full(size, _global_ridge(first) if size else 0.0), None

    def _ridge_of(self, state: State, candidate: int) -> float:
        if not isinstance(self.ridge, str):
            return float(self.ridge)
        return float(state.ridges[0]) if len(state) else first_ridge(state, candidate)


def interval(size: int, per_doubling: int) -> int:
    """Return the distance of the sizes at which something is done this many times while the size doubles. It is a power of two."""
    return max(2 ** (size.bit_length() - 1) // per_doubling, 1)


def _global_ridge(state: State) -> float:
    """Return the ridge of smallest V among all ridges."""
    kind = FineFit if state.is_fine else OrthogonalFit
    fit = kind(*state.directions(), state.moments.n_samples)
    ridge = fit.best_ridge()
    # The lower bound rises with the set. A ridge that has been at the bound before stays.
    return min(ridge, float(state.ridges[0])) if ridge <= fit.bounds[0] else ridge


def _ridge_nearby(state: State) -> float | None:
    """Return the ridge at which V is stationary, by the secant method in its logarithm, or None if there is none nearby."""
    ridge = float(state.ridges[0])
    here, slope = float(np.log(ridge)), state.slope_at(ridge)
    if slope is None:
        return None
    if slope > 0.0 and ridge <= FineFit.searched[0] * float(state.squared_norms.sum()):
        return ridge  # it is at the lower end already
    start = here
    onward = here - float(np.copysign(FIRST_STEP, slope))
    for _ in range(MOST_STEPS):
        before, slope_before, here = here, slope, onward
        slope = state.slope_at(float(np.exp(here)))
        if slope is None or not (slope - slope_before) * (here - before) > 0.0:  # V must be convex here
            return None
        onward = here - slope * (here - before) / (slope - slope_before)
        if abs(onward - start) > FARTHEST:
            return None
        if abs(onward - here) < NEARBY:
            return float(np.exp(onward))
    return None


def _improvement(state: State, candidates: Quantities, ridge: float) -> Any:
    """Return V over V with one more candidate at x = 1/(gamma + lambda) (FGCV errata 2.3)."""
    x = 1.0 / (candidates.leftover + ridge)
    explained = candidates.alignment * x
    residual = state.residual + explained * (candidates.remainder * explained - 2.0 * candidates.overlap)
    freedom = state.freedom - candidates.remainder * x
    return quotient(state.residual, residual, state.freedom, freedom, state.moments.n_samples)


def quotient(residual: float, residual_after: Any, freedom: float, freedom_after: Any, n_samples: float) -> Any:
    """Return V over V after. It is 0, and the candidate is never chosen, if no freedom would be left."""
    share = np.where(freedom_after > NO_FREEDOM * n_samples, freedom_after / freedom, 0.0)
    return share**2 / np.maximum(residual_after / residual, NONE_LEFT)

"""Generalized cross validation with one ridge per weight (Sundararajan, Shevade and Keerthi; Orr 1995a)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce._linalg import symmetric_product
from skarce._parameters import as_number
from skarce._scales import check_parameter
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.criteria.ceilings import most_gcv
from skarce.criteria.criterion import Changes, CompiledRule, Criterion
from skarce.criteria.one_ridge import OneRidge, OrthogonalFit
from skarce.criteria.own_ridges import settle_ridges
from skarce.moments import Moments
from skarce.states.members import Members
from skarce.states.state import RIDGE_RANGE, State

NONE_LEFT = 1e-15  # the smallest share of q or v that counts; rounding may leave less


class Coordinate(NamedTuple):
    """The coefficients of V as a function of one ridge: numbers, or arrays with one entry per function.

    `GCV` explains a, b, c, delta, eps and psi in its notes.
    """

    a: Any
    b: Any
    c: Any
    delta: Any
    eps: Any
    psi: Any

    def helps(self) -> Any:
        """Tell whether the function belongs in the model at some ridge."""
        return self.delta * self.b > self.a * self.eps

    def best(self, lowest: Any) -> Any:
        """Return x at the smallest V if no ridge is below `lowest`. It is 0 if the function is better left out."""
        slope, curvature = self.delta * self.b - self.a * self.eps, self.delta * self.c - self.b * self.eps
        upper = np.divide(1.0, np.maximum(self.psi, 0.0) + lowest)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inside = np.where(curvature > 0.0, np.divide(slope, curvature), np.inf)
        return np.where(slope > 0.0, np.minimum(inside, upper), 0.0)

    def gain(self, x: Any, n_samples: float) -> Any:
        """Return the gain of having the function at x, compared with leaving it out."""
        fit = np.maximum((self.c * x - 2.0 * self.b) * x / self.a, NONE_LEFT - 1.0)
        freedom = np.maximum(-self.eps * x / self.delta, NONE_LEFT - 1.0)
        return n_samples * (np.log1p(freedom) - 0.5 * np.log1p(fit))


@dataclass(frozen=True)
class GCV(Criterion):
    r"""Generalized cross validation with one ridge per weight; smaller is better.

    Parameters
    ----------
    lowest_ridge : float, default=0.0
        No ridge is smaller than this number. It is in the units of phi'phi, the sum of a candidate's squares over the rows. (With
        an intercept, the mean of the candidate is subtracted first.) With 0 the data alone decide.

    See Also
    --------
    skarce.FastGCVRegressor : The estimator that uses this criterion.
    skarce.LocalRidgeRegressor : Orr's method for the full model.
    SharedGCV : GCV with one ridge for all weights.
    IndividualEvidence : The evidence with one precision per weight.

    Notes
    -----
    The criterion

    .. math:: V = N q / v^2, \qquad q = t^TP^2t, \quad v = \operatorname{tr}P

    contains no noise. Searches use the score :math:`-\frac n2\log(q/v^2)`, so that a gain has the units of a log evidence. Here n
    is N, or N - 1 with an intercept.

    As a function of one ridge :math:`\zeta`, V has a closed form ([1]_, eqs 9 to 15). With :math:`x=1/(\psi+\zeta)` and with
    :math:`P` of the model without the function,

    .. math::
        V(x) = N\frac{a - 2bx + cx^2}{(\delta - \varepsilon x)^2},\qquad
        a = t^TP^2t,\; b = (t^TP^2\varphi)(t^TP\varphi),\; c = \varepsilon(t^TP\varphi)^2,\;
        \delta = \operatorname{tr}P,\; \varepsilon = \varphi^TP^2\varphi,\; \psi = \varphi^TP\varphi .

    At x = 0 the function is left out. V falls from there exactly if :math:`\delta b > a\varepsilon`. It is smallest at
    :math:`x^* = (\delta b - a\varepsilon)/(\delta c - b\varepsilon)`, or at the upper end :math:`1/\psi`, where the ridge is zero.

    References
    ----------
    .. [1] Sundararajan, S., Shevade, S. and Keerthi, S. S. Fast generalized cross validation algorithm for sparse model learning.
    .. [2] Orr, M. J. L. (1995a). Local smoothing of radial basis function networks. Proceedings of the International Symposium on
       Neural Networks, Hsinchu, Taiwan.
    .. [3] Golub, G. H., Heath, M. and Wahba, G. (1979). Generalized cross-validation as a method for choosing a good ridge
       parameter. Technometrics 21, 215-223.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import GCV
    >>> from skarce.searches import BestAction
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", GCV(), BestAction()).fit(X, y).active_
    array([1, 3])
    """

    lowest_ridge: float = 0.0

    sense: ClassVar[int] = -1
    needs_squares: ClassVar[bool] = True
    has_own_ridges: ClassVar[bool] = True
    most_landmarks: ClassVar[int] = 750  # models are large if candidates are many, and take long

    def __post_init__(self) -> None:
        if not 0.0 <= as_number(self.lowest_ridge) < np.inf:
            raise ValueError(f"lowest_ridge must be a finite number of at least 0, got {quoted(self.lowest_ridge)}.")
        check_parameter("lowest_ridge", self.lowest_ridge, float(self.lowest_ridge))

    def ranking(self, state: State) -> Floats:
        """Return r xi / (u noise), which is above 1 exactly if adding helps (FGCV errata 2.2). If it helps, return 1 + the gain."""
        usable = state.remainder > state.dependent * state.moments.gram.diagonal
        ratio = state.alignment * state.overlap
        ratio *= state.freedom / state.residual
        ratio /= np.where(usable, state.remainder, np.inf)
        ratio[state.active] = 0.0
        helpful = np.flatnonzero(ratio > 1.0)
        if len(helpful):
            some = _inactive(state, helpful)
            x = some.best(self._lowest(state.moments.gram.diagonal[helpful]))
            ratio[helpful] = 1.0 + some.gain(x, state.moments.n_samples)
        return ratio

    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        one, diagonal = _inactive(state, candidate), float(state.moments.gram.diagonal[candidate])
        x = float(one.best(self._lowest(diagonal)))
        if not x > 0.0:
            return np.inf, 0.0
        ridge = min(max(1.0 / x - one.psi, self._lowest(diagonal)), RIDGE_RANGE[1] * diagonal)
        return ridge, float(one.gain(1.0 / (one.psi + ridge), state.moments.n_samples))

    def changes(self, members: Members, n_samples: float) -> Changes:
        each, now = _active(members, n_samples), members.spread()
        lowest = self._lowest(members.squared_norms)
        x = each.best(lowest)
        with np.errstate(divide="ignore"):
            ridges = np.where(x > 0.0, np.maximum(1.0 / x - each.psi, lowest), np.inf)
        too_large = ridges > RIDGE_RANGE[1] / now
        ridges[too_large], x[too_large] = np.inf, 0.0
        return Changes(ridges, each.gain(x, n_samples) - each.gain(now, n_samples))

    def settle(self, state: State) -> None:
        """Adjust the ridges after an addition or a removal."""
        settle_ridges(self, state)

    def ceiling(self, moments: Moments, left: Floats, size: int) -> Floats:
        return most_gcv(left, moments.target_energy, moments.n_samples)

    def compiled_rule(self) -> CompiledRule:
        return CompiledRule(lowest_ridge=self.lowest_ridge)

    def one_ridge(self) -> type[OneRidge]:
        return OrthogonalFit

    def score(self, members: Members, n_samples: float) -> float:
        residual, freedom = _fit(members, n_samples)
        return n_samples * float(np.log(freedom) - 0.5 * np.log(residual))

    def superfluous(self, members: Members, n_samples: float) -> NDArray[np.bool_]:
        return ~_active(members, n_samples).helps()

    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        return -_active(members, n_samples).gain(members.spread(), n_samples)[positions]

    def derivatives(self, members: Members, n_samples: float) -> tuple[Floats, Floats, Floats]:
        r"""Return the derivatives in :math:`\log\zeta`, with E = H^-1 - H^-1 Z H^-1 and k = H^-1 Z w.

        q_j = 2 zeta_j w_j k_j,  q_ij = delta_ij q_j - 2 zeta_i zeta_j (h_ij (w_i k_j + w_j k_i) - w_i w_j E_ij),
        v_j = zeta_j E_jj,  v_ij = delta_ij v_j - 2 zeta_i zeta_j h_ij E_ij.
        """
        residual, freedom = _fit(members, n_samples)
        ridges, weights, inverse = members.ridges, members.weights, members.inverse
        shrunk = inverse @ (ridges * weights)
        explained = inverse - symmetric_product(inverse, ridges)
        fit_first, freedom_first = 2.0 * ridges * weights * shrunk, ridges * explained.diagonal()
        # Large matrices are changed in place, because memory takes more time than arithmetic.
        freedom_second = -2.0 * np.multiply.outer(ridges, ridges)
        fit_second = np.multiply.outer(weights, shrunk)
        fit_second = fit_second + fit_second.T
        fit_second *= inverse
        fit_second -= np.multiply.outer(weights, weights) * explained
        fit_second *= freedom_second
        freedom_second *= inverse
        freedom_second *= explained
        fit_second.flat[:: len(ridges) + 1] += fit_first
        freedom_second.flat[:: len(ridges) + 1] += freedom_first
        fit_first, freedom_first = fit_first / residual, freedom_first / freedom
        curvature = _relative(fit_second, residual, fit_first)
        curvature *= 0.5
        curvature -= _relative(freedom_second, freedom, freedom_first)
        gradient = freedom_first - 0.5 * fit_first
        scale = np.maximum(0.5 * np.abs(fit_first) + freedom_first, 1e-300)
        return n_samples * gradient, n_samples * curvature, n_samples * scale

    def value(self, score: Any, n_samples: float, n_total: float, target_scale: float) -> Any:
        """Return V in the units of the squared target."""
        if n_samples <= 0.0:
            return np.full_like(score, np.nan)  # the intercept uses up the only row, and no degree of freedom is left to divide by
        return n_total * np.exp(-2.0 * score / n_samples) / target_scale**2

    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return q / v (FGCV, eq. 8)."""
        residual, freedom = _fit(members, n_samples)
        return residual / freedom

    def _lowest(self, scale: Any) -> Any:
        return np.maximum(RIDGE_RANGE[0] * scale, self.lowest_ridge)


def _relative(second: Floats, value: float, first: Floats) -> Floats:
    """Turn second derivatives into those of the logarithm, in place. `first` is divided by the value already."""
    second /= value
    second -= np.multiply.outer(first, first)
    return second


def _fit(members: Members, n_samples: float) -> tuple[float, float]:
    """Return q = t'P t - w'Z w and v = n - L + sum zeta_i h_ii."""
    penalty = float(members.ridges @ members.weights**2)
    freedom = n_samples - float((1.0 - members.ridges * members.spread()).sum())
    return max(members.energy - penalty, NONE_LEFT * members.energy), max(freedom, NONE_LEFT * n_samples)


def coordinate_outside(residual: float, freedom: float, alignment: Any, overlap: Any, remainder: Any, leftover: Any) -> Coordinate:
    """Return the coefficients for candidates outside the model, with P of the present model."""
    return Coordinate(residual, alignment * overlap, remainder * alignment**2, freedom, remainder, leftover)


def coordinate_inside(
    residual: float, freedom: float, weights: Any, ridges: Any, spread: Any, penalty: Any, shrunk: Any
) -> Coordinate:
    """Return the coefficients for active functions, each with P of the model without it (FGCV errata 2.6: no digits are lost).

    For function j, let h be column j of H^-1. Then `spread` is h_jj, `penalty` is h'Z h, and `shrunk` is (H^-1 Z w)_j.
    """
    # h_jj - h'Z h = |Phi h|^2 cannot be negative.
    eps = np.maximum(spread - penalty, 0.0) / spread**2
    overlap, alignment = shrunk / spread, weights / spread
    return Coordinate(
        a=residual + 2.0 * weights * overlap + eps * weights**2,
        b=alignment * (overlap + eps * weights),
        c=eps * alignment**2,
        delta=freedom + eps * spread,
        eps=eps,
        psi=np.maximum(1.0 / spread - ridges, 1e-16 / spread),
    )


def _inactive(state: State, where: Any) -> Coordinate:
    return coordinate_outside(
        state.residual, state.freedom, state.alignment[where], state.overlap[where], state.remainder[where], state.leftover[where]
    )


def _active(members: Members, n_samples: float) -> Coordinate:
    inverse, weights, ridges = members.inverse, members.weights, members.ridges
    return coordinate_inside(
        *_fit(members, n_samples),
        weights,
        ridges,
        members.spread(),
        penalty=ridges @ (inverse * inverse),
        shrunk=inverse @ (ridges * weights),
    )

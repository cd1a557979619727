"""Evidence with one precision per weight, with the noise profiled out or fixed (Tipping 2001; Tipping and Faul 2003)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skarce._linalg import outer, with_raised_diagonal
from skarce._parameters import as_number
from skarce._scales import check_parameter
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.criteria.ceilings import most_evidence
from skarce.criteria.criterion import Changes, CompiledRule, Criterion
from skarce.criteria.one_precision import EvidenceFit
from skarce.criteria.one_ridge import OneRidge
from skarce.criteria.own_ridges import settle_ridges
from skarce.moments import Moments
from skarce.states.members import Members
from skarce.states.state import RIDGE_RANGE, State

ALL_EXPLAINED = 1.0 - 1e-15


@dataclass(frozen=True)
class IndividualEvidence(Criterion):
    r"""Log evidence with one precision per weight; larger is better. This is the criterion of the relevance vector machine.

    Parameters
    ----------
    noise_variance : float, default=None
        The variance of the noise if it is known. With None, every model has its own best noise variance.

    See Also
    --------
    skarce.RelevanceVectorRegressor : The estimator that uses this criterion.
    SharedEvidence : The evidence with one precision for all weights.
    GCV : Generalized cross validation with one ridge per weight.

    Notes
    -----
    With :math:`a = t^TPt`, the best noise precision is :math:`N/a`. The profiled log evidence

    .. math:: L(\Lambda) = -\tfrac N2\log a - \tfrac12\log|I + \Phi\Lambda^{-1}\Phi^T| + \text{const}

    has the same joint maxima as the evidence of Tipping and Faul [2]_, but contains no noise. With a fixed noise variance
    :math:`\sigma^2`, the first term is :math:`-a/2\sigma^2` instead.

    As a function of one ridge :math:`\lambda`, the gain has a closed form. Let :math:`\psi=\varphi^TP\varphi` and
    :math:`o=\varphi^TPt`, both for the model without this function, and :math:`D=\psi+\lambda`. Then

    .. math::
        \text{gain} = -\tfrac N2\log\Bigl(1-\frac{o^2}{aD}\Bigr) + \tfrac12\log\frac\lambda D, \qquad
        \lambda^* = \psi\,\frac{1-\kappa}{N\kappa-1},\quad \kappa=\frac{o^2}{a\psi},

    if :math:`N\kappa>1`. Otherwise the function is better left out. This is the condition :math:`q^2 > s` of [2]_ at the
    best noise.

    References
    ----------
    .. [1] Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. Journal of Machine Learning Research 1,
       211-244.
    .. [2] Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian models. Proceedings of
       the Ninth International Workshop on Artificial Intelligence and Statistics.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import IndividualEvidence
    >>> from skarce.searches import BestAction
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", IndividualEvidence(), BestAction()).fit(X, y).active_
    array([1, 3])
    """

    noise_variance: float | None = None

    has_own_ridges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.noise_variance is not None and not 0.0 < as_number(self.noise_variance) < np.inf:
            raise ValueError(f"noise_variance must be positive and finite, or None to learn it; got {quoted(self.noise_variance)}.")

    def scaled(self, target_scale: float) -> Self:
        given = self.noise_variance
        if given is None:
            return self
        return replace(self, noise_variance=check_parameter("noise_variance", given, given * target_scale**2))

    def ranking(self, state: State) -> Floats:
        alignment, noise = state.alignment, self._noise(state.energy, state.moments.n_samples)
        # Active candidates, and candidates that depend on them, rank zero.
        usable = state.leftover > state.dependent * state.moments.gram.diagonal
        ratio = alignment * alignment
        ratio /= np.where(usable, state.leftover * noise, np.inf)
        ratio[state.active] = 0.0
        return ratio

    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        leftover, alignment = float(state.leftover[candidate]), float(state.alignment[candidate])
        n = state.moments.n_samples
        lowest, highest = (bound * state.moments.gram.diagonal[candidate] for bound in RIDGE_RANGE)
        ratio = alignment**2 / (leftover * self._noise(state.energy, n))
        if not ratio > 1.0:
            return np.inf, 0.0
        share = 1.0 if self.noise_variance is not None else max(1.0 - ratio / n, 0.0)
        ridge = min(max(leftover * share / (ratio - 1.0), lowest), highest)
        return ridge, float(self._gain(leftover, alignment, state.energy, ridge, n))

    def changes(self, members: Members, n_samples: float) -> Changes:
        spread, weights, ridges = members.spread(), members.weights, members.ridges
        # Without function j, psi = 1/h - lambda, o = w/h, and the energy is t'P t + w^2/h (FGCV errata 2.6: no digits are lost).
        leftover = (1.0 / spread) - ridges
        np.maximum(leftover, 1e-16 / spread, out=leftover)
        alignment = weights / spread
        energy = members.energy + weights * alignment
        ratio = alignment**2 / (leftover * self._noise(energy, n_samples))
        share = 1.0 if self.noise_variance is not None else np.maximum(1.0 - ratio / n_samples, 0.0)
        with np.errstate(over="ignore"):
            best = np.where(ratio > 1.0, leftover * share / np.maximum(ratio - 1.0, 1e-300), np.inf)
        scale = leftover + ridges
        best = np.maximum(best, RIDGE_RANGE[0] * scale)
        best[best > RIDGE_RANGE[1] * scale] = np.inf
        present = self._gain(leftover, alignment, energy, ridges, n_samples)
        return Changes(best, self._gain(leftover, alignment, energy, best, n_samples) - present)

    def settle(self, state: State) -> None:
        """Adjust the ridges after an addition or a removal."""
        settle_ridges(self, state)

    def ceiling(self, moments: Moments, left: Floats, size: int) -> Floats:
        return most_evidence(left, moments.target_energy, moments.n_samples, self.noise_variance)

    def compiled_rule(self) -> CompiledRule:
        return CompiledRule(noise_variance=self.noise_variance)

    def one_ridge(self) -> type[OneRidge]:
        return EvidenceFit

    def score(self, members: Members, n_samples: float) -> float:
        return self.score_bound(members.energy, members.log_determinant, n_samples)

    def score_bound(self, energy: float, log_determinant: float, n_samples: float) -> float:
        if self.noise_variance is not None:
            return -0.5 * (energy / self.noise_variance + log_determinant)
        return -0.5 * (n_samples * float(np.log(energy)) + log_determinant) if energy > 0.0 else np.inf

    def superfluous(self, members: Members, n_samples: float) -> NDArray[np.bool_]:
        # o^2 <= psi noise, multiplied by h^2: this needs no division, and is exact if lambda h is near one.
        spread, weights = members.spread(), members.weights
        effect = weights * weights / spread
        return effect <= self._noise(members.energy + effect, n_samples) * (1.0 - members.ridges * spread)

    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        spread, ridges = members.spread()[positions], members.ridges[positions]
        effect = members.weights[positions] ** 2 / spread
        if self.noise_variance is not None:
            return -0.5 * (effect / self.noise_variance + np.log(ridges * spread))
        return -0.5 * (n_samples * np.log1p(effect / members.energy) + np.log(ridges * spread))

    def derivatives(self, members: Members, n_samples: float) -> tuple[Floats, Any, Floats]:
        r"""Return the derivatives in :math:`\log\lambda`.

        With q = lambda h, u = sqrt(lambda) w, s = u^2/noise and T = sqrt(lambda lambda') o H^-1, they are
        gradient = (1 - q - s)/2 and -Hessian = diag(s + q)/2 - (u u'/noise) o T - T o T/2 - s s'/(2N). The last term is zero if the
        noise is fixed.
        """
        noise, inverse = self._noise(members.energy, n_samples), members.inverse_there
        root = np.sqrt(members.ridges)
        effect = root * members.weights
        strength = effect * effect / noise
        scale = strength + members.ridges * members.spread()
        relative = outer(root, root, like=inverse)
        relative *= inverse
        curvature = outer(effect / -noise, effect, like=inverse)
        curvature -= 0.5 * relative
        curvature *= relative
        if self.noise_variance is None:
            curvature -= outer(strength / (2.0 * n_samples), strength, like=inverse)
        return 0.5 - 0.5 * scale, with_raised_diagonal(curvature, 0.5 * scale), scale

    def value(self, score: Floats | float, n_samples: float, n_total: float, target_scale: float) -> Any:
        """Return the log density of the targets with all constants, from scores for the targets multiplied by `target_scale`."""
        if n_samples <= 0.0:
            return score  # the intercept uses up the only row, and nothing is left that has a density
        if self.noise_variance is not None:
            constant = -0.5 * n_samples * np.log(2.0 * np.pi * self.noise_variance)
        else:
            constant = -0.5 * n_samples * (np.log(2.0 * np.pi / n_samples) + 1.0)
        return score + constant + n_samples * np.log(target_scale)

    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return the fixed noise variance, or t'P t / N."""
        return self._noise(members.energy, n_samples)

    def _noise(self, energy: Any, n_samples: float) -> Any:
        return energy / n_samples if self.noise_variance is None else self.noise_variance

    def _gain(self, leftover: Any, alignment: Any, energy: Any, ridge: Any, n_samples: float) -> Any:
        """Return the gain of having a function at this ridge, compared with leaving it out. It is 0 at an infinite ridge."""
        total = leftover + ridge
        explained = alignment**2 / total
        shrunk = -0.5 * np.log1p(leftover / ridge)  # log(lambda / D) without a difference
        if self.noise_variance is not None:
            return 0.5 * explained / self.noise_variance + shrunk
        # In an exact fit, rounding may make the explained energy larger than the whole.
        return -0.5 * n_samples * np.log1p(-np.minimum(explained / energy, ALL_EXPLAINED)) + shrunk

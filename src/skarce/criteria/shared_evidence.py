"""Evidence with one precision for all weights, with the widths of its maximum (Barrio, Romero and Belanche)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skarce._parameters import as_number, check_choice
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.criteria.ceilings import most_evidence
from skarce.criteria.criterion import Criterion
from skarce.criteria.one_precision import EvidenceFit
from skarce.criteria.shared_gcv import first_ranking, first_ridge
from skarce.moments import Moments
from skarce.states.eigen_set import EigenSet
from skarce.states.members import Members
from skarce.states.state import State

REESTIMATES = ("tight", "paper")
# The initial values of the paper, for a target of unit variance: alpha = 1e-3, beta = 10.
FIRST_RIDGE, FIRST_NOISE = 1e-4, 0.1
FEW = 32  # up to this many functions, the best ridge is found again after each step
LAG = 2e-4  # how wrong the log evidence may be if a ridge is held: it comes from derivatives in the logarithm of the ridge
HELD, MOST_MOVES = 0.1, 4  # how far the logarithm of a held ridge may be from its best value; how often it moves in one step


@dataclass(frozen=True)
class SharedEvidence(Criterion):
    r"""Log evidence with one precision for all weights; larger is better.

    Parameters
    ----------
    reestimate : {"tight", "paper"}, default="tight"
        How to estimate the two precisions (of the weights and of the noise) when the set changes. ``"tight"`` takes the values of
        largest evidence, so that the evidence depends on the set alone. ``"paper"`` iterates the updates of the paper, from the
        values of the previous set.
    eps : float, default=0.1
        When the iterations of ``"paper"`` stop: both precisions move by less than `eps` times the width of the maximum. Used only
        with ``reestimate="paper"``.

    See Also
    --------
    skarce.EvidenceSearchRegressor : The estimator that uses this criterion.
    IndividualEvidence : The evidence with one precision per weight.
    SharedGCV : GCV with one ridge for all weights.

    Notes
    -----
    Let :math:`\lambda = \alpha/\beta` and :math:`a = t^TPt`, and let :math:`\gamma = \operatorname{tr}(I - P)` be the number of
    well-determined weights. Eq. (4) of [1]_ is

    .. math::
        \log P(t|A) = -\tfrac12\Bigl[n\log\frac{2\pi}{\beta} + \log\Bigl|I + \frac{\Phi\Phi^T}{\lambda}\Bigr| + \beta a
            - \log\frac2\gamma - \log\frac2{n-\gamma}\Bigr] .

    The last two terms stand for the widths of the maximum over :math:`\log\alpha` and :math:`\log\beta`. As printed, they would
    reward a model without bound for explaining nothing or everything. Therefore :math:`\max(\gamma, 1)` and
    :math:`\max(n-\gamma, 1)` replace :math:`\gamma` and :math:`n-\gamma` here.

    One more candidate, or one function less, changes the log evidence at the :math:`\alpha` and :math:`\beta` of the set by

    .. math::
        2\Delta_{+k} &= -\log(1 + \gamma_k/\lambda) + \beta r_k^2/(\gamma_k+\lambda)
            + \text{widths}(\gamma + u_k/(\gamma_k+\lambda)) \\
        2\Delta_{-i} &= -\beta w_i^2/h_i - \log(\lambda h_i) + \text{widths}(\gamma - 1 + \lambda h^{(2)}_i/h_i)

    (SSGE errata 3.1, 4, 5.1). Here :math:`\gamma_k=\varphi_k^TP\varphi_k`, :math:`r_k=\varphi_k^TPt`,
    :math:`u_k=\varphi_k^TP^2\varphi_k`, :math:`h=\operatorname{diag}H^{-1}` and :math:`h^{(2)}=\operatorname{diag}H^{-2}`. The
    paper's :math:`R_k` is :math:`(\gamma_k - u_k)/\lambda` over :math:`\beta^2`, and drops out of :math:`\gamma_{+k}`.

    References
    ----------
    .. [1] Barrio, I., Romero, E. and Belanche, L. Search strategies guided by the evidence for the selection of basis functions in
       regression.
    .. [2] MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4, 415-447.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import SharedEvidence
    >>> from skarce.searches import Floating
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", SharedEvidence(), Floating()).fit(X, y).active_
    array([1, 3])
    """

    reestimate: str = "tight"
    eps: float = 0.1

    needs_squares: ClassVar[bool] = True
    shares_ridge: ClassVar[bool] = True
    most_landmarks: ClassVar[int] = 700  # each step finds all eigenvectors of the active block again
    remark: ClassVar[str] = "eq. (4) of Barrio et al., which has two more terms than the evidence of other methods"

    def __post_init__(self) -> None:
        check_choice("reestimate", self.reestimate, REESTIMATES)
        if not as_number(self.eps) > 0.0:
            raise ValueError(f"eps must be positive, got {quoted(self.eps)}.")

    @property
    def has_final_penalty(self) -> bool:  # type: ignore[override]
        """Whether the ridge of the final model is found again, because it may have been held."""
        return self.reestimate == "tight"

    def new_state(self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None) -> State:
        """Return an `EigenSet`, in which a change of the ridge costs almost nothing."""
        return EigenSet(moments, active, ridges)

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Return all of these functions, at a first ridge that is estimated again later."""
        return members, np.full(len(members), FIRST_RIDGE)

    def ranking(self, state: State) -> Floats:
        """Return 1 + gain, or 1 / (1 - gain) if the gain is negative.

        In an empty set, rank candidates by what each explains alone (errata 3.8).
        """
        if not len(state):
            return first_ranking(state)
        usable = np.flatnonzero(state.remainder > state.dependent * state.moments.gram.diagonal)
        ranking = np.zeros(state.moments.n_candidates)
        gains = self._addition_gains(state, usable)
        ranking[usable] = np.where(gains > 0.0, 1.0 + gains, 1.0 / (1.0 - np.minimum(gains, 0.0)))
        ranking[state.active] = 0.0
        return ranking

    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        if len(state):
            return float(state.ridges[0]), float(self._addition_gains(state, candidate))
        n, energy = state.moments.n_samples, state.energy
        ridge, leftover = first_ridge(state, candidate), float(state.leftover[candidate])
        share = float(state.alignment[candidate]) ** 2 / (energy * (leftover + ridge))
        gain = -n * np.log1p(-min(share, 1.0 - 1e-15)) - np.log1p(leftover / ridge) + _widths(0.0, leftover / (leftover + ridge), n)
        return ridge, 0.5 * float(gain)

    def removal_gains(self, members: Members, positions: Indices, n_samples: float) -> Floats:
        members = members.at_best_ridge()
        ridges, weights, spread = (each[positions] for each in (members.ridges, members.weights, members.spread()))
        squared = members.squared_spread()
        fit = -(weights**2) / (spread * self.noise_at(members, n_samples)) - np.log(ridges * spread)
        return 0.5 * (fit + _widths(members.well_determined(), ridges * squared[positions] / spread - 1.0, n_samples))

    def settle(self, state: State) -> None:
        """Estimate the two precisions of the set again. The state holds them as ridge and noise.

        In larger sets, a ridge that is near its best value is held for some steps, because that makes them much cheaper. The score
        and the final model are those of the best value.
        """
        size = len(state)
        if not size or (self.reestimate == "tight" and _ridge_is_near(state)):
            state.noise = None
            return
        fit = EvidenceFit(*state.directions(), state.moments.n_samples)
        if self.reestimate == "tight":
            ridge, noise = fit.best_ridge(), None
        else:
            variance = state.moments.target_energy / state.moments.n_samples
            first = (FIRST_RIDGE, FIRST_NOISE * variance) if state.noise is None else (float(state.ridges[0]), state.noise)
            ridge, noise = fit.reestimated(*first, self.eps)
        if ridge != state.ridges[0]:
            state.keep(np.arange(size), np.full(size, ridge))
        state.noise = noise
        if self.reestimate == "tight" and size > FEW:
            state.hold()

    def state_score(self, state: State) -> float:
        """Return eq. (4) at the best ridge. If the ridge is held, the difference comes from derivatives."""
        score, slopes = super().state_score(state), state.held_slopes()
        if slopes is None or not slopes.has_minimum_nearby:
            return score
        n = state.moments.n_samples
        return score + slopes.missing + 0.5 * float(_widths(n - state.freedom, -slopes.more_freedom, n))

    def penalty(self, state: State, size: int) -> tuple[Floats, None]:
        """Return the best ridge for the first `size` functions alone, or the ridge of the state if the paper's rule found it."""
        if not (size and self.has_final_penalty):
            return state.ridges[:size].copy(), None
        first = self.new_state(state.moments, state.active[:size], state.ridges[:size])
        return np.full(size, EvidenceFit(*first.directions(), state.moments.n_samples).best_ridge()), None

    def score(self, members: Members, n_samples: float) -> float:
        """Return eq. (4) with all constants, for the scaled target."""
        if not n_samples > 0.0:
            return 0.0
        noise = self.noise_at(members, n_samples)
        likelihood = n_samples * np.log(2.0 * np.pi * noise) + members.log_determinant + members.energy / noise
        determined = members.well_determined()
        return -0.5 * float(likelihood + np.log(0.5 * max(determined, 1.0)) + np.log(0.5 * max(n_samples - determined, 1.0)))

    def ceiling(self, moments: Moments, left: Floats, size: int) -> Floats:
        """Return bounds on eq. (4). The product of its two widths is at least (n - 1) / 4, whatever gamma is."""
        n = moments.n_samples
        constant = n * (np.log(2.0 * np.pi / n) + 1.0) + np.log(0.25 * max(n - 1.0, 1.0))
        return most_evidence(left, moments.target_energy, n) - 0.5 * constant

    def value(self, score: Any, n_samples: float, n_total: float, target_scale: float) -> Any:
        """Return eq. (4) of the targets in user units."""
        return score + max(n_samples, 0.0) * np.log(target_scale)

    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return 1 / beta: the noise variance held in the state, or t'P t / n."""
        return members.energy / n_samples if members.noise is None else members.noise

    def _addition_gains(self, state: State, where: Any) -> Any:
        n, best = state.moments.n_samples, state.at_best_ridge()
        ridge, leftover = float(best.ridges[0]), best.leftover[where]
        total = leftover + ridge
        fit = best.alignment[where] ** 2 / (total * self.noise_at(best, n)) - np.log1p(leftover / ridge)
        return 0.5 * (fit + _widths(n - best.freedom, best.remainder[where] / total, n))


def _ridge_is_near(state: State) -> bool:
    """Tell whether a ridge that is held is near its best value, or has come near it by a few steps."""
    for _ in range(MOST_MOVES):
        slopes = state.held_slopes()
        if slopes is None or not slopes.has_minimum_nearby:
            return False
        if abs(slopes.step) <= HELD and slopes.error <= LAG:
            return True
        size = len(state)
        state.keep(np.arange(size), np.full(size, float(state.ridges[0] * np.exp(slopes.step))))
    return False


def _widths(determined: float, more: Any, n_samples: float) -> Any:
    """Return log(gamma / gamma') + log((n - gamma) / (n - gamma')), gamma' = gamma + more, each at least 1 (errata 3.7)."""
    after = determined + more
    of_weights = np.log(max(determined, 1.0) / np.maximum(after, 1.0))
    return of_weights + np.log(max(n_samples - determined, 1.0) / np.maximum(n_samples - after, 1.0))

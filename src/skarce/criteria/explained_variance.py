"""Least squares without ridges, one function after the other (Chen, Cowan and Grant 1991)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._parameters import as_number, check_choice
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.criteria.published_gcv import PublishedGCV
from skarce.criteria.without_ridges import LEAST_FREEDOM, independent_candidates, independent_start
from skarce.moments import Moments
from skarce.states.members import Members
from skarce.states.state import State

STOPS = ("gcv", "bic", "variance")
ALL_EXPLAINED = 1.0 - 1e-15
TIE = 1e-9  # if two error reductions differ by less than this share, the candidate with more left over is better


@dataclass(frozen=True)
class ExplainedVariance(PublishedGCV):
    r"""Explained variance without ridges: orthogonal least squares. The published value is GCV; smaller is better.

    Parameters
    ----------
    stop : {"gcv", "bic", "variance"}, default="gcv"
        How searches that add or remove one function at a time compare sets. ``"gcv"`` takes the set of smallest generalized cross
        validation. ``"bic"`` takes the set of smallest Bayesian information criterion, :math:`n\log q + L\log n`. ``"variance"``
        stops as soon as the unexplained share of the variance is at most `unexplained`. `BestAction` always uses GCV.
    unexplained : float, default=0.01
        The unexplained share of the variance at which to stop, between 0 and 1. Used only with ``stop="variance"``.

    See Also
    --------
    skarce.OrthogonalLeastSquaresRegressor : The estimator that uses this criterion with `Forward`.
    OrthogonalGCV : The same functions with a ridge on the orthogonalized weights.
    SharedGCV : GCV with one ridge for all weights.

    Notes
    -----
    P projects onto the complement of the active functions. With :math:`\gamma_m=\varphi_m^TP\varphi_m` and
    :math:`r_m=\varphi_m^TPt`, one more function reduces the residual energy q by :math:`r_m^2/\gamma_m`. This is the error
    reduction of orthogonal least squares [1]_. The Cholesky factor of the active block, grown without ridges, is the Gram-Schmidt
    procedure of [1]_ in terms of moments: :math:`\gamma_m` is the squared norm of an orthogonalized candidate.

    With L active functions, v = n - L degrees of freedom are left. Then :math:`V = Nq/v^2` falls exactly if

    .. math:: \kappa = \frac{r^2}{\gamma q} > 1 - \Bigl(1 - \frac1v\Bigr)^2 = \frac{2v - 1}{v^2} .

    References
    ----------
    .. [1] Chen, S., Cowan, C. F. N. and Grant, P. M. (1991). Orthogonal least squares learning algorithm for radial basis function
       networks. IEEE Transactions on Neural Networks 2, 302-309.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import ExplainedVariance
    >>> from skarce.searches import Forward
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", ExplainedVariance(stop="bic"), Forward()).fit(X, y).active_
    array([1, 3])
    """

    stop: str = "gcv"
    unexplained: float = 0.01

    def __post_init__(self) -> None:
        check_choice("stop", self.stop, STOPS)
        if not 0.0 < as_number(self.unexplained) < 1.0:
            raise ValueError(f"unexplained must be a share of the variance, between 0 and 1; got {quoted(self.unexplained)}.")

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """Return as many of these functions as are independent and leave a degree of freedom, without ridges."""
        return independent_start(moments, members)

    def ranking(self, state: State) -> Floats:
        """Return kappa v^2 / (2v - 1), which is above 1 exactly if adding reduces GCV."""
        freedom = state.moments.n_samples - len(state)
        if freedom - 1.0 < LEAST_FREEDOM:
            return np.zeros(state.moments.n_candidates)
        leftover, diagonal = state.leftover, state.moments.gram.diagonal
        usable = independent_candidates(state)
        ratio = state.alignment * state.alignment
        ratio *= freedom**2 / ((2.0 * freedom - 1.0) * state.energy)
        ratio /= np.where(usable, leftover, np.inf)
        # The last candidates of an interpolation each explain all that is left. The better determined one goes first.
        ratio *= 1.0 + TIE * (leftover / np.where(usable, diagonal, np.inf))
        ratio[state.active] = 0.0
        return ratio

    def addition(self, state: State, candidate: int) -> tuple[float, float]:
        n = state.moments.n_samples
        share = float(state.alignment[candidate]) ** 2 / (float(state.leftover[candidate]) * state.energy)
        return 0.0, n * float(np.log1p(-1.0 / (n - len(state))) - 0.5 * np.log1p(-min(share, ALL_EXPLAINED)))

    def score(self, members: Members, n_samples: float) -> float:
        return n_samples * float(np.log(n_samples - len(members.ridges)) - 0.5 * np.log(members.energy))

    def worth(self, state: State) -> float:
        """Return what a search makes large, by the rule `stop`. Infinite if enough of the variance is explained."""
        return float(self.ceiling(state.moments, np.array(state.energy), len(state)))

    def ceiling(self, moments: Moments, left: Floats, size: int) -> Floats:
        """Return the worth itself, because it is a function of the energy that is left and of the size."""
        n = moments.n_samples
        if size and n - size < LEAST_FREEDOM:
            return np.full_like(left, -np.inf)
        if self.stop == "gcv":
            return n * (np.log(n - size) - 0.5 * np.log(left))
        if self.stop == "bic":
            return -0.5 * (n * np.log(left) + size * np.log(n))
        return np.where(left <= self.unexplained * moments.target_energy, np.inf, -0.5 * n * np.log(left))

    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return q / (n - L), which is unbiased."""
        return members.energy / (n_samples - len(members.ridges))

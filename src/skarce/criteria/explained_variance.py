r"""Least squares without ridges, one function after the other (Chen, Cowan and Grant 1991).

With :math:`\gamma_m=\varphi_m^TP\varphi_m` and :math:`r_m=\varphi_m^TPt`, P projecting away from the functions that are in, one
more function takes :math:`r_m^2/\gamma_m` from the residual energy q: the error reduction of orthogonal least squares. The Cholesky
factor of the active block, grown without ridges, is its Gram-Schmidt procedure in moment space: :math:`\gamma` is the squared
length of an orthogonalised candidate.

With v = n - L degrees of freedom left, :math:`V = Nq/v^2` falls exactly where
:math:`\kappa = r^2/(\gamma q) > 1 - (1 - 1/v)^2 = (2v - 1)/v^2`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from skarce._typing import Floats, Indices
from skarce.criteria.published_gcv import PublishedGCV
from skarce.moments import Moments
from skarce.states.members import Members
from skarce.states.state import State

STOPS = ("gcv", "bic", "variance")
ALL_EXPLAINED = 1.0 - 1e-15
# Without a ridge, candidates of which less than this share is left are passed over: about 1e-10 of it is rounding.
SCARCELY_LEFT = 1e-9
TIE = 1e-9  # candidates whose error reductions differ by less than this share are told apart by what is left of them
LEAST_FREEDOM = 1.0  # degrees of freedom that an addition must leave: none are an interpolation with V = 0/0


@dataclass(frozen=True)
class ExplainedVariance(PublishedGCV):
    """The candidate that explains most of what is left, without any ridge; the published value is GCV.

    Parameters
    ----------
    stop : {"gcv", "bic", "variance"}
        What `Forward` judges sets by: generalized cross validation, n log q + L log n, or whether the unexplained share of the
        variance is as small as asked. `BestAction` improves GCV.
    unexplained : float
        That share, for ``stop="variance"``.
    """

    stop: str = "gcv"
    unexplained: float = 0.01

    def __post_init__(self) -> None:
        if self.stop not in STOPS:
            raise ValueError(f"stop must be one of {list(STOPS)}, got {self.stop!r}.")
        if not 0.0 < self.unexplained < 1.0:
            raise ValueError(f"unexplained must be a share of the variance between 0 and 1, got {self.unexplained!r}.")

    def starting(self, moments: Moments, members: Indices) -> tuple[Indices, Floats]:
        """As many as are independent and leave freedom, those first of which most is left; without ridges."""
        squared_norms = moments.gram.diagonal[members]
        gram = moments.gram.block(members, members) / np.sqrt(np.multiply.outer(squared_norms, squared_norms))
        _, order, rank, _ = lapack.dpstrf(gram, tol=SCARCELY_LEFT, lower=1)
        room = max(int(moments.n_samples - LEAST_FREEDOM), 0)
        kept = members[np.sort(order[: min(rank, room)] - 1)]
        return kept, np.zeros(len(kept))

    def ranking(self, state: State) -> Floats:
        """kappa v^2 / (2v - 1), above 1 exactly where adding reduces GCV."""
        freedom = state.moments.n_samples - len(state)
        if freedom - 1.0 < LEAST_FREEDOM:
            return np.zeros(state.moments.n_candidates)
        leftover, diagonal = state.leftover, state.moments.gram.diagonal
        usable = leftover > SCARCELY_LEFT * diagonal
        ratio = state.alignment * state.alignment
        ratio *= freedom**2 / ((2.0 * freedom - 1.0) * state.energy)
        ratio /= np.where(usable, leftover, np.inf)
        # Where two explain all that is left, as the last ones of an interpolation do, the better determined one goes first.
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
        """What `Forward` wants large; infinite once it is enough."""
        n, size = state.moments.n_samples, len(state)
        if self.stop == "gcv":
            return self.score(state, n)
        if self.stop == "bic":
            return -0.5 * float(n * np.log(state.energy) + size * np.log(n))
        is_enough = state.energy <= self.unexplained * state.moments.target_energy
        return np.inf if is_enough else -0.5 * n * float(np.log(state.energy))

    def noise_at(self, members: Members, n_samples: float) -> float:
        """q / (n - L), unbiased."""
        return members.energy / (n_samples - len(members.ridges))

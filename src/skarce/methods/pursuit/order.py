"""Back-fitting of squares: least squares on functions that enter by their correlation with the residual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._typing import Floats
from skarce.criteria import ExplainedVariance
from skarce.criteria.without_ridges import LEAST_FREEDOM, independent_candidates
from skarce.states.state import State


@dataclass(frozen=True)
class CorrelationOrder(ExplainedVariance):
    """`ExplainedVariance`, but candidates rank by their own correlation with the residual, not by that of what is left of them.

    So this is for `Forward` alone: a rank above 1 does not say that a candidate helps.
    """

    def ranking(self, state: State) -> Floats:
        """Return (phi'r)^2 / (phi'phi r'r). It is zero if a candidate depends on the active functions, or leaves no freedom."""
        ranking = np.zeros(state.moments.n_candidates)
        if state.moments.n_samples - len(state) - 1.0 < LEAST_FREEDOM:
            return ranking
        usable = np.flatnonzero(independent_candidates(state))
        ranking[usable] = state.alignment[usable] ** 2 / (state.moments.gram.diagonal[usable] * state.energy)
        ranking[state.active] = 0.0
        return ranking

"""The evidence of one precision for all weights: its derivatives."""

import numpy as np
import pytest

from skarce.criteria.one_precision import EvidenceFit
from skarce.moments.directions import Directions
from tests.oracles import random_problem


@pytest.mark.parametrize("variance", [None, 0.3])
def test_derivatives_agree_with_differences(variance):
    phi, t = random_problem(3)
    directions = Directions.of(phi.T @ phi)
    fit = EvidenceFit.of(directions.eigenvalues, directions.project(phi.T @ t), float(t @ t), len(t), variance)
    for at in (-2.0, 1.0, 4.0):
        slope, curvature = fit._derivatives(at)
        values = [-2.0 * fit.score(np.exp(at + step)) for step in (-1e-4, 0.0, 1e-4)]
        assert slope == pytest.approx((values[2] - values[0]) / 2e-4, rel=1e-5)
        assert curvature == pytest.approx((values[2] - 2 * values[1] + values[0]) / 1e-8, rel=1e-3, abs=1e-4)

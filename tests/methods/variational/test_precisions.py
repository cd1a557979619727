"""The best precisions for given weights."""

import numpy as np
import pytest

from skarce.criteria.variational import bound, determination
from skarce.methods.variational.precisions import Precisions, best_precisions


@pytest.mark.parametrize("hold_noise", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_precisions_are_the_best_for_given_weights(seed, hold_noise):
    rng = np.random.default_rng(seed)
    sizes, strengths = rng.integers(1, 4, 5).astype(float), np.exp(rng.normal(0, 3, 5))
    n, residual = 60.0, 12.0
    start = Precisions(np.full(5, 1e-3), *determination(np.full(5, 1e-3), sizes), 0.7)
    best = best_precisions(strengths, sizes, residual, n, start, hold_noise=hold_noise)

    def value(ridges, noise):
        return bound(n, residual + ridges @ strengths, noise, ridges, sizes)

    if hold_noise:
        assert best.noise == 0.7
    else:  # s = RSS / (N - Gamma), VBLS errata 3.3
        assert best.noise == pytest.approx(residual / (n - best.total_determined), rel=1e-8)
    np.testing.assert_allclose(best.relative_ridges * strengths, best.noise * sizes * best.determined, rtol=1e-8)
    at_best = value(best.relative_ridges, best.noise)
    for _ in range(50):
        other = best.relative_ridges * np.exp(rng.normal(0, 0.3, 5))
        noise = best.noise * (1.0 if hold_noise else np.exp(rng.normal(0, 0.3)))
        assert value(other, noise) < at_best

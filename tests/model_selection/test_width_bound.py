"""The kernel width by the variational bound."""

import numpy as np
import pytest

from skarce import KernelBasis, VBLSRegressor
from skarce.model_selection import width_by_bound
from skarce.model_selection.width_bound import bound_slope


def sinc(seed, n=100):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-10, 10, (n, 1))
    return X, np.sinc(X[:, 0] / np.pi) + rng.uniform(-0.2, 0.2, n)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("gamma", [0.05, 0.1, 0.3])
def test_the_slope_is_that_of_finite_differences(gamma, fit_intercept):
    X, y = sinc(0)
    step = 1e-4 * gamma

    def fitted(gamma):
        return VBLSRegressor(KernelBasis(gamma=gamma), tol=1e-13, fit_intercept=fit_intercept).fit(X, y)

    below, at, above = (fitted(gamma + k * step) for k in (-1, 0, 1))
    assert set(below.active_) == set(at.active_) == set(above.active_)
    expected = (above.criterion_ - below.criterion_) / (2 * step)
    np.testing.assert_allclose(bound_slope(at, X, y), expected, rtol=1e-6)


def test_the_width_found_is_near_the_best_for_prediction():
    grid = np.linspace(-10, 10, 500)[:, None]
    truth = np.sinc(grid[:, 0] / np.pi)
    errors = []
    for seed in range(5):
        found = width_by_bound(VBLSRegressor("rbf"), *sinc(seed))
        assert found.n_fits <= 16
        assert found.gamma == found.model.basis_.gamma_
        errors.append(np.mean((found.model.predict(grid) - truth) ** 2) / truth.var())
    assert np.mean(errors) < 0.03


def test_a_narrow_prior_holds_the_width():
    X, y = sinc(0)
    scale = 1 / X.var()
    assert width_by_bound(VBLSRegressor("rbf"), X, y, prior_spread=1e-3).gamma == pytest.approx(scale, rel=0.01)
    with pytest.raises(ValueError, match="prior_spread must be positive"):
        width_by_bound(VBLSRegressor("rbf"), X, y, prior_spread=0.0)
    with pytest.raises(ValueError, match="factorized bound"):
        bound_slope(VBLSRegressor("rbf", prior="shared").fit(X, y), X, y)

"""chaospy fits its expansions with our models."""

import numpy as np
import pytest

from skarce import OrthogonalLeastSquaresRegressor, VBLSRegressor


@pytest.mark.parametrize("model", [VBLSRegressor, OrthogonalLeastSquaresRegressor])
def test_an_expansion_has_the_exact_moments_of_a_polynomial(model):
    chaospy = pytest.importorskip("chaospy", reason="chaospy is not installed")
    inputs = chaospy.J(chaospy.Uniform(-1, 1), chaospy.Uniform(-1, 1), chaospy.Uniform(-1, 1))
    samples = inputs.sample(300, rule="halton")
    values = samples[0] + 0.5 * samples[1] ** 2 + 1e-4 * np.random.default_rng(0).normal(size=300)
    expansion = chaospy.generate_expansion(4, inputs)
    fitted = chaospy.fit_regression(expansion, samples, values, model=model("passthrough", fit_intercept=False))
    assert float(chaospy.E(fitted, inputs)) == pytest.approx(0.5 / 3.0, abs=1e-3)
    assert float(chaospy.Var(fitted, inputs)) == pytest.approx(1.0 / 3.0 + 0.25 * (1.0 / 5.0 - 1.0 / 9.0), abs=1e-3)

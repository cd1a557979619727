"""pysindy and sysidentpy find equations with our models."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from sklearn.metrics import r2_score

from skarce import FastGCVRegressor, RelevanceVectorRegressor, StepwiseRegressor, VBLSRegressor

STEP = 0.002
LORENZ = {"x": {"x": -10.0, "y": 10.0}, "y": {"x": 28.0, "y": -1.0, "x z": -1.0}, "z": {"z": -8.0 / 3.0, "x y": 1.0}}


def lorenz(_, state):
    x, y, z = state
    return [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z]


@pytest.fixture(scope="module")
def trajectory():
    times = np.arange(0.0, 8.0, STEP)
    states = solve_ivp(lorenz, (0.0, 8.0), [-8.0, 8.0, 27.0], t_eval=times, rtol=1e-10, atol=1e-10).y.T
    rates = np.array([lorenz(0.0, state) for state in states])
    return states, rates + 0.1 * np.random.default_rng(0).normal(size=rates.shape)


@pytest.mark.parametrize("model", [VBLSRegressor, RelevanceVectorRegressor, FastGCVRegressor, StepwiseRegressor])
def test_pysindy_finds_the_equations_of_lorenz(trajectory, model):
    ps = pytest.importorskip("pysindy", reason="pysindy is not installed")
    states, rates = trajectory
    ours = model("passthrough", fit_intercept=False)
    sindy = ps.SINDy(optimizer=ps.WrappedOptimizer(ours, unbias=False), feature_library=ps.PolynomialLibrary(2))
    sindy.fit(states, t=STEP, x_dot=rates, feature_names=list("xyz"))
    names = sindy.get_feature_names()
    true = np.array([[LORENZ[row].get(name, 0.0) for name in names] for row in "xyz"])
    found = sindy.coefficients()
    np.testing.assert_allclose(found, true, atol=0.05)
    spread = np.array([one.coef_std_ for one in sindy.optimizer.optimizer.estimators_])
    assert (np.abs(found - true)[true != 0.0] < 5.0 * spread[true != 0.0]).all()


def test_sysidentpy_predicts_with_our_model_of_lags():
    estimators = pytest.importorskip("sysidentpy.general_estimators", reason="sysidentpy is not installed")
    from sysidentpy.basis_function import Polynomial

    rng = np.random.default_rng(0)
    u, y = rng.uniform(-1.0, 1.0, (400, 1)), np.zeros((400, 1))
    for k in range(2, 400):
        y[k] = 0.2 * y[k - 1] + 0.1 * y[k - 1] * u[k - 1] + 0.9 * u[k - 2] + 0.01 * rng.normal()
    model = estimators.NARX(
        base_estimator=RelevanceVectorRegressor("passthrough"), xlag=2, ylag=2, basis_function=Polynomial(degree=2)
    )
    model.fit(X=u[:300], y=y[:300])
    assert r2_score(y[302:], model.predict(X=u[300:], y=y[300:])[2:]) > 0.99

"""Stepwise regression against textbook F tests."""

import numpy as np
import pytest
from scipy import stats

from skarce import Outcome, StepwiseRegressor
from skarce.methods import stepwise
from skarce.moments import Moments, WholeGram


def p_value_of(X, y, inputs, tested):
    """The F test of one input of a least-squares model with an intercept, from two residual sums of squares."""

    def residual(columns):
        design = np.column_stack([X[:, columns], np.ones(len(y))])
        return np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2)

    full, freedom = residual(inputs), len(y) - len(inputs) - 1
    return stats.f.sf((residual([i for i in inputs if i != tested]) - full) * freedom / full, 1, freedom)


@pytest.mark.parametrize("direction", ["both", "forward", "backward"])
@pytest.mark.parametrize("seed", range(4))
def test_every_step_and_the_end_are_those_of_textbook_tests(direction, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 10)) @ (np.eye(10) + 0.3 * rng.normal(size=(10, 10)))
    y = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=60) + 3
    model = StepwiseRegressor(direction=direction).fit(X, y)
    inside = list(range(10)) if direction == "backward" else []
    for step in model.trace_:
        if step["action"] == "add":
            p = [p_value_of(X, y, [*inside, m], m) if m not in inside else 1.0 for m in range(10)]
            assert step["index"] == np.argmin(p)
            assert min(p) < 0.05
            inside.append(int(step["index"]))
        else:
            p = [p_value_of(X, y, inside, m) for m in inside]
            assert step["index"] == inside[np.argmax(p)]
            assert max(p) > 0.1
            inside.remove(int(step["index"]))
    np.testing.assert_array_equal(model.active_, sorted(inside))
    if direction != "forward":
        assert all(p_value_of(X, y, inside, m) <= 0.1 for m in inside)
    if direction != "backward":
        assert all(p_value_of(X, y, [*inside, m], m) >= 0.05 for m in range(10) if m not in inside)
    design = np.column_stack([X[:, model.active_], np.ones(60)])
    weights, residual, *_ = np.linalg.lstsq(design, y, rcond=None)
    np.testing.assert_allclose(model.coef_[model.active_], weights[:-1], rtol=1e-8)
    assert model.noise_variance_ == pytest.approx(residual[0] / (60 - design.shape[1]))


def test_p_values_are_those_of_the_textbook():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 5))
    y = X[:, 0] + rng.normal(size=20)
    phi, t = X - X.mean(axis=0), y - y.mean()
    fit = stepwise._Fit(Moments(WholeGram(phi.T @ phi), phi.T @ t, float(t @ t), 19.0), np.array([0, 3]))
    entering = [1.0 if m in (0, 3) else p_value_of(X, y, [0, 3, m], m) for m in range(5)]
    np.testing.assert_allclose(fit.entering(), entering, rtol=1e-8)
    np.testing.assert_allclose(fit.leaving(), [p_value_of(X, y, [0, 3], m) for m in (0, 3)], rtol=1e-8)


def test_more_inputs_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 100))
    y = 5 * X[:, 4] + rng.normal(size=30)
    model = StepwiseRegressor(max_active=5).fit(X, y)
    assert 4 in model.active_
    assert model.outcome_ in (Outcome.SIZE_LIMIT, Outcome.CONVERGED)
    with pytest.raises(ValueError, match="begins with all 100 candidates"):
        StepwiseRegressor(direction="backward").fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"direction": "up"}, "direction must be one of"),
        ({"enter": 0.2}, "0 < enter <= leave"),
        ({"leave": 1.5}, "0 < enter <= leave"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        StepwiseRegressor(**parameters).fit(np.eye(5), np.arange(5.0))

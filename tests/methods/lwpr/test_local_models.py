"""Predictions of all fields together, next to loops over fields and projections."""

import numpy as np
import pytest

from skarce.methods.lwpr import LocalModels, Settings, choose_metric
from skarce.methods.lwpr.field import Field, activation, is_settled
from skarce.methods.lwpr.local_models import BACKGROUND, PRIOR_ROWS
from tests.methods.lwpr.test_field import by_field

SETTINGS = Settings(initial_metric=3.0, projection_gain=0.9)


def trained(rng, is_full, n=400):
    X = rng.normal([5.0, -3.0, 0.0], [2.0, 0.1, 1.0], (n, 3))
    y = 10.0 + np.sin(X[:, 0]) + 3.0 * X[:, 2] * X[:, 1] + 0.1 * rng.normal(size=n)
    empty = LocalModels.empty(3, is_full, (X.mean(axis=0), X.std(axis=0)), (y.mean(), y.std()))
    return empty.trained(X, y, SETTINGS, 2, np.random.RandomState(0)), X, y


def variance_by_field(field, x, noise):
    """Noise times 1 + 1/W + the sum of s^2 / SS, projection by projection."""
    z, total = x - field["mean"], 1.0 + 1.0 / field.number("weight")
    for r in range(field.n_projections):
        u, squares = field["directions"][r], field["squares"][r]
        s = z @ u / np.linalg.norm(u)
        total, z = total + s**2 / squares, z - s * field["loadings"][r] / squares
    return noise * total


def slow_prediction(model, row):
    """Mean and variance of one row in user units, by loops."""
    x = (row - model.input_offset) / model.input_scale
    fields = [Field(one, model.layout) for one in (*model.state, *model.background)]
    weights = np.array([activation(field, x) for field in fields])
    weights[-1] = BACKGROUND
    weights /= weights.sum()
    everywhere = fields[-1].number("noise") / fields[-1].number("evidence")
    means, variances = [], []
    for field in fields:
        used = Field(field.row.copy(), model.layout)
        if not is_settled(field, SETTINGS):
            used.put("n_projections", field.n_projections - 1 if field.n_projections > 2 else 0)
        noise = (field.number("noise") + PRIOR_ROWS * everywhere) / (field.number("evidence") + PRIOR_ROWS)
        means.append(by_field(used, x[None])[0])
        variances.append(variance_by_field(used, x, everywhere if field is fields[-1] else noise))
    mean = weights @ means
    variance = weights @ (np.array(variances) + (np.array(means) - mean) ** 2)
    return model.target_offset + model.target_scale * mean, model.target_scale**2 * variance


@pytest.mark.parametrize("is_full", [False, True])
def test_predictions_are_those_of_loops(is_full, rng):
    model, X, _ = trained(rng, is_full)
    rows = np.vstack([X[:20], X[:5] + 3.0])
    assert len({Field(one, model.layout).n_projections for one in model.state}) > 1
    means, variances = model.predict(rows, SETTINGS.settled_weight, with_variance=True)
    expected = np.array([slow_prediction(model, row) for row in rows])
    np.testing.assert_allclose(means, expected[:, 0], rtol=1e-9)
    np.testing.assert_allclose(variances, expected[:, 1], rtol=1e-9)


def test_many_rows_are_predicted_in_parts(rng, monkeypatch):
    model, X, _ = trained(rng, False)
    whole = model.predict(X, 5.0, with_variance=True)
    monkeypatch.setattr("skarce.methods.lwpr.local_models.NUMBERS_AT_ONCE", 1000)
    for part, expected in zip(model.predict(X, 5.0, with_variance=True), whole, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-12)


def test_far_from_all_fields_it_is_the_line_of_all_rows(rng):
    X = rng.normal(size=(3000, 2))
    y = 1.0 + X @ [2.0, -1.0] + np.sin(5.0 * X[:, 0]) + 0.1 * rng.normal(size=3000)
    empty = LocalModels.empty(2, False, (np.zeros(2), np.ones(2)), (0.0, 1.0))
    model = empty.trained(X, y, Settings(initial_metric=20.0), 3, np.random.RandomState(0))
    far = np.array([[50.0, 0.0], [0.0, -50.0]])
    design = np.column_stack([np.ones(3000), X])
    weights = np.linalg.lstsq(design, y, rcond=None)[0]
    means, variances = model.predict(far, 5.0, with_variance=True)
    np.testing.assert_allclose(means, weights[0] + far @ weights[1:], rtol=0.05)
    assert (variances > 0.4).all()  # the line explains all but the sine, whose variance is a half


def test_passes_over_the_same_rows_do_not_count_as_more_rows(rng):
    X, y = rng.normal(size=(200, 1)), rng.normal(size=200)
    empty = LocalModels.empty(1, False, (np.zeros(1), np.ones(1)), (0.0, 1.0))
    few, many = (empty.trained(X, y, Settings(initial_metric=0.5), n, np.random.RandomState(0)) for n in (3, 30))
    weights = [model.layout.part(model.background, "weight")[0] for model in (few, many)]
    assert weights[1] == pytest.approx(weights[0], rel=0.2)
    noises = [model.predict(np.zeros((1, 1)), 5.0, with_variance=True)[1][0] for model in (few, many)]
    assert noises[1] == pytest.approx(1.0, rel=0.25)
    assert noises[0] == pytest.approx(1.0, rel=0.25)


@pytest.mark.parametrize(("frequency", "is_narrow"), [(0.1, False), (12.0, True)])
def test_the_chosen_width_follows_the_function(frequency, is_narrow, rng):
    X = rng.uniform(-1.7, 1.7, (600, 1))
    y = np.sin(frequency * X[:, 0])
    empty = LocalModels.empty(1, False, (np.zeros(1), np.ones(1)), (0.0, y.std()))
    metric = choose_metric(empty, X, y + 0.1 * y.std() * rng.normal(size=600), Settings(), 2, np.random.RandomState(0))
    assert (metric >= 100.0) == is_narrow

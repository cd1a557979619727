"""One receptive field: its sums, its left-out errors and the slope of its cost, next to slow and obvious versions."""

import numpy as np
import pytest

from skarce.methods.lwpr.field import (
    LEAST_ERROR,
    Field,
    Scores,
    activation,
    cost_slope,
    move_metric,
    start,
    step_size,
    update,
    update_projections,
)
from skarce.methods.lwpr.layout import Layout, Settings
from skarce.methods.lwpr.learning import learn

KEEP_ALL = Settings(initial_forgetting=1.0, final_forgetting=1.0, learning_rate=0.0, projection_gain=1e-9, initial_metric=2.0)


def new_field(d, max_projections, *, is_full=False, settings=KEEP_ALL):
    layout = Layout(d, max_projections, is_full)
    field = Field(np.zeros(layout.size), layout)
    start(field, np.zeros(d), settings)
    return field


def weighted_line(x, y, w):
    """Intercept and slope of weighted least squares with one input."""
    design = np.column_stack([np.ones(len(x)), x])
    return np.linalg.solve(design.T @ (w[:, None] * design), design.T @ (w * y))


def weighted_pls(X, y, w, n_projections):
    """A function that predicts by weighted partial least squares, projection by projection, from all rows at once."""
    mean, level = w @ X / w.sum(), w @ y / w.sum()
    Z, residual, steps = X - mean, y - level, []
    for _ in range(n_projections):
        u = Z.T @ (w * residual)
        u /= np.linalg.norm(u)
        s = Z @ u
        p, beta = Z.T @ (w * s) / (w @ s**2), (w * s) @ residual / (w @ s**2)
        Z, residual = Z - np.outer(s, p), residual - beta * s
        steps.append((u, p, beta))

    def predict(rows):
        Z, total = rows - mean, np.full(len(rows), level)
        for u, p, beta in steps:
            s = Z @ u
            total, Z = total + beta * s, Z - np.outer(s, p)
        return total

    return predict


def by_field(field, rows):
    """The same by the sums of a field."""
    Z, total = rows - field["mean"], np.full(len(rows), field.number("level"))
    for r in range(field.n_projections):
        u, squares = field["directions"][r], field["squares"][r]
        s = Z @ u / np.linalg.norm(u)
        total, Z = total + s * field["products"][r] / squares, Z - np.outer(s, field["loadings"][r] / squares)
    return total


def test_with_one_input_it_is_weighted_least_squares(rng):
    x, w = rng.normal(3.0, 1.0, 30), rng.uniform(0.1, 1.0, 30)
    y = 2.0 - x + rng.normal(size=30)
    field = new_field(1, 1)
    for row in range(30):
        update(field, x[row : row + 1], y[row], w[row], KEEP_ALL)
    intercept, slope = weighted_line(x, y, w)
    at = np.array([[-1.0], [0.0], [5.0]])
    np.testing.assert_allclose(by_field(field, at), intercept + slope * at[:, 0], rtol=1e-10)
    np.testing.assert_allclose(field.number("weight"), w.sum())
    centered = x - w @ x / w.sum()
    np.testing.assert_allclose(field["squares"], w @ centered**2)


def test_forgetting_weighs_each_row_by_its_age(rng):
    x, w, factor = rng.normal(size=25), rng.uniform(0.1, 1.0, 25), 0.9
    y = x + rng.normal(size=25)
    settings = Settings(initial_forgetting=factor, final_forgetting=factor, learning_rate=0.0)
    field = new_field(1, 1, settings=settings)
    for row in range(25):
        update(field, x[row : row + 1], y[row], w[row], settings)
    intercept, slope = weighted_line(x, y, w * factor ** np.arange(24, -1, -1))
    np.testing.assert_allclose(by_field(field, np.array([[0.0], [1.0]])), [intercept, intercept + slope], rtol=1e-10)


@pytest.mark.parametrize("n_projections", [1, 2, 3])
def test_passes_over_a_batch_approach_partial_least_squares(n_projections, rng):
    X = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4))
    w, y = rng.uniform(0.2, 1.0, 40), X @ [1.0, -1.0, 0.5, 0.0] + 0.1 * rng.normal(size=40)
    expected = weighted_pls(X, y, w, n_projections)(X)
    field = new_field(4, n_projections)
    field.put("n_projections", n_projections)
    errors = []
    for n_passes in (5, 45, 150):  # 5, 50 and 200 in all
        for _ in range(n_passes):
            for row in range(40):
                update_projections(field, X[row], y[row], w[row], 1.0)
        errors.append(np.linalg.norm(by_field(field, X) - expected) / np.linalg.norm(y - y.mean()))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.01


def test_left_out_errors_are_those_of_a_fit_without_the_row(rng):
    x, w = rng.normal(size=20), rng.uniform(0.1, 1.0, 20)
    y = x + rng.normal(size=20)
    field = new_field(1, 1)
    update(field, x[:1], y[0], w[0], KEEP_ALL)
    for row in range(1, 20):
        seen = update_projections(field, x[row : row + 1], y[row], w[row], 1.0)
        if row < 3:
            continue
        earlier, now = (weighted_line(x[:n], y[:n], w[:n]) for n in (row, row + 1))
        assert seen.left_out == pytest.approx(y[row] - earlier @ [1.0, x[row]])
        assert seen.residual == pytest.approx(y[row] - now @ [1.0, x[row]])


def test_copies_of_a_row_are_left_out_together(rng):
    x, w = rng.normal(size=15), rng.uniform(0.1, 1.0, 15)
    y = x + rng.normal(size=15)
    field = new_field(1, 1)
    update(field, x[:1], y[0], w[0], KEEP_ALL)
    for row in [*range(1, 15), *range(15)]:  # the last row is in the sums twice, as all others are
        seen = update_projections(field, x[row : row + 1], y[row], w[row], 2.0)
    without = weighted_line(x[:-1], y[:-1], w[:-1])
    assert seen.left_out == pytest.approx(y[-1] - without @ [1.0, x[-1]])


def test_the_noise_is_found(rng):
    X = rng.normal(size=(20_000, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.3 * rng.normal(size=20_000)
    layout = Layout(3, 3, False)
    (row,) = learn(np.zeros((0, layout.size)), layout, X, y, Settings(initial_metric=0.05, add_below=1e-9, learning_rate=0.0))
    field = Field(row, layout)
    assert field.number("noise") / field.number("evidence") == pytest.approx(0.09, rel=0.08)


def left_out_residuals(scores, y, w):
    """By a new fit without each row."""
    found = np.empty(len(y))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        some = scores[rest]
        found[i] = y[i] - scores[i] @ np.linalg.solve(some.T @ (w[rest, None] * some), some.T @ (w[rest] * y[rest]))
    return found


def cost(scores, y, w):
    return w @ left_out_residuals(scores, y, w) ** 2 / w.sum()


def test_the_slope_of_the_cost_is_that_of_finite_differences(rng):
    n, r = 12, 2
    w, y = rng.uniform(0.2, 1.0, n), rng.normal(size=n)
    raw = np.column_stack([np.ones(n), rng.normal(size=(n, r))])
    scores = np.linalg.qr(np.sqrt(w)[:, None] * raw)[0] / np.sqrt(w)[:, None]  # orthogonal with these weights
    scores /= scores[0, 0]  # the first column is the constant 1
    precisions = 1.0 / (w @ scores**2)
    leverages = w * (scores**2 @ precisions)
    errors = left_out_residuals(scores, y, w)
    for j in range(n):
        field, others = new_field(r, r), np.arange(n) != j
        field.put("n_projections", r)
        field.put("weight", w.sum())
        field.put("evidence", w.sum())
        field["errors"][r] = w @ errors**2
        share = (w * errors / (1.0 - leverages))[others]
        field["pull"][...] = share @ scores[others]
        field["spread"][...] = (scores[others].T * (share * (w * errors)[others])) @ scores[others]
        seen = Scores(scores[j], precisions, errors[j] * (1.0 - leverages[j]), errors[j], leverages[j])
        step = 1e-5 * (np.arange(n) == j)
        expected = (cost(scores, y, w + step) - cost(scores, y, w - step)) / 2e-5
        assert cost_slope(field, seen) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("is_full", [False, True])
def test_metrics_move_down_the_slope_of_finite_differences(is_full, rng):
    d, slope = 3, -0.7
    settings = Settings(learning_rate=1e-9, penalty=0.3)
    field = new_field(d, 1, is_full=is_full)
    field["metric"][...] = np.triu(rng.normal(size=(d, d))) if is_full else rng.uniform(0.5, 2.0, d)
    field.put("weight", 20.0)
    field.put("evidence", 20.0)
    field["errors"][1] = 4.0
    x, before = rng.normal(size=d), field["metric"].copy()
    w = activation(field, x)

    def total(metric):
        field["metric"][...] = metric
        D = metric.T @ metric if is_full else np.diag(metric**2)
        penalty = 0.3 * (0.2 + LEAST_ERROR) * np.log1p(np.sum(D**2) / (d * settings.initial_metric**2))
        return slope * activation(field, x) + w / 20.0 * penalty

    expected = np.zeros_like(before)
    for place in zip(*np.triu_indices(d), strict=True) if is_full else [(i,) for i in range(d)]:
        step = np.zeros_like(before)
        step[place] = 1e-6
        expected[place] = (total(before + step) - total(before - step)) / 2e-6
    field["metric"][...] = before
    move_metric(field, x, w, slope, settings)
    moved = (before - field["metric"]) / (settings.learning_rate * step_size(field, np.sum(before**2)))
    np.testing.assert_allclose(moved, expected, rtol=1e-4, atol=1e-6)


def test_steps_are_bounded(rng):
    settings = Settings(learning_rate=1e6)
    field = new_field(2, 1)
    field.put("weight", 5.0)
    field.put("evidence", 5.0)
    field["errors"][1] = 1.0
    before = field["metric"].copy()
    move_metric(field, np.ones(2), 0.5, 1.0, settings)
    assert np.linalg.norm(field["metric"] - before) == pytest.approx(0.03 * np.linalg.norm(before))


def test_a_projection_is_added_if_the_last_one_has_helped(rng):
    X = rng.normal(size=(600, 4)) * [4.0, 2.0, 1.0, 0.5]  # inputs of different size: each projection finds a part of the slope
    settings = Settings(initial_forgetting=1.0, final_forgetting=1.0, learning_rate=0.0, projection_gain=0.7)
    found = []
    for slopes in ([1.0, 2.0, 4.0, 8.0], [0.0, 0.0, 0.0, 0.0]):
        field = new_field(4, 4, settings=settings)
        for x in X:
            update(field, x, x @ slopes + 0.01 * rng.normal(), 1.0, settings)
        found.append(field.n_projections)
    assert found[0] == 4
    assert found[1] < 4

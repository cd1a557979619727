"""Fields that grow and shrink with the rows: compiled code next to NumPy, and what every row must do."""

import numpy as np
import pytest

from skarce.methods.lwpr import Layout, Settings, learn


def problem(rng, n, d):
    X = rng.normal(size=(n, d))
    return X, np.sin(2.0 * X[:, 0]) + X[:, -1] * X[:, d // 2] + 0.1 * rng.normal(size=n)


def empty(layout):
    return np.zeros((0, layout.size))


CASES = {
    "diagonal": ({}, 3, 3),
    "full": ({}, 3, 3),
    "one input": ({}, 1, 1),
    "one projection": ({"projection_gain": 0.9}, 4, 1),
    "fixed metrics": ({"learning_rate": 0.0}, 2, 2),
    "large steps": ({"learning_rate": 30.0, "penalty": 0.01}, 2, 2),
    "full, large steps": ({"learning_rate": 30.0, "penalty": 0.01}, 3, 2),
    "second pass": ({"copies": 1.5, "initial_forgetting": 0.9}, 2, 2),
    "few fields": ({"max_fields": 3.0, "initial_metric": 8.0}, 2, 2),
    "much pruning": ({"prune_above": 0.15, "initial_metric": 4.0}, 2, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_compiled_code_and_numpy_agree(name, rng):
    changes, d, most = CASES[name]
    settings = Settings(**{"initial_metric": 2.0, "prune_above": 0.5, "projection_gain": 0.9, **changes})
    layout = Layout(d, most, name.startswith("full"))
    X, y = problem(rng, 250, d)
    compiled, by_numpy = (learn(empty(layout), layout, X, y, settings, compiled=one) for one in (True, False))
    assert len(compiled) > 1
    np.testing.assert_allclose(compiled, by_numpy, rtol=1e-7, atol=1e-9)
    if most > 2:
        assert len(set(layout.part(compiled, "n_projections"))) > 1


@pytest.mark.parametrize("is_full", [False, True])
def test_cuts_between_batches_change_nothing(is_full, rng):
    layout, settings = Layout(2, 2, is_full), Settings(initial_metric=10.0)
    X, y = problem(rng, 3000, 2)  # more rows than compiled code takes at once, and more fields than the first room
    whole = learn(empty(layout), layout, X, y, settings)
    state = empty(layout)
    for rows in (slice(0, 1), slice(1, 700), slice(700, 3000)):
        state = learn(state, layout, X[rows], y[rows], settings)
    assert len(whole) > 8
    np.testing.assert_array_equal(state, whole)


def test_the_given_state_stays_as_it_is(rng):
    layout, settings = Layout(2, 2, False), Settings()
    X, y = problem(rng, 200, 2)
    state = learn(empty(layout), layout, X, y, settings)
    before = state.copy()
    learn(state, layout, X, y, settings)
    np.testing.assert_array_equal(state, before)


def activations(state, layout, X):
    scaled = layout.part(state, "metric") * (X[:, None] - layout.part(state, "center"))
    return np.exp(-0.5 * np.sum(scaled**2, axis=2))


def test_every_row_has_a_field_and_no_row_has_two_of_its_own(rng):
    layout = Layout(2, 2, False)
    settings = Settings(initial_metric=20.0, learning_rate=0.0)
    X, y = problem(rng, 500, 2)
    state = learn(empty(layout), layout, X, y, settings)
    active = activations(state, layout, X)
    assert active.max(axis=1).min() >= settings.add_below
    among_fields = activations(state, layout, layout.part(state, "center")) - np.eye(len(state))
    assert among_fields.max() < settings.add_below  # a center was a row that no field covered


def test_of_two_fields_at_one_place_the_worse_one_goes(rng):
    layout = Layout(1, 1, False)
    settings = Settings(initial_metric=1.0, learning_rate=0.0)
    X = rng.normal(0.0, 0.3, (100, 1))
    good = learn(empty(layout), layout, X, X[:, 0], settings)
    noisy = learn(empty(layout), layout, X, X[:, 0] + rng.normal(size=100), settings)
    young = learn(empty(layout), layout, X[:2], X[:2, 0], settings)
    assert len(good) == len(noisy) == len(young) == 1
    for other in (noisy, young):
        for pair in (np.vstack([good, other]), np.vstack([other, good])):
            left = learn(pair, layout, X[:1], X[:1, 0], settings)
            assert len(left) == 1
            np.testing.assert_allclose(layout.part(left, "errors"), layout.part(good, "errors"), rtol=0.1)


def test_there_are_at_most_as_many_fields_as_allowed(rng):
    layout = Layout(2, 2, False)
    X, y = problem(rng, 500, 2)
    for compiled in (True, False):
        assert (
            len(learn(empty(layout), layout, X[:100], y[:100], Settings(initial_metric=1e4, max_fields=20), compiled=compiled))
            == 20
        )


def test_metrics_find_the_input_that_matters(rng):
    layout = Layout(2, 2, False)
    X = rng.uniform(-1.7, 1.7, (20_000, 2))
    state = learn(empty(layout), layout, X, np.sin(3.0 * X[:, 0]), Settings(initial_metric=5.0))
    first, second = np.mean(layout.part(state, "metric") ** 2, axis=0)
    assert first > 4.0 * second

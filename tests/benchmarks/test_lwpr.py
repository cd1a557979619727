"""The benchmark of LWPR: its parts and what it counts. Nothing is timed here."""

import numpy as np
import pytest

from benchmarks import floors, lwpr


def test_every_part_has_a_name_on_the_command_line():
    assert tuple(lwpr.parts(100)) == lwpr.PARTS


def test_coverage_is_the_share_of_new_targets_between_the_bounds(monkeypatch):
    class Certain:
        def __init__(self, random_state):
            pass

        def fit(self, X, y):
            return self

        def predict_interval(self, X, coverage):
            return -np.ones(len(X)), np.ones(len(X))

    monkeypatch.setattr(lwpr, "LWPRRegressor", Certain)
    targets = np.array([-2.0, 0.0, 0.5, 3.0])
    found = lwpr.covered(lambda seed: (targets[:, None], targets, targets[:, None], targets), n_splits=2)
    assert found == {"covered": 0.5, "width_over_std": pytest.approx(2.0 / targets.std())}


def test_new_rows_are_not_rows_of_training():
    X, y, X_new, y_new = lwpr.linear(60, 150)(0)
    assert (len(X), len(y), len(X_new), len(y_new)) == (60, 60, 1000, 1000)
    assert not set(map(bytes, X)) & set(map(bytes, X_new))


def test_lwpr_stands_among_the_floors(monkeypatch):
    monkeypatch.setattr(floors, "single_rows", lambda make, X, y, first: 1.0)
    monkeypatch.setattr(lwpr, "speed", lambda n_rows, metric: {"rows_per_s": 30_000.0})
    last = list(floors.streams())[-1]
    assert (last.aim, last.unit, last.is_met) == (20_000, "rows / s", True)

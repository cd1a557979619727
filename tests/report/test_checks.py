"""Checks find what they look for, and nothing in sound tables."""

import numpy as np
import pandas as pd
import pytest

from skarce import Outcome
from skarce.comparison import METHODS, REGRESSION, OutOfFold
from skarce.datasets.tables import Table, row_number
from skarce.datasets.training import training_data
from skarce.report import checks
from skarce.report.checks import Finding


def table(n_rows=200, **columns):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n_rows), "b": rng.normal(size=n_rows)})
    frame["y"] = frame["a"] + rng.normal(size=n_rows)
    return frame.assign(**columns)


def training(frame, target="y"):
    return training_data(Table(frame, "here", row_number), target)


def classes(frame):
    return np.where(frame["y"] > 0, "high", "low")


def test_nothing_is_found_in_a_sound_table():
    data = training(table())
    for check in (checks.enough_rows, checks.leaking_columns, checks.repeated_rows):
        assert check(data).finding is Finding.FINE


def test_few_rows():
    assert checks.enough_rows(training(table(60))).finding is Finding.WARNING


@pytest.mark.parametrize("of_classes", [False, True])
def test_a_column_that_gives_the_target_away(of_classes):
    frame = table()
    frame["sold <at>"] = 2.0 * frame["y"] + 1.0
    if of_classes:
        frame["y"] = classes(frame)
    found = checks.leaking_columns(training(frame))
    assert found.finding is Finding.WARNING
    assert "sold <at>" in found.words
    assert "--exclude" in found.words


def test_a_text_that_names_the_class():
    frame = table()
    frame["y"] = classes(frame)
    frame["code"] = np.where(frame["y"] == "high", "H", "L")
    frame["plate"] = [f"plate {row}" for row in range(len(frame))]  # it differs in all rows, so it tells nothing about others
    found = checks.leaking_columns(training(frame))
    assert "'code'" in found.words
    assert "plate" not in found.words


def test_repeated_rows_are_counted_with_their_targets():
    frame = table()
    twice = pd.concat([frame, frame.iloc[:10]], ignore_index=True)
    found = checks.repeated_rows(training(twice))
    assert found.finding is Finding.WARNING
    assert "20 rows are there more than once" in found.words
    other = frame.iloc[:10].assign(y=lambda rows: rows["y"] + 1.0)
    assert checks.repeated_rows(training(pd.concat([frame, other], ignore_index=True))).finding is Finding.FINE


def test_outcomes_of_fits():
    method = METHODS[REGRESSION]["frvm"]
    fine = OutOfFold(method, outcomes=[Outcome.CONVERGED] * 3)
    stopped = OutOfFold(method, outcomes=[Outcome.CONVERGED, Outcome.TIME_LIMIT, Outcome.NO_NOISE])
    rival = OutOfFold(method, outcomes=[None] * 3)
    assert checks.early_stops([fine, rival]).finding is Finding.FINE
    assert "frvm (1 of 3 folds)" in checks.early_stops([fine, stopped]).words
    assert Outcome.TIME_LIMIT.value in checks.early_stops([stopped]).words
    assert Outcome.NO_NOISE.value in checks.interpolation([stopped]).words
    assert checks.interpolation([fine]).finding is Finding.FINE


@pytest.mark.parametrize(
    ("share", "of_counts", "finding"),
    [(0.94, False, Finding.FINE), (0.80, False, Finding.WARNING), (0.999, False, Finding.NOTE), (0.999, True, Finding.FINE)],
)
def test_coverage_that_is_no_chance(share, of_counts, finding):
    assert checks.honest_intervals("frvm", share, 1000, of_counts=of_counts).finding is finding


def test_an_uneven_fold():
    assert checks.even_folds("").finding is Finding.FINE
    assert checks.even_folds("Note: fold 2 is bad.") == checks.Check("Even folds", Finding.WARNING, "Fold 2 is bad.")

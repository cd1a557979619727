"""Checks find what they look for, and nothing in sound tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skarce import Outcome
from skarce.comparison import CLASSIFICATION, METHODS, REGRESSION, Method, MethodResult, OutOfFold
from skarce.comparison.scores import ClassScore, RegressionScore
from skarce.datasets import TargetKind
from skarce.datasets.tables import Table, row_number
from skarce.datasets.training import training_data
from skarce.estimators.trust import OUTLIERS, TOO_SURE
from skarce.report import checks
from skarce.report.checks import Finding
from skarce.report.outcome_words import WORDS
from skarce.report.verdict import Verdict


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
    frame["plate"] = [f"plate {row // 2}" for row in range(len(frame))]  # few rows have the same, so it tells nothing about others
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
    assert "--max-time" in checks.early_stops([stopped]).words
    assert WORDS[Outcome.NO_NOISE] in checks.interpolation([stopped]).words
    assert checks.interpolation([fine]).finding is Finding.FINE


def test_warnings_of_fits_are_told_with_their_methods():
    doubt, early, own = Outcome.ILL_CONDITIONED, Outcome.STEP_LIMIT.value, "The ridge is at its smallest value"
    results = [
        MethodResult(Method("orr", REGRESSION, "", object), [], [own, own, doubt.value]),
        MethodResult(Method("gp", REGRESSION, "", object), [], [own, early]),  # the check of outcomes has this one
        MethodResult(Method("vbls", REGRESSION, "", object), []),
    ]
    seen = [OutOfFold(result.method, outcomes=[Outcome.STEP_LIMIT, Outcome.CONVERGED]) for result in results]
    found = checks.warned_fits(results, seen)
    assert found.finding is Finding.WARNING
    assert "orr (2 warnings), gp (1 warning): The ridge is at its smallest value." in found.words
    assert f"orr (1 warning): {WORDS[doubt]}" in found.words
    assert WORDS[Outcome.STEP_LIMIT] not in found.words
    assert WORDS[Outcome.STEP_LIMIT] in checks.warned_fits(results, []).words  # no other check tells of it
    assert checks.warned_fits(results[2:], seen) is None
    many = [MethodResult(Method("gp", REGRESSION, "", object), [], [f"number {letter}" for letter in "abcdefghi"])]
    assert checks.warned_fits(many, []).words.endswith("And 4 other warnings.")


def test_warnings_that_differ_in_numbers_are_told_once_in_words_of_the_command_line():
    sure = [TOO_SURE.format(scale=scale) for scale in (5.31, 12.0, 1.2e6)]
    far = [OUTLIERS.format(times=54.2, rows="3, 17, 28"), OUTLIERS.format(times=7, rows="5")]
    results = [
        MethodResult(Method("frvm", REGRESSION, "", object), [], [*sure, far[0]]),
        MethodResult(Method("skr", REGRESSION, "", object), [], [sure[0], far[1]]),
    ]
    words = checks.warned_fits(results, []).words
    assert words.count("Left-out rows are") == words.count("Targets are far") == 1
    assert words.startswith("frvm (3 warnings), skr (1 warning), the first: Left-out rows are 5.31 times as far")
    assert "frvm (1 warning), skr (1 warning), the first: Targets are far" in words
    assert "--method vbls" in words
    for python in ("basis=", "VBLSRegressor", "weight 0", "the first row is 0"):
        assert python not in words


@pytest.mark.parametrize(
    ("share", "may_be_wide", "finding"),
    [(0.94, False, Finding.FINE), (0.80, False, Finding.WARNING), (0.999, False, Finding.NOTE), (0.999, True, Finding.FINE)],
)
def test_coverage_that_is_no_chance(share, may_be_wide, finding):
    assert checks.honest_intervals({"frvm": share}, 1000, "frvm", may_be_wide=may_be_wide).finding is finding


def test_intervals_of_all_methods_are_looked_at_the_winner_first():
    shares = {"gp": 0.48, "skr": 0.968, "rvm": 0.7, "vbls": 1.0}
    found = checks.honest_intervals(shares, 442, "gp", may_be_wide=False)
    assert found.finding is Finding.WARNING
    assert "gp (48.0 %, the best method), rvm (70.0 %). They are too narrow" in found.words
    assert "Wider than they need to be: vbls (100.0 %)" in found.words
    assert "skr" not in found.words
    assert checks.honest_intervals({}, 442, "gp", may_be_wide=False) is None
    fine = checks.honest_intervals({"a": 0.96, "b": 0.94, "c": 0.95}, 442, "a", may_be_wide=False)
    assert fine.words == "95 % intervals cover 94.0 % (b) to 96.0 % (a, the best) of 442 left-out rows."
    one = checks.honest_intervals({"a": 0.95}, 442, "a", may_be_wide=False, noun="given row")
    assert one.words == "95 % intervals cover 95.0 % of 442 given rows."
    same = checks.honest_intervals({"a": 0.95, "b": 0.95}, 442, "a", may_be_wide=False)
    assert same.words == "95 % intervals cover 95.0 % (a, the best) of 442 left-out rows."


def test_few_rows_do_not_make_intervals_fine():
    found = checks.honest_intervals({"ridge": 1.0}, 10, "ridge", may_be_wide=False)
    assert found.finding is Finding.NOTE
    assert "too few rows" in found.words
    assert checks.honest_intervals({"ridge": 0.4}, 10, "ridge", may_be_wide=False).finding is Finding.WARNING


@pytest.mark.parametrize("n_rows", [10, 59, 442])
def test_the_chance_of_a_false_alarm_is_small(n_rows):
    """The chance is summed over all numbers of covered rows that would raise one."""
    chances = stats.binom.pmf(np.arange(n_rows + 1), n_rows, 0.95)
    for look in (checks.too_narrow, checks.too_wide):
        alarm = [bool(look({"a": number / n_rows}, n_rows)) for number in range(n_rows + 1)]
        assert chances[alarm].sum() < checks.CHANCE


def test_a_verdict_without_a_gain_is_a_warning():
    words = Verdict("No method ...", (), "ridge", beats_base=False)
    assert checks.better_than_no_inputs(words, TargetKind.NUMBERS).finding is Finding.WARNING
    assert checks.better_than_no_inputs(Verdict("", (), "ridge"), TargetKind.NUMBERS).finding is Finding.FINE
    assert checks.better_than_no_inputs(Verdict("", (), None), TargetKind.NUMBERS) is None


def test_the_optimism_of_classes_is_in_percentage_points():
    costs = {"n_functions": 3, "fit_seconds": 0.1, "predict_seconds": 0.1}
    results = [
        MethodResult(
            Method(name, CLASSIFICATION, "", object),
            [ClassScore(error=e, accuracy=1 - e, log_loss=1.0, brier=1.0, **costs) for e in errors],
        )
        for name, errors in {"a": (0.10, 0.12), "b": (0.20, 0.10)}.items()
    ]
    assert "error rate to be about 1.0 percentage points larger" in checks.reused_rows(results).words


@pytest.mark.parametrize(("first", "second"), [([1.0, 2.0], [1.5, 2.5]), ([1.0, 2.0], [1.0, 2.0])])
def test_an_error_that_nothing_flatters_is_not_said_to_be_0_larger(first, second):
    costs = {"n_functions": 3, "fit_seconds": 0.1, "predict_seconds": 0.1}
    results = [
        MethodResult(
            Method(name, REGRESSION, "", object), [RegressionScore(rmse=e, r2=None, coverage=None, **costs) for e in errors]
        )
        for name, errors in {"a": first, "b": second}.items()
    ]
    words = checks.reused_rows(results).words
    assert "no other is better in any fold, so this makes its RMSE hardly too small" in words
    assert "0 larger" not in words


def test_an_uneven_fold():
    assert checks.even_folds("").finding is Finding.FINE
    assert checks.even_folds("Note: fold 2 is bad.") == checks.Check("Even folds", Finding.WARNING, "Fold 2 is bad.")

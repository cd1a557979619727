"""Verdicts over results made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from skarce import Outcome
from skarce.comparison import CLASSIFICATION, REGRESSION, Method, MethodResult
from skarce.comparison.scores import ClassScore, RegressionScore
from skarce.report.ranking import optimism, standard_error
from skarce.report.verdict import verdict as verdict_of


def verdict(results, n_folds, base_error, n_rows=200):
    return verdict_of(results, n_folds, np.array(base_error), n_rows)


def result(name, errors, n_functions=10, *, is_rival=False, seconds=0.001, error=None, warnings=()):
    costs = {"n_functions": n_functions, "fit_seconds": 0.1, "predict_seconds": seconds}
    scores = [RegressionScore(rmse=each, r2=None, coverage=None, **costs) for each in errors]
    return MethodResult(Method(name, REGRESSION, name, object, is_rival=is_rival), scores, list(warnings), error)


STEADY = [1.0, 1.1, 0.9, 1.0, 1.0]
NEARLY = [1.02, 1.05, 0.98, 0.97, 1.03]  # its mean is 0.01 above, with differences of both signs
WORSE = [2.0, 2.1, 1.9, 2.0, 2.05]


def test_a_clear_winner():
    found = verdict([result("a", STEADY), result("b", WORSE, 2)], 5, 9.0)
    assert found.best == found.shown == "a"
    assert found.level == ("a",)
    assert "a predicts best (RMSE 1)" in found.sentence
    assert "the next one, b, is worse by more than chance (RMSE 2.01)" in found.sentence
    assert found.notes == ("Worse by more than chance: b. It is smaller than a.",)
    assert found.changes == ()


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"b": (10, 1.0)}, "b. It is neither smaller nor faster than a."),
        ({"b": (10, 0.1)}, "b. It is faster than a."),
        ({"b": (2, 0.1)}, "b. It is smaller and faster than a."),
        ({"b": (10, 1.0), "c": (9, 0.6)}, "b and c. None of them is smaller or faster than a."),
        ({"b": (2, 1.0), "c": (3, 0.1), "d": (10, 1.0)}, "b, c and d. Smaller than a: b and c. Faster than a: c."),
    ],
)
def test_of_worse_methods_it_is_said_what_they_have_instead(others, words):
    results = [result("a", STEADY, 10, seconds=1.0)]
    results += [result(name, WORSE, size, seconds=seconds) for name, (size, seconds) in others.items()]
    assert verdict(results, 5, 9.0).notes == (f"Worse by more than chance: {words}",)


def test_what_is_recommended_is_not_called_worse():
    """Whatever is offered for its size, its speed or its sound fits is not in the note on the others."""
    doubtful = result("gp", STEADY, 400, is_rival=True, warnings=[Outcome.HALF_USED.value])
    sparse = result("frvm", [each * 1.05 for each in STEADY], 6)
    found = verdict([result("gp", STEADY, 400, is_rival=True), result("rfs", HARDLY_WORSE, 20), sparse, result("b", WORSE)], 5, 9.0)
    assert "the error of rfs is only 0.8 % larger" in found.sentence
    assert found.notes[0].startswith("Worse by more than chance: frvm and b.")
    sound = verdict([doubtful, result("b", WORSE)], 5, 9.0)
    assert any("can be trusted: b" in change for change in sound.changes)
    assert sound.notes == ()
    rival = verdict([result("gp", STEADY, 400, is_rival=True), result("frvm", WORSE, 5)], 5, 9.0)
    assert any("must be sparse: frvm" in change for change in rival.changes)
    assert rival.notes == ()


def test_equal_errors_have_no_winner():
    reordered = [STEADY[place] for place in (1, 0, 2, 4, 3)]
    found = verdict([result("a", STEADY, 10), result("b", reordered, 10), result("c", WORSE, 10)], 5, 9.0)
    assert found.sentence == "a and b are equally good (RMSE 1); the next one, c, is worse by more than chance (RMSE 2.01)."
    assert found.tied == ("a", "b")
    smaller = verdict([result("a", STEADY, 10), result("b", reordered, 4)], 5, 9.0)
    assert smaller.sentence == (
        "a and b are equally good (RMSE 1); b has 4 functions in place of 10: choose it if few functions matter."
    )
    many = verdict([result(name, STEADY) for name in "abcd"], 5, 9.0)
    assert many.sentence == "a and 3 other methods are equally good (RMSE 1)."
    level = verdict([result("a", STEADY), result("b", STEADY), result("c", NEARLY)], 5, 9.0)
    assert level.sentence == "a and b are equally good (RMSE 1); c is equally good within chance, and not smaller."
    assert verdict([result("a", STEADY), result("b", NEARLY)], 5, 9.0).tied == ("a",)
    doubtful = verdict([result("a", STEADY), result("b", STEADY, warnings=[Outcome.NO_NOISE.value])], 5, 9.0)
    assert doubtful.tied == ("a",)


def test_a_smaller_model_that_cannot_be_told_from_the_best_is_offered():
    found = verdict([result("a", STEADY, 20), result("b", NEARLY, 10), result("c", WORSE, 1)], 5, 9.0)
    assert found.level == ("a", "b")
    assert "b is equally good within chance, with 10 functions in place of 20: choose it if few functions matter" in found.sentence


@pytest.mark.parametrize(("n_functions", "size"), [(17, "hardly"), (40, "not")])
def test_a_model_that_is_hardly_smaller_is_not_offered(n_functions, size):
    found = verdict([result("a", STEADY, 20), result("b", NEARLY, n_functions)], 5, 9.0)
    assert "few functions" not in found.sentence
    assert f"b is equally good within chance, and {size} smaller" in found.sentence


HARDLY_WORSE = [each * 1.008 for each in STEADY]  # in each fold, so this is no chance


def test_a_much_smaller_model_that_is_hardly_worse_is_offered():
    found = verdict([result("gps", STEADY, 320), result("rfs", HARDLY_WORSE, 7.2)], 5, 9.0)
    assert found.level == ("gps",)
    assert "the error of rfs is only 0.8 % larger, with 7.2 functions in place of 320: choose it if few functions" in found.sentence
    assert found.shown == "gps"
    close = verdict([result("gps", STEADY, 320), result("rfs", [each * 1.0001 for each in STEADY], 7.2)], 5, 9.0)
    assert "the error of rfs is less than 0.1 % larger, with 7.2 functions" in close.sentence


def test_a_model_is_offered_for_its_size_only_if_it_is_much_smaller_nearly_as_good_and_sound():
    large = result("gps", STEADY, 320)
    for other in (
        result("rfs", HARDLY_WORSE, 200),
        result("rfs", [each * 1.03 for each in STEADY], 7),
        result("rfs", HARDLY_WORSE, 7, warnings=[Outcome.HALF_USED.value]),
    ):
        assert "few functions" not in verdict([large, other], 5, 9.0).sentence


def test_a_model_that_is_smaller_still_is_mentioned():
    found = verdict([result("gps", STEADY, 320), result("frvm", NEARLY, 20), result("rfs", HARDLY_WORSE, 7)], 5, 9.0)
    assert "frvm is equally good within chance, with 20 functions" in found.sentence
    assert (
        "If the model must be smaller still: rfs (7 functions, with an error that is only 0.8 % larger than the smallest)."
        in found.changes
    )
    rival = verdict([result("gp", STEADY, 320, is_rival=True), result("rfs", HARDLY_WORSE, 7)], 5, 9.0)
    assert rival.shown == "rfs"
    assert not any("must be sparse" in change for change in rival.changes)


def test_methods_have_their_full_names_in_the_sentence():
    named = [result(name, errors, size) for name, errors, size in (("gps", STEADY, 320), ("rfs", WORSE, 7))]
    for each in named:
        each.method = replace(each.method, title=f"the title of {each.method.name}")
    found = verdict(named, 5, 9.0)
    assert found.sentence.startswith(
        "gps (the title of gps) predicts best (RMSE 1); the next one, rfs (the title of rfs), is worse"
    )


@pytest.mark.parametrize("base", [9.0, 0.95])
def test_a_column_that_tells_the_target_comes_first(base):
    found = verdict_of([result("a", STEADY), result("b", WORSE)], 5, np.array(base), 200, ("status",))
    assert found.sentence.startswith("Look at 'status' first: it nearly tells the target, so the errors may be this small only")
    assert found.leaks == ("status",)
    both = verdict_of([result("a", STEADY)], 5, np.array(base), 200, ("status", "label"))
    assert both.sentence.startswith("Look at 'status', 'label' first: they nearly tell")


def test_a_faster_method_that_cannot_be_told_from_the_best_is_mentioned():
    found = verdict([result("a", STEADY, seconds=0.1), result("b", NEARLY, seconds=0.01)], 5, 9.0)
    assert any("time to predict" in change and "b" in change for change in found.changes)


def test_a_rival_wins_and_ours_is_shown():
    found = verdict([result("gp", STEADY, 90, is_rival=True), result("frvm", WORSE, 5)], 5, 9.0)
    assert (found.best, found.shown) == ("gp", "frvm")
    assert any("must be sparse: frvm" in change for change in found.changes)


def test_no_method_beats_the_mean():
    found = verdict([result("a", STEADY), result("b", WORSE)], 5, 0.95)
    assert found.sentence.startswith("No method predicts better than the mean of the target")


def test_a_gain_over_the_mean_that_may_be_chance_is_none():
    base = [1.4, 0.8, 1.3, 0.7, 1.1]  # its mean is above that of the method, with differences of both signs
    found = verdict([result("a", STEADY), result("b", WORSE)], 5, base)
    assert np.mean(base) > np.mean(STEADY)
    assert not found.beats_base
    assert found.sentence.startswith("No method predicts better than the mean of the target by more than chance (RMSE 1 of a")
    assert not any("hoose" in words for words in (found.sentence, *found.changes))


def test_of_few_rows_nothing_is_worse_by_more_than_chance():
    found = verdict([result("a", STEADY), result("b", WORSE, 2)], 5, 9.0, n_rows=10)
    assert found.level == ("a", "b")
    assert "10 rows are too few" in found.sentence
    assert found.notes == ()
    for word in ("more than chance", "within chance", "hoose"):
        assert not any(word in words for words in (found.sentence, *found.changes))


DOUBT = Outcome.HALF_USED.value


def test_a_doubtful_method_is_neither_recommended_nor_shown():
    gp, skr = result("gp", STEADY, 400, is_rival=True), result("skr", NEARLY, 97, seconds=1e-6, warnings=[DOUBT])
    found = verdict([gp, skr, result("frvm", WORSE, 5)], 5, 9.0)
    assert found.shown == "frvm"
    assert found.doubtful == ("skr",)
    assert any("must be sparse: frvm" in change for change in found.changes)
    assert not any("skr is" in words or ": skr" in words for words in (found.sentence, *found.changes))
    assert verdict([gp, skr], 5, 9.0).shown == "skr"  # nothing else of ours is there


def test_a_doubtful_winner_is_called_so():
    found = verdict([result("skr", STEADY, 97, warnings=[DOUBT]), result("frvm", WORSE, 90)], 5, 9.0)
    assert found.best == "skr"
    assert found.shown == "frvm"
    assert "cannot be trusted" in found.sentence
    assert any("can be trusted: frvm" in change for change in found.changes)


def test_the_sparse_suggestion_is_left_out_if_the_sentence_names_one_as_small():
    gp = result("gp", STEADY, 400, is_rival=True)
    found = verdict([gp, result("rvm", NEARLY, 4), result("frvm", [each + 0.001 for each in NEARLY], 3)], 5, 9.0)
    assert "frvm is equally good within chance, with 3 functions" in found.sentence
    assert found.shown == "frvm"
    assert not any("must be sparse" in change for change in found.changes)
    lasso = result("lasso", STEADY, 6, is_rival=True)
    assert not any("must be sparse" in change for change in verdict([lasso, result("rvm", WORSE, 97)], 5, 9.0).changes)


def test_the_note_on_paired_folds_is_there_if_the_order_puzzles():
    wild, steadily = [0.2, 3.4, 0.3, 3.1, 3.2], [1.5, 1.6, 1.4, 1.5, 1.5]
    found = verdict([result("a", STEADY), result("b", steadily), result("c", wild)], 5, 9.0)
    assert any("fold by fold" in note for note in found.notes)
    plain = verdict([result("a", STEADY), result("c", NEARLY), result("b", WORSE)], 5, 9.0)
    assert not any("fold by fold" in note for note in plain.notes)


def test_all_failed_and_all_others_failed():
    failed = result("b", [], error="ValueError: no")
    assert verdict([failed], 5, 1.0).best is None
    assert "all others failed" in verdict([result("a", STEADY), failed], 5, 9.0).sentence
    assert "nothing else was compared" in verdict([result("a", STEADY)], 5, 9.0).sentence


def test_the_levels_need_not_be_neighbors_in_the_ranking():
    wild = [0.2, 3.4, 0.3, 3.1, 3.2]  # worse on average, and too uneven to be told apart
    steadily = [1.5, 1.6, 1.4, 1.5, 1.5]
    found = verdict([result("a", STEADY), result("b", steadily), result("c", wild)], 5, 9.0)
    assert found.level == ("a", "c")
    assert any("more than chance: b." in note for note in found.notes)


def test_errors_of_classes_are_percentages():
    costs = {"n_functions": 3, "fit_seconds": 0.1, "predict_seconds": 0.1}
    scores = [ClassScore(error=error, accuracy=1 - error, log_loss=1.0, brier=1.0, **costs) for error in (0.1, 0.2)]
    found = verdict([MethodResult(Method("a", CLASSIFICATION, "", object), scores)], 2, 0.5)
    assert "error rate 15.0 %" in found.sentence


def test_the_standard_error_allows_for_shared_training_rows():
    differences = np.array([0.1, -0.2, 0.3, 0.0, 0.05])
    n_train, n_test = 80, 20  # of five folds: Nadeau and Bengio add n_test / n_train to 1 / 5
    expected = np.sqrt((1 / 5 + n_test / n_train) * differences.var(ddof=1))
    assert standard_error(differences, 5) == pytest.approx(expected)


def test_optimism_is_how_far_the_winner_is_above_the_best_of_each_fold():
    results = [result("a", [1.0, 2.0]), result("b", [1.5, 1.9]), result("c", [3.0, 1.0])]
    assert optimism(results) == pytest.approx(((1.0 - 1.0) + (2.0 - 1.0)) / 2)

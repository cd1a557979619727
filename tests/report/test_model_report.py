"""What a report says about a stored model and the rows that are given to it."""

import json

import numpy as np
import pytest

from skarce import Outcome
from skarce.comparison import Answers
from skarce.datasets import TargetKind
from skarce.report import checks
from skarce.report.checks import Finding
from skarce.report.model_verdict import GIVE_ROWS, model_verdict
from skarce.report.quality import quality_of
from skarce.report.residuals import residuals_of

FACTS = {"functions": "22 of 442 candidates", "noise": "3.2 (standard deviation)", "outcome": "The fit has converged."}


def answers(y, mean, std=None):
    values = np.column_stack([mean] if std is None else [mean, std])
    return Answers("m", TargetKind.NUMBERS, np.arange(len(y)), y, values)


def quality(y, mean, std=None):
    given = answers(y, mean, std)
    return quality_of(given, residuals_of(given))


def verdict(found, **others):
    given = {"facts": FACTS, "n_centers": 0, "is_doubtful": False, "is_narrow": False, "leaks": ()} | others
    return model_verdict("frvm", TargetKind.NUMBERS, found, **given)


def test_quality_compares_with_the_mean_of_the_targets(rng):
    y = rng.normal(size=200)
    found = quality(y, 0.9 * y, np.full(200, 0.2))
    assert found.error == pytest.approx(np.sqrt(np.mean((0.1 * y) ** 2)))
    assert found.error_without_inputs == pytest.approx(y.std())
    assert found.coverage == np.mean(np.abs(0.1 * y) <= 1.959964 * 0.2)
    assert found.beats_base
    assert not quality(y, np.full(200, y.mean())).beats_base
    assert not quality(y, y.mean() + rng.normal(size=200)).beats_base
    assert quality(y, y).coverage is None


def test_a_log_score_of_minus_infinity_is_none_in_json():
    assert quality(np.array([0.0, 1.0]), np.zeros(2), np.full(2, 1e-300)).as_dict()["log_score"] is None


def test_z_scores_that_are_infinite_are_none_in_json():
    with np.errstate(over="ignore"):
        found = residuals_of(answers(np.array([0.0, 1e10]), np.zeros(2), np.zeros(2))).as_dict()
    assert json.loads(json.dumps(found, allow_nan=False))["z"] == [0.0, None]


def test_the_verdict_says_what_the_rows_say(rng):
    y = rng.normal(size=100)
    assert "frvm predicts better than the mean of the target (RMSE" in verdict(quality(y, 0.9 * y)).sentence
    assert "does not predict better" in verdict(quality(y, -y)).sentence
    assert "too few to tell" in verdict(quality(y[:20], y[:20])).sentence
    assert verdict(None).sentence.startswith(
        "The model uses 22 of 442 candidates, and the noise is 3.2 (standard deviation). The fit has converged. No rows were given"
    )
    assert "noise" not in verdict(None, facts={name: FACTS[name] for name in ("functions", "outcome")}).sentence
    assert verdict(None).changes == (GIVE_ROWS,)
    assert verdict(None).best is None
    good = quality(y, 0.9 * y)
    assert "too narrow" in verdict(good, is_narrow=True).sentence
    assert "cannot be trusted" in verdict(good, is_doubtful=True).sentence
    assert verdict(good, leaks=("sold",)).sentence.startswith("Look at 'sold' first")


@pytest.mark.parametrize("n_rows", [20, 100])
def test_of_rows_of_the_fit_the_verdict_says_so_first(rng, n_rows):
    y = rng.normal(size=n_rows)
    found = verdict(quality(y, 0.9 * y), n_centers=n_rows // 10)
    assert found.sentence.startswith(f"frvm was fitted to such rows, so the {n_rows} given rows do not tell how well it predicts")
    assert not any("If the model was fitted" in words for words in (found.sentence, *found.changes))
    assert found.changes[0].startswith("Give rows that the model was not fitted to")


def test_a_few_rows_of_the_fit_among_others_are_known(rng):
    y = rng.normal(size=200)
    assert verdict(quality(y, 0.9 * y)).changes[0].startswith("If the model was fitted to some of these rows")
    found = verdict(quality(y, 0.9 * y), n_centers=1)
    assert "predicts better" in found.sentence
    assert found.changes[0].startswith("The model was fitted to some of these rows")


def test_checks_of_one_model():
    assert checks.end_of_fit(Outcome.CONVERGED).finding is Finding.FINE
    for outcome in (Outcome.STEP_LIMIT, Outcome.NO_NOISE, Outcome.HALF_USED):
        assert checks.end_of_fit(outcome).finding is Finding.WARNING
    assert checks.enough_given_rows(99).finding is Finding.WARNING
    assert checks.enough_given_rows(100).finding is Finding.FINE
    assert checks.rows_of_the_fit(0, 100).finding is Finding.FINE
    assert checks.rows_of_the_fit(1, 100).finding is Finding.NOTE
    assert checks.rows_of_the_fit(2, 100).finding is Finding.WARNING

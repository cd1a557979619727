"""The paper on backward elimination: what is run, and its tables."""

import numpy as np
import pytest

from skarce.datasets import friedman1
from skarce.reproduce.papers.gpbe import paper
from skarce.reproduce.papers.gpbe.printed import ERRORS, FUNCTIONS, RUNTIMES
from skarce.reproduce.papers.gpbe.tables import METHODS, direction_table, overview, runtime_table, seconds_in_all
from skarce.reproduce.runner.findings import findings
from skarce.reproduce.runner.report import choices_tried
from skarce.reproduce.runner.splits import scaled
from skarce.reproduce.runner.units import Record, Unit, Work, run_units


def record(method, repeat=0, experiment="friedman1", **fields):
    return Record(experiment, repeat, method, "", **({"tuned": True, "error": 1.0, "n_functions": 10, "fit_seconds": 1.0} | fields))


@pytest.fixture
def found():
    records = [
        record("gps", error=0.5, n_functions=240, fit_seconds=2.0),
        record("gps", 1, error=0.7, n_functions=240, fit_seconds=4.0),
        record("gps-be", error=0.6, n_functions=60, fit_seconds=0.3),
        record("gps-fs", error=0.5, n_functions=80, fit_seconds=0.2),
        record("rvm", error=3.0, n_functions=70, fit_seconds=0.1, tuning_seconds=5.9),
        record("rvm", 1, error=4.0, n_functions=72, fit_seconds=0.1, tuned=False, choice=0.1),
    ]
    return findings(paper(), records)


def test_time_counts_what_learned_the_widths_and_the_tuning_of_tuned_splits(found):
    (finding,) = found
    assert seconds_in_all(finding, "gps") == 3.0
    assert seconds_in_all(finding, "gps-be") == pytest.approx(3.3)
    assert seconds_in_all(finding, "rvm") == pytest.approx(6.0)
    assert seconds_in_all(finding, "svm") is None
    assert "2.00 (7.59)" in runtime_table(found)
    assert "1.10 (1.05)" in runtime_table(found)
    assert "- (5.73)" in runtime_table(found)


def test_backward_over_forward(found):
    assert "1.200 (0.998)" in direction_table(found)
    assert "0.750 (0.864)" in direction_table(found)


def test_overview_has_ours_beside_theirs(found):
    page = "\n".join(overview(found))
    assert "0.6 (0.46)" in page  # the mean of two
    assert "3.5 (2.84)" in page
    assert "71 (70.9)" in page
    for number in ("4.2", "4.3", "4.4", "4.5"):
        assert f"Table {number}" in page


def test_printed_numbers_are_there_for_all_methods_and_data():
    names = [experiment.name for experiment in paper().experiments]
    for table in (ERRORS, FUNCTIONS, RUNTIMES):
        assert list(table) == names
        assert all(set(row) == set(METHODS) for row in table.values())
    assert [experiment.n_repeats for experiment in paper().experiments] == [100, 100, 10, 10]


def test_a_grid_of_choices_is_told_by_its_parts():
    told = choices_tried(paper(quick=True), ["boston"])
    assert told == {"tried for RVM, AS": "0.05, 0.2, 1", "tried for SVM": "0.05, 0.2, 1 with 1, 10 with 0.03, 0.1"}
    assert choices_tried(paper(quick=True), []) == {}


def test_elimination_follows_the_full_model_and_learns_nothing_again():
    """A small Friedman problem through the units of the run: the widths of GPs, the paper's prior, targets scaled."""
    parts = friedman1(np.random.default_rng(0), n_train=60, n_test=200)
    contenders = {contender.name: contender for contender in paper(quick=True).contenders}
    units = [Unit("friedman1", 0, name, "") for name in ("gps", "gps-be", "gps-fs")]
    work = Work(scaled(*parts, input_range=(-1.0, 1.0)), 0, paper().measure, (-1.0, 1.0))
    full, backward, forward = run_units(units, contenders, work, {})
    assert full.failure is backward.failure is forward.failure is None
    assert full.n_functions == 60
    assert 1 <= backward.n_functions < 60
    assert 1 <= forward.n_functions < 60
    assert full.learned is not None
    assert len(full.learned) == 10
    assert backward.error < 1.5 * full.error


def test_friedman1_is_noisy_for_training_and_exact_for_testing():
    X, y, X_test, y_test = friedman1(np.random.default_rng(0))
    assert X.shape == (240, 10)
    assert X_test.shape == (5000, 10)

    def signal(X):
        return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]

    np.testing.assert_allclose(y_test, signal(X_test))
    assert np.std(y - signal(X)) == pytest.approx(1.0, abs=0.15)

"""Experiments of papers: splits, units, resuming, budgets, tables and pictures."""

import json
import os
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import wilcoxon
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold

from skarce._parallel import _here, n_cores
from skarce.cli.reproducing import ProgressLines
from skarce.datasets import DataNotFoundError, friedman2
from skarce.reproduce.papers import PAPERS, find_paper
from skarce.reproduce.papers.fgcv import experiments as fgcv
from skarce.reproduce.papers.gaussian_process import LeanGaussianProcess
from skarce.reproduce.runner import pictures, report
from skarce.reproduce.runner.budget import FEW_TUNED, USABLE, Cost, Share, affordable_plan, full_plan, measured_costs
from skarce.reproduce.runner.findings import findings, verdict_counts
from skarce.reproduce.runner.measures import nmse
from skarce.reproduce.runner.page import markdown
from skarce.reproduce.runner.pair_tests import signed_rank_test
from skarce.reproduce.runner.pairs import Comparison, Verdict, comparisons, verdict
from skarce.reproduce.runner.paper import Claim, Contender, Experiment, Paper
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.run import Options, Run, settings_digest
from skarce.reproduce.runner.selection import UnknownExperimentError, check_data, experiment_names
from skarce.reproduce.runner.splits import random_rows, scaled
from skarce.reproduce.runner.summary_table import summary_table
from skarce.reproduce.runner.units import Maker, Record, Unit, Work, best_choice, run_unit
from skarce.reproduce.runner.workers import ignore_sigint_in_children
from tests.cli.test_cli import assert_one_line, run

FIXED = ("experiment", "repeat", "method", "settings", "tuned", "choice", "error", "n_functions")


def linear_data(rng):
    X = rng.normal(size=(60, 5)) * [1.0, 1.0, 1.0, 1.0, 10.0]
    y = X[:, 0] - 2.0 * X[:, 1] + rng.normal(size=60)
    return X[:40], y[:40], X[40:], y[40:]


RIDGE = Contender("ridge", "ridge regression", lambda gamma: Ridge(alpha=gamma), (0.01, 0.1, 1.0, 10.0))
PLAIN = Contender("plain", "least squares", lambda gamma: LinearRegression())
TINY = Paper(
    name="tiny",
    title="Tiny",
    reference="Nobody, Nothing",
    experiments=(Experiment("one", "First", 4, linear_data, "Made up."), Experiment("two", "Second", 2, linear_data)),
    contenders=(RIDGE, PLAIN),
    claims={"one": (Claim(("ridge", "plain"), 0.01, "ridge"),)},
    baseline="plain",
    time_ratios={"ridge": (1.0, 2.0)},
    more_functions=(("ridge", "plain"),),
)


def in_process(**options):
    return Options(n_jobs=1, **options)


def finished(tmp_path, paper=TINY, name="records.jsonl", **options):
    made = Run(paper, Store.open(tmp_path / name), in_process(**options))
    made.run()
    return made


def fixed(records):
    return [tuple(getattr(record, name) for name in FIXED) for record in records]


def record(repeat=0, method="ridge", error=1.0, experiment="one", **others):
    return Record(experiment, repeat, method, "", **{"tuned": True, "error": error, "n_functions": 3, "fit_seconds": 0.1, **others})


# Splits -------------------------------------------------------------------------------------------------------------------


def test_splits_are_the_same_again_and_differ_between_repeats_experiments_and_seeds():
    one, two = TINY.experiments
    first = one.split(0, 0)
    np.testing.assert_array_equal(first.X_train, one.split(0, 0).X_train)
    for other in (one.split(1, 0), one.split(0, 1), two.split(0, 0)):
        assert not np.isin(first.y_train, other.y_train).any()


def test_rows_of_a_table_are_in_one_part_of_a_split_only(monkeypatch):
    X, y = np.arange(60.0).reshape(30, 2), np.arange(30.0)
    monkeypatch.setattr("skarce.datasets.load", lambda name: (X, y, ("a", "b"), "here"))
    experiment = Experiment("table", "Table", 3, random_rows("table", 20))
    splits = [experiment.split(repeat, 0) for repeat in range(3)]
    for split in splits:
        assert (len(split.y_train), len(split.y_test)) == (20, 10)
        assert sorted([*split.y_train, *split.y_test]) == list(y)
    assert len({tuple(split.y_test) for split in splits}) == 3


def test_inputs_are_scaled_by_the_training_rows_only():
    X_train, X_test = np.array([[0.0, 5.0], [2.0, 5.0], [4.0, 15.0]]), np.array([[8.0, 0.0], [1.0, 10.0]])
    fold = scaled(X_train, np.array([1.0, 2.0, 3.0]), X_test, np.array([9.0, 8.0]))
    np.testing.assert_allclose(fold.X_train, [[0.0, 0.0], [0.5, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(fold.X_test, [[2.0, -0.5], [0.25, 0.5]])
    np.testing.assert_array_equal(fold.y_train, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(fold.y_test, [9.0, 8.0])


# Units --------------------------------------------------------------------------------------------------------------------


def test_nmse_is_one_for_the_mean_and_zero_for_the_truth():
    targets = np.array([1.0, 2.0, 6.0])
    np.testing.assert_allclose(nmse(targets, np.full(3, 3.0)), 1.0)
    assert nmse(targets, targets) == 0.0
    np.testing.assert_allclose(nmse(10.0 * targets, 10.0 * targets + 1.0), 1.0 / np.var(10.0 * targets))


def test_the_width_is_that_of_a_grid_search_on_the_same_folds():
    fold = TINY.experiments[0].split(0, 0)
    folds = KFold(5, shuffle=True, random_state=7)
    search = GridSearchCV(Ridge(), {"alpha": RIDGE.choices}, cv=folds, scoring="neg_mean_squared_error").fit(*fold[:2])
    assert best_choice(Maker(RIDGE), Work(fold, 7)) == search.best_params_["alpha"]


def test_a_unit_tunes_unless_a_width_is_given():
    fold = TINY.experiments[0].split(0, 0)
    tuned = run_unit(Unit("one", 0, "ridge", "s"), RIDGE, Work(fold, 7))
    reused = run_unit(Unit("one", 0, "ridge", "s", choice=0.1), RIDGE, Work(fold, 7))
    assert (tuned.tuned, tuned.choice) == (True, best_choice(Maker(RIDGE), Work(fold, 7)))
    assert tuned.tuning_seconds > 0.0
    assert (reused.tuned, reused.choice, reused.tuning_seconds) == (False, 0.1, 0.0)
    expected = Ridge(alpha=0.1).fit(*fold[:2]).predict(fold.X_test)
    np.testing.assert_allclose(reused.error, nmse(fold.y_test, expected))
    assert reused.n_functions == 5


def test_a_failure_and_warnings_are_part_of_the_record():
    class Steep(LinearRegression):
        def fit(self, X, y):
            warnings.warn("steep", stacklevel=2)
            return super().fit(X, y)

    def broken(gamma):
        raise ZeroDivisionError("by nothing")

    fold = TINY.experiments[0].split(0, 0)
    failed = run_unit(Unit("one", 0, "plain", "s"), replace(PLAIN, make=broken), Work(fold, 7))
    assert (failed.error, failed.failure) == (None, "ZeroDivisionError: by nothing")
    warned = run_unit(Unit("one", 0, "plain", "s"), replace(PLAIN, make=lambda gamma: Steep()), Work(fold, 7))
    assert warned.warnings == ("steep",)
    assert warned.failure is None


def test_fits_see_one_thread():
    seen = []

    class Looking(LinearRegression):
        def fit(self, X, y):
            seen.append(_here.is_worker)
            return super().fit(X, y)

    run_unit(Unit("one", 0, "plain", "s"), replace(PLAIN, make=lambda gamma: Looking()), Work(TINY.experiments[0].split(0, 0), 7))
    assert set(seen) == {True}
    assert not getattr(_here, "is_worker", False)
    assert n_cores() >= 1


def test_the_gaussian_process_learns_on_some_rows_and_knows_all(rng):
    X, y, X_test, y_test = friedman2(rng, n_train=80)
    fold = scaled(X, y, X_test, y_test)
    model = LeanGaussianProcess(learn_on=50).fit(*fold[:2])
    assert len(model.X_train_) == 80
    assert nmse(fold.y_test, model.predict(fold.X_test)) < 0.3


# Runs ---------------------------------------------------------------------------------------------------------------------


def test_every_unit_is_run_once_and_tuned(tmp_path):
    made = finished(tmp_path)
    assert [r.key for r in made.records()] == [
        (name, repeat, method) for name, n in (("one", 4), ("two", 2)) for repeat in range(n) for method in ("ridge", "plain")
    ]
    assert all(r.tuned for r in made.records())


@pytest.mark.parametrize("stop_after", [1, 3, 7])
def test_a_run_that_was_interrupted_ends_as_one_that_was_not(tmp_path, stop_after):
    class Interrupted(Store):
        def add(self, record):
            super().add(record)
            if len(self.records) == stop_after:
                raise KeyboardInterrupt

    path = tmp_path / "broken.jsonl"
    with pytest.raises(KeyboardInterrupt):
        Run(TINY, Interrupted(path), in_process()).run()
    with path.open("ab") as file:
        file.write(b'{"experiment": "one", "rep')  # as if the machine had gone down in the middle of a line
    first = path.read_bytes().splitlines()[:stop_after]
    resumed = finished(tmp_path, name="broken.jsonl")
    assert fixed(resumed.records()) == fixed(finished(tmp_path).records())
    assert path.read_bytes().splitlines()[:stop_after] == first
    assert len(path.read_bytes().splitlines()) == 12


def test_nothing_is_done_twice(tmp_path):
    before = finished(tmp_path).store.path.read_bytes()
    assert finished(tmp_path).store.path.read_bytes() == before


def test_another_seed_or_grid_is_another_result(tmp_path):
    finished(tmp_path)
    assert len(finished(tmp_path, seed=1).records()) == 12
    finer = replace(TINY, contenders=(replace(RIDGE, choices=(0.5, 5.0)), PLAIN))
    made = finished(tmp_path, paper=finer)
    assert {r.choice for r in made.records() if r.method == "ridge"} <= {0.5, 5.0}
    assert len(made.store.path.read_bytes().splitlines()) == 12 + 12 + 6
    assert settings_digest(RIDGE, 0, TINY) != settings_digest(RIDGE, 1, TINY)


def test_processes_give_the_same_results_as_one(tmp_path):
    made = Run(TINY, Store.open(tmp_path / "parallel.jsonl"), Options(n_jobs=2))
    made.run()
    assert fixed(made.records()) == fixed(finished(tmp_path).records())


def test_widths_are_reused_as_the_median_of_those_found(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "skarce.reproduce.runner.run.affordable_plan", lambda wanted, *rest: {"one": Share(4, 3), "two": Share(2, 1)}
    )
    made = finished(tmp_path)
    ridge = {(r.experiment, r.repeat): r for r in made.records() if r.method == "ridge"}
    found = sorted(ridge["one", repeat].choice for repeat in range(3))
    assert [ridge["one", repeat].tuned for repeat in range(4)] == [True, True, True, False]
    assert ridge["one", 3].choice == found[1]
    assert ridge["two", 1].choice == ridge["two", 0].choice
    assert all(r.tuned for r in made.records() if r.method == "plain")


def test_a_larger_budget_tunes_what_had_been_reused(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("skarce.reproduce.runner.run.affordable_plan", lambda wanted, *rest: {name: Share(2, 1) for name in wanted})
        assert sum(not r.tuned for r in finished(tmp_path).records()) == 2
    assert fixed(finished(tmp_path).records()) == fixed(finished(tmp_path, name="at once.jsonl").records())


def test_a_smaller_budget_later_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "skarce.reproduce.runner.run.affordable_plan", lambda wanted, *rest: {"one": Share(4, 3), "two": Share(2, 1)}
    )
    before = finished(tmp_path).records()
    monkeypatch.setattr("skarce.reproduce.runner.run.affordable_plan", lambda wanted, *rest: dict.fromkeys(wanted, Share(1, 1)))
    assert len(before) == 12
    assert finished(tmp_path).records() == before


def test_after_the_deadline_nothing_is_begun_but_every_experiment_has_results(tmp_path):
    times = iter(range(1000))
    made = Run(TINY, Store.open(tmp_path / "late.jsonl"), in_process(budget_seconds=4.0), clock=lambda: float(next(times)))
    made.run()
    assert {r.experiment for r in made.records()} == {"one", "two"}
    assert 4 < len(made.records()) < 12


def test_experiments_take_turns(tmp_path):
    made = Run(TINY, Store.open(tmp_path / "records.jsonl"), in_process())
    units = made._units(made.plan, tuned=True)
    assert [(unit.experiment, unit.repeat) for unit in units[::2]] == [
        ("one", 0),
        ("two", 0),
        ("one", 1),
        ("one", 2),
        ("two", 1),
        ("one", 3),
    ]


def test_only_what_was_chosen_is_run_and_the_rest_is_kept(tmp_path):
    finished(tmp_path)
    made = Run(TINY, Store.open(tmp_path / "records.jsonl"), in_process(repeats=5), ["two"])
    made.run()
    counts = [sum(r.experiment == name for r in made.records()) for name in ("one", "two")]
    assert counts == [8, 10]


def test_what_failed_is_tried_again_by_the_next_run_only(tmp_path):
    calls = []

    def sometimes(gamma):
        calls.append(gamma)
        return Failing() if len(calls) < 20 else LinearRegression()

    contenders = (replace(PLAIN, make=sometimes),)
    paper = replace(TINY, experiments=TINY.experiments[:1], contenders=contenders, repeats={"one": 2})
    made = finished(tmp_path, paper=paper)
    assert [r.failure for r in made.records()] == ["ValueError: never"] * 2
    assert len(made.store.path.read_bytes().splitlines()) == 2
    calls += [None] * 20
    again = Run(paper, Store.open(made.store.path), in_process())
    again._digests = made._digests
    again.run()
    assert [r.failure for r in again.records()] == [None, None]


class Failing(LinearRegression):
    def fit(self, X, y):
        raise ValueError("never")


# Budget -------------------------------------------------------------------------------------------------------------------

WANTED = full_plan({"cheap": 100, "dear": 10})
COSTS = {"cheap": Cost(1.0, 0.1), "dear": Cost(60.0, 2.0)}


def price(plan):
    return sum(share.cost(COSTS[name]) for name, share in plan.items())


def test_a_budget_that_suffices_cuts_nothing():
    assert affordable_plan(WANTED, COSTS, 730.0 / USABLE, 1) == WANTED
    assert affordable_plan(WANTED, COSTS, 366.0 / USABLE, 2) == WANTED


def test_widths_are_reused_before_repeats_are_cut_and_the_dearest_gives_first():
    assert affordable_plan(WANTED, COSTS, 600.0 / USABLE, 1) == {"cheap": Share(100, 100), "dear": Share(10, 7)}
    tight = affordable_plan(WANTED, COSTS, 345.0 / USABLE, 1)
    assert tight == {"cheap": Share(100, 15), "dear": Share(10, FEW_TUNED)}


def test_when_all_tune_on_few_splits_the_dearest_alone_gives():
    few = affordable_plan(WANTED, COSTS, 335.0 / USABLE, 1)
    assert few == {"cheap": Share(100, FEW_TUNED), "dear": Share(10, FEW_TUNED)}
    assert affordable_plan(WANTED, COSTS, 95.0 / USABLE, 1) == {"cheap": Share(100, FEW_TUNED), "dear": Share(10, 1)}


def test_repeats_are_cut_last_and_one_is_always_left():
    assert affordable_plan(WANTED, COSTS, 91.0 / USABLE, 1) == {"cheap": Share(100, FEW_TUNED), "dear": Share(8, 1)}
    assert affordable_plan(WANTED, COSTS, 0.0, 1) == {"cheap": Share(1, 1), "dear": Share(1, 1)}


@pytest.mark.parametrize("seconds", np.linspace(64, 900, 30))
def test_plans_keep_the_budget_and_grow_with_it(seconds):
    plan, more = (affordable_plan(WANTED, COSTS, factor * seconds / USABLE, 1) for factor in (1.0, 1.2))
    assert price(plan) <= seconds
    assert price(plan) <= price(more)
    assert all(share.n_tuned <= share.n_repeats for share in plan.values())


def test_costs_are_sums_over_the_methods_of_a_repeat():
    records = [record(tuning_seconds=3.0, seconds=4.0), record(method="plain", seconds=0.5), record(experiment="two", seconds=2.0)]
    assert measured_costs(records) == {"one": Cost(3.0, 1.5), "two": Cost(0.0, 2.0)}


# Comparisons --------------------------------------------------------------------------------------------------------------


def test_p_values_are_those_of_scipy_and_name_the_better_method(rng):
    first, second = rng.normal([[0.0], [0.8]], size=(2, 25))
    records = [record(i, "ridge", error) for i, error in enumerate(first)] + [record(i, "plain", e) for i, e in enumerate(second)]
    ours = comparisons(records, ["ridge", "plain"])["ridge", "plain"]
    np.testing.assert_allclose(ours.p_value, wilcoxon(first, second).pvalue)
    assert (ours.better, ours.n_pairs) == ("ridge", 25)
    assert ours.is_significant


def test_ten_pairs_have_their_exact_least_p_value():
    p_value, sign = signed_rank_test(np.arange(1.0, 11.0))
    np.testing.assert_allclose(p_value, 2 / 1024)
    assert sign == 1


def test_equal_errors_differ_in_nothing():
    assert signed_rank_test(np.zeros(8)) == (1.0, 0)
    assert signed_rank_test(np.array([])) == (None, 0)


def test_differences_of_zero_are_left_out():
    p_value, sign = signed_rank_test(np.array([0.0, 0.0, *-np.arange(1.0, 9.0)]))
    assert sign == -1
    assert p_value < 0.05


def test_only_splits_that_both_have_done_are_compared():
    records = [record(repeat, "ridge", 1.0 + repeat) for repeat in range(5)] + [record(3, "plain", 9.0), record(4, "plain", None)]
    ours = comparisons(records, ["ridge", "plain"])["ridge", "plain"]
    assert (ours.n_pairs, ours.better) == (1, "ridge")


@pytest.mark.parametrize(
    ("better", "ours", "expected"),
    [
        ("a", Comparison(("a", "b"), 0.01, "a", 10), Verdict.AGREES),
        ("b", Comparison(("a", "b"), 0.01, "a", 10), Verdict.OPPOSITE),
        ("a", Comparison(("a", "b"), 0.2, "a", 10), Verdict.NOT_SIGNIFICANT),
        (None, Comparison(("a", "b"), 0.01, "a", 10), Verdict.WINNER_NOT_STATED),
        ("a", Comparison(("a", "b"), 0.06, "a", 5), Verdict.TOO_FEW),
        ("a", None, Verdict.TOO_FEW),
    ],
)
def test_verdicts(better, ours, expected):
    assert verdict(Claim(("a", "b"), 0.001, better), ours) is expected


# Tables and pictures ------------------------------------------------------------------------------------------------------


@pytest.fixture
def ten():
    """Ten repeats in which ridge is better and takes twice the time."""
    rng = np.random.default_rng(0)
    ridge = [record(i, "ridge", 0.1 + 0.01 * rng.random(), choice=0.1, fit_seconds=0.2, tuned=i < 4) for i in range(10)]
    return ridge + [record(i, "plain", 0.2 + 0.3 * rng.random(), n_functions=9) for i in range(10)]


def test_summaries_are_those_of_numpy(ten):
    (finding,) = findings(TINY, ten)
    summary = finding.summary("ridge")
    errors = [r.error for r in ten if r.method == "ridge"]
    np.testing.assert_allclose(summary.quartiles, np.quantile(errors, [0.25, 0.5, 0.75]))
    np.testing.assert_allclose((summary.mean, summary.time_ratio), (np.mean(errors), 2.0))
    assert (summary.n_repeats, summary.n_tuned, summary.n_functions, summary.n_failed) == (10, 4, 3.0, 0)


def test_a_method_without_results_has_a_row_that_says_so(ten):
    broken = [replace(r, error=None, failure="no") for r in ten if r.method == "plain"]
    (finding,) = findings(TINY, [*ten[:10], *broken])
    _, rows = summary_table(finding)
    assert rows[1] == ["PLAIN", *["-"] * 7, "0", "0", "10 failed"]
    assert verdict_counts([finding]) == {Verdict.TOO_FEW: 1}


def test_tables_line_up(ten):
    page = markdown(TINY, findings(TINY, ten), {"seed": "0"}, ["one.png"])
    blocks = [block.splitlines() for block in page.split("\n\n") if block.startswith("|")]
    assert len(blocks) == 3
    for block in blocks:
        assert len({len(line) for line in block}) == 1
        assert len({tuple(i for i, c in enumerate(line) if c == "|") for line in block}) == 1


def test_p_values_are_said_to_be_the_papers_only_where_they_are(ten):
    without = replace(TINY, claims={})
    for paper, caption in ((TINY, "p-values, ours and the paper's; each cell"), (without, "Our p-values; each cell")):
        page = markdown(paper, findings(paper, ten), {"seed": "0"}, [])
        assert ("(paper" in page) == (paper is TINY)
        assert caption in page


def test_the_page_says_what_was_run_and_which_claims_hold(ten):
    page = markdown(TINY, findings(TINY, ten), {"seed": "0"}, ["one.png"])
    for expected in (
        "Repeats: 10 of the paper's 4 were run, 4 of them tuned.",
        "![First](one.png)",
        "0.002 RIDGE (paper 0.01)",
        "Of 1 differences that the paper found significant: agrees 1.",
        "RIDGE needs more than PLAIN in the paper; here 3 and 9 (does not agree)",
        "fit time of RIDGE over PLAIN: 1 to 2 in the paper; here 2.00 (agrees)",
    ):
        assert expected in page
    assert "## Second" not in page


def test_the_least_median_is_marked(ten):
    (finding,) = findings(TINY, ten)
    marked = [row[1].endswith("*") for row in summary_table(finding)[1]]
    assert marked == [True, False]


def test_pictures_are_written_small_and_only_for_what_has_results(ten, tmp_path):
    pytest.importorskip("matplotlib")
    assert pictures.draw_all(TINY, ten, tmp_path) == ["one.png"]
    content = (tmp_path / "one.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) < 60_000


def test_results_hold_every_record_the_settings_and_the_printed_numbers(tmp_path):
    made = finished(tmp_path)
    content = json.loads(report.results_json(made, made.records(), quick=False))
    assert [Record(**{**r, "warnings": tuple(r["warnings"])}) for r in content["records"]] == made.records()
    assert content["settings"]["plan"]["one"] == {"n_repeats": 4, "n_tuned": 4}
    assert content["settings"]["choices"]["ridge"] == list(RIDGE.choices)
    assert content["printed"]["p_values"]["one"][0]["p_value"] == 0.01
    assert content["machine"]["cores"] >= 1


# Papers -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_is_whole(name, quick):
    paper = find_paper(name, quick)
    methods = [contender.name for contender in paper.contenders]
    assert paper.name == name
    assert set(paper.claims) <= {experiment.name for experiment in paper.experiments}
    for claim in (claim for claims in paper.claims.values() for claim in claims):
        assert set(claim.pair) <= set(methods)
        assert claim.better in (None, *claim.pair)
    assert paper.baseline in methods


def test_the_fast_gcv_paper_has_its_printed_sizes():
    paper = fgcv.paper()
    assert {e.name: e.n_repeats for e in paper.experiments} == {"friedman2": 100, "friedman3": 100, "boston": 100, "abalone": 10}
    assert len(paper.contenders[0].choices) == 9
    split = paper.experiments[0].split(0, 0)
    assert (split.X_train.shape, split.X_test.shape) == ((200, 4), (1000, 4))


def test_the_fast_gcv_paper_splits_real_tables(data_folder):
    sizes = {e.name: tuple(len(part) for part in e.split(0, 0)[::2]) for e in fgcv.EXPERIMENTS}
    assert (sizes["boston"], sizes["abalone"]) == ((481, 25), (3000, 1177))


def test_names_are_found_or_listed():
    assert experiment_names(TINY, ["two ", "one"]) == ["one", "two"]
    with pytest.raises(UnknownExperimentError, match="unknown experiment 'three'; tiny has one, two"):
        experiment_names(TINY, ["one", "three"])
    with pytest.raises(UnknownExperimentError, match="'three': not part of --quick, only of the whole paper; tiny has one, two"):
        experiment_names(TINY, ["one", "three"], elsewhere=["one", "two", "three"])
    with pytest.raises(UnknownExperimentError, match="unknown experiment 'three', 'four'; tiny has"):
        experiment_names(TINY, ["three", "four"], elsewhere=["three"])
    with pytest.raises(UnknownExperimentError, match="unknown paper 'moby dick'; choose from fgcv"):
        find_paper("moby dick")


def test_experiments_are_chosen_by_pattern_or_beginning():
    assert experiment_names(TINY, ["*o*"]) == ["one", "two"]
    assert experiment_names(TINY, ["t*"]) == ["two"]
    paper = find_paper("ssge")
    sizes = [f"kin8nm-{size}" for size in (64, 128, 256, 512, 1024)]
    assert experiment_names(paper, ["kin8nm"]) == experiment_names(paper, ["kin8nm-*"]) == sizes
    assert experiment_names(paper, ["kin8nm-*4", "kin8nm-64"]) == ["kin8nm-64", "kin8nm-1024"]
    with pytest.raises(UnknownExperimentError, match="unknown experiment 'kin8'"):
        experiment_names(paper, ["kin8"])


def test_quick_says_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_one_line(run("reproduce", "ssge", "--quick", "--only", "kin8nm-1024"), "'kin8nm-1024': not part of --quick")


def test_missing_data_name_what_can_still_run():
    def nowhere(rng):
        raise DataNotFoundError("data set 'lost' was not found.")

    paper = replace(TINY, experiments=(*TINY.experiments, replace(TINY.experiments[0], name="lost", draw=nowhere)))
    with pytest.raises(DataNotFoundError, match=r"'lost' was not found. Ready to run: --only one,two\."):
        check_data(paper, ["one", "two", "lost"], 0)
    check_data(paper, ["one", "two"], 0)


# The command --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """`skarce reproduce fgcv` with the tiny paper in its place, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: TINY)
    return tmp_path


def test_the_command_writes_tables_numbers_and_pictures(tiny):
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert result.exit_code == 0, result.output
    assert sorted(os.listdir("out")) == ["one.png", "records.jsonl", "results.json", "tables.md", "two.png"]
    assert "First: 4 of the paper's 4 were run, 4 of them tuned" in result.stdout
    assert len(json.loads(Path("out/results.json").read_text())["records"]) == 12
    again = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert "12 results are already in out" in again.stderr


@pytest.mark.parametrize("width", ["30", None])
def test_a_file_gets_whole_tables(tiny, monkeypatch, width):
    monkeypatch.delenv("COLUMNS")
    if width is not None:
        monkeypatch.setenv("COLUMNS", width)
    renamed = {contender.name: f"{contender.label} by a name that makes the table wide" for contender in TINY.contenders}
    wide = replace(TINY, contenders=tuple(replace(c, printed_as=renamed[c.name]) for c in TINY.contenders))
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: wide)
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out", "--repeats", "2")
    assert "…" not in result.stdout
    (finding, _) = findings(wide, list(Store.open(tiny / "out" / "records.jsonl").records.values()))
    headings, rows = summary_table(finding, on_screen=True)
    lines = [line.strip() for line in result.stdout.splitlines()]
    for cells in (headings, *rows):
        assert any(line.startswith(cells[0].strip()) and all(cell.strip() in line for cell in cells) for line in lines)
    assert max(map(len, lines)) > 100


def test_quick_results_have_a_folder_of_their_own(tiny):
    assert run("reproduce", "fgcv", "--jobs", "1", "--quick", "--repeats", "1").exit_code == 0
    assert run("reproduce", "fgcv", "--jobs", "1", "--only", "two").exit_code == 0
    assert sorted(os.listdir("results/reproduce")) == ["fgcv", "fgcv-quick"]
    assert len(json.loads(Path("results/reproduce/fgcv/results.json").read_text())["records"]) == 4


def test_fresh_forgets_what_was_there(tiny):
    run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out", "--fresh", "--only", "one", "--repeats", "1")
    assert "already" not in result.stderr
    assert len(Path("out/records.jsonl").read_text().splitlines()) == 2


def test_without_matplotlib_the_command_says_how_to_get_pictures(tiny, monkeypatch):
    monkeypatch.setattr("skarce.reproduce.runner.figures.find_spec", lambda name: None)
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert result.exit_code == 0
    assert "install skarce[plot]" in result.stderr
    assert not list(Path("out").glob("*.png"))
    assert "![" not in Path("out/tables.md").read_text()


def test_an_interrupt_says_how_to_go_on_and_keeps_what_there_is(tiny, monkeypatch):
    def interrupted(self, on_progress):
        self._work([self._unit("one", 0, "ridge")], None, on_progress)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Run, "run", interrupted)
        result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert result.exit_code == 130
    # An older rich ends its progress bar with an empty line.
    assert result.stderr.lstrip() == "Interrupted; 1 results are in out. The same command continues from there.\n"
    assert sorted(os.listdir("out")) == ["records.jsonl", "results.json", "tables.md"]


@pytest.fixture
def default_sigint():
    """The handler that Python installs, even if pytest was started with SIGINT ignored (in the background, by nohup)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_processes_of_a_run_ignore_an_interrupt(default_sigint):
    before = signal.getsignal(signal.SIGINT)
    ask = [sys.executable, "-c", "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"]
    with ignore_sigint_in_children():
        assert subprocess.run(ask, capture_output=True, text=True, check=True).stdout == "True\n"
    assert signal.getsignal(signal.SIGINT) is before
    assert subprocess.run(ask, capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_log_is_told_now_and_then_how_far_a_run_is():
    times, said = iter([0.0, 10.0, 31.0, 32.0, 70.0]), []
    progress = ProgressLines(said.append, every=30.0, clock=lambda: next(times))
    for done in (1, 2, 3, 4):
        progress(done, 9)
    assert said == ["2 of 9 results after 0.5 minutes", "4 of 9 results after 1.2 minutes"]


def test_failures_are_counted_and_end_in_exit_code_1(tiny, monkeypatch):
    paper = replace(TINY, contenders=(RIDGE, replace(PLAIN, make=lambda gamma: Failing())))
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: paper)
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", "out")
    assert result.exit_code == 1
    assert "6 fits failed" in result.stderr


def test_what_the_user_can_mend_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_one_line(run("reproduce"), "no paper was named; choose from fgcv")
    assert_one_line(run("reproduce", "moby"), "unknown paper 'moby'; choose from fgcv")


def test_what_the_user_can_mend_in_a_run_is_one_line(tiny, monkeypatch):
    Path("a file").write_text("")
    assert_one_line(run("reproduce", "fgcv", "--only", "three"), "unknown experiment 'three'; tiny has one, two")
    assert_one_line(run("reproduce", "fgcv", "--out", "a file/below"), "cannot be written")
    assert_one_line(run("reproduce", "fgcv", "--budget", "-1"), "--budget")

    def nowhere(rng):
        raise DataNotFoundError("data set 'lost' was not found.")

    paper = replace(TINY, experiments=(TINY.experiments[0], replace(TINY.experiments[1], draw=nowhere)))
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: paper)
    assert_one_line(run("reproduce", "fgcv"), "'lost' was not found", "--only one")

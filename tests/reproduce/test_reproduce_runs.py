"""Runs: order, resuming, failures, deadlines, and plans that keep a budget."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.linear_model import LinearRegression

from skarce.reproduce.runner.budget import FEW_TUNED, USABLE, Cost, Share, affordable_plan, full_plan, measured_costs
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.run import Options, Run, settings_digest
from skarce.reproduce.runner.workers import results_of
from tests.reproduce.tiny_paper import PLAIN, RIDGE, TINY, Failing, finished, fixed, in_process, interrupted_after, record


def test_every_unit_is_run_once_and_tuned(tmp_path):
    made = finished(tmp_path)
    assert [r.key for r in made.records()] == [
        (name, repeat, method) for name, n in (("one", 4), ("two", 2)) for repeat in range(n) for method in ("ridge", "plain")
    ]
    assert all(r.tuned for r in made.records())


@pytest.mark.parametrize("stop_after", [1, 3, 7])
def test_a_run_that_was_interrupted_ends_as_one_that_was_not(tmp_path, stop_after):
    path = tmp_path / "broken.jsonl"
    with pytest.raises(KeyboardInterrupt):
        Run(TINY, interrupted_after(stop_after)(path), in_process()).run()
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


# Budget -----------------------------------------------------------------------------------------------------------------

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


def test_joblib_works_in_a_process_that_has_run_tasks():
    assert sorted(results_of((partial(abs, number) for number in (-1, -2, -3)), 2)) == [1, 2, 3]
    assert Parallel(n_jobs=2)(delayed(abs)(number) for number in (-1, -2)) == [1, 2]

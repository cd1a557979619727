"""What a paper may have of its own: error, scaling, test, printed numbers, shared widths, numbers per fit, pages, pictures."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.linear_model import Ridge
from sklearn.preprocessing import MinMaxScaler

from skarce.reproduce.runner import pictures, report
from skarce.reproduce.runner.budget import Share
from skarce.reproduce.runner.findings import findings
from skarce.reproduce.runner.measures import MSE, NMSE
from skarce.reproduce.runner.page import general_notes
from skarce.reproduce.runner.pair_tests import T_TEST, paired_t_test
from skarce.reproduce.runner.pairs import Comparison, comparisons
from skarce.reproduce.runner.paper import Contender, Experiment, Printed
from skarce.reproduce.runner.records import Store, record_of
from skarce.reproduce.runner.run import Options, Run, median_choice, settings_digest
from skarce.reproduce.runner.summary_table import summary_table
from skarce.reproduce.runner.units import Unit, Work, run_unit, run_units
from tests.cli.commands import run
from tests.reproduce.tiny_paper import PLAIN, RIDGE, TINY, finished, fixed, in_process, interrupted_after, record

LEADER = Contender("leader", "learns", lambda choice: Ridge(alpha=3.0), learned=lambda model: model.coef_, printed_as="Lead(1)")
FOLLOWER = Contender(
    "follower",
    "is given",
    lambda choice, given: Ridge(alpha=choice * abs(given[0])),
    (0.1, 10.0),
    follows="leader",
    extras={"length": lambda model: np.linalg.norm(model.coef_)},
)
IN_LINE = replace(TINY, contenders=(FOLLOWER, LEADER), claims={}, baseline=None, time_ratios={}, more_functions=())


def fold():
    return TINY.experiments[0].split(0, 0)


# Errors, scaling, tests ---------------------------------------------------------------------------------------------------


def test_the_error_is_the_papers_own(tmp_path):
    in_units = {r.key: r.error for r in finished(tmp_path, replace(TINY, measure=MSE), name="mse.jsonl").records()}
    for normalized in finished(tmp_path).records():
        split = next(e for e in TINY.experiments if e.name == normalized.experiment).split(normalized.repeat, 0)
        np.testing.assert_allclose(in_units[normalized.key], normalized.error * np.var(split.y_test))


def test_inputs_span_the_range_of_the_paper():
    split = TINY.experiments[0].split(0, 0, (-1.0, 1.0))
    np.testing.assert_allclose((split.X_train.min(axis=0), split.X_train.max(axis=0)), np.array([[-1.0] * 5, [1.0] * 5]))
    np.testing.assert_allclose(split.X_test, 2.0 * fold().X_test - 1.0)


def test_methods_see_scaled_targets_and_the_error_is_in_their_own_units():
    split, seen = fold(), []

    class Looking(Ridge):
        def fit(self, X, y):
            seen.append((y.min(), y.max()))
            return super().fit(X, y)

    contender = Contender("looking", "", lambda choice: Looking(), extras={"largest": lambda model: abs(model.coef_).max()})
    result = run_unit(Unit("one", 0, "looking", ""), contender, Work(split, 7, MSE, (-1.0, 1.0)))
    scaler = MinMaxScaler((-1.0, 1.0)).fit(split.y_train[:, None])
    inner = Ridge().fit(split.X_train, scaler.transform(split.y_train[:, None])[:, 0])
    predicted = scaler.inverse_transform(inner.predict(split.X_test)[:, None])[:, 0]
    np.testing.assert_allclose(seen[0], (-1.0, 1.0))
    np.testing.assert_allclose(result.error, np.mean((split.y_test - predicted) ** 2))
    np.testing.assert_allclose(result.extras["largest"], abs(inner.coef_).max())
    assert result.n_functions == 5


def test_the_t_test_is_that_of_scipy_and_names_the_better_method(rng):
    first, second = rng.normal([[0.0], [0.6]], size=(2, 8))
    records = [record(i, "a", error) for i, error in enumerate(first)] + [record(i, "b", e) for i, e in enumerate(second)]
    ours = comparisons(records, ["a", "b"], T_TEST)["a", "b"]
    np.testing.assert_allclose(ours.p_value, ttest_rel(first, second).pvalue)
    assert (ours.better, ours.worse) == (("a", "b") if first.mean() < second.mean() else ("b", "a"))


@pytest.mark.parametrize(
    ("differences", "expected"), [([], (None, 0)), ([1.0], (None, 0)), ([0.0, 0.0], (1.0, 0)), ([-2.0, -2.0], (0.0, -1))]
)
def test_the_t_test_without_spread(differences, expected):
    assert paired_t_test(np.array(differences)) == expected


def test_where_no_method_is_better_none_is_worse():
    assert Comparison(("a", "b"), 1.0, None, 3).worse is None


def test_disjoint_repeats_share_no_rows():
    def numbered(rng, repeat):
        order = rng.permutation(np.arange(40.0))[:, None]
        rows = order[10 * repeat : 10 * repeat + 10]
        return rows, rows[:, 0], rows, rows[:, 0]

    experiment = Experiment("table", "Table", 4, numbered, disjoint=True)
    seen = np.concatenate([experiment.split(repeat, 5).y_train for repeat in range(4)])
    assert sorted(seen) == list(range(40))
    assert list(seen) != list(np.concatenate([experiment.split(repeat, 6).y_train for repeat in range(4)]))


# Choices of several parts, and what others have learned -------------------------------------------------------------------


def test_the_median_choice_is_one_of_each_part():
    assert median_choice([1.0, 4.0, 2.0, 8.0]) == 2.0
    assert median_choice([(1.0, 0.1), (10.0, 0.2), (100.0, 0.1)]) == (10.0, 0.1)


def test_choices_of_several_parts_are_tuned_stored_and_reused(tmp_path, monkeypatch):
    pairs = ((0.1, 1.0), (10.0, 0.0))
    both = replace(RIDGE, make=lambda choice: Ridge(alpha=choice[0], fit_intercept=bool(choice[1])), choices=pairs)
    paper = replace(TINY, contenders=(both, PLAIN), choice_heading="alpha, intercept")
    monkeypatch.setattr("skarce.reproduce.runner.run.affordable_plan", lambda wanted, *rest: {name: Share(2, 1) for name in wanted})
    made = finished(tmp_path, paper)
    assert [r.tuned for r in made.records() if r.method == "ridge"] == [True, False] * 2
    assert {r.choice for r in made.records() if r.method == "ridge"} <= set(pairs)
    assert fixed(Run(paper, Store.open(made.store.path), in_process()).records()) == fixed(made.records())
    headings, rows = summary_table(findings(paper, made.records())[0])
    assert rows[0][headings.index("alpha, intercept")] in ("(0.1, 1)", "(10, 0)", "(5.05, 0.5)")
    assert report.facts(made, quick=False)["tried for RIDGE"] == "(0.1, 1), (10, 0)"


def test_a_method_is_given_what_another_has_learned(tmp_path):
    for r in (made := finished(tmp_path, IN_LINE)).records():
        if r.method == "leader":
            continue
        split = next(e for e in TINY.experiments if e.name == r.experiment).split(r.repeat, 0)
        given = Ridge(alpha=3.0).fit(*split[:2]).coef_[0]
        model = Ridge(alpha=r.choice * abs(given)).fit(*split[:2])
        np.testing.assert_allclose(r.error, NMSE.of(split.y_test, model.predict(split.X_test)))
        np.testing.assert_allclose(r.extras["length"], np.linalg.norm(model.coef_))
    assert len(made.records()) == 12


def test_followers_in_other_processes_are_given_the_same(tmp_path):
    made = Run(IN_LINE, Store.open(tmp_path / "parallel.jsonl"), Options(n_jobs=2))
    made.run()
    assert fixed(made.records()) == fixed(finished(tmp_path, IN_LINE).records())


@pytest.mark.parametrize("stop_after", [1, 2, 5])
def test_a_follower_goes_on_from_what_is_stored(tmp_path, stop_after):
    path = tmp_path / "broken.jsonl"
    with pytest.raises(KeyboardInterrupt):
        Run(IN_LINE, interrupted_after(stop_after)(path), in_process()).run()
    assert fixed(finished(tmp_path, IN_LINE, "broken.jsonl").records()) == fixed(finished(tmp_path, IN_LINE).records())


def test_when_the_leader_fails_its_followers_say_so():
    broken = replace(LEADER, make=lambda choice: Ridge(alpha=-1.0))
    units = [Unit("one", 0, "leader", ""), Unit("one", 0, "follower", "")]
    first, second = run_units(units, {"leader": broken, "follower": FOLLOWER}, Work(fold(), 7), {})
    assert "alpha" in first.failure
    assert second.failure == "LookupError: leader learned nothing that follower could start from"


def test_another_leader_error_or_scaling_is_another_result():
    digests = {
        settings_digest(FOLLOWER, 0, paper)
        for paper in (
            IN_LINE,
            replace(IN_LINE, measure=MSE),
            replace(IN_LINE, target_range=(-1.0, 1.0)),
            replace(IN_LINE, input_range=(-1.0, 1.0)),
            replace(IN_LINE, contenders=(FOLLOWER, replace(LEADER, make=lambda choice: Ridge(alpha=4.0)))),
        )
    }
    assert len(digests) == 5


def test_records_survive_json():
    full = record(choice=(1.0, 2.0), learned=(0.5, 0.25), extras={"steps": 3.0}, warnings=("steep",))
    assert record_of(json.loads(json.dumps(full.__dict__))) == full


# Tables and pictures ------------------------------------------------------------------------------------------------------


def test_printed_numbers_stand_beside_ours(tmp_path):
    printed = {"one": {"follower": Printed(error=0.25, n_functions=7, fit_seconds=2.0, extras={"length": 1.5})}}
    paper = replace(IN_LINE, printed=printed, average="mean")
    made = finished(tmp_path, paper)
    first, second = findings(paper, made.records())
    headings, rows = summary_table(first)
    row = dict(zip(headings, rows[0], strict=True))
    assert [row[f"paper {name}"] for name in ("mean", "functions", "length", "fit")] == ["0.25", "7", "1.5", "2 s"]
    lengths = [r.extras["length"] for r in made.records() if r.experiment == "one" and r.method == "follower"]
    assert row["length"] == f"{np.mean(lengths):.4g}"
    assert rows[1][0] == "Lead(1)"
    assert rows[1][headings.index("length")] == "-"
    assert not any(heading.startswith("paper") for heading in summary_table(second)[0])
    content = json.loads(report.results_json(made, made.records(), quick=False))
    assert content["printed"]["numbers"]["one"]["follower"]["n_functions"] == 7


def test_a_paper_may_have_a_page_and_pictures_of_its_own(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")

    def overview(found):
        return ["## All at once", f"{len(found)} experiments"]

    def draw(found, folder):
        (folder / "all.png").write_bytes(b"a picture")
        return ["all.png"]

    paper = replace(TINY, overview=overview, pictures=(draw,), in_detail=False, pair_test=T_TEST, measure=MSE, claims={})
    monkeypatch.setattr("skarce.cli.reproducing.find_paper", lambda name, quick: paper)
    result = run("reproduce", "fgcv", "--jobs", "1", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out" / "tables.md").read_text()
    assert "2 experiments" in page
    assert "2 experiments" in result.stdout
    assert "![all](all.png)" in page
    assert "## First" not in page
    assert "paired t-test" in page
    assert "- MSE is the mean squared test error.\n" in page
    assert not (tmp_path / "out" / "one.png").exists()


def test_pictures_of_many_methods_are_wider(tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    many = tuple(replace(PLAIN, name=f"method{i}") for i in range(9))
    for contenders in (many[:2], many):
        records = [record(i, c.name, 0.1 + i) for i in range(3) for c in contenders]
        pictures.draw_all(replace(TINY, contenders=contenders), records, tmp_path)
        assert imread(tmp_path / "one.png").shape[1] == max(800, 150 * len(contenders))


def test_notes_speak_of_what_the_paper_has():
    notes = " ".join(general_notes(replace(TINY, choice_heading="C, epsilon", average="mean")))
    assert "C, epsilon were chosen" in notes
    assert "are means over repeats" in notes
    assert "width" not in notes

"""The command line on targets that are classes."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import brier_score_loss

from skarce.cli import app
from skarce.cli.explanation import active_functions, last_steps, original_inputs
from skarce.cli.model_file import load
from skarce.comparison import TASKS, own_names
from skarce.comparison.registry import all_names
from skarce.comparison.scores import brier
from skarce.datasets import TargetKind
from skarce.datasets.columns import NUMBER
from skarce.datasets.tables import Table, TableError, read_table
from skarce.datasets.training import inputs, make_preprocessing, recognize_target, training_data

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


@pytest.fixture
def moons():
    X, y = make_moons(120, noise=0.3, random_state=0)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "side": np.where(y == 1, "lower", "upper")})
    frame.to_csv("moons.csv", index=False)
    return frame


@pytest.fixture
def flowers():
    data = load_iris(as_frame=True)
    frame = data.data.assign(species=data.target_names[data.target])
    frame.to_csv("flowers.csv", index=False)
    return frame


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result


def table_of(**columns):
    return Table(pd.DataFrame(columns), "a table", lambda row: f"row {row + 1}")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"] * 10, TargetKind.CLASSES),
        ([True, False] * 10, TargetKind.CLASSES),
        ([0, 1, 2, 3] * 5, TargetKind.CLASSES),
        ([0.0, 1.0] * 10, TargetKind.CLASSES),
        (list(range(20)), TargetKind.NUMBERS),
        ([0.5, 1.0] * 10, TargetKind.NUMBERS),
        ([1, 2, 3], TargetKind.NUMBERS),
        (["1.5", "2", "three", "4"], TargetKind.NUMBERS),
    ],
)
def test_classes_are_recognized(values, kind):
    assert recognize_target(table_of(x=np.arange(len(values)), y=values), "y") is kind


def test_labels_keep_their_kind():
    x = np.arange(20)
    assert training_data(table_of(x=x, y=[0.0, 1.0] * 10), "y").y.dtype == np.int64
    assert training_data(table_of(x=x, y=[True, False] * 10), "y").y.dtype == bool
    assert set(training_data(table_of(x=x, y=["p", "q"] * 10), "y").y) == {"p", "q"}
    assert training_data(table_of(x=x, y=[0, 1] * 10), "y", TargetKind.NUMBERS).y.dtype == np.float64


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a"] * 20, "the same in all rows"),
        ([f"name{i}" for i in range(20)], "too many for classes"),
        (["a", None] * 10, "10 missing values"),
    ],
)
def test_targets_that_cannot_be_classes_are_named(values, message):
    with pytest.raises(TableError, match=message):
        training_data(table_of(x=np.arange(20), y=values), "y", TargetKind.CLASSES)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (
            {"Yes": 30, "No": 20, "Maybe": 1},
            "class Maybe of 'answer' has one row, which cannot be used both to train and to test; drop",
        ),
        ({"Yes": 30, "No": 1}, "class No of 'answer' has one row, which cannot be used both to train and to test; add rows."),
        ({"Yes": 30, "No": 3}, "class No of 'answer' has 3 rows, fewer than the 5 folds; use --cv 3, or add rows."),
        (
            {"Yes": 9, "No": 2, "Maybe": 3},
            "class No of 'answer' has 2 rows, fewer than the 5 folds; use --cv 2, drop the class, or merge it with another.",
        ),
    ],
)
def test_compare_says_what_helps_against_small_classes(rng, counts, message):
    answers = np.repeat(list(counts), list(counts.values()))
    frame = pd.DataFrame({"x": rng.normal(size=len(answers)), "answer": answers})
    frame.to_csv("answers.csv", index=False)
    arguments = ("compare", "answers.csv", "--target", "answer", "--methods", "logistic")
    output = run(*arguments, code=2).output
    assert message in output
    if "use --cv" in output:
        run(*arguments, "--cv", str(min(counts.values())))
    else:
        assert "--cv" not in output


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_numbers_that_are_not_whole_are_no_classes(command):
    pd.DataFrame({"x": np.arange(30), "dose": [0, 0.5, 1] * 10}).to_csv("doses.csv", index=False)
    output = run(command, "doses.csv", "--target", "dose", "--task", "classification", code=2).output
    assert "doses.csv: column 'dose' has 0.5 in line 3, but numbers must be whole to be classes" in output
    assert "--task regression" in output


def test_brier_is_that_of_scikit_learn(rng):
    probability, labels = rng.uniform(size=50), rng.integers(0, 2, 50)
    ours = brier(np.column_stack([1 - probability, probability]), labels, np.array([0, 1]))
    assert ours == pytest.approx(brier_score_loss(labels, probability))
    assert brier(np.full((2, 4), 0.25), np.array([0, 3]), np.arange(4)) == pytest.approx(0.75**2 + 3 * 0.25**2)


def test_compare_scores_classifiers_side_by_side(moons):
    result = run(
        "compare", "moons.csv", "--target", "side", "--methods", "frvm,vbls-rvm,logistic", "--cv", "3", "--json", "out.json"
    )
    for heading in ("accuracy", "log loss", "Brier", "functions"):
        assert heading in result.output
    assert "coverage" not in result.output
    content = json.loads(Path("out.json").read_text())
    assert content["task"] == "classification"
    assert [len(method["folds"]) for method in content["methods"]] == [3, 3, 3]
    accuracies = [np.mean([fold["accuracy"] for fold in method["folds"]]) for method in content["methods"]]
    assert accuracies == sorted(accuracies, reverse=True)
    assert all(np.mean([fold["log_loss"] for fold in method["folds"]]) < 0.69 for method in content["methods"])
    assert f"{accuracies[0]:.2%}" in result.output


def test_the_task_can_be_set(moons):
    moons.iloc[::3].assign(side=(moons["side"] == "lower").astype(int)).to_csv("numbers.csv", index=False)
    numbers = run("compare", "numbers.csv", "--target", "side", "--methods", "frvm", "--task", "regression", "--cv", "3")
    assert "RMSE" in numbers.output
    classes = run("compare", "numbers.csv", "--target", "side", "--methods", "frvm", "--cv", "3", "--widths", "cv")
    assert "accuracy" in classes.output


@pytest.mark.parametrize(
    ("command", "names", "choices"),
    [
        (("compare", "--methods"), "frvm,ridge,fgcv", "frvm, rvm, vbls, vbls-rvm, kmp, psvm, svc, gp, logistic"),
        (("fit", "--method"), "fgcv", "frvm, rvm, vbls, vbls-rvm, kmp, psvm"),
    ],
)
@pytest.mark.parametrize("task", [(), ("--task", "classification")])
def test_a_method_for_numbers_is_refused_for_classes(moons, command, names, choices, task):
    result = run(command[0], "moons.csv", "--target", "side", command[1], names, *task, code=2)
    refused = names.removeprefix("frvm,")
    refused = ", ".join(refused.split(","))
    assert f"{refused} cannot be used for classification; choose from {choices}." in result.output
    remark = "The target 'side' was recognized as classes; if that is wrong, use --task."
    assert (remark in result.output) is (not task)


def test_a_method_for_classes_is_refused_for_numbers(moons):
    result = run("compare", "moons.csv", "--target", "a", "--methods", "logistic", code=2)
    assert "logistic cannot be used for regression; choose from frvm" in result.output
    assert "kdr. The target 'a' was recognized as numbers; if that is wrong, use --task." in result.output


@pytest.mark.parametrize("command", [("compare", "--methods"), ("fit", "--method")])
@pytest.mark.parametrize("task", [None, *TASKS])
def test_unknown_names_list_the_methods_of_the_task_or_of_each(command, task):
    """Before the file is read, which is not there."""
    said = () if task is None else ("--task", task)
    output = run(command[0], "none.csv", "--target", "side", command[1], "foo", *said, code=2).output
    assert "unknown method 'foo'; choose from " in output
    listed = own_names if command[0] == "fit" else all_names
    each = "; ".join(f"{', '.join(listed(one))} (for {one.target.value})" for one in TASKS.values()) + "."
    expected = each if task is None else f"{', '.join(listed(TASKS[task]))}."
    assert output.partition("choose from ")[2].strip() == expected


def test_rivals_for_classes_are_compared_only(moons):
    output = run("fit", "moons.csv", "--target", "side", "--method", "svc", "--task", "classification", code=2).output
    assert "'svc' is a rival and can only be compared; choose from frvm, rvm, vbls, vbls-rvm, kmp, psvm." in output


def test_fit_predict_and_explain_two_classes(moons):
    fitted = run("fit", "moons.csv", "--target", "side", "--out", "moons.skops")
    assert "lower, upper" in fitted.output
    assert "accuracy" in fitted.output
    run("predict", "moons.skops", "moons.csv", "--out", "predicted.csv")
    predicted = pd.read_csv("predicted.csv")
    np.testing.assert_allclose(predicted["side_p_lower"] + predicted["side_p_upper"], 1.0)
    assert ((predicted["side_p_upper"] > 0.5) == (predicted["side_predicted"] == "upper")).all()
    assert (predicted["side_predicted"] == moons["side"]).mean() > 0.85
    saved = load(Path("moons.skops"))
    expected = saved.pipeline.predict_proba(inputs(read_table(Path("moons.csv")), saved.columns))
    np.testing.assert_allclose(predicted["side_p_lower"], expected[:, 0])
    explained = run("explain", "moons.skops").output
    assert "log odds of upper" in explained
    assert "std error" in explained
    refused = run("predict", "moons.skops", "moons.csv", "--std", "augmented", code=2)
    assert "--std augmented is for numbers" in refused.output


def test_fit_predict_and_explain_three_classes(flowers):
    run("fit", "flowers.csv", "--target", "species", "--method", "frvm", "--out", "flowers.skops")
    run("predict", "flowers.skops", "flowers.csv", "--out", "predicted.csv")
    predicted = pd.read_csv("predicted.csv")
    assert (predicted["species_predicted"] == flowers["species"]).mean() > 0.9
    explained = run("explain", "flowers.skops").output
    assert "setosa, versicolor, virginica" in explained
    assert "(the sum over the classes)" in explained


def test_explain_lists_each_function_for_the_classes_that_have_it(flowers):
    run("fit", "flowers.csv", "--target", "species", "--out", "flowers.skops")
    saved = load(Path("flowers.skops"))
    model, functions = saved.regressor, active_functions(saved)
    assert functions["relevance"].is_monotonic_decreasing
    assert len(functions) == sum(np.count_nonzero(weights) for weights in model.dual_coef_)
    assert set(functions["candidate"]) == set(model.active_)
    for label, weights, precisions, posterior in zip(
        model.classes_, model.dual_coef_, model.weight_precision_, model.posterior_, strict=True
    ):
        own = functions[functions["for class"] == label].sort_values("candidate")
        is_own = np.isin(model.active_, own["candidate"])
        np.testing.assert_allclose(own["weight"], weights[is_own])
        assert not weights[~is_own].any()
        dense = np.linalg.inv(posterior.factor @ posterior.factor.T)[1:, 1:]
        np.testing.assert_allclose(own["std error"] ** 2, np.diag(dense))
        np.testing.assert_allclose(own["relevance"], 1.0 - precisions[is_own] * np.diag(dense), rtol=1e-6)
        np.testing.assert_allclose(own[flowers.columns[:-1]], flowers.drop_duplicates().iloc[own["candidate"], :-1])
    lines = run("explain", "flowers.skops").output.splitlines()
    assert max(map(len, lines)) <= 100
    for row in functions.itertuples():
        words = f"{row.candidate} {row[-4]} {row.weight:.4f}".split()
        assert any(line.split()[:1] == words[:1] and set(words) <= set(line.split()) for line in lines)


def test_explain_shows_the_last_steps_of_every_class(flowers):
    run("fit", "flowers.csv", "--target", "species", "--out", "flowers.skops")
    saved = load(Path("flowers.skops"))
    steps, model = last_steps(saved), saved.regressor
    assert steps["for class"].tolist() == np.repeat(model.classes_, 5).tolist()
    for label, posterior in zip(model.classes_, model.posterior_, strict=True):
        own = steps[steps["for class"] == label]
        assert own["step"].tolist() == list(range(len(posterior.trace) - 4, len(posterior.trace) + 1))
        np.testing.assert_array_equal(own["criterion"], posterior.trace["criterion"][-5:])
    ends = steps.groupby("for class")["criterion"].last()
    assert ends.sum() == pytest.approx(model.criterion_, abs=1e-6)


def test_many_classes_share_the_steps_that_are_shown(rng):
    label = np.repeat(np.arange(8), 12)
    angle = 2.0 * np.pi * label / 8
    frame = pd.DataFrame({"a": np.cos(angle), "b": np.sin(angle)}) + 0.05 * rng.normal(size=(96, 2))
    frame.assign(label=label).to_csv("ring.csv", index=False)
    run("fit", "ring.csv", "--target", "label", "--out", "ring.skops")
    assert last_steps(load(Path("ring.skops")))["for class"].tolist() == list(range(8))


def test_centres_at_zero_are_zero(rng):
    """Not what is left of them by scaling and back; values that are small by their units stay."""
    counts = pd.DataFrame(np.round(rng.exponential(3.0, (80, 7))), columns=[f"x{place}" for place in range(7)])
    frame = counts.assign(small=1e-20 * counts["x0"])
    preprocessing = make_preprocessing(dict.fromkeys(frame, NUMBER))
    scaled = preprocessing.fit_transform(frame)
    plain = preprocessing.named_transformers_["numbers"].inverse_transform(scaled)
    assert plain[frame == 0.0].any()  # rounding errors, or there is nothing to test
    back = original_inputs(preprocessing, scaled)
    np.testing.assert_array_equal(back == 0.0, frame == 0.0)
    np.testing.assert_allclose(back, frame, rtol=1e-12)


@pytest.mark.parametrize("width", [75, 80, 100])
def test_narrow_tables_break_between_words(flowers, monkeypatch, width):
    run("fit", "flowers.csv", "--target", "species", "--out", "flowers.skops")
    monkeypatch.setenv("COLUMNS", str(width))
    output = run("explain", "flowers.skops").output
    assert max(map(len, output.splitlines())) <= width
    table = output[output.index("Active functions") : output.index("Last steps")].split()
    for word in ("candidate", "sepal", "virginica", "versicolor", "relevance"):
        assert word in table


def test_a_support_vector_machine_is_explained_by_margins(moons):
    run("fit", "moons.csv", "--target", "side", "--method", "psvm", "--out", "moons.skops")
    explained = run("explain", "moons.skops").output
    assert "margin of upper" in explained
    assert "no likelihood" in explained
    assert "std error" not in explained
    assert "log odds" not in explained

"""The part on classification of the paper on variational least squares: its data, its tables, its pictures."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC

from skarce import PrimalSVMClassifier, RelevanceVectorClassifier, datasets
from skarce.comparison import Fold, count_functions
from skarce.reproduce.papers.vbls_classification.contenders import SMALL
from skarce.reproduce.papers.vbls_classification.data import pima, ripley, zeros
from skarce.reproduce.papers.vbls_classification.experiments import ERROR, paper
from skarce.reproduce.papers.vbls_classification.pictures import draw, vectors_of
from skarce.reproduce.papers.vbls_classification.printed import ON_FIRST, TABLE_6, TABLE_7
from skarce.reproduce.papers.vbls_classification.tables import overview
from skarce.reproduce.runner.findings import findings
from skarce.reproduce.runner.measures import Measure, error_rate
from skarce.reproduce.runner.paper import Contender, Experiment
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.run import Options, Run, settings_digest
from skarce.reproduce.runner.splits import of_unit_length
from skarce.reproduce.runner.units import Maker, Record, Unit, Work, best_choice, run_unit

LOGISTIC = Contender("logistic", "logistic regression", lambda cost: LogisticRegression(C=cost), (0.001, 0.1, 10.0))


def record(method, repeat=0, experiment="ripley", **fields):
    return Record(
        experiment, repeat, method, "", **({"tuned": True, "error": 10.0, "n_functions": 4, "fit_seconds": 0.01} | fields)
    )


@pytest.fixture
def fold(rng):
    X = rng.normal(size=(160, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=160) > 0).astype(float)
    return Fold(X[:80], y[:80], X[80:], y[80:])


# What papers on classes need of the framework ---------------------------------------------------------------------------------


def test_the_error_rate_counts_rows_in_per_cent():
    assert error_rate(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])) == 25.0


def test_choices_are_compared_by_the_score_of_the_measure(fold):
    folds = KFold(5, shuffle=True, random_state=7)
    search = GridSearchCV(LogisticRegression(), {"C": LOGISTIC.choices}, cv=folds, scoring="accuracy").fit(*fold[:2])
    assert best_choice(Maker(LOGISTIC), Work(fold, 7, ERROR)) == search.best_params_["C"]


def test_choices_see_the_first_rows_only_and_the_fit_sees_all(fold):
    """Rows that no fit could survive come after the first 50: tuning does not touch them, the fit does."""
    spoiled = fold._replace(X_train=np.vstack([fold.X_train[:50], np.full((30, 3), np.nan)]))
    given = Unit("one", 0, "logistic", "s", choice=10.0)
    assert best_choice(Maker(LOGISTIC), Work(spoiled, 7, ERROR, tuning_rows=50)) in LOGISTIC.choices
    assert "NaN" in run_unit(given, LOGISTIC, Work(spoiled, 7, ERROR, tuning_rows=50)).failure
    whole = paper()
    others = [replace(whole, tuning_rows=n) for n in (None, 50)]
    assert len({settings_digest(whole.contenders[0], 0, judged) for judged in (whole, *others)}) == 3


def test_a_measure_records_further_numbers_of_the_same_predictions(fold):
    measure = Measure("error", error_rate, "", scoring="accuracy", others={"rows": lambda y, predicted: len(predicted)})
    assert run_unit(Unit("one", 0, "logistic", "s", 1.0), LOGISTIC, Work(fold, 0, measure)).extras == {"rows": 80.0}


def test_images_are_divided_by_one_number(rng):
    X, X_test = 5.0 * rng.random((30, 4)), 5.0 * rng.random((10, 4))
    fold = Experiment("images", "", 1, lambda rng: (X, X[:, 0], X_test, X_test[:, 0]), commensurable=True).split(0, 0)
    np.testing.assert_allclose((fold.X_train**2).sum(axis=1).mean(), 1.0)
    np.testing.assert_allclose(fold.X_test * (X[0, 0] / fold.X_train[0, 0]), X_test)
    np.testing.assert_array_equal(of_unit_length(X, X[:, 0], X_test, X_test[:, 0]).y_train, X[:, 0])


def test_functions_of_pipelines_and_of_guesses_are_counted(fold):
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression()).fit(*fold[:2])
    assert count_functions(model) == 9
    assert count_functions(DummyClassifier().fit(*fold[:2])) == 0


def test_vectors_are_those_that_the_model_is_made_of(fold):
    ours, svm = RelevanceVectorClassifier("rbf").fit(*fold[:2]), SVC().fit(*fold[:2])
    assert len(vectors_of(ours, fold.X_train)) == len(ours.active_)
    np.testing.assert_array_equal(vectors_of(svm, fold.X_train), svm.support_vectors_)


# The paper ------------------------------------------------------------------------------------------------------------------


def test_data_have_the_sizes_of_the_paper(data_folder, rng):
    by_name = {experiment.name: experiment for experiment in paper().experiments}
    sizes = {name: tuple(len(part) for part in by_name[name].split(0, 0)[::2]) for name in ("ripley", "banana", "pima")}
    assert sizes == {"ripley": (100, 1000), "banana": (400, 4900), "pima": (200, 332)}
    X, y, *_ = ripley(rng)
    table = datasets.load("synth_tr")
    assert {(*x, t) for x, t in zip(X, y, strict=True)} <= {(*x, t) for x, t in zip(table.X, table.y, strict=True)}
    assert set(np.unique(pima(rng)[1])) == {0.0, 1.0}
    X, y, X_test, y_test = zeros(3000, rng)
    digits = datasets.mnist()
    assert (X.shape, X_test.shape) == ((3000, 784), (2000, 784))
    np.testing.assert_array_equal(y_test, digits.y_test == 0)
    where = {image.tobytes(): digit for image, digit in zip(digits.X_train, digits.y_train, strict=True)}
    assert all((where[image.tobytes()] == 0) == label for image, label in zip(X, y, strict=True))


def test_the_original_machine_has_at_most_3000_rows_and_all_that_is_printed_has_a_place():
    by_name = {experiment.name: experiment for experiment in paper().experiments}
    assert [n for n in TABLE_7 if "rvm" in by_name[f"mnist-{n}"].methods] == [1000, 3000]
    assert all(set(row) - {"rvm"} <= set(by_name[f"mnist-{n}"].methods) for n, row in TABLE_7.items())
    assert all(set(row) <= set(by_name[name].methods) for name, row in TABLE_6.items())
    assert [by_name[name].n_repeats for name in TABLE_6] == [10, 10, 1]


def test_the_primal_machine_of_the_paper_is_ours_and_the_dual_one_has_no_printed_numbers_on_images():
    """Both try the same widths and costs."""
    whole = paper()
    primal, dual = (next(c for c in whole.contenders if c.name == name) for name in ("psvm", "svm"))
    assert whole.label("psvm") == "primal SVM"
    assert primal.choices == dual.choices
    model = primal.make((4.0, 10.0))
    assert isinstance(model, PrimalSVMClassifier)
    assert (model.basis.gamma, model.C) == (4.0, 10.0)
    assert all("psvm" in row and "svm" not in row for row in TABLE_7.values())
    assert all({"psvm", "svm"} <= set(experiment.methods) for experiment in whole.experiments)


def test_tables_have_ours_beside_theirs():
    errors = {"rvm": (9.0, 11.0), "frvm": (8.5, 9.5), "vbls-rvm": (12.0, 12.5)}
    records = [record(m, repeat, error=e) for m, pair in errors.items() for repeat, e in enumerate(pair)]
    images = {"experiment": "mnist-1000", "error": 2.5, "n_functions": 20, "fit_seconds": 1.5}
    records += [record("psvm", **images, extras={ON_FIRST: 3.4}), record("svm", **images, extras={ON_FIRST: 3.6})]
    records += [record("rvm", **images, extras={ON_FIRST: 3.2}), record("never", **images | {"n_functions": 0})]
    found = findings(paper(), records)
    page = "\n".join(overview(found))
    assert "10.00 (9.75)" in page
    assert "9.00*" in page
    assert "12.25 (9.66)" in page
    assert "3.2 (7.6)" in page
    assert "3.4 (13.4)" in page
    assert "3.6 (" not in page
    assert "1.5 s (165 s)" in page
    assert "never zero" in page
    assert "Banana" not in page
    assert found[0].standard_error("rvm") == pytest.approx(1.0)
    assert found[0].standard_error("svm") is None


def test_ripley_is_run_told_and_drawn(tmp_path, data_folder):
    pytest.importorskip("matplotlib")
    whole = paper(quick=True)
    whole = replace(whole, contenders=tuple(replace(each, choices=each.choices[:2]) for each in whole.contenders))
    run = Run(whole, Store(tmp_path / "records.jsonl"), Options(repeats=1, n_jobs=1), ["ripley"])
    run.run()
    records = run.records()
    assert {r.method for r in records} == set(SMALL)
    assert all(r.failure is None for r in records)
    assert all(7.0 < r.error < 16.0 for r in records)  # the Bayes error is about 8
    found = findings(whole, records)
    assert f"{found[0].summary('rvm').mean:.2f}" in "\n".join(overview(found))
    assert draw(found, tmp_path) == ["ripley-regions.png"]
    assert 0 < (tmp_path / "ripley-regions.png").stat().st_size < 300_000

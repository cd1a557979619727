"""What all classifiers share: labels, weights, messages."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import (
    KernelBasis,
    ProcessBasis,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from tests.estimators.test_relevance_vector_classifier import moons


@pytest.fixture(params=["fast", "em"])
def solver(request):
    return request.param


@pytest.mark.parametrize("names", [(False, True), (-1.0, 1.0), ("no", "yes"), (3, 7)])
def test_labels_of_any_kind(names):
    X, y = moons(100)
    plain = RelevanceVectorClassifier("rbf").fit(X, y)
    model = RelevanceVectorClassifier("rbf").fit(X, np.array(names)[y])
    np.testing.assert_array_equal(model.classes_, np.array(names))
    np.testing.assert_array_equal(model.predict(X), np.array(names)[plain.predict(X)])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


WIDTH_LEARNERS = {
    "kernel": KernelBasis(gamma="ard"),
    "process": ProcessBasis(),
    "pipeline": make_pipeline(StandardScaler(), ProcessBasis(gamma="evidence")),
}


def learned_width(basis, X, y, **options):
    fitted = RelevanceVectorClassifier(basis, **options).fit(X, y).basis_
    fitted = getattr(fitted, "transformer", fitted)
    return (fitted[-1] if hasattr(fitted, "steps") else fitted).gamma_


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("basis", WIDTH_LEARNERS.values(), ids=WIDTH_LEARNERS)
@pytest.mark.parametrize("names", [("b", "a"), (True, False), (3, 1_000_000), np.array([5, 4], dtype=object)])
def test_widths_do_not_depend_on_the_names_of_two_classes(basis, names, fit_intercept):
    X, y = moons(60)
    expected = learned_width(basis, X, y, fit_intercept=fit_intercept)
    found = learned_width(basis, X, np.asarray(names)[y], fit_intercept=fit_intercept)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("basis", [KernelBasis(gamma="evidence"), ProcessBasis(gamma="evidence"), WIDTH_LEARNERS["pipeline"]])
@pytest.mark.parametrize("names", [("z", "a", "m"), (-7, 1000, 0)])
def test_widths_do_not_depend_on_the_names_of_three_classes(basis, names):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    np.testing.assert_allclose(learned_width(basis, X, np.array(names)[y]), learned_width(basis, X, y), rtol=1e-3)


def test_other_transformers_get_the_labels():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = RelevanceVectorClassifier(LinearDiscriminantAnalysis()).fit(X, names)
    assert list(model.basis_.transformer.classes_) == ["setosa", "versicolor", "virginica"]


def test_exchanged_classes_give_the_mirrored_model():
    X, y = moons(150)
    model, mirrored = RelevanceVectorClassifier("rbf").fit(X, y), RelevanceVectorClassifier("rbf").fit(X, 1 - y)
    np.testing.assert_array_equal(model.active_, mirrored.active_)
    np.testing.assert_allclose(model.predict_proba(X), mirrored.predict_proba(X)[:, ::-1], atol=1e-6)


def test_weight_two_is_the_row_twice_and_weight_zero_no_row(rng, solver):
    X, y = moons(90)
    weights = rng.integers(0, 4, 90)
    weighted = RelevanceVectorClassifier("rbf", solver=solver).fit(X, y, sample_weight=weights)
    repeated = RelevanceVectorClassifier("rbf", solver=solver).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.relevance_vectors_, repeated.relevance_vectors_)
    assert weighted.criterion_ == pytest.approx(repeated.criterion_, abs=1e-6)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


def test_balanced_weights_count_sample_weights_too():
    X, y = moons(120)
    weights = np.where(y == 1, 3.0, 1.0)
    balanced = RelevanceVectorClassifier("rbf", class_weight="balanced").fit(X, y, sample_weight=weights)
    by_hand = RelevanceVectorClassifier("rbf").fit(X, y, sample_weight=np.where(y == 1, 2.0, 2.0))
    np.testing.assert_allclose(balanced.predict_proba(X), by_hand.predict_proba(X), atol=1e-6)
    named = RelevanceVectorClassifier("rbf", class_weight={0: 2.0, 1: 2.0}).fit(X, y)
    np.testing.assert_allclose(named.predict_proba(X), by_hand.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize(
    ("class_weight", "message"), [("even", "None, 'balanced' or a dict"), ({0: 1.0, 1: -1.0}, "positive for every class")]
)
def test_class_weights_that_cannot_be_are_named(class_weight, message):
    with pytest.raises(ValueError, match=message):
        RelevanceVectorClassifier("rbf", class_weight=class_weight).fit(*moons(50))


def test_one_class_only_is_an_error():
    X, y = moons(30)
    with pytest.raises(ValueError, match="needs at least two classes, got one class, 'a',"):
        RelevanceVectorClassifier("rbf").fit(X, np.full(30, "a"))
    with pytest.raises(ValueError, match="needs at least two classes, got one class, 1,"):
        RelevanceVectorClassifier("rbf").fit(X, y, sample_weight=y.astype(float))
    with pytest.raises(ValueError, match="continuous"):
        RelevanceVectorClassifier("rbf").fit(X, X[:, 0])


@pytest.mark.parametrize("model", [RelevanceVectorClassifier("rbf"), VBLSClassifier("passthrough")])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", None] * 10, r"y has 10 missing labels, the first \(None\) in row 2"),
        (["a", "b"] * 10 + [np.nan], r"y has 1 missing label, the first \(nan\) in row 20"),
        (pd.Series(["a", "b"] * 10 + [pd.NA], dtype="string"), r"y has 1 missing label, the first \(<NA>\) in row 20"),
        (["a", 2] * 10, r"y mixes strings with other labels \(types int, str\)"),
        ([2, "a"] * 10, r"y mixes strings with other labels \(types int, str\)"),
    ],
)
def test_labels_that_cannot_be_are_named(rng, model, labels, message):
    y = labels if isinstance(labels, pd.Series) else np.array(labels, dtype=object)
    with pytest.raises(ValueError, match=message):
        model.fit(rng.normal(size=(len(y), 2)), y)


def test_texts_of_two_kinds_are_texts():
    X, y = moons(60)
    labels = np.array(["upper" if side else np.str_("lower") for side in y], dtype=object)
    assert RelevanceVectorClassifier("rbf").fit(X, labels).classes_.tolist() == ["lower", "upper"]


@pytest.mark.parametrize("model", [RelevanceVectorClassifier("rbf", verbose=1), VBLSClassifier("passthrough", verbose=1)])
def test_short_fits_print_their_end(model, capsys):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model.fit(X, names[y])
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("class ")]
    assert [line.split()[1] for line in lines] == names.tolist()
    for line, posterior in zip(lines, model.posterior_, strict=True):
        assert f"criterion {posterior.criterion: .6e}" in line
        assert line.split()[-3:] == ["active", str(len(posterior.active)), posterior.outcome.name]
    model.fit(X[:100], names[y[:100]])
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("class ")]
    assert line.startswith(f"class versicolor  {model.n_iter_} steps")
    clone(model).set_params(verbose=0).fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_posteriors_are_printed_in_a_line():
    X, y = moons(150)
    model = RelevanceVectorClassifier("rbf").fit(X, y)
    posterior = model.posterior_
    assert repr(posterior) == (
        f"LatentPosterior({len(model.active_)} functions {model.active_.tolist()}, intercept {model.intercept_[0]:.4g}, "
        f"criterion {model.criterion_:.6g}, {model.n_iter_} steps, CONVERGED)"
    )
    narrow = RelevanceVectorRegressor(KernelBasis(gamma=50.0)).fit(X, X[:, 0])
    assert len(narrow.active_) > 20
    linear = VBLSRegressor().fit(X, X[:, 0] + 0.1 * X[:, 1])
    for fitted in (narrow, linear):
        text = repr(fitted.posterior_)
        assert text.startswith(f"{type(fitted.posterior_).__name__}({len(fitted.active_)} functions [")
        assert f"noise variance {fitted.noise_variance_:.4g}" in text
        assert "\n" not in text
        assert len(text) < 200


def test_more_rows_than_one_part_of_a_prediction(monkeypatch):
    X, y = moons(100)
    model = RelevanceVectorClassifier("rbf").fit(X, y)
    expected = model.predict_proba(X)
    monkeypatch.setattr("skarce.estimators.on_basis.PREDICT_ROWS", 33)
    np.testing.assert_allclose(model.predict_proba(X), expected)


@pytest.mark.parametrize("far", [1e4, 1e8, 1e50])
def test_probabilities_are_numbers_where_every_class_is_impossible(far):
    X, y, weights = np.ones((6, 1)), np.repeat([0, 1, 2], 2), np.full(6, 1e10)
    model = RelevanceVectorClassifier("passthrough", fit_intercept=False).fit(X, y, weights)  # log odds of -log 2 for each class
    rows = np.array([[far], [-far]])
    with np.errstate(all="raise", under="ignore"):
        probabilities = model.predict_proba(rows)
    assert (model.decision_function(rows)[0] < -800.0).all()
    assert ((probabilities >= 0.0) & (probabilities <= 1.0)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("classifier", [RelevanceVectorClassifier, VBLSClassifier])
def test_log_odds_are_finite_as_far_away_as_the_latent_function_is(classifier):
    """The square of the standard deviation was multiplied by a number above one."""
    rng = np.random.default_rng(33)
    X = rng.normal(size=(64, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=len(X)) > 0.0
    model = classifier("passthrough").fit(X, y)
    directions, large = np.eye(2)[model.active_[:1]], np.finfo(float).max
    _, std = model.latent(directions * 1e100)
    furthest = directions * (0.99 * np.sqrt(large) / (std[0] / 1e100))
    near = model.decision_function(directions * 1e20)
    with np.errstate(all="raise"):
        np.testing.assert_allclose(model.decision_function(furthest), near, rtol=1e-6)

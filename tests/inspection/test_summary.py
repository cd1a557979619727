"""The table of weights against dense formulas, and its names."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

from skarce import (
    CriterionSearch,
    FastGCVRegressor,
    KernelBasis,
    PrimalSVMClassifier,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    StepwiseRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce.inspection import summary
from tests.estimator_lists import LATENT, REGRESSORS
from tests.oracles import latent_mode, rbf

RNG = np.random.default_rng(3)
X = RNG.normal([1.0, 0.0, -2.0, 5.0, 0.5], 1.0, size=(60, 5))
Y = 0.7 + 2.0 * X[:, 1] - 0.4 * X[:, 3] + RNG.normal(0, 0.5, 60)
LABELS = (X[:, 1] - 0.5 * X[:, 3] + 2.5 + RNG.logistic(size=60)) > 0.0
COUNTS = RNG.poisson(np.exp(0.4 * X[:, 1]))
FRAME = pd.DataFrame(X, columns=list("abcde"))
COLUMNS = ["coefficient", "std", "t", "p", "lower", "upper", "relevance"]


def with_ones(columns):
    return np.column_stack([np.ones(len(columns)), columns])


# Values ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("level", [0.95, 0.6])
@pytest.mark.parametrize("model", [StepwiseRegressor(), VBLSRegressor(prior="none", posterior="student-t")], ids=str)
def test_least_squares_gives_the_table_of_textbooks(model, level, fit_intercept):
    model = model.set_params(fit_intercept=fit_intercept).fit(X, Y)
    design = X[:, model.active_]
    design = with_ones(design) if fit_intercept else design
    inverse, freedom = np.linalg.inv(design.T @ design), len(Y) - design.shape[1]
    weights = inverse @ design.T @ Y
    std = np.sqrt(((Y - design @ weights) ** 2).sum() / freedom * inverse.diagonal())
    table = summary(model, level)
    np.testing.assert_allclose(table["coefficient"], weights, rtol=1e-8)
    np.testing.assert_allclose(table["std"], std, rtol=1e-8)
    np.testing.assert_allclose(table["t"], weights / std, rtol=1e-8)
    np.testing.assert_allclose(table["p"], 2.0 * stats.t.sf(np.abs(weights / std), freedom), rtol=1e-6)
    np.testing.assert_allclose(table["lower"], weights + stats.t.ppf((1 - level) / 2, freedom) * std, rtol=1e-8)
    np.testing.assert_allclose(table["upper"], weights + stats.t.ppf((1 + level) / 2, freedom) * std, rtol=1e-8)
    np.testing.assert_array_equal(table["relevance"].dropna(), 1.0)
    assert table.attrs["degrees_of_freedom"] == [pytest.approx(freedom)]


@pytest.mark.parametrize("basis", ["passthrough", KernelBasis(gamma=0.02)], ids=str)
def test_relevance_vectors_have_the_dense_posterior_of_weights_and_constant(basis):
    model = RelevanceVectorRegressor(basis).fit(X, Y)
    columns = X if basis == "passthrough" else rbf(X, X, 0.02)
    design = with_ones(columns[:, model.active_])
    precisions = np.append(0.0, model.weight_precision_)
    covariance = np.linalg.inv(design.T @ design / model.noise_variance_ + np.diag(precisions))
    mean, std = covariance @ design.T @ Y / model.noise_variance_, np.sqrt(covariance.diagonal())
    freedom = len(Y) - 1.0 - model.posterior_.well_determined.sum()
    table = summary(model)
    np.testing.assert_allclose(table["coefficient"], mean, rtol=1e-6)
    np.testing.assert_allclose(table["std"], std, rtol=1e-6)
    np.testing.assert_allclose(table["p"], 2.0 * stats.t.sf(np.abs(mean / std), freedom), rtol=1e-4)
    np.testing.assert_allclose(table["upper"], mean + stats.t.ppf(0.975, freedom) * std, rtol=1e-6)
    np.testing.assert_allclose(table["relevance"], np.append(np.nan, 1.0 - model.weight_precision_ * std[1:] ** 2), rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "targets", "kind"),
    [
        (RelevanceVectorClassifier("passthrough"), LABELS, "bernoulli"),
        (RelevanceVectorPoissonRegressor("passthrough"), COUNTS, "poisson"),
    ],
    ids=str,
)
def test_latent_models_have_the_inverse_hessian_and_normal_tests(model, targets, kind):
    model.fit(X, targets)
    columns = X[:, model.active_]
    center = columns.mean(axis=0)
    level = np.log(np.mean(targets)) if kind == "poisson" else 0.0
    precisions = np.append(0.01, model.weight_precision_)  # the constant at the center of the data has the prior N(level, 10^2)
    _, _, hessian = latent_mode(with_ones(columns - center), targets.astype(float), np.ones(60), precisions, kind, level)
    to_user = np.eye(len(precisions))
    to_user[0, 1:] = -center
    std = np.sqrt((to_user @ np.linalg.inv(hessian) @ to_user.T).diagonal())
    table = summary(model)
    np.testing.assert_allclose(table["coefficient"], np.append(model.intercept_, model.posterior_.mean))
    np.testing.assert_allclose(table["std"], std, rtol=1e-5)
    np.testing.assert_allclose(table["p"], 2.0 * stats.norm.sf(np.abs(table["t"])))
    np.testing.assert_allclose(table["lower"], table["coefficient"] - stats.norm.ppf(0.975) * table["std"])


@pytest.mark.parametrize(
    ("model", "targets"),
    [
        (VBLSRegressor(), Y),
        (VBLSRegressor(posterior="student-t"), Y),
        (VBLSRegressor(noise="student-t", posterior="student-t"), Y),
        (StepwiseRegressor(), Y),
        (VBLSClassifier("passthrough"), LABELS),
    ],
    ids=str,
)
def test_values_are_those_of_the_methods_of_the_model(model, targets):
    model.fit(X, targets)
    table, tests = summary(model, 0.9).iloc[1:], model.coef_tests()
    assert len(table) > 0
    np.testing.assert_array_equal(table["coefficient"], np.atleast_2d(model.coef_)[0][model.active_])
    np.testing.assert_array_equal(table["std"], np.atleast_2d(model.coef_std_)[0][model.active_])
    np.testing.assert_array_equal(table["t"], tests.statistic)
    np.testing.assert_array_equal(table["p"], tests.p_value)
    np.testing.assert_array_equal(table[["lower", "upper"]], model.coef_interval(0.9))
    np.testing.assert_array_equal(table["relevance"], model.relevance_[model.active_])


def test_without_degrees_of_freedom_nothing_is_tested():
    with pytest.warns(ConvergenceWarning, match="as many candidates as rows"):
        model = VBLSRegressor(prior="none").fit(X[:5, :4], Y[:5])
    assert summary(model)[["t", "p", "lower", "upper"]].isna().all(axis=None)
    assert np.isnan(model.coef_interval()).all()


@pytest.mark.parametrize("options", [{}, {"prior": "none"}, {"prior": "shared"}, {"noise": "student-t"}], ids=str)
@pytest.mark.parametrize("posterior", ["gaussian", "student-t"])
def test_intervals_exclude_zero_exactly_if_p_says_so(options, posterior):
    seen = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(8, 2))
        model = VBLSRegressor(posterior=posterior, **options).fit(rows, 0.8 * rows[:, 0] + rng.normal(size=8))
        for level in (0.5, 0.8, 0.95):
            table = summary(model, level)
            excludes = (table["lower"] > 0.0) | (table["upper"] < 0.0)
            np.testing.assert_array_equal(excludes, table["p"] < 1.0 - level)
            seen.extend(excludes)
    assert 0.1 < np.mean(seen) < 0.9
    at_p = summary(model, 1.0 - table["p"].iloc[-1])  # the interval that ends at zero
    assert np.abs(at_p[["lower", "upper"]].iloc[-1]).min() < 1e-9 * at_p["std"].iloc[-1]


def test_intervals_of_least_squares_are_those_of_textbooks_for_few_rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(1.0, 1.0, (8, 2))
    targets = 1.0 + rows @ [0.7, 0.0] + rng.normal(size=8)
    design = np.column_stack([np.ones(8), rows])
    weights, energy, *_ = np.linalg.lstsq(design, targets, rcond=None)
    std = np.sqrt(np.linalg.inv(design.T @ design).diagonal() * energy[0] / (8 - 3))
    ends = weights[:, None] + np.outer(std, stats.t.ppf([0.025, 0.975], 8 - 3))
    model = VBLSRegressor(prior="none").fit(rows, targets)
    np.testing.assert_allclose(summary(model)[["lower", "upper"]], ends, rtol=1e-9)
    np.testing.assert_allclose(model.coef_interval(), ends[1:], rtol=1e-9)


def test_a_constant_without_noise_is_not_tested_by_a_division_by_zero():
    table = summary(VBLSRegressor().fit(X, np.full(60, 2.0)))
    assert list(table.index) == ["intercept"]
    assert table.loc["intercept", "coefficient"] == pytest.approx(2.0)
    assert table.loc["intercept", "p"] < 1e-10


@pytest.mark.parametrize("basis", ["passthrough", "rbf", PolynomialFeatures(2, include_bias=False)], ids=str)
@pytest.mark.parametrize("cls", [*REGRESSORS, *LATENT])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_has_one(cls, basis):
    numbers = COUNTS if cls is RelevanceVectorPoissonRegressor else Y
    y = LABELS if cls.__name__.endswith("Classifier") else numbers
    model = cls(basis).fit(X, y)
    table = summary(model)
    assert list(table.columns) == COLUMNS
    assert len(table) == 1 + len(model.active_)
    without = cls(basis, fit_intercept=False).fit(X, y)
    assert len(summary(without)) == len(without.active_)
    whole = summary(model, all_columns=True)
    assert len(whole) == 1 + len(model.relevance_)
    pd.testing.assert_frame_equal(pd.DataFrame(whole.loc[table.index]), pd.DataFrame(table))
    left_out = whole.drop(index=table.index)
    assert (left_out[["coefficient", "relevance"]] == 0.0).all(axis=None)
    assert left_out[["std", "t", "p", "lower", "upper"]].isna().all(axis=None)


# Names ----------------------------------------------------------------------------------------------------------------


def names_of(model):
    return list(summary(model).index)


def test_names_are_those_of_the_inputs_or_of_the_transformer():
    assert names_of(StepwiseRegressor().fit(X, Y)) == ["intercept", "x1", "x3"]
    assert names_of(StepwiseRegressor().fit(FRAME, Y)) == ["intercept", "b", "d"]
    model = RelevanceVectorRegressor(PolynomialFeatures(2, include_bias=False)).fit(FRAME, Y)
    assert names_of(model) == ["intercept", *model.get_feature_names_out()]


def test_kernels_have_the_number_of_their_candidate():
    model = RelevanceVectorRegressor("rbf").fit(X, Y)
    assert names_of(model) == ["intercept", *(f"rbf{number}" for number in model.active_)]
    assert names_of(model)[1:] == list(model.basis_.get_feature_names_out())
    np.testing.assert_array_equal(summary(model)["coefficient"].iloc[1:], model.dual_coef_)


def test_names_follow_the_steps_of_a_pipeline():
    several = make_column_transformer((StandardScaler(), ["b", "d"]), (PolynomialFeatures(2, include_bias=False), ["a"]))
    pipeline = make_pipeline(several, make_pipeline(StandardScaler(), StepwiseRegressor())).fit(FRAME, Y)
    assert names_of(pipeline) == ["intercept", "standardscaler__b", "standardscaler__d"]
    polynomial = RelevanceVectorRegressor(PolynomialFeatures(2, include_bias=False))
    assert set(names_of(make_pipeline(StandardScaler(), polynomial).fit(FRAME, Y))) >= {"intercept", "b", "d"}
    assert names_of(Pipeline([("model", StepwiseRegressor())]).fit(FRAME, Y)) == ["intercept", "b", "d"]


def test_steps_without_names_are_counted():
    pipeline = make_pipeline(FunctionTransformer(np.asarray), StepwiseRegressor()).fit(FRAME, Y)
    assert names_of(pipeline) == ["intercept", "x1", "x3"]
    model = StepwiseRegressor(FunctionTransformer(np.asarray)).fit(FRAME, Y)
    assert names_of(model) == ["intercept", "column1", "column3"]


def test_searches_stand_for_their_best_estimator():
    grid = {"tol": [1e-3, 1e-2]}
    for search in (CriterionSearch(FastGCVRegressor("passthrough"), grid), GridSearchCV(FastGCVRegressor("passthrough"), grid)):
        found = search.fit(FRAME, Y)
        pd.testing.assert_frame_equal(summary(found), summary(found.best_estimator_))


def test_several_targets_have_an_index_of_two_levels():
    model = VBLSRegressor().fit(FRAME, np.column_stack([Y, X[:, 0] + 0.1 * RNG.normal(size=60)]))
    table = summary(model)
    assert table.index.names == ["target", "name"]
    for output, posterior in enumerate(model.posterior_):
        own = table.loc[output]
        assert list(own.index) == ["intercept", *FRAME.columns[posterior.active]]
        np.testing.assert_array_equal(own["coefficient"], np.append(model.intercept_[output], posterior.mean))
        np.testing.assert_array_equal(own["std"], np.append(posterior.intercept_std, posterior.coefficient_std))
    assert len(table.attrs["degrees_of_freedom"]) == 2


def test_classes_have_an_index_of_two_levels():
    labels = np.array(["low", "mid", "top"])[np.digitize(X[:, 1], [-0.5, 0.5])]
    model = VBLSClassifier("passthrough").fit(FRAME, labels)
    table = summary(model)
    assert table.index.names == ["class", "name"]
    assert list(dict.fromkeys(table.index.get_level_values("class"))) == ["low", "mid", "top"]
    np.testing.assert_array_equal(table.xs("intercept", level="name")["coefficient"], model.intercept_)


# Printing and errors --------------------------------------------------------------------------------------------------


def test_the_table_is_printed_with_what_its_p_values_are_worth():
    table = summary(StepwiseRegressor().fit(FRAME, Y), 0.9)
    text = str(table)
    assert text.startswith("StepwiseRegressor: 2 of 5 columns, 90 % intervals\n")
    assert " ".join(text.split()).endswith(table.attrs["note"])
    assert "selected by the same rows" in table.attrs["note"]
    assert all(word in text for word in (*COLUMNS, "intercept", "b", "d"))
    assert "nan" not in text.lower()
    assert "selected by the same rows" in table._repr_html_()
    assert type(table.loc[["b"]]) is pd.DataFrame
    assert str(pickle.loads(pickle.dumps(table))) == text


def test_long_tables_are_printed_in_part():
    model = VBLSRegressor().fit(RNG.normal(size=(30, 300)), RNG.normal(size=30))
    with pd.option_context("display.max_rows", 10):
        assert len(str(summary(model, all_columns=True)).splitlines()) < 20


def test_unfitted_models_say_so():
    unfitted = StepwiseRegressor()
    for model in (unfitted, make_pipeline(StandardScaler(), unfitted), CriterionSearch(unfitted), GridSearchCV(unfitted, {})):
        with pytest.raises(NotFittedError):
            summary(model)


@pytest.mark.parametrize("model", [LinearRegression(), make_pipeline(StandardScaler(), LinearRegression()), "model", None], ids=str)
def test_other_estimators_are_named(model):
    with pytest.raises(TypeError, match="needs an estimator of skarce, a pipeline that ends in one, or a search for one, got"):
        summary(model)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.1, np.nan, "0.95", True])
def test_levels_that_are_none(level):
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        summary(StepwiseRegressor().fit(X, Y), level)


def test_without_pandas_the_message_says_what_to_install(monkeypatch):
    model = StepwiseRegressor().fit(X, Y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.delitem(sys.modules, "skarce.inspection.captioned_frame", raising=False)
    with pytest.raises(ImportError, match="pip install pandas"):
        summary(model)


def test_margins_have_weights_but_no_tests():
    model = PrimalSVMClassifier("passthrough", calibrate_proba=False).fit(X, LABELS)
    table = summary(model)
    assert table[["t", "p", "lower", "upper"]].isna().all(axis=None)
    np.testing.assert_allclose(table["std"].iloc[1:], model.coef_std_[0, model.active_])
    assert "no likelihood" in repr(table)
    assert "intervals" not in table.attrs["title"]

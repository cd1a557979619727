"""Which inputs matter: by coefficients, widths, and shares of the variance."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skarce import (
    KernelBasis,
    PolynomialChaosBasis,
    ProcessBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.inspection import sobol_indices, summary
from skarce.inspection.inputs import input_relevance

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (80, 4)) * [1.0, 1000.0, 0.01, 1.0]
Y = 3 + X[:, 0] - 0.005 * X[:, 1] + 20 * X[:, 2] + RNG.normal(0, 0.1, 80)
FRAME = pd.DataFrame(X, columns=["small", "large", "tiny", "useless"])


def test_coefficients_have_intervals_and_the_clearest_comes_first():
    model = VBLSRegressor().fit(FRAME, Y)
    found, table = input_relevance(model, level=0.9), summary(model, 0.9).drop(index="intercept")
    assert found.kind == "coefficients"
    assert found.names == list(table.index[np.argsort(-np.abs(table["t"]))])
    for ours, theirs in (("values", "coefficient"), ("lower", "lower"), ("upper", "upper")):
        np.testing.assert_allclose(getattr(found, ours), table.loc[found.names, theirs])
    assert found.n_left_out == 4 - len(found)


def test_rows_make_coefficients_comparable():
    model = VBLSRegressor().fit(FRAME, Y)
    found = input_relevance(model, FRAME)
    table = summary(model).loc[found.names]
    np.testing.assert_allclose(found.values, table["coefficient"] * FRAME[found.names].std(ddof=0))
    np.testing.assert_allclose(found.upper, table["upper"] * FRAME[found.names].std(ddof=0))
    assert (np.diff(np.abs(found.values)) <= 0).all()
    assert found.names[0] == "large"


@pytest.mark.parametrize(("kernel", "power"), [("rbf", 0.5), ("matern32", 0.5), ("laplacian", 1.0)])
def test_widths_of_kernels_tell_inputs(kernel, power):
    gamma = np.array([1.0, 2e-6, 9.0, 0.1])
    model = RelevanceVectorRegressor(KernelBasis(kernel, gamma=gamma)).fit(FRAME, Y)
    found = input_relevance(model)
    assert found.kind == "widths"
    assert found.names == ["tiny", "small", "useless", "large"]
    np.testing.assert_allclose(found.values, np.sort(gamma**power)[::-1])
    assert found.lower is None
    relative = input_relevance(model, FRAME)
    expected = dict(zip(FRAME.columns, gamma**power * X.std(axis=0), strict=True))
    np.testing.assert_allclose(relative.values, [expected[name] for name in relative.names])
    assert (np.diff(relative.values) <= 0).all()


def test_a_process_has_widths_too():
    model = RelevanceVectorRegressor(ProcessBasis(gamma=[1.0, 1e-6, 1.0, 1e-3])).fit(X, Y)
    assert input_relevance(model).names == ["x0", "x2", "x3", "x1"]


def test_one_width_for_all_inputs_does_not_tell_them_apart():
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.5)).fit(X[:, [0, 3]], Y)
    with pytest.raises(ValueError, match=r"needs one width for each input, got kernel='rbf' with gamma=0.5"):
        input_relevance(model)


def test_polynomial_chaos_has_sobol_indices():
    scaled = make_pipeline(StandardScaler(), VBLSRegressor(PolynomialChaosBasis(2, distributions="normal")))
    wrapped = TransformedTargetRegressor(scaled, transformer=StandardScaler()).fit(FRAME, Y)
    indices = sobol_indices(wrapped.regressor_)
    for model in (wrapped, wrapped.regressor_):
        found = input_relevance(model, level=0.8)
        order = np.argsort(-indices.total, kind="stable")
        assert found.kind == "sobol"
        assert found.names == list(FRAME.columns[order])
        np.testing.assert_allclose(found.values, indices.total[order])
        np.testing.assert_allclose(found.first, indices.first[order])
        reach = stats.norm.ppf(0.9) * indices.total_std[order]
        np.testing.assert_allclose(found.upper, np.minimum(indices.total[order] + reach, 1))
        np.testing.assert_allclose(found.lower, np.maximum(indices.total[order] - reach, 0))


def test_each_target_and_class_has_its_own_coefficients():
    both = np.column_stack([Y, X[:, 3]])
    model = VBLSRegressor().fit(FRAME, both)
    assert input_relevance(model, target=1).names[0] == "useless"
    labels = np.digitize(Y, [0, 5])
    classes = RelevanceVectorClassifier("passthrough").fit(FRAME, labels)
    assert set(input_relevance(classes, target=2).names) == set(FRAME.columns[classes.posterior_[2].active])
    with pytest.raises(ValueError, match="the model has several targets: choose one with target=0"):
        input_relevance(model)


def test_shuffling_measures_effects_of_columns_before_they_are_encoded():
    rng = np.random.default_rng(1)
    city = rng.choice(["bern", "rome", "oslo"], 150)
    table = pd.DataFrame({"useless": rng.normal(size=150), "area": rng.normal(size=150), "city": city})
    y = 4 * table["area"].to_numpy() + (city == "rome") + rng.normal(0, 0.1, 150)
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), ["city"]), remainder=StandardScaler())
    model = make_pipeline(encode, VBLSRegressor()).fit(table, y)
    found = input_relevance(model, table, y)
    assert (found.kind, found.names) == ("shuffling", ["area", "city", "useless"])
    assert found.label == "added to the mean squared error by shuffling"
    # Shuffling makes an independent copy of the effect: the squared error grows by twice its variance.
    assert found.values[0] == pytest.approx(2 * (4 * table["area"]).var(), rel=0.2)
    assert found.values[1] == pytest.approx(2 * (city == "rome").var(), rel=0.3)
    assert (found.lower <= found.values).all()
    assert (found.values <= found.upper).all()
    np.testing.assert_array_equal(input_relevance(model, table, pd.Series(y)).values, found.values)


def test_shuffling_takes_any_model():
    one_width = RelevanceVectorRegressor(KernelBasis(gamma=0.5)).fit(X[:, [3, 0]], X[:, 0])
    assert input_relevance(one_width, X[:, [3, 0]], X[:, 0]).names == ["x1", "x0"]
    labels = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    classes = RelevanceVectorClassifier("passthrough").fit(X[:, [3, 0]], labels)
    found = input_relevance(classes, X[:, [3, 0]], labels)
    assert (found.names[0], found.label) == ("x1", "added to the log loss by shuffling")
    counts = np.random.default_rng(0).poisson(np.exp(1 + 2 * X[:, 0]))
    poisson = RelevanceVectorPoissonRegressor("passthrough").fit(X[:, [3, 0]], counts)
    found = input_relevance(poisson, X[:, [3, 0]], counts)
    assert (found.names[0], found.label) == ("x1", "added to the mean Poisson deviance by shuffling")
    both = pd.DataFrame({"first": X[:, 0], "last": X[:, 3]})
    two = VBLSRegressor().fit(FRAME, both)
    assert input_relevance(two, FRAME, both, target="last").names[0] == "useless"
    assert input_relevance(two, FRAME, both, target="first").names[0] == "small"


def test_what_cannot_be_shuffled_is_refused():
    labels = np.digitize(Y, [0, 5])
    classes = RelevanceVectorClassifier("passthrough").fit(X, labels)
    with pytest.raises(ValueError, match="y comes without X"):
        input_relevance(classes, y=labels)
    with pytest.raises(ValueError, match="target must be None to shuffle inputs of a classifier: all classes count, got 1"):
        input_relevance(classes, X, labels, target=1)
    with pytest.raises(ValueError, match="y has labels that the model does not know: '7'"):
        input_relevance(classes, X, labels + 7 * (labels == 0))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        input_relevance(classes, X, labels[1:])


def test_searches_show_their_best_model():
    search = GridSearchCV(VBLSRegressor(), {"prior": ["ard"]}, cv=2).fit(FRAME, Y)
    assert input_relevance(search).names == input_relevance(search.best_estimator_).names

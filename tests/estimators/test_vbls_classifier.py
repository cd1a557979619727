"""Variational classification: few functions, groups, stricter rules, rare classes."""

import warnings

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn import config_context
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from skarce import KernelBasis, Outcome, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, VBLSClassifier
from skarce._memory import fits
from skarce.methods.variational_classes.method import LANDMARKS


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.3, random_state=0)


@pytest.mark.parametrize("factorized", [False, True])
def test_few_functions_are_left_and_they_classify(moons, factorized):
    model = VBLSClassifier("rbf", factorized=factorized).fit(*moons)
    X, y = make_moons(2000, noise=0.3, random_state=1)
    assert model.score(X, y) > 0.88
    assert 2 <= len(model.active_) < 20
    assert model.outcome_ is Outcome.CONVERGED
    assert model.trace_["criterion"][-1] == pytest.approx(model.criterion_, rel=1e-6)


def test_groups_stay_or_go_together(rng):
    X = rng.normal(size=(300, 6))
    y = rng.uniform(size=300) < 1.0 / (1.0 + np.exp(-2.0 * X[:, 0] - 1.5 * X[:, 1]))
    model = VBLSClassifier("passthrough", prior=["a", "a", "b", "b", "c", "c"]).fit(X, y)
    assert {0, 1} <= set(model.active_)
    assert all((j in model.active_) == (j + 1 in model.active_) for j in (0, 2, 4))
    shared = VBLSClassifier("passthrough", prior="shared").fit(X, y)
    assert len(shared.active_) == 6
    np.testing.assert_allclose(shared.weight_precision_ / X.var(axis=0), shared.weight_precision_[0] / X[:, 0].var())


def test_units_and_offsets_do_not_matter(moons):
    X, y = moons
    plain = VBLSClassifier("passthrough", calibrate_proba=False).fit(X, y)  # in other units, rows are in other folds
    other = VBLSClassifier("passthrough", calibrate_proba=False).fit(X * [1e6, 1e-6] + [3e6, 5.0], y)
    np.testing.assert_allclose(other.predict_proba(X * [1e6, 1e-6] + [3e6, 5.0]), plain.predict_proba(X), atol=1e-6)
    assert other.criterion_ == pytest.approx(plain.criterion_, abs=1e-6)


def test_many_rows_take_landmarks_and_say_so(capsys):
    X, y = make_moons(2001, noise=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model = VBLSClassifier("rbf", max_iter=1, verbose=1).fit(X, y)
    assert len(model.relevance_) == LANDMARKS.most
    assert model.basis_.center_choice_ == "landmarks"
    assert "landmarks for 2,001 rows" in capsys.readouterr().err
    assert len(VBLSClassifier(KernelBasis(centers=50, random_state=0)).fit(X, y).relevance_) == 50


@pytest.mark.parametrize("estimator", [VBLSClassifier, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor])
@pytest.mark.parametrize("n_rows", [3001, 20_000, 200_000, 1_000_000])
def test_the_landmarks_of_the_default_fit_into_memory(estimator, n_rows):
    n_landmarks = estimator()._method().n_landmarks(n_rows)
    assert 20 <= n_landmarks <= 1500
    assert fits(n_rows, n_landmarks)


def test_many_more_inputs_than_rows(rng):
    X = rng.normal(size=(80, 7000))  # the square of all candidates does not fit into the memory budget
    model = VBLSClassifier("passthrough").fit(X, X[:, 3] + X[:, 7] > 0.0)
    assert {3, 7} <= set(model.active_)
    assert len(model.active_) < 20
    with pytest.warns(ConvergenceWarning):
        first = VBLSClassifier("passthrough", max_iter=1).fit(X, X[:, 3] + X[:, 7] > 0.0)
    assert first.n_iter_ == 1
    assert {3, 7} <= set(first.active_)


@pytest.mark.parametrize("options", [{"prior": "shared"}, {"prior": np.arange(7000) // 2}, {"factorized": True}])
def test_what_keeps_all_inputs_refuses_too_many_at_once(rng, options):
    X = rng.normal(size=(20, 7000))
    with pytest.raises(ValueError, match=r"7000 x 7000 \(374 MiB\), above the memory budget"):
        VBLSClassifier("passthrough", **options).fit(X, X[:, 0] > 0.0)


@pytest.mark.parametrize("options", [{}, {"solver": "em"}, {"factorized": True}, {"prior": "shared"}])
@pytest.mark.parametrize("size", [1e-12, 1e8, 1e14])
def test_extreme_weights_have_a_model(moons, rng, options, size):
    X, y = (part[:60] for part in moons)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="Sample weights are counts")
        model = VBLSClassifier("rbf", max_iter=30, **options).fit(X, y, size * rng.uniform(0.5, 2.0, 60))
    probabilities, (_, std) = model.predict_proba(X), model.latent(X)
    assert np.isfinite(std).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("factorized", [False, True])
def test_a_class_without_a_row_of_positive_weight(factorized):
    X = np.array([[0.8], [0.1], [1.9], [0.6], [2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = VBLSClassifier("rbf", factorized=factorized, max_iter=100).fit(X, list("abcda"), [1.0, 0.0, 1.0, 0.0, 1.0])
    assert list(model.classes_) == list("abcd")
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("options", [{"max_iter": 1}, {"max_iter": 3}, {"max_iter": 2, "solver": "em"}])
def test_a_limit_also_holds_the_size(moons, options):
    with pytest.warns(ConvergenceWarning):
        model = VBLSClassifier("rbf", max_active=5, **options).fit(*moons)
    assert model.outcome_ is Outcome.STEP_LIMIT
    assert 1 <= len(model.active_) <= 5
    assert model.n_iter_ <= options["max_iter"]


def test_no_tolerance_ends_when_nothing_moves(moons):
    model = VBLSClassifier("passthrough", tol=0.0).fit(*moons)
    assert model.outcome_ is Outcome.CONVERGED


def test_what_cannot_be_is_named(moons):
    X, y = moons
    with pytest.raises(ValueError, match="prior must be one of"):
        VBLSClassifier("rbf", prior="flat").fit(X, y)
    with pytest.raises(ValueError, match=r"label for each of the 150 candidates, got shape \(2,\)"):
        VBLSClassifier("rbf", prior=[0, 1]).fit(X, y)
    for missing in (np.nan, None):
        message = f"the label of candidate 1 is {missing}; give each candidate that belongs to no group a unique label"
        with pytest.raises(ValueError, match=message):
            VBLSClassifier("passthrough", prior=[0, missing]).fit(X, y)
    for factorized in ("no", 2, None):
        with pytest.raises(ValueError, match=f"factorized must be True or False, got {factorized!r}"):
            VBLSClassifier("rbf", factorized=factorized).fit(X, y)
    with config_context(working_memory=0.1), pytest.raises(ValueError, match="matrix of all 150 candidates at 150 rows"):
        VBLSClassifier("rbf").fit(X, y)


@pytest.fixture(scope="module")
def inputs():
    """20 inputs of which three matter, one of them little."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 20))
    f = 2.0 * X[:, 3] - 1.5 * X[:, 7] + 0.7 * X[:, 11]
    return X, rng.uniform(size=400) < 1.0 / (1.0 + np.exp(-f))


def dense_p_values(model, X):
    """Of squared weights over the diagonal of a dense inverse of what the likelihood and the prior say of them."""
    phi = X[:, model.active_] - X[:, model.active_].mean(axis=0)
    design = np.column_stack([np.ones(len(X)), phi])
    weights = np.concatenate(
        [[model.posterior_.intercept + X[:, model.active_].mean(axis=0) @ model.posterior_.mean], model.posterior_.mean]
    )
    prior = np.concatenate([[0.01], model.weight_precision_])
    g = 1.0 / (1.0 + np.exp(-design @ weights))
    covariance = np.linalg.inv(np.diag(prior) + (design * (g * (1.0 - g))[:, None]).T @ design)
    return chi2.sf(weights[1:] ** 2 / covariance.diagonal()[1:], 1)


@pytest.mark.parametrize("factorized", [False, True])
@pytest.mark.parametrize("level", [0.05, 1e-8])
def test_all_that_stay_are_significant(inputs, level, factorized):
    free = VBLSClassifier("passthrough", factorized=factorized).fit(*inputs)
    strict = VBLSClassifier("passthrough", factorized=factorized, significance=level).fit(*inputs)
    assert (strict.coef_tests().p_value < level).all()
    assert set(strict.active_) <= set(free.active_)
    assert {3, 7} <= set(strict.active_)
    assert (11 in strict.active_) == (level == 0.05)


def test_tests_and_intervals_are_those_of_a_dense_inverse(inputs):
    model = VBLSClassifier("passthrough", tol=1e-10).fit(*inputs)
    tests = model.coef_tests()
    np.testing.assert_allclose(tests.p_value, dense_p_values(model, inputs[0]), rtol=1e-6)
    low, high = model.coef_interval(0.9).T
    np.testing.assert_allclose((low + high) / 2.0, model.posterior_.mean)
    np.testing.assert_allclose((high - low) / 2.0, 1.6448536 * model.posterior_.mean / tests.statistic, rtol=1e-6)
    np.testing.assert_array_equal(model.get_support(indices=True), np.flatnonzero(model.relevance_ > 0.5))


@pytest.mark.parametrize("factorized", [False, True])
def test_intervals_hold_the_weights_that_labels_come_from(factorized):
    """At 95 % the share over 80 draws of two weights should be 92 or more; the covariance of the bound gives 80."""
    truth, held = np.array([2.0, -1.0]), []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 2))
        y = rng.uniform(size=300) < 1.0 / (1.0 + np.exp(-X @ truth))
        low, high = VBLSClassifier("passthrough", factorized=factorized).fit(X, y).coef_interval().T
        held.append((low < truth) & (truth < high))
    assert np.mean(held) > 0.92


@pytest.mark.parametrize("factorized", [False, True])
def test_deletion_by_the_bound_ends_where_no_deletion_raises_it(inputs, factorized):
    X, y = inputs
    free = VBLSClassifier("passthrough", factorized=factorized).fit(X, y)
    model = VBLSClassifier("passthrough", factorized=factorized, significance="bound").fit(X, y)
    assert model.criterion_ >= free.criterion_ - 1e-6
    weakest = model.active_[(model.posterior_.mean**2 * X[:, model.active_].var(axis=0)).argmin()]
    others = np.setdiff1d(model.active_, weakest)
    assert VBLSClassifier("passthrough", factorized=factorized).fit(X[:, others], y).criterion_ <= model.criterion_ + 1e-3


@pytest.mark.parametrize("factorized", [False, True])
@pytest.mark.parametrize("solver", ["direct", "em"])
def test_no_more_than_the_strongest_stay(inputs, solver, factorized):
    model = VBLSClassifier("passthrough", solver=solver, factorized=factorized, max_active=2, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(*inputs)
    np.testing.assert_array_equal(model.active_, [3, 7])
    assert model.outcome_ is Outcome.SIZE_LIMIT


def test_groups_are_tested_together(inputs):
    X, y = inputs
    labels = np.arange(20) // 2  # 3 and 7 in groups with 2 and 6
    model = VBLSClassifier("passthrough", prior=labels, significance=1e-6).fit(X, y)
    np.testing.assert_array_equal(model.active_, [2, 3, 6, 7])


def test_with_several_classes_each_has_tests_of_its_own():
    X, y = load_iris(return_X_y=True)
    model = VBLSClassifier("passthrough", significance=0.01, max_active=2).fit(X, y)
    assert all(len(posterior.active) <= 2 for posterior in model.posterior_)
    assert all(len(posterior.coefficient_std) == len(posterior.active) for posterior in model.posterior_)
    with pytest.raises(ValueError, match=r"Use posterior_\[k\]"):
        model.coef_tests()


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"solver": "newton"}, "solver must be one of"),
        ({"significance": 2.0}, "level between 0 and 1"),
        ({"significance": 0.05, "solver": "em"}, 'solver="direct" and prior="ard"'),
        ({"significance": "bound", "prior": "shared"}, 'solver="direct" and prior="ard"'),
    ],
)
def test_rules_that_cannot_be_are_named(inputs, parameters, says):
    with pytest.raises(ValueError, match=says):
        VBLSClassifier("passthrough", **parameters).fit(*inputs)


@pytest.mark.parametrize("form", [{}, {"prior": "shared"}, {"factorized": True}, {"solver": "em"}])
def test_a_rare_class_keeps_its_rate_if_no_input_tells_of_it(form):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)), np.arange(3000) < 12
    model = VBLSClassifier("passthrough", **form).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(12 / 3000, rel=0.15)


@pytest.mark.parametrize("solver", ["direct", "em"])
def test_what_tells_of_a_rare_class_is_found(solver):
    """Ten rows of 10,000: the constant is far from zero, and as long as it is on its way nothing else seems to matter."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_000, 2)), np.arange(10_000) < 10
    X[:10] += 2.0
    model = VBLSClassifier("passthrough", solver=solver).fit(X, y)
    np.testing.assert_array_equal(model.active_, [0, 1])
    assert model.n_iter_ < 1000
    assert np.diff(model.trace_["criterion"]).min() > -1e-8

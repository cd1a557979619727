"""Relevance vector classification: what is fitted, hard data, limits, bases."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import OneHotEncoder

from skarce import (
    KernelBasis,
    Outcome,
    RelevanceVectorClassifier,
)
from tests.oracles import laplace_score, rbf


@pytest.fixture(params=["fast", "em"])
def solver(request):
    return request.param


def moons(n, seed=0):
    return make_moons(n, noise=0.3, random_state=seed)


# What is fitted ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fitted_attributes_are_what_they_say(solver, fit_intercept):
    X, y = moons(150)
    model = RelevanceVectorClassifier(KernelBasis(gamma=0.8), solver=solver, fit_intercept=fit_intercept).fit(X, y)
    phi = rbf(X, X, 0.8)[:, model.active_]
    if fit_intercept:
        phi -= phi.mean(axis=0)
    assert (np.diff(model.active_) > 0).all()
    np.testing.assert_array_equal(model.relevance_vectors_, X[model.active_])
    expected = laplace_score(phi, y, np.ones(150), model.weight_precision_, intercept=fit_intercept)
    assert model.criterion_ == pytest.approx(expected, abs=1e-6)
    assert model.criterion_sense_ == 1
    assert model.outcome_ is Outcome.CONVERGED
    assert model.trace_["n_active"][-1] == len(model.active_)
    assert model.trace_["criterion"][-1] == pytest.approx(model.criterion_)
    assert model.relevance_.shape == (150,)
    assert np.count_nonzero(model.relevance_) == len(model.active_)
    np.testing.assert_allclose(
        model.relevance_[model.active_], 1.0 - model.weight_precision_ * np.diag(model.posterior_.covariance), rtol=1e-8
    )
    assert fit_intercept or model.intercept_ == 0.0


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_probabilities_are_moderated_by_the_dense_posterior(fit_intercept):
    X, y = moons(120)
    model = RelevanceVectorClassifier(KernelBasis(gamma=0.8), fit_intercept=fit_intercept, calibrate_proba=False).fit(X, y)
    new = np.array([[0.0, 0.3], [1.5, -0.8], [3.0, 2.0]])
    design, query = (rbf(A, X[model.active_], 0.8) for A in (X, new))
    precisions, weights = model.weight_precision_, model.posterior_.mean
    if fit_intercept:
        level, middle = model.intercept_ + design.mean(axis=0) @ weights, design.mean(axis=0)
        design, query = (np.column_stack([A - middle, np.ones(len(A))]) for A in (design, query))
        precisions, weights = np.append(precisions, 0.01), np.append(weights, level)
    g = expit(design @ weights)
    covariance = np.linalg.inv((design * (g * (1 - g))[:, None]).T @ design + np.diag(precisions))
    variance = np.einsum("ni,ij,nj->n", query, covariance, query)
    mean, std = model.latent(new)
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-6)
    np.testing.assert_allclose(mean, query @ weights, rtol=1e-6, atol=1e-12)
    expected = [
        quad(lambda f, m=m, s=s: expit(f) * norm.pdf(f, m, s), m - 12 * s, m + 12 * s)[0] for m, s in zip(mean, std, strict=True)
    ]
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], expected, atol=1e-6)
    log_odds, same = model.decision_function(new, return_std=True)
    np.testing.assert_allclose(expit(log_odds), expected, atol=1e-6)
    np.testing.assert_array_equal(same, std)
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)


def test_three_classes_are_each_against_the_rest():
    X, y = make_blobs(200, centers=3, cluster_std=2.0, random_state=0)
    labels = np.array(["ant", "bee", "cat"])[y]
    model = RelevanceVectorClassifier("rbf", calibrate_proba=False).fit(X, labels)
    assert list(model.classes_) == ["ant", "bee", "cat"]
    singles = [RelevanceVectorClassifier("rbf", calibrate_proba=False).fit(X, labels == name) for name in model.classes_]
    assert set(model.active_) == set(np.concatenate([single.active_ for single in singles]))
    assert model.dual_coef_.shape == model.weight_precision_.shape == (3, len(model.active_))
    log_odds, std = model.decision_function(X, return_std=True)
    for k, single in enumerate(singles):
        expected = single.decision_function(X, return_std=True)
        np.testing.assert_allclose(log_odds[:, k], expected[0], atol=1e-5)
        np.testing.assert_allclose(std[:, k], expected[1], rtol=1e-4)
    each = expit(log_odds)
    np.testing.assert_allclose(model.predict_proba(X), each / each.sum(axis=1, keepdims=True))
    assert model.criterion_ == pytest.approx(sum(single.criterion_ for single in singles), abs=1e-5)
    assert set(model.trace_["output"]) == {0, 1, 2}
    np.testing.assert_array_equal(model.predict(X), model.classes_[log_odds.argmax(axis=1)])


def test_many_rows_of_three_classes_go_through_pools():
    X, y = make_blobs(1200, centers=3, cluster_std=3.0, random_state=1)
    model = RelevanceVectorClassifier("rbf").fit(X[:900], y[:900])
    assert model.score(X[900:], y[900:]) > 0.75
    assert len(model.active_) < 60
    assert model.outcome_ is Outcome.CONVERGED


# Hard data --------------------------------------------------------------------------------------------------------------------


def test_separable_classes_end_in_a_sound_model(solver):
    X, y = make_blobs(200, centers=[[-6.0, 0.0], [6.0, 0.0]], random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RelevanceVectorClassifier("rbf", solver=solver).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.outcome_ is Outcome.CONVERGED
    log_odds, std = model.decision_function(X, return_std=True)
    assert np.isfinite(log_odds).all()
    assert np.isfinite(std).all()
    assert np.abs(log_odds).max() < 20.0
    assert np.abs(log_odds).min() > 1.5


def test_one_in_a_thousand(rng):
    X = np.vstack([rng.normal(0.0, 1.0, (4000, 2)), rng.normal(3.5, 0.3, (4, 2))])
    y = np.repeat(["common", "rare"], [4000, 4])
    model = RelevanceVectorClassifier("rbf").fit(X, y)
    probability = model.predict_proba(X)
    assert 0.0005 < probability[:, 1].mean() < 0.003
    assert probability[-4:, 1].min() > 0.2
    balanced = RelevanceVectorClassifier("rbf", class_weight="balanced").fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() > probability[:, 1].mean()
    assert (balanced.predict(X[-4:]) == "rare").all()


def test_labels_without_a_pattern_give_their_shares(rng):
    X, y = rng.normal(size=(200, 2)), np.repeat([0, 1], [150, 50])
    model = RelevanceVectorClassifier("rbf").fit(X, rng.permutation(y))
    assert len(model.active_) <= 2
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(0.25, abs=0.02)


def test_nothing_helps_is_said():
    X = np.zeros((20, 1))
    model = RelevanceVectorClassifier("passthrough").fit(X, np.arange(20) % 2)
    assert model.outcome_ is Outcome.NOTHING_HELPS
    assert len(model.active_) == 0
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_duplicated_rows_of_both_classes(rng):
    X = np.repeat(rng.normal(size=(10, 2)), 6, axis=0)
    model = RelevanceVectorClassifier("rbf").fit(X, np.arange(60) % 2)
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=0.05)


def test_a_basis_of_very_different_units():
    X, y = moons(150)
    linear = RelevanceVectorClassifier("passthrough", calibrate_proba=False).fit(X, y)  # in other units, rows are in other folds
    scaled = RelevanceVectorClassifier("passthrough", calibrate_proba=False).fit(X * np.array([1e7, 1e-7]), y)
    np.testing.assert_array_equal(scaled.active_, linear.active_)
    np.testing.assert_allclose(scaled.predict_proba(X * np.array([1e7, 1e-7])), linear.predict_proba(X), atol=1e-5)
    assert scaled.criterion_ == pytest.approx(linear.criterion_, abs=1e-5)


def test_inputs_far_from_zero():
    X, y = moons(150)
    linear, moved = (RelevanceVectorClassifier("passthrough", calibrate_proba=False).fit(A, y) for A in (X, X + 1e7))
    np.testing.assert_array_equal(moved.active_, linear.active_)
    np.testing.assert_allclose(moved.predict_proba(X + 1e7), linear.predict_proba(X), atol=1e-5)


# Budget, bases, habits --------------------------------------------------------------------------------------------------------


def test_limits_are_kept_and_said(solver):
    X, y = moons(300)
    small = RelevanceVectorClassifier("rbf", solver=solver, max_active=2).fit(X, y)
    assert len(small.active_) == 2
    assert small.outcome_ is Outcome.SIZE_LIMIT
    with pytest.warns(ConvergenceWarning, match="step limit"):
        assert RelevanceVectorClassifier("rbf", solver=solver, max_iter=1).fit(X, y).outcome_ is Outcome.STEP_LIMIT
    with pytest.warns(ConvergenceWarning, match="time limit"):
        early = RelevanceVectorClassifier("rbf", solver=solver, max_time=0.0).fit(X, y)
    assert early.outcome_ is Outcome.TIME_LIMIT
    assert np.isfinite(early.predict_proba(X)).all()
    for name, value in {"tol": -1.0, "max_iter": 0, "max_active": 0, "max_time": -1.0, "solver": "newton"}.items():
        with pytest.raises(ValueError, match=f"{name} must be"):
            RelevanceVectorClassifier("rbf", **{name: value}).fit(X, y)


def test_em_says_when_it_needs_too_much_memory():
    X, y = moons(400)
    with config_context(working_memory=4), pytest.raises(ValueError, match="solver='fast'"):
        RelevanceVectorClassifier("rbf", solver="em").fit(X, y)
    with config_context(working_memory=4):
        assert RelevanceVectorClassifier("rbf").fit(X, y).score(X, y) > 0.85


def test_precomputed_kernel():
    X, y = moons(120)
    K = pairwise.rbf_kernel(X, gamma=0.8)
    plain = RelevanceVectorClassifier(KernelBasis(gamma=0.8), calibrate_proba=False).fit(X, y)
    model = RelevanceVectorClassifier(KernelBasis("precomputed"), calibrate_proba=False).fit(K, y)
    np.testing.assert_array_equal(model.active_, plain.active_)
    np.testing.assert_allclose(model.predict_proba(K[:5]), plain.predict_proba(X[:5]), atol=1e-6)
    assert not hasattr(model, "relevance_vectors_")
    np.testing.assert_allclose(cross_val_score(model, K, y, cv=3), cross_val_score(plain, X, y, cv=3))


def test_column_transformer_as_basis_takes_text(rng):
    frame = pd.DataFrame({"x": rng.uniform(-3, 3, 300), "kind": rng.choice(["left", "right"], 300)})
    y = np.where(rng.uniform(size=300) < expit(3 * np.sin(frame["x"]) + 2.0 * (frame["kind"] == "left")), "up", "down")
    basis = ColumnTransformer([("kernel", KernelBasis(gamma=1.0), ["x"]), ("kind", OneHotEncoder(), ["kind"])])
    model = RelevanceVectorClassifier(basis).fit(frame, y)
    assert model.score(frame, y) > 0.8
    assert any("kind" in name for name in model.basis_.get_feature_names_out())


@pytest.mark.parametrize("gamma", ["median", "evidence", "ard"])
def test_widths_may_be_learned(rng, gamma):
    X = np.column_stack([moons(200)[0], rng.normal(size=200)])
    y = moons(200)[1]
    model = RelevanceVectorClassifier(KernelBasis(gamma=gamma), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.85
    if gamma == "ard":
        assert model.basis_.gamma_[2] < 0.2 * model.basis_.gamma_[:2].min()


def test_single_precision_pickling_cloning_and_names(rng):
    X, y = moons(150)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = RelevanceVectorClassifier("rbf").fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    np.testing.assert_array_equal(clone(model).fit(frame, y).dual_coef_, model.dual_coef_)
    single = RelevanceVectorClassifier("rbf", calibrate_proba=False).fit(X.astype(np.float32), y)
    double = RelevanceVectorClassifier("rbf", calibrate_proba=False).fit(frame, y)
    np.testing.assert_allclose(single.predict_proba(X.astype(np.float32)), double.predict_proba(frame), atol=1e-3)


def test_the_width_can_be_searched():
    X, y = moons(150)
    search = GridSearchCV(RelevanceVectorClassifier("rbf"), {"basis__gamma": [1e-4, 0.8]}, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.best_params_ == {"basis__gamma": 0.8}

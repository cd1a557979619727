"""Support vector machines in the primal, against a slow optimizer and a certificate."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC, LinearSVC

from skarce import KernelBasis, Outcome, PrimalSVMClassifier
from skarce.designs import RowBlocks
from skarce.methods.primal_svm.alone import Shortages
from skarce.methods.primal_svm.by_passes import Descent, MarginSums
from skarce.methods.primal_svm.penalty import Penalty
from skarce.states.journal import Journal

GAMMA = 2.0


@pytest.fixture
def moons():
    return make_moons(150, noise=0.25, random_state=0)


def kernel(A, B):
    return np.exp(-GAMMA * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def objective(model, X, y, weights=None):
    """J at any weights of the functions of a model, and its gradient."""
    centers, counts = model.relevance_vectors_, np.ones(len(y)) if weights is None else weights
    phi, K, t = np.column_stack([np.ones(len(y)), kernel(X, centers)]), kernel(centers, centers), np.where(y, 1.0, -1.0)
    penalty = np.zeros((phi.shape[1],) * 2)
    penalty[1:, 1:] = K

    def value(w):
        short = np.maximum(1.0 - t * (phi @ w), 0.0)
        return 0.5 * w @ penalty @ w + 0.5 * model.C * counts @ short**2

    def gradient(w):
        short = np.maximum(1.0 - t * (phi @ w), 0.0)
        return penalty @ w - model.C * phi.T @ (counts * t * short)

    return value, gradient


def weights_of(model):
    return np.append(model.intercept_, model.dual_coef_[0])


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_weights_are_those_of_a_slow_optimizer(moons, C):
    X, y = moons
    model = PrimalSVMClassifier(KernelBasis(gamma=GAMMA), C=C, max_active=12, calibrate_proba=False).fit(X, y)
    assert len(model.active_) == 12
    assert model.outcome_ is Outcome.SIZE_LIMIT
    value, gradient = objective(model, X, y)
    slow = minimize(value, np.zeros(13), jac=gradient, method="BFGS", options={"gtol": 1e-8, "maxiter": 5000})
    assert value(weights_of(model)) <= slow.fun * (1 + 1e-9)
    np.testing.assert_allclose(model.criterion_, slow.fun, rtol=1e-6)
    # the certificate: J is convex, and its gradient is zero
    assert np.abs(gradient(weights_of(model))).max() < 1e-6 * C * len(y)


def test_all_functions_give_the_whole_machine(moons):
    X, y = moons
    X, y = X[:60], y[:60]
    model = PrimalSVMClassifier(KernelBasis(gamma=GAMMA), tol=0.0, calibrate_proba=False).fit(X, y)
    # the dual of the squared hinge is that of an SVM without the bound C and with 1/C on the diagonal
    K, signs = kernel(X, X), np.where(y, 1.0, -1.0)
    whole = SVC(kernel="precomputed", C=1e10, tol=1e-8).fit(K + np.eye(60), signs)
    expected = K[:, whole.support_] @ whole.dual_coef_[0] + whole.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=0.02)


def test_inputs_without_kernels_are_a_linear_machine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.3 + rng.normal(size=200) > 0
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = PrimalSVMClassifier("passthrough", tol=0.0, calibrate_proba=False).fit(X, y)
    # LinearSVC has C sum(xi^2) and penalizes the constant a little, by a large scaling of it
    other = LinearSVC(C=0.5, loss="squared_hinge", dual=False, tol=1e-10, intercept_scaling=1e3).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-3)


def test_objectives_fall_and_the_best_of_many_candidates_is_better_than_one(moons):
    X, y = moons
    fits = [
        PrimalSVMClassifier(KernelBasis(gamma=GAMMA), n_candidates=k, max_active=8, calibrate_proba=False, random_state=0).fit(X, y)
        for k in (1, 59, 150)
    ]
    for model in fits:
        assert (np.diff(model.trace_["criterion"]) <= 1e-9).all()
    assert fits[2].criterion_ < fits[0].criterion_
    assert fits[1].criterion_ < fits[0].criterion_


def test_the_best_weight_alone_is_that_of_a_slow_optimizer():
    """The fall of J is exact at any weight, and the weight is the minimum of a one-dimensional search."""
    rng = np.random.default_rng(3)
    latent, t, counts = rng.normal(size=80), np.where(rng.random(80) < 0.5, -1.0, 1.0), 2.5 * rng.integers(0, 3, 80)
    functions, pull, own = np.exp(-rng.random((80, 6))), rng.normal(size=6), 0.5 + rng.random(6)

    def change(j, w):
        losses = [counts @ np.maximum(1.0 - t * (latent + v * functions[:, j]), 0.0) ** 2 / 2 for v in (w, 0.0)]
        return losses[0] - losses[1] + pull[j] * w + own[j] * w**2 / 2

    weights, falls = Shortages(t, 1.0 - t * latent, counts).best_alone(functions, pull, own)
    np.testing.assert_allclose(falls, [-change(j, w) for j, w in enumerate(weights)], rtol=1e-10)
    np.testing.assert_allclose(weights, [minimize_scalar(partial(change, j)).x for j in range(6)], rtol=1e-3)
    assert falls.min() > 0.0


def test_the_penalty_is_the_kernel_matrix_of_the_centers(moons):
    X, _ = moons
    kernels = KernelBasis(gamma=GAMMA, centers=None).fit(X)
    candidates, members = np.array([7, 3, 90]), np.array([50, 3])
    penalty = Penalty(kernels, np.ones(len(X)))
    np.testing.assert_allclose(penalty.rows(candidates, members), kernel(X[candidates], X[members]), rtol=1e-12)
    np.testing.assert_allclose(penalty.diagonal(candidates), 1.0, rtol=1e-9)
    assert penalty.rows(candidates, members[:0]).shape == (3, 0)


def test_weights_of_rows_count_rows(moons):
    X, y = moons
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    basis = KernelBasis(gamma=GAMMA, centers=X[:20])
    weighted, repeated = (PrimalSVMClassifier(basis, tol=1e-8, calibrate_proba=False) for _ in range(2))
    weighted.fit(X, y, sample_weight=counts)
    repeated.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)


def test_more_than_two_classes():
    X, y = load_iris(return_X_y=True)
    model = PrimalSVMClassifier("rbf", max_active=5).fit(X, y)
    assert model.decision_function(X).shape == (150, 3)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    assert model.score(X, y) > 0.95


def test_probabilities_are_calibrated_or_not_offered(moons):
    X, y = make_moons(500, noise=0.35, random_state=1)
    X_new, y_new = make_moons(4000, noise=0.35, random_state=2)
    model = PrimalSVMClassifier(KernelBasis(gamma=GAMMA), C=100.0, max_active=20).fit(X, y)
    proba = model.predict_proba(X_new)
    np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-model.decision_function(X_new) / model.temperature_)))
    margins = 1 / (1 + np.exp(-10.0 * model.decision_function(X_new)))  # what would be much too sure
    assert log_loss(y_new, proba) < min(0.4, log_loss(y_new, margins))
    assert abs(proba[:, 1][proba[:, 1] > 0.8].mean() - y_new[proba[:, 1] > 0.8].mean()) < 0.06
    plain = PrimalSVMClassifier("rbf", calibrate_proba=False)
    assert not hasattr(plain, "predict_proba")
    plain.fit(*moons)
    assert np.isnan(plain.temperature_)
    with pytest.raises(AttributeError, match=r"margins are no probabilities.*calibrate_proba=True"):
        plain.predict_proba(X)


def test_separable_useless_and_duplicate_functions():
    X = np.linspace(-1.0, 1.0, 30)[:, None]
    model = PrimalSVMClassifier("rbf", C=1e6, calibrate_proba=False).fit(X, X[:, 0] > 0)
    assert model.score(X, X[:, 0] > 0) == 1.0
    twice = np.column_stack([X, X, np.ones(30)])
    linear = PrimalSVMClassifier("passthrough", calibrate_proba=False).fit(twice, X[:, 0] > 0)
    assert 2 not in linear.active_
    none = PrimalSVMClassifier("passthrough", calibrate_proba=False).fit(np.ones((10, 2)), np.arange(10) % 2)
    assert none.outcome_ is Outcome.NOTHING_HELPS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C must be positive and finite, got 0.0"),
        ({"C": "auto"}, "C must be positive and finite, got 'auto'"),
        ({"n_candidates": 0}, "n_candidates must be a whole number of at least 1, got 0"),
    ],
)
def test_wrong_parameters(moons, options, message):
    with pytest.raises(ValueError, match=message):
        PrimalSVMClassifier("rbf", **options).fit(*moons)


def blocks_of(X, y, weights=None, size=60):
    parts = [slice(start, start + size) for start in range(0, len(y), size)]
    return RowBlocks(lambda: ((X[p], y[p]) if weights is None else (X[p], y[p], weights[p]) for p in parts))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["kernels", "inputs", "transformer"])
def test_blocks_of_rows_give_the_machine_of_memory(moons, kind, fit_intercept):
    X, y = moons
    basis = {
        "kernels": KernelBasis(gamma=GAMMA, centers=X[:40]),
        "inputs": "passthrough",
        "transformer": PolynomialFeatures(4, include_bias=False),
    }
    options = {"max_active": 8, "fit_intercept": fit_intercept, "calibrate_proba": False}
    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    whole, streamed = (PrimalSVMClassifier(basis[kind], **options) for _ in range(2))
    whole.fit(X, y, sample_weight=weights)
    streamed.fit(blocks_of(X, y, weights))
    np.testing.assert_array_equal(streamed.active_, whole.active_)
    np.testing.assert_allclose(streamed.decision_function(X), whole.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(streamed.criterion_, whole.criterion_, rtol=1e-9)
    np.testing.assert_allclose(streamed.relevance_, whole.relevance_, atol=1e-5)
    assert not hasattr(streamed, "predict_proba")


def test_weights_are_the_best_for_all_rows_and_not_only_for_the_sample():
    X, y = make_moons(60_000, noise=0.3, random_state=0)
    basis = KernelBasis(gamma=GAMMA, centers=100, random_state=0)
    model = PrimalSVMClassifier(basis, max_active=15).fit(RowBlocks.from_arrays(X, y))
    assert len(model.active_) == 15
    value, gradient = objective(model, X, y)
    np.testing.assert_allclose(model.criterion_, value(weights_of(model)), rtol=1e-9)
    assert np.abs(gradient(weights_of(model))).max() < 1e-6 * len(y)
    # the minimum over a third of the rows is another one
    third = PrimalSVMClassifier(KernelBasis(gamma=GAMMA, centers=model.relevance_vectors_), tol=0.0, calibrate_proba=False)
    assert np.abs(gradient(weights_of(third.fit(X[::3], y[::3])))).max() > 1e-3 * len(y)


def test_three_classes_and_one_that_a_sample_has_not_seen():
    X, y = load_iris(return_X_y=True)
    basis = KernelBasis(gamma=0.5, centers=X[::5])
    whole = PrimalSVMClassifier(basis, max_active=6, calibrate_proba=False).fit(X, y)
    np.testing.assert_allclose(
        PrimalSVMClassifier(basis, max_active=6).fit(blocks_of(X, y)).decision_function(X), whole.decision_function(X), atol=1e-6
    )
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30_000, 2)), np.arange(30_000) % 2
    y[7] = 2  # one row of many
    model = PrimalSVMClassifier(KernelBasis(gamma=0.5, centers=20, random_state=3), max_active=4).fit(blocks_of(X, y, size=10_000))
    assert model.decision_function(X[:5]).shape == (5, 3)
    assert (model.predict(X) != 2).all()


def test_newton_steps_that_are_too_long_are_halved():
    """From far away, the rows that violate the margin are others than at the minimum."""
    x = np.array([-3.0, -1.0, 0.5, 4.0])
    signs, penalty = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([[0.1]])

    def sums(w):
        short = np.maximum(1.0 - signs * x * w, 0.0)
        return MarginSums(0.5 * short @ short, np.atleast_1d(short @ (signs * x)), np.array([[(x**2)[short > 0.0].sum()]]))

    for start in (-30.0, -2.0, 0.0, 5.0, 100.0):
        descent = Descent(np.array([0]), np.array([start]), penalty, Outcome.CONVERGED, Journal())
        for _ in range(100):
            descent.follow(sums(descent.weights[0]))
            if descent.is_done:
                break
        slow = minimize(lambda w: sums(w[0]).loss + 0.05 * w[0] ** 2, [0.0], method="Nelder-Mead", options={"xatol": 1e-10})
        assert descent.is_done
        np.testing.assert_allclose(descent.best.weights, slow.x, atol=1e-6)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_relevance_compares_the_variance_of_a_weight_with_that_by_the_penalty_alone(moons, C):
    # The diagonal of the penalty does not bound variances of kernels that overlap: functions in the model had a relevance of 0.
    X, y = moons
    model = PrimalSVMClassifier(KernelBasis(gamma=GAMMA), C=C, max_active=15, calibrate_proba=False).fit(X, y)
    centers, t = model.relevance_vectors_, np.where(y, 1.0, -1.0)
    phi, K = np.column_stack([np.ones(len(y)), kernel(X, centers)]), kernel(centers, centers)
    hessian = C * phi.T @ ((t * (phi @ weights_of(model)) < 1.0)[:, None] * phi)
    hessian[1:, 1:] += K
    expected = 1.0 - np.linalg.inv(hessian).diagonal()[1:] / np.linalg.inv(K).diagonal()
    found = model.relevance_[model.active_]
    np.testing.assert_allclose(found, expected, atol=1e-3)
    assert (found > 0.0).all()
    assert np.count_nonzero(model.relevance_) == len(model.active_)


def test_margins_have_no_std(moons):
    model = PrimalSVMClassifier("rbf", max_active=3, calibrate_proba=False).fit(*moons)
    with pytest.raises(ValueError, match="margins have no std"):
        model.decision_function(moons[0], return_std=True)


def test_a_model_that_could_not_be_calibrated_says_so():
    model = PrimalSVMClassifier(calibrate_proba=True)
    with pytest.warns(ConvergenceWarning, match="all rows are equal"):
        model.fit(np.zeros((20, 2)), [0, 1] * 10)
    with pytest.raises(AttributeError, match="could not be calibrated"):
        model.predict_proba(np.zeros((1, 2)))

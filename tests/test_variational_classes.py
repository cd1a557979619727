"""Variational classification: the bounds lie below the evidence and never fall, and their fixed points are what they say."""

import numpy as np
import pytest
from scipy.special import log_expit, logsumexp
from sklearn import config_context
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from skarce import KernelBasis, Outcome, VBLSClassifier
from skarce.likelihoods import Labels
from skarce.searches import Journal, Limits
from skarce.solvers.fake_targets import FakeTargets, run_factorized
from skarce.solvers.jaakkola_jordan import Fitted, Variational, curvature_of_bound, run


def problem(seed, n=25, m=2):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, m))
    targets = (rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-2.0 * columns[:, 0]))).astype(float)
    return columns, Labels(targets, rng.choice([1.0, 2.0], n))


def start(seed, groups=(0, 1), n=25):
    columns, labels = problem(seed, n, len(groups))
    return Variational.start(labels, columns, np.arange(len(groups)), np.array(groups), fit_intercept=False)


def log_evidence_by_quadrature(model):
    """log of the integral of the likelihood under the prior, on a grid of the two weights."""
    alpha, labels = model.alpha, model.labels
    grid = np.linspace(-8.0, 8.0, 1201)
    w = np.stack(np.meshgrid(grid / np.sqrt(alpha[0]), grid / np.sqrt(alpha[1]), indexing="ij"), axis=-1).reshape(-1, 2)
    signs = 2.0 * labels.targets - 1.0
    log_likelihood = log_expit((w @ model.columns.T) * signs) @ labels.weights
    log_prior = -0.5 * (w**2 @ alpha) + 0.5 * np.log(alpha).sum() - np.log(2.0 * np.pi)
    cell = np.log((grid[1] - grid[0]) ** 2) - 0.5 * np.log(alpha).sum()
    return logsumexp(log_likelihood + log_prior) + cell


@pytest.mark.parametrize("xi", [0.0, 1e-6, 1e-3, 0.5, 4.0, 50.0])
def test_the_logistic_function_is_above_its_bound(xi):
    x = np.linspace(-60.0, 60.0, 2001)
    bound = log_expit(xi) + (x - xi) / 2.0 - curvature_of_bound(np.array(xi)) * (x**2 - xi**2)
    assert (log_expit(x) >= bound - 1e-12).all()
    for touched in (xi, -xi):
        value = log_expit(xi) + (touched - xi) / 2.0
        assert log_expit(touched) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("groups", [(0, 1), (0, 0)])
def test_bounds_lie_below_the_evidence_and_the_full_one_is_closer(seed, groups):
    model = start(seed, groups)
    full = Fitted(model)
    for _ in range(200):  # at these precisions
        full = Fitted(Variational(**{**vars(full.model), "xi": full.best_xi}))
    evidence = log_evidence_by_quadrature(full.model)
    assert full.bound < evidence
    assert full.bound > evidence - 1.0
    fake = FakeTargets(model, np.full(2, 0.05), np.zeros(2))
    for _ in range(100):
        fake = fake.solved().settled(hold_total=False, is_sure=True)
        fake = FakeTargets(Variational(**{**vars(fake.model), "precisions": model.precisions}), fake.fake_variances, fake.weights)
        assert fake.bound < evidence
    assert fake.bound < full.bound


@pytest.mark.parametrize("seed", range(4))
def test_bounds_never_fall_and_end_at_their_fixed_points(seed):
    model = start(seed, (0, 1, 2, 2, 3), n=60)
    journal = Journal(Limits(tol=1e-10))
    fitted, outcome = run(model, journal)
    assert outcome is Outcome.CONVERGED
    assert (np.diff(journal.trace()["criterion"]) > -1e-9).all()
    gamma = fitted.determined * fitted.model.groups.sizes
    np.testing.assert_allclose(fitted.model.precisions * fitted.model.groups.total(fitted.squares), gamma, rtol=1e-3)
    np.testing.assert_allclose(fitted.best_xi, fitted.model.xi, rtol=1e-3)
    P = (
        2.0
        * (fitted.model.columns * (curvature_of_bound(fitted.model.xi) * model.labels.weights)[:, None]).T
        @ fitted.model.columns
    )
    P += np.diag(fitted.model.alpha)
    expected = np.linalg.solve(P, fitted.model.columns.T @ (model.labels.weights * (model.labels.targets - 0.5)))
    np.testing.assert_allclose(fitted.weights, expected, rtol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_papers_form_never_falls_while_none_is_pruned(seed):
    now = FakeTargets.start(start(seed, (0, 1, 2), n=60))
    bounds = []
    for _ in range(60):
        now = now.solved()
        bounds.append(now.bound)
        now = now.settled(hold_total=False, is_sure=True)
        bounds.append(now.bound)
    assert np.diff(bounds).min() > -1e-7


def test_the_papers_form_ends_settled():
    fake, outcome = run_factorized(start(1, (0, 1, 2), n=80), Journal(Limits(tol=1e-9)))
    assert outcome is Outcome.CONVERGED
    total = fake.model.groups.total
    np.testing.assert_allclose(fake.model.precisions * total(fake.own**2), total(fake.determined()), rtol=1e-2)


@pytest.mark.parametrize("n_columns", [1, 5, 40])
def test_rows_are_as_uncertain_as_a_dense_inverse_says(n_columns):
    columns, labels = problem(3, 60, n_columns)
    design = np.column_stack([np.ones(60), columns])
    model = Variational.start(labels, design, np.arange(n_columns), np.arange(n_columns), fit_intercept=True)
    fitted = Fitted(model)
    inverse = np.linalg.inv(fitted.precision_matrix)
    expected = (design @ fitted.weights) ** 2 + np.einsum("ij,jk,ik->i", design, inverse, design)
    np.testing.assert_allclose(fitted.best_xi**2, expected, rtol=1e-9)
    np.testing.assert_array_equal(model.columns, columns)


# The estimator -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.3, random_state=0)


@pytest.mark.parametrize("factorized", [False, True])
def test_few_functions_are_left_and_they_classify(moons, factorized):
    model = VBLSClassifier(factorized=factorized).fit(*moons)
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
    plain = VBLSClassifier("passthrough").fit(X, y)
    other = VBLSClassifier("passthrough").fit(X * [1e6, 1e-6] + [3e6, 5.0], y)
    np.testing.assert_allclose(other.predict_proba(X * [1e6, 1e-6] + [3e6, 5.0]), plain.predict_proba(X), atol=1e-6)
    assert other.criterion_ == pytest.approx(plain.criterion_, abs=1e-6)


def test_many_rows_take_landmarks_and_say_so():
    X, y = make_moons(3001, noise=0.3, random_state=0)
    with pytest.warns(UserWarning, match="2000 landmarks"), pytest.warns(ConvergenceWarning):
        model = VBLSClassifier(max_iter=1).fit(X, y)
    assert len(model.relevance_) == 2000
    assert len(VBLSClassifier(KernelBasis(centers=50, random_state=0)).fit(X, y).relevance_) == 50


def test_what_cannot_be_is_named(moons):
    X, y = moons
    with pytest.raises(ValueError, match="prior must be one of"):
        VBLSClassifier(prior="flat").fit(X, y)
    with pytest.raises(ValueError, match=r"label for each of the 150 candidates, got shape \(2,\)"):
        VBLSClassifier(prior=[0, 1]).fit(X, y)
    with config_context(working_memory=0.1), pytest.raises(ValueError, match="holds all 150 candidates at 150 rows"):
        VBLSClassifier().fit(X, y)

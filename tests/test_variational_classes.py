"""Variational classification: the bounds lie below the evidence and never fall, and their fixed points are what they say."""

import warnings

import numpy as np
import pytest
from scipy.special import log_expit, logsumexp
from scipy.stats import chi2
from sklearn import config_context
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from skarce import KernelBasis, Outcome, VBLSClassifier
from skarce.likelihoods import Bernoulli, Observations
from skarce.methods.variational_classes.fake_targets import FakeTargets, run_factorized, run_sweeps
from skarce.methods.variational_classes.jaakkola_jordan import Fitted, run, run_em
from skarce.methods.variational_classes.model import Variational, curvature_of_bound
from skarce.states.budget import Budget
from skarce.states.journal import Journal


def problem(seed, n=25, m=2):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, m))
    targets = (rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-2.0 * columns[:, 0]))).astype(float)
    return columns, Observations.of(Bernoulli(), targets, rng.choice([1.0, 2.0], n))


def start(seed, groups=(0, 1), n=25):
    columns, labels = problem(seed, n, len(groups))
    return Variational.start(labels, columns, np.arange(len(groups)), np.array(groups), fit_intercept=False)


def log_evidence_by_quadrature(model):
    """log of the integral of the likelihood under the prior, on a grid of the two weights."""
    alpha, labels = model.alpha, model.observations
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
    journal = Journal(Budget(tol=1e-10))
    fitted, outcome = run(model, journal)
    assert outcome is Outcome.CONVERGED
    assert (np.diff(journal.trace()["criterion"]) > -1e-9).all()
    gamma = fitted.determined * fitted.model.groups.sizes
    np.testing.assert_allclose(fitted.model.precisions * fitted.model.groups.total(fitted.own**2), gamma, rtol=1e-3)
    np.testing.assert_allclose(fitted.best_xi, fitted.model.xi, rtol=1e-3)
    P = (
        2.0
        * (fitted.model.columns * (curvature_of_bound(fitted.model.xi) * model.observations.weights)[:, None]).T
        @ fitted.model.columns
    )
    P += np.diag(fitted.model.alpha)
    expected = np.linalg.solve(P, fitted.model.columns.T @ (model.observations.weights * (model.observations.targets - 0.5)))
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
    fake, outcome = run_factorized(start(1, (0, 1, 2), n=80), Journal(Budget(tol=1e-9)))
    assert outcome is Outcome.CONVERGED
    total = fake.model.groups.total
    np.testing.assert_allclose(fake.model.precisions * total(fake.own**2), total(fake.determined()), rtol=1e-2)


@pytest.mark.parametrize("n_columns", [1, 5, 40])
def test_rows_are_as_uncertain_as_a_dense_inverse_says(n_columns):
    columns, labels = problem(3, 60, n_columns)
    design = np.column_stack([np.ones(60), columns])
    model = Variational.start(labels, design, np.arange(n_columns), np.arange(n_columns), fit_intercept=True)
    fitted = Fitted(model)
    curved = 2.0 * labels.weights * curvature_of_bound(model.xi)
    inverse = np.linalg.inv((design * curved[:, None]).T @ design + np.diag(model.alpha))
    expected = (design @ fitted.weights) ** 2 + np.einsum("ij,jk,ik->i", design, inverse, design)
    np.testing.assert_allclose(fitted.best_xi**2, expected, rtol=1e-9)
    np.testing.assert_array_equal(model.columns, columns)


# Expectation maximization ------------------------------------------------------------------------------------------------------


def explicit_sweep(X, y, c, mu, level, psi, alpha, xi):
    """One sweep with all fake targets written out: means (n, m) and covariances (n, m, m) of each row's, by dense inverses.

    Section 4.6 of the paper with the corrections of its errata; every candidate has a precision of its own.
    """
    m = X.shape[1]
    phi = np.tanh(xi / 2.0) / (4.0 * xi)
    ones = np.ones((m, m))
    covariances = np.array([np.linalg.inv(np.diag(1.0 / psi) + 2.0 * f * ones) for f in phi])
    z = np.array([C @ (mu * x / psi + t / 2.0 - 2.0 * f * level) for C, x, t, f in zip(covariances, X, y, phi, strict=True)])
    h = c @ X**2
    variances = 1.0 / (h / psi + alpha)
    mean = variances * (c @ (X * z)) / psi
    new_psi = (c @ ((z - mean * X) ** 2 + np.einsum("imm->im", covariances)) + variances * h) / c.sum()
    sums = z.sum(axis=1)
    new_level = c @ (y / 2.0 - 2.0 * phi * sums) / (2.0 * c @ phi + 0.01)
    new_xi = np.sqrt((new_level + sums) ** 2 + covariances.sum(axis=(1, 2)))
    return mean, new_level, new_psi, 1.0 / (mean**2 + variances), new_xi


def test_a_sweep_is_the_one_with_all_fake_targets_written_out():
    columns, labels = problem(5, 40, 3)
    design = np.column_stack([np.ones(40), columns])
    now = FakeTargets.start(Variational.start(labels, design, np.arange(3), np.arange(3), fit_intercept=True)).solved()
    y, c = 2.0 * labels.targets - 1.0, labels.weights
    state = (now.own, now.weights[0], now.fake_variances, now.alpha, now.model.xi)
    for _ in range(30):
        now, state = now.swept(), explicit_sweep(columns, y, c, *state)
    ours = (now.own, now.weights[0], now.fake_variances, now.alpha, now.model.xi)
    for one, other in zip(ours, state, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)


@pytest.mark.parametrize("solve", [run_em, run_sweeps])
@pytest.mark.parametrize("seed", range(3))
def test_expectation_maximization_never_lowers_the_bound(seed, solve):
    journal = Journal(Budget(tol=1e-9, max_steps=3000))
    solve(start(seed, (0, 1, 2, 2, 3), n=60), journal)
    assert (np.diff(journal.trace()["criterion"]) > -1e-9).all()


def test_expectation_maximization_ends_where_the_direct_steps_do():
    direct, _ = run(start(2, (0, 0, 1), n=200), Journal(Budget(tol=1e-10)))
    em, outcome = run_em(start(2, (0, 0, 1), n=200), Journal(Budget(tol=1e-7)))
    assert outcome is Outcome.CONVERGED
    np.testing.assert_array_equal(em.candidates, direct.candidates)
    np.testing.assert_allclose(em.weights, direct.weights, rtol=2e-3)
    assert em.bound == pytest.approx(direct.bound, abs=1e-3)


def test_the_papers_sweeps_come_near_the_direct_answer_of_its_form():
    direct, _ = run_factorized(start(2, (0, 1), n=60), Journal(Budget(tol=1e-10)))
    swept, _ = run_sweeps(start(2, (0, 1), n=60), Journal(Budget(tol=1e-10, max_steps=4000)))
    np.testing.assert_array_equal(swept.candidates, direct.candidates)
    np.testing.assert_allclose(swept.weights, direct.weights, rtol=0.02)
    assert swept.bound <= direct.bound + 1e-6


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
    for missing in (np.nan, None):
        with pytest.raises(ValueError, match=f"that of candidate 1 is {missing}; candidates of no group need labels of their own"):
            VBLSClassifier("passthrough", prior=[0, missing]).fit(X, y)
    for factorized in ("no", 2, None):
        with pytest.raises(ValueError, match=f"factorized must be True or False, got {factorized!r}"):
            VBLSClassifier(factorized=factorized).fit(X, y)
    with config_context(working_memory=0.1), pytest.raises(ValueError, match="The matrix of all 150 candidates at 150 rows needs"):
        VBLSClassifier().fit(X, y)


# Stricter rules ----------------------------------------------------------------------------------------------------------------


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
    weights = np.concatenate([[model.intercept_ + X[:, model.active_].mean(axis=0) @ model.coef_], model.coef_])
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
    np.testing.assert_allclose((low + high) / 2.0, model.coef_)
    np.testing.assert_allclose((high - low) / 2.0, 1.6448536 * model.coef_ / tests.statistic, rtol=1e-6)
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
    weakest = model.active_[(model.coef_**2 * X[:, model.active_].var(axis=0)).argmin()]
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
    with pytest.raises(ValueError, match=r"ask posterior_\[k\]"):
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
def test_a_rare_class_keeps_its_rate_where_no_input_tells_of_it(form):
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

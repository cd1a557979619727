import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skarce import (
    FastGCVRegressor,
    JeffreysPriorRegressor,
    KernelBasis,
    LaplacePriorRegressor,
    OrthogonalLeastSquaresRegressor,
    Outcome,
    RegularizedForwardRegressor,
    RelevanceVectorRegressor,
)
from skarce.criteria import IndividualEvidence
from skarce.criteria.size_prior import charge_for
from skarce.methods.few import AT_ONCE, FewFunctions, Set, worth_of_all
from skarce.states.budget import Budget
from tests.problems import moments_of

N_ROWS, N_INPUTS, N_TRUE = 100, 150, 4
EVERY_METHOD = {
    "rvm": RelevanceVectorRegressor,
    "rvm, sequential": lambda *a, **k: RelevanceVectorRegressor(*a, solver="sequential", **k),
    "rvm, em": lambda *a, **k: RelevanceVectorRegressor(*a, solver="em", **k),
    "fgcv": FastGCVRegressor,
    "fgcv, paper": lambda *a, **k: FastGCVRegressor(*a, noise_update="paper", **k),
    "ols": OrthogonalLeastSquaresRegressor,
    "rfs": RegularizedForwardRegressor,
    "rfs, orthogonal": lambda *a, **k: RegularizedForwardRegressor(*a, penalize="orthogonal", **k),
    "as": JeffreysPriorRegressor,
    "laplace": LaplacePriorRegressor,
}


@pytest.fixture(params=EVERY_METHOD)
def method(request):
    return EVERY_METHOD[request.param]


def drawn(seed=0, noise=1.0, n_true=N_TRUE, n_rows=N_ROWS):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + 500, N_INPUTS))
    y = X[:, :n_true] @ rng.uniform(1.0, 2.0, n_true) + noise * rng.normal(size=len(X))
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def test_a_few_inputs_are_found_among_more_than_rows(method):
    X, y, X_new, y_new = drawn()
    model = method("passthrough").fit(X, y)
    assert set(range(N_TRUE)) <= set(model.active_)
    assert len(model.active_) <= 2 * N_TRUE
    mean, std = model.predict(X_new, return_std=True)
    assert np.mean(np.abs(y_new - mean) < 1.96 * std) > 0.9
    assert np.sqrt(np.mean((y_new - mean) ** 2)) < 1.15
    candidates = model.trace_["index"][model.trace_["action"] == "add"]
    assert set(candidates) <= set(range(N_INPUTS))


def test_without_the_prior_the_model_interpolates_and_warns(method):
    X, y, *_ = drawn()
    with pytest.warns(ConvergenceWarning, match="more than half|interpolates"):
        model = method("passthrough", size_prior=None).fit(X, y)
    assert len(model.active_) > 0.4 * N_ROWS
    assert model.outcome_ in (Outcome.HALF_USED, Outcome.NO_NOISE)


def test_noise_alone_leaves_nothing(method):
    X, y, *_ = drawn(seed=3, n_true=0)
    assert len(method("passthrough").fit(X, y).active_) <= 1


def test_a_target_without_noise_is_found_exactly_without_a_warning(method):
    X, y, X_new, y_new = drawn(noise=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = method("passthrough").fit(X, y)
    np.testing.assert_array_equal(model.active_, np.arange(N_TRUE))
    np.testing.assert_allclose(model.predict(X_new), y_new, atol=0.01)


def test_many_functions_stay_if_all_candidates_together_are_worth_more(method):
    """A smooth function on narrow kernels: no few of them explain it. (The fast solver of GCV would end at half of the rows.)"""
    options = {"solver": "sequential"} if method is FastGCVRegressor else {}
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (150, 3))
    y = np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.05 * rng.normal(size=150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain, auto = (method(KernelBasis(gamma=8.0), size_prior=prior, **options).fit(X, y) for prior in (None, "auto"))
    np.testing.assert_array_equal(auto.active_, plain.active_)


def test_weight_two_is_the_row_twice():
    X, y, *_ = drawn(n_rows=80)
    twice = RelevanceVectorRegressor("passthrough").fit(np.vstack([X, X]), np.concatenate([y, y]))
    weighted = RelevanceVectorRegressor("passthrough").fit(X, y, sample_weight=np.full(80, 2.0))
    np.testing.assert_array_equal(twice.active_, weighted.active_)
    np.testing.assert_allclose(twice.coef_, weighted.coef_, atol=1e-6)
    assert len(weighted.active_) < 10


def test_every_target_has_its_own_few():
    X, y, *_ = drawn()
    other = 2.0 * X[:, 20] + np.random.default_rng(1).normal(size=len(y))
    both = RelevanceVectorRegressor("passthrough").fit(X, np.column_stack([y, other]))
    alone = RelevanceVectorRegressor("passthrough").fit(X, other)
    assert set(alone.active_) <= set(both.active_)
    np.testing.assert_array_equal(np.flatnonzero(both.coef_[1]), alone.active_)


@pytest.mark.parametrize("wrong", ["always", "uniform", True, 1.0])
def test_other_priors_are_refused(method, wrong):
    X, y, *_ = drawn()
    with pytest.raises(ValueError, match="size_prior must be"):
        method("passthrough", size_prior=wrong).fit(X, y)


# The sets themselves ---------------------------------------------------------------------------------------------------------


def test_the_worth_of_a_set_is_its_log_evidence_minus_the_charge():
    phi, t, *_ = drawn()
    found = FewFunctions(moments_of(phi, t), Budget()).found()
    covariance = np.eye(N_ROWS) + (phi[:, found.active] / found.ridges) @ phi[:, found.active].T
    score = -0.5 * (N_ROWS * np.log(t @ np.linalg.solve(covariance, t)) + np.linalg.slogdet(covariance)[1])
    assert found.worth == pytest.approx(score - charge_for(N_INPUTS, len(found.active)), rel=1e-6)


def test_no_single_change_of_the_set_is_worth_more():
    phi, t, *_ = drawn(1)
    moments = moments_of(phi, t)
    sets = FewFunctions(moments, Budget())
    found = sets.found()
    for candidate in range(N_INPUTS):
        changed = np.setxor1d(found.active, [candidate])
        ridges = IndividualEvidence().starting(moments, changed)[1]
        assert sets.worth_of(changed, ridges) < found.worth + 0.01


def test_the_worth_of_all_is_the_evidence_at_its_best_ridge():
    phi, t, *_ = drawn(2)
    phi = phi / np.sqrt((phi**2).sum(axis=0))

    def evidence(ridge):
        covariance = np.eye(N_ROWS) + phi @ phi.T / ridge
        return -0.5 * (N_ROWS * np.log(t @ np.linalg.solve(covariance, t)) + np.linalg.slogdet(covariance)[1])

    best = max(evidence(ridge) for ridge in np.geomspace(1e-6, 1e4, 400))
    assert worth_of_all(moments_of(phi * np.geomspace(0.1, 10.0, N_INPUTS), t)) == pytest.approx(best, abs=0.05)


def test_functions_that_leave_together_cost_more_than_they_are_worth():
    """The first one is the one that is missed least. Each of the others raises the worth even at the ridges it leaves behind."""
    X, y, *_ = drawn(n_rows=400)
    moments, size = moments_of(X, y), 64
    ridges = np.full(size, 0.3 * moments.gram.diagonal.mean())
    left, _ = FewFunctions(moments, Budget())._without_the_cheapest(Set(np.arange(size), ridges, -np.inf))
    gone = np.setdiff1d(np.arange(size), left)
    assert 1 < len(gone) <= 1 + size // AT_ONCE

    def worth_at_these_ridges(active):
        state = IndividualEvidence().new_state(moments, active, ridges[active])
        return IndividualEvidence().state_score(state) - charge_for(N_INPUTS, len(active))

    alone = [worth_at_these_ridges(np.delete(np.arange(size), one)) for one in range(size)]
    assert int(np.argmax(alone)) in gone
    assert worth_at_these_ridges(left) > max(alone)
    assert not set(gone) & set(range(N_TRUE))

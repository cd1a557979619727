"""Evidence with one precision for all weights: every quantity against N x N matrices."""

import numpy as np
import pytest
from scipy.optimize import minimize

from skarce.criteria import SharedEvidence
from skarce.searches import BestAction, Floating, Forward, GreedyBatches
from skarce.states.active_set import ActiveSet
from skarce.states.eigen_set import EigenSet
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.oracles import annihilator, log_density, random_problem, reestimated_densely, shared_evidence, well_determined
from tests.problems import moments_of
from tests.states.test_active_set import assert_fresh

ACTIVE = np.array([4, 1, 9, 3])

HELD = [(1e-3, 1.0), (2.0, 0.05), (1e4, 30.0)]

precisions = pytest.mark.parametrize(("alpha", "beta"), HELD)

seeds = pytest.mark.parametrize("seed", range(6))

STATES = {"eigenvectors": EigenSet, "Cholesky": lambda *a: ActiveSet(*a, squares=True)}


@pytest.fixture(params=STATES)
def make_state(request):
    return STATES[request.param]


def state_at(make_state, phi, t, active, alpha, beta):
    state = make_state(moments_of(phi, t), active, np.full(len(active), alpha / beta))
    state.noise = 1.0 / beta
    return state


@precisions
@seeds
def test_gamma_and_the_value_are_those_of_dense_matrices(make_state, seed, alpha, beta):
    phi, t = random_problem(seed)
    state = state_at(make_state, phi, t, ACTIVE, alpha, beta)
    gamma = well_determined(phi[:, ACTIVE], alpha, beta)
    np.testing.assert_allclose(state.moments.n_samples - state.freedom, gamma, rtol=1e-8, atol=1e-9)
    expected = shared_evidence(phi[:, ACTIVE], t, alpha, beta)
    np.testing.assert_allclose(SharedEvidence().score(state, len(t)), expected, rtol=1e-8)
    for k in (0, 2, 11):
        larger = well_determined(phi[:, [*ACTIVE, k]], alpha, beta)
        after = gamma + state.remainder[k] / (state.leftover[k] + alpha / beta)
        np.testing.assert_allclose(after, larger, rtol=1e-8, atol=1e-9)


@precisions
@seeds
def test_both_increments_are_differences_of_two_dense_evidences(make_state, seed, alpha, beta):
    phi, t = random_problem(seed)
    state, criterion = state_at(make_state, phi, t, ACTIVE, alpha, beta), SharedEvidence()
    before = shared_evidence(phi[:, ACTIVE], t, alpha, beta)
    ranking = criterion.ranking(state)
    for k in np.setdiff1d(np.arange(phi.shape[1]), ACTIVE):
        expected = shared_evidence(phi[:, [*ACTIVE, k]], t, alpha, beta) - before
        np.testing.assert_allclose(criterion.addition(state, int(k))[1], expected, rtol=1e-8, atol=1e-8)
        assert (ranking[k] > 1.0) == (expected > 0.0)
        np.testing.assert_allclose(ranking[k], 1 + expected if expected > 0 else 1 / (1 - expected), rtol=1e-7)
    assert (ranking[ACTIVE] == 0).all()
    gains = criterion.removal_gains(state, np.arange(4), len(t))
    expected = [shared_evidence(phi[:, np.delete(ACTIVE, i)], t, alpha, beta) - before for i in range(4)]
    np.testing.assert_allclose(gains, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(criterion.superfluous(state, len(t)), np.array(expected) >= 0)
    np.testing.assert_allclose(criterion.changes(state, len(t)).gains, gains)


def test_no_digits_are_lost_if_alpha_is_next_to_nothing():
    phi, t = random_problem(1)
    state = state_at(EigenSet, phi, t, ACTIVE, 1e-6, 1.0)
    gains = SharedEvidence().removal_gains(state, np.arange(4), len(t))
    before = shared_evidence(phi[:, ACTIVE], t, 1e-6, 1.0)
    expected = [shared_evidence(phi[:, np.delete(ACTIVE, i)], t, 1e-6, 1.0) - before for i in range(4)]
    np.testing.assert_allclose(gains, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["whole", "columns"])
def test_the_state_in_eigenvectors_knows_what_the_other_one_knows(kind):
    phi, t = random_problem(2)
    state = EigenSet(moments_of(phi, t, kind), ACTIVE, np.full(4, 0.7))
    assert_fresh(state, phi, t)
    place = state.snapshot()
    state.add(7, 0.7)
    assert_fresh(state, phi, t)
    state.keep(np.arange(5), np.full(5, 20.0))
    assert_fresh(state, phi, t)
    state.remove(1)
    assert state.active.tolist() == [4, 9, 3, 7]
    assert_fresh(state, phi, t)
    state.keep(np.array([0, 3]), np.full(2, 3.0))
    assert state.active.tolist() == [4, 7]
    assert_fresh(state, phi, t)
    H = phi[:, [4, 7]].T @ phi[:, [4, 7]] + 3.0 * np.eye(2)
    np.testing.assert_allclose(state.inverse, np.linalg.inv(H), rtol=1e-8)
    np.testing.assert_allclose(state.squared_spread(), np.diag(np.linalg.inv(H @ H)), rtol=1e-8)
    state.restore(place)
    assert state.active.tolist() == ACTIVE.tolist()
    assert_fresh(state, phi, t)
    with pytest.raises(TypeError, match="share one ridge"):
        state.change(0, 1.0)


def test_candidates_are_not_asked_about_before_they_are_needed():
    """Functions leave and come back without a look at the others."""
    phi, t = random_problem(0)
    moments = moments_of(phi, t, "columns")
    moments.gram.columns(np.arange(6))
    state, criterion = EigenSet(moments, np.arange(6), np.ones(6)), SharedEvidence()
    moments.gram.columns = moments.gram.column = None
    criterion.settle(state)
    place = state.snapshot()
    state.remove(int(criterion.removal_gains(state, np.arange(6), 30.0).argmax()))
    criterion.settle(state)
    assert np.isfinite(criterion.score(state, 30.0))
    state.restore(place)
    assert np.isfinite(criterion.score(state, 30.0))


def explained_problem(seed):
    """Columns of similar length, of which the target is made: both precisions have a maximum to go to."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(30, 12)) * rng.uniform(0.5, 2.0, 12)
    return phi, phi @ rng.normal(size=12) + rng.normal(size=30)


def density(phi, t, alpha, beta):
    return log_density(t, np.eye(len(t)) / beta + phi @ phi.T / alpha)


@seeds
def test_tight_reestimation_is_the_dense_maximum_in_two_dimensions(make_state, seed):
    phi, t = explained_problem(seed)
    inside = phi[:, ACTIVE]
    state = make_state(moments_of(phi, t), ACTIVE, np.ones(4))
    SharedEvidence().settle(state)
    noise = SharedEvidence().noise_at(state, len(t))
    found = density(inside, t, state.ridges[0] / noise, 1 / noise)
    best = max(
        -minimize(lambda at: -density(inside, t, *np.exp(at)), start, method="Nelder-Mead", options={"fatol": 1e-13}).fun
        for start in ([0.0, 0.0], [-5.0, 0.0], [5.0, -3.0])
    )
    assert found >= best - 1e-9
    # The stationary point of eq. (2).
    gamma = well_determined(inside, state.ridges[0] / noise, 1 / noise)
    rest = t - inside @ state.weights
    np.testing.assert_allclose(state.ridges[0] / noise, gamma / (state.weights @ state.weights), rtol=1e-6)
    np.testing.assert_allclose(noise, rest @ rest / (len(t) - gamma), rtol=1e-8)


@pytest.mark.parametrize("eps", [0.1, 1e-4])
@seeds
def test_reestimation_by_the_rule_of_the_paper(make_state, seed, eps):
    phi, t = explained_problem(seed)
    state = make_state(moments_of(phi, t), ACTIVE, np.ones(4))
    SharedEvidence("paper", eps).settle(state)
    variance = t @ t / len(t)
    alpha, beta, n_tried = reestimated_densely(phi[:, ACTIVE], t, 1e-3 / variance, 10 / variance, eps)
    assert n_tried > 1
    np.testing.assert_allclose([state.ridges[0] / state.noise, 1 / state.noise], [alpha, beta], rtol=1e-7)
    before = state.ridges.copy(), state.noise
    SharedEvidence("paper", 1.5 * eps).settle(state)  # what is close enough stays exactly where it is
    np.testing.assert_array_equal(state.ridges, before[0])
    assert state.noise == before[1]


def orthogonal_problem():
    """Three functions next to orthogonal to the target, and one that explains it."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(40, 6)))[0]
    phi = np.column_stack([Q[:, 0] + 1e-9 * Q[:, 5], Q[:, 1], Q[:, 2], Q[:, 4]])
    return phi, 3 * Q[:, 4] + 5 * Q[:, 5]


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("active", [[0], [1], [0, 1, 2]])
def test_the_evidence_of_functions_that_explain_nothing_is_bounded(reestimate, active):
    """gamma -> 0: the printed formula grows without bound (errata 3.7)."""
    phi, t = orthogonal_problem()
    criterion = SharedEvidence(reestimate)
    empty = criterion.score(EigenSet(moments_of(phi, t)), 40.0)
    state = EigenSet(moments_of(phi, t), np.array(active), np.ones(len(active)))
    for _ in range(30):
        criterion.settle(state)
    assert state.moments.n_samples - state.freedom < 0.1
    assert np.isfinite(criterion.score(state, 40.0))
    assert criterion.score(state, 40.0) < empty + 0.2
    assert np.isfinite(criterion.ranking(state)).all()


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
def test_an_exact_fit_is_bounded_too(reestimate):
    phi, _ = random_problem(0)
    t = phi[:, :3] @ np.ones(3)
    state = EigenSet(moments_of(phi, t), np.arange(12), np.ones(12))
    SharedEvidence(reestimate).settle(state)
    assert np.isfinite(SharedEvidence().score(state, 30.0))
    few = EigenSet(moments_of(phi[:5], t[:5]), np.arange(12), np.ones(12))  # N - gamma -> 0
    SharedEvidence(reestimate).settle(few)
    assert np.isfinite(SharedEvidence().score(few, 5.0))
    assert np.isfinite(SharedEvidence().removal_gains(few, np.arange(12), 5.0)).all()
    assert np.isfinite(SharedEvidence().ranking(few)).all()


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e6])
def test_units_of_the_target_do_not_matter(reestimate, factor):
    phi, t = random_problem(1, n=50, m=20)
    base, scaled = (Floating().run(SharedEvidence(reestimate), moments_of(phi, s * t), Journal()) for s in (1.0, factor))
    np.testing.assert_array_equal(base.active, scaled.active)
    np.testing.assert_allclose(scaled.ridges, base.ridges, rtol=1e-6)


def test_the_first_function_is_that_with_the_largest_normalized_projection():
    phi, t = random_problem(3)
    state = EigenSet(moments_of(phi, t))
    alone = (phi.T @ t) ** 2 / (phi**2).sum(axis=0)
    assert SharedEvidence().ranking(state).argmax() == alone.argmax()
    ridge, gain = SharedEvidence().addition(state, int(alone.argmax()))
    before = SharedEvidence().score(state, 30.0)
    state.add(int(alone.argmax()), ridge)
    np.testing.assert_allclose(SharedEvidence().score(state, 30.0) - before, gain, rtol=1e-8)
    P = annihilator(phi[:, [alone.argmax()]], np.array([ridge]), 30)
    np.testing.assert_allclose(state.energy, t @ P @ t, rtol=1e-8)


def test_best_action_ends_where_no_single_one_helps():
    phi, t = random_problem(2, n=60, m=25)
    found = BestAction().run(SharedEvidence(), moments_of(phi, t), Journal())
    assert found.outcome is Outcome.CONVERGED
    state = EigenSet(moments_of(phi, t), found.active, found.ridges)
    noise = SharedEvidence().noise_at(state, 60.0)
    held = found.ridges[0] / noise, 1 / noise
    best = shared_evidence(phi[:, found.active], t, *held)
    for m in range(25):
        assert shared_evidence(phi[:, np.setxor1d(found.active, [m])], t, *held) < best + 2e-3


@pytest.mark.parametrize("parameters", [{"reestimate": "loose"}, {"eps": 0.0}])
def test_parameters_that_make_no_sense_are_named(parameters):
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be"):
        SharedEvidence(**parameters)


def test_joint_steps_are_refused():
    with pytest.raises(TypeError, match="SharedEvidence has no ridge for each weight"):
        GreedyBatches(few=-1).run(SharedEvidence(), moments_of(*random_problem(0)), Journal())


def test_no_more_than_one_observation_has_no_evidence():
    assert SharedEvidence().score(EigenSet(moments_of(*random_problem(0))), 0.0) == 0.0


def test_copies_are_told_apart_by_their_index():
    phi, t = random_problem(0, n=40, m=12)
    doubled = np.concatenate([phi, phi], axis=1)
    for search in (Forward(16, 0.0), Floating()):
        found = search.run(SharedEvidence(), moments_of(doubled, t), Journal())
        chosen = found.active.tolist()
        assert all(m - 12 in chosen for m in chosen if m >= 12)

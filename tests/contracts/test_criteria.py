"""One body for every criterion. A new criterion is one line in `EVERY_CRITERION`."""

import numpy as np
import pytest

from skarce.basis.transformers import PassthroughCandidates
from skarce.criteria import (
    GCV,
    Criterion,
    ExplainedVariance,
    IndividualEvidence,
    OrthogonalGCV,
    PenalizedError,
    SharedEvidence,
    SharedGCV,
)
from skarce.designs import InMemoryDesign, Rows
from skarce.likelihoods import Gaussian
from skarce.methods.all_candidates import PriorEvidence
from skarce.methods.l1.path import LaplaceGCV
from skarce.methods.selection import Selection
from skarce.states.active_block import ActiveBlock
from skarce.states.budget import Budget
from skarce.states.members import SolvedMembers
from tests.contracts.test_searches import EVERY_SEARCH, goes_with
from tests.oracles import random_problem
from tests.problems import moments_of

EVERY_CRITERION = {
    "individual evidence": IndividualEvidence(),
    "individual evidence, noise given": IndividualEvidence(0.7),
    "GCV": GCV(),
    "GCV, lowest ridge": GCV(lowest_ridge=1e-3),
    "shared GCV": SharedGCV(),
    "shared GCV, ridge given": SharedGCV(2.0),
    "orthogonal GCV": OrthogonalGCV(),
    "orthogonal GCV, ridge given": OrthogonalGCV(2.0),
    "explained variance": ExplainedVariance(),
    "explained variance, BIC": ExplainedVariance("bic"),
    "penalized error": PenalizedError(),
    "penalized error, ridge given": PenalizedError(0.5),
    "shared evidence": SharedEvidence(),
    "shared evidence, paper": SharedEvidence("paper"),
}
ACTIVE = np.array([7, 0, 4])


@pytest.fixture(params=EVERY_CRITERION)
def criterion(request):
    return EVERY_CRITERION[request.param]


@pytest.fixture(params=[0, 1, 2])
def moments(request):
    return moments_of(*random_problem(request.param, n=40, m=10))


@pytest.fixture
def state(criterion, moments):
    """Three functions that came one after the other, as a search lets them in."""
    state = criterion.new_state(moments)
    criterion.settle(state)
    for candidate in ACTIVE:
        ridge, _ = criterion.addition(state, int(candidate))
        state.add(int(candidate), ridge if np.isfinite(ridge) else float(moments.gram.diagonal[candidate]))
        criterion.settle(state)
    assert len(state) == len(ACTIVE)
    return state


def outside(state):
    return np.setdiff1d(np.arange(state.moments.n_candidates), state.active)


def score_after(criterion, state, change):
    """The score from scratch after a change of a copy, with nothing settled."""
    other = criterion.new_state(state.moments, state.active.copy(), state.ridges.copy())
    other.noise = state.noise
    change(other)
    fresh = criterion.new_state(state.moments, other.active.copy(), other.ridges.copy())
    fresh.noise = state.noise
    return criterion.state_score(fresh)


def test_what_is_said_of_itself_fits_together(criterion):
    assert isinstance(criterion, Criterion)
    assert criterion.sense in (-1, 1)
    assert criterion.kind
    assert not (criterion.has_own_ridges and criterion.shares_ridge)
    if criterion.compiled_rule() is not None:
        assert criterion.has_own_ridges


def test_an_addition_gains_at_least_what_it_promises(criterion, state):
    before = criterion.state_score(state)
    for candidate in outside(state):
        ridge, gain = criterion.addition(state, int(candidate))
        if not np.isfinite(ridge):
            continue
        risen = score_after(criterion, state, lambda other, c=candidate, r=ridge: other.add(int(c), r)) - before
        assert risen >= gain - 1e-8 * (1.0 + abs(before))
        if criterion.has_own_ridges:  # nothing else moves, so the promise is exact
            assert risen == pytest.approx(gain, abs=1e-7 * (1.0 + abs(before)))


def test_a_removal_gains_at_least_what_it_promises(criterion, state):
    positions, n = np.arange(len(state)), state.moments.n_samples
    if not criterion.allows_removal:
        with pytest.raises(TypeError, match="leave"):
            criterion.removal_gains(state, positions, n)
        return
    before = criterion.state_score(state)
    for position, gain in zip(positions, criterion.removal_gains(state, positions, n), strict=True):
        risen = score_after(criterion, state, lambda other, p=position: other.remove(int(p))) - before
        assert risen >= gain - 1e-8 * (1.0 + abs(before))
        if criterion.has_own_ridges:
            assert risen == pytest.approx(gain, abs=1e-7 * (1.0 + abs(before)))


def test_the_ranking_is_above_one_exactly_if_an_addition_helps(criterion, state):
    ranking = criterion.ranking(state)
    assert (ranking[state.active] == 0.0).all(), "active functions must rank exactly zero"
    gains = np.array([criterion.addition(state, int(candidate))[1] for candidate in outside(state)])
    ranks = ranking[outside(state)]
    assert ((ranks > 1.0) == (gains > 1e-12)).all()
    order = np.argsort(ranks)
    assert (np.diff(gains[order][ranks[order] > 1.0]) > -1e-9).all()


def test_superfluous_functions_and_changes_agree_with_removals(criterion, state):
    if not criterion.allows_removal:
        return
    n = state.moments.n_samples
    ridges, gains = criterion.changes(state, n)
    removals = criterion.removal_gains(state, np.arange(len(state)), n)
    assert (gains >= removals - 1e-9 * (1.0 + np.abs(removals))).all()  # leaving out is one of the changes
    np.testing.assert_allclose(gains[np.isinf(ridges)], removals[np.isinf(ridges)], rtol=1e-6, atol=1e-9)
    assert criterion.superfluous(state, n).shape == (len(state),)


def test_derivatives_are_those_of_the_score(criterion, moments, state):
    n = moments.n_samples
    if not criterion.has_own_ridges:
        with pytest.raises(TypeError, match="no ridge for each weight"):
            criterion.derivatives(state, n)
        return
    gram, projections = moments.gram.block(ACTIVE, ACTIVE), moments.projections[ACTIVE]
    ridges = 0.3 * moments.gram.diagonal[ACTIVE]

    def score(step):
        return criterion.score(ActiveBlock(gram, projections, moments.target_energy, ridges * np.exp(step)), n)

    gradient, curvature, scale = criterion.derivatives(ActiveBlock(gram, projections, moments.target_energy, ridges), n)
    h = 1e-4
    for i, unit in enumerate(h * np.eye(3)):
        assert gradient[i] == pytest.approx((score(unit) - score(-unit)) / (2 * h), rel=1e-5, abs=1e-6)
        second = (score(unit) - 2 * score(np.zeros(3)) + score(-unit)) / h**2
        assert curvature[i, i] == pytest.approx(-second, rel=1e-3, abs=1e-4)
    assert (scale > 0.0).all()


def test_the_published_value_does_not_depend_on_the_scale_of_the_target(criterion, state):
    n, factor = state.moments.n_samples, 8.0
    scaled = criterion.scaled(factor)
    other = scaled.new_state(state.moments.scaled(factor), state.active.copy(), state.ridges.copy())
    other.noise = None if state.noise is None else state.noise * factor**2
    here = criterion.value(criterion.state_score(state), n, n + 1.0, 1.0)
    there = scaled.value(scaled.state_score(other), n, n + 1.0, factor)
    assert there == pytest.approx(here, rel=1e-9)
    assert scaled.noise_at(other, n) == pytest.approx(criterion.noise_at(state, n) * factor**2, rel=1e-9)


def test_a_larger_score_is_a_better_published_value(criterion):
    low, high = criterion.value(np.array([-3.0, -2.0]), 40.0, 41.0, 1.0)
    assert criterion.sense * (high - low) > 0.0


def test_a_prepared_criterion_says_the_same(criterion, moments, state):
    prepared = criterion.prepared(moments)
    np.testing.assert_allclose(prepared.ranking(state), criterion.ranking(state), rtol=1e-12)
    assert prepared.worth(state) == pytest.approx(criterion.worth(state), rel=1e-12)
    assert prepared.prepared(moments).worth(state) == pytest.approx(criterion.worth(state), rel=1e-12)


def solved(criterion, state):
    """The functions of a state as they are when the search is over, from dense matrices."""
    ridges, mixing = criterion.penalty(state, len(state))
    mixing = np.eye(len(state)) if mixing is None else mixing
    gram, projections = state.gram_block, state.moments.projections[state.active]
    H = gram + mixing.T @ np.diag(ridges) @ mixing
    weights = np.linalg.solve(H, projections)
    energy = state.moments.target_energy - projections @ weights
    factor = np.linalg.cholesky(H)
    return SolvedMembers(factor, ridges, mixing @ weights, energy, gram.diagonal(), mixing, state.noise)


def test_a_chosen_set_is_judged_by_its_members_alone(criterion, state):
    """After a search a criterion sees members, which know no other candidates."""
    n, members = state.moments.n_samples, solved(criterion, state)
    score = criterion.score(members, n)
    if criterion.has_final_penalty:  # the ridge is then the best one, which that of the state need not be
        assert score >= criterion.state_score(state) - 1e-6
    else:
        assert score == pytest.approx(criterion.state_score(state), rel=1e-8)
        assert criterion.noise_at(members, n) == pytest.approx(criterion.noise_at(state, n), rel=1e-8)
    assert np.isfinite(criterion.value(score, n, n + 1.0, 1.0))
    assert criterion.noise_at(members, n) > 0.0
    if criterion.allows_removal and not criterion.has_final_penalty:
        positions = np.arange(len(state))
        gains = criterion.removal_gains(members, positions, n)
        np.testing.assert_allclose(gains, criterion.removal_gains(state, positions, n), rtol=1e-6, atol=1e-8)


def test_a_start_has_the_ridges_that_an_addition_would_give(criterion, moments):
    """A search that goes down, or that is given functions, begins with `starting`."""
    kept, ridges = criterion.starting(moments, np.arange(moments.n_candidates - 1))
    state = criterion.new_state(moments, kept, ridges)
    criterion.settle(state)
    if criterion.has_own_ridges:
        assert (state.ridges > 0.0).all()
        return
    ridge, _ = criterion.addition(state, moments.n_candidates - 1)
    np.testing.assert_allclose(state.ridges, ridge, rtol=1e-9, err_msg="functions share a ridge, so `starting` must use it too")
    if criterion.allows_removal:
        before = criterion.state_score(state)
        for position, gain in enumerate(criterion.removal_gains(state, np.arange(len(state)), moments.n_samples)):
            assert score_after(criterion, state, lambda other, p=position: other.remove(p)) - before >= gain - 1e-6 * (
                1.0 + abs(before)
            )


def awkward_problem():
    """More candidates than rows, copies, a constant, and wide kernels that are nearly dependent."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 40)
    kernels = np.exp(-0.05 * (x[:, None] - x) ** 2)
    phi = np.column_stack([kernels, kernels[:, :5], np.exp(-2.0 * (x[:, None] - x[:10]) ** 2), np.zeros(40)])
    return phi, np.sin(x) + 0.1 * rng.normal(size=40)


@pytest.mark.parametrize("name", EVERY_SEARCH)
def test_a_fit_keeps_what_the_search_promised(criterion, name):
    """From end to end, on data that divide by rounding if nobody looks."""
    search = EVERY_SEARCH[name]
    if not goes_with(search, criterion):
        return
    phi, t = awkward_problem()
    design = InMemoryDesign(PassthroughCandidates(phi.shape[1]), Rows(phi, t[:, None]), fit_intercept=False)
    (problem,) = design.problems(Gaussian())
    method = Selection(criterion, search)
    fit = method.run(problem, Budget(max_steps=300))
    posterior = method.posterior(fit, problem)
    predicted = posterior.predict(phi[:, posterior.active])
    assert np.isfinite(predicted).all()
    assert np.mean((t - predicted) ** 2) < np.mean(t**2)
    promised = posterior.trace["criterion"][posterior.trace["n_active"] == len(posterior.active)]
    assert np.isfinite(posterior.criterion)
    assert criterion.sense * posterior.criterion >= (criterion.sense * promised).min() - 1e-3 * (1.0 + abs(posterior.criterion))


def test_starting_functions_are_some_of_those_given(criterion, moments):
    members = np.array([1, 2, 5, 8])
    kept, ridges = criterion.starting(moments, members)
    assert set(kept) <= set(members)
    assert len(kept) == len(ridges)
    assert len(criterion.new_state(moments, kept, ridges)) == len(kept)


@pytest.mark.parametrize("judge", [PriorEvidence(), PriorEvidence(weight_variance=2.0), LaplaceGCV()])
def test_judges_of_methods_inherit_their_kind(judge):
    assert judge.kind in ("IndividualEvidence", "GCV")

"""One body for every criterion. A new criterion is one line in `EVERY_CRITERION`."""

import numpy as np
import pytest

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
from skarce.methods.all_candidates import PriorEvidence
from skarce.methods.l1.path import LaplaceGCV
from skarce.moments import Moments, WholeGram
from skarce.states.active_block import ActiveBlock
from tests.oracles import random_problem

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


def moments_of(phi, t):
    return Moments(WholeGram(phi.T @ phi), phi.T @ t, float(t @ t), float(len(t)))


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
    assert (ranking[state.active] == 0.0).all()
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


def test_starting_functions_are_some_of_those_given(criterion, moments):
    members = np.array([1, 2, 5, 8])
    kept, ridges = criterion.starting(moments, members)
    assert set(kept) <= set(members)
    assert len(kept) == len(ridges)
    assert len(criterion.new_state(moments, kept, ridges)) == len(kept)


@pytest.mark.parametrize("judge", [PriorEvidence(), PriorEvidence(weight_variance=2.0), LaplaceGCV()])
def test_judges_of_methods_inherit_their_kind(judge):
    assert judge.kind in ("IndividualEvidence", "GCV")

"""Whether functions that span the others may win at one ridge, beside all their scores on a fine grid of ridges."""

import numpy as np
import pytest

from skarce.criteria import GCV, IndividualEvidence
from skarce.searches import spanning_sets
from skarce.searches.spanning_sets import SpanningSets
from skarce.searches.spanning_start import _pivots
from tests.oracles import profiled_log_evidence
from tests.problems import kernel_moments

CRITERIA = {"learned": IndividualEvidence(), "given": IndividualEvidence(0.3)}


def sets_of(criterion, moments, pivots, heights, most):
    return SpanningSets(criterion, moments, pivots, moments.gram.block(pivots, pivots), heights, most)


def spanning_of(moments, n_spanning=None):
    every = np.arange(moments.n_candidates)
    pivots, heights = _pivots(moments.gram.block(every, every))
    return pivots[:n_spanning], heights[:n_spanning]


def best_score(criterion, moments, pivots, heights, most):
    """The best score of the sets at many ridges, each from a state of its own."""
    scores = []
    for ridge in heights[0] * np.geomspace(1e-13, 1.0, 400)[:-1]:
        active = pivots[heights > ridge]
        if len(active) <= most:
            state = criterion.new_state(moments, active, np.full(len(active), ridge))
            scores.append(criterion.score(state, moments.n_samples))
    return max(scores)


@pytest.fixture
def only_proofs(monkeypatch):
    """Refuse nothing at the first look, and do not give up."""
    monkeypatch.setattr(spanning_sets, "FAR_BEHIND", np.inf)
    monkeypatch.setattr(spanning_sets, "MOST_HALVINGS", 1000)


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
@pytest.mark.parametrize("case", [(60, 0.5, 0.3, None), (90, 2.0, 0.1, None), (80, 2.0, 1.0, 15), (120, 0.5, 0.02, 20)])
def test_sets_may_win_exactly_if_one_of_them_does(criterion, case, only_proofs):
    """Either only some of the functions count together, or all of the few that there are."""
    n, gamma, noise, n_spanning = case
    moments, _, _ = kernel_moments(gamma, n=n, noise=noise)
    spanning = spanning_of(moments, n_spanning)
    sets = sets_of(criterion, moments, *spanning, n // 3)
    best = best_score(criterion, moments, *spanning, n // 3)
    assert sets.may_win(best - 0.01)
    assert not sets.may_win(best + 1.0)


def test_the_score_bound_is_the_score_of_a_set_and_falls_with_both():
    moments, phi, t = kernel_moments(0.5, n=60, noise=0.3)
    active, ridges = np.array([3, 20, 41]), np.array([0.1, 0.2, 0.3])
    criterion = IndividualEvidence()
    state = criterion.new_state(moments, active, ridges)
    bound = criterion.score_bound(state.energy, state.log_determinant, moments.n_samples)
    empty = criterion.score_bound(moments.target_energy, 0.0, moments.n_samples)
    dense = [profiled_log_evidence(phi[:, some], t, ridges[: len(some)], intercept=True) for some in (active, active[:0])]
    np.testing.assert_allclose(bound - empty, dense[0] - dense[1], rtol=1e-8)
    assert criterion.score_bound(0.9 * state.energy, state.log_determinant, 59.0) > bound
    assert criterion.score_bound(state.energy, state.log_determinant - 1.0, 59.0) > bound
    assert criterion.score_bound(0.0, 1.0, 59.0) == np.inf


def test_nothing_is_proved_of_a_criterion_without_a_bound_or_of_sets_that_are_cut(only_proofs):
    moments, _, _ = kernel_moments(0.5, n=60, noise=0.3)
    worth = {
        criterion: best_score(criterion, moments, *spanning_of(moments), 20) + 10.0 for criterion in (GCV(), IndividualEvidence())
    }
    makes = {criterion: sets_of(criterion, moments, *spanning_of(moments), 20) for criterion in worth}
    assert [sets.may_win(worth[criterion]) for criterion, sets in makes.items()] == [True, False]
    assert makes[IndividualEvidence()].may_win(worth[IndividualEvidence()], are_cut=True)

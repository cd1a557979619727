"""The best ridges of one set: no start and no single change finds better ones."""

import numpy as np
import pytest

from skarce.criteria import GCV, IndividualEvidence
from skarce.searches.best_action import BestAction
from skarce.searches.set_ridges import best_ridges, climbed
from tests.problems import moments_of

CRITERIA = (IndividualEvidence(), IndividualEvidence(noise_variance=0.1), GCV())


def related(seed, factor, m=4):
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(40, m)) + factor * rng.normal(size=(40, 1))
    return moments_of(phi, phi @ rng.normal(size=m) + 0.3 * rng.normal(size=40))


def score_at(criterion, moments, members, ridges):
    return criterion.state_score(criterion.new_state(moments, members, ridges))


@pytest.mark.parametrize("factor", [0.0, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("criterion", CRITERIA, ids=repr)
def test_random_starts_lead_nowhere_higher(criterion, factor):
    for seed in range(5):
        moments, rng = related(seed, factor), np.random.default_rng(seed)
        highest = score_at(criterion, moments, *best_ridges(criterion, moments, np.arange(4)))
        for _ in range(10):
            climb = climbed(criterion, moments, 10.0 ** rng.uniform(-8.0, 2.0, 4) * moments.gram.diagonal)
            assert criterion.state_score(climb) <= highest + 1e-6


@pytest.mark.parametrize("criterion", CRITERIA, ids=repr)
def test_no_single_action_helps_in_the_end(criterion):
    for seed in range(10):
        moments = related(seed, 10.0)
        state = criterion.new_state(moments, *best_ridges(criterion, moments, np.arange(4)))
        assert BestAction.best(criterion, state, 4)[3] <= 1e-6


@pytest.mark.parametrize("criterion", CRITERIA, ids=repr)
def test_the_end_is_not_below_known_ridges_and_names_the_candidates(criterion):
    moments, members = related(0, 1.0, m=7), np.array([5, 1, 6])
    known = np.array([1e-3, 2.0, 0.5]) * moments.gram.diagonal[members]
    active, ridges = best_ridges(criterion, moments, members, known)
    assert set(active) <= set(members)
    assert score_at(criterion, moments, active, ridges) >= score_at(criterion, moments, members, known)


def test_the_empty_set_has_no_ridges():
    active, ridges = best_ridges(GCV(), related(0, 1.0), np.empty(0, dtype=np.intp))
    assert len(active) == len(ridges) == 0

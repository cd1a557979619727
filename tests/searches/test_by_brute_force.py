"""Whole searches go the way of brute force."""

import numpy as np
import pytest

from skarce.criteria import SharedEvidence
from skarce.searches import Floating, Oscillating, PlusTakeAway
from skarce.states.eigen_set import EigenSet
from tests.problems import moments_of
from tests.searches.brute_force import BruteForce, brute_floating, brute_oscillating, brute_plus_take_away
from tests.searches.every_search import even_problem, replayed, run

WHOLE_SEARCHES = {
    "forward": (PlusTakeAway(1, 0, patience=4, share=0.0), lambda brute: brute_plus_take_away(brute, 1, 0, 4)),
    "plus 2, take away 1": (PlusTakeAway(2, 1, patience=4, share=0.0), lambda brute: brute_plus_take_away(brute, 2, 1, 4)),
    "floating": (Floating(patience=4, share=0.0), lambda brute: brute_floating(brute, 4)),
    "oscillating": (Oscillating(3, patience=4, share=0.0), lambda brute: brute_oscillating(brute, 3, 4)),
}


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("name", WHOLE_SEARCHES)
@pytest.mark.parametrize("seed", range(4))
def test_whole_searches_go_the_way_of_brute_force(seed, name, reestimate):
    phi, t = even_problem(seed)
    search, by_brute_force = WHOLE_SEARCHES[name]
    brute = BruteForce(phi, t, reestimate)
    best = by_brute_force(brute)
    found, trace = run(search, SharedEvidence(reestimate), phi, t)
    steps = trace[trace["action"] != "undo"]
    assert list(zip(steps["action"], steps["index"].tolist(), strict=True)) == brute.path
    assert set(found.active) == set(best.active)
    # By the rule of the paper one set can have several precisions, and so evidences (errata 3.6).
    is_tight = reestimate == "tight"
    noise = SharedEvidence().noise_at(EigenSet(moments_of(phi, t), found.active, found.ridges), 40) if is_tight else found.noise
    np.testing.assert_allclose(found.ridges[0] / noise, best.alpha, rtol=1e-4 if is_tight else 0.02)
    np.testing.assert_allclose(1 / noise, best.beta, rtol=1e-4 if is_tight else 0.02)
    at_best = trace["criterion"][[s == set(best.active) for s in replayed(trace)[1:]]]
    np.testing.assert_allclose(at_best.max(), best.evidence, rtol=1e-8 if is_tight else 1e-5)


@pytest.mark.parametrize("n_start", [3, 8, 15])
@pytest.mark.parametrize("seed", range(4))
def test_floating_comes_down_from_what_it_starts_from(seed, n_start):
    phi, t = even_problem(seed)
    start = tuple(range(19, 19 - n_start, -1))  # most of them are of no use
    brute = BruteForce(phi, t, "tight")
    best = brute_floating(brute, 4, start)
    found, trace = run(Floating(patience=4, share=0.0, initial=start), SharedEvidence(), phi, t)
    steps = trace[trace["action"] != "undo"]
    assert list(zip(steps["action"], steps["index"].tolist(), strict=True)) == brute.path
    assert set(found.active) == set(best.active)
    assert not set(start) <= set(found.active)

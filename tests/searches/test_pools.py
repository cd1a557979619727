"""Searches in pools of candidates."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from skarce.criteria import GCV, IndividualEvidence
from skarce.searches import GreedyBatches, Pools
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.problems import moments_of
from tests.searches.test_schedules import friedman


@dataclass(frozen=True)
class Counted:
    """A criterion that fails instead of running forever."""

    asked: list = field(default_factory=list)

    def ranking(self, state):
        self.asked.append(len(state))
        assert len(self.asked) < 3000, "the search does not end"
        return super().ranking(state)


@dataclass(frozen=True)
class CountedGCV(Counted, GCV):
    pass


@dataclass(frozen=True)
class Stubborn(Counted, IndividualEvidence):
    """A scan of all candidates takes one of them for helpful that is not."""

    def ranking(self, state):
        ranking = super().ranking(state)
        if state.moments.n_candidates == 300:
            ranking[np.setdiff1d(np.arange(300), state.active)[0]] = 2.0
        return ranking

    def addition(self, state, candidate):
        ridge, gain = super().addition(state, candidate)
        return ridge, 1.0 if state.moments.n_candidates == 300 else gain


def test_crowded_pools_give_way_to_the_whole_gram():
    """On a hard problem by column the search asks for the whole Gram and ends where no pool could hold it back."""
    design, _, _ = friedman(1, 400)
    moments = design.moments("columns")[0]
    asked = []
    whole = moments.gram.whole
    moments.gram.whole = lambda: asked.append(True) or whole()
    found = GreedyBatches(pools=Pools(128)).run(IndividualEvidence(), moments, Journal())
    assert asked
    assert len(found.active) > 60


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_exact", [True, False])
def test_pools_end_if_nothing_is_left_to_explain(seed, is_exact):
    """With more candidates than rows GCV ends in an exact fit. Then other candidates seem to help forever, but no step is taken."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(20, 500))
    t = phi[:, :3] @ rng.normal(size=3) if is_exact else rng.normal(size=20)
    found = GreedyBatches(pools=Pools(64, 20)).run(CountedGCV(), moments_of(phi, t, "columns"), Journal())
    weights = np.linalg.lstsq(phi[:, found.active], t, rcond=None)[0]
    assert np.linalg.norm(t - phi[:, found.active] @ weights) < 1e-4 * np.linalg.norm(t)


def test_a_scan_that_disagrees_with_its_pool_ends_the_search():
    """A candidate that a scan takes for helpful, and the pool does not, would come back in every round."""
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(60, 300))
    t = phi[:, 5] + 0.5 * rng.normal(size=60)
    found = GreedyBatches(pools=Pools(40, 10)).run(Stubborn(), moments_of(phi, t, "columns"), Journal())
    assert found.outcome is Outcome.ILL_CONDITIONED


@pytest.mark.parametrize("limits", [Budget(max_steps=3), Budget(deadline=0.0)])
def test_pools_keep_the_limits(limits):
    rng = np.random.default_rng(1)
    phi = rng.normal(size=(60, 300))
    journal = Journal(limits)
    found = GreedyBatches(pools=Pools(40, 10)).run(CountedGCV(), moments_of(phi, rng.normal(size=60), "columns"), journal)
    assert found.outcome.is_early
    assert journal.n_steps <= limits.max_steps


def test_a_start_that_crowds_the_first_pool_goes_to_the_whole_gram_at_once():
    """The result is that of a search on the whole Gram from the same start, and no block of a pool is computed."""
    design, _, _ = friedman(1, 400)
    by_column, whole = (design.moments(kind)[0] for kind in ("columns", "whole"))
    start = np.arange(0, 400, 5), np.full(80, 0.1)
    by_column.gram.block = None
    found, expected = (GreedyBatches(pools=Pools(128)).run(IndividualEvidence(), m, Journal(), start) for m in (by_column, whole))
    np.testing.assert_array_equal(found.active, expected.active)
    np.testing.assert_allclose(found.ridges, expected.ridges, rtol=1e-6)

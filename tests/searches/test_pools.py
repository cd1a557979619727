"""Searches in pools of candidates."""

from skarce.criteria import IndividualEvidence
from skarce.searches import GreedyBatches, Pools
from skarce.states.journal import Journal
from tests.searches.test_schedules import friedman


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

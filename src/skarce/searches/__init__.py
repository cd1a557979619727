"""Searches: the order in which sets of candidates are tried. A search knows no mathematics; it asks a criterion."""

from skarce.searches.best_action import BestAction
from skarce.searches.exhaustive import Exhaustive
from skarce.searches.floating import Floating
from skarce.searches.forward import Forward
from skarce.searches.greedy_batches import GreedyBatches
from skarce.searches.oscillating import Oscillating
from skarce.searches.plus_take_away import Backward, PlusTakeAway
from skarce.searches.pools import Pools
from skarce.searches.search import Search

__all__ = [
    "Backward",
    "BestAction",
    "Exhaustive",
    "Floating",
    "Forward",
    "GreedyBatches",
    "Oscillating",
    "PlusTakeAway",
    "Pools",
    "Search",
]

"""Searches: the order in which sets of candidates are tried. A search knows no mathematics; it asks a criterion."""

from typing import TYPE_CHECKING

from skarce._lazy import lazy

if TYPE_CHECKING:
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

__getattr__, __dir__ = lazy(
    __name__,
    {
        "BestAction": "best_action",
        "Exhaustive": "exhaustive",
        "Floating": "floating",
        "Forward": "forward",
        "GreedyBatches": "greedy_batches",
        "Oscillating": "oscillating",
        "Backward": "plus_take_away",
        "PlusTakeAway": "plus_take_away",
        "Pools": "pools",
        "Search": "search",
    },
)

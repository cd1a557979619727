"""The searches that go one by one, the criteria they take, and problems on which greedy choices are regretted."""

import numpy as np
import pytest

from skarce.criteria import GCV, ExplainedVariance, IndividualEvidence, SharedEvidence, SharedGCV
from skarce.searches import Backward, Floating, Forward, Oscillating, PlusTakeAway
from skarce.states.journal import Journal
from tests.problems import moments_of

TOL = 1e-3

PAPER_FORWARD = Forward(16, 0.0, share=0.3)

SEARCHES = {
    "forward": PAPER_FORWARD,
    "backward": Backward(),
    "plus 1": PlusTakeAway(1, 0),
    "plus 2, take away 1": PlusTakeAway(2, 1),
    "plus 3, take away 1": PlusTakeAway(3, 1),
    "plus 1, take away 2": PlusTakeAway(1, 2),
    "floating": Floating(),
    "oscillating": Oscillating(3),
}

GROWING = [name for name, search in SEARCHES.items() if not search.goes_down]

CRITERIA = {
    "individual evidence": IndividualEvidence(),
    "GCV": GCV(),
    "shared GCV": SharedGCV(),
    "shared GCV, fixed": SharedGCV(2.0),
    "explained variance": ExplainedVariance(),
    "explained variance, BIC": ExplainedVariance("bic"),
    "shared evidence": SharedEvidence(),
    "shared evidence, paper": SharedEvidence("paper"),
}

every_search = pytest.mark.parametrize("search", SEARCHES.values(), ids=list(SEARCHES))

every_criterion = pytest.mark.parametrize("criterion", CRITERIA.values(), ids=list(CRITERIA))


def even_problem(seed, n=40, m=20, n_true=6, noise=0.7):
    """Columns of similar length, neighbors alike, so that greedy choices are regretted."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, m))
    phi = phi + 0.9 * np.roll(phi, 1, axis=1)
    return phi, phi[:, :n_true] @ rng.choice([-1.0, 1.0], n_true) + noise * rng.normal(size=n)


def run(search, criterion, phi, t, limits=None):
    journal = Journal(limits)
    return search.run(criterion, moments_of(phi, t), journal), journal.trace()


def replayed(trace, start=()):
    """The set before the first row and after each, from the trace alone."""
    sets = [set(start)]
    for row, step in enumerate(trace):
        if step["action"] == "undo":
            sets.append(set(sets[row - step["index"]]))
        else:
            sets.append(sets[-1] ^ {int(step["index"])})
        assert len(sets[-1]) == step["n_active"]
        assert step["action"] == "undo" or (int(step["index"]) in sets[-1]) == (step["action"] == "add")
    return sets


def with_(search, **parameters):
    return type(search)(**{**{k: getattr(search, k) for k in search.__dataclass_fields__}, **parameters})

"""Parameters of searches: what is refused, and how they are shown."""

import numpy as np
import pytest

from skarce.criteria import SharedEvidence
from skarce.searches import Backward, Floating, Forward, Oscillating, PlusTakeAway
from skarce.states.budget import Budget
from tests.searches.every_search import even_problem, run


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PlusTakeAway(2, 2), "plus and minus must differ"),
        (lambda: PlusTakeAway(-1, 2), "plus and minus must be whole numbers of at least 0"),
        (lambda: PlusTakeAway(1.5, 1), "plus and minus must be whole numbers of at least 0, got 1.5 and 1"),
        (lambda: PlusTakeAway(1, 0.0), "plus and minus must be whole numbers"),
        (lambda: PlusTakeAway("2", 1), "plus and minus must be whole numbers"),
        (lambda: Oscillating(1.5), "depth must be a whole number of at least 1, got 1.5"),
        (lambda: Floating(patience=2.5), "patience must be a whole number"),
        (lambda: Oscillating(0), "depth must be"),
        (lambda: Floating(patience=0), "patience must be"),
        (lambda: Floating(share=-0.1), "share must be"),
        (lambda: Backward(threshold=np.nan), "threshold must be"),
        (lambda: Backward(n_basis=2.5), "n_basis must be"),
        (
            lambda: run(Floating(initial=[40]), SharedEvidence(), *even_problem(0)),
            "initial must be indices of candidates from 0 to 19, got 40.$",
        ),
        (
            lambda: run(Floating(initial=range(15, 120)), SharedEvidence(), *even_problem(0)),
            "initial must be indices of candidates from 0 to 19, got 20 and 99 more outside this range.$",
        ),
        (
            lambda: run(Floating(initial=np.arange(20) < 3), SharedEvidence(), *even_problem(0)),
            r"initial .* is a mask of booleans: give np.flatnonzero\(mask\).$",
        ),
        (lambda: run(Floating(always_in=[-1]), SharedEvidence(), *even_problem(0)), "always_in must be indices"),
        (lambda: run(Floating(always_in=[1, 2], n_basis=1), SharedEvidence(), *even_problem(0)), "more than n_basis=1"),
        (
            lambda: run(Floating(always_in=[1, 2]), SharedEvidence(), *even_problem(0), Budget(max_active=1)),
            "more than max_active=1",
        ),
        (
            lambda: run(Forward(initial=[1, 2, 3], n_basis=2), SharedEvidence(), *even_problem(0)),
            "3 candidates, more than n_basis=2",
        ),
        (
            lambda: run(Floating(initial=[1, 2], always_in=[2, 4]), SharedEvidence(), *even_problem(0), Budget(max_active=2)),
            "3 candidates, more than max_active=2 allows, and Floating only grows",
        ),
        (
            lambda: run(Backward(initial=[1, 2], n_basis=3), SharedEvidence(), *even_problem(0)),
            "2 candidates, fewer than n_basis=3",
        ),
    ],
)
def test_parameters_that_make_no_sense_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("search", "text"),
    [
        (Floating(share=float("0.3")), "Floating()"),
        (PlusTakeAway(3, 1, share=0.5), "PlusTakeAway(plus=3, minus=1, share=0.5)"),
        (Oscillating(4, initial=[1, 2]), "Oscillating(depth=4, initial=[1, 2])"),
        (Forward(16, 0.0, share=0.3), "Forward(patience=16, threshold=0.0, n_basis=None, share=0.3)"),
        (Backward(n_basis=3), "Backward(n_basis=3)"),
    ],
)
def test_searches_are_shown_as_they_are_written(search, text):
    assert repr(search) == text
    assert eval(text) == search

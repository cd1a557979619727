"""Sequential forward floating selection."""

from __future__ import annotations

from dataclasses import dataclass

from skarce.searches.one_by_one import OneByOne
from skarce.searches.walk import Walk
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class Floating(OneByOne):
    r"""Add the best candidate, then remove functions as long as each removal gives the best model of its size so far.

    All parameters are keyword-only.

    Parameters
    ----------
    patience : int, default=16
        The search ends if the model has this many functions more than at its last improvement.
    share : float, default=0.3
        The search also waits until the model has grown by this share of the functions it had at its last improvement, plus one, if
        that is more than `patience`.
    threshold : float, default=0.0
        The smallest improvement that counts. The score must rise by more than ``threshold * n_samples / 2``, and by more than the
        `tol` of the estimator. For GCV criteria, whose score is ``-n_samples / 2 * log(V)``, this is a relative reduction of V.
    n_basis : int, default=None
        Exactly this many functions, whatever the score says. The search then ignores `patience`. With None the score decides.
    initial : sequence of int, default=None
        Indices of the candidates to start from. With None the search starts from the empty model. The search begins with
        removals, so it can also come down from many candidates.
    always_in : sequence of int, default=None
        Indices of candidates that are in the model from the start and never leave.

    See Also
    --------
    PlusTakeAway : A fixed number of additions and removals in each step.
    Oscillating : Additions and removals around the size that forward selection found.
    BestAction : One action per step, without a memory.
    skarce.EvidenceSearchRegressor : Uses this search with ``search="floating"``.

    Notes
    -----
    The search remembers the best worth :math:`J_k` of each size k. From a set A of k functions it takes two kinds of steps:

    1. Add the candidate that gains most. An addition is never undone.
    2. Remove the function i whose loss is smallest, as long as :math:`J(A \setminus \{i\}) > J_{k-1}`. A removal that is not
       better than the best model of its size is undone, and the search goes on with the next addition.

    So any number of functions may leave after an addition [1]_, as long as two are left. The number of functions floats up and
    down. The result is the best model that the search has seen.

    References
    ----------
    .. [1] Pudil, P., Novovičová, J. and Kittler, J. (1994). Floating search methods in feature selection. Pattern Recognition
       Letters 15, 1119-1125.
    .. [2] Barrio, I., Romero, E. and Belanche, L. Search strategies guided by the evidence for the selection of basis functions in
       regression.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import SharedEvidence
    >>> from skarce.searches import Floating
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", SharedEvidence(), Floating()).fit(X, y).active_
    array([1, 3])
    """

    def _go(self, walk: Walk) -> Outcome:
        records = Records(walk)
        _float(walk, records)
        while True:
            if walk.is_enough():
                return walk.end(Outcome.GOAL_REACHED)
            if walk.is_past_the_best(self.patience, self.share):
                return Outcome.NONE_BETTER_FOUND
            if not walk.has_room():
                return walk.full(Outcome.NONE_BETTER_FOUND)
            if not walk.add_best():
                return walk.end(Outcome.NONE_BETTER_FOUND)
            records.note(walk)
            _float(walk, records, newest=int(walk.state.active[-1]))


class Records:
    """The best worth so far of each size."""

    def __init__(self, walk: Walk) -> None:
        self._of_size = {len(walk): walk.worth}

    def note(self, walk: Walk) -> None:
        self._of_size[len(walk)] = max(walk.worth, self._of_size.get(len(walk), walk.worth))

    def of(self, size: int, otherwise: float) -> float:
        """Return the record of a size, or `otherwise` if the search never reached it."""
        return self._of_size.get(size, otherwise)


def _float(walk: Walk, records: Records, newest: int = -1) -> None:
    """Remove functions while each removal sets a record."""
    while len(walk) > 2:
        position = walk.worst()
        # Without the newest function this is the previous set, which cannot be better than itself.
        if position is None or int(walk.state.active[position]) == newest:
            return
        before = walk.here()
        walk.remove(position)
        if walk.worth <= records.of(len(walk), before.worth) + walk.needed:
            walk.go_back(before)
            return
        records.note(walk)
        newest = -1

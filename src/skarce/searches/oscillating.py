"""Oscillating search: up and down around the size that forward selection found."""

from __future__ import annotations

from dataclasses import dataclass, field

from skarce._parameters import check_count
from skarce.searches.forward import grow
from skarce.searches.one_by_one import OneByOne
from skarce.searches.walk import Walk
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class Oscillating(OneByOne):
    """Start from the model of forward selection and swing around its size: add s functions, remove 2s, add s.

    All parameters except `depth` are keyword-only.

    Parameters
    ----------
    depth : int, default=5
        The largest s.
    patience : int, default=16
        The forward selection ends if the model has this many functions more than at its last improvement.
    share : float, default=0.3
        The forward selection also waits until the model has grown by this share of the functions it had at its last improvement,
        plus one, if that is more than `patience`.
    threshold : float, default=0.0
        The smallest improvement that counts. The score must rise by more than ``threshold * n_samples / 2``, and by more than the
        `tol` of the estimator. For GCV criteria, whose score is ``-n_samples / 2 * log(V)``, this is a relative reduction of V.
    n_basis : int, default=None
        Exactly this many functions, whatever the score says. The search then ignores `patience`. With None the score decides.
    initial : sequence of int, default=None
        Indices of the candidates to start from. With None the search starts from the empty model.
    always_in : sequence of int, default=None
        Indices of candidates that are in the model from the start and never leave.

    See Also
    --------
    Forward : The first part of this search.
    Floating : As many removals after each addition as improve the model.
    PlusTakeAway : A fixed number of additions and removals in each step.
    skarce.EvidenceSearchRegressor : Uses this search with ``search="oscillating"``.

    Notes
    -----
    The search begins with s = 1, and s stays below the number of functions. A swing ends with as many functions as it began
    with. If the model is better, it stays, and s is 1 again. If not, the swing is undone, and s grows by one. The search ends if
    `depth` swings in a row have failed. This is the search of Somol and Pudil [1]_ in the form of Barrio, Romero and Belanche [2]_.

    References
    ----------
    .. [1] Somol, P. and Pudil, P. (2000). Oscillating search algorithms for feature selection. Proceedings of the 15th
       International Conference on Pattern Recognition, 2406-2409.
    .. [2] Barrio, I., Romero, E. and Belanche, L. Search strategies guided by the evidence for the selection of basis functions in
       regression.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import SharedEvidence
    >>> from skarce.searches import Oscillating
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", SharedEvidence(), Oscillating(depth=3)).fit(X, y).active_
    array([1, 3])
    """

    depth: int = field(default=5, kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("depth", self.depth)

    def _go(self, walk: Walk) -> Outcome:
        outcome = grow(walk, self.patience, self.share)
        walk.go_back(walk.best)
        size = 1
        while size <= self.depth and len(walk) - size >= 1:
            size = 1 if _swing(walk, size) else size + 1
        return Outcome.NONE_BETTER_FOUND if outcome is Outcome.NO_ADDITION_HELPS else outcome


def _swing(walk: Walk, size: int) -> bool:
    """Swing once. Return whether it led to a better model; if not, everything is as before."""
    before = walk.here()
    # Only models of the same size are compared. The models during a swing are not considered.
    is_complete = (
        all(walk.add_best(remember=False) for _ in range(size))
        and all(walk.remove_worst(remember=False) for _ in range(2 * size))
        and all(walk.add_best(remember=False) for _ in range(size))
    )
    if is_complete and walk.worth > before.worth + walk.needed:
        walk.compare()
        return True
    walk.go_back(before)
    return False

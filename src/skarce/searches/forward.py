"""Forward selection: one addition after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from skarce.designs.choice import Access
from skarce.searches.one_by_one import OneByOne
from skarce.searches.walk import Walk
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class Forward(OneByOne):
    r"""Forward selection: add the best candidate again and again. The result is the best model on the way.

    `share`, `initial` and `always_in` are keyword-only.

    Parameters
    ----------
    patience : int, default=2
        The search ends if this many additions in a row have not improved the best model.
    threshold : float, default=1e-4
        The smallest improvement that counts. The score must rise by more than ``threshold * n_samples / 2``, and by more than the
        `tol` of the estimator. For GCV criteria, whose score is ``-n_samples / 2 * log(V)``, this is a relative reduction of V.
    n_basis : int, default=None
        Exactly this many functions, whatever the score says. The search then ignores `patience`. With None the score decides.
    share : float, default=0.0
        The search also waits until the model has grown by this share of the functions it had at its last improvement, plus one, if
        that is more than `patience`.
    initial : sequence of int, default=None
        Indices of the candidates to start from. With None the search starts from the empty model.
    always_in : sequence of int, default=None
        Indices of candidates that are in the model from the start and never leave.

    See Also
    --------
    Backward : Removals only, from all candidates.
    PlusTakeAway : Some additions, then some removals.
    BestAction : The best addition, removal or change in each step.
    skarce.OrthogonalLeastSquaresRegressor : Uses this search.
    skarce.RegularizedForwardRegressor : Uses this search.
    skarce.EvidenceSearchRegressor : With ``search="forward"`` it uses ``Forward(16, 0.0, share=0.3)``.

    Notes
    -----
    From a set A, the search goes to :math:`A \cup \{k\}` with the candidate k that gains most. The models on the way contain one
    another, so the search visits one model of each size. Let :math:`k^*` be the number of functions at the last improvement that
    counts. The search ends at k functions if
    :math:`k - k^* \ge \max(\text{patience}, \operatorname{round}(\text{share}\cdot k^*) + 1)`.

    References
    ----------
    .. [1] Chen, S., Cowan, C. F. N. and Grant, P. M. (1991). Orthogonal least squares learning algorithm for radial basis function
       networks. IEEE Transactions on Neural Networks 2, 302-309.
    .. [2] Orr, M. J. L. (1995). Regularization in the selection of radial basis function centres. Neural Computation 7, 606-623.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import ExplainedVariance
    >>> from skarce.searches import Forward
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", ExplainedVariance(), Forward(n_basis=2)).fit(X, y).active_
    array([1, 3])
    """

    patience: int = 2
    threshold: float = 1e-4
    n_basis: int | None = None
    share: float = field(default=0.0, kw_only=True)

    @property
    def removes(self) -> bool:
        return False

    @property
    def access(self) -> Access:
        return Access(one_by_one=True, n_columns=self.n_basis)

    def _go(self, walk: Walk) -> Outcome:
        return grow(walk, self.patience, self.share)


def grow(walk: Walk, patience: int, share: float) -> Outcome:
    """Add functions until the model is good enough, patience or candidates run out, or a limit is reached."""
    while True:
        if walk.is_enough():
            return Outcome.GOAL_REACHED
        if walk.is_past_the_best(patience, share):
            return Outcome.NO_ADDITION_HELPS
        if not walk.has_room():
            return walk.full(Outcome.NO_ADDITION_HELPS)
        if not walk.add_best():
            return walk.end(Outcome.NO_ADDITION_HELPS)

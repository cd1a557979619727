"""Searches that add and remove a fixed number of functions in each step."""

from __future__ import annotations

from dataclasses import dataclass, field

from skarce._parameters import is_count
from skarce._text import quoted
from skarce.searches.one_by_one import OneByOne
from skarce.searches.walk import Walk
from skarce.states.outcome import Outcome


@dataclass(frozen=True, repr=False)
class PlusTakeAway(OneByOne):
    r"""In each step, add the best candidate `plus` times and remove the worst function `minus` times.

    All parameters except `plus` and `minus` are keyword-only.

    Parameters
    ----------
    plus : int, default=2
        Additions in each step.
    minus : int, default=1
        Removals in each step. It must differ from `plus`.
    patience : int, default=16
        A growing search ends if after a complete step the model has this many functions more than at its last improvement. A
        shrinking search does not use it.
    share : float, default=0.3
        A growing search also waits until the model has grown by this share of the functions it had at its last improvement, plus
        one, if that is more than `patience`. A shrinking search does not use it.
    threshold : float, default=0.0
        The smallest improvement that counts. The score must rise by more than ``threshold * n_samples / 2``, and by more than the
        `tol` of the estimator. For GCV criteria, whose score is ``-n_samples / 2 * log(V)``, this is a relative reduction of V.
    n_basis : int, default=None
        Exactly this many functions, whatever the score says. A growing search then ignores `patience`. With None the score decides.
    initial : sequence of int, default=None
        Indices of the candidates to start from. With None a growing search starts from the empty model, and a shrinking search
        starts from all candidates.
    always_in : sequence of int, default=None
        Indices of candidates that are in the model from the start and never leave.

    See Also
    --------
    Forward : Additions only.
    Backward : Removals only.
    Floating : As many removals after each addition as improve the model.
    skarce.EvidenceSearchRegressor : Uses this search with ``search="plus-take-away"``.

    Notes
    -----
    This is the "plus l, take away r" search of Kittler [1]_. If `plus` is larger than `minus`, the model grows from the empty
    model. If `minus` is larger, it shrinks from all candidates, and each step begins with the removals. (1, 0) is forward
    selection, and (0, 1) is backward elimination. The result is the best model on the way.

    The defaults of `patience` and `share` are the rule of Barrio, Romero and Belanche [2]_. Let :math:`k^*` be the number of
    functions at the last improvement that counts. The search ends at k functions if
    :math:`k - k^* \ge \max(\text{patience}, \operatorname{round}(\text{share}\cdot k^*) + 1)`.

    References
    ----------
    .. [1] Kittler, J. (1986). Feature selection and extraction. In Young and Fu (eds.), Handbook of Pattern Recognition and Image
       Processing. Academic Press.
    .. [2] Barrio, I., Romero, E. and Belanche, L. Search strategies guided by the evidence for the selection of basis functions in
       regression.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import SharedEvidence
    >>> from skarce.searches import PlusTakeAway
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", SharedEvidence(), PlusTakeAway(2, 1)).fit(X, y).active_
    array([1, 3])
    """

    plus: int = field(default=2, kw_only=False)
    minus: int = field(default=1, kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_count(self.plus, 0) and is_count(self.minus, 0)):
            raise ValueError(
                f"plus and minus must be whole numbers of at least 0, got {quoted(self.plus)} and {quoted(self.minus)}."
            )
        if self.plus == self.minus:
            raise ValueError(f"plus and minus must differ, or the search never ends; got {quoted(self.plus)} for both.")

    @property
    def goes_down(self) -> bool:
        return self.minus > self.plus

    @property
    def removes(self) -> bool:
        return self.minus > 0

    def _go(self, walk: Walk) -> Outcome:
        growing = not self.goes_down
        if growing and not len(walk) and walk.has_room():
            walk.add_best()
        while True:
            if walk.is_enough(growing=growing):
                return walk.end(Outcome.GOAL_REACHED)
            if growing and walk.is_past_the_best(self.patience, self.share):
                return Outcome.NONE_BETTER_FOUND
            if growing and not walk.has_room(self.plus - self.minus):
                return walk.full(Outcome.NONE_BETTER_FOUND)
            size = len(walk)
            self._step(walk)
            if len(walk) <= size if growing else len(walk) >= size:
                return walk.end(Outcome.NONE_BETTER_FOUND)

    def _step(self, walk: Walk) -> None:
        if self.goes_down:
            all(walk.remove_worst() for _ in range(self.minus))
            all(walk.add_best() for _ in range(self.plus))
        elif all(walk.add_best() for _ in range(self.plus)):
            all(walk.remove_worst() for _ in range(self.minus))


@dataclass(frozen=True, repr=False)
class Backward(OneByOne):
    r"""Backward elimination: remove the worst function again and again. The result is the best model on the way.

    All parameters are keyword-only.

    Parameters
    ----------
    patience : int, default=16
        Not used. This search goes down to the smallest model and does not stop earlier.
    share : float, default=0.3
        Not used, like `patience`.
    threshold : float, default=0.0
        The smallest improvement that counts. The score must rise by more than ``threshold * n_samples / 2``, and by more than the
        `tol` of the estimator. For GCV criteria, whose score is ``-n_samples / 2 * log(V)``, this is a relative reduction of V.
    n_basis : int, default=None
        Exactly this many functions, whatever the score says. With None the score decides.
    initial : sequence of int, default=None
        Indices of the candidates to start from. With None the search starts from all candidates.
    always_in : sequence of int, default=None
        Indices of candidates that are in the model from the start and never leave.

    See Also
    --------
    Forward : Additions only.
    PlusTakeAway : Some additions and some removals in each step.
    skarce.BackwardEliminationRegressor : Backward elimination by the penalized error, with faster updates.
    skarce.EvidenceSearchRegressor : Uses this search with ``search="backward"``.

    Notes
    -----
    From a set A, the search goes to :math:`A \setminus \{i\}` with the function i whose removal costs least, until no function is
    left to remove. The models contain one another, so the search visits one model of each size.

    A start from all M candidates needs a matrix of M by M numbers. If this is too large, give `initial`.

    References
    ----------
    .. [1] Kittler, J. (1986). Feature selection and extraction. In Young and Fu (eds.), Handbook of Pattern Recognition and Image
       Processing. Academic Press.
    .. [2] Bo, L., Wang, L. and Jiao, L. Sparse Gaussian processes using backward elimination.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import SharedEvidence
    >>> from skarce.searches import Backward
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.1, 100)
    >>> SparseRegressor("passthrough", SharedEvidence(), Backward()).fit(X, y).active_
    array([1, 3])
    """

    @property
    def goes_down(self) -> bool:
        return True

    def _go(self, walk: Walk) -> Outcome:
        return PlusTakeAway(0, 1, patience=self.patience, share=self.share)._go(walk)

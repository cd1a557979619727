"""Search strategies guided by the evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from skarce._validation import check_budget
from skarce.criteria import SharedEvidence
from skarce.estimators.nested import NestedRegressor
from skarce.methods.selection import Selection
from skarce.posteriors.nested import NestedPath
from skarce.searches import Backward, BestAction, Floating, Forward, Oscillating, PlusTakeAway, Search

SEARCHES: dict[str, Callable[[], Any]] = {
    "forward": lambda: Forward(16, 0.0, share=0.3),  # the paper's rule, as in the others
    "plus-take-away": lambda: PlusTakeAway(2, 1),
    "floating": Floating,
    "oscillating": lambda: Oscillating(5),
    "backward": Backward,
    "best-action": BestAction,
}
TO_THE_SEARCH = ("n_basis", "initial", "always_in")


class EvidenceSearchRegressor(NestedRegressor):
    """Search for a set of functions guided by the evidence, with one precision for all weights.

    Functions are added and taken away one at a time, in the order of a search from feature selection, each time the one with which
    the evidence of the model is largest; then the precision of the weights and the noise are re-estimated. The model is the best of
    all on the way (Barrio, Romero and Belanche). More thorough searches often find smaller models of more
    evidence.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a transformer
        its output columns. All weights have one precision, so that the scale of the columns matters.
    search : str or object of `skarce.searches`, default="forward"
        ``"forward"``, ``"plus-take-away"`` (two in, one out), ``"floating"``, ``"oscillating"`` (swings of up to 5), ``"backward"``
        (from all candidates), ``"best-action"`` (until no single one helps), or an object with settings of its own.
    reestimate : {"tight", "paper"}, default="tight"
        How the two precisions follow the set: ``"tight"`` puts them where the evidence is largest; ``"paper"`` iterates from the
        values of the set before, until they move by less than a tenth of their widths.
    n_basis : int, default=None
        Exactly so many functions, whatever the evidence says; not for ``"best-action"``. With several targets, so many for each.
    initial : array of int, default=None
        Candidates to start from, of which ``"floating"`` first takes away what it can spare; no more than `max_active` or `n_basis`
        lets in where the search grows; not for ``"best-action"``.
    always_in : array of int, default=None
        Candidates that are in from the start and stay; not for ``"best-action"``.
    keep_path : bool, default=False
        Keep what `with_n_basis` needs for models larger than the final one, as far as the search went;
        ``"forward"`` and ``"backward"`` only.
    fit_intercept : bool, default=True
        An unpenalised constant, integrated out; its uncertainty is part of the std.
    tol : float, default=1e-3
        The least gain in log evidence that counts.
    max_iter : int, default=100000
        Operations at most; a fit that ends there warns.
    max_active : int, default=None
        Basis functions at most. With several targets, so many for each.
    max_time : float, default=None
        Seconds after which the best model so far is returned, with a warning.
    moments : {"auto", "whole", "columns"}, default="auto"
        How much of the Gram matrix of the candidates is kept; ``"auto"`` decides by a cost model and the memory budget
        (a quarter of scikit-learn's ``working_memory``).
    verbose : int, default=0
        1 prints a line now and then, 2 a line for every operation.
    random_state : int, RandomState or None, default=None
        Seeds landmarks.

    Attributes
    ----------
    active_ : array of shape (n_active,)
        The candidates in the model, ascending; `trace_` has the order in which they came and went.
    coef_ : array of shape (n_active,) or (n_outputs, n_active)
        Their weights.
    intercept_ : float or array of shape (n_outputs,)
    weight_precision_ : array like `coef_`
        alpha, the same for all; infinite where an output does not use a function.
    noise_variance_ : float or array of shape (n_outputs,)
    relevance_vectors_ : array of shape (n_active, n_features)
        The centers of the active functions (kernel bases only).
    relevance_ : array of shape (n_candidates,)
        1 - alpha Sigma_ii: how well the data determine each weight, 0 for functions left out.
    basis_ : transformer
        The active functions only.
    criterion_ : float
        The log evidence of the model in user units, eq. (4) of the paper with max(gamma, 1) well-determined weights; summed over
        outputs. It has two terms that the `criterion_` of `EvidenceRegressor` and others lacks: compare it with its own kind.
    criterion_sense_ : int
        1: larger is better.
    outcome_ : Outcome
        How the fit ended, in words.
    trace_ : structured array
        One row per operation: action (add, delete), index, criterion, n_active. Where operations were taken back, a row ``undo``
        follows, whose index says how many rows back the model is that it returns to.
    posterior_ : Posterior, or a list of one per output
    n_iter_ : int

    References
    ----------
    Barrio, I., Romero, E. and Belanche, L. Search strategies guided by the evidence for the selection of basis functions in
    regression.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import EvidenceSearchRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = EvidenceSearchRegressor(search="floating").fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    6 functions, 1.01 +- 0.11
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        search: Any = "forward",
        reestimate: str = "tight",
        n_basis: int | None = None,
        initial: Any = None,
        always_in: Any = None,
        keep_path: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.search = search
        self.reestimate = reestimate
        self.n_basis = n_basis
        self.initial = initial
        self.always_in = always_in
        self.keep_path = keep_path
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _check_limits(self) -> None:
        super()._check_limits()
        search = self._strategy()
        check_budget(search.n_basis, self.max_active)

    def _method(self) -> Selection:
        return Selection(SharedEvidence(self.reestimate), self._strategy(), keep_path=self.keep_path)

    def _size_with(self, path: NestedPath, tol: float) -> int:
        return self._strategy().replay(path.worths, path.least, path.n_samples, tol)

    def _strategy(self) -> Search:
        """The search with the parameters that are given here."""
        search = SEARCHES[self.search]() if isinstance(self.search, str) and self.search in SEARCHES else self.search
        if isinstance(search, type) and issubclass(search, Search):
            raise ValueError(f"search must be an object, and {search.__name__} is a class: write {search.__name__}().")
        if not isinstance(search, Search):
            raise ValueError(f"search must be one of {list(SEARCHES)}, or an object of skarce.searches; got {search!r}.")
        given = {name: getattr(self, name) for name in TO_THE_SEARCH if getattr(self, name) is not None}
        if not given.keys() <= {field.name for field in fields(search)}:
            raise ValueError(f"{type(search).__name__} does not take {', '.join(given)}: use another search.")
        twice = [name for name in given if getattr(search, name) is not None]
        if twice:
            raise ValueError(f"{', '.join(twice)} given twice, here and in {type(search).__name__}(...): leave one of them out.")
        return replace(search, **given) if given else search

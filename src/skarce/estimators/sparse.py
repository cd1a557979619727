"""Any criterion with any search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skarce.criteria import Criterion, IndividualEvidence
from skarce.estimators.nested import NestedRegressor
from skarce.methods.selection import Selection
from skarce.posteriors.nested import NestedPath
from skarce.searches import BestAction, Search


class SparseRegressor(NestedRegressor):
    """A sparse model by any criterion and any search.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
    criterion : object of `skarce.criteria`, default=None
        What makes a set good; None is ``IndividualEvidence()``.
    search : object of `skarce.searches`, default=None
        In which order sets are tried; None is ``BestAction()``.
    keep_path : bool, default=False
        Keep what `with_n_basis` needs for models larger than the final one, as far as the search went; for
        searches that only add, or only take away.
    fit_intercept, tol, max_iter, max_active, max_time, moments, verbose, random_state
        As in `RelevanceVectorRegressor`.

    Attributes
    ----------
    active_, coef_, intercept_, weight_precision_, noise_variance_, relevance_, basis_, criterion_, outcome_, trace_, posterior_
        As in `RelevanceVectorRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import IndividualEvidence
    >>> from skarce.searches import BestAction
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> y = 3.0 * X[:, 4] - 2.0 * X[:, 7] + 0.1 * X[:, 0] ** 2
    >>> model = SparseRegressor("passthrough", criterion=IndividualEvidence(), search=BestAction()).fit(X, y)
    >>> bool(model.relevance_[[4, 7]].min() > 0.99)
    True
    """

    def __init__(
        self,
        basis: Any = "rbf",
        criterion: Any = None,
        search: Any = None,
        *,
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
        self.criterion = criterion
        self.search = search
        self.keep_path = keep_path
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> Selection:
        criterion = IndividualEvidence() if self.criterion is None else self.criterion
        search = BestAction() if self.search is None else self.search
        if not isinstance(criterion, Criterion):
            raise TypeError(f"criterion must be an object of skarce.criteria, such as GCV(), or None; got {self.criterion!r}.")
        if not isinstance(search, Search):
            raise TypeError(f"search must be an object of skarce.searches, such as BestAction(), or None; got {search!r}.")
        return Selection(criterion, search, keep_path=self.keep_path)

    def _size_with(self, path: NestedPath, tol: float) -> int:
        method = self._method()
        has_own_tol = method.criterion.with_tol(tol) is not None
        worths = method.criterion.rejudged(path.worths, path.least, path.n_samples, len(self.relevance_), tol)
        return method.search.replay(worths, path.least, path.n_samples, self.tol if has_own_tol else tol)

    def _ask_for(self, n_basis: int | None) -> None:
        self.search = replace(self.search, n_basis=n_basis)

    def _tolerate(self, tol: float) -> None:
        changed = self._method().criterion.with_tol(tol)
        if changed is None:
            super()._tolerate(tol)
        else:
            self.criterion = changed

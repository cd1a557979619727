"""What forward selection has in common, whatever the criterion."""

from __future__ import annotations

import numpy as np

from skarce._validation import check_budget, is_count
from skarce.criteria import Criterion
from skarce.estimators.nested import NestedRegressor
from skarce.moments import Moments
from skarce.posteriors.nested import NestedPath
from skarce.searches import Forward
from skarce.states.fit import Fit
from skarce.states.journal import Journal


class ForwardRegressor(NestedRegressor):
    """Base of the regressors that add one function after the other; `tol` is the least relative improvement."""

    patience: int
    n_basis: int | None

    def _check_limits(self) -> None:
        super()._check_limits()
        if not is_count(self.patience):
            raise ValueError(f"patience must be a whole number of at least 1, got {self.patience!r}.")
        check_budget(self.n_basis, self.max_active)

    def _columns_one_by_one(self) -> float:
        return np.inf if self.n_basis is None else self.n_basis

    def _search(self, criterion: Criterion, moments: Moments, journal: Journal) -> Fit:
        return Forward(self.patience, self.tol, self.n_basis).run(criterion, moments, journal)

    def _size_with(self, path: NestedPath, tol: float) -> int:
        return Forward(self.patience, tol).replay(path.worths, path.least, path.n_samples, tol)

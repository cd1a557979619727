"""Base of forward selection by any criterion."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from skarce._parameters import check_budget, check_count
from skarce.criteria import Criterion
from skarce.estimators.nested import NestedRegressor
from skarce.methods.method import Method
from skarce.methods.selection import Selection
from skarce.posteriors.nested import NestedPath
from skarce.searches import Forward


class ForwardRegressor(NestedRegressor):
    """Base of the regressors that add functions one by one. `tol` is the smallest relative improvement that counts."""

    patience: int
    n_basis: int | None
    size_prior: str | None

    @abstractmethod
    def _criterion(self) -> Criterion:
        """Return the criterion that judges sets of functions."""

    def _judges_size(self) -> bool:
        """Whether the criterion decides how many functions there are. Default: it does unless `n_basis` is given."""
        return self.n_basis is None

    def _method(self) -> Method[Any]:
        criterion, search = self._criterion(), Forward(self.patience, self.tol, self.n_basis)
        return Selection(criterion, search, keep_path=self.keep_path, crowded=self._crowded(applies=self._judges_size()))

    def _check_limits(self) -> None:
        super()._check_limits()
        check_count("patience", self.patience)
        check_budget(self.n_basis, self.max_active)

    def _size_with(self, path: NestedPath, tol: float) -> int:
        return Forward(self.patience, tol).replay(path.worths, path.least, path.n_samples, tol)

"""What forward selection has in common, whatever the criterion."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce.criteria import Criterion
from skarce.estimators.base import MomentRegressor
from skarce.moments import Moments
from skarce.searches import Forward, Found, Journal


class ForwardRegressor(MomentRegressor):
    """Base of the regressors that add one function after the other; `tol` is the least relative improvement."""

    patience: int
    n_basis: int | None

    def _check_limits(self) -> None:
        super()._check_limits()
        for name in ("patience", "n_basis"):
            value = getattr(self, name)
            if not (_is_count(value) or (name == "n_basis" and value is None)):
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
        if self.n_basis is not None and self.max_active is not None and self.n_basis > self.max_active:
            raise ValueError(f"n_basis={self.n_basis} asks for more functions than max_active={self.max_active} lets in.")

    def _columns_one_by_one(self) -> float:
        return np.inf if self.n_basis is None else self.n_basis

    def _search(self, criterion: Criterion, moments: Moments, journal: Journal) -> Found:
        return Forward(self.patience, self.tol, self.n_basis).run(criterion, moments, journal)


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 1

"""Base of the regressors with nested models: other models from the same fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skarce._atomic import snapshot
from skarce._parallel import blas_threads
from skarce._parameters import as_number, check_flag, is_count
from skarce._text import quoted
from skarce._typing import Indices
from skarce.designs import Design
from skarce.estimators.regressor import SparseRegressorBase
from skarce.posteriors.nested import NestedPath
from skarce.posteriors.posterior import Posterior
from skarce.states.outcome import Outcome

LIMITS = {Outcome.STEP_LIMIT: "max_iter", Outcome.TIME_LIMIT: "max_time", Outcome.SIZE_LIMIT: "max_active"}


class NestedRegressor(SparseRegressorBase):
    """Base of the regressors that add or remove functions one by one: `with_n_basis` and `with_tol`."""

    keep_path: bool
    n_basis: int | None

    @abstractmethod
    def _size_with(self, path: NestedPath, tol: float) -> int:
        """Return how many functions the model on the path has with another tolerance."""

    def _check_limits(self) -> None:
        super()._check_limits()
        check_flag("keep_path", self.keep_path)

    def with_n_basis(self, n_basis: int) -> Any:
        """Return the model of another size from the same fit, without a new search.

        Parameters
        ----------
        n_basis : int
            Number of functions, at most that of this model. Larger models need a fit with ``keep_path=True``. With several targets,
            the number applies to each target.

        Returns
        -------
        model : estimator
            Fitted estimator of the same class. It has the functions that entered first, or that were left last, and its weights are
            solved again. `trace_` is that of the whole search. Its parameters ask for `n_basis` functions from the start, unless
            `n_basis` is 0.

        Examples
        --------
        >>> import numpy as np
        >>> from skarce import OrthogonalLeastSquaresRegressor
        >>> X = np.linspace(-5, 5, 100)[:, None]
        >>> model = OrthogonalLeastSquaresRegressor(n_basis=8).fit(X, np.sin(X[:, 0]))
        >>> [len(model.with_n_basis(k).active_) for k in (8, 5, 2)]
        [8, 5, 2]
        """
        if not is_count(n_basis, 0):
            raise ValueError(f"n_basis must be a whole number that is not negative, got {quoted(n_basis)}.")
        fitted = snapshot(self)
        check_is_fitted(fitted, "posterior_")
        if n_basis == 0 and not len(fitted.active_):
            return copy(fitted)
        model = fitted._with_sizes(lambda path: int(n_basis))
        if n_basis > 0:  # no parameter asks for an empty model
            model._ask_for(int(n_basis))
        return model

    def with_tol(self, tol: float) -> Any:
        """Return the model that another tolerance chooses from the same fit, without a new search.

        Parameters
        ----------
        tol : float
            Tolerance, with the meaning that it has in the constructor. A smaller tolerance may choose a larger model, which needs a
            fit with ``keep_path=True``. Only models that the search has seen can be chosen.

        Returns
        -------
        model : estimator
            Fitted estimator of the same class, with `tol` as its parameter.

        Examples
        --------
        >>> import numpy as np
        >>> from skarce import OrthogonalLeastSquaresRegressor
        >>> X = np.linspace(-5, 5, 100)[:, None]
        >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 100)
        >>> model = OrthogonalLeastSquaresRegressor().fit(X, y)
        >>> len(model.with_tol(0.1).active_) <= len(model.active_)
        True
        """
        if not as_number(tol) >= 0.0:
            raise ValueError(f"tol must be a number that is not negative, got {quoted(tol)}.")
        fitted = snapshot(self)
        model = fitted._with_sizes(lambda path: fitted._size_with(path, as_number(tol)))
        model._ask_for(None)
        model._tolerate(tol)
        return model

    def _ask_for(self, n_basis: int | None) -> None:
        """Set parameters that make a fit choose `n_basis` functions. None leaves the number to the tolerance."""
        self.n_basis = n_basis
        if n_basis is not None and self.max_active is not None:
            self.max_active = max(self.max_active, n_basis)

    def _tolerate(self, tol: float) -> None:
        self.tol = tol

    def _with_sizes(self, size_of: Callable[[NestedPath], int]) -> Any:
        check_is_fitted(self, "posterior_")
        posteriors = self._posteriors()
        if all(p.path is None for p in posteriors):
            if not len(self.active_):
                raise ValueError(f"This fit has no model with functions. {self.outcome_.value}")
            raise ValueError(self._why_no_path())
        with blas_threads(1):
            chosen = [p if p.path is None else self._of_size(p, p.path, size_of(p.path)) for p in posteriors]
            model = copy(self)
            model._keep_chosen(chosen, _Members(self._path_basis, self._path_members, len(self.relevance_)))
        return model

    def _why_no_path(self) -> str:
        """Say why there are no models of other sizes."""
        return (
            f"The models on the way to this one are not nested ({self.outcome_.name}). with_n_basis and with_tol need a search "
            "that only adds functions one by one, or only removes them one by one."
        )

    def _of_size(self, posterior: Posterior, path: NestedPath, size: int) -> Posterior:
        if size == len(posterior.active):
            return posterior
        if not path.least <= size <= path.most:
            hint = self._why_not_smaller(posterior.outcome) if size < path.least else self._why_not_larger(size, posterior.outcome)
            raise ValueError(f"This fit has models of {path.least} to {path.most} functions, not of {size}. {hint}")
        return path.posterior(size, posterior.trace)

    def _why_not_smaller(self, outcome: Outcome) -> str:
        limit = LIMITS.get(outcome)
        return "The search saw no smaller one." if limit is None else f"{limit} ended the search: raise it and fit again."

    def _why_not_larger(self, size: int, outcome: Outcome) -> str:
        if size > len(self.relevance_):
            return f"There are {len(self.relevance_)} candidates."
        if not self.keep_path:
            return "Fit with keep_path=True, which keeps larger ones if the search saw any."
        limit = LIMITS.get(outcome)
        if limit is None:
            return "The search saw no larger one: it ended by its own rule, or by n_basis."
        return f"{limit} ended the search: raise it and fit again."

    def _keep(self, posteriors: list[Posterior], design: Design) -> None:
        super()._keep(posteriors, design)
        members = [posterior.active if posterior.path is None else posterior.path.members for posterior in posteriors]
        self._path_members = np.unique(np.concatenate(members))
        is_more = len(self._path_members) > len(self.active_)
        self._path_basis = design.candidates.select(self._path_members) if is_more else self.basis_

    def _keep_chosen(self, posteriors: list[Posterior], candidates: Any) -> None:
        """Set the fitted attributes of another model on the path."""
        is_one = not isinstance(self.posterior_, list)
        self._keep_models(posteriors, candidates, is_one=is_one)
        noises = [p.noise_variance for p in posteriors]
        self.noise_variance_ = noises[0] if is_one else np.array(noises)


class _Members(NamedTuple):
    """Candidates, reduced to those on the path. Indices refer to all of them."""

    basis: Any
    members: Indices
    n_candidates: int

    def select(self, active: Indices) -> Any:
        return self.basis.select(np.searchsorted(self.members, active))

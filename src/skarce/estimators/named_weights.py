"""Weights under scikit-learn's names: `coef_` of columns, `dual_coef_` of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from skarce._available import available_if
from skarce._typing import Floats, Indices
from skarce.basis import KernelBasis
from skarce.basis.default import stands_for_kernels
from skarce.states.outcome import Outcome


def check_on_columns(estimator: Any) -> bool:
    """Return True if candidates are inputs or the output columns of a transformer. Raise an AttributeError for kernels."""
    basis = vars(estimator).get("basis_", estimator.basis)  # that of `fit_moments` may be another one than the parameter
    if not (stands_for_kernels(basis) or isinstance(basis, KernelBasis)):
        return True
    raise AttributeError(
        f"this {type(estimator).__name__} is on kernels, which are not columns, so it has neither coef_ nor names of columns. The "
        "weights of its kernels are in dual_coef_. Use basis='passthrough' or a transformer for a model with coef_."
    )


class NamedWeights:
    """The weights of a fitted model as scikit-learn's tools expect them.

    A model on inputs or on the columns of a transformer has one weight for each column, also for those that it has left out. A
    model on kernels has one for each kernel in it, as support vector machines do.
    """

    basis: Any
    basis_: Any
    active_: Indices
    relevance_: Floats
    posterior_: Any
    _places: list[Indices]
    _weights: Floats
    _weights_are_rows = False  # whether a model with one function has weights of shape (1, n), as scikit-learn's classifiers have

    @property
    def coef_(self) -> Floats:
        """Weight of each column of the basis, zero if it is not in the model."""
        check_is_fitted(self, "posterior_")
        check_on_columns(self)
        return self._on_all_columns(self._weights)

    @property
    def coef_std_(self) -> Floats:
        """Standard deviation of each of these weights, zero if a column is not in the model."""
        check_is_fitted(self, "posterior_")
        check_on_columns(self)
        return self._on_all_columns(self._stds())

    @property
    def dual_coef_(self) -> Floats:
        """Weight of each kernel in the model."""
        check_is_fitted(self, "posterior_")
        if isinstance(self.basis_, KernelBasis):
            return self._as_rows(self._weights)
        raise AttributeError(f"{type(self).__name__} is on columns, not on kernels. Its weights are in coef_.")

    def get_support(self, indices: bool = False) -> Any:
        """Return which columns or kernels of the basis are in the model.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return indices instead of a boolean mask.

        Returns
        -------
        support : ndarray of shape (n_candidates,) or (n_chosen,)
            Boolean mask, or indices if ``indices=True``.
        """
        check_is_fitted(self, "posterior_")
        mask = self._support()
        return np.flatnonzero(mask) if indices else mask

    @available_if(check_on_columns)
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns in the model, in the order of `get_support`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the inputs. None takes those that `fit` has seen, or x0, x1 and so on.

        Returns
        -------
        names : ndarray of str
            One name for each column that `get_support` marks.
        """
        check_is_fitted(self, "posterior_")
        if input_features is not None:
            _check_feature_names_in(self, input_features)
        return self._column_names(input_features)[self.get_support()]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to save, with the name of the outcome: skops does not construct enumerations."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {**state, "outcome_": state["outcome_"].name} if "outcome_" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a saved model. Older versions kept the weights in the model under the name `coef_`."""
        if "outcome_" in state:
            state = {**state, "outcome_": Outcome.restored(state["outcome_"])}
        if "coef_" in state:
            state = {**state, "_weights": state["coef_"]}
            del state["coef_"]
            if self._weights_are_rows:
                state["intercept_"] = np.atleast_1d(state["intercept_"])
        super().__setstate__(state)  # type: ignore[misc]

    def _posteriors(self) -> list[Any]:
        """Return one posterior for each target or class."""
        return self.posterior_ if isinstance(self.posterior_, list) else [self.posterior_]

    def _support(self) -> Any:
        return np.isin(np.arange(len(self.relevance_)), self.active_)

    def _column_names(self, input_features: Any = None) -> Any:
        """Return the names of all output columns of the basis."""
        return self.basis_.with_all_columns(len(self.relevance_)).get_feature_names_out(input_features)

    def _stds(self) -> Floats:
        """Standard deviations of the weights in the model, zero if a target does not use a function."""
        stds = np.zeros_like(np.atleast_2d(self._weights))
        for output, (posterior, place) in enumerate(zip(self._posteriors(), self._places, strict=True)):
            stds[output, place] = posterior.coefficient_std
        return stds.reshape(self._weights.shape)

    def _on_all_columns(self, values: Floats) -> Floats:
        every = np.zeros((*values.shape[:-1], len(self.relevance_)))
        every[..., self.active_] = values
        return self._as_rows(every)

    def _as_rows(self, values: Floats) -> Floats:
        return np.atleast_2d(values) if self._weights_are_rows else values.copy()

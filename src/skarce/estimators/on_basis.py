"""Base of all estimators with a basis: its parameters, its seed, and its functions at given rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from skarce._device import all_finite, is_dispatched, is_on_device, is_single, rows_at_a_time, singles, to_host
from skarce._parallel import slices
from skarce._parameters import check_count, check_flag, check_not_negative, check_verbose, generator_of
from skarce._text import quoted
from skarce._typing import Floats
from skarce._validation import checked_table, validated_queries
from skarce.basis import KernelBasis, ProcessBasis, SelectedColumns, check_basis, is_on_landmarks, takes_arrays
from skarce.basis.default import INPUTS, basis_for_nested, stands_for_kernels
from skarce.estimators.named_weights import NamedWeights
from skarce.estimators.on_device import checked_queries_on_device
from skarce.states.outcome import Outcome

PREDICT_ROWS = 16_384
INSIDE_BASIS = "basis__"  # how the names of parameters inside the basis begin


class OnBasis(NamedWeights):
    """Limits and basis of an estimator, before and after fitting."""

    basis: Any
    basis_: Any
    fit_intercept: bool
    tol: float
    max_iter: int
    max_active: int | None
    max_time: float | None
    verbose: int
    random_state: Any

    def set_params(self, **params: Any) -> Any:
        """Set the parameters of this estimator.

        Nested names such as ``basis__gamma`` also work for ``basis="auto"`` and ``basis="rbf"``, which then become a `KernelBasis`.
        With a given width, ``"auto"`` becomes what ``"rbf"`` does, because the evidence chooses a kernel together with its widths.

        Parameters
        ----------
        **params : dict
            Estimator parameters.

        Returns
        -------
        self : estimator instance
            Estimator instance.
        """
        basis = params.get("basis", self.basis)
        inside = {name.removeprefix(INSIDE_BASIS): value for name, value in params.items() if name.startswith(INSIDE_BASIS)}
        if inside and stands_for_kernels(basis):
            params = {**params, "basis": basis_for_nested(basis, inside)}
        for name in params:
            own, nested, _ = name.partition("__")
            value = params.get(own, getattr(self, own, self))
            if nested and not hasattr(value, "set_params"):
                example = "basis=KernelBasis(gamma=1.0)" if own == "basis" else f"a new object for {own}"
                raise ValueError(f"{own}={quoted(value)} has no parameters, so {name} cannot be set. Pass {example}.")
        return super().set_params(**params)  # type: ignore[misc]

    def _check_limits(self) -> None:
        check_not_negative("tol", self.tol)
        if self.max_time is not None:
            check_not_negative("max_time", self.max_time)
        check_count("max_iter", self.max_iter)
        if self.max_active is not None:
            check_count("max_active", self.max_active)
        check_flag("fit_intercept", self.fit_intercept)
        check_verbose(self.verbose)

    def _keep_models(self, posteriors: list[Any], candidates: Any, *, is_one: bool) -> None:
        """Set the fitted attributes of one target or class (`is_one`), or of several on the functions that any of them uses."""
        active = np.unique(np.concatenate([p.active for p in posteriors]))
        places = [np.searchsorted(active, p.active) for p in posteriors]
        coef, precision = np.zeros((len(posteriors), len(active))), np.full((len(posteriors), len(active)), np.inf)
        relevance = np.zeros((len(posteriors), candidates.n_candidates))
        for output, (posterior, place) in enumerate(zip(posteriors, places, strict=True)):
            coef[output, place], precision[output, place] = posterior.mean, posterior.weight_precision
            relevance[output, posterior.active] = posterior.well_determined
        basis = candidates.select(active)
        names = getattr(self, "feature_names_in_", None)
        if isinstance(basis, SelectedColumns) and basis.transformer is None:
            basis.feature_names = names
        elif isinstance(basis, KernelBasis) and names is not None:
            basis.feature_names_in_ = names
        self.active_ = active
        self._weights = coef[0] if is_one else coef
        self.weight_precision_ = precision[0] if is_one else precision
        intercepts = np.array([p.intercept for p in posteriors])
        self.intercept_ = posteriors[0].intercept if is_one and not self._weights_are_rows else intercepts
        self.relevance_ = relevance.max(axis=0)
        self.basis_ = basis
        self.posterior_ = posteriors[0] if is_one else posteriors
        outcome = next((p.outcome for p in posteriors if p.outcome.is_early), posteriors[0].outcome)
        self.outcome_ = Outcome.ON_LANDMARKS if outcome.is_converged and is_on_landmarks(basis) else outcome
        self.n_iter_ = sum(p.n_iter for p in posteriors)
        self.trace_ = posteriors[0].trace if is_one else _joined_trace(posteriors)
        self.criterion_ = float(sum(p.criterion for p in posteriors))
        self._places = places
        if isinstance(basis, KernelBasis) and basis.kernel_ != "precomputed":
            self.relevance_vectors_ = basis.centers_

    def _seeded_basis(self) -> Any:
        """Return the basis. If it has no random_state, it gets that of this estimator."""
        basis = check_basis(self.basis)
        seedable = isinstance(basis, KernelBasis) and basis.random_state is None and self.random_state is not None
        return KernelBasis(**{**basis.get_params(deep=False), "random_state": self.random_state}) if seedable else basis

    def _has_wide_kernels(self) -> bool:
        """Whether kernels may be so wide that they look alike: widths are learned, or there is one for each input."""
        basis = check_basis(self.basis)
        return isinstance(basis, KernelBasis) and (basis.learns_width or np.ndim(basis.gamma) == 1)

    def _is_on_kernels(self) -> bool:
        """Whether candidates are kernels, and not inputs or the columns of another transformer."""
        return stands_for_kernels(self.basis) or isinstance(self.basis, (KernelBasis, ProcessBasis))

    def _input_names(self, probe: Any) -> Any:
        """Return the names of the inputs that the basis gets, as validation of the probe found them; None if they have none."""
        basis = self._seeded_basis()
        has_inputs = takes_arrays(basis) or isinstance(basis, ProcessBasis)
        return getattr(probe, "feature_names_in_", None) if has_inputs else None

    def _seed(self) -> int:
        """Return a fixed seed if random_state is None, so that the same data give the same model."""
        return 0 if self.random_state is None else int(generator_of(self.random_state).randint(2**31 - 1))

    def _is_pairwise(self) -> bool:
        return isinstance(self.basis, KernelBasis) and bool(self.basis.__sklearn_tags__().input_tags.pairwise)

    def _takes_sparse(self) -> bool:
        """Whether X may be a sparse matrix of which only the columns in the model are made dense."""
        return isinstance(self.basis, str) and self.basis == INPUTS

    def _checked_inputs(self, X: Any) -> Any:
        if is_on_device(X) and is_dispatched():
            return checked_queries_on_device(self, X)
        if isinstance(self.basis_, KernelBasis):
            return validated_queries(self, X)
        if self.basis_.transformer is None:
            return validated_queries(self, X, accept_sparse="csr")
        return checked_table(self, X, reset=False)

    def _parts(self, X: Any) -> Iterator[Any]:
        """Yield a few rows of checked inputs at a time. Arrays are in double precision, in which predictions are computed."""
        if is_on_device(X):
            yield from (X[rows, :] for rows in slices(X.shape[0], rows_at_a_time(X, max(X.shape[1], len(self.active_)))))
            return
        n = _num_samples(X)
        for rows in slices(n, PREDICT_ROWS):
            part = X if n <= PREDICT_ROWS else _safe_indexing(X, rows)
            yield part.astype(np.float64) if isinstance(part, np.ndarray) and part.dtype == np.float32 else part

    def _phi(self, X: Any) -> Any:
        if is_on_device(X):
            return self.basis_.on_device(X).values(slice(None))
        if isinstance(self.basis_, KernelBasis):
            evaluation = self.basis_.on(X)
            return evaluation.columns(np.arange(evaluation.n_candidates))
        return np.asarray(self.basis_.transform(X))


def check_has_posterior(model: Any) -> None:
    """Raise a NotFittedError before `fit`. For a fitted model, scikit-learn's check takes longer than to predict a row."""
    if not hasattr(model, "posterior_"):
        check_is_fitted(model, "posterior_")


def in_type_of(X: Any, *predictions: Floats, may_be_infinite: bool = False) -> Any:
    """Return predictions in single precision if the checked inputs are, else in double precision. All are computed in double.

    Raise a ValueError if predictions have overflowed, unless they may.
    """
    if is_single(X):
        with np.errstate(over="ignore"):
            predictions = tuple(singles(values) for values in predictions)
    if not may_be_infinite:
        check_finite(*predictions)
    return predictions[0] if len(predictions) == 1 else predictions


def check_finite(*predictions: Floats) -> None:
    """Raise a ValueError if predictions have overflowed, because queries are too far from the training data."""
    if all(all_finite(values) for values in predictions):
        return
    predictions = tuple(to_host(values) for values in predictions)
    wrong = ~np.logical_and.reduce([np.isfinite(values.reshape(len(values), -1)).all(axis=1) for values in predictions])
    raise ValueError(
        f"the prediction of row {np.flatnonzero(wrong)[0]} of X is too large for a floating-point number ({wrong.sum()} of "
        f"{len(wrong)} rows). The row is far from the training data; check its units, or drop it."
    )


def sparse_format(basis: Any) -> Any:
    """Return the format in which a basis takes sparse matrices, or False. Only the inputs themselves may be sparse."""
    return "csr" if basis is None else False


def print_centers(candidates: Any, n_rows: int) -> None:
    """Print a line if landmarks were chosen because there were too many rows."""
    if is_on_landmarks(candidates):
        print(
            f"centers: {candidates.n_candidates:,} functions at landmarks for {n_rows:,} rows; KernelBasis(centers=...) sets their "
            "number, and centers=None takes all rows in memory",
            file=sys.stderr,
        )


def print_ends(names: Sequence[str], posteriors: Sequence[Any]) -> None:
    """Print a line on where the search for each model ended."""
    for name, posterior in zip(names, posteriors, strict=True):
        print(
            f"{name}  {posterior.n_iter} steps  criterion {posterior.criterion: .6e}  active {len(posterior.active):5d}  "
            f"{posterior.outcome.name}",
            file=sys.stderr,
        )


def _joined_trace(posteriors: list[Any]) -> Any:
    fields = posteriors[0].trace.dtype
    joined = np.empty(sum(len(p.trace) for p in posteriors), dtype=[*fields.descr, ("output", np.intp)])
    start = 0
    for output, posterior in enumerate(posteriors):
        part = joined[start : start + len(posterior.trace)]
        for name in fields.names or ():
            part[name] = posterior.trace[name]
        part["output"] = output
        start += len(posterior.trace)
    return joined

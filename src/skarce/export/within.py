"""The best model whose tables in C fit into a number of bytes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from skarce._parameters import check_choice, check_count
from skarce._text import quoted
from skarce.basis import KernelBasis
from skarce.estimators.inside import SEARCHES, Inside, model_inside
from skarce.estimators.nested import NestedRegressor
from skarce.estimators.on_basis import OnBasis
from skarce.export.advice import LARGER_GAMMA
from skarce.export.c.levels import BETTER
from skarce.export.elimination import elimination_order
from skarce.export.to_c import KINDS, c_source, table_bytes
from skarce.export.transformers import ExportError, ImpreciseError, UnknownModelError

NEEDS_MODEL = "fit_within needs an estimator of skarce"
WITHOUT_STD = "std=False, "


@dataclass(frozen=True)
class Within:
    """A model that is small enough, beside the model of the same fit without a limit.

    Attributes
    ----------
    model : the fitted model or pipeline
    n_bytes, n_functions, error : bytes of its tables in C, number of its functions, and its error on the training rows: the root
        mean square, or the share of wrong classes
    largest_bytes, largest_functions, largest_error : the same of the model without a limit
    max_bytes : the limit
    limit_of_accuracy : if accuracy and not bytes is what limits the model: by how much larger models miss it
    remedies : what would do then
    """

    model: Any
    n_bytes: int
    n_functions: int
    error: float
    largest_bytes: int
    largest_functions: int
    largest_error: float
    max_bytes: int
    limit_of_accuracy: str = ""
    remedies: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return what the limit costs, in a sentence."""
        if self.n_functions == self.largest_functions:
            return f"{self.n_bytes} bytes of at most {self.max_bytes}; nothing was left out"
        return (
            f"{self.n_bytes} bytes of at most {self.max_bytes}: {self.n_functions} of {self.largest_functions} functions; the "
            f"error on the training rows is {self.error:.4g}, and {self.largest_error:.4g} with all ({self.largest_bytes} bytes)"
            + self._about_accuracy()
        )

    def _about_accuracy(self) -> str:
        if not self.limit_of_accuracy:
            return ""
        remedies = f". Use {' or '.join(self.remedies)}" if self.remedies else ""
        limit = "Accuracy is the limit, and not bytes; the arithmetic is not precise enough for more"
        return f". {limit}: {self.limit_of_accuracy}{remedies}"


def fit_within(estimator: Any, X: Any, y: Any, *, max_bytes: int, real: str = "float", std: Any = True) -> Within:
    """Fit a model, and keep the best one whose tables in C take at most `max_bytes`, and which `to_c` then writes.

    Nested models come from the same fit. Other methods are fitted again with fewer functions, at the kernel and widths of the first
    fit: once with all candidates, and once with the functions of the first fit that matter most. The better one is kept.

    Parameters
    ----------
    estimator : estimator
        An estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one. The model that is kept has the
        best estimator in the place of a search.
    X : array-like of shape (n_samples, n_features)
        Training inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    max_bytes : int
        The largest number of bytes of constant tables. Code and the self-test are not counted.
    real, std
        As in `to_c`.

    Returns
    -------
    found : Within
        The fitted model, its size, and what the limit costs in error. ``print(found)`` says so in a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import KernelBasis, OrthogonalLeastSquaresRegressor
    >>> from skarce.export import fit_within
    >>> X = np.linspace(-5, 5, 100)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 100)
    >>> found = fit_within(OrthogonalLeastSquaresRegressor(KernelBasis(gamma=0.3)), X, y, max_bytes=128)
    >>> found.n_bytes <= 128, found.n_functions < found.largest_functions
    (True, True)
    """
    _check_around_a_model(estimator)
    return smaller_within(clone(estimator).fit(X, y), X, y, max_bytes=max_bytes, real=real, std=std)


def smaller_within(fitted: Any, X: Any, y: Any, *, max_bytes: int, real: str = "float", std: Any = True) -> Within:
    """Return the same for a model that is already fitted to these rows."""
    check_count("max_bytes", max_bytes)
    check_choice("real", real, KINDS)
    found = model_inside(fitted, NEEDS_MODEL)
    model, rows, targets = found.model, _rows_inside(found, X), _targets_inside(found, y)

    trials = _Trials(fitted, X, max_bytes, real, std)
    chosen = model if trials.fits(model) else _largest_that_fits(model, rows, targets, trials.fits)
    if chosen is None:
        smallest = min(map(trials.size, _sized(model, 1, rows, targets)))  # raises the reason if it cannot be exported
        remedies = "" if is_classifier(model) or std is False else WITHOUT_STD
        raise ExportError(
            f"no model of this kind has tables of at most {max_bytes} bytes: one function takes {smallest} bytes. Use "
            f"{remedies}fewer inputs, or a larger limit."
        )
    kept = _with_model(fitted, chosen)
    return Within(
        model=kept,
        n_bytes=trials.size(chosen),
        n_functions=len(chosen.active_),
        error=_error(kept, X, y),
        largest_bytes=table_bytes(fitted, real, std),
        largest_functions=len(model.active_),
        largest_error=_error(fitted, X, y),
        max_bytes=int(max_bytes),
        limit_of_accuracy="" if chosen is model else trials.limit_of_accuracy(),
        remedies=() if chosen is model else trials.remedies(),
    )


class _Trials:
    """Which models fit, and why the last one that was tried in vain does not: the smallest of those, in a bisection."""

    def __init__(self, fitted: Any, X: Any, max_bytes: int, real: str, std: Any) -> None:
        self.fitted, self.X, self.max_bytes, self.real, self.std = fitted, X, max_bytes, real, std
        self.refused: Any = None
        self.difference = ""

    def size(self, candidate: Any, **options: Any) -> int:
        """Return the bytes of the tables of a model. Raise if it cannot be exported."""
        chosen = {"real": self.real, "std": self.std, **options}
        return c_source(_with_model(self.fitted, candidate), X=self.X, **chosen).size.table_bytes

    def fits(self, candidate: Any) -> bool:
        """Return whether a model is small and accurate enough."""
        try:
            return self._noted(candidate, "", is_in=self.size(candidate) <= self.max_bytes)
        except ImpreciseError as error:
            return self._noted(candidate, error.difference, is_in=False)
        except ExportError:
            return self._noted(candidate, "", is_in=False)

    def _noted(self, candidate: Any, difference: str, *, is_in: bool) -> bool:
        if not is_in:
            self.refused, self.difference = candidate, difference
        return is_in

    def limit_of_accuracy(self) -> str:
        """Return how far the model that was tried last in vain is from Python, if it would be small enough."""
        is_small = self.difference and table_bytes(_with_model(self.fitted, self.refused), self.real, self.std) <= self.max_bytes
        return f"with {len(self.refused.active_)} functions, {self.difference}" if is_small else ""

    def remedies(self) -> tuple[str, ...]:
        """Return the options that this model fits with, or what to change in the fit."""
        if not self.limit_of_accuracy():
            return ()
        found = [f'real="{other}"' for other in BETTER.get(self.real, ()) if self._would_fit(real=other)]
        if self.std is not False and not is_classifier(self.refused) and self._would_fit(std=False):
            found.append("std=False")
        return tuple(found) or (LARGER_GAMMA,) * isinstance(self.refused.basis_, KernelBasis)

    def _would_fit(self, **options: Any) -> bool:
        try:
            return self.size(self.refused, **options) <= self.max_bytes
        except ExportError:
            return False


def _largest_that_fits(model: Any, rows: Any, y: Any, fits: Callable[[Any], bool]) -> Any:
    """Return the best model that fits, by bisection of the number of functions, or None.

    If the model of smaller error does not fit, the other one of that size may: classes have their own limits, but share kernels.
    """
    found: list[Any] = []
    low, high = 1, len(model.active_) - 1
    while low <= high:
        middle = (low + high) // 2
        candidate = next(filter(fits, _sized(model, middle, rows, y)), None)
        if candidate is None:
            high = middle - 1
        else:
            low = middle + 1
            found.insert(0, candidate)  # of models with the same error, the larger one
    return min(found, key=lambda candidate: _error(candidate, rows, y), default=None)


def _sized(model: Any, n_functions: int, rows: Any, y: Any) -> list[Any]:
    """Return models of so many functions at most, the better one first: from the same fit if it is nested, else from others."""
    if isinstance(model, NestedRegressor):
        paths = [posterior.path for posterior in model._posteriors()]
        if all(path is not None and path.least <= n_functions <= path.most for path in paths):
            return [model.with_n_basis(n_functions)]
    candidates = [_fitted_again(model, basis, n_functions, rows, y) for basis in _bases(model, n_functions)]
    return sorted(candidates, key=lambda candidate: _error(candidate, rows, y))


def _fitted_again(model: Any, basis: Any, n_functions: int, rows: Any, y: Any) -> Any:
    again = clone(model)
    limit = "n_basis" if "n_basis" in again.get_params(deep=False) else "max_active"
    again.set_params(basis=basis, **{limit: n_functions})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the limit is what ends the fit
        return again.fit(rows, y)


def _bases(model: Any, n_functions: int) -> list[Any]:
    """Return bases for a smaller model: with all candidates, and with the kernels of the larger model that matter most."""
    fitted = model.basis_
    if not isinstance(fitted, KernelBasis) or fitted.kernel_ == "precomputed":
        return [model.basis]
    chosen = {"kernel": fitted.kernel_, "gamma": fitted.gamma_, "width_params": None}
    options = model._seeded_basis().get_params(deep=False)
    order = elimination_order(model._posteriors(), model._places, fitted.n_candidates)
    kept = np.sort(order[len(order) - n_functions :])
    return [KernelBasis(**{**options, **chosen}), KernelBasis(**{**options, **chosen, "centers": fitted.centers_[kept]})]


def _check_around_a_model(estimator: Any) -> None:
    """Raise if there is no model of skarce in an estimator that is not fitted yet."""
    inside = estimator
    while not isinstance(inside, OnBasis):
        if isinstance(inside, Pipeline):
            inside = inside.steps[-1][1]
        elif isinstance(inside, SEARCHES):
            inside = inside.estimator
        elif isinstance(inside, TransformedTargetRegressor) and inside.regressor is not None:
            inside = inside.regressor
        else:
            raise UnknownModelError(f"{NEEDS_MODEL}, or a pipeline or search around one, got {quoted(estimator)}.")


def _rows_inside(found: Inside, X: Any) -> Any:
    """Return rows as the model inside gets them."""
    for pipeline in found.pipelines:
        X = pipeline.transform(X) if len(pipeline) else X
    return X


def _targets_inside(found: Inside, y: Any) -> Any:
    """Return targets as the model inside gets them."""
    for step in found.target_steps:
        values = np.asarray(y, dtype=np.float64)
        columns = step.transform(values.reshape(len(values), -1))
        y = columns.reshape(values.shape) if columns.size == values.size else columns
    return y


def _with_model(estimator: Any, model: Any) -> Any:
    """Return a fitted estimator with another model inside, and the best estimator in the place of a search."""
    if isinstance(estimator, OnBasis):
        return model
    if isinstance(estimator, SEARCHES):
        return _with_model(estimator.best_estimator_, model)
    if isinstance(estimator, TransformedTargetRegressor):
        twin = copy(estimator)
        twin.regressor_ = _with_model(estimator.regressor_, model)
        return twin
    return Pipeline([*estimator.steps[:-1], (estimator.steps[-1][0], _with_model(estimator.steps[-1][1], model))])


def _error(model: Any, rows: Any, y: Any) -> float:
    if is_classifier(model):
        return float(1.0 - model.score(rows, y))
    return float(np.sqrt(np.mean((np.asarray(model.predict(rows)) - np.asarray(y, dtype=np.float64)) ** 2)))

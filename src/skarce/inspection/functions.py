"""The functions in a model, the most relevant first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._typing import Floats, Indices
from skarce.basis import KernelBasis
from skarce.estimators.tested_coefficients import check_level
from skarce.inspection.summary import COLUMNS, candidate_names, has_tests, weight_values
from skarce.inspection.unwrapping import Unwrapped, unwrapped

MOST_NAMED_INPUTS = 2  # kernels are named by their centers if there are at most this many inputs


@dataclass(frozen=True)
class RankedFunctions:
    """The functions of one target or class, the most relevant first.

    Attributes
    ----------
    names : list of str
        Names of columns. Kernels are named by their centers: in the units of the data if they have one or two inputs, else by row.
    candidates : ndarray of shape (n_functions,)
        Their places among the candidates.
    weights, stds, lower, upper, relevance : ndarray of shape (n_functions,)
        Each weight, its standard deviation, the ends of its interval, and how well the data determine it, from 0 to 1. The ends are
        NaN for margins.
    level : float
        Probability that an interval contains its weight.
    n_candidates : int
        The number of functions that the model was chosen from.
    """

    names: list[str]
    candidates: Indices
    weights: Floats
    stds: Floats
    lower: Floats
    upper: Floats
    relevance: Floats
    level: float
    n_candidates: int

    def __len__(self) -> int:
        return len(self.names)


def ranked_functions(model: Any, *, target: Any = None, level: float = 0.95, caller: str = "ranked_functions") -> RankedFunctions:
    """Return the functions of a fitted model with their weights, the most relevant first. The intercept is left out.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
    target : int or label, default=None
        Which target or class, if there are several with functions of their own.
    level : float, default=0.95
        Probability that an interval contains its weight.
    caller : str, default="ranked_functions"
        Who asks, for messages.
    """
    check_level(level)
    found = unwrapped(model, caller)
    posterior = found.posterior(target)
    all_values = weight_values(posterior, level, tested=has_tests(found.model))
    values = dict(zip(COLUMNS, all_values[int(posterior.fit_intercept) :].T, strict=True))
    order = np.argsort(-values["relevance"], kind="stable")
    names = _names(found, posterior.active)
    return RankedFunctions(
        names=[str(names[place]) for place in order],
        candidates=posterior.active[order],
        weights=values["coefficient"][order],
        stds=values["std"][order],
        lower=values["lower"][order],
        upper=values["upper"][order],
        relevance=values["relevance"][order],
        level=float(level),
        n_candidates=len(found.model.relevance_),
    )


def _names(found: Unwrapped, active: Indices) -> Any:
    names = candidate_names(found.model, found.input_names)[active]
    basis = found.model.basis_
    if not isinstance(basis, KernelBasis):
        return names
    centers, label = centers_of(found), _label(basis)
    if centers is None or centers.shape[1] > MOST_NAMED_INPUTS:
        return [f"{label} at {place}" for place in _numbered(basis, np.searchsorted(found.model.active_, active), _in_python)]
    places = np.searchsorted(found.model.active_, active)
    return [f"{label} at {', '.join(f'{value:.4g}' for value in centers[place])}" for place in places]


def kernel_names(model: Any, place_of: Callable[[int], str]) -> dict[int, str]:
    """Return what the kernels of a fitted model are called, whatever their inputs, by the numbers of their candidates.

    `place_of` says where a row of the fit is, counted from 0.
    """
    basis = model.basis_
    if not isinstance(basis, KernelBasis):
        return {}
    places = _numbered(basis, np.arange(len(model.active_)), place_of)
    return {int(number): f"{_label(basis)} at {place}" for number, place in zip(model.active_, places, strict=True)}


def _label(basis: KernelBasis) -> str:
    return basis.kernel_ if isinstance(basis.kernel_, str) else "kernel"


def _in_python(row: int) -> str:
    return f"row {row}"


def _numbered(basis: KernelBasis, places: Indices, place_of: Callable[[int], str]) -> list[str]:
    """Return what centers are called if they have too many inputs to be written out: rows of the fit, or given centers."""
    if basis.center_indices_ is None:
        return [f"center {number}" for number in basis.candidate_numbers_[places]]
    return [place_of(int(row)) for row in basis.center_indices_[places]]


def centers_of(found: Unwrapped) -> Floats | None:
    """Return the centers of the kernels in a model, in the units of the data, or None if functions have no such centers."""
    basis = found.model.basis_
    if not isinstance(basis, KernelBasis) or (isinstance(basis.kernel_, str) and basis.kernel_ == "precomputed"):
        return None
    if not len(basis.centers_):
        return np.empty((0, basis.n_features_in_))
    return found.original_inputs(basis.centers_)

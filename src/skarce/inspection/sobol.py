r"""Sobol indices of models on polynomial chaos, from their weights.

The terms are orthonormal under the distributions of the inputs. So the variance of :math:`f(x) = c + \sum_j w_j\varphi_j(x)` is
:math:`D = \sum_j w_j^2`, and an index is the share of the terms that contain certain inputs, :math:`S = \sum_{j\in u} w_j^2 / D`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.basis import PolynomialChaosBasis, SelectedColumns
from skarce.estimators.on_basis import OnBasis

SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)  # they map each input by itself, one to one
PRINTED_PAIRS = 10


@dataclass(frozen=True, repr=False, eq=False)
class SobolIndices(Mapping[str, Any]):
    """Shares of the variance of a model by input: attributes, and a mapping with the same names.

    With several targets all arrays have one more axis in front, one entry for each target.

    Attributes
    ----------
    first : ndarray of shape (n_inputs,)
        The share of the terms in one input alone.
    total : ndarray of shape (n_inputs,)
        The share of all terms that contain the input.
    second : ndarray of shape (n_inputs, n_inputs)
        The share of the terms in exactly these two inputs. Symmetric, with zeros on the diagonal.
    first_std, total_std, second_std : ndarray
        Their posterior standard deviations, of the same shapes.
    variance : float or ndarray of shape (n_outputs,)
        The variance of the model under the distributions of the inputs, without noise.
    inputs : tuple of str
        The names of the inputs.
    """

    first: Floats
    total: Floats
    second: Floats
    first_std: Floats
    total_std: Floats
    second_std: Floats
    variance: Any
    inputs: tuple[str, ...]

    def __getitem__(self, name: str) -> Any:
        if name not in self._names():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __repr__(self) -> str:
        """Return one table for each target."""
        if self.first.ndim == 1:
            return "\n".join(self._lines())
        tables = (self._of_target(place)._lines() for place in range(len(self.first)))
        return "\n\n".join("\n".join([f"target {place}", *lines]) for place, lines in enumerate(tables))

    def _names(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self))

    def _of_target(self, place: int) -> SobolIndices:
        return SobolIndices(**{name: self[name] if name == "inputs" else self[name][place] for name in self._names()})

    def _lines(self) -> list[str]:
        """The indices of each input, and the pairs with the largest interactions."""
        pairs = [(i, j) for i, j in zip(*np.triu_indices(len(self.inputs), 1), strict=True) if self.second[i, j] > 0.0]
        pairs = sorted(pairs, key=lambda pair: -self.second[pair])[:PRINTED_PAIRS]
        names = {pair: f"{self.inputs[pair[0]]}, {self.inputs[pair[1]]}" for pair in pairs}
        width = max(map(len, ("input", *self.inputs, *names.values())))
        lines = [f"{'input':{width}}  {'first':>17}  {'total':>17}"]
        for place, name in enumerate(self.inputs):
            first = _with_std(self.first[place], self.first_std[place])
            lines.append(f"{name:{width}}  {first}  {_with_std(self.total[place], self.total_std[place])}")
        if pairs:
            lines.append(f"{'pair':{width}}  {'second':>17}")
        return [*lines, *(f"{names[pair]:{width}}  {_with_std(self.second[pair], self.second_std[pair])}" for pair in pairs)]


def sobol_indices(model: Any) -> SobolIndices:
    r"""Return the Sobol indices of a fitted model on polynomial chaos, with their uncertainty.

    The indices are those of the prediction: shares of the squared posterior means of the weights. `first`, `total` and `second` are
    exact for the function that `predict` returns, under the distributions of `PolynomialChaosBasis`. No rows are drawn.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skarce with ``basis=PolynomialChaosBasis(...)``. A `Pipeline` is possible, around the model or as its
        basis, if all steps before are scalers (`StandardScaler`, `MinMaxScaler`, `MaxAbsScaler`, `RobustScaler`): these map each
        input by itself, so that shares of the variance stay the same. The distributions of the basis are then those of the scaled
        inputs. For models of counts and classes, the indices are those of the log rate or of the log odds.

    Returns
    -------
    indices : SobolIndices
        `first`, `total`, `second`, and their standard deviations `first_std`, `total_std`, `second_std`, as attributes and as a
        mapping; also `variance` and the names of the `inputs`.

    Notes
    -----
    The standard deviations are those of the posterior of the weights :math:`w\sim N(m, \Sigma)`, given the chosen terms. With
    :math:`Q = \sum_{j\in u} w_j^2` and :math:`D = \sum_j w_j^2`, the ratio is linearized at the posterior expectations,
    :math:`Q / D \approx s + (Q - sD) / E[D]` with :math:`s = E[Q] / E[D]`. The variance of the quadratic form Q - sD is exact:

    .. math:: 2\sum_{ij} b_i b_j\Sigma_{ij}^2 + 4\sum_{ij} b_i m_i\Sigma_{ij} m_j b_j, \quad b_j = [j\in u] - s.

    They do not contain the uncertainty about which terms belong to the model, nor what terms outside of the basis would add.

    A model without terms is a constant: its variance is 0, and so are all its indices.

    References
    ----------
    Sudret, B. (2008). Global sensitivity analysis using polynomial chaos expansions. Reliability Engineering and System Safety 93,
    964-979.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import PolynomialChaosBasis, VBLSRegressor
    >>> from skarce.inspection import sobol_indices
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (200, 3))
    >>> y = X[:, 0] + X[:, 0] * X[:, 1] + rng.normal(0, 0.1, 200)
    >>> sobol_indices(VBLSRegressor(PolynomialChaosBasis(4)).fit(X, y)).total.round(1)
    array([1. , 0.2, 0. ])
    """
    estimator, outer_names = _last_step(model, "model")
    if not isinstance(estimator, OnBasis):
        hint = " Pass its best_estimator_." if hasattr(estimator, "best_estimator_") else ""
        raise TypeError(
            f"sobol_indices needs an estimator of skarce, or a Pipeline that ends in one, got {quoted(estimator)}.{hint}"
        )
    check_is_fitted(estimator, "posterior_")
    chaos, inner_names = _chaos_of(estimator)
    names = next((found for found in (outer_names, inner_names) if found is not None), None)
    inputs = [f"x{place}" for place in range(chaos.n_features_in_)] if names is None else names
    posteriors = estimator.posterior_ if isinstance(estimator.posterior_, list) else [estimator.posterior_]
    found = [_indices_of(posterior, chaos.multi_indices_[posterior.active]) for posterior in posteriors]
    several = isinstance(estimator.posterior_, list)
    arrays = {key: np.array([one[key] for one in found]) if several else found[0][key] for key in found[0]}
    return SobolIndices(**arrays, inputs=tuple(str(name) for name in inputs))


def _last_step(model: Any, what: str) -> tuple[Any, Any]:
    """Return the last step of a pipeline whose other steps are scalers, and the names of its inputs. Others stay as they are."""
    names = getattr(model, "feature_names_in_", None)
    if not isinstance(model, Pipeline):
        return model, names
    for name, step in model.steps[:-1]:
        if not (step is None or step == "passthrough" or isinstance(step, SCALERS)):
            raise ValueError(
                f"step {name!r} of the {what} is {quoted(step)}, which may mix inputs, so that indices would not be those of the "
                f"inputs. Steps before may be {', '.join(scaler.__name__ for scaler in SCALERS)}. Pass the last step alone for the "
                "indices of its own inputs."
            )
    return model.steps[-1][1], names


def _chaos_of(estimator: Any) -> tuple[PolynomialChaosBasis, Any]:
    """Return the fitted polynomial chaos of a model, and the names of its inputs."""
    basis = estimator.basis_.transformer if isinstance(estimator.basis_, SelectedColumns) else estimator.basis_
    chaos, names = _last_step(basis, "basis")
    if not isinstance(chaos, PolynomialChaosBasis):
        raise ValueError(
            "Sobol indices are read from weights of orthonormal polynomials, so the model needs basis=PolynomialChaosBasis(...), "
            f"got basis={quoted(estimator.basis)}."
        )
    return chaos, names


def _indices_of(posterior: Any, terms: Indices) -> dict[str, Any]:
    """Return all indices of one target, and their stds, from the posterior of its weights."""
    has = terms > 0
    n_inputs, n_active = has.shape[1], has.sum(axis=1)
    rows, columns = np.triu_indices(n_inputs, 1)
    pairs = has[:, rows] & has[:, columns] & (n_active == 2)[:, None]
    members = np.concatenate([has & (n_active == 1)[:, None], has, pairs], axis=1).T
    shares, stds = _shares(np.asarray(posterior.mean), np.asarray(posterior.covariance), members)
    found: dict[str, Any] = {"variance": float(np.sum(np.square(posterior.mean)))}
    for values, ending in ((shares, ""), (stds, "_std")):
        found[f"first{ending}"], found[f"total{ending}"] = values[:n_inputs], values[n_inputs : 2 * n_inputs]
        square = np.zeros((n_inputs, n_inputs))
        square[rows, columns] = square[columns, rows] = values[2 * n_inputs :]
        found[f"second{ending}"] = square
    return found


def _shares(mean: Floats, covariance: Floats, members: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return which share of the variance each set of terms has, and its posterior std. `members` has one row for each set."""
    energy = mean @ mean
    if energy == 0.0:
        return np.zeros(len(members)), np.zeros(len(members))
    expected = mean**2 + covariance.diagonal()
    share = members @ expected / expected.sum()
    contrasts = members - share[:, None]  # b of the notes
    weighted = contrasts * mean
    variance = 2.0 * np.einsum("ki,ki->k", contrasts @ covariance**2, contrasts)
    variance += 4.0 * np.einsum("ki,ki->k", weighted @ covariance, weighted)
    return members @ mean**2 / energy, np.sqrt(np.maximum(variance, 0.0)) / expected.sum()


def _with_std(value: float, std: float) -> str:
    return f"{value:6.4f} +- {std:7.1e}"

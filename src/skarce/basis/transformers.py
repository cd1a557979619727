"""Any scikit-learn transformer as a list of candidates. A fitted model keeps some of them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from skarce._atomic import unfitted_twin
from skarce._device import where
from skarce._text import quoted
from skarce._typing import Floats
from skarce.basis import learners
from skarce.basis.candidates import ColumnsEvaluation, Evaluation, TransformerEvaluation, transformed, transformed_columns
from skarce.basis.centers import AUTO_LANDMARKS
from skarce.basis.default import INPUTS, NAMES, named_basis
from skarce.basis.kernel_basis import KernelBasis
from skarce.basis.kernels import DISTANCE_KERNELS, OTHER_NAMES, PRODUCT_KERNELS
from skarce.basis.on_device import DeviceEvaluation, inputs_on_device, transformer_on_device, works_on_device
from skarce.basis.process_basis import ProcessBasis
from skarce.basis.sparse_columns import SparseEvaluation, canonical


class SelectedColumns(TransformerMixin, BaseEstimator):
    """Some of the output columns of a fitted transformer.

    Parameters
    ----------
    transformer : transformer or None
        The fitted transformer. None stands for the inputs themselves.
    indices : array-like of shape (n_columns,)
        The columns to keep.
    feature_names : array-like of shape (n_features,), default=None
        Names of the inputs, if the inputs are passed through and have names.
    """

    def __init__(self, transformer: Any, indices: Any, feature_names: Any = None) -> None:
        self.transformer = transformer
        self.indices = indices
        self.feature_names = feature_names

    def fit(self, X: Any, y: Any = None) -> SelectedColumns:
        """Do nothing: the transformer is already fitted."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Floats:
        """Return the kept columns, shape (n_samples, len(indices))."""
        if self.transformer is not None:
            return transformed_columns(self.transformer, X, self.indices)
        if issparse(X):
            return np.asarray(canonical(X)[:, self.indices].toarray())
        return np.asarray(X, dtype=np.float64)[:, self.indices]

    def on_device(self, X: Any) -> DeviceEvaluation:
        """Return the kept columns at validated rows on a device."""
        candidates = PassthroughCandidates(X.shape[1]) if self.transformer is None else TransformerCandidates(self.transformer, 1)
        return candidates.on_device(X).selected(np.asarray(self.indices))

    def select(self, indices: Any) -> SelectedColumns:
        """Return a transformer with only these of the kept columns."""
        return SelectedColumns(self.transformer, np.asarray(self.indices)[indices], self.feature_names)

    def with_all_columns(self, n_columns: int) -> SelectedColumns:
        """Return a transformer with all columns, of which these are some."""
        return SelectedColumns(self.transformer, np.arange(n_columns), self.feature_names)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the kept columns."""
        if self.transformer is not None:
            return self.transformer.get_feature_names_out(input_features)[self.indices]
        names = self.feature_names if input_features is None else input_features
        if names is None:
            return np.array([f"x{i}" for i in self.indices], dtype=object)
        return np.asarray(names, dtype=object)[self.indices]


class PassthroughCandidates:
    """The input columns themselves as candidates."""

    def __init__(self, n_features: int) -> None:
        self.n_candidates = n_features

    def on(self, X: Any) -> Evaluation:
        return SparseEvaluation(X) if issparse(X) else ColumnsEvaluation(X)

    def on_device(self, X: Any) -> DeviceEvaluation:
        return inputs_on_device(X)

    def select(self, indices: Any) -> SelectedColumns:
        return SelectedColumns(None, np.asarray(indices, dtype=np.intp))


class TransformerCandidates:
    """The output columns of a fitted transformer as candidates."""

    def __init__(self, transformer: Any, n_candidates: int) -> None:
        self._transformer, self.n_candidates = transformer, n_candidates
        if n_candidates == 0:
            raise ValueError(f"the basis has no output columns: {quoted(transformer)} returned an array without columns.")

    @classmethod
    def at(cls, transformer: Any, X: Any) -> TransformerCandidates:
        """Count the output columns at the first row of X. If there is none, the transformer names them."""
        n_named = None if _num_samples(X) else n_named_columns(transformer)
        return cls(transformer, transformed(transformer, _safe_indexing(X, slice(0, 1))).shape[1] if n_named is None else n_named)

    def on(self, X: Floats) -> Evaluation:
        return TransformerEvaluation(self._transformer, X, self.n_candidates)

    def on_device(self, X: Any) -> DeviceEvaluation:
        if isinstance(self._transformer, ProcessBasis):
            return self._transformer.on_device(X)
        if works_on_device(self._transformer):
            return transformer_on_device(self._transformer, X, self.n_candidates)
        raise TypeError(
            f"{type(self._transformer).__name__} works in the memory of the host, but X is {where(X)}. On a device there are "
            'kernels (KernelBasis, ProcessBasis), the inputs themselves ("passthrough"), and transformers of scikit-learn that '
            "support the array API, such as PolynomialFeatures. Move X to the host, or transform it."
        )

    def select(self, indices: Any) -> SelectedColumns:
        return SelectedColumns(self._transformer, np.asarray(indices, dtype=np.intp))


def kernels_of(basis: Any) -> KernelBasis | None:
    """Return the kernels at centers that a fitted basis or its candidates are made of, or None if there are none."""
    if isinstance(basis, SelectedColumns):
        basis = basis.transformer
    elif isinstance(basis, TransformerCandidates):
        basis = basis._transformer
    if isinstance(basis, ProcessBasis):
        return basis.kernels_
    return basis if isinstance(basis, KernelBasis) else None


def is_on_landmarks(basis: Any) -> bool:
    """Tell whether ``centers="auto"`` of a fitted basis found too many rows and chose landmarks."""
    kernels = kernels_of(basis)
    return kernels is not None and kernels.is_on_landmarks


def check_basis(basis: Any) -> Any:
    """Return the unfitted transformer that `basis` stands for, or None for the inputs themselves."""
    if isinstance(basis, str):
        if basis not in NAMES:
            is_kernel = basis in (*DISTANCE_KERNELS, *PRODUCT_KERNELS, *OTHER_NAMES, "precomputed")
            hint = f" For this kernel, use KernelBasis({basis!r})." if is_kernel else ""
            raise ValueError(f"basis must be one of {list(NAMES)} or a scikit-learn transformer, got {quoted(basis)}.{hint}")
        return named_basis(basis)
    if isinstance(basis, type):
        raise TypeError(f"basis must be an object, but {basis.__name__} is a class. Write basis={basis.__name__}().")
    if not (hasattr(basis, "fit") and hasattr(basis, "transform")):
        raise TypeError(f"basis must be one of {list(NAMES)} or have fit and transform, got {type(basis).__name__}.")
    return basis


def learns_widths(transformer: Any) -> bool:
    """Tell whether a transformer, or a part of it such as a step of a pipeline, learns kernel widths from the targets."""
    return n_learners(transformer) > 0


def n_learners(transformer: Any) -> int:
    """Return how many parts of a transformer learn kernel widths from the targets."""
    parts = [transformer, *transformer.get_params(deep=True).values()] if hasattr(transformer, "get_params") else [transformer]
    learners_of_widths = {id(part) for part in parts if isinstance(part, (KernelBasis, ProcessBasis)) and part.learns_width}
    return len(learners_of_widths)


def fit_basis(transformer: Any, X: Any, y: Any, sample_weight: Any, n_landmarks: int = AUTO_LANDMARKS, **learning: Any) -> Any:
    """Fit a clone of the transformer and return its candidates. None stands for the inputs themselves.

    Kernels with ``centers="auto"`` are at `n_landmarks` if there are many rows. `learning` are options for learning kernel widths,
    if the basis, or a part of it, learns them from the targets. The parts share the time.
    """
    if transformer is None:
        return PassthroughCandidates(X.shape[1])
    if isinstance(transformer, KernelBasis):
        return unfitted_twin(transformer).fit_checked(X, sample_weight, y, n_landmarks, **learning)
    fitted = clone(transformer)
    takes_weights = sample_weight is not None and "sample_weight" in inspect.signature(fitted.fit).parameters
    with learners.handing(_shared(learning, max(n_learners(fitted), 1))):
        fitted.fit(X, y, **({"sample_weight": sample_weight} if takes_weights else {}))
    return TransformerCandidates.at(fitted, X)


def candidates_of(basis: Any, X: Any) -> Any:
    """Return the candidates of a fitted basis for rows like X. ``"passthrough"`` stands for the inputs themselves."""
    if isinstance(basis, str) and basis == INPUTS:
        return PassthroughCandidates(X.shape[1])
    check_fitted(basis)
    return basis if isinstance(basis, KernelBasis) else TransformerCandidates.at(basis, X)


def candidates_counted(basis: Any, n_candidates: int) -> Any:
    """Return the candidates of a fitted basis, as many as their sums say. Raise if it has another number."""
    if isinstance(basis, str) and basis == INPUTS:
        return PassthroughCandidates(n_candidates)
    check_fitted(basis)
    n_known = basis.n_candidates if isinstance(basis, KernelBasis) else n_named_columns(basis)
    if n_known not in (None, n_candidates):
        raise ValueError(
            f"the basis has {n_known} candidates, but the sums are over {n_candidates}. Make the sums with block_sums(basis, ...) "
            "of the same fitted basis."
        )
    return basis if isinstance(basis, KernelBasis) else TransformerCandidates(basis, n_candidates)


def check_fitted(basis: Any) -> None:
    """Raise if a basis is neither fitted nor ``"passthrough"``."""
    if isinstance(basis, str):
        if basis != INPUTS:
            raise ValueError(
                f'sums need candidates that are the same for all rows, so basis must be "{INPUTS}" or a fitted transformer, such '
                f"as KernelBasis(centers=500).fit(some_rows), got {quoted(basis)}."
            )
        return
    check_basis(basis)
    check_is_fitted(basis)


def n_named_columns(transformer: Any) -> int | None:
    """Return the number of output columns of a fitted transformer by their names, or None if it does not tell them."""
    try:
        return len(transformer.get_feature_names_out())
    except (AttributeError, TypeError, ValueError, NotImplementedError):
        return None


def transformer_of(candidates: Any) -> Any:
    """Return the fitted transformer that candidates are the columns of. Kernels are their own."""
    return candidates._transformer if isinstance(candidates, TransformerCandidates) else candidates


def takes_arrays(basis: Any) -> bool:
    """Whether the basis takes validated arrays, as kernels and passthrough do. Other transformers get X as the user passed it."""
    return basis is None or isinstance(basis, (str, KernelBasis))


def _shared(learning: dict[str, Any], n_parts: int) -> dict[str, Any]:
    """Return the options for one of several parts that learn widths. A prior of the weights is not one of the kernels inside."""
    options = {name: value for name, value in learning.items() if name != "weight_variance"}
    if options.get("max_time") is not None:
        options["max_time"] /= n_parts
    return options

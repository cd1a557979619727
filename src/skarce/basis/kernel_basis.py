"""Kernels at centers: the basis of the relevance vector machine and its kin."""

from __future__ import annotations

from copy import copy
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data

from skarce._typing import Floats, Indices
from skarce.basis import learners
from skarce.basis.candidates import ColumnsEvaluation, Evaluation, KernelEvaluation
from skarce.basis.kernels import DISTANCE_KERNELS, PRODUCT_KERNELS, Kernel, make_kernel
from skarce.basis.widths import median_gamma, scale_gamma

LANDMARK_ROWS = 20_000  # landmarks are seeded from at most this many rows
GAMMA_RULES = ("scale", "median", "evidence", "ard")
LEARNED = ("evidence", "ard")  # these need the targets
WIDTH_PARAMS = ("covariance", "n_starts", "max_rows", "max_iter", "tol", "callback")


class KernelBasis(TransformerMixin, BaseEstimator):
    """Kernel functions at centers, as a transformer.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52", "polynomial", "linear", "sigmoid", "cosine", "precomputed"} or callable, \
default="rbf"
        ``"rbf"`` is exp(-gamma |x-c|^2); the Matern kernels have length scale 1/sqrt(2 gamma), so that they compare with it;
        ``"precomputed"`` takes X as the kernel matrix (square in `fit`). A callable is called as ``k(X, C) -> (n, m)``.
    gamma : float, array of shape (n_features,), "scale", "median", "evidence" or "ard", default="scale"
        Inverse squared width. ``"scale"`` is 1 / (n_features * X.var()), ``"median"`` is 1 / median squared distance.
        ``"evidence"`` (one width) and ``"ard"`` (one for each input) are learned from the targets by
        `skarce.model_selection.learn_widths`. One number per input, and learned ones, are for distance kernels only.
    degree, coef0 : float
        Of the polynomial and sigmoid kernels.
    kernel_params : dict or None
        Keyword arguments for a callable kernel.
    width_params : dict or None
        How widths are learned: `covariance`, `n_starts`, `max_rows`, `max_iter`, `tol`, `callback` of `learn_widths`.
    centers : None, int or array of shape (n_centers, n_features), default=None
        None takes the distinct training inputs of positive weight, an int that many landmarks (k-means++ seeding), an array
        these.
    random_state : int, RandomState or None
        Seeds the landmarks, and the rows and starts that widths are learned from.

    Attributes
    ----------
    centers_ : array of shape (n_centers, n_features)
    gamma_ : float or array of shape (n_features,)
        The width in use.
    center_indices_ : array of shape (n_centers,) or None
        The training rows the centers came from, where they came from there.
    origin_ : array of shape (n_features,)
        The middle of all centers; distances are computed from there, so that inputs far from zero keep their digits.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import KernelBasis
    >>> basis = KernelBasis(gamma=0.5).fit(np.array([[0.0], [1.0], [1.0], [3.0]]))
    >>> basis.centers_.ravel()
    array([0., 1., 3.])
    >>> basis.select([1]).transform(np.array([[1.0], [2.0]])).round(4)
    array([[1.    ],
           [0.6065]])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        width_params: dict[str, Any] | None = None,
        centers: Any = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.width_params = width_params
        self.centers = centers
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelBasis:
        """Choose the centers and the width; `y` is needed where the width is learned."""
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        return self.fit_checked(X, weights, y)

    def fit_checked(self, X: Floats, weights: Floats | None, y: Any = None, **learning: Any) -> KernelBasis:
        """`fit` for rows and weights that an estimator has checked already; `learning` goes to `learn_widths`."""
        self.n_features_in_ = X.shape[1]
        self._check_kernel()
        rng = check_random_state(self.random_state)
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f'kernel="precomputed" needs the square kernel matrix of the training rows in fit, got shape {X.shape}.'
                )
            self.gamma_ = None
            self.center_indices_: Indices | None = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0.0)
            self.centers_ = self.center_indices_[:, None].astype(X.dtype)
        else:
            gamma = None if self.learns_width else self._resolve_gamma(X, weights, rng)
            self.centers_, self.center_indices_ = self._choose_centers(X, weights, rng)
            self.gamma_ = self._learned_gamma(X, weights, y, learning) if gamma is None else gamma
        self.candidate_numbers_ = np.arange(len(self.centers_))
        self.origin_ = self.centers_.mean(axis=0)
        return self

    def transform(self, X: Any) -> Floats:
        """The kernels between rows of X and the centers, shape (n_samples, n_centers)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        evaluation = self.on(X)
        return evaluation.columns(np.arange(evaluation.n_candidates))

    def select(self, indices: Any) -> KernelBasis:
        """The same basis with only these centers, in this order."""
        check_is_fitted(self)
        indices = np.asarray(indices, dtype=np.intp)
        chosen = copy(self)
        chosen.centers_ = self.centers_[indices]
        chosen.center_indices_ = None if self.center_indices_ is None else self.center_indices_[indices]
        chosen.candidate_numbers_ = self.candidate_numbers_[indices]
        return chosen

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names like ``rbf7``: the kernel and the number of its center among the candidates."""
        check_is_fitted(self)
        name = self.kernel if isinstance(self.kernel, str) else "kernel"
        return np.array([f"{name}{i}" for i in self.candidate_numbers_], dtype=object)

    @property
    def n_candidates(self) -> int:
        return len(self.centers_)

    def on(self, X: Floats) -> Evaluation:
        """The candidates at validated rows, to be filled block by block."""
        if self.kernel == "precomputed":
            columns = self.center_indices_
            whole = columns is None or len(columns) == X.shape[1]
            return ColumnsEvaluation(X if whole else X[:, columns])
        same = isinstance(self.kernel, str) and np.array_equal(X, self.centers_)
        return KernelEvaluation(self.make_kernel(), X, self.centers_.astype(X.dtype, copy=False), symmetric=same)

    def make_kernel(self) -> Kernel:
        """The kernel with the fitted width."""
        return make_kernel(self.kernel, self.gamma_, self.degree, self.coef0, self.kernel_params, self.origin_)

    @property
    def learns_width(self) -> bool:
        """Whether the width is learned from the targets."""
        return isinstance(self.gamma, str) and self.gamma in LEARNED

    def _check_kernel(self) -> None:
        known = [*DISTANCE_KERNELS, *PRODUCT_KERNELS, "precomputed"]
        if not callable(self.kernel) and self.kernel not in known:
            raise ValueError(f"kernel must be one of {known} or a callable k(X, C), got {self.kernel!r}.")

    def _learned_gamma(self, X: Floats, weights: Floats | None, y: Any, learning: dict[str, Any]) -> Any:
        if y is None:
            raise ValueError(
                f"KernelBasis requires y to be passed, but the target y is None: gamma={self.gamma!r} is learned from the targets. "
                "Pass y to fit, or choose gamma='scale' or a number."
            )
        chosen = dict(self.width_params or {})
        if unknown := chosen.keys() - WIDTH_PARAMS:
            raise ValueError(f"width_params has no {sorted(unknown)}; choose from {list(WIDTH_PARAMS)}.")
        of_process = chosen.get("covariance") == "kernel"  # which has neither centers nor weights
        if of_process:
            learning = {name: value for name, value in learning.items() if name != "weight_variance"}
        learned = learners.learn_widths(
            X,
            y,
            gamma=self.gamma,
            kernel=self.kernel,
            centers=None if of_process or self.centers is None else self.centers_,
            sample_weight=weights,
            random_state=self.random_state,
            **{**learning, **chosen},
        )
        return learned.gamma

    def _resolve_gamma(self, X: Floats, weights: Floats | None, rng: np.random.RandomState) -> Any:
        gamma = self.gamma
        if isinstance(gamma, str) and gamma in GAMMA_RULES:
            return scale_gamma(X, weights) if gamma == "scale" else median_gamma(X, weights, rng)
        if isinstance(gamma, Real) and not isinstance(gamma, bool):
            if not 0.0 < float(gamma) < np.inf:
                raise ValueError(f"gamma must be positive and finite, got {gamma!r}.")
            return float(gamma)
        if isinstance(gamma, str) or np.ndim(gamma) == 0:
            raise ValueError(f"gamma must be a number, one number per input, or one of {list(GAMMA_RULES)}, got {gamma!r}.")
        gammas = check_array(gamma, ensure_2d=False, dtype=np.float64, input_name="gamma")
        if self.kernel not in DISTANCE_KERNELS:
            raise ValueError(f"one gamma per input is for {list(DISTANCE_KERNELS)}, not for kernel={self.kernel!r}.")
        if gammas.shape != (X.shape[1],):
            raise ValueError(f"gamma must have one entry for each of the {X.shape[1]} inputs, got shape {gammas.shape}.")
        if (gammas < 0.0).any():
            raise ValueError(f"gamma must not be negative, got {gammas.min()}.")
        return gammas

    def _choose_centers(self, X: Floats, weights: Floats | None, rng: np.random.RandomState) -> tuple[Floats, Indices | None]:
        if self.centers is None:
            rows = distinct_rows(X, weights)
            return X[rows], rows
        if isinstance(self.centers, Integral) and not isinstance(self.centers, bool):
            return self._landmarks(X, weights, int(self.centers), rng)
        centers = check_array(self.centers, dtype=[np.float64, np.float32], input_name="centers")
        if centers.shape[1] != X.shape[1]:
            raise ValueError(f"centers must have {X.shape[1]} columns like X, got shape {centers.shape}.")
        return centers, None

    def _landmarks(self, X: Floats, weights: Floats | None, n_landmarks: int, rng: np.random.RandomState) -> tuple[Floats, Indices]:
        if n_landmarks < 1:
            raise ValueError(f"centers as a number must be at least 1, got {n_landmarks}.")
        rows = distinct_rows(X, weights)
        if n_landmarks >= len(rows):
            return X[rows], rows
        if len(rows) > LANDMARK_ROWS:
            rows = np.sort(rng.choice(rows, LANDMARK_ROWS, replace=False))
        shares = None if weights is None else weights[rows]
        _, chosen = kmeans_plusplus(X[rows], n_landmarks, sample_weight=shares, random_state=rng)
        return X[rows[chosen]], rows[chosen]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.target_tags.required = self.learns_width
        return tags


def distinct_rows(X: Floats, weights: Floats | None = None) -> Indices:
    """Indices of the first occurrence of every distinct row of positive weight, ascending.

    Distinct integer hashes of the bit patterns prove that all rows differ, which is the common case and costs O(N); only when
    two hashes meet are the rows themselves compared.
    """
    rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0.0)
    values = np.ascontiguousarray(X[rows] + X.dtype.type(0.0))  # -0.0 becomes 0.0
    bits = values.view(np.uint64 if values.dtype == np.float64 else np.uint32).astype(np.uint64, copy=False)
    factors = np.arange(1, X.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    hashes = np.sort((bits * factors).sum(axis=1, dtype=np.uint64))
    if (hashes[1:] != hashes[:-1]).all():
        return rows
    _, first = np.unique(values, axis=0, return_index=True)
    return rows[np.sort(first)]

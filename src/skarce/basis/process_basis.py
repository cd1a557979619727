r"""Functions whose weights, all of one variance, make a Gaussian process with the kernel as its covariance.

With :math:`K = LL^T` the kernel between the centers, :math:`\varphi(x) = L^{-1}k(C, x)` and :math:`w\sim N(0, sI)` give
:math:`f = \varphi(x)^Tw` the covariance :math:`s\,k(x, C)K^{-1}k(C, x')`, which is :math:`s\,k(x, x')` where x or x' is a center.
Kernels at the centers themselves would have the covariance :math:`s\,k(x, C)k(C, x')`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skarce._typing import Floats
from skarce.basis.kernel_basis import KernelBasis
from skarce.basis.kernels import DISTANCE_KERNELS

RESOLVED = 1e-10  # of the variance of the process: centers that the others explain but for this much are left out


class ProcessBasis(TransformerMixin, BaseEstimator):
    """Functions for a Gaussian process: a dense model on them has the kernel itself as covariance.

    ``EvidenceRegressor(ProcessBasis(gamma="ard"))`` is a Gaussian process regression whose widths, variance and noise are
    learned by evidence. Each function is a mixture of kernels, orthogonal to the others in the space of the kernel; as many
    centers are kept as are needed to explain the others, so wide kernels give few functions.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
    gamma : float, array of shape (n_features,), "scale", "median", "evidence" or "ard", default="ard"
        As in `KernelBasis`; learned ones maximise the evidence of the Gaussian process.
    width_params : dict or None
        As in `KernelBasis`, but for `covariance`.
    centers : None, int or array of shape (n_centers, n_features), default=None
        None takes the distinct training inputs, an int that many landmarks, an array these.
    random_state : int, RandomState or None

    Attributes
    ----------
    centers_ : array of shape (n_functions, n_features)
    gamma_ : float or array of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import EvidenceRegressor, ProcessBasis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = EvidenceRegressor(ProcessBasis()).fit(X, y)
    >>> print(len(model.active_) < 30, np.abs(model.predict([[1.5]]) - 1.0) < 0.05)
    True [ True]
    """

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: Any = "ard",
        width_params: dict[str, Any] | None = None,
        centers: Any = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.width_params = width_params
        self.centers = centers
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ProcessBasis:
        """Choose the centers and the width; `y` is needed where the width is learned."""
        if self.kernel not in DISTANCE_KERNELS:
            raise ValueError(f"kernel must be one of {list(DISTANCE_KERNELS)}, got {self.kernel!r}.")
        X = validate_data(self, X, dtype=np.float64)
        options = {**(self.width_params or {}), "covariance": "kernel"}
        kernels = KernelBasis(
            self.kernel, gamma=self.gamma, width_params=options, centers=self.centers, random_state=self.random_state
        ).fit(X, y, sample_weight)
        factor, pivots, rank, _ = lapack.dpstrf(kernels.transform(kernels.centers_), tol=RESOLVED)
        self.kernels_ = kernels.select(pivots[:rank] - 1)
        self.root_ = np.triu(factor[:rank, :rank]).T
        self.gamma_, self.centers_ = kernels.gamma_, self.kernels_.centers_
        return self

    def transform(self, X: Any) -> Floats:
        """L^-1 k(C, x) for every row of X, shape (n_samples, n_functions)."""
        check_is_fitted(self, "root_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return solve_triangular(self.root_, self.kernels_.transform(X).T, lower=True, check_finite=False).T

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """process0, process1, ..."""
        check_is_fitted(self, "root_")
        return np.array([f"process{i}" for i in range(len(self.root_))], dtype=object)

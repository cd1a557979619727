r"""Functions that make a Gaussian process with the kernel as its covariance, if all weights have the same variance.

Let :math:`K = LL^T` be the kernel between the centers. The functions :math:`\varphi(x) = L^{-1}k(C, x)` with weights
:math:`w\sim N(0, sI)` give :math:`f = \varphi(x)^Tw` the covariance :math:`s\,k(x, C)K^{-1}k(C, x')`. This is
:math:`s\,k(x, x')` if x or x' is a center. The kernels at the centers themselves would give the covariance
:math:`s\,k(x, C)k(C, x')`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack, solve_triangular
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skarce._atomic import become, snapshot, unfitted_twin
from skarce._parameters import check_choice, check_dict
from skarce._typing import Floats
from skarce._validation import quietly_validated
from skarce.basis.kernel_basis import AUTO_KERNEL, LEARNED, KernelBasis
from skarce.basis.kernels import DISTANCE_KERNELS
from skarce.basis.on_device import DeviceEvaluation

RESOLVED = 1e-10  # share of the variance of the process: centers that the others explain up to this share are left out


class ProcessBasis(TransformerMixin, BaseEstimator):
    r"""Functions for a Gaussian process: a dense model on them has the kernel itself as its covariance.

    ``EvidenceRegressor(ProcessBasis(gamma="ard"))`` is a Gaussian process regression. It learns its widths, its variance and its
    noise by the evidence. Each function is a mixture of kernels. The functions are orthogonal to each other in the space of the
    kernel. Only as many centers are kept as are needed to explain the others, so wide kernels give few functions.

    Parameters
    ----------
    kernel : {"auto", "rbf", "laplacian", "matern32", "matern52"}, default="rbf"
        The covariance function of the process; `KernelBasis` has the formulas. ``"auto"`` chooses ``"rbf"``, ``"matern52"`` or
        ``"matern32"`` together with the learned width, by the evidence of the process.
    gamma : float, array-like of shape (n_features,), "scale", "median", "evidence" or "ard", default="ard"
        Inverse squared width of the kernel, as in `KernelBasis`. Learned widths maximize the evidence of the Gaussian process.
    width_params : dict, default=None
        Options for learned widths, as in `KernelBasis`. The option `covariance` is always ``"kernel"``.
    centers : "auto", None, int or array-like of shape (n_centers, n_features), default="auto"
        The points that span the process. ``"auto"`` takes the distinct training rows of positive weight if there are at most 2000,
        and 1000 landmarks from them if there are more. None takes all these rows. An integer takes that many landmarks. An array
        gives the points.
    random_state : int, RandomState instance or None, default=None
        Seed for the choice of landmarks, and for the rows and starts that widths are learned from. With ``centers="auto"``, None is
        a fixed seed.

    Attributes
    ----------
    centers_ : ndarray of shape (n_functions, n_features)
        The centers that are kept, in the order in which they were chosen.
    kernel_ : str
        The kernel in use: what ``kernel="auto"`` chose, or `kernel` itself.
    gamma_ : float or ndarray of shape (n_features,)
        The inverse squared width in use.
    kernels_ : KernelBasis
        The kernels at the centers that are kept.
    root_ : ndarray of shape (n_functions, n_functions)
        The lower Cholesky factor L of the kernel between the centers that are kept.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during `fit`. Defined only if X has feature names that are all strings.

    See Also
    --------
    KernelBasis : The kernels at the centers themselves, for sparse models.
    skarce.EvidenceRegressor : A dense model of one weight precision on any basis.
    skarce.model_selection.learn_widths : Learns the widths for ``gamma="evidence"`` and ``gamma="ard"``.

    Notes
    -----
    Let :math:`K = LL^T` be the kernel between the centers C. The functions :math:`\varphi(x) = L^{-1}k(C, x)` with weights
    :math:`w\sim N(0, sI)` give :math:`f(x) = \varphi(x)^Tw` the covariance

    .. math:: s\,k(x, C)K^{-1}k(C, x'),

    which equals :math:`s\,k(x, x')` if x or x' is a center. If the centers are the training rows, this is the exact Gaussian
    process at these rows; otherwise it is the approximation called subset of regressors.

    L comes from a Cholesky factorization with pivoting. It stops if the centers chosen so far explain all others up to a share of
    1e-10 of the variance of the process.

    References
    ----------
    Rasmussen, C. E. and Williams, C. K. I. (2006). Gaussian Processes for Machine Learning. MIT Press.

    Quinonero-Candela, J. and Rasmussen, C. E. (2005). A unifying view of sparse approximate Gaussian process regression. Journal of
    Machine Learning Research 6, 1939-1959.

    Fine, S. and Scheinberg, K. (2001). Efficient SVM training using low-rank kernel representations. Journal of Machine Learning
    Research 2, 243-264.

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
        centers: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.width_params = width_params
        self.centers = centers
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ProcessBasis:
        """Choose the centers and the width.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets. They are needed only if `gamma` is ``"evidence"`` or ``"ard"``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None gives all rows weight 1.

        Returns
        -------
        self : ProcessBasis
            The fitted basis.
        """
        check_choice("kernel", self.kernel, (AUTO_KERNEL, *DISTANCE_KERNELS))
        check_dict("width_params", self.width_params)
        twin = unfitted_twin(self)
        X = quietly_validated(twin, X, dtype=np.float64)
        options = {**(self.width_params or {}), "covariance": "kernel"}
        kernels = KernelBasis(
            self.kernel, gamma=self.gamma, width_params=options, centers=self.centers, random_state=self.random_state
        ).fit(X, y, sample_weight)
        factor, pivots, rank, _ = lapack.dpstrf(kernels.transform(kernels.centers_), tol=RESOLVED)
        twin.kernels_ = kernels.select(pivots[:rank] - 1)
        twin.root_ = np.triu(factor[:rank, :rank]).T
        twin.kernel_, twin.gamma_, twin.centers_ = kernels.kernel_, kernels.gamma_, twin.kernels_.centers_
        return become(self, twin)

    def transform(self, X: Any) -> Floats:
        """Evaluate the functions L^-1 k(C, x) at the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        phi : ndarray of shape (n_samples, n_functions)
            One column for each function.
        """
        fitted = snapshot(self)
        check_is_fitted(fitted, "root_")
        X = quietly_validated(fitted, X, dtype=np.float64, reset=False)
        return solve_triangular(fitted.root_, fitted.kernels_.transform(X).T, lower=True, check_finite=False).T

    def on_device(self, X: Any) -> DeviceEvaluation:
        """Return the functions at validated rows on a device. They are computed there, on demand."""
        return self.kernels_.on_device(X).times(np.linalg.inv(self.root_).T)

    @property
    def learns_width(self) -> bool:
        """Whether the width is learned from the targets."""
        return isinstance(self.gamma, str) and self.gamma in LEARNED

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names ``process0``, ``process1``, and so on.

        Parameters
        ----------
        input_features : array-like of shape (n_features,), default=None
            Ignored. It exists for the interface of scikit-learn.

        Returns
        -------
        names : ndarray of shape (n_functions,)
            Names of the output columns.
        """
        check_is_fitted(self, "root_")
        return np.array([f"process{i}" for i in range(len(self.root_))], dtype=object)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a basis. One that was saved before kernels could be chosen has no `kernel_`."""
        super().__setstate__(state)
        if hasattr(self, "root_") and not hasattr(self, "kernel_"):
            self.kernel_ = self.kernel

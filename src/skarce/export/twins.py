"""Twins: objects of scikit-learn with the same mean, for programs that know scikit-learn and not skarce."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.compose import TransformedTargetRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Kernel, Matern, PairwiseKernel
from sklearn.linear_model import LinearRegression, PoissonRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.utils.validation import check_is_fitted

from skarce._text import quoted
from skarce._typing import Floats
from skarce.basis import KernelBasis, ProcessBasis
from skarce.estimators import JointFactorRegressor, LWPRRegressor, PrimalSVMClassifier, RelevanceVectorPoissonRegressor
from skarce.estimators.classifier import LatentClassifier
from skarce.estimators.inside import SEARCHES
from skarce.estimators.on_basis import OnBasis

OF_SUPPORT_VECTORS = {"rbf": "rbf", "polynomial": "poly", "sigmoid": "sigmoid"}  # kernels, as SVR calls them
SEEN = ("n_features_in_", "feature_names_in_")


def to_sklearn(model: Any) -> Any:
    """Return an object of scikit-learn that predicts the same mean.

    It holds no object of skarce, so a pickle of it loads where skarce is not installed. Its predictions differ by rounding only.

    - Models that are linear in the inputs become a `LinearRegression`, or a `PoissonRegressor` for counts. So does
      `JointFactorRegressor`, whose twin takes rows without gaps only.
    - Kernels of one width that support vector machines know (``"rbf"``, ``"polynomial"`` with a whole degree, ``"sigmoid"``) become
      an `SVR`, if there is one target.
    - Other kernels, kernels with a width for each input, several targets and `ProcessBasis` become a `GaussianProcessRegressor`.
    - A transformer of scikit-learn as the basis becomes a pipeline: the transformer, then a linear model.
    - A pipeline stays a pipeline, with the twin as its last step. So does a `TransformedTargetRegressor`, with the twin inside. A
      search becomes the twin of its best estimator.

    Parameters
    ----------
    model : fitted estimator or pipeline
        A regressor of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.

    Returns
    -------
    twin : estimator
        A fitted estimator of scikit-learn.

    Raises
    ------
    ValueError
        If scikit-learn has no exact twin. The message says why, and what would do.

    Notes
    -----
    A twin has no std of ours. That of a Gaussian process is another one, because a sparse model is uncertain about its weights, and
    not about a process. So the std of a `GaussianProcessRegressor` that is a twin is NaN.

    ``sklearn.base.clone`` of a twin is unfitted, as always. Fitting it trains a model of that class, and not the same again.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import KernelBasis, RelevanceVectorRegressor
    >>> from skarce.export import to_sklearn
    >>> X = np.linspace(-5, 5, 100)[:, None]
    >>> model = RelevanceVectorRegressor(KernelBasis(gamma=0.5)).fit(X, np.sin(X[:, 0]))
    >>> twin = to_sklearn(model)
    >>> print(type(twin).__name__, np.allclose(twin.predict(X), model.predict(X)))
    SVR True
    """
    if isinstance(model, Pipeline):
        _check_foreign("a step of the pipeline", *(step for _, step in model.steps[:-1]))
        twin = copy(model)
        twin.steps = [*model.steps[:-1], (model.steps[-1][0], to_sklearn(model.steps[-1][1]))]
        return twin
    if isinstance(model, TransformedTargetRegressor):
        check_is_fitted(model, "regressor_")
        twin = copy(model)
        twin.regressor = twin.regressor_ = to_sklearn(model.regressor_)
        return twin
    if isinstance(model, SEARCHES):
        check_is_fitted(model, "best_estimator_")
        return to_sklearn(model.best_estimator_)
    if isinstance(model, JointFactorRegressor):
        check_is_fitted(model)
        return _seen_by(model, _linear(model, model.coef_))
    if isinstance(model, LWPRRegressor):
        raise ValueError(
            "scikit-learn has no exact twin of LWPRRegressor: it blends many local models by how close each one is to a row, "
            "and no estimator of scikit-learn does that. Use a regressor with a basis, such as RelevanceVectorRegressor."
        )
    if not isinstance(model, OnBasis):
        raise TypeError(
            "to_sklearn takes a fitted model of skarce with a basis, or a pipeline, search or TransformedTargetRegressor around "
            f"one, got {type(model).__name__}."
        )
    check_is_fitted(model)
    if isinstance(model, LatentClassifier):
        is_by_margins = isinstance(model, PrimalSVMClassifier)
        source = "margins, calibrated by left-out rows" if is_by_margins else "averages over the uncertainty of the latent function"
        raise ValueError(
            f"scikit-learn has no exact twin of {type(model).__name__}: its probabilities are {source}, and no classifier of "
            "scikit-learn has such. Use to_onnx or to_c."
        )
    return _on_kernels(model) if isinstance(model.basis_, KernelBasis) else _on_columns(model)


# Linear models --------------------------------------------------------------------------------------------------------------


def _on_columns(model: Any) -> Any:
    """Return the twin of a model on inputs, or on the columns of a transformer."""
    transformer, columns = model.basis_.transformer, np.asarray(model.basis_.indices)
    if transformer is None:
        return _seen_by(model, _linear(model, _placed(model._weights, columns, model.n_features_in_)))
    if isinstance(transformer, ProcessBasis):
        weights = _placed(model._weights, columns, len(transformer.root_))
        # phi = L^-1 k, so w'phi = (L^-T w)'k.
        of_kernels = solve_triangular(transformer.root_, weights.T, lower=True, trans="T").T
        return _process(model, transformer.kernels_, of_kernels)
    _check_foreign("the basis", transformer)
    return make_pipeline(transformer, _linear(model, _placed(model._weights, columns, len(model.relevance_))))


def _linear(model: Any, coef: Floats) -> LinearRegression | PoissonRegressor:
    if isinstance(model, RelevanceVectorPoissonRegressor):
        twin = PoissonRegressor(alpha=0.0, fit_intercept=model.fit_intercept)
        twin._base_loss = twin._get_loss()
    else:
        twin = LinearRegression(fit_intercept=getattr(model, "fit_intercept", True))
    twin.coef_, twin.intercept_, twin.n_features_in_ = coef, model.intercept_, coef.shape[-1]
    return twin


def _placed(weights: Floats, columns: Any, n_columns: int) -> Floats:
    """Return weights of some columns as weights of all, zero for the others."""
    coef = np.zeros((*weights.shape[:-1], n_columns))
    coef[..., columns] = weights
    return coef


# Kernels --------------------------------------------------------------------------------------------------------------------


def _on_kernels(model: Any) -> Any:
    basis: KernelBasis = model.basis_
    if not isinstance(basis.kernel_, str) or basis.kernel_ == "precomputed":
        raise ValueError(
            f"scikit-learn has no exact twin of a model on kernel={quoted(basis.kernel)}: a twin holds its kernel and its centers. "
            "Use a kernel of KernelBasis that has a name and a formula."
        )
    if basis.kernel_ == "linear" or not len(basis.centers_):
        centers = basis.centers_ if len(basis.centers_) else np.zeros((0, model.n_features_in_))
        return _seen_by(model, _linear(model, model._weights @ centers))
    if isinstance(model, RelevanceVectorPoissonRegressor):
        raise ValueError(
            f"scikit-learn has no exact twin of a {type(model).__name__} on {basis.kernel_!r} kernels: its kernel models predict "
            "the log rate, and not the rate. Use to_onnx or to_c."
        )
    return _support_vectors(model) if _suits_support_vectors(model) else _process(model, basis, model._weights)


def _suits_support_vectors(model: Any) -> bool:
    basis = model.basis_
    is_whole = basis.kernel_ != "polynomial" or (float(basis.degree).is_integer() and basis.degree >= 0)
    return (
        basis.kernel_ in OF_SUPPORT_VECTORS and np.ndim(basis.gamma_) == 0 and is_whole and not isinstance(model.posterior_, list)
    )


def _support_vectors(model: Any) -> SVR:
    """Return a machine whose support vectors are the centers."""
    basis, n = model.basis_, len(model.basis_.centers_)
    degree = int(basis.degree) if basis.kernel_ == "polynomial" else 3
    twin = SVR(kernel=OF_SUPPORT_VECTORS[basis.kernel_], gamma=float(basis.gamma_), coef0=float(basis.coef0), degree=degree)
    twin.support_ = np.arange(n, dtype=np.int32)
    twin.support_vectors_ = np.ascontiguousarray(basis.centers_, dtype=np.float64)
    twin.dual_coef_ = twin._dual_coef_ = np.ascontiguousarray(model._weights[None], dtype=np.float64)
    twin.intercept_ = np.array([model.intercept_], dtype=np.float64)
    twin._intercept_ = twin.intercept_.copy()
    twin._n_support = np.array([n, 0], dtype=np.int32)
    twin._probA = twin._probB = np.empty(0)
    twin._gamma, twin._sparse = float(basis.gamma_), False
    twin.class_weight_, twin.shape_fit_ = np.empty(0), basis.centers_.shape
    twin.fit_status_, twin.n_iter_ = 0, model.n_iter_
    return _seen_by(model, twin)


def _process(model: Any, basis: KernelBasis, weights: Floats) -> Any:
    """Return a Gaussian process with the centers as its rows. If the kernel takes one width, inputs are scaled before it."""
    factors = np.asarray(basis.gamma_)
    if basis.kernel_ == "laplacian" and factors.ndim == 1:
        process = _process_of(PairwiseKernel(1.0, metric="laplacian"), basis.centers_ * factors, weights, model)
        process.n_features_in_ = model.n_features_in_
        return make_pipeline(_seen_by(model, _scaler(factors)), process)
    return _seen_by(model, _process_of(_covariance(basis), basis.centers_, weights, model))


def _scaler(factors: Floats) -> StandardScaler:
    """Return what multiplies inputs with these factors."""
    scaler = StandardScaler(with_mean=False)
    with np.errstate(divide="ignore"):  # an input that does not matter is divided by infinity
        scaler.scale_ = 1.0 / factors
    scaler.mean_, scaler.var_, scaler.n_samples_seen_ = None, scaler.scale_**2, 1
    return scaler


def _process_of(kernel: Kernel, centers: Floats, weights: Floats, model: Any) -> GaussianProcessRegressor:
    twin = GaussianProcessRegressor(kernel, optimizer=None)
    twin.kernel_, twin.X_train_, twin.alpha_ = kernel, np.asarray(centers, dtype=np.float64), weights.T
    twin.L_ = np.full((len(centers), len(centers)), np.nan)  # older versions compute with it for the mean alone, too
    twin._y_train_mean, twin._y_train_std = np.asarray(model.intercept_), np.ones(np.shape(model.intercept_))
    return twin


def _covariance(basis: KernelBasis) -> Kernel:
    """Return the kernel as scikit-learn writes it."""
    gamma: Any = basis.gamma_
    if basis.kernel_ in ("rbf", "matern32", "matern52"):
        with np.errstate(divide="ignore"):  # an input that does not matter has an infinite length
            length = 1.0 / np.sqrt(2.0 * np.asarray(gamma, dtype=np.float64))
        lengths = length if length.ndim else float(length)
        return RBF(lengths) if basis.kernel_ == "rbf" else Matern(lengths, nu=1.5 if basis.kernel_ == "matern32" else 2.5)
    if basis.kernel_ == "polynomial":
        more = {"degree": basis.degree, "coef0": basis.coef0}
    else:
        more = {"coef0": basis.coef0} if basis.kernel_ == "sigmoid" else {}
    return PairwiseKernel(1.0 if gamma is None else float(gamma), metric=basis.kernel_, pairwise_kernels_kwargs=more)


# Both -----------------------------------------------------------------------------------------------------------------------


def _seen_by(model: Any, twin: Any) -> Any:
    """Give the twin the number and the names of the inputs."""
    for name in SEEN:
        if hasattr(model, name):
            setattr(twin, name, getattr(model, name))
    return twin


def _check_foreign(label: str, *parts: Any) -> None:
    """Raise a ValueError if a part, or a part of it, is of skarce."""
    for part in parts:
        inside = part.get_params(deep=True).values() if hasattr(part, "get_params") else ()
        for one in (part, *inside):
            if type(one).__module__.split(".")[0] == "skarce":
                raise ValueError(
                    f"scikit-learn has no exact twin of this model: {label} is {type(one).__name__}, which scikit-learn does not "
                    "have. Use to_onnx or to_c."
                )

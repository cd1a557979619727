"""Well-known models of scikit-learn that ours are compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import PoissonRegressor, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from skarce._typing import Floats
from skarce.comparison.tasks import Task
from skarce.comparison.width_rules import Widths, by_parameter


def make_svr() -> Any:
    """Support vector regression on scaled targets, because the width of its tube is absolute."""
    return TransformedTargetRegressor(SVR(), transformer=StandardScaler())


def make_svc() -> Any:
    """A support vector classifier with probabilities, which are calibrated by cross-validation."""
    return CalibratedClassifierCV(SVC(), ensemble=False)


def make_poisson_splines() -> Any:
    """An additive model of counts: Poisson regression on cubic splines of each input."""
    return make_pipeline(SplineTransformer(8), PoissonRegressor(alpha=0.01, max_iter=1000))


def make_ridge() -> Any:
    """Ridge regression with a penalty chosen by leave-one-out cross-validation."""
    return RidgeCV(alphas=np.logspace(-3, 3, 13))


def make_noisy_gp() -> Any:
    """Gaussian process regression with the noise learned."""
    return GaussianProcessRegressor(kernel=_noisy_rbf(1.0), normalize_y=True)


def make_class_gp() -> Any:
    """Gaussian process classification by Laplace's approximation."""
    return GaussianProcessClassifier(_rbf(1.0))


def _rbf(length_scales: Any) -> Any:
    return 1.0 * RBF(length_scales)


def _noisy_rbf(length_scales: Any) -> Any:
    return _rbf(length_scales) + WhiteKernel()


def _learned_scales(make_kernel: Callable[[Any], Any]) -> Widths:
    """The widths of a Gaussian process, which always learns them: one length scale, or one per input."""

    def prepare(model: Any, rule: str, X: Floats, task: Task) -> Any:
        return model.set_params(kernel=make_kernel(np.ones(X.shape[1]) if rule == "ard" else 1.0))

    return Widths("evidence", ("ard", "evidence"), prepare)


WIDTHS_OF_SVR = by_parameter("regressor__gamma", ("scale", "cv"))
WIDTHS_OF_SVC = by_parameter("estimator__gamma", ("scale", "cv"))
WIDTHS_OF_NOISY_GP = _learned_scales(_noisy_rbf)
WIDTHS_OF_CLASS_GP = _learned_scales(_rbf)

"""The methods that the command line knows by name: ours, and well-known rivals from scikit-learn beside them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from skarce.basis import KernelBasis
from skarce.comparison.width_rules import NO_KERNEL, Widths, best_of, by_parameter
from skarce.estimators import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    JeffreysPriorRegressor,
    LaplacePriorRegressor,
    LocalRidgeRegressor,
    OrthogonalLeastSquaresRegressor,
    RegularizedForwardRegressor,
    RelevanceVectorRegressor,
    StepwiseRegressor,
    VBLSRegressor,
)

OF_OUR_KERNELS = by_parameter("basis__gamma")


class UnknownMethodError(ValueError):
    """A name that no method has, or that cannot be used for what was asked."""


@dataclass(frozen=True)
class Method:
    """A way to fit a table: `make()` gives a fresh, unfitted regressor for scaled inputs and targets in user units.

    By itself it chooses kernel widths by `width_rule`; `widths` says by which others it could (None: by no other), and
    `with_widths` is the method that follows one of these.
    """

    name: str
    title: str
    make: Callable[[], Any]
    is_rival: bool = False
    max_rows: int | None = None  # above, it takes minutes and gigabytes, so it runs only when it is named
    width_rule: str = "scale"
    widths: Widths | None = OF_OUR_KERNELS
    is_as_made: bool = True  # whether the width rule is what `make` does by itself

    def with_widths(self, rule: str) -> Method:
        """The same method with kernel widths by another rule, or by the nearest one that it can follow."""
        return self if self.widths is None else replace(self, width_rule=self.widths.nearest(rule), is_as_made=False)

    def fit(self, X: Any, y: Any, **parameters: Any) -> Any:
        """A fitted regressor, its kernel widths chosen by the rule."""
        model = self.make().set_params(**parameters)
        if self.widths is not None and not self.is_as_made:
            model = self.widths.prepare(model, self.width_rule, X)
        return best_of(model, X, y) if isinstance(model, GridSearchCV) else model.fit(X, y)


def _svr() -> Any:
    return TransformedTargetRegressor(SVR(), transformer=StandardScaler())


def _ridge() -> Any:
    return RidgeCV(alphas=np.logspace(-3, 3, 13))


def _gaussian_process() -> Any:
    return GaussianProcessRegressor(kernel=_noisy_rbf(1.0), normalize_y=True)


def _noisy_rbf(length_scales: Any) -> Any:
    return 1.0 * RBF(length_scales) + WhiteKernel()


def _with_length_scales(model: Any, rule: str, X: Any) -> Any:
    """A Gaussian process always learns: one length scale, or one per input."""
    return model.set_params(kernel=_noisy_rbf(np.ones(X.shape[1]) if rule == "ard" else 1.0))


OF_SVR = by_parameter("regressor__gamma", ("scale", "cv"))
OF_GAUSSIAN_PROCESS = Widths(("ard", "evidence"), _with_length_scales)


def _gps() -> Any:
    return EvidenceRegressor(KernelBasis(gamma="ard"))


def _gps_u() -> Any:
    return EvidenceRegressor(KernelBasis(gamma="evidence"))


def _gps_be() -> Any:
    return BackwardEliminationRegressor(KernelBasis(gamma="ard"))


_ALL = (
    Method("frvm", "relevance vector machine, fast", RelevanceVectorRegressor),
    Method("rvm", "relevance vector machine, EM (Tipping 2001)", lambda: RelevanceVectorRegressor(solver="em"), max_rows=3000),
    Method("fgcv", "generalized cross validation, one ridge per weight", FastGCVRegressor),
    Method("orr", "local smoothing (Orr 1995)", LocalRidgeRegressor, max_rows=1000),
    Method("rfs", "regularised forward selection by GCV (Orr 1995)", RegularizedForwardRegressor),
    Method("ols", "orthogonal least squares, stopped by GCV (Chen et al. 1991)", OrthogonalLeastSquaresRegressor),
    Method("ssge-forward", "evidence, one precision, forward (Barrio et al.)", EvidenceSearchRegressor, max_rows=3000),
    Method("ssge-pta", "the same, two in, one out", partial(EvidenceSearchRegressor, search="plus-take-away"), max_rows=3000),
    Method("ssge-floating", "the same, floating", partial(EvidenceSearchRegressor, search="floating"), max_rows=1000),
    Method("ssge-oscillating", "the same, oscillating", partial(EvidenceSearchRegressor, search="oscillating"), max_rows=3000),
    Method("abf", "all basis functions, one precision by evidence", EvidenceRegressor, max_rows=3000),
    Method("gps", "all functions, a width per input by evidence", _gps, max_rows=1000, width_rule="ard", widths=None),
    Method("gps-u", "all functions, one width by evidence", _gps_u, max_rows=1000, width_rule="evidence", widths=None),
    Method("gps-be", "gps, then backward elimination (Bo et al.)", _gps_be, max_rows=1000, width_rule="ard"),
    Method("skr", "L1 penalty by GCV, lasso on kernels (Park)", LaplacePriorRegressor),
    Method("as", "Jeffreys prior, adaptive sparseness (Figueiredo 2003)", JeffreysPriorRegressor, max_rows=3000),
    Method(
        "vbls",
        "variational Bayesian least squares, linear (Ting et al.)",
        VBLSRegressor,
        width_rule=NO_KERNEL,
        widths=None,
    ),
    Method("vbls-rvm", "the same on kernels", partial(VBLSRegressor, "rbf"), max_rows=3000),
    Method(
        "stepwise",
        "stepwise regression by F tests, the classical rival",
        StepwiseRegressor,
        width_rule=NO_KERNEL,
        widths=None,
    ),
    Method("svr", "support vector regression, C=1, target scaled", _svr, is_rival=True, widths=OF_SVR),
    Method(
        "gp",
        "Gaussian process, RBF and noise",
        _gaussian_process,
        is_rival=True,
        max_rows=3000,
        width_rule="evidence",
        widths=OF_GAUSSIAN_PROCESS,
    ),
    Method("ridge", "ridge regression, cross-validated", _ridge, is_rival=True, width_rule=NO_KERNEL, widths=None),
    Method("lasso", "lasso, cross-validated", LassoCV, is_rival=True, width_rule=NO_KERNEL, widths=None),
)
METHODS = {method.name: method for method in _ALL}


def find_methods(names: Iterable[str], known: Mapping[str, Method] = METHODS, choices: str | None = None) -> list[Method]:
    """The methods of these names, each once, in this order. The error lists the `choices`, by default all that are known."""
    wanted = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        problem = f"unknown method {', '.join(map(repr, unknown))}" if unknown else "no method was named"
        raise UnknownMethodError(f"{problem}; choose from {choices or ', '.join(known)}.")
    return [known[name] for name in wanted]


def find_own_method(name: str, known: Mapping[str, Method] = METHODS, choices: str | None = None) -> Method:
    """One of our methods; rivals are there for comparison only. The error lists the `choices`, by default all of ours."""
    method = known.get(name)
    if method is None or method.is_rival:
        problem = f"unknown method {name!r}" if method is None else f"{name!r} is a rival, which can only be compared"
        raise UnknownMethodError(f"{problem}; choose from {choices or ', '.join(own_names(known))}.")
    return method


def own_names(known: Mapping[str, Method] = METHODS) -> list[str]:
    """The names of the methods that are not rivals."""
    return [method.name for method in known.values() if not method.is_rival]


def count_functions(model: Any) -> int:
    """How many basis functions a fitted regressor evaluates in a prediction.

    Active functions (ours), support vectors, the training rows of a Gaussian process, or coefficients that are not zero; of a
    pipeline those of its last step, of a guess that looks at no input none.
    """
    if isinstance(model, Pipeline):
        return count_functions(model[-1])
    if isinstance(model, DummyClassifier):
        return 0
    if isinstance(model, TransformedTargetRegressor):
        return count_functions(model.regressor_)
    if hasattr(model, "best_estimator_"):
        return count_functions(model.best_estimator_)
    for attribute in ("active_", "support_", "X_train_"):
        if hasattr(model, attribute):
            return len(getattr(model, attribute))
    return int(np.count_nonzero(model.coef_))


def gives_std(model: Any) -> bool:
    """Whether `predict(X, return_std=True)` says how far a new observation may be from the prediction."""
    return "return_std" in inspect.signature(model.predict).parameters

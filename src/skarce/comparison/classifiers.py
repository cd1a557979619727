"""The classifiers that the command line knows by name: ours, and well-known rivals beside them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from skarce.comparison.registry import Method, count_functions
from skarce.comparison.width_rules import NO_KERNEL, Widths, by_parameter
from skarce.estimators import RelevanceVectorClassifier, VBLSClassifier

SCORING = "neg_log_loss"
OF_OUR_KERNELS = by_parameter("basis__gamma", scoring=SCORING)
OF_SVC = by_parameter("estimator__gamma", ("scale", "cv"), scoring=SCORING)


def _svc() -> Any:
    return CalibratedClassifierCV(SVC(), ensemble=False)


def _gaussian_process() -> Any:
    return GaussianProcessClassifier(1.0 * RBF())


def _with_length_scales(model: Any, rule: str, X: Any) -> Any:
    """A Gaussian process always learns: one length scale, or one per input."""
    return model.set_params(kernel=1.0 * RBF(np.ones(X.shape[1]) if rule == "ard" else 1.0))


_ALL = (
    Method("frvm", "relevance vector machine, fast", RelevanceVectorClassifier, widths=OF_OUR_KERNELS),
    Method(
        "rvm",
        "relevance vector machine, EM (Tipping 2001)",
        partial(RelevanceVectorClassifier, solver="em"),
        max_rows=1000,
        widths=OF_OUR_KERNELS,
    ),
    Method(
        "vbls", "variational bound, linear (Ting et al.)", partial(VBLSClassifier, "passthrough"), width_rule=NO_KERNEL, widths=None
    ),
    Method("vbls-rvm", "the same on kernels", VBLSClassifier, max_rows=3000, widths=OF_OUR_KERNELS),
    Method("svc", "support vector machine, C=1, calibrated by cross validation", _svc, is_rival=True, widths=OF_SVC),
    Method(
        "gp",
        "Gaussian process, RBF",
        _gaussian_process,
        is_rival=True,
        max_rows=1000,
        width_rule="evidence",
        widths=Widths(("ard", "evidence"), _with_length_scales),
    ),
    Method("logistic", "logistic regression, C=1", LogisticRegression, is_rival=True, width_rule=NO_KERNEL, widths=None),
)
CLASSIFIERS = {method.name: method for method in _ALL}


def count_class_functions(model: Any) -> int:
    """How many basis functions a fitted classifier evaluates in a prediction, those of all classes together."""
    if isinstance(model, CalibratedClassifierCV):
        return count_functions(model.calibrated_classifiers_[0].estimator)
    if isinstance(model, GaussianProcessClassifier):
        machine = model.base_estimator_
        return len(getattr(machine, "estimators_", [machine])[0].X_train_)
    return count_functions(model)

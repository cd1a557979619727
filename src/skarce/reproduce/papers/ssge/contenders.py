"""The methods of the paper on searches guided by the evidence. The model with all functions (ABF) learns the widths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from skarce._typing import Floats
from skarce.estimators import EvidenceSearchRegressor, OrthogonalLeastSquaresRegressor, RelevanceVectorRegressor
from skarce.reproduce.papers.kernel_contenders import learning_widths, on_learned_widths
from skarce.reproduce.runner.paper import Contender

SEARCHES = ("pta10", "pta21", "sffs", "oscillating5")
OPERATIONS, REJECTED, EVIDENCE = "added + removed", "rejected", "log evidence"  # names of the recorded numbers
SVM_CHOICES = tuple((cost, tube) for cost in (0.1, 1.0, 10.0, 100.0) for tube in (0.01, 0.03, 0.1, 0.3))
QUICK_SVM_CHOICES = tuple((cost, tube) for cost in (1.0, 10.0) for tube in (0.03, 0.1))


def contenders(quick: bool) -> tuple[Contender, ...]:
    """All methods. The quick version has fewer choices for the support vector machine."""
    svm_choices = QUICK_SVM_CHOICES if quick else SVM_CHOICES
    return (
        _searching("pta10", "PTA(1,0)", "forward"),
        _searching("pta21", "PTA(2,1)", "plus-take-away"),
        _searching("sffs", "SFFS", "floating"),
        _searching("oscillating5", "Oscillating(5)", "oscillating"),
        Contender(
            "abf",
            "all basis functions",
            learning_widths("ard", fit_intercept=False),
            learned=lambda model: model.basis_.gamma_,
        ),
        _without_constant("rvm", "fast relevance vector machine", RelevanceVectorRegressor),
        Contender("svm", "support vector machine", _svm, svm_choices, follows="abf"),
        _without_constant("ols", "orthogonal least squares", OrthogonalLeastSquaresRegressor),
    )


def _without_constant(name: str, title: str, estimator: Callable[..., Any]) -> Contender:
    return Contender(name, title, on_learned_widths(estimator, fit_intercept=False), follows="abf")


def _searching(name: str, printed_as: str, search: str) -> Contender:
    extras: dict[str, Callable[[Any], float]] = {OPERATIONS: n_operations, EVIDENCE: lambda model: model.criterion_}
    if search == "floating":
        extras |= {OPERATIONS: lambda model: n_operations(model) - n_taken_back(model), REJECTED: n_taken_back}
    make = on_learned_widths(EvidenceSearchRegressor, fit_intercept=False, search=search, start="empty")
    return Contender(name, f"evidence search, {search}", make, follows="abf", extras=extras, printed_as=printed_as)


def n_operations(model: Any) -> int:
    """The number of additions and removals, including those that were taken back."""
    return int(np.isin(model.trace_["action"], ("add", "delete")).sum())


def n_taken_back(model: Any) -> int:
    """The number of removals that a floating search tried and rejected."""
    return int((model.trace_["action"] == "undo").sum())


@dataclass(frozen=True)
class GaussianKernel:
    """exp(-sum_p gamma_p (x_p - c_p)^2), for the support vector machine."""

    gamma: tuple[float, ...]

    def __call__(self, X: Floats, C: Floats) -> Floats:
        roots = np.sqrt(self.gamma)
        return rbf_kernel(X * roots, C * roots, gamma=1.0)


def _svm(choice: tuple[float, float], gamma: tuple[float, ...]) -> SVR:
    cost, tube = choice
    return SVR(kernel=GaussianKernel(gamma), C=cost, epsilon=tube)

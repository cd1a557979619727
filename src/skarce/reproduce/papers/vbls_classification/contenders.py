"""The methods of the part on classification."""

from __future__ import annotations

from typing import Any

from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skarce.basis import KernelBasis
from skarce.estimators import PrimalSVMClassifier, RelevanceVectorClassifier, VBLSClassifier
from skarce.reproduce.papers.kernel_contenders import on_kernels
from skarce.reproduce.runner.paper import Contender

SMALL = ("rvm", "frvm", "vbls-rvm", "vbls-fake", "svm", "psvm", "logistic", "klr")  # methods on the small tables
LARGE = ("psvm", "svm", "frvm", "vbls-rvm", "rvm", "logistic", "never")  # methods on MNIST
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
COSTS = (1.0, 10.0, 100.0, 1000.0)


def contenders(quick: bool) -> tuple[Contender, ...]:
    """All methods. Their choices begin with the simplest, because the first of equally good choices wins.

    The quick version has every second width and cost.
    """
    widths, costs = (WIDTHS[::2], COSTS[::2]) if quick else (WIDTHS, COSTS)
    width_and_cost = tuple((width, cost) for width in widths for cost in costs)
    fast, original = on_kernels(RelevanceVectorClassifier), on_kernels(RelevanceVectorClassifier, solver="em")
    factorized = on_kernels(VBLSClassifier, centers="auto", factorized=True)
    return (
        Contender("rvm", "relevance vector machine", original, widths),
        Contender("frvm", "fast relevance vector machine", fast, widths, printed_as="fast RVM"),
        Contender("vbls-rvm", "variational, on kernels", on_kernels(VBLSClassifier, centers="auto"), widths),
        Contender("vbls-fake", "the paper's form", factorized, widths, printed_as="factorized VBLS-RVM"),
        Contender("svm", "support vector machine", _svm, width_and_cost),
        Contender("psvm", "the same in the primal, on few kernels", _primal_svm, width_and_cost, printed_as="primal SVM"),
        Contender("logistic", "logistic regression", _logistic, costs, printed_as="logistic"),
        Contender("klr", "logistic regression on kernels", _kernel_logistic, width_and_cost, printed_as="kernel logistic"),
        Contender("never", "the most frequent class", _most_frequent, printed_as="never zero"),
    )


def _svm(choice: tuple[float, float]) -> SVC:
    gamma, cost = choice
    return SVC(gamma=gamma, C=cost)


def _primal_svm(choice: tuple[float, float]) -> PrimalSVMClassifier:
    gamma, cost = choice
    return PrimalSVMClassifier(KernelBasis(gamma=gamma, centers=None), C=cost, calibrate_proba=False, random_state=0)


def _logistic(cost: float) -> LogisticRegression:
    return LogisticRegression(C=cost, max_iter=5000)


def _kernel_logistic(choice: tuple[float, float]) -> Any:
    gamma, cost = choice
    return make_pipeline(KernelBasis(gamma=gamma), _logistic(cost))


def _most_frequent(choice: None) -> DummyClassifier:
    return DummyClassifier(strategy="most_frequent")

"""Barrio, Romero and Belanche: searches guided by the evidence beside all functions, RVM, SVM and OLS on eight DELVE prototasks.

One width per input is learned by the evidence of the model with all functions (ABF) and shared by all methods on the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from skarce import datasets
from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.reproduce.papers.ssge import tables as ssge_tables
from skarce.reproduce.papers.ssge.tables import EVIDENCE, LARGEST, OPERATIONS, PROTOTASKS, REJECTED
from skarce.reproduce.runner.pair_tests import T_TEST
from skarce.reproduce.runner.paper import Contender, Experiment, Paper, Parts, Printed

REFERENCE = (
    "I. Barrio, E. Romero and L. Belanche, Search Strategies Guided by the Evidence for the Selection of Basis Functions in "
    "Regression"
)
SIZES = (64, 128, 256, 512, 1024)
QUICK_SIZES, QUICK_REPEATS = (64, 256), 2
SVM_CHOICES = tuple((cost, tube) for cost in (0.1, 1.0, 10.0, 100.0) for tube in (0.01, 0.03, 0.1, 0.3))
QUICK_SVM_CHOICES = tuple((cost, tube) for cost in (1.0, 10.0) for tube in (0.03, 0.1))
HALF = 4096  # rows for training; as many are for testing

# Tables II and III, in the order of the prototasks.
FUNCTIONS = {
    "pta10": (39, 80, 59, 68, 48, 71, 120, 264),
    "pta21": (11, 59, 24, 34, 39, 46, 103, 203),
    "sffs": (2.5, 4.5, 8.5, 13, 10, 22, 76, 159),
    "oscillating5": (39, 80, 59, 68, 48, 71, 120, 264),
    "rvm": (3.5, 6.5, 9.0, 13, 9.2, 24, 90, 185),
    "svm": (593, 726, 668, 608, 708, 667, 682, 836),
    "ols": (11, 14, 15, 26, 18, 35, 49, 169),
}
ADDED_AND_REMOVED = {
    "pta10": (56, 107, 79, 88, 65, 92, 155, 343),
    "pta21": (78, 238, 118, 148, 162, 183, 403, 791),
    "sffs": (132, 344, 190, 361, 330, 381, 2051, 5892),
    "oscillating5": (205, 308, 256, 250, 224, 311, 433, 738),
}

NOTES = (
    "Rows: DELVE's own instances do not come with the tables of 8192 rows, so they are cut anew. The rows are shuffled by the "
    "seed; one half is for training and one for testing. A task has eight instances (four at 1024 rows), whose training sets share "
    "no rows, nor do their test sets, of 512 rows each (1024 at 1024 rows).",
    "Inputs and targets are scaled to [-1, 1] by the training rows. Only the SVM has a constant, which it always has.",
    "Widths: one per input, by the evidence of the model with all functions (ABF), which learns them on 1000 rows at most; all "
    "other methods of the same instance are given them.",
    "The searches re-estimate precision and noise to the maximum of the evidence after every step. The paper stops at a tenth of "
    "the width of the maximum, so that one set may have several evidences and a search may go in circles.",
    "Added + removed: what was taken back counts in Oscillating(5), whose swings are made and judged as a whole; in SFFS the "
    "removals that were tried and rejected are counted apart. The paper does not say what it counts.",
    "SVM: C and the tube (on the scaled targets) by five-fold cross validation. OLS is stopped by GCV, RVM is the fast relevance "
    "vector machine; the paper does not say how it stopped OLS and tuned the SVM.",
)


def paper(quick: bool = False) -> Paper:
    """All 40 tasks with all their instances, or a taste of it: two sizes, two instances, and fewer choices for the SVM."""
    sizes = QUICK_SIZES if quick else SIZES
    experiments = tuple(delve_task(prototask, size) for prototask in PROTOTASKS for size in sizes)
    return Paper(
        name="ssge",
        title="Search strategies guided by the evidence",
        reference=REFERENCE,
        experiments=experiments,
        contenders=_contenders(QUICK_SVM_CHOICES if quick else SVM_CHOICES),
        pair_test=T_TEST,
        input_range=(-1.0, 1.0),
        target_range=(-1.0, 1.0),
        repeats=dict.fromkeys((experiment.name for experiment in experiments), QUICK_REPEATS) if quick else {},
        printed={task_name(prototask, LARGEST): _printed(place) for place, prototask in enumerate(PROTOTASKS)},
        baseline="pta10",
        average="mean",
        choice_heading="C and tube",
        notes=NOTES,
        overview=ssge_tables.overview,
        pictures=(ssge_tables.draw,),
        in_detail=False,
    )


def task_name(prototask: str, size: int) -> str:
    return f"{prototask}-{size}"


def delve_task(prototask: str, size: int) -> Experiment:
    """A prototask with a number of training rows, cut into instances."""
    n_instances, n_test = (4, 1024) if size == LARGEST else (8, 512)
    return Experiment(
        task_name(prototask, size),
        f"{prototask}, {size} rows",
        n_instances,
        disjoint_rows(prototask, size, n_test),
        disjoint=True,
    )


def disjoint_rows(prototask: str, n_train: int, n_test: int) -> Callable[[np.random.Generator, int], Parts]:
    """Training rows from one half of a table, test rows from the other, none of them in two instances."""

    def draw(rng: np.random.Generator, instance: int) -> Parts:
        X, y, *_ = datasets.load(prototask)
        order = rng.permutation(len(y))
        train = order[:HALF][instance * n_train : (instance + 1) * n_train]
        test = order[HALF:][instance * n_test : (instance + 1) * n_test]
        if len(train) < n_train or len(test) < n_test:
            raise ValueError(f"{prototask} has no rows left for instance {instance} of {n_train} rows.")
        return X[train], y[train], X[test], y[test]

    return draw


@dataclass(frozen=True)
class GaussianKernel:
    """exp(-sum_p gamma_p (x_p - c_p)^2), for the support vector machine."""

    gamma: tuple[float, ...]

    def __call__(self, X: Floats, C: Floats) -> Floats:
        roots = np.sqrt(self.gamma)
        return rbf_kernel(X * roots, C * roots, gamma=1.0)


def _contenders(svm_choices: tuple[tuple[float, float], ...]) -> tuple[Contender, ...]:
    return (
        _searching("pta10", "PTA(1,0)", "forward"),
        _searching("pta21", "PTA(2,1)", "plus-take-away"),
        _searching("sffs", "SFFS", "floating"),
        _searching("oscillating5", "Oscillating(5)", "oscillating"),
        Contender("abf", "all basis functions", _abf, learned=lambda model: model.basis_.gamma_),
        Contender("rvm", "fast relevance vector machine", _on_given_widths("RelevanceVectorRegressor"), follows="abf"),
        Contender("svm", "support vector machine", _svm, svm_choices, follows="abf"),
        Contender("ols", "orthogonal least squares", _on_given_widths("OrthogonalLeastSquaresRegressor"), follows="abf"),
    )


def _searching(name: str, printed_as: str, search: str) -> Contender:
    extras: dict[str, Callable[[Any], float]] = {OPERATIONS: n_operations, EVIDENCE: lambda model: model.criterion_}
    if search == "floating":
        extras |= {OPERATIONS: lambda model: n_operations(model) - n_taken_back(model), REJECTED: n_taken_back}
    make = _on_given_widths("EvidenceSearchRegressor", search=search)
    return Contender(name, f"evidence search, {search}", make, follows="abf", extras=extras, printed_as=printed_as)


def _abf(choice: None) -> Any:
    import skarce

    return skarce.EvidenceRegressor(KernelBasis(gamma="ard"), fit_intercept=False, random_state=0)


def _svm(choice: tuple[float, float], gamma: tuple[float, ...]) -> SVR:
    cost, tube = choice
    return SVR(kernel=GaussianKernel(gamma), C=cost, epsilon=tube)


def _on_given_widths(estimator: str, **parameters: Any) -> Callable[[None, tuple[float, ...]], Any]:
    """Makes one of our estimators on Gaussian kernels of given widths at the training inputs."""

    def make(choice: None, gamma: tuple[float, ...]) -> Any:
        import skarce

        return getattr(skarce, estimator)(KernelBasis(gamma=np.array(gamma)), fit_intercept=False, **parameters)

    return make


def n_operations(model: Any) -> int:
    """Additions and removals, those that were taken back among them."""
    return int(np.isin(model.trace_["action"], ("add", "delete")).sum())


def n_taken_back(model: Any) -> int:
    """The removals that a floating search tried and rejected."""
    return int((model.trace_["action"] == "undo").sum())


def _printed(place: int) -> dict[str, Printed]:
    return {
        method: Printed(
            n_functions=row[place],
            extras={OPERATIONS: ADDED_AND_REMOVED[method][place]} if method in ADDED_AND_REMOVED else {},
        )
        for method, row in FUNCTIONS.items()
    }

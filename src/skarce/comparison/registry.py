"""The methods that can be compared by name, for every task: ours, and well-known rivals. A new method is one more line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sklearn.linear_model import LassoCV, LogisticRegression, PoissonRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skarce.basis import KernelBasis
from skarce.basis.default import AUTO, LEARNED_WIDTHS, QUICK
from skarce.comparison import rivals
from skarce.comparison.components import make_pcr, make_pls
from skarce.comparison.tasks import CLASSIFICATION, COUNTS, REGRESSION, TASKS, Task
from skarce.comparison.width_rules import NO_KERNEL, NO_WIDTHS, OUR_KERNELS, QUICK_RULE, Widths, best_of
from skarce.estimators import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    JeffreysPriorRegressor,
    JointFactorRegressor,
    KernelDimensionReduction,
    KernelMatchingPursuitClassifier,
    KernelMatchingPursuitRegressor,
    LaplacePriorRegressor,
    LocalRidgeRegressor,
    LWPRRegressor,
    OrthogonalLeastSquaresRegressor,
    PrimalSVMClassifier,
    RegularizedForwardRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    StepwiseRegressor,
    VBLSClassifier,
    VBLSRegressor,
)


class UnknownMethodError(ValueError):
    """A name that no method has, or that cannot be used for what was asked."""


@dataclass(frozen=True)
class Method:
    """A way to fit a table: `make()` gives a new, unfitted model for scaled inputs and targets in user units.

    `widths` says how its kernel widths are chosen by default, and by which other rules they can be; `with_widths` gives the
    method that follows one of these, and `with_basis` the method on another basis.
    """

    name: str
    task: Task
    title: str
    make: Callable[[], Any]
    widths: Widths = OUR_KERNELS
    is_rival: bool = False
    max_rows: int | None = None  # with more rows it takes minutes and gigabytes, so it runs only if it is named
    chosen_rule: str | None = None  # the rule for widths, if it is not the default
    chosen_basis: str | None = None  # the name of the basis, if it is not the default

    @property
    def width_rule(self) -> str:
        """The rule by which kernel widths are chosen."""
        by_default = QUICK_RULE if self.chosen_basis == QUICK else self.widths.default
        return by_default if self.chosen_rule is None else self.chosen_rule

    @property
    def uses_default_widths(self) -> bool:
        """Whether kernel widths are chosen as `make` does it."""
        return self.chosen_rule is None

    @property
    def has_kernels(self) -> bool:
        """Whether the model is made of kernels."""
        return self.widths.default != NO_KERNEL

    @property
    def has_basis(self) -> bool:
        """Whether it can be told which basis to use: its kernels are chosen by default."""
        return self.has_kernels and not self.is_rival and self.widths.default == LEARNED_WIDTHS

    @property
    def takes_budget(self) -> bool:
        """Whether it can be told how many functions to keep."""
        return "n_basis" in self.make().get_params(deep=False)

    def is_quick_on(self, n_rows: int) -> bool:
        """Whether it fits this many rows without minutes and gigabytes."""
        return self.max_rows is None or n_rows <= self.max_rows

    def with_widths(self, rule: str) -> Method:
        """The same method with kernel widths by another rule, or by the nearest rule that it can follow."""
        return replace(self, chosen_rule=self.widths.nearest(rule)) if self.widths.rules else self

    def with_basis(self, name: str) -> Method:
        """The same method on the basis of this name, or the method itself if its basis is always the same."""
        return replace(self, chosen_basis=name) if self.has_basis and name != AUTO else self

    def prepared(self, X: Any, **parameters: Any) -> Any:
        """An unfitted model on the basis, with kernel widths by the rule: a search if the rule is cross-validation on X."""
        basis = {} if self.chosen_basis is None else {"basis": self.chosen_basis}
        model = self.make().set_params(**basis, **parameters)
        return model if self.uses_default_widths else self.widths.prepare(model, self.width_rule, X, self.task)

    def fit(self, X: Any, y: Any, **parameters: Any) -> Any:
        """A fitted model on the basis, with kernel widths by the rule."""
        model = self.prepared(X, **parameters)
        return best_of(model, X, y) if isinstance(model, GridSearchCV) else model.fit(X, y)


def _ssge(search: str) -> Callable[[], Any]:
    return partial(EvidenceSearchRegressor, search=search)


def _gps(gamma: str) -> Callable[[], Any]:
    return lambda: EvidenceRegressor(KernelBasis(gamma=gamma))


def _kdr() -> Any:
    return make_pipeline(KernelDimensionReduction(), RelevanceVectorRegressor())


_rvm, _rvm_classes = partial(RelevanceVectorRegressor, solver="em"), partial(RelevanceVectorClassifier, solver="em")
_vbls_rvm, _vbls_classes = partial(VBLSRegressor, AUTO), partial(VBLSClassifier, "passthrough")
_rvm_counts = partial(RelevanceVectorPoissonRegressor, solver="em")
_rival = partial(Method, is_rival=True)
_lwpr = partial(LWPRRegressor, random_state=0)

_ALL = (
    Method("frvm", REGRESSION, "relevance vector machine, fast", RelevanceVectorRegressor),
    Method("rvm", REGRESSION, "relevance vector machine, EM (Tipping 2001)", _rvm, max_rows=3000),
    Method("fgcv", REGRESSION, "generalized cross-validation, one ridge per weight", FastGCVRegressor),
    Method("orr", REGRESSION, "local smoothing (Orr 1995)", LocalRidgeRegressor, max_rows=1000),
    Method("rfs", REGRESSION, "regularized forward selection by GCV (Orr 1995)", RegularizedForwardRegressor),
    Method("ols", REGRESSION, "orthogonal least squares, stopped by GCV (Chen et al. 1991)", OrthogonalLeastSquaresRegressor),
    Method("kmp", REGRESSION, "kernel matching pursuit, back-fitting (Vincent and Bengio 2002)", KernelMatchingPursuitRegressor),
    Method("ssge-forward", REGRESSION, "evidence, one precision, forward search (Barrio et al.)", _ssge("forward"), max_rows=3000),
    Method("ssge-pta", REGRESSION, "evidence, one precision, two steps forward, one back", _ssge("plus-take-away"), max_rows=3000),
    Method("ssge-floating", REGRESSION, "evidence, one precision, floating search", _ssge("floating"), max_rows=1000),
    Method("ssge-oscillating", REGRESSION, "evidence, one precision, oscillating search", _ssge("oscillating"), max_rows=3000),
    Method("abf", REGRESSION, "all basis functions, one precision by evidence", EvidenceRegressor, max_rows=3000),
    Method("gps", REGRESSION, "all rbf functions, one width per input by evidence", _gps("ard"), Widths("ard"), max_rows=1000),
    Method("gps-u", REGRESSION, "all rbf functions, one width by evidence", _gps("evidence"), Widths("evidence"), max_rows=1000),
    Method("gps-be", REGRESSION, "abf, then backward elimination (Bo et al.)", BackwardEliminationRegressor, max_rows=1000),
    Method("skr", REGRESSION, "L1 penalty by GCV, a lasso on kernels (Park)", LaplacePriorRegressor),
    Method("as", REGRESSION, "Jeffreys prior, adaptive sparseness (Figueiredo 2003)", JeffreysPriorRegressor, max_rows=3000),
    Method("vbls", REGRESSION, "variational Bayesian least squares, linear (Ting et al.)", VBLSRegressor, NO_WIDTHS),
    Method("vbls-rvm", REGRESSION, "variational Bayesian least squares on kernels", _vbls_rvm, max_rows=3000),
    Method("stepwise", REGRESSION, "stepwise regression by F tests, the classic", StepwiseRegressor, NO_WIDTHS),
    _rival("svr", REGRESSION, "support vector regression, C=1, target scaled", rivals.make_svr, rivals.WIDTHS_OF_SVR),
    _rival("gp", REGRESSION, "Gaussian process, RBF and noise", rivals.make_noisy_gp, rivals.WIDTHS_OF_NOISY_GP, max_rows=3000),
    _rival("ridge", REGRESSION, "ridge regression, cross-validated", rivals.make_ridge, NO_WIDTHS),
    _rival("lasso", REGRESSION, "lasso, cross-validated", LassoCV, NO_WIDTHS),
    _rival("lwpr", REGRESSION, "locally weighted projection regression", _lwpr, NO_WIDTHS),
    _rival("pcr", REGRESSION, "principal component regression, cross-validated", make_pcr, NO_WIDTHS),
    _rival("pls", REGRESSION, "partial least squares, cross-validated", make_pls, NO_WIDTHS),
    _rival("fa", REGRESSION, "factor analysis of inputs and target", JointFactorRegressor, NO_WIDTHS),
    _rival("kdr", REGRESSION, "kernel dimension reduction, then a relevance vector machine", _kdr, Widths(LEARNED_WIDTHS)),
    Method("frvm", CLASSIFICATION, "relevance vector machine, fast", RelevanceVectorClassifier),
    Method("rvm", CLASSIFICATION, "relevance vector machine, EM (Tipping 2001)", _rvm_classes, max_rows=1000),
    Method("vbls", CLASSIFICATION, "variational bound, linear (Ting et al.)", _vbls_classes, NO_WIDTHS),
    Method("vbls-rvm", CLASSIFICATION, "variational bound, on kernels", VBLSClassifier, max_rows=3000),
    Method("kmp", CLASSIFICATION, "kernel matching pursuit, logistic loss", KernelMatchingPursuitClassifier),
    Method("psvm", CLASSIFICATION, "support vector machine with few functions (Keerthi et al. 2006)", PrimalSVMClassifier),
    _rival("svc", CLASSIFICATION, "support vector machine, C=1, calibrated", rivals.make_svc, rivals.WIDTHS_OF_SVC),
    _rival("gp", CLASSIFICATION, "Gaussian process, RBF", rivals.make_class_gp, rivals.WIDTHS_OF_CLASS_GP, max_rows=1000),
    _rival("logistic", CLASSIFICATION, "logistic regression, C=1", LogisticRegression, NO_WIDTHS),
    Method("frvm", COUNTS, "relevance vector machine for counts, fast", RelevanceVectorPoissonRegressor),
    Method("rvm", COUNTS, "relevance vector machine for counts, EM", _rvm_counts, max_rows=1000),
    _rival("poisson", COUNTS, "Poisson regression, linear, alpha=1", PoissonRegressor, NO_WIDTHS),
    _rival("splines", COUNTS, "Poisson regression on splines of each input", rivals.make_poisson_splines, NO_WIDTHS),
)
METHODS = {task: {method.name: method for method in _ALL if method.task is task} for task in TASKS.values()}

# Estimators of ours whose models have no active functions, so commands cannot save and explain them.
IN_PYTHON = {
    "lwpr": "skarce.LWPRRegressor",
    "fa": "skarce.JointFactorRegressor",
    "kdr": "skarce.KernelDimensionReduction before another regressor",
}


def find_methods(names: Iterable[str], task: Task | None = None) -> list[Method]:
    """The methods of these names, each once, in this order. Without a task, a name may be that of any task."""
    wanted = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not wanted:
        raise UnknownMethodError(f"no method was named; choose from {choices(all_names, task)}.")
    return _found(wanted, task, all_names)


def find_own_method(name: str, task: Task | None = None) -> Method:
    """The method of this name, which must not be one that can only be compared."""
    namesakes = [known[name] for known in METHODS.values() if name in known]
    if namesakes and all(method.is_rival for method in namesakes):
        why = f"{name!r} is a rival and can only be compared"
        if name in IN_PYTHON:
            why = f"{name!r} can only be compared (in Python, it is {IN_PYTHON[name]}): commands cannot save and explain its models"
        raise UnknownMethodError(f"{why}; choose from {choices(own_names, task)}.")
    (method,) = _found([name], task, own_names)
    return method


def all_names(task: Task) -> list[str]:
    """The names of all methods for a task."""
    return list(METHODS[task])


def own_names(task: Task) -> list[str]:
    """The names of the methods for a task that are not rivals."""
    return [method.name for method in METHODS[task].values() if not method.is_rival]


def choices(listed: Callable[[Task], list[str]], task: Task | None = None) -> str:
    """The names that `listed` gives for a task, comma-separated; without a task, those for every task."""
    if task is not None:
        return ", ".join(listed(task))
    return "; ".join(f"{', '.join(names)} (for {each.target.value})" for each in TASKS.values() if (names := listed(each)))


def _found(names: list[str], task: Task | None, listed: Callable[[Task], list[str]]) -> list[Method]:
    """The methods, or an error that lists those of the task, or of each task if none is given."""
    known = {name: method for each in TASKS.values() for name, method in METHODS[each].items()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UnknownMethodError(f"unknown method {', '.join(map(repr, unknown))}; choose from {choices(listed, task)}.")
    if task is None:
        return [known[name] for name in names]
    misplaced = [name for name in names if name not in METHODS[task]]
    if misplaced:
        raise UnknownMethodError(f"{', '.join(misplaced)} cannot be used for {task.name}; choose from {choices(listed, task)}.")
    return [METHODS[task][name] for name in names]

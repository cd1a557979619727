"""The methods of the paper on variational least squares: on the inputs themselves, and on kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LassoCV, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from skarce.estimators import LWPRRegressor, RelevanceVectorRegressor, StepwiseRegressor, VBLSRegressor
from skarce.reproduce.papers.gaussian_process import LeanGaussianProcess
from skarce.reproduce.papers.kernel_contenders import on_kernels
from skarce.reproduce.papers.vbls.data import N_RELEVANT
from skarce.reproduce.papers.vbls.model_search import ModelSearch
from skarce.reproduce.runner.paper import Contender

LINEAR = ("vbls", "vbls-bound", "vbls-both", "ridge", "stepwise", "pls", "lasso")
SPARSE = ("vbls", "vbls-bound", "vbls-both", "stepwise", "lasso")
SEARCHING = ("vbls", "vbls-bound", "vbls-both", "stepwise", "pls", "lasso", "search")
ON_KERNELS = ("vbls-rvm", "rvm", "svr", "gp", "lwpr")  # the last one has local models in place of kernels
WIDTHS = (0.05, 0.2, 0.8, 3.2, 12.8, 25.0, 50.0, 100.0)
COSTS = (1.0, 10.0, 100.0)
COMPONENTS = (1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
FIRST_IRRELEVANT = (10, 40, 70)  # places of the first irrelevant input in the mixtures that have any


def contenders(quick: bool) -> tuple[Contender, ...]:
    """All methods. The quick version has every second width and one cost."""
    widths, costs = (WIDTHS[1::2], COSTS[1:2]) if quick else (WIDTHS, COSTS)
    return (*_on_inputs(), *_on_kernels(widths, costs))


def _on_inputs() -> tuple[Contender, ...]:
    counts = {f"beyond {first}": partial(n_beyond, first) for first in FIRST_IRRELEVANT}
    bound, both = _vbls(start="all", significance="bound"), _vbls(start="both")
    return (
        Contender("vbls", "variational least squares", _vbls(start="all"), extras=counts),
        Contender("vbls-bound", "the same, deletion by the bound", bound, extras=counts, printed_as="VBLS, bound"),
        Contender("vbls-both", "the same, from all and from none", both, extras=counts, printed_as="VBLS, both"),
        Contender("ridge", "ridge regression", lambda choice: Ridge(1e-10, solver="svd"), printed_as="ridge"),
        Contender("stepwise", "stepwise regression", _stepwise, extras=counts, printed_as="stepwise"),
        Contender("pls", "partial least squares", _pls, COMPONENTS),
        Contender("lasso", "lasso", lambda choice: LassoCV(max_iter=5000), extras=counts, printed_as="lasso"),
        Contender("search", "exhaustive search", lambda choice: ModelSearch(), extras=counts, printed_as="model search"),
    )


def _on_kernels(widths: tuple[float, ...], costs: tuple[float, ...]) -> tuple[Contender, ...]:
    width_and_cost = tuple((width, cost) for width in widths[1::2] for cost in costs)
    return (
        Contender("vbls-rvm", "variational, on kernels", on_kernels(VBLSRegressor), widths),
        Contender("rvm", "relevance vector machine", on_kernels(RelevanceVectorRegressor), widths),
        Contender("svr", "support vector regression", _svr, width_and_cost),
        Contender("gp", "Gaussian process", lambda choice: LeanGaussianProcess(1000)),
        Contender("lwpr", "locally weighted projections", lambda choice: LWPRRegressor(random_state=0)),
    )


def n_beyond(first: int, model: Any) -> int:
    """How many inputs of the model have the place `first` or a later one, and are not relevant."""
    active = model.active_ if hasattr(model, "active_") else np.flatnonzero(model.coef_)
    return int(np.count_nonzero(active >= max(first, N_RELEVANT)))


def _vbls(**parameters: Any) -> Callable[[None], Any]:
    def make(choice: None) -> Any:
        return VBLSRegressor("passthrough", **parameters)

    return make


def _stepwise(choice: None) -> StepwiseRegressor:
    return StepwiseRegressor("passthrough", max_active=100)


def _pls(n_components: float) -> PLSRegression:
    return PLSRegression(int(n_components))


def _svr(choice: tuple[float, float]) -> Any:
    gamma, cost = choice
    return TransformedTargetRegressor(SVR(gamma=gamma, C=cost), transformer=StandardScaler())

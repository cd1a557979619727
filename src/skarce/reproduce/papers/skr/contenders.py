"""The methods of the paper on sparse kernel regression. Its own method has four versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVR

from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.estimators import CriterionSearch, LaplacePriorRegressor, RelevanceVectorRegressor
from skarce.reproduce.papers.kernel_contenders import on_kernels
from skarce.reproduce.runner.paper import Contender

WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # sigma^2 of exp(-(x - z)^2 / sigma^2), inputs in [0, 1]
PENALTIES = tuple(np.geomspace(1e-4, 1e3, 29))  # mu, the multiplier of the update
COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
LEAST_PENALTY_CUT, LEAST_WIDTH_CUT = 0.01, 0.1  # of the grid that is cut
N_NEIGHBORS = 3
PENALTY, WIDTH = "mu", "sigma^2"  # names of the recorded numbers


def contenders(quick: bool) -> tuple[Contender, ...]:
    """All methods. The quick version has every second width, penalty and cost."""
    step = 2 if quick else 1
    widths, costs, penalties = WIDTHS[::step], COSTS[::step], PENALTIES[::step]
    gammas = tuple(1.0 / width for width in widths)
    large_penalties = tuple(penalty for penalty in penalties if penalty >= LEAST_PENALTY_CUT)
    gammas_of_large_widths = tuple(1.0 / width for width in widths if width >= LEAST_WIDTH_CUT)
    return (
        Contender("svm", "support vector machine", _svm, tuple((cost, gamma) for cost in costs for gamma in gammas)),
        Contender("rvm", "relevance vector machine", on_kernels(RelevanceVectorRegressor), gammas),
        _skr("skr", "exact minimizers", "SKR", penalties, gammas),
        _skr("skr-irwls", "the iteration as it stops", "IRWLS", penalties, gammas, finish=False),
        _skr("skr-cut", "exact minimizers on a smaller grid", "CUT", large_penalties, gammas_of_large_widths),
        _skr("skr-active", "exact minimizers, kernels counted in GCV", "ACTIVE", penalties, gammas, degrees_of_freedom="active"),
    )


class TubeSVR(SVR):  # type: ignore[misc]
    """Support vector regression with the tube of Cherkassky and Ma (2004)."""

    def __init__(self, C: float = 1.0, gamma: float = 1.0) -> None:
        super().__init__(C=C, gamma=gamma)

    def fit(self, X: Floats, y: Floats, sample_weight: Floats | None = None) -> TubeSVR:
        """Compute the tube from the training rows, and fit."""
        self.epsilon = tube(X, y)
        return super().fit(X, y, sample_weight)


def tube(X: Floats, y: Floats) -> float:
    """3 s sqrt(log n / n), s^2 = d / (d - 1) times the mean squared residual of k nearest neighbors, d = k n^(1/5)."""
    n = len(y)
    nearest = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(X).kneighbors(X, return_distance=False)
    complexity = n**0.2 * N_NEIGHBORS
    variance = complexity / (complexity - 1.0) * np.mean((y - y[nearest].mean(axis=1)) ** 2)
    return float(3.0 * np.sqrt(variance * np.log(n) / n))


def _svm(choice: tuple[float, float]) -> TubeSVR:
    cost, gamma = choice
    return TubeSVR(cost, gamma)


def _skr(name: str, title: str, label: str, penalties: Sequence[float], gammas: Sequence[float], **parameters: Any) -> Contender:
    def make(choice: None) -> Any:
        model = LaplacePriorRegressor(KernelBasis(), penalty=np.array(penalties), fit_intercept=False, **parameters)
        return CriterionSearch(model, {"basis__gamma": list(gammas)}, inflation=1.0)

    extras: dict[str, Callable[[Any], float]] = {
        PENALTY: lambda search: search.best_estimator_.penalty_,
        WIDTH: lambda search: 1.0 / search.best_params_["basis__gamma"],
    }
    return Contender(name, title, make, extras=extras, printed_as=label)

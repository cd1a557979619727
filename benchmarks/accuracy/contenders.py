"""Who competes: every regressor of the registry as its class makes it without arguments, and rivals of scikit-learn."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from skarce.comparison import METHODS, REGRESSION, count_functions

INNER_FOLDS = 3
GAMMA_FACTORS = (1 / 16, 1 / 4, 1.0, 4.0)  # in units of 1 / n_inputs, which is "scale" for standardized inputs
PENALTIES, TUBES = (1.0, 10.0, 100.0), (0.03, 0.1, 0.3)  # for a target of unit variance


@dataclass(frozen=True)
class Contender:
    """A regressor by name. `make` takes the number of inputs and a seed; `counted` says what its size is."""

    name: str
    title: str
    make: Callable[[int, int], Any]
    counted: str
    is_rival: bool = False

    def settings(self) -> str:
        """A digest of all parameters; a result under other parameters is out of date."""
        parameters = self.make(2, 0).get_params(deep=True)
        return hashlib.sha256(repr(sorted((name, repr(value)) for name, value in parameters.items())).encode()).hexdigest()[:8]


def size_of(model: Any) -> int:
    """The leaves of all trees, or the basis functions that a prediction evaluates."""
    if isinstance(model, RandomForestRegressor):
        return int(sum(tree.get_n_leaves() for tree in model.estimators_))
    if isinstance(model, HistGradientBoostingRegressor):
        return int(sum(tree.get_n_leaf_nodes() for trees in model._predictors for tree in trees))
    return count_functions(model)


def _by_class(kind: type) -> Callable[[int, int], Any]:
    """Defaults only, so that a change of them shows here; a seed if there is something to seed."""
    is_seeded = "random_state" in inspect.signature(kind).parameters
    return lambda n_inputs, seed: kind(random_state=seed) if is_seeded else kind()


def _ours() -> list[Contender]:
    """One contender for each class, under the first name that the registry has for it."""
    names: dict[type, str] = {}
    for method in METHODS[REGRESSION].values():
        if not method.is_rival:
            names.setdefault(type(method.make()), method.name)
    return [Contender(name, kind.__name__, _by_class(kind), "basis functions") for kind, name in names.items()]


def _process(n_inputs: int, seed: int) -> Any:
    kernel = 1.0 * RBF(np.ones(n_inputs)) + WhiteKernel()
    return GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)


def _support_vectors(n_inputs: int, seed: int) -> Any:
    grid = {"regressor__gamma": [f / n_inputs for f in GAMMA_FACTORS], "regressor__C": PENALTIES, "regressor__epsilon": TUBES}
    model = TransformedTargetRegressor(SVR(cache_size=500), transformer=StandardScaler())
    folds = KFold(INNER_FOLDS, shuffle=True, random_state=seed)
    return GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=folds)


_RIVALS = (
    Contender("gp", "GaussianProcessRegressor, rbf, one width per input", _process, "training rows", True),
    Contender("svr", "SVR, width, penalty and tube by grid search", _support_vectors, "support vectors", True),
    Contender(
        "boosting",
        "HistGradientBoostingRegressor",
        lambda _, seed: HistGradientBoostingRegressor(random_state=seed),
        "leaves",
        True,
    ),
    Contender("forest", "RandomForestRegressor", lambda _, seed: RandomForestRegressor(random_state=seed), "leaves", True),
)
CONTENDERS = {contender.name: contender for contender in (*_ours(), *_RIVALS)}

"""Few models with every pair of an estimator and a basis, of an estimator and what stands around it, and of a basis and that."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

import skarce
from skarce import KernelBasis, PolynomialChaosBasis, ProcessBasis
from tests.export.models import Fitted, numbers, of_table, prepared_table, table, targets


class Parts(NamedTuple):
    """What a model is made of, by name."""

    estimator: str
    basis: str
    around: str


KERNELS = ("rbf", "laplacian", "matern32", "matern52", "polynomial", "linear", "sigmoid", "cosine")
BASES: dict[str, Any] = {
    **{kernel: KernelBasis(kernel, gamma=0.2, centers=12) for kernel in KERNELS},
    "process": ProcessBasis(gamma=0.2, centers=8),
    "passthrough": "passthrough",
    "polynomials": PolynomialFeatures(2, include_bias=False),
    "splines": SplineTransformer(4, extrapolation="linear"),
    "chaos": PolynomialChaosBasis(2, distributions="normal"),
    "mixed": ColumnTransformer([("splines", SplineTransformer(4), [0])], remainder="passthrough"),
}
REGRESSORS: dict[str, Any] = {
    "rvm": skarce.RelevanceVectorRegressor(calibrate_std=False),
    "vbls": skarce.VBLSRegressor(calibrate_std=False),
    "student-t": skarce.VBLSRegressor(noise="student-t", calibrate_std=False),
    "fgcv": skarce.FastGCVRegressor(),
    "orr": skarce.LocalRidgeRegressor(),
    "rfs": skarce.RegularizedForwardRegressor(),
    "ols": skarce.OrthogonalLeastSquaresRegressor(),
    "ssge": skarce.EvidenceSearchRegressor(),
    "abf": skarce.EvidenceRegressor(),
    "gps-be": skarce.BackwardEliminationRegressor(),
    "skr": skarce.LaplacePriorRegressor(),
    "as": skarce.JeffreysPriorRegressor(),
    "pursuit": skarce.KernelMatchingPursuitRegressor(),
    "stepwise": skarce.StepwiseRegressor(),
    "sparse": skarce.SparseRegressor(),
}
CLASSIFIERS: dict[str, Any] = {
    "two-classes": skarce.RelevanceVectorClassifier(),
    "three-classes": skarce.RelevanceVectorClassifier(),
    "vbls-classes": skarce.VBLSClassifier(),
    "pursuit-classes": skarce.KernelMatchingPursuitClassifier(),
    "svm-classes": skarce.PrimalSVMClassifier(calibrate_proba=True),
}
ESTIMATORS = {**REGRESSORS, **CLASSIFIERS, "counts": skarce.RelevanceVectorPoissonRegressor()}
STEPS: dict[str, tuple[Any, ...]] = {
    "alone": (),
    "standard-scaler": (StandardScaler(),),
    "min-max-scaler": (MinMaxScaler(clip=True),),
    "max-abs-scaler": (MaxAbsScaler(),),
    "robust-scaler": (RobustScaler(),),
    "components": (StandardScaler(), PCA(2, whiten=True)),
    "selection": (VarianceThreshold(1.0),),
    "products": (StandardScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler()),
    "union": (
        FeatureUnion([("scaled", StandardScaler()), ("products", PolynomialFeatures(2, include_bias=False))]),
        StandardScaler(),
    ),
    "filled": (SimpleImputer(), StandardScaler()),
    "one-hot": (prepared_table(),),
    "ordinal": (
        ColumnTransformer([("texts", OrdinalEncoder(), ["color"]), ("number", StandardScaler(), ["speed (m/s)"])]),
        StandardScaler(),
    ),
    "target-encoded": (
        ColumnTransformer(
            [
                ("texts", TargetEncoder(target_type="continuous", random_state=0), ["color"]),
                ("number", StandardScaler(), ["speed (m/s)"]),
            ]
        ),
        StandardScaler(),
    ),
}
SCALED_TARGET, SEARCH = "scaled target", "search"
AROUND = (*STEPS, SCALED_TARGET, SEARCH)
OF_TABLES = ("one-hot", "ordinal", "target-encoded")


def is_possible(parts: Parts) -> bool:
    """Return whether such a model can be fitted."""
    return parts.around != SCALED_TARGET or parts.estimator in REGRESSORS


@cache
def cover() -> tuple[Parts, ...]:
    """Return models until every pair that is possible is in one of them. Each next one has the most pairs that are missing."""
    possible = [parts for parts in map(Parts._make, product(ESTIMATORS, BASES, AROUND)) if is_possible(parts)]
    of_pair: dict[Any, list[Parts]] = {}
    for parts in possible:
        for pair in pairs(parts):
            of_pair.setdefault(pair, []).append(parts)
    missing, found = dict.fromkeys(of_pair), []
    while missing:
        best = max(of_pair[next(iter(missing))], key=lambda parts: sum(pair in missing for pair in pairs(parts)))
        found.append(best)
        for pair in pairs(best):
            missing.pop(pair, None)
    return tuple(found)


def pairs(parts: Parts) -> list[Any]:
    """Return the three pairs of parts, with their places."""
    return list(combinations(enumerate(parts), 2))


def model_of(parts: Parts) -> Fitted:
    """Return a fitted model, and its training rows."""
    X = table() if parts.around in OF_TABLES else numbers()
    y = of_table(X) if parts.around in OF_TABLES else targets(X)
    if parts.around == "filled":
        X[::7, 1] = np.nan
    model = clone(ESTIMATORS[parts.estimator]).set_params(basis=clone(BASES[parts.basis], safe=False))
    whole = _around(model, parts.around)
    if parts.around == "target-encoded" and parts.estimator in CLASSIFIERS:
        whole.set_params(columntransformer__texts__target_type="auto")
    return Fitted(whole.fit(X, _kind_of(parts.estimator, y)), X)


def _around(model: Any, around: str) -> Any:
    if around == SCALED_TARGET:
        return TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler())
    if around == SEARCH:
        return GridSearchCV(make_pipeline(StandardScaler(), model), {"standardscaler__with_mean": [True, False]}, cv=2)
    return make_pipeline(*clone(list(STEPS[around])), model)


def _kind_of(estimator: str, y: Any) -> Any:
    """Return targets as numbers, classes or counts."""
    if estimator in CLASSIFIERS:
        n_classes = 3 if estimator in ("three-classes", "svm-classes") else 2
        return np.array(["b", "a", "c"])[np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)]
    if estimator == "counts":
        return np.random.default_rng(4).poisson(np.exp(1.0 + np.tanh(y)))
    return y

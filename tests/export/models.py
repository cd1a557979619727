"""Small fitted models of every kind that can leave Python. Each comes with rows that it takes, also far from the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

import skarce
from skarce import KernelBasis, PolynomialChaosBasis, ProcessBasis, RelevanceVectorRegressor, VBLSRegressor

N_ROWS = 60
WIDTHS = (0.3, 0.1, 0.2)


@dataclass(frozen=True)
class Fitted:
    """A fitted model, and rows for it."""

    model: Any
    X: Any


def numbers(n_rows: int = N_ROWS, seed: int = 0) -> Any:
    """Inputs of different units."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, (n_rows, 3)) * [1.0, 2.0, 0.5] + [0.0, 1.0, -0.5]


def targets(X: Any) -> Any:
    rng = np.random.default_rng(1)
    return np.sin(X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.2 * X[:, 1] ** 2 + rng.normal(0, 0.1, len(X))


def wider(X: Any) -> Any:
    """The rows, and some outside of them."""
    return np.vstack([X, np.random.default_rng(2).normal(0, 4, (20, X.shape[1]))])


def table() -> Any:
    """Numbers with holes, and two columns of text."""
    rng, X = np.random.default_rng(3), numbers()
    frame = pd.DataFrame({"speed (m/s)": X[:, 0], "color": rng.choice(["red", "green", "light blue"], N_ROWS), "heat": X[:, 1]})
    frame["grade"] = rng.choice([1.0, 2.0, 5.0], N_ROWS)
    frame.loc[::7, "heat"] = np.nan
    return frame


def of_table(frame: Any) -> Any:
    noise = np.random.default_rng(1).normal(0, 0.1, len(frame))
    red = (frame["color"].fillna("red") == "red").to_numpy()
    return np.sin(frame["speed (m/s)"]) + frame["heat"].fillna(0.0) + 0.3 * frame["grade"] ** 2 + 2.0 * red + noise


def kernels(kernel: str, **options: Any) -> KernelBasis:
    is_per_input = kernel in ("rbf", "laplacian", "matern32", "matern52")
    gamma: Any = WIDTHS if is_per_input else 0.2
    return KernelBasis(kernel, **{"gamma": gamma, "centers": numbers(15, seed=5), **options})


def linear(basis: Any = "passthrough", **options: Any) -> VBLSRegressor:
    """A model on columns, quickly: without refits for its std."""
    return VBLSRegressor(basis, **{"calibrate_std": False, **options})


def on_numbers(model: Any, **options: Any) -> Fitted:
    X = numbers()
    return Fitted(clone(model).fit(X, targets(X), **options), wider(X))


def near(case: Fitted) -> Fitted:
    """The same with the training rows only: cubic pieces are huge far from them."""
    return Fitted(case.model, case.X[:N_ROWS])


def on_table(before: Any, model: Any) -> Fitted:
    frame = table()
    return Fitted(Pipeline([("before", before), ("model", model)]).fit(frame, of_table(frame)), frame)


def prepared_table(**encoder: Any) -> ColumnTransformer:
    filled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    return ColumnTransformer(
        [
            ("texts", OneHotEncoder(**{"handle_unknown": "ignore", "sparse_output": False, **encoder}), ["color", "grade"]),
            ("numbers", filled, ["heat", "speed (m/s)"]),
        ]
    )


def classified(n_classes: int, kind: Any = skarce.RelevanceVectorClassifier, **options: Any) -> Fitted:
    X = numbers(120)
    y = np.searchsorted(np.quantile(targets(X), np.arange(1, n_classes) / n_classes), targets(X))
    return Fitted(kind(kernels("rbf"), **options).fit(X, np.array(["b", "a", "c"])[y]), wider(X))


def classified_columns(*steps: Any) -> Fitted:
    X = numbers(120)
    return Fitted(make_pipeline(*steps).fit(X, targets(X) > 1.0), wider(X))


def counted(**options: Any) -> Fitted:
    X = numbers()
    y = np.random.default_rng(4).poisson(np.exp(1 + np.sin(X[:, 0])))
    return Fitted(skarce.RelevanceVectorPoissonRegressor(kernels("rbf"), **options).fit(X, y), wider(X))


def two_targets(kernel: str = "rbf") -> Fitted:
    X = numbers()
    return Fitted(RelevanceVectorRegressor(kernels(kernel)).fit(X, np.column_stack([targets(X), X[:, 0] ** 2])), wider(X))


def factors_of_two_targets() -> Fitted:
    X = numbers()
    return Fitted(skarce.JointFactorRegressor(2).fit(X, np.column_stack([targets(X), X[:, 0] - X[:, 2]])), wider(X))


def chaos() -> Fitted:
    X = np.abs(numbers())
    distributions = [stats.uniform(-1, 4), stats.gamma(2.0), {"name": "beta", "a": 2.0, "b": 3.0, "loc": -1.0, "scale": 6.0}]
    return Fitted(linear(PolynomialChaosBasis(4, distributions=distributions)).fit(X, targets(X)), X)


def mixed_basis() -> Fitted:
    parts = [("splines", SplineTransformer(4), [0, 1]), ("products", PolynomialFeatures(2, include_bias=False), [2, 0])]
    return on_numbers(linear(ColumnTransformer(parts, remainder="passthrough")))


def text_with_holes() -> Fitted:
    frame = table().astype({"color": object})
    frame.loc[::9, "color"] = np.nan
    filled = make_pipeline(SimpleImputer(strategy="constant", fill_value="red"), OneHotEncoder(drop="first", sparse_output=False))
    before = ColumnTransformer([("texts", filled, ["color"]), ("number", "passthrough", ["speed (m/s)"])])
    return Fitted(make_pipeline(before, linear()).fit(frame, of_table(frame)), frame)


rvm = RelevanceVectorRegressor
small = KernelBasis(gamma=WIDTHS, centers=numbers(12, seed=6))

REGRESSORS: dict[str, Callable[[], Fitted]] = {
    **{
        f"rvm-{kernel}": lambda kernel=kernel: on_numbers(rvm(kernels(kernel)))
        for kernel in ("rbf", "laplacian", "matern32", "matern52")
    },
    "rvm-polynomial": lambda: on_numbers(rvm(kernels("polynomial", degree=3, coef0=1.0))),
    "rvm-linear": lambda: on_numbers(rvm(kernels("linear"))),
    "rvm-sigmoid": lambda: on_numbers(rvm(kernels("sigmoid", coef0=0.2))),
    "rvm-cosine": lambda: on_numbers(rvm(kernels("cosine"))),
    "no-intercept": lambda: on_numbers(rvm(kernels("rbf"), fit_intercept=False)),
    "unused-input": lambda: on_numbers(rvm(kernels("rbf", gamma=(0.3, 0.0, 0.2)))),
    "calibrated": lambda: on_numbers(rvm(kernels("rbf"), calibrate_std=True)),
    "two-targets": two_targets,
    "two-targets-cosine": lambda: two_targets("cosine"),
    "process": lambda: on_numbers(skarce.EvidenceRegressor(ProcessBasis(gamma=WIDTHS, centers=numbers(8, seed=6)))),
    "passthrough": lambda: on_numbers(linear()),
    "student-t": lambda: on_numbers(linear(noise="student-t")),
    "polynomials": lambda: on_numbers(linear(PolynomialFeatures(3, include_bias=False))),
    "chaos": chaos,
    **{
        f"splines-{way}": lambda way=way: on_numbers(linear(SplineTransformer(5, extrapolation=way)))
        for way in ("constant", "linear", "periodic")
    },
    "splines-continue": lambda: near(on_numbers(linear(SplineTransformer(5, extrapolation="continue")))),
    "splines-no-bias": lambda: on_numbers(linear(SplineTransformer(4, degree=2, include_bias=False))),
    "mixed-basis": mixed_basis,
    "fgcv": lambda: on_numbers(skarce.FastGCVRegressor(small)),
    "orr": lambda: on_numbers(skarce.LocalRidgeRegressor(small)),
    "rfs": lambda: on_numbers(skarce.RegularizedForwardRegressor(small)),
    "ols": lambda: on_numbers(skarce.OrthogonalLeastSquaresRegressor(small)),
    "ssge": lambda: on_numbers(skarce.EvidenceSearchRegressor(small)),
    "abf": lambda: on_numbers(skarce.EvidenceRegressor(small)),
    "gps-be": lambda: on_numbers(skarce.BackwardEliminationRegressor(small)),
    "skr": lambda: on_numbers(skarce.LaplacePriorRegressor(small)),
    "as": lambda: on_numbers(skarce.JeffreysPriorRegressor(small)),
    "vbls-rvm": lambda: on_numbers(linear(small)),
    "pursuit": lambda: on_numbers(skarce.KernelMatchingPursuitRegressor(small)),
    "stepwise": lambda: on_numbers(skarce.StepwiseRegressor()),
    "sparse": lambda: on_numbers(skarce.SparseRegressor(small)),
    **{
        f"after-{type(scaler).__name__}": lambda scaler=scaler: on_numbers(make_pipeline(scaler, rvm(kernels("rbf"))))
        for scaler in (StandardScaler(), MinMaxScaler(clip=True), MaxAbsScaler(), RobustScaler())
    },
    "after-pca": lambda: on_numbers(make_pipeline(StandardScaler(), PCA(2, whiten=True), rvm(KernelBasis(gamma=0.3, centers=12)))),
    "after-reduction": lambda: on_numbers(
        make_pipeline(skarce.KernelDimensionReduction(2, n_starts=1), rvm(KernelBasis(gamma=0.3, centers=12)))
    ),
    "factors": lambda: on_numbers(make_pipeline(StandardScaler(), skarce.JointFactorRegressor(1))),
    "factors-two-targets": factors_of_two_targets,
    "after-selection": lambda: on_numbers(make_pipeline(VarianceThreshold(1.0), linear())),
    "after-polynomials": lambda: on_numbers(make_pipeline(StandardScaler(), PolynomialFeatures(2), StandardScaler(), linear())),
    "after-union": lambda: on_numbers(
        make_pipeline(FeatureUnion([("a", StandardScaler()), ("b", PolynomialFeatures(2))]), StandardScaler(), linear())
    ),
    "target-scaled": lambda: on_numbers(
        TransformedTargetRegressor(make_pipeline(StandardScaler(), rvm(kernels("rbf"))), transformer=StandardScaler())
    ),
    "searched": lambda: on_numbers(GridSearchCV(rvm(kernels("rbf")), {"fit_intercept": [True]}, cv=2)),
    "table": lambda: on_table(prepared_table(), rvm(KernelBasis(gamma=0.2, centers=12))),
    "table-rare": lambda: on_table(prepared_table(min_frequency=0.3, handle_unknown="infrequent_if_exist"), linear()),
    "table-ordinal": lambda: on_table(
        ColumnTransformer(
            [
                ("texts", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["color"]),
                ("number", StandardScaler(), ["speed (m/s)"]),
            ]
        ),
        linear(),
    ),
    "table-target-encoded": lambda: on_table(
        ColumnTransformer([("texts", TargetEncoder(), ["color"]), ("number", StandardScaler(), ["speed (m/s)"])]),
        linear(),
    ),
    "table-text-with-holes": text_with_holes,
}
OTHERS: dict[str, Callable[[], Fitted]] = {
    "two-classes": lambda: classified(2),
    "two-classes-calibrated": lambda: classified(2, calibrate_proba=True),
    "three-classes": lambda: classified(3, calibrate_proba=True),
    "classes-on-columns": lambda: classified_columns(StandardScaler(), skarce.VBLSClassifier("passthrough")),
    "vbls-classes": lambda: classified(2, skarce.VBLSClassifier),
    "pursuit-classes": lambda: classified(3, skarce.KernelMatchingPursuitClassifier),
    "svm-classes": lambda: classified(3, skarce.PrimalSVMClassifier, calibrate_proba=True),
    "svm-margin": lambda: classified(2, skarce.PrimalSVMClassifier, calibrate_proba=False),
    "svm-margins": lambda: classified(3, skarce.PrimalSVMClassifier, calibrate_proba=False),
    "counts": counted,
    "counts-calibrated": lambda: counted(calibrate_proba=True),
}


@cache
def fitted(name: str) -> Fitted:
    """Return a model by its name, fitted once."""
    return {**REGRESSORS, **OTHERS}[name]()

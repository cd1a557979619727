"""Values for every parameter of every public estimator, as source code: usual ones, and odd ones that may be refused."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import skarce
from benchmarks.fuzz.problems import pick

ODD_SHARE = 0.1  # of the drawn values are odd


class Values(NamedTuple):
    """Values that a user would choose, and values that only a mistake gives."""

    usual: tuple[str, ...]
    odd: tuple[str, ...] = ()


KERNELS = ("rbf", "laplacian", "matern32", "matern52", "polynomial", "poly", "linear", "sigmoid", "cosine", "precomputed")
CENTERS = ("3", "10", "'auto'", "np.asarray(X)[:3]", "np.ones((2, np.shape(X)[1]))", "1")
ODD_CENTERS = ("0", "-1", "2.5", "True", "[]", "np.full((2, np.shape(X)[1]), np.nan)", "np.ones((2, np.shape(X)[1] + 1))", "'many'")
GAMMAS = (
    "1.0",
    "0.01",
    "1e-6",
    "1e4",
    "'scale'",
    "'auto'",
    "'median'",
    "'evidence'",
    "'ard'",
    "'learned'",
    "np.ones(np.shape(X)[1])",
)
ODD_GAMMAS = ("0.0", "-1.0", "np.nan", "np.inf", "1e300", "1e-300", "'wide'", "None", "np.zeros(np.shape(X)[1])", "np.ones(99)")
CALLABLES = ("rbf_kernel", "laplacian_kernel", "linear_kernel", "lambda X, C: X @ C.T", "lambda X, C: np.ones((len(X), len(C)))")
ODD_CALLABLES = (
    "lambda X, C: np.full((len(X), len(C)), np.nan)",
    "lambda X, C: np.zeros((len(X), len(C)))",
    "lambda X, C: X",
    "lambda X, C: None",
    "lambda X, C: 1j * (X @ C.T)",
    "lambda X, C: 1e300 * (X @ C.T)",
    "lambda X, C: (X @ C.T).astype(np.float32)",
    "lambda X, C: (X @ C.T).tolist()",
)
TRANSFORMERS = (
    "StandardScaler()",
    "PolynomialFeatures(2)",
    "SplineTransformer()",
    "Nystroem(n_components=5)",
    "RBFSampler(n_components=20, random_state=0)",
    "PCA()",
    "OneHotEncoder(handle_unknown='ignore')",
    "OneHotEncoder(handle_unknown='ignore', sparse_output=False)",
    "make_pipeline(StandardScaler(), PolynomialFeatures(2))",
    "FunctionTransformer(np.square)",
    "FunctionTransformer(lambda X: np.asarray(X) * 1e200)",
    "FunctionTransformer(lambda X: np.asarray(X) * np.nan)",
    "FunctionTransformer(lambda X: np.zeros((len(X), 0)))",
    "SimpleImputer()",
)
ODD_BASES = ("'poly'", "None", "3", "KernelBasis", "StandardScaler", "'linear'", "object()")

CALIBRATIONS = Values(
    ("True", "False", "KFold(3)", "[(np.arange(len(X)), np.arange(1))]"),
    ("'yes'", "None", "0", "5", "KFold", "GroupKFold(2)", "[]", "[(0, 1, 2)]", "[([0], [10**6])]", "[([0], [])]", "{}"),
)
COMMON = {
    "fit_intercept": Values(("False",), ("'yes'", "None")),
    "tol": Values(("0.0", "1e-6", "0.1", "10.0"), ("-1.0", "np.nan", "np.inf", "None", "'small'", "1e300", "1e-300")),
    "max_iter": Values(("1", "2", "5", "50"), ("0", "-1", "2.5", "None", "np.inf", "True", "np.int64(3)")),
    "max_active": Values(("1", "2", "5"), ("0", "-3", "1.5", "10**20")),
    "max_time": Values(("0.0", "0.05", "0.3"), ("-1.0", "np.nan", "np.inf", "'long'", "1e-300")),
    "weights": Values(("'relative'",), ("'equal'", "None", "2", "['counts']")),
    "effective_samples": Values(
        ("'auto'", "10", "0.5", "2.5"), ("0", "-1", "1.0", "1.5", "np.nan", "np.inf", "'some'", "1e300", "1e-300", "True")
    ),
    "moments": Values(("'whole'", "'columns'"), ("'some'", "None")),
    "calibrate_std": CALIBRATIONS,
    "calibrate_proba": CALIBRATIONS,
    "verbose": Values(("1", "2"), ("'loud'", "-1", "None")),
    "random_state": Values(("0", "np.random.RandomState(1)"), ("'dice'", "-1", "0.5")),
    "n_basis": Values(("1", "3", "10"), ("0", "-1", "2.5", "10**12", "True")),
    "keep_path": Values(("True",), ("'yes'", "None", "1")),
    "size_prior": Values(("None",), ("'always'", "True", "0.5")),
    "patience": Values(("1", "5"), ("0", "None", "2.5")),
    "class_weight": Values(("'balanced'", "{0: 2.0, 1: 1.0}"), ("{}", "{'a': -1}", "'heavy'", "3", "{0: np.nan, 1: 1.0}")),
    "significance": Values(("0.05", "'bound'", "0.999"), ("0.0", "1.0", "np.nan", "'high'")),
    "factorized": Values(("True",), ("'yes'", "None")),
    "weight_variance": Values(("1.0", "0.01", "100.0"), ("0.0", "-1.0", "np.nan", "1e-300", "1e300", "'known'", "None")),
    "initial_ridge": Values(("1.0", "1e-6"), ("0.0", "-1.0", "np.nan", "1e-300", "1e300", "'large'")),
    "noise_variance": Values(("0.01", "1.0", "1e-10"), ("0.0", "-1.0", "np.nan", "1e-300", "1e300", "'low'")),
    "degree": Values(("1", "2", "5"), ("0", "-2", "0.5", "2.5", "300", "np.nan", "'two'")),
    "coef0": Values(("0.0", "-1.0", "10.0"), ("np.nan", "np.inf", "1e300", "'zero'")),
    "kernel_params": Values(("{}",), ("3", "'wide'")),
    "width_params": Values(
        ("{'n_starts': 2, 'max_iter': 3}", "{'max_rows': 5}", "{'covariance': 'kernel'}", "{'tol': 0.1}"),
        ("{'wide': 1}", "{'n_starts': 0}", "{'max_rows': -1}", "{'max_iter': 0}", "{'covariance': 'none'}", "3", "{'tol': np.nan}"),
    ),
    "centers": Values(CENTERS, ODD_CENTERS),
    "gamma": Values(GAMMAS, ODD_GAMMAS),
}
SEARCHES = (
    "BestAction()",
    "GreedyBatches()",
    "Forward()",
    "Backward()",
    "Floating()",
    "Oscillating()",
    "PlusTakeAway()",
    "Exhaustive(2)",
)
CRITERIA = (
    "IndividualEvidence()",
    "IndividualEvidence(0.01)",
    "GCV()",
    "SharedEvidence()",
    "SharedEvidence('paper')",
    "SharedGCV()",
    "SharedGCV(0.1)",
    "OrthogonalGCV()",
    "ExplainedVariance()",
    "ExplainedVariance('bic')",
    "PenalizedError()",
    "PenalizedError(0.1)",
)
ODD_INDICES = ("[]", "[-1]", "[10**6]", "[0, 0]", "[0.5]", "'first'", "3")
VARIANT = Values(("'back-fitting'", "'pre-fitting'", "'basic'"), ("'forward'", "None", "3"))
OF_CLASS: dict[str, dict[str, Values]] = {
    "PolynomialChaosBasis": {
        "interaction_order": Values(("1", "2"), ("0", "-1", "1.5", "'all'", "10**9")),
        "q_norm": Values(("0.5", "0.75"), ("0.0", "-1.0", "2.0", "np.nan", "'one'", "1e-300")),
        "distributions": Values(
            ("'normal'", "{'name': 'uniform', 'loc': -1e3, 'scale': 2e3}", "stats.norm(0.0, 2.0)", "['normal'] * np.shape(X)[1]"),
            (
                "'exponential'",
                "'triangular'",
                "stats.cauchy()",
                "[]",
                "['normal'] * 99",
                "3",
                "None",
                "{'name': 'normal', 'scale': -1.0}",
            ),
        ),
    },
    "BackwardEliminationRegressor": {
        "direction": Values(("'forward'",), ("'both'",)),
        "stop": Values(("'step'",), ("'never'", "None")),
    },
    "EvidenceSearchRegressor": {
        "search": Values(
            (
                "'backward'",
                "'floating'",
                "'oscillating'",
                "'plus-take-away'",
                "Forward(n_basis=3)",
                "PlusTakeAway(3, 1)",
                "Oscillating(2)",
            ),
            ("'random'", "Forward", "BestAction()", "None", "PlusTakeAway(1, 5)", "Forward(patience=0)", "Backward(share=-1.0)"),
        ),
        "reestimate": Values(("'paper'",), ("'never'",)),
        "start": Values(("'empty'",), ("'full'", "None")),
        "initial": Values(("[0]", "[0, 2]"), ODD_INDICES),
        "always_in": Values(("[0]", "[1, 0]"), ODD_INDICES),
    },
    "FastGCVRegressor": {
        "solver": Values(("'sequential'",), ("'slow'",)),
        "noise_update": Values(("'paper'",), ("'free'", "None")),
    },
    "KernelMatchingPursuitClassifier": {"variant": VARIANT},
    "KernelMatchingPursuitRegressor": {
        "variant": VARIANT,
        "loss": Values(("'squared'", "'huber'"), ("'logistic'", "'absolute'", "None")),
        "threshold": Values(("1.345", "0.1", "10.0"), ("0.0", "-1.0", "np.nan", "np.inf", "1e300", "1e-300", "'low'")),
    },
    "PrimalSVMClassifier": {
        "C": Values(("1.0", "0.01", "100.0"), ("0.0", "-1.0", "np.nan", "np.inf", "1e300", "1e-300", "'auto'")),
        "n_candidates": Values(("1", "5", "59"), ("0", "-1", "1.5", "np.nan", "'all'", "10**9")),
    },
    "LaplacePriorRegressor": {
        "penalty": Values(
            ("0.0", "0.1", "1e3", "[0.1, 1.0]", "np.logspace(-3, 3, 5)"), ("-1.0", "np.nan", "[]", "'aic'", "1e300", "1e-300")
        ),
        "degrees_of_freedom": Values(("'active'",), ("'all'", "3")),
        "finish": Values(("False",), ("'no'",)),
    },
    "LocalRidgeRegressor": {"readmit": Values(("False",), ("'no'",))},
    "OrthogonalLeastSquaresRegressor": {
        "stop": Values(("'bic'", "'variance'"), ("'aic'",)),
        "unexplained": Values(("0.1", "1e-6", "0.9"), ("0.0", "1.0", "-1.0", "np.nan", "'none'")),
    },
    "RegularizedForwardRegressor": {
        "ridge": Values(("0.0", "0.1", "10.0"), ("-1.0", "np.nan", "1e300", "1e-300", "'aic'")),
        "penalize": Values(("'orthogonal'",), ("'nothing'",)),
    },
    "RelevanceVectorClassifier": {"solver": Values(("'sequential'", "'em'"), ("'slow'",))},
    "RelevanceVectorPoissonRegressor": {"solver": Values(("'sequential'", "'em'"), ("'slow'",))},
    "RelevanceVectorRegressor": {"solver": Values(("'sequential'", "'em'"), ("'slow'",))},
    "SparseRegressor": {
        "criterion": Values(CRITERIA, ("'gcv'", "GCV", "3", "GCV(-1.0)", "IndividualEvidence(0.0)", "SharedGCV('none')")),
        "search": Values(SEARCHES, ("'forward'", "Forward", "BestAction(0)", "GreedyBatches(smallest_batch=0)")),
    },
    "StepwiseRegressor": {
        "direction": Values(("'forward'", "'backward'"), ("'up'",)),
        "enter": Values(("0.01", "0.5"), ("0.0", "1.0", "2.0", "np.nan", "'often'")),
        "leave": Values(("0.2", "0.9"), ("0.0", "0.01", "2.0", "np.nan", "None")),
    },
    "VBLSClassifier": {
        "prior": Values(("'shared'", "np.arange(len(X)) // 2", "np.zeros(np.shape(X)[1])"), ("'none'", "[]", "3", "[np.nan]")),
        "solver": Values(("'em'",), ("'slow'",)),
    },
    "VBLSRegressor": {
        "prior": Values(
            ("'shared'", "'none'", "np.zeros(np.shape(X)[1])", "np.arange(len(X)) // 2"), ("'flat'", "[]", "3", "[np.nan]")
        ),
        "posterior": Values(("'student-t'",), ("'cauchy'",)),
        "solver": Values(("'em'",), ("'slow'",)),
        "start": Values(("'all'", "'both'"), ("'none'",)),
        "noise": Values(("'student-t'",), ("'cauchy'",)),
        "degrees_of_freedom": Values(("3.0", "30.0"), ("2.0", "0.0", "np.inf", "np.nan", "1e300", "'many'")),
        "forgetting": Values(("0.9", "0.5"), ("0.0", "1.5", "np.nan", "'all'", "1e-300")),
        "restarts": Values(("'always'",), ("'never'",)),
    },
    "LWPRRegressor": {
        "metric": Values(("'diagonal'", "'full'"), ("'round'", "None", "2")),
        "initial_metric": Values(("'auto'", "1.0", "50.0"), ("0.0", "-1.0", "np.nan", "np.inf", "'wide'", "1e300", "1e-300")),
        "learning_rate": Values(("0.0", "1.0", "10.0"), ("-1.0", "np.nan", "np.inf", "1e300", "'fast'")),
        "penalty": Values(("0.0", "1e-5", "0.1", "0.3"), ("-1.0", "np.nan", "np.inf", "1e300", "None")),
        "add_below": Values(("0.1", "0.5"), ("0.0", "1.0", "-0.1", "np.nan", "'low'")),
        "prune_above": Values(("0.7", "1.0"), ("0.0", "0.01", "1.5", "np.nan", "None")),
        "projection_gain": Values(("0.5", "0.9", "1.0"), ("0.0", "2.0", "np.nan", "None")),
        "max_projections": Values(("None", "1", "2", "100"), ("0", "-1", "1.5", "'all'")),
        "max_fields": Values(("1", "5", "1000"), ("0", "-1", "1.5", "None", "10**400")),
        "forgetting": Values(("0.9", "1.0"), ("0.0", "1.1", "np.nan", "None")),
        "initial_forgetting": Values(("0.9", "1.0"), ("0.0", "1.1", "np.nan", "None")),
        "forgetting_pace": Values(("0.5", "1.0"), ("0.0", "1.1", "np.nan", "None")),
        "n_passes": Values(("1", "3"), ("0", "-1", "1.5", "None", "10**400")),
        "norm_in": Values(("None", "1.0", "0.1"), ("0.0", "-1.0", "np.nan", "[]", "'std'", "[[1.0]]", "1e300", "1e-300")),
    },
    "JointFactorRegressor": {
        "n_factors": Values(("'cv'", "'bic'", "1", "2"), ("0", "-1", "1.5", "10**400", "'aic'", "None", "100")),
        "noise": Values(("'diagonal'", "'isotropic'"), ("'student-t'", "None", "0.1")),
        "solver": Values(("'direct'", "'em'"), ("'slow'", "None")),
        "max_factors": Values(("None", "1", "3"), ("0", "-1", "1.5", "'all'")),
    },
    "KernelDimensionReduction": {
        "n_components": Values(("'auto'", "1", "2"), ("0", "-1", "1.5", "10**400", "'all'", "None", "100")),
        "width": Values(("0.3", "1.0"), ("0.0", "-1.0", "np.nan", "np.inf", "1e300", "1e-9", "'wide'")),
        "annealing": Values(("()", "(2.0,)", "[8.0, 4.0, 2.0]"), ("2.0", "(0.5,)", "'wide'", "(np.nan,)", "None", "(1e300,)")),
        "regularization": Values(("1e-2", "1e-4"), ("0.0", "-1.0", "np.nan", "np.inf", "1e300", "None")),
        "target_kernel": Values(("'auto'", "'rbf'", "'labels'"), ("'linear'", "None", "3")),
        "n_starts": Values(("1", "2"), ("0", "-1", "1.5", "None")),
        "n_landmarks": Values(("1", "5", "50"), ("0", "-1", "1.5", "None", "10**400")),
        "max_rows": Values(("3", "20"), ("0", "2", "1.5", "None")),
    },
    "CriterionSearch": {
        "estimator": Values(
            (
                "FastGCVRegressor()",
                "EvidenceRegressor()",
                "RelevanceVectorRegressor()",
                "make_pipeline(StandardScaler(), FastGCVRegressor())",
            ),
            ("Ridge()", "FastGCVRegressor", "None", "'fgcv'"),
        ),
        "param_grid": Values(
            ("{'basis__gamma': [0.1, 1.0]}", "[{'tol': [1e-3]}, {'basis': ['passthrough']}]", "{'tol': [0.1, 0.01]}"),
            ("{}", "[]", "{'wide': [1]}", "{'tol': []}", "{'tol': 3}", "3", "{'tol': [-1.0]}", "{'basis__gamma': [0.0]}"),
        ),
        "param_distributions": Values(("{'basis__gamma': [0.1, 1.0, 10.0]}",), ("{}", "3", "{'tol': 'uniform'}")),
        "n_iter": Values(("1", "2"), ("0", "-1", "2.5", "None")),
        "n_jobs": Values(("1",), ("0", "1.5", "'all'")),
        "inflation": Values(("1.0", "4.0"), ("0.0", "np.nan", "np.inf", "1e300", "'twice'")),
    },
}


def public_classes(method: str) -> list[str]:
    """The public classes of skarce that have this method."""
    return [name for name in skarce.__all__ if inspect.isclass(found := getattr(skarce, name)) and hasattr(found, method)]


ESTIMATORS, BASES = public_classes("predict"), public_classes("transform")


def values_of(estimator: str, parameter: str) -> Values | None:
    """The values that are known for a parameter of a class, or None."""
    if parameter == "basis":
        return Values(("'auto'", "'rbf'", "'passthrough'"), ODD_BASES)
    if parameter == "kernel":
        odd = ("'gaussian'", "None", "3", *ODD_CALLABLES)
        return Values((*map(repr, KERNELS), *(CALLABLES if estimator == "KernelBasis" else ())), odd)
    return OF_CLASS.get(estimator, {}).get(parameter) or COMMON.get(parameter)


def parameters_of(name: str) -> list[str]:
    """The parameters of a public class."""
    return list(inspect.signature(getattr(skarce, name)).parameters)


def default_of(name: str, parameter: str) -> str:
    """The source code of the default of a parameter. A class that is not public, as in a test, has that of its base."""
    found = getattr(skarce, name, skarce.RelevanceVectorRegressor)
    known = inspect.signature(found).parameters
    return repr(known[parameter].default) if parameter in known else ""


def draw_parameters(rng: Any, name: str) -> tuple[tuple[str, str], ...]:
    """A few parameters of a class, with their values."""
    chosen = {}
    for parameter in parameters_of(name):
        is_needed = name == "CriterionSearch" and parameter in ("estimator", "param_grid")
        chance = 0.75 if parameter == "basis" else 0.97 if is_needed else 0.15
        if rng.random() < chance:
            chosen[parameter] = draw_basis(rng) if parameter == "basis" else _draw(rng, values_of(name, parameter))
    return tuple((parameter, value) for parameter, value in chosen.items() if value is not None)


def draw_basis(rng: Any) -> str:
    """The source code of a basis: a name, kernels, a process, or a transformer."""
    kind = rng.random()
    if kind < 0.3:
        return "'passthrough'"
    if kind < 0.33:
        return pick(rng, ODD_BASES)
    if kind < 0.5:
        return pick(rng, TRANSFORMERS)
    name = pick(rng, BASES) if kind < 0.6 else "KernelBasis"
    return f"{name}({', '.join(f'{parameter}={value}' for parameter, value in draw_parameters(rng, name))})"


def _draw(rng: Any, values: Values | None) -> str | None:
    if values is None:
        return None
    return pick(rng, values.odd if values.odd and rng.random() < ODD_SHARE else values.usual)

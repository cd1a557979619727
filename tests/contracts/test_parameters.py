"""Wrong parameters of every public class end in a fit, or in a short error of skarce or scikit-learn that names the parameter."""

import inspect
import math
import warnings

import numpy as np
import pytest

import skarce
from benchmarks.fuzz.faults import fault_of_exception, fault_of_warning
from skarce import CriterionSearch, FastGCVRegressor, PolynomialChaosBasis, SparseRegressor, criteria, searches
from skarce._text import LONGEST_LINE

NUMBERS = (True, -1, 0, -0.5, 1.5, 2**40, 10**400, 1 + 2j, math.nan, math.inf)
OTHERS = (None, "x", "x" * 3000, b"x", [], (1,), {}, object(), np.array([1.0, 2.0]), np.full(2, np.nan), np.array(["a"]))
NO_PARAMETERS = (criteria.Changes, criteria.CompiledRule)  # results, not something that a user makes
X = np.random.default_rng(0).normal(size=(12, 2))
Y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=12)


def classes_of(module):
    found = [getattr(module, name) for name in module.__all__]
    return [one for one in found if inspect.isclass(one) and not inspect.isabstract(one) and inspect.signature(one).parameters]


def target_of(estimator):
    if estimator.__name__.endswith("Classifier"):
        return (Y > 0.0).astype(int)
    return np.round(np.exp(Y)) if "Poisson" in estimator.__name__ else Y


def fit_estimator(estimator, parameter, value):
    given = {parameter: value}
    if "basis" in inspect.signature(estimator).parameters:
        given = {"basis": "rbf", **given}  # quick
    if estimator is PolynomialChaosBasis:
        given = {"distributions": "normal", **given}  # X is outside of [-1, 1]
    if estimator is CriterionSearch:
        choices = {} if parameter == "param_distributions" else {"param_grid": {"tol": [0.1, 0.01]}}
        given = {"estimator": FastGCVRegressor("passthrough"), **choices, **given}
    estimator(**given).fit(X, target_of(estimator))


def fit_part(part, parameter, value):
    made = part(**{parameter: value})
    if isinstance(made, searches.Pools):
        made = searches.GreedyBatches(pools=made)
    if isinstance(made, criteria.Criterion):
        search = None if isinstance(made, (criteria.GCV, criteria.IndividualEvidence)) else searches.Forward()
        SparseRegressor("passthrough", made, search).fit(X, Y)
    else:
        SparseRegressor("passthrough", criteria.GCV() if made.moves_ridges else criteria.SharedGCV(), made).fit(X, Y)


def faults(fit, made, parameter, value):
    """What is wrong with the end of a fit with this value, in words."""
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            fit(made, parameter, value)
        leaked = [fault for w in told if (fault := fault_of_warning(w.category, str(w.message), []))]
        return [f"{parameter}={value!r}: {fault}"[:200] for fault in leaked]
    except Exception as error:
        message, fault = str(error), fault_of_exception(error)
        is_clear = fault is None and parameter in message and len(message) <= LONGEST_LINE and "\n" not in message
        return [] if is_clear else [f"{parameter}={value!r}: {type(error).__name__}: {message}"[:300]]


@pytest.mark.parametrize("estimator", [one for one in classes_of(skarce) if hasattr(one, "fit")])
def test_wrong_parameters_of_estimators_and_bases(estimator, capsys):
    names = inspect.signature(estimator).parameters
    found = [text for name in names for value in NUMBERS + OTHERS for text in faults(fit_estimator, estimator, name, value)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("part", [one for one in (*classes_of(criteria), *classes_of(searches)) if one not in NO_PARAMETERS])
def test_wrong_parameters_of_criteria_and_searches(part):
    names = inspect.signature(part).parameters
    found = [text for name in names for value in NUMBERS + OTHERS for text in faults(fit_part, part, name, value)]
    assert not found, "\n".join(found)

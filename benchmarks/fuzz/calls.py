"""What is asked of a fitted model: a line of source code, and what must hold afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.fuzz import oracles
from benchmarks.fuzz.fingerprint import changed, fingerprints
from skarce import RelevanceVectorPoissonRegressor

Names = dict[str, Any]
QUERIES = {
    "training rows": "X",
    "zeros": "np.zeros((2, np.shape(X)[1]))",
    "far": "np.full((2, np.shape(X)[1]), 1e6)",
    "very far": "np.full((2, np.shape(X)[1]), 1e154)",
    "the farthest": "np.full((2, np.shape(X)[1]), -1e300)",
    "tiny": "np.full((2, np.shape(X)[1]), 1e-310)",
    "single precision": "np.ones((2, np.shape(X)[1]), dtype=np.float32)",
}
BAD_QUERIES = (
    "np.full((2, np.shape(X)[1]), np.nan)",
    "np.full((2, np.shape(X)[1]), np.inf)",
    "np.ones((2, np.shape(X)[1] + 1))",
    "X[:0]",
    "None",
    "'X'",
)
MISSING_X = "np.full((3, np.shape(X)[1]), np.nan), [1.0, 2.0, 3.0]"
BAD_FITS = (
    "np.ones((4, np.shape(X)[1] + 1)), [np.nan, 1.0, 2.0, 3.0]",
    "np.ones((3, 1)), [1.0, 2.0]",
    "pd.DataFrame(np.ones((3, 2)), columns=['p', 'q']), [np.inf, 1.0, 2.0]",
    MISSING_X,
    "np.ones((3, 2)), None",
)
SCALED_BY = ("2.0**40", "2.0**-40", "2.0**500", "2.0**-500", "2.0**900", "2.0**-900")
TIMED = ("results_",)  # attributes that hold times, which differ from fit to fit
SAME, ALMOST_SAME = 1e-6, 1e-3  # differences of predictions: exact up to rounding errors, or found on another way


@dataclass(frozen=True)
class Call:
    """Source code that uses `model`, X, y and w, and a check of what it left in the names."""

    source: str
    check: Callable[[Names], Iterator[tuple[str, str]]] | None = None
    must_raise: bool = False
    kind: str = "answer"  # or "stream", "state", "invariance", "bad"


@cache
def all_calls(fit_arguments: str) -> dict[str, Call]:
    """Every call, by its name; those that change the model come last. `fit_arguments` are such as ``X, y, sample_weight=w``."""
    keeping = {**_answers(), **_copies(fit_arguments), **_bad_calls(), **_invariances(fit_arguments)}
    return {**keeping, **_refits(fit_arguments), **_streams(fit_arguments)}


def _answers() -> dict[str, Call]:
    calls = {}
    for name, query in QUERIES.items():
        calls[f"predict, {name}"] = Call(f"mean = model.predict({query})", _mean)
        calls[f"std, {name}"] = Call(f"mean, std = model.predict({query}, return_std=True)", _mean_and_std)
        source = f"mean, std = model.predict({query}, return_std=True, std='augmented')"
        calls[f"augmented, {name}"] = Call(source, _mean_and_std)
        calls[f"interval, {name}"] = Call(f"lower, upper = model.predict_interval({query}, coverage=0.9)", _interval)
        calls[f"probabilities, {name}"] = Call(
            f"p = model.predict_proba({query})", lambda names: oracles.check_probabilities(names["p"])
        )
        calls[f"latent, {name}"] = Call(f"mean, std = model.latent({query})", _latent)
        calls[f"log probabilities, {name}"] = Call(
            f"p = np.exp(model.predict_log_proba({query}))", lambda names: oracles.check_probabilities(names["p"])
        )
        source = f"mean, std = model.predict({query}, return_std=True)\n_, cov = model.predict({query}, return_cov=True)"
        calls[f"covariance, {name}"] = Call(source, lambda names: oracles.check_covariance(names["cov"], names["std"]))
        calls[f"draws, {name}"] = Call(f"mean = model.sample_y({query}, 3, random_state=0)", _mean)
        calls[f"decision, {name}"] = Call(
            f"odds = model.decision_function({query})", lambda names: oracles.check_finite(names["odds"], "log odds")
        )
        calls[f"transform, {name}"] = Call(
            f"phi = model.transform({query})", lambda names: oracles.check_finite(names["phi"], "transform")
        )
    calls["score"] = Call("score = model.score(X, y)")
    for source in ("model.coef_tests()", "model.coef_interval()", "model.get_support()", "model.coef_marginals()"):
        calls[source] = Call(f"told = {source}")
    for source in ("with_n_basis(1)", "with_n_basis(3)", "with_tol(0.1)", "with_tol(0.0)"):
        calls[source] = Call(f"smaller = model.{source}\nmean = smaller.predict(X)", _mean)
    calls["summary"] = Call("table = summary(model)\ntext = str(table), table.to_string()")
    calls["sobol"] = Call("text = str(sobol_indices(model))")
    calls["weights"] = Call("told = model.coef_ if hasattr(model, 'coef_') else model.dual_coef_")
    calls["names"] = Call("names = model.basis_.get_feature_names_out()")
    calls["repr"] = Call("text = repr(model), str(getattr(model, 'outcome_', ''))")
    return calls


def _copies(fit_arguments: str) -> dict[str, Call]:
    again = f"other = clone(model).fit({fit_arguments})\nmean, expected = other.predict(X), model.predict(X)"
    pickled = "other = pickle.loads(pickle.dumps(model))\nmean, expected = other.predict(X), model.predict(X)"
    return {
        "fit again": Call(again, _same("fitting again", SAME), kind="state"),
        "pickle": Call(pickled, _same("pickle", 0.0), kind="state"),
    }


def _refits(fit_arguments: str) -> dict[str, Call]:
    refit = Call(f"model.fit({fit_arguments})", lambda names: oracles.check_fit(names["model"], 0.0), kind="state")
    calls = {"refit": refit}
    for after in (1, 30, 100, 300, 1000, 3000, 10_000):
        new = "X, y" if after % 10 else "dense(X)[::2], np.asarray(y)[::2]"
        source = f"full = clone(model).fit({new})\ninterrupted(lambda: model.fit({new}), after={after})"
        calls[f"interrupted after {after}"] = Call(source, _old_or_new, kind="state")
    return calls


def _streams(fit_arguments: str) -> dict[str, Call]:
    halves = "h = (np.shape(X)[0] + 1) // 2\nmodel.partial_fit(dense(X)[:h], np.asarray(y)[:h])"
    second = "model.partial_fit(dense(X)[h:], np.asarray(y)[h:])"
    weights = ", w" if "w" in fit_arguments.partition("=")[2] else ""
    blocks = f"model.fit(RowBlocks.from_arrays(dense(X), np.asarray(y){weights}, block_rows=7))"
    return {
        "partial_fit": Call(f"{halves}\n{second}\nmean = model.predict(X)", _fit_and_mean, kind="stream"),
        "partial_fit, bad batch": Call(
            f"{halves}\nmodel.partial_fit(dense(X), np.full(np.shape(X)[0], np.nan))", None, True, "stream"
        ),
        "partial_fit, huge batch": Call(
            f"{halves}\nmodel.partial_fit(dense(X) * 1e200, np.asarray(y))\nmean = model.predict(X)",
            _fit_and_mean,
            kind="stream",
        ),
        "row blocks": Call(f"{blocks}\nmean = model.predict(X)", _fit_and_mean, kind="stream"),
    }


def _bad_calls() -> dict[str, Call]:
    queries = {f"bad query {query}": Call(f"mean = model.predict({query})", None, True, "bad") for query in BAD_QUERIES}
    return queries | {f"bad fit {data}": Call(f"model.fit({data})", None, True, "bad") for data in BAD_FITS}


def _invariances(fit_arguments: str) -> dict[str, Call]:
    """Changes of the data that must change the predictions in a known way, or not at all."""
    weights = re.sub(r"^X, y", "", fit_arguments)
    calls = {}
    for factor in SCALED_BY:
        other = f"other = clone(model).fit(X, np.asarray(y) * {factor}{weights})"
        scaled = f"{other}\nmean, expected = other.predict(X) / {factor}, model.predict(X)"
        calls[f"target times {factor}"] = Call(scaled, _same("the unit of the target", SAME), kind="invariance")
        other = f"Z = dense(X) * {factor}\nother = clone(model).fit(Z, y{weights})"
        scaled = f"{other}\nmean, expected = other.predict(Z), model.predict(X)"
        calls[f"inputs times {factor}"] = Call(scaled, _same("the unit of the inputs", SAME), kind="invariance")
    reversed_rows = (
        "other = clone(model).fit(dense(X)[::-1], np.asarray(y)[::-1])\nmean, expected = other.predict(X), model.predict(X)"
    )
    calls["rows reversed"] = Call(reversed_rows, _same("the order of rows", ALMOST_SAME), kind="invariance")
    twice = (
        "double = clone(model).fit(np.concatenate([dense(X), dense(X)]), np.concatenate([y, y]))\n"
        "other = clone(model).fit(X, y, sample_weight=np.full(np.shape(X)[0], 2.0))\n"
        "mean, expected = other.predict(X), double.predict(X)"
    )
    calls["weight 2"] = Call(twice, _same("weight 2 in place of two rows", ALMOST_SAME), kind="invariance")
    return calls


def _mean(names: Names) -> Iterator[tuple[str, str]]:
    values = np.asarray(names["mean"])
    if values.dtype.kind in "fiub":
        yield from _prediction_check(names)(values, "prediction")


def _mean_and_std(names: Names) -> Iterator[tuple[str, str]]:
    check = _prediction_check(names)
    yield from check(names["mean"], "prediction")
    yield from check(names["std"], "std")


def _interval(names: Names) -> Iterator[tuple[str, str]]:
    lower, upper = np.asarray(names["lower"]), np.asarray(names["upper"])
    if np.isnan(lower).any() or not (lower <= upper).all():
        yield "an interval is not in order", f"{lower.ravel()[:3]} to {upper.ravel()[:3]}"


def _latent(names: Names) -> Iterator[tuple[str, str]]:
    yield from oracles.check_finite(names["mean"], "latent function")
    yield from oracles.check_std(names["std"])


def _prediction_check(names: Names) -> Callable[[Any, str], Iterator[tuple[str, str]]]:
    """Numbers are finite. Rates of counts may exceed the largest number."""
    return oracles.check_rates if isinstance(names["model"], RelevanceVectorPoissonRegressor) else _finite


def _finite(values: Any, name: str) -> Iterator[tuple[str, str]]:
    yield from oracles.check_std(values) if name == "std" else oracles.check_finite(values, name)


def _fit_and_mean(names: Names) -> Iterator[tuple[str, str]]:
    yield from oracles.check_fit(names["model"], 0.0)
    yield from _mean(names)


def _same(what: str, tolerance: float) -> Callable[[Names], Iterator[tuple[str, str]]]:
    return lambda names: oracles.check_same(names["mean"], names["expected"], tolerance, what)


def _old_or_new(names: Names) -> Iterator[tuple[str, str]]:
    """After an interrupt, the model must be the old one, the new one, or not fitted."""
    found, old, new = (
        {name: mark for name, mark in marks.items() if name not in TIMED}
        for marks in (fingerprints(names["model"]), names["__before__"], fingerprints(names["full"]))
    )
    unfitted = set(names["model"].get_params(deep=False))
    if found != old and found != new and set(found) != unfitted:
        yield "interrupt leaves neither the old model nor the new one", f"{', '.join(changed(old, found)[:6])} changed"

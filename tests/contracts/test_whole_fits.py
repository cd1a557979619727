"""A fit is whole or it did not happen, for every estimator and basis: whatever ends it early, the old model stays."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

import skarce
from skarce import (
    CriterionSearch,
    JointFactorRegressor,
    KernelBasis,
    KernelDimensionReduction,
    LaplacePriorRegressor,
    LWPRRegressor,
    OrthogonalLeastSquaresRegressor,
    PolynomialChaosBasis,
    ProcessBasis,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from tests.estimator_lists import LATENT, REGRESSORS
from tests.interrupts import Lines, spread

CENTERS = np.linspace(-2.0, 2.0, 6)[:, None]
STREAMS = {made.__name__: made("passthrough") for made in REGRESSORS} | {
    "landmarks": RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=CENTERS.repeat(3, 1))),
    "forgetting": VBLSRegressor(forgetting=0.9),
    "LaplacePriorRegressor": LaplacePriorRegressor("passthrough", penalty=0.1),
    "no intercept": RelevanceVectorRegressor("passthrough", fit_intercept=False),
    "LWPRRegressor": LWPRRegressor(initial_metric=2.0),
}
FITS = {made.__name__: made("passthrough") for made in (*REGRESSORS, *LATENT)} | {
    "VBLSClassifier": VBLSClassifier("passthrough", tol=0.1),
    "LaplacePriorRegressor": LaplacePriorRegressor("passthrough", penalty=0.1),
    "LWPRRegressor": LWPRRegressor(random_state=0, n_passes=2),
    "JointFactorRegressor": JointFactorRegressor(max_factors=2),
    "KernelDimensionReduction": KernelDimensionReduction(1, n_starts=1, annealing=()),
    "rbf": RelevanceVectorRegressor("rbf"),
    "path": OrthogonalLeastSquaresRegressor("rbf", keep_path=True),
    "CriterionSearch": CriterionSearch(RelevanceVectorRegressor("passthrough"), {"tol": [1e-3, 1e-1]}),
    "KernelBasis": KernelBasis(centers=3, random_state=0),
    "learned widths": KernelBasis(gamma="evidence", width_params={"max_iter": 1, "n_starts": 1}),
    "PolynomialChaosBasis": PolynomialChaosBasis(2, distributions="normal"),
    "ProcessBasis": ProcessBasis(gamma="scale"),
}
TIMES = "fit_time"
N_POINTS = 6  # moments at which a fit is interrupted, besides its last ones


def rows(model, seed=0, d=3, n=24):
    """A table with targets that the model takes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signal = X[:, 0] - 2.0 * X[:, 1] + 0.1 * rng.normal(size=n)
    if is_classifier(model):
        return X, np.where(signal + rng.normal(size=n) > 0, "yes", "no")
    return X, np.floor(np.exp(0.5 * signal)) if isinstance(model, RelevanceVectorPoissonRegressor) else signal


def fitted(name):
    """A model of a table with names. Its next table has other columns and no names."""
    model = clone(FITS[name])
    X, y = rows(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)


def state(model):
    """Every attribute, as bytes: nothing that a fit touches may change in place either. Times of trials are left out."""
    attributes = dict(vars(model))
    if "results_" in attributes:
        attributes["results_"] = {name: column for name, column in attributes["results_"].items() if name != TIMES}
    return {name: pickle.dumps(value) for name, value in attributes.items()}


def answer(model, X):
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def refit(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def test_every_public_estimator_and_basis_is_here():
    tested = {type(model).__name__ for model in FITS.values()}
    assert tested == {name for name in skarce.__all__ if hasattr(getattr(skarce, name), "fit")}


@pytest.mark.parametrize("name", FITS)
def test_an_interrupt_leaves_the_old_model_or_the_new_one(name):
    start, second = pickle.dumps(fitted(name)), rows(FITS[name], seed=1, d=2)
    old, whole = state(pickle.loads(start)), pickle.loads(start)
    n_lines, new = Lines().run(lambda: refit(whole, *second)).count, state(whole)
    ends = []
    for stop in spread(n_lines, N_POINTS, 4):
        model = pickle.loads(start)
        assert Lines(stop).run(lambda model=model: refit(model, *second)).was_interrupted
        ends.append([old, new].index(state(model)))  # a mixture of the two is in neither place
    assert ends[-1:] == [1]  # the last line only returns the model, which has changed in one step before
    assert ends[:-1] == [0] * (len(ends) - 1)


@pytest.mark.parametrize("name", FITS)
def test_an_interrupted_first_fit_leaves_an_unfitted_model(name):
    data, whole = rows(FITS[name]), clone(FITS[name])
    n_lines, unfitted = Lines().run(lambda: refit(whole, *data)).count, state(clone(FITS[name]))
    for stop in spread(n_lines, N_POINTS // 2, 1)[:-1]:
        model = clone(FITS[name])
        assert Lines(stop).run(lambda model=model: refit(model, *data)).was_interrupted
        assert state(model) == unfitted


@pytest.mark.parametrize("name", FITS)
def test_a_refit_with_unusable_data_leaves_the_old_model(name):
    model, X = fitted(name), pd.DataFrame(rows(FITS[name])[0], columns=["a", "b", "c"])
    before, answers = state(model), answer(model, X)
    other, y = rows(FITS[name], seed=1, d=2)
    holes = np.where(other > 1.0, np.nan, other)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(holes, y)
    if hasattr(model, "predict"):
        with pytest.raises(ValueError, match="inconsistent"):
            model.fit(other, y[:-1])
    assert state(model) == before
    np.testing.assert_array_equal(answer(model, X), answers)


@pytest.mark.parametrize("name", [name for name in FITS if hasattr(FITS[name], "tol")])
def test_a_refit_with_an_unusable_parameter_leaves_the_old_model(name):
    model, (X, y) = fitted(name), rows(FITS[name], seed=1, d=2)
    wrong_basis = [{"max_iter": 10, "basis": "rbv"}] if hasattr(model, "basis") else []
    for bad in ({"tol": -1.0}, {"tol": 0.1, "max_iter": 0}, *wrong_basis):
        before = state(model.set_params(**bad))
        with pytest.raises(ValueError, match="must be"):
            model.fit(X, y)
        assert state(model) == before


@pytest.mark.parametrize("name", [name for name in FITS if hasattr(FITS[name], "max_iter") or name == "CriterionSearch"])
def test_a_warning_that_is_an_error_leaves_the_old_model(name):
    model, (X, y) = fitted(name), rows(FITS[name], seed=1, d=2)
    model.set_params(**({"estimator__max_iter": 1} if name == "CriterionSearch" else {"max_iter": 1}))
    before = state(model)
    try:
        model.fit(X, y)
    except UserWarning:  # the configuration of pytest turns warnings into errors
        assert state(model) == before
    else:
        assert name != "RelevanceVectorRegressor"  # this one needs more than one step


class Kernel:
    """A linear kernel that raises at its n-th call."""

    def __init__(self):
        self.calls_left = np.inf

    def __call__(self, X, C):
        self.calls_left -= 1
        if self.calls_left < 0:
            raise ArithmeticError("no kernel today")
        return X @ C.T

    def __getstate__(self):
        return {}

    def __setstate__(self, state):
        self.calls_left = np.inf


@pytest.mark.parametrize("made", [*REGRESSORS, *LATENT])
def test_a_kernel_that_raises_leaves_the_old_model(made):
    kernel = Kernel()
    model = made(KernelBasis(kernel, gamma=1.0))
    first, second = rows(model, n=20), rows(model, seed=1, d=2, n=20)
    before, answers = state(refit(model, *first)), answer(model, first[0])
    for calls in range(100):
        kernel.calls_left = calls
        try:
            refit(model, *second)
        except ArithmeticError:
            kernel.calls_left = np.inf
            assert state(model) == before
            np.testing.assert_array_equal(answer(model, first[0]), answers)
        else:
            assert calls > 0
            break


@pytest.mark.parametrize("name", STREAMS)
def test_an_interrupted_batch_can_be_given_again(name):
    X, y = rows(STREAMS[name], n=60)
    parts = slice(0, 24), slice(24, 40), slice(40, 60)

    def part_of_the_stream(model, *numbers):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number in numbers:
                model.partial_fit(X[parts[number]], y[parts[number]])
        return model

    start = pickle.dumps(part_of_the_stream(clone(STREAMS[name]), 0))
    old, whole = state(pickle.loads(start)), pickle.loads(start)
    n_lines = Lines().run(lambda: part_of_the_stream(whole, 1)).count
    new = state(part_of_the_stream(whole, 2))
    for stop in spread(n_lines, N_POINTS, 3)[:-1]:  # at the last line, the batch is in the model
        model = pickle.loads(start)
        assert Lines(stop).run(lambda model=model: part_of_the_stream(model, 1)).was_interrupted
        assert state(model) == old
        assert state(part_of_the_stream(model, 1, 2)) == new


@pytest.mark.parametrize("name", STREAMS)
def test_a_batch_that_raises_can_be_given_again(name):
    X, y = rows(STREAMS[name], n=40)
    model, whole = clone(STREAMS[name]).partial_fit(X[:20], y[:20]), clone(STREAMS[name]).partial_fit(X[:20], y[:20])
    before = state(model)
    batches = [(X[20:], 1e200 * y[20:]), (X[20:, :2], y[20:]), (X[20:], np.full(20, np.nan)), (X[20:], y[21:])]
    if getattr(model, "basis", "passthrough") == "passthrough":  # kernels of rows that are far away are zero
        batches.append((1e200 * X[20:], y[20:]))
    for bad_X, bad_y in batches:
        with pytest.raises(ValueError):
            model.partial_fit(bad_X, bad_y)
        assert state(model) == before
    assert state(model.partial_fit(X[20:], y[20:])) == state(whole.partial_fit(X[20:], y[20:]))

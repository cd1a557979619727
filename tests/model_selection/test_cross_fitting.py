"""Refits without some rows, from added moments and from the rows, against fits of an estimator to the other rows."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skarce import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    KernelBasis,
    LaplacePriorRegressor,
    LocalRidgeRegressor,
    OrthogonalLeastSquaresRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    StepwiseRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce.designs.folds import hashed_splits
from skarce.model_selection.cross_fitting import TimeIsUpError, cross_fit
from skarce.states.budget import Budget
from tests.estimator_lists import LATENT, REGRESSORS
from tests.oracles import std_without

BY_MOMENTS = {made.__name__: made("passthrough") for made in REGRESSORS} | {
    "sequential": RelevanceVectorRegressor("passthrough", solver="sequential"),
    "em": RelevanceVectorRegressor("passthrough", solver="em"),
    "paper": FastGCVRegressor("passthrough", noise_update="paper"),
    "floating": EvidenceSearchRegressor("passthrough", search="floating"),
    "always in": EvidenceSearchRegressor("passthrough", always_in=[2]),
    "groups": VBLSRegressor(prior=np.arange(8) // 2),
    "shared": VBLSRegressor(prior="shared"),
    "no prior": VBLSRegressor(prior="none"),
    "penalty": LaplacePriorRegressor("passthrough", penalty=0.1),
}


def table(n=80, d=8, seed=0, weighted=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ np.where(np.arange(d) < 3, 2.0 - 0.5 * np.arange(d), 0.0) + 1.0 + 0.5 * rng.normal(size=n)
    return X, y, rng.integers(0, 4, n).astype(float) if weighted else None


def prepared(model, kind, X, y, weights):
    model.set_params(**({"moments": kind} if "moments" in model.get_params() else {}))
    method = model._method()
    return model._prepare(X, y, weights, method), method


def left_out(model, kind, X, y, weights, splits=None, **options):
    ready, method = prepared(model, kind, X, y, weights)
    whole = [
        method.posterior(fit, problem)
        for fit, problem in zip(method.run_all(ready.problems, model._budget(0.0)), ready.problems, strict=True)
    ]
    splits = hashed_splits(ready.design) if splits is None else splits
    return cross_fit(method, ready.design, ready.problems, whole, splits, model._budget(0.0), kind=kind, **options), whole, splits


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", BY_MOMENTS)
def test_refits_from_added_moments_from_rows_and_by_an_estimator_agree(name, fit_intercept):
    X, y, weights = table()
    model = BY_MOMENTS[name].set_params(fit_intercept=fit_intercept)
    added, whole, splits = left_out(model, "whole", X, y, weights)
    by_rows, *_ = left_out(model, "whole", X, y, weights, are_folds=False)
    np.testing.assert_allclose(added.means, by_rows.means, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(added.variances, by_rows.variances, rtol=1e-5)
    start = 0
    for fitted, left in splits:
        other = type(model)(**{**model.get_params(deep=False), "calibrate_std": False}).fit(X[fitted], y[fitted], weights[fitted])
        part = slice(start, start + len(left))
        start = part.stop
        np.testing.assert_allclose(added.means[part, 0], other.predict(X[left]), rtol=1e-5, atol=1e-5)
        columns = X[:, whole[0].active]
        std = std_without(whole[0], columns[fitted], columns[left], weights[fitted], fit_intercept)
        np.testing.assert_allclose(np.sqrt(added.variances[part, 0]), std, rtol=1e-8)
        np.testing.assert_array_equal(added.targets[part, 0], y[left])
        np.testing.assert_array_equal(added.weights[part], weights[left])


@pytest.mark.parametrize("kind", ["whole", "columns"])
@pytest.mark.parametrize(
    "made", [RelevanceVectorRegressor, EvidenceRegressor, OrthogonalLeastSquaresRegressor, BackwardEliminationRegressor]
)
def test_kernels_are_those_of_the_rows_that_stay(made, kind):
    """A refit is the fit of the same kernels, with the same width, at the other rows."""
    X, y, _ = table(60, 2, weighted=False)
    options = {"moments": kind} | ({"tol": 1e-9, "solver": "sequential"} if made is RelevanceVectorRegressor else {})
    model = made(KernelBasis(gamma=0.7), **options)
    found, whole, splits = left_out(model, kind, X, y, None)
    start = 0
    for fitted, left in splits:
        other = made(KernelBasis(gamma=0.7, centers=X[fitted]), calibrate_std=False, **options).fit(X[fitted], y[fitted])
        part = slice(start, start + len(left))
        start = part.stop
        np.testing.assert_allclose(found.means[part, 0], other.predict(X[left]), rtol=1e-4, atol=1e-4)
        columns = np.exp(-0.7 * cdist(X, X[whole[0].active], "sqeuclidean"))
        columns[:, np.isin(whole[0].active, left)] = 0.0  # a new row has no kernel of its own
        std = std_without(whole[0], columns[fitted], columns[left], np.ones(len(fitted)))
        np.testing.assert_allclose(np.sqrt(found.variances[part, 0]), std, rtol=1e-4)


def test_student_noise_is_refitted_from_the_rows():
    X, y, weights = table()
    model = VBLSRegressor(noise="student-t", degrees_of_freedom=4.0)
    found, whole, splits = left_out(model, "auto", X, y, weights)
    fitted, left = splits[0]
    other = VBLSRegressor(noise="student-t", degrees_of_freedom=4.0, calibrate_std=False).fit(X[fitted], y[fitted], weights[fitted])
    np.testing.assert_allclose(found.means[: len(left), 0], other.predict(X[left]), rtol=1e-5, atol=1e-5)
    std = other.predict(X[left], return_std=True)[1] * np.sqrt(whole[0].noise_variance / other.noise_variance_)
    np.testing.assert_allclose(np.sqrt(found.variances[: len(left), 0]), std, rtol=1e-4)


@pytest.mark.parametrize("made", LATENT)
def test_latent_functions_are_refitted_from_the_rows(made):
    X, y, weights = table()
    targets = np.round(np.exp(0.3 * y)) if made is RelevanceVectorPoissonRegressor else (y > 1.0).astype(int)
    found, _, splits = left_out(made("passthrough"), "auto", X, targets, weights)
    fitted, left = splits[0]
    other = made("passthrough", calibrate_proba=False).fit(X[fitted], targets[fitted], weights[fitted])
    mean, std = other.latent(X[left])
    np.testing.assert_allclose(found.means[: len(left), 0], mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.variances[: len(left), 0], std**2, rtol=1e-4)


@pytest.mark.parametrize("made", [RelevanceVectorClassifier, VBLSClassifier])
def test_a_class_may_be_left_out_as_a_whole(made):
    X, y, _ = table(40, 2, weighted=False)
    labels = np.where(np.arange(40) == 3, 2, y > 1.0).astype(int)
    found, *_ = left_out(made("passthrough"), "auto", X, labels, None)
    assert np.isfinite(found.means).all()
    assert found.means.shape == (40, 3)


def test_splits_without_an_event_are_skipped():
    X, _, _ = table(30, 2, weighted=False)
    counts = np.zeros(30)
    counts[4] = 3.0
    found, _, splits = left_out(RelevanceVectorPoissonRegressor("passthrough"), "auto", X, counts, None)
    assert len(found.targets) == sum(len(left) for _, left in splits if 4 not in left)
    with pytest.raises(ValueError, match="no split"):
        left_out(
            RelevanceVectorPoissonRegressor("passthrough"), "auto", X, counts, None, splits=[(np.array([1, 2]), np.array([4]))]
        )


def test_the_time_limit_is_an_error_of_its_own():
    X, y, _ = table(weighted=False)
    ready, method = prepared(LocalRidgeRegressor("passthrough"), "auto", X, y, None)
    fits = method.run_all(ready.problems, Budget())
    whole = [method.posterior(fit, problem) for fit, problem in zip(fits, ready.problems, strict=True)]
    with warnings.catch_warnings(), pytest.raises(TimeIsUpError):
        cross_fit(method, ready.design, ready.problems, whole, hashed_splits(ready.design), Budget(deadline=0.0))


def test_a_refit_is_not_told_what_the_whole_fit_has_chosen():
    """A model of the whole that uses an input because of one row does not hand it to the refit without this row."""
    X, y, _ = table(60, 8, weighted=False)
    X[:, 7] = 0.0
    X[10, 7], y[10] = 1.0, 100.0
    found, whole, splits = left_out(StepwiseRegressor("passthrough"), "whole", X, y, None)
    assert 7 in whole[0].active
    place = np.flatnonzero(np.concatenate([left for _, left in splits]) == 10)[0]
    assert abs(found.means[place, 0]) < 10.0

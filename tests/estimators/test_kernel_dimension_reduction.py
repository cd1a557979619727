"""Kernel dimension reduction as a transformer."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline

from skarce import KernelDimensionReduction, RelevanceVectorRegressor

QUICK = {"n_starts": 2}


def ridge_problem(rng, n=150, d=5):
    X = rng.normal(size=(n, d)) * [1.0, 10.0, 0.1, 1.0, 5.0][:d] + 3.0
    z = (X - 3.0) / [1.0, 10.0, 0.1, 1.0, 5.0][:d]
    return X, (z[:, 0] + z[:, 1]) ** 2 + 0.1 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    X, y = ridge_problem(np.random.default_rng(0))
    return KernelDimensionReduction().fit(X, y)


def test_it_finds_the_direction_and_the_number_of_directions(fitted):
    assert fitted.n_components_ == 1
    np.testing.assert_allclose(np.abs(fitted.components_), [[0.71, 0.71, 0.0, 0.0, 0.0]], atol=0.1)
    assert list(fitted.errors_) == [1, 2]
    assert 0.0 < fitted.contrast_ < 1.0
    assert fitted.contrast_ == fitted.start_contrasts_.min()


@pytest.mark.parametrize("K", [1, 2, 5])
def test_components_are_orthonormal_and_project_scaled_inputs(K, rng):
    X, y = ridge_problem(rng)
    model = KernelDimensionReduction(K, **QUICK).fit(X, y)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(K), atol=1e-12)
    np.testing.assert_allclose(model.transform(X), (X - X.mean(axis=0)) / X.std(axis=0) @ model.components_.T, atol=1e-9)


def test_units_change_nothing(rng):
    X, y = ridge_problem(rng)
    first, second = (KernelDimensionReduction(1, **QUICK).fit(factor * X, y / factor) for factor in (1.0, 2.0**400))
    np.testing.assert_allclose(np.abs(first.components_), np.abs(second.components_), atol=1e-6)


def test_labels_are_targets_too(rng):
    X = rng.normal(size=(150, 4))
    labels = np.where(np.abs(X[:, 0]) > 0.7, "far", "near")
    by_name = KernelDimensionReduction(1, **QUICK).fit(X, labels)
    assert abs(by_name.components_[0, 0]) > 0.9
    by_number = KernelDimensionReduction(1, target_kernel="labels", **QUICK).fit(X, (labels == "far").astype(int))
    np.testing.assert_allclose(by_number.components_, by_name.components_, atol=1e-6)
    with pytest.raises(ValueError, match="y must hold numbers"):
        KernelDimensionReduction(1, target_kernel="rbf", **QUICK).fit(X, labels)


def test_several_targets(rng):
    X = rng.normal(size=(200, 5))
    Y = np.column_stack([X[:, 0] ** 2, np.sin(2 * X[:, 1])]) + 0.1 * rng.normal(size=(200, 2))
    model = KernelDimensionReduction(2, **QUICK).fit(X, Y)
    assert np.abs(model.components_[:, 2:]).max() < 0.2


def test_many_rows_are_sampled(rng):
    X, y = ridge_problem(rng, n=3000)
    model = KernelDimensionReduction(1, max_rows=300, n_landmarks=50, **QUICK).fit(X, y)
    np.testing.assert_allclose(np.abs(model.components_), [[0.71, 0.71, 0.0, 0.0, 0.0]], atol=0.12)


def test_the_seed_decides(rng):
    X, y = ridge_problem(rng)
    same = [KernelDimensionReduction(2, n_landmarks=40, random_state=seed, **QUICK).fit(X, y).components_ for seed in (None, 0)]
    np.testing.assert_array_equal(*same)
    other = KernelDimensionReduction(2, n_landmarks=40, random_state=1, **QUICK).fit(X, y).components_
    assert np.abs(other - same[0]).max() > 1e-6


def test_in_front_of_a_model(rng):
    X, y = ridge_problem(rng, n=300)
    model = make_pipeline(KernelDimensionReduction(1, **QUICK), RelevanceVectorRegressor()).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.9


def test_names_of_what_comes_out(fitted):
    assert list(fitted.get_feature_names_out()) == ["kerneldimensionreduction0"]
    X, y = ridge_problem(np.random.default_rng(0))
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = KernelDimensionReduction(2, **QUICK).set_output(transform="pandas").fit(frame, y)
    assert list(model.transform(frame).columns) == ["kerneldimensionreduction0", "kerneldimensionreduction1"]


def test_a_pickle_transforms_alike(fitted, rng):
    X, _ = ridge_problem(rng)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), fitted.transform(X))
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)


def test_constant_columns_do_not_matter(rng):
    X, y = ridge_problem(rng)
    X[:, 3] = 7.0
    model = KernelDimensionReduction(1, **QUICK).fit(X, y)
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("target", [np.ones(150), np.full(150, "a")])
def test_a_target_that_does_not_vary_is_refused(target, rng):
    with pytest.raises(ValueError, match="y does not vary"):
        KernelDimensionReduction().fit(ridge_problem(rng)[0], target)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 6}, r"n_components=6 must be at most the number of columns of X, 5"),
        ({"n_components": 0}, r'n_components must be "auto" or a whole number'),
        ({"annealing": (0.5,)}, r"annealing must be a sequence of numbers from 1"),
        ({"annealing": 3.0}, r"annealing must be a sequence of numbers from 1"),
        ({"width": 0.0}, r"width must be a number from"),
        ({"regularization": np.nan}, r"regularization must be a number from"),
        ({"max_rows": 2}, r"max_rows must be a whole number of at least 3"),
    ],
)
def test_parameters_that_do_not_fit(parameters, message, rng):
    with pytest.raises(ValueError, match=message):
        KernelDimensionReduction(**parameters).fit(*ridge_problem(rng))


def test_a_search_that_has_not_converged_warns(rng):
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        KernelDimensionReduction(2, max_iter=1, tol=1e-9, n_starts=1).fit(*ridge_problem(rng))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_annealing_helps_to_find_the_subspace():
    """In some of these problems, narrow kernels alone end in a local minimum."""
    found, truth = [], np.diag([1.0, 1.0, *np.zeros(8)])
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 10))
        y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.2 * rng.normal(size=100)
        fits = [KernelDimensionReduction(2, annealing=factors, **QUICK).fit(X, y).components_ for factors in ((4.0, 2.0), ())]
        found.append([np.linalg.norm(B.T @ B - truth) for B in fits])
    with_it, without = np.mean(found, axis=0)
    assert with_it < 0.5 * without


@pytest.mark.parametrize(("other", "message"), [("a", "y mixes strings with other labels"), (None, "y has 20 missing labels")])
def test_labels_without_an_order_are_refused(other, message, rng):
    with pytest.raises(ValueError, match=message):
        KernelDimensionReduction(1).fit(rng.normal(size=(40, 2)), np.array([1, other] * 20, dtype=object))


def test_inputs_that_do_not_vary_are_refused(rng):
    with pytest.raises(ValueError, match="X does not vary"):
        KernelDimensionReduction(1).fit(np.ones((40, 2)), rng.normal(size=40))

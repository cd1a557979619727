"""Sobol indices against exact values, against shares that predictions show, and against draws from the posterior."""

import itertools

import numpy as np
import pytest
from scipy import special, stats
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skarce import (
    FastGCVRegressor,
    OrthogonalLeastSquaresRegressor,
    PolynomialChaosBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.inspection import sobol_indices

METHODS = [VBLSRegressor, RelevanceVectorRegressor, FastGCVRegressor, OrthogonalLeastSquaresRegressor]


def ishigami(X, a=7.0, b=0.1):
    return np.sin(X[:, 0]) + a * np.sin(X[:, 1]) ** 2 + b * X[:, 2] ** 4 * np.sin(X[:, 0])


def exact_ishigami(a=7.0, b=0.1):
    """First, total and second indices: the integrals over [-pi, pi] by hand."""
    first = np.array([0.5 * (1.0 + b * np.pi**4 / 5.0) ** 2, a**2 / 8.0, 0.0])
    pair = 8.0 * b**2 * np.pi**8 / 225.0
    second = np.zeros((3, 3))
    second[0, 2] = second[2, 0] = pair
    variance = first.sum() + pair
    return first / variance, (first + second.sum(axis=0)) / variance, second / variance, variance


def g_function(X, a):
    return np.prod((np.abs(4.0 * X - 2.0) + a) / (1.0 + a), axis=1)


def exact_g_function(a):
    parts = 1.0 / (3.0 * (1.0 + a) ** 2)
    variance = np.prod(1.0 + parts) - 1.0
    total = parts * np.prod(1.0 + parts) / (1.0 + parts)
    second = np.outer(parts, parts)
    np.fill_diagonal(second, 0.0)
    return parts / variance, total / variance, second / variance, variance


@pytest.mark.parametrize("method", METHODS)
def test_ishigami(method):
    X = np.random.default_rng(0).uniform(-np.pi, np.pi, (200, 3))
    basis = PolynomialChaosBasis(12, q_norm=0.75, distributions=stats.uniform(-np.pi, 2.0 * np.pi))
    model = method(basis).fit(X, ishigami(X))
    found, (first, total, second, variance) = sobol_indices(model), exact_ishigami()
    np.testing.assert_allclose(found.first, first, atol=2e-3)
    np.testing.assert_allclose(found.total, total, atol=2e-3)
    np.testing.assert_allclose(found.second, second, atol=2e-3)
    assert found.variance == pytest.approx(variance, rel=5e-3)
    assert model.intercept_ == pytest.approx(3.5, abs=0.02)  # the mean, a / 2


@pytest.mark.parametrize("method", METHODS)
def test_g_function(method):
    a = np.array([0.0, 1.0, 4.5, 9.0, 99.0])
    X = np.random.default_rng(1).uniform(0.0, 1.0, (600, 5))
    basis = PolynomialChaosBasis(10, q_norm=0.6, interaction_order=2, distributions=stats.uniform())
    found = sobol_indices(method(basis).fit(X, g_function(X, a)))
    first, total, second, variance = exact_g_function(a)
    np.testing.assert_allclose(found.first, first, atol=0.03)  # kinks at 1/2 are polynomials only up to some error
    np.testing.assert_allclose(found.total, total, atol=0.03)
    np.testing.assert_allclose(found.second, second, atol=0.03)
    assert found.variance == pytest.approx(variance, rel=0.1)


def exact_integrals(predict, n_inputs, rule, n=8):
    """First and total indices of a function by quadrature over all inputs, without looking at its terms."""
    nodes, weights = rule(n)
    grid = np.array(list(itertools.product(nodes, repeat=n_inputs)))
    values = predict(grid).reshape([n] * n_inputs)
    weights = weights / weights.sum()

    def averaged(array, axes):
        for axis in sorted(axes, reverse=True):
            array = np.tensordot(array, weights, axes=(axis, 0))
        return array

    every = range(n_inputs)
    mean = averaged(values, every)
    variance = averaged((values - mean) ** 2, every)
    first, total = [], []
    for one in every:
        others = [axis for axis in every if axis != one]
        first.append(averaged((averaged(values, others) - mean) ** 2, [0]) / variance)
        rest = averaged((averaged(values, [one]) - mean) ** 2, range(n_inputs - 1))
        total.append(1.0 - rest / variance)
    return np.array(first), np.array(total), variance


@pytest.mark.parametrize("method", METHODS)
def test_indices_are_those_of_the_prediction(method, rng):
    X = rng.normal(size=(60, 3))
    y = X[:, 0] * X[:, 1] * X[:, 2] + X[:, 0] ** 2 + X[:, 1] + rng.normal(0.0, 1.0, 60)
    model = method(PolynomialChaosBasis(4, distributions="normal")).fit(X, y)
    first, total, variance = exact_integrals(model.predict, 3, special.roots_hermitenorm)
    found = sobol_indices(model)
    np.testing.assert_allclose(found.first, first, atol=1e-10)
    np.testing.assert_allclose(found.total, total, atol=1e-10)
    assert found.variance == pytest.approx(variance)
    np.testing.assert_allclose(found.second, found.second.T)
    assert (found.second.diagonal() == 0.0).all()


def drawn_indices(model, n_draws=40_000):
    """Indices of each of many draws of the weights from the posterior, in loops over the terms."""
    posterior = model.posterior_
    terms = model.basis_.transformer.multi_indices_[posterior.active]
    draws = np.random.default_rng(0).multivariate_normal(posterior.mean, posterior.covariance, n_draws) ** 2
    n_inputs = terms.shape[1]
    first, total, second = np.zeros((n_draws, n_inputs)), np.zeros((n_draws, n_inputs)), np.zeros((n_draws, n_inputs, n_inputs))
    for squares, term in zip(draws.T, terms, strict=True):
        inputs = np.flatnonzero(term)
        total[:, inputs] += squares[:, None]
        if len(inputs) == 1:
            first[:, inputs[0]] += squares
        if len(inputs) == 2:
            second[:, inputs[0], inputs[1]] += squares
            second[:, inputs[1], inputs[0]] += squares
    whole = draws.sum(axis=1)
    return {"first": first / whole[:, None], "total": total / whole[:, None], "second": second / whole[:, None, None]}


@pytest.mark.parametrize("noise", [0.1, 1.0])
@pytest.mark.parametrize("method", METHODS)
def test_stds_are_those_of_draws_from_the_posterior(method, noise):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (150, 3))
    y = 2.0 * X[:, 0] + X[:, 1] ** 2 + 3.0 * X[:, 0] * X[:, 2] + rng.normal(0.0, noise, 150)
    model = method(PolynomialChaosBasis(3)).fit(X, y)
    found, drawn = sobol_indices(model), drawn_indices(model)
    for name, draws in drawn.items():
        std = draws.std(axis=0)
        np.testing.assert_allclose(found[f"{name}_std"], std, rtol=0.1, atol=1e-5)
        assert (np.abs(found[name] - draws.mean(axis=0)) <= 1.0 * std + 1e-6).all()
    assert found.total_std.max() > 0.001


def test_stds_say_how_far_the_indices_are_from_the_truth():
    """Over many draws of the data, errors of the share of x1 divided by their std are about standard normal."""
    ratios = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (100, 2))
        y = X[:, 0] + X[:, 0] * X[:, 1] + rng.normal(0.0, 0.3, 100)
        found = sobol_indices(VBLSRegressor(PolynomialChaosBasis(2), calibrate_std=False).fit(X, y))
        ratios.append((found.total[1] - 0.25) / found.total_std[1])  # variances 1/3 and 1/9
    assert 0.7 < np.std(ratios) < 1.4
    assert abs(np.mean(ratios)) < 0.5


def test_several_targets_have_one_row_each(rng):
    X = rng.uniform(-1, 1, (100, 3))
    Y = np.column_stack([X[:, 0] + 0.1 * rng.normal(size=100), X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=100)])
    basis = PolynomialChaosBasis(3)
    found = sobol_indices(RelevanceVectorRegressor(basis).fit(X, Y))
    assert found.first.shape == found.total_std.shape == (2, 3)
    assert found.second.shape == (2, 3, 3)
    for place in range(2):
        alone = sobol_indices(RelevanceVectorRegressor(basis).fit(X, Y[:, place]))
        for name in ("first", "total", "second", "first_std", "total_std", "second_std", "variance"):
            np.testing.assert_allclose(found[name][place], alone[name], rtol=1e-6, atol=1e-12)
    assert str(found).startswith("target 0\ninput")


def test_a_model_without_terms_has_zeros(rng):
    X = rng.uniform(-1, 1, (30, 2))
    found = sobol_indices(RelevanceVectorRegressor(PolynomialChaosBasis(2)).fit(X, np.ones(30)))
    assert found.variance == 0.0
    for name in ("first", "total", "second", "first_std", "total_std", "second_std"):
        assert not found[name].any()


def test_names_mapping_and_print(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.uniform(-1, 1, (100, 3)), columns=["load", "width", "idle"])
    y = X["load"] + X["load"] * X["width"] + 0.05 * rng.normal(size=100)
    found = sobol_indices(VBLSRegressor(PolynomialChaosBasis(2)).fit(X, y))
    assert found.inputs == ("load", "width", "idle")
    assert list(found) == ["first", "total", "second", "first_std", "total_std", "second_std", "variance", "inputs"]
    assert dict(found)["total"] is found.total
    with pytest.raises(KeyError):
        found["third"]
    lines = str(found).splitlines()
    assert lines[1].split()[:4] == ["load", f"{found.first[0]:.4f}", "+-", f"{found.first_std[0]:.1e}"]
    assert any(line.startswith("load, width") for line in lines)
    assert len({len(line) for line in lines[:4]}) == 1  # columns are aligned


@pytest.mark.parametrize("place", ["around the model", "as its basis"])
def test_scalers_change_no_index(place, rng):
    X = rng.uniform(-1, 1, (80, 2))
    y = X[:, 0] + X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=80)
    shift, stretch = np.array([5.0, -2.0]), np.array([0.1, 30.0])
    chaos = PolynomialChaosBasis(3, distributions=stats.uniform(-1.1, 2.2))
    scaler = MinMaxScaler((-1.0, 1.0))
    if place == "around the model":
        model = make_pipeline(scaler, VBLSRegressor(chaos))
    else:
        model = VBLSRegressor(make_pipeline(scaler, chaos))
    plain = VBLSRegressor(chaos).fit(scaler.fit_transform(X), y)
    found = sobol_indices(model.fit(shift + stretch * X, y))
    np.testing.assert_allclose(found.total, sobol_indices(plain).total, rtol=1e-6)
    assert found.inputs == ("x0", "x1")


def test_names_come_from_the_front_of_a_pipeline(rng):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["load", "width"])
    chaos = PolynomialChaosBasis(2, distributions="normal")
    for model in (make_pipeline(StandardScaler(), VBLSRegressor(chaos)), VBLSRegressor(make_pipeline(StandardScaler(), chaos))):
        assert sobol_indices(model.fit(X, X["load"] + 0.1 * rng.normal(size=80))).inputs == ("load", "width")


def test_what_is_not_sound_is_refused(rng):
    X = rng.uniform(-1, 1, (60, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    chaos = PolynomialChaosBasis(2, distributions="normal")
    with pytest.raises(ValueError, match=r"step 'pca' of the model is PCA\(\), which may mix inputs"):
        sobol_indices(make_pipeline(PCA(), VBLSRegressor(chaos)).fit(X, y))
    with pytest.raises(ValueError, match=r"step 'pca' of the basis is PCA\(\), which may mix inputs"):
        sobol_indices(VBLSRegressor(make_pipeline(PCA(), chaos)).fit(X, y))
    for basis in ("passthrough", "rbf", StandardScaler()):
        with pytest.raises(ValueError, match=r"needs basis=PolynomialChaosBasis\(...\), got basis="):
            sobol_indices(VBLSRegressor(basis).fit(X, y))
    with pytest.raises(TypeError, match="needs an estimator of skarce, or a Pipeline that ends in one, got Ridge"):
        sobol_indices(Ridge().fit(X, y))
    with pytest.raises(TypeError, match="Pass its best_estimator_"):
        sobol_indices(GridSearchCV(VBLSRegressor(chaos), {"tol": [1e-3]}).fit(X, y))
    with pytest.raises(NotFittedError):
        sobol_indices(VBLSRegressor(chaos))
    with pytest.raises(NotFittedError):
        sobol_indices(make_pipeline(StandardScaler(), VBLSRegressor(chaos)))


def test_counts_and_classes_have_the_indices_of_their_latent_function(rng):
    X = rng.uniform(-1, 1, (600, 2))
    latent = 2.0 * X[:, 0]
    counts = sobol_indices(RelevanceVectorPoissonRegressor(PolynomialChaosBasis(2)).fit(X, rng.poisson(np.exp(latent))))
    classes = sobol_indices(RelevanceVectorClassifier(PolynomialChaosBasis(2)).fit(X, rng.random(600) < special.expit(latent)))
    for found in (counts, classes):
        assert found.first.shape == (2,)
        assert found.first[0] > 0.9
        assert (found.total_std < 0.1).all()

"""The evidence of labels against a slow version of its equations, and its gradient against differences."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from skarce import KernelBasis
from skarce.model_selection.flatness_prior import FlatnessPrior
from skarce.model_selection.kernel_slopes import KernelSlopes
from skarce.model_selection.label_evidence import LabelEvidence
from skarce.model_selection.width_evidence import WeightedTargets, WidthEvidence

WIDTHS, RATIO, TAU = np.array([0.3, 0.7, 0.1]), 3.0, 10.0


def small_problem(n_classes, weighted, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 3))
    latent = 2.0 * np.sin(2.0 * X[:, :1] * np.arange(1, n_classes + 1)) + X[:, 1:2]
    signs = np.where(rng.uniform(size=latent.shape) < expit(latent), 1.0, -1.0)
    return X, signs, rng.integers(1, 4, 24).astype(float) if weighted else None


def evidence_of(name, X, signs, weights, intercept, covariance, centers=None, flatness=0.0):
    kernel = KernelSlopes(name, X, X if centers is None else centers)
    expanded = WidthEvidence(kernel, WeightedTargets.of(signs, weights, fit_intercept=intercept), covariance)
    priors = (FlatnessPrior.of(flatness, len(X), weights),)
    return LabelEvidence(kernel, signs, weights, expanded, covariance=covariance, priors=priors, fit_intercept=intercept)


def slow_log_evidence(K, sign, counts):
    """Laplace's approximation with the mode by a general optimizer and the determinant of I + K W, in the eigenvectors of K."""
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))

    def minus_log_posterior(z):
        f = root @ z
        slope = -root.T @ (counts * sign * expit(-sign * f)) + z
        return -counts @ log_expit(sign * f) + 0.5 * z @ z, slope

    found = minimize(minus_log_posterior, np.zeros(len(K)), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    f = root @ found.x
    W = counts * expit(f) * expit(-f)
    return -found.fun - 0.5 * np.linalg.slogdet(np.eye(len(K)) + K * W)[1]


@pytest.mark.parametrize("covariance", ["weights", "kernel"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_evidence_is_that_of_the_slow_formula(weighted, intercept, covariance):
    for n_classes in (1, 3):
        X, signs, weights = small_problem(n_classes, weighted)
        seen = evidence_of("matern32", X, signs, weights, intercept, covariance).at(WIDTHS, RATIO)
        counts = np.ones(24) if weights is None else weights
        shares = counts / counts.sum()
        phi = KernelBasis("matern32", gamma=WIDTHS, centers=X).fit(X).transform(X)
        C = phi if covariance == "kernel" else phi @ phi.T
        if intercept:
            center = np.eye(24) - shares
            C = center @ C @ center.T
        curvature = np.mean([shares @ (sign > 0.0) * (shares @ (sign < 0.0)) for sign in signs.T])
        variance = RATIO / (curvature * (shares @ C.diagonal()))
        K = variance * C + (TAU**2 if intercept else 0.0)
        assert seen.log_evidence == pytest.approx(sum(slow_log_evidence(K, sign, counts) for sign in signs.T), abs=1e-5)
        assert seen.posterior == pytest.approx(seen.log_evidence - RATIO / curvature / (2.0 * TAU**2))
        np.testing.assert_allclose(seen.noise_variances / seen.ridge, variance)


@pytest.mark.parametrize("covariance", ["weights", "kernel"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_gradients_agree_with_differences(weighted, intercept, covariance):
    step, name = 1e-3, "matern52"
    for n_classes, n_centers in ((3, 24), (1, 9), (2, 40)):
        if covariance == "kernel" and n_centers != 24:
            continue
        X, signs, weights = small_problem(n_classes, weighted)
        centers = X if n_centers == 24 else np.random.default_rng(1).normal(size=(n_centers, 3))
        evidence = evidence_of(name, X, signs, weights, intercept, covariance, centers, flatness=3.0)
        seen = evidence.at(WIDTHS, RATIO)
        for p in range(3):
            factor = np.exp(step * (np.arange(3) == p))
            slope = (evidence.at(WIDTHS * factor, RATIO).posterior - evidence.at(WIDTHS / factor, RATIO).posterior) / (2.0 * step)
            assert seen.by_widths[p] == pytest.approx(slope, rel=1e-4, abs=1e-5)
        up, down = (evidence.at(WIDTHS, RATIO * np.exp(sign * step)).posterior for sign in (1.0, -1.0))
        assert seen.by_ratio == pytest.approx((up - down) / (2.0 * step), rel=1e-4, abs=1e-5)


def test_evidence_is_that_of_scikit_learns_classifier():
    """Without a constant it is the same model."""
    X, signs, _ = small_problem(1, weighted=False)
    seen = evidence_of("rbf", X, signs, None, intercept=False, covariance="kernel").at(WIDTHS, RATIO)
    kernel = ConstantKernel(seen.noise_variances[0] / seen.ridge) * RBF(np.sqrt(0.5 / WIDTHS))
    theirs = GaussianProcessClassifier(kernel, optimizer=None, max_iter_predict=1000).fit(X, signs[:, 0])
    assert seen.log_evidence == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-6)


def test_classes_that_change_places_and_rows_that_count_twice_make_no_difference():
    X, signs, weights = small_problem(1, weighted=True)
    one, other = (evidence_of("rbf", X, sign * signs, weights, True, "kernel").at(WIDTHS, RATIO) for sign in (1.0, -1.0))
    assert one.posterior == other.posterior
    np.testing.assert_array_equal(one.by_widths, other.by_widths)
    counts = weights.astype(int)
    twice = evidence_of("rbf", np.repeat(X, counts, axis=0), np.repeat(signs, counts, axis=0), None, True, "kernel").at(
        WIDTHS, RATIO
    )
    assert twice.posterior == pytest.approx(one.posterior, rel=1e-9)
    np.testing.assert_allclose(twice.by_widths, one.by_widths, rtol=1e-6)


@pytest.mark.parametrize("width", [1e-13, 1e6])
def test_kernels_that_are_flat_or_vanish_are_no_problem(width):
    X, signs, _ = small_problem(2, weighted=False)
    for covariance in ("weights", "kernel"):
        seen = evidence_of("rbf", X, signs, None, True, covariance).at(np.full(3, width), 1e8)
        assert np.isfinite(seen.posterior)
        assert np.isfinite(seen.by_widths).all()


def test_separable_classes_have_a_finite_evidence():
    X = np.linspace(-1.0, 1.0, 20)[:, None]
    evidence = evidence_of("rbf", X, np.where(X > 0.0, 1.0, -1.0), None, True, "kernel")
    values = [evidence.at(np.ones(1), ratio).posterior for ratio in np.geomspace(1e-3, 1e5, 30)]
    assert 0 < int(np.argmax(values)) < 29

"""The posterior of variational least squares: marginals, tests of coefficients, intervals."""

from dataclasses import fields

import numpy as np
import pytest
from scipy import integrate, stats

from skarce import VBLSRegressor
from tests.estimators.test_vbls import LABELS, PRIORS, correlated


@pytest.fixture(params=PRIORS)
def prior(request):
    return PRIORS[request.param]


def test_student_t_marginals_are_those_of_the_joint_posterior_integrated_over_the_precision():
    """Paper 4.3: b given alpha is normal, alpha has a Gamma distribution with shape N/2 for each member of its group."""
    X, y, _ = correlated(n=40)
    for prior in ("ard", LABELS):
        model = VBLSRegressor(prior=prior, posterior="student-t").fit(X, y)
        marginals = model.coef_marginals()
        h = ((X - X.mean(axis=0)) ** 2).sum(axis=0)[model.active_]
        gamma = model.relevance_[model.active_]
        psi = model.noise_variance_ * gamma / gamma.sum()
        for k in range(len(model.active_)):
            size = 1 if isinstance(prior, str) else 3
            alpha_mean, shape = model.weight_precision_[k], 0.5 * 39 * size
            psi_t = alpha_mean * psi[k]  # of the t form
            at = model.coef_[k] + 1.3 * np.sqrt(psi[k] / (h[k] + psi[k] * alpha_mean))

            def joint(alpha, at=at, mean=model.coef_[k], h=h[k], psi_t=psi_t, shape=shape, scale=alpha_mean / shape):
                return stats.norm.pdf(at, mean, np.sqrt(psi_t / (alpha * (h + psi_t)))) * stats.gamma.pdf(alpha, shape, scale=scale)

            points = alpha_mean * np.array([0.5, 0.8, 1.0, 1.25, 2.0])
            expected, _ = integrate.quad(joint, 0, 6 * alpha_mean, points=points, limit=200)
            assert marginals.pdf(np.full(len(model.active_), at))[k] == pytest.approx(expected, rel=1e-6)


def test_normal_marginals_have_the_variance_of_the_paper():
    X, y, _ = correlated()
    model = VBLSRegressor(tol=1e-12).fit(X, y)
    h = ((X - X.mean(axis=0)) ** 2).sum(axis=0)[model.active_]
    gamma = model.relevance_[model.active_]
    psi = model.noise_variance_ * gamma / gamma.sum()
    np.testing.assert_allclose(model.coef_marginals().var(), psi / (h + psi * model.weight_precision_), rtol=1e-8)
    assert (model.coef_marginals().std() < 0.7 * model.posterior_.coefficient_std).all()


def test_coefficient_tests_without_a_prior_are_the_classical_ones():
    X, y, _ = correlated()
    tests = VBLSRegressor(prior="none").fit(X, y).coef_tests()
    design = np.column_stack([X, np.ones(150)])
    weights, residual, *_ = np.linalg.lstsq(design, y, rcond=None)
    std = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * residual[0] / (150 - 13))
    np.testing.assert_allclose(tests.statistic, (weights / std)[:12], rtol=1e-8)
    assert tests.degrees_of_freedom == pytest.approx(150 - 13)
    np.testing.assert_allclose(tests.p_value, 2 * stats.t.sf(np.abs(weights / std)[:12], 137), rtol=1e-6)


@pytest.mark.parametrize("posterior", ["gaussian", "student-t"])
def test_intervals_of_weights_cover_the_truth(posterior):
    inside = []
    for seed in range(60):
        X, y, b = correlated(seed, n=200)
        model = VBLSRegressor(prior="none", posterior=posterior).fit(X, y)
        low, high = model.coef_interval(0.9).T
        inside.append((low < b) & (b < high))
    assert 0.87 < np.mean(inside) < 0.93


@pytest.mark.parametrize("prior", ["ard", "shared", "none"])
def test_95_percent_intervals_cover_if_there_are_many_rows(prior):
    inside = []
    for seed in range(15):
        X, y, _ = correlated(seed, n=120 + 500)
        mean, std = VBLSRegressor(prior=prior).fit(X[:120], y[:120]).predict(X[120:], return_std=True)
        inside.append(np.abs(y[120:] - mean) < 1.96 * std)
    assert 0.93 < np.mean(inside) < 0.97


def test_what_has_no_factorized_posterior_or_several_outputs_says_so():
    X, y, _ = correlated()
    with pytest.raises(ValueError, match="Use coef_interval"):
        VBLSRegressor(prior="shared").fit(X, y).coef_marginals()
    two = VBLSRegressor().fit(X, np.column_stack([y, -y]))
    with pytest.raises(ValueError, match="several targets or classes"):
        two.coef_tests()
    np.testing.assert_allclose(two.posterior_[0].coefficient_std, two.posterior_[1].coefficient_std)
    with pytest.raises(ValueError, match="level must be between"):
        VBLSRegressor().fit(X, y).coef_interval(95)


def test_posteriors_that_were_saved_before_a_field_was_added_get_its_default():
    X, y, _ = correlated()
    posterior = VBLSRegressor().fit(X, y).posterior_
    state = posterior.__getstate__()
    del state["information"]
    restored = object.__new__(type(posterior))
    restored.__setstate__(state)
    assert set(vars(restored)) == {field.name for field in fields(posterior)}
    assert restored.information == 1.0

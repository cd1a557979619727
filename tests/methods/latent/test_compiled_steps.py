"""The compiled mode and the compiled joint steps are those of NumPy."""

import numpy as np
import pytest

from skarce._linalg import NotPositiveDefiniteError
from skarce.likelihoods import Bernoulli, Observations
from skarce.methods.latent import compiled
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.steps import settle
from tests.methods.latent.problems import model_of, problem

ACTIVE = np.array([0, 1, 2, 4, 5, 8])


@pytest.fixture
def by_numpy(monkeypatch):
    """Call with a function that makes a model or a result, to get that of NumPy."""

    def run(make):
        with monkeypatch.context() as patched:
            patched.setattr(compiled, "suits", lambda observations, columns: False)
            return make()

    return run


def observed_problem(seed, kind, n, *, is_weighted, intercept=True):
    phi, observed = problem(seed, kind, n=n, intercept=intercept)
    return phi, observed if is_weighted else Observations.of(observed.likelihood, observed.targets, has_constant=intercept)


def derived(model):
    """What a search asks of a model, computed now."""
    return {
        name: getattr(model, name)
        for name in ("weights", "latent", "residual", "curvature", "third", "factor", "score", "third_order", "pull", "gradient")
    }


@pytest.mark.parametrize("n", [10, 255, 256, 777])
@pytest.mark.parametrize("is_weighted", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_models_are_those_of_numpy(n, is_weighted, intercept, kind, by_numpy):
    phi, observed = observed_problem(n, kind, n, is_weighted=is_weighted, intercept=intercept)

    def found():
        return derived(model_of(phi, observed, ACTIVE, 10.0 ** np.arange(-3.0, 3.0), intercept=intercept))

    expected = by_numpy(found)
    for name, value in found().items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-7, atol=1e-8, err_msg=name)


def test_the_compiled_code_is_used(kind):
    phi, observed = problem(0, kind)
    assert model_of(phi, observed).is_compiled
    assert Laplace.empty(observed, fit_intercept=False).is_compiled


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("size", [50.0, 1e4])
def test_far_starts_end_at_the_same_mode(sign, size, kind, by_numpy):
    phi, observed = problem(0, kind)
    model = model_of(phi, observed)

    def found():
        start = sign * size * np.array([1.0, -1.0, 2.0, -0.5])
        return Laplace(observed, model.functions, model.precisions, model.indices, start).weights

    np.testing.assert_allclose(found(), by_numpy(found), atol=1e-7)
    np.testing.assert_allclose(found(), model.weights, atol=1e-7)


def test_dependent_functions_raise(kind, by_numpy):
    phi, observed = problem(0, kind)
    twice = np.column_stack([phi[:, 0], phi[:, 0]])

    def found():
        with pytest.raises(NotPositiveDefiniteError):
            model_of(twice, observed, np.arange(2), np.full(2, 1e-30))

    found()
    by_numpy(found)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("max_steps", [1, 3, 50])
def test_joint_steps_are_those_of_numpy(seed, intercept, max_steps, kind, by_numpy):
    phi, observed = observed_problem(seed, kind, 120, is_weighted=seed % 2 == 0, intercept=intercept)
    active = np.arange(phi.shape[1])

    def found():
        return settle(model_of(phi, observed, active, np.full(len(active), 3.0), intercept=intercept), 1e-6, max_steps)

    (model, converged), (expected, expected_converged) = found(), by_numpy(found)
    np.testing.assert_array_equal(model.indices, expected.indices)
    np.testing.assert_allclose(model.precisions, expected.precisions, rtol=1e-5)
    assert model.score == pytest.approx(expected.score, abs=1e-8)
    assert converged == expected_converged


def test_joint_steps_remove_functions_that_do_not_help(kind):
    _, observed = problem(3, kind, n=300)
    noise = np.random.default_rng(1).normal(size=(300, 6))
    model = model_of(noise, observed, np.arange(6), np.full(6, 1.0))
    settled, _ = settle(model, 1e-6, 50)
    assert len(settled) < len(model)
    assert settled.score > model.score


def test_a_likelihood_of_ones_own_is_asked_for_its_slopes():
    """A subclass may have other slopes, so NumPy finds its mode."""

    class Mine(Bernoulli):
        pass

    phi, observed = problem(0, "bernoulli")
    assert not model_of(phi, Observations.of(Mine(), observed.targets)).is_compiled

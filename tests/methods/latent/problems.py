"""Labels and counts with rows that count unequally, and their dense score."""

import numpy as np
from sklearn.datasets import make_moons

from skarce import KernelBasis
from skarce.likelihoods import Bernoulli, Observations, Poisson
from skarce.methods.latent.laplace import Laplace
from tests.oracles import laplace_score

ACTIVE = np.array([0, 2, 5])
PRECISIONS = np.array([0.3, 2.0, 0.05])
LIKELIHOODS = {"bernoulli": Bernoulli(), "poisson": Poisson()}
SCALE = 10.0  # tau


def drawn(kind, latent, rng):
    """Labels or counts of about 3 on average."""
    if kind == "bernoulli":
        return (rng.uniform(size=len(latent)) < 1.0 / (1.0 + np.exp(-latent))).astype(float)
    return rng.poisson(2.0 * np.exp(0.4 * latent)).astype(float)


def problem(seed, kind, n=40, m=9, *, intercept=True):
    """Columns of different norms, targets that depend on three of them, and rows that count unequally."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-0.5, 0.5, m)
    phi[:, 3] = phi[:, 2] + 0.3 * rng.normal(size=n)
    latent = phi[:, [0, 2, 5]] @ rng.normal(size=3) * 1.5 + 0.5
    targets = drawn(kind, np.clip(latent, -6.0, 6.0), rng)
    return phi, Observations.of(LIKELIHOODS[kind], targets, rng.choice([0.5, 1.0, 2.0], n), has_constant=intercept)


def model_of(phi, observations, active=ACTIVE, precisions=PRECISIONS, *, intercept=True):
    return Laplace.empty(observations, fit_intercept=intercept).with_added(phi[:, active], precisions, active)


def kind_of(observations):
    return next(name for name, likelihood in LIKELIHOODS.items() if likelihood == observations.likelihood)


def dense_score(phi, observations, active, precisions, *, intercept=True):
    targets, weights = observations.targets, observations.weights
    return laplace_score(phi[:, active], targets, weights, precisions, intercept=intercept, kind=kind_of(observations))


def moons(n, seed=0, kind="bernoulli"):
    """Labels of two moons, or counts whose rates differ between them."""
    X, y = make_moons(n, noise=0.3, random_state=seed)
    targets = y.astype(float) if kind == "bernoulli" else np.random.default_rng(seed).poisson(1.0 + 4.0 * y).astype(float)
    return KernelBasis().fit(X).on(X), Observations.of(LIKELIHOODS[kind], targets)

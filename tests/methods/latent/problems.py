"""Classification problems with rows that count unequally, and their dense score."""

import numpy as np
from sklearn.datasets import make_moons

from skarce import KernelBasis
from skarce.likelihoods import Labels
from skarce.methods.latent.laplace import Laplace
from tests.oracles import laplace_score

ACTIVE = np.array([0, 2, 5])

PRECISIONS = np.array([0.3, 2.0, 0.05])


def problem(seed, n=40, m=9):
    """Columns of different lengths, labels that depend on three of them, and rows that count unequally."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-0.5, 0.5, m)
    phi[:, 3] = phi[:, 2] + 0.3 * rng.normal(size=n)
    latent = phi[:, [0, 2, 5]] @ rng.normal(size=3) * 1.5 + 0.5
    targets = (rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-latent))).astype(float)
    return phi, Labels(targets, rng.choice([0.5, 1.0, 2.0], n))


def model_of(phi, labels, active=ACTIVE, precisions=PRECISIONS, *, intercept=True):
    return Laplace.empty(labels, fit_intercept=intercept).with_added(phi[:, active], precisions, active)


def dense_score(phi, labels, active, precisions, *, intercept=True):
    return laplace_score(phi[:, active], labels.targets, labels.weights, precisions, intercept=intercept)


def moons(n, seed=0):
    X, y = make_moons(n, noise=0.3, random_state=seed)
    return KernelBasis().fit(X).on(X), Labels(y.astype(float), np.ones(n))

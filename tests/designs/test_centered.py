"""Candidates less their means."""

import numpy as np

from skarce import KernelBasis
from skarce.basis.candidates import ColumnsEvaluation
from skarce.designs.centered import centered


def test_centered_candidates_are_those_less_their_means(rng):
    X = rng.normal(size=(700, 2))
    X[:, 1] = 3.0
    weights = rng.uniform(0.5, 2.0, 700)
    for evaluation in (KernelBasis().fit(X).on(X), ColumnsEvaluation(X)):
        whole = evaluation.columns(np.arange(evaluation.n_candidates))
        phi = whole - weights @ whole / weights.sum()
        about, means = centered(evaluation, weights)
        np.testing.assert_allclose(means, weights @ whole / weights.sum())
        np.testing.assert_allclose(about.columns(np.arange(evaluation.n_candidates)), phi, atol=1e-12)
        right = rng.normal(size=(700, 3))
        product, squares = about.project(right, weights)
        np.testing.assert_allclose(product, phi.T @ right, atol=1e-9)
        np.testing.assert_allclose(squares, weights @ phi**2, atol=1e-9)
        np.testing.assert_allclose(about.project(right, right**2)[1], (phi**2).T @ right**2, atol=1e-9)
        np.testing.assert_allclose(about.project(right)[0], phi.T @ right, atol=1e-9)
        out = np.empty((10, evaluation.n_candidates))
        about.fill(slice(5, 15), slice(0, evaluation.n_candidates), out)
        np.testing.assert_allclose(out, phi[5:15], atol=1e-12)

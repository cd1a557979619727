"""How good a relevance vector model is, by the same dense functions for every package."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.problems import GAMMA
from skarce import KernelBasis
from skarce.active_set import ActiveSet
from skarce.criteria import IndividualEvidence
from skarce.designs import InMemoryDesign
from skarce.moments import Moments
from skarce.solvers.active_block import ActiveBlock
from skarce.solvers.joint_steps import joint_steps


def evidence_of_centres(centres: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """-N/2 log t'Pt - 1/2 log|I + Phi Lambda^-1 Phi'| of centred columns, the ridges at their best for these centres.

    Packages scale and report precisions differently, so every model is given the best precisions for its own functions.
    """
    phi = KernelBasis(gamma=GAMMA, centers=centres).fit(X).transform(X)
    phi -= phi.mean(axis=0)
    t, gram, n = y - y.mean(), phi.T @ phi, float(len(y))
    start = np.full(len(gram), np.median(gram.diagonal()) * 1e-2)
    block = ActiveBlock(gram, phi.T @ t, float(t @ t), start)
    settled = joint_steps(IndividualEvidence(), block, n - 1.0, 1e-6, 200)
    return -0.5 * (n * float(np.log(settled.block.energy)) + settled.block.log_determinant)


def largest_single_gain(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """What the best single change of a skarce model gains, from moments computed anew for the purpose."""
    basis = KernelBasis(gamma=GAMMA).fit(X)
    moments: Moments = InMemoryDesign(basis, X, y[:, None]).moments("columns")[0]
    state = ActiveSet(moments, model.active_, model.posterior_.ridges)
    criterion = IndividualEvidence()
    best = int(criterion.ranking(state).argmax())
    gains = criterion.changes(state, moments.n_samples).gains
    return max(criterion.addition(state, best)[1], float(gains.max(initial=0.0)))

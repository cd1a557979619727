"""The quality of a model, computed by the same dense functions for every package."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.problems import GAMMA
from skarce import KernelBasis
from skarce.criteria import GCV, IndividualEvidence
from skarce.designs import InMemoryDesign, Rows
from skarce.moments import Moments
from skarce.searches.joint_steps import joint_steps
from skarce.states.active_block import ActiveBlock
from skarce.states.active_set import ActiveSet


def log_evidence(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return -N/2 log t'Pt - 1/2 log|I + Phi Lambda^-1 Phi'| of centered columns.

    Newton steps polish the ridges that the model reports, so that no package loses because of a loose tolerance. fastrvm reports
    precisions of columns scaled to unit norm, but does not say which power of the norm it used. So the best of three powers counts.
    """
    phi = KernelBasis(gamma=GAMMA, centers=model.relevance_vectors_).fit(X).transform(X)
    lengths = (phi**2).sum(axis=0)
    phi -= phi.mean(axis=0)
    if hasattr(model, "posterior_"):
        return _polished(phi, y, model.posterior_.ridges)
    reported = np.ravel(model.alpha_) / model.beta_
    return max(_polished(phi, y, reported * lengths**power) for power in (0, 1, 2))


def _polished(phi: np.ndarray, y: np.ndarray, ridges: np.ndarray) -> float:
    t, gram, n = y - y.mean(), phi.T @ phi, float(len(y))
    block = ActiveBlock(gram, phi.T @ t, float(t @ t), ridges.copy())
    block = joint_steps(IndividualEvidence(), block, n - 1.0, 1e-6, 200).block
    return -0.5 * (n * float(np.log(block.energy)) + block.log_determinant)


def largest_single_gain(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the gain of the best single change of a skarce model. The moments are computed again for this check."""
    basis = KernelBasis(gamma=GAMMA, centers=None).fit(X)
    moments: Moments = InMemoryDesign(basis, Rows(X, y[:, None])).moments("columns")[0]
    criterion: Any = GCV() if model.criterion_sense_ < 0 else IndividualEvidence()
    state = ActiveSet(moments, model.active_, model.posterior_.ridges, squares=criterion.needs_squares)
    best = int(criterion.ranking(state).argmax())
    gains = criterion.changes(state, moments.n_samples).gains
    return max(criterion.addition(state, best)[1], float(gains.max(initial=0.0)))

"""Moments of candidates of unit length, for methods in which the scale of a column would otherwise be part of the prior."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from skarce._memory import require
from skarce._typing import Floats, Indices
from skarce.moments.gram import Gram, WholeGram
from skarce.moments.moments import Moments

_KEPT: WeakKeyDictionary[Gram, WholeGram] = WeakKeyDictionary()


class Standardized(NamedTuple):
    """The moments of Phi_A / length, which candidates A are, and their norms."""

    moments: Moments
    candidates: Indices
    norms: Floats


def standardized(moments: Moments, method: str) -> Standardized:
    """All candidates that vary, at unit length; the Gram matrix is scaled once for all outputs on it."""
    candidates = np.flatnonzero(moments.gram.diagonal > 0.0)
    norms = np.sqrt(moments.gram.diagonal[candidates])
    what = f"{method}, which keeps the Gram matrix of all {len(candidates)} candidates,"
    require(len(candidates), len(candidates), what, 'Use prior="ard" with solver="direct", or fewer candidates')
    if moments.gram not in _KEPT:
        gram = moments.gram.whole() or moments.gram
        matrix = gram.block(candidates, candidates) / np.multiply.outer(norms, norms)
        matrix.flat[:: len(matrix) + 1] = 1.0
        _KEPT[moments.gram] = WholeGram(matrix)
    projections = moments.projections[candidates] / norms
    scaled = Moments(_KEPT[moments.gram], projections, moments.target_energy, moments.n_samples)
    return Standardized(scaled, candidates, norms)

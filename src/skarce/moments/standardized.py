"""Moments of candidates scaled to unit norm. Otherwise, in some methods, the scale of a column would be part of the prior."""

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
    """Moments of candidates scaled to unit norm.

    Attributes
    ----------
    moments : the moments of the columns of Phi_A divided by their norms
    candidates : which candidates A are
    norms : the norms of the columns of Phi_A
    """

    moments: Moments
    candidates: Indices
    norms: Floats


def standardized(moments: Moments, method: str) -> Standardized:
    """Scale all candidates that vary to unit norm. The Gram matrix is scaled once for all outputs that share it."""
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

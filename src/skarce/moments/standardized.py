"""Moments of candidates of unit length, for methods in which the scale of a column would otherwise be part of the prior."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from skarce._memory import fits
from skarce._typing import Floats, Indices
from skarce.moments import Gram, Moments, WholeGram

_KEPT: WeakKeyDictionary[Gram, WholeGram] = WeakKeyDictionary()


class Standardized(NamedTuple):
    """The moments of Phi_A / length, which candidates A are, and their lengths."""

    moments: Moments
    candidates: Indices
    lengths: Floats


def standardized(moments: Moments, method: str) -> Standardized:
    """All candidates that vary, at unit length; the Gram matrix is scaled once for all outputs on it."""
    candidates = np.flatnonzero(moments.gram.diagonal > 0.0)
    lengths = np.sqrt(moments.gram.diagonal[candidates])
    if not fits(len(candidates), len(candidates)):
        raise ValueError(
            f"{method} needs the Gram matrix of all {len(candidates)} candidates, which is above the memory budget. Use "
            'prior="ard" with solver="direct", fewer candidates, or sklearn.set_config(working_memory=...).'
        )
    if moments.gram not in _KEPT:
        gram = moments.gram.whole() or moments.gram
        matrix = gram.block(candidates, candidates) / np.multiply.outer(lengths, lengths)
        matrix.flat[:: len(matrix) + 1] = 1.0
        _KEPT[moments.gram] = WholeGram(matrix)
    projections = moments.projections[candidates] / lengths
    scaled = Moments(_KEPT[moments.gram], projections, moments.target_energy, moments.n_samples)
    return Standardized(scaled, candidates, lengths)

"""Features of targets whose products are the centered kernel of the targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._typing import Floats, Indices
from skarce.methods.dimension_reduction.contrast import features_of, gaussian

NEGLIGIBLE = 1e-6  # share of the squares of all features that is left out


def number_features(targets: Floats, landmarks: Indices, width: float) -> Floats:
    """Features of a Gaussian kernel of standardized targets, spanned by the targets of the landmarks."""
    return _compressed(features_of(gaussian(targets, targets[landmarks], width), landmarks)[0])


def label_features(labels: Any) -> Floats:
    """Features of the kernel that is one for equal labels and zero for others."""
    _, numbers = np.unique(labels, return_inverse=True)
    features = np.eye(numbers.max() + 1)[numbers.ravel()]
    return _compressed(features - features.mean(axis=0))


def _compressed(features: Floats) -> Floats:
    """As few centered features with the same products as are needed."""
    left, sizes, _ = np.linalg.svd(features, full_matrices=False)
    energy = np.cumsum(sizes[::-1] ** 2)[::-1]
    return (left * sizes)[:, energy > NEGLIGIBLE * energy[0]]

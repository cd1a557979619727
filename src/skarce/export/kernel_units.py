"""Units of inputs in which a kernel has no width of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.basis.kernels import DISTANCE_KERNELS

MATERN_FACTOR = {"matern32": 6.0, "matern52": 10.0}  # (sqrt(nu2) s)^2 = 2 nu2 gamma |x - c|^2


@dataclass(frozen=True)
class KernelUnits:
    """Inputs less an origin, times a scale. An input of scale 0 does not matter."""

    kind: str
    origin: Floats
    scale: Floats

    @classmethod
    def of(cls, basis: KernelBasis) -> KernelUnits:
        """Return the units of a fitted basis."""
        kind, n_inputs = basis.kernel_, basis.n_features_in_
        origin = np.asarray(basis.origin_, dtype=np.float64) if kind in DISTANCE_KERNELS else np.zeros(n_inputs)
        return cls(kind, origin, np.broadcast_to(_scale(kind, basis.gamma_), n_inputs).astype(np.float64))

    def centers(self, rows: Any) -> Floats:
        """Return rows in these units, without the inputs that do not matter, as centers of kernels."""
        centers = ((np.asarray(rows, dtype=np.float64) - self.origin) * self.scale)[:, self.scale > 0.0]
        if self.kind != "cosine":
            return centers
        lengths = np.linalg.norm(centers, axis=1, keepdims=True)
        return np.asarray(centers / np.where(lengths > 0.0, lengths, 1.0))


def _scale(kind: str, gamma: Any) -> Floats:
    if kind in ("linear", "cosine"):
        return np.ones(1)
    gamma = np.asarray(gamma, dtype=np.float64)
    return gamma if kind == "laplacian" else np.sqrt(MATERN_FACTOR.get(kind, 1.0) * gamma)

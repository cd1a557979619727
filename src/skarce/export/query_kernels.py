"""What ``std="augmented"`` adds to a variance: one more kernel at the query point, compared with kept training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skarce._linalg import inverse_of_lower
from skarce._typing import Floats, Indices
from skarce.basis import KernelBasis
from skarce.export.kernel_units import KernelUnits
from skarce.export.stages import Kernels, Stage
from skarce.posteriors.augmentation import Augmentation
from skarce.posteriors.posterior import Posterior


@dataclass(frozen=True)
class QueryKernels:
    """The parts of the formula in `skarce.posteriors.augmentation` that do not depend on the query point.

    With the kernels k between query and `rows`, less their mean if `has_level`, the variance grows by
    ``size * e^2 / (d / signal + s / noise)``, where d = k(x, x), ``cross = cover @ k``,
    ``e = d (less the mean) - (root @ (phi - center)) @ cross`` and ``s = sum(shares k^2) - |cross|^2``.

    Attributes
    ----------
    kernels : kernels at the kept rows, in the units of the last stage
    shares : weight of each row
    cover : ndarray of shape (n_functions, n_rows)
    places, center, root : of the functions of the head, in units of the noise
    has_level : whether the model has an intercept
    signal, noise : variances
    size : factor on the result, for another unit of the target
    """

    kernels: Kernels
    shares: Floats
    cover: Floats
    places: Indices
    center: Floats
    root: Floats
    has_level: bool
    signal: float
    noise: float
    size: float = 1.0

    @classmethod
    def of(cls, posterior: Posterior, places: Indices, basis: KernelBasis, kept: Augmentation, last: Stage) -> QueryKernels:
        """Return the parts for one target. `last` are the kernels of the model."""
        assert isinstance(last, Kernels)
        at_rows = basis.select(places).on(kept.X).columns(np.arange(len(places))) - posterior.center
        root = np.tril(inverse_of_lower(posterior.factor))
        fitted = at_rows @ posterior.mean
        return cls(
            kernels=replace(last, centers=KernelUnits.of(basis).centers(kept.X)),
            shares=kept.weights,
            cover=root @ (at_rows.T * kept.weights),
            places=places,
            center=posterior.center,
            root=root,
            has_level=posterior.fit_intercept,
            signal=float(kept.weights @ fitted**2 / kept.weights.sum()),
            noise=float(posterior.noise_variance),
        )

    @property
    def is_zero(self) -> bool:
        """Whether it adds nothing: the model says the same everywhere, or there is no noise."""
        return self.signal == 0.0 or self.noise == 0.0

    def scaled(self, factor: float) -> QueryKernels:
        """Return the parts for a target that was multiplied by a factor for the model."""
        return replace(self, size=self.size / factor**2)

    def extra_variance(self, prepared: Floats, phi: Floats) -> Floats:
        """Return what is added at rows, of which the inputs of the kernels and all functions are given, in their precision."""
        kind = phi.dtype.type
        if self.is_zero:
            return np.zeros(len(phi), dtype=phi.dtype)
        new = self.kernels.values(prepared)
        diagonal = self.kernels.diagonal(prepared)
        shares, at_query = self.shares.astype(phi.dtype), diagonal
        if self.has_level:
            means = (new @ shares) / shares.sum()
            new, at_query = new - means[:, None], diagonal - means
        cross = new @ self.cover.T.astype(phi.dtype)
        steps = (phi[:, self.places] - self.center.astype(phi.dtype)) @ self.root.T.astype(phi.dtype)
        error = at_query - (steps * cross).sum(axis=1)
        left = np.maximum((new * new) @ shares - (cross * cross).sum(axis=1), kind(0))
        denominator = diagonal / kind(self.signal) + left / kind(self.noise)
        return kind(self.size) * np.divide(error * error, denominator, out=np.zeros_like(error), where=denominator != 0)

"""From the functions of a model to its predictions: weights, and the root of their covariance, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skarce._linalg import inverse_of_lower
from skarce._typing import Floats, Indices
from skarce.posteriors.latent import LatentPosterior
from skarce.posteriors.posterior import Posterior

ROUNDING = 1e-12  # what varies by a smaller share of its size does not vary
TINY = 1e-150  # the std of a target that is 0 everywhere is smaller
NO_NOISE = 0.01  # share of the target that stands for the noise if there is none


@dataclass(frozen=True)
class Head:
    """One target or class.

    With the functions phi at `places`, the mean is ``weights @ phi + intercept``, and the variance is
    ``base + |root @ (phi - center) + offset|^2``.

    Attributes
    ----------
    places : its functions among those of the model
    weights, intercept : of the mean
    center, root, offset, base : of the variance; the root is lower triangular; it has no rows if the variance is constant
    deviation : std of the target that the model was fitted to, by its noise and the variance of its fit; 1 for latent functions
    noise : std of the noise; 0 for latent functions
    """

    places: Indices
    weights: Floats
    intercept: float
    center: Floats
    root: Floats
    offset: Floats
    base: float
    deviation: float = 1.0
    noise: float = 0.0

    @classmethod
    def of(cls, posterior: Any, places: Indices, std_scale: float = 1.0) -> Head:
        """Return the head of a posterior. The std of a target with normal noise is multiplied by `std_scale`."""
        if isinstance(posterior, LatentPosterior):
            return cls._of_latent(posterior, places)
        noise = std_scale * float(np.sqrt(posterior.noise_variance))
        empty = np.zeros((1, len(posterior.active)))
        base = std_scale**2 * float(posterior.variance(posterior.center[None] + empty)[0])
        return cls(
            places=places,
            weights=posterior.mean,
            intercept=float(posterior.intercept),
            center=posterior.center,
            root=noise * np.tril(inverse_of_lower(posterior.factor)),
            offset=np.zeros(len(posterior.active)),
            base=base,
            deviation=_deviation(posterior),
            noise=noise,
        )

    @classmethod
    def linear(cls, weights: Floats, center: Floats, *, level: float, std: float, deviation: float, noise: float) -> Head:
        """Return a head whose std is the same everywhere. `level` is the mean at the center."""
        return cls(
            places=np.arange(len(weights)),
            weights=weights,
            intercept=float(level - weights @ center),
            center=center,
            root=np.zeros((0, len(weights))),
            offset=np.zeros(0),
            base=float(std) ** 2,
            deviation=float(deviation),
            noise=float(noise),
        )

    @classmethod
    def _of_latent(cls, posterior: LatentPosterior, places: Indices) -> Head:
        root = np.tril(inverse_of_lower(posterior.factor))
        level, n_fixed = 0.0, int(posterior.fit_intercept)
        offset = np.zeros(len(posterior.active))
        if n_fixed:
            level, offset = float(root[0, 0]), root[1:, 0]
        return cls(
            places=places,
            weights=posterior.mean,
            intercept=float(posterior.intercept),
            center=posterior.center,
            root=root[n_fixed:, n_fixed:],
            offset=offset,
            base=level**2 + posterior.own_variance,
        )

    @property
    def triangle(self) -> Floats:
        """The entries of the root that are not above its diagonal, row by row."""
        return self.root[np.tril_indices(len(self.root), m=self.root.shape[1])]

    @property
    def level(self) -> float:
        """The mean at the center."""
        return self.intercept + float(self.weights @ self.center)

    @property
    def unit(self) -> float:
        """The size of an error of 1: the std of the target. If the target does not vary, its size, or 1."""
        size = abs(self.level)
        return self.deviation if self.deviation > ROUNDING * size and self.deviation > TINY else size or 1.0

    @property
    def noise_unit(self) -> float:
        """The std of the noise. A share of the target stands for it if there is no noise."""
        return self.noise if self.noise > ROUNDING * self.unit else NO_NOISE * self.unit

    def scaled(self, center: float, factor: float) -> Head:
        """Return the head of a target that was (target - center) * factor for the model."""
        size = 1.0 / abs(factor)
        return replace(
            self,
            weights=self.weights / factor,
            intercept=self.intercept / factor + center,
            root=size * self.root,
            offset=size * self.offset,
            base=size**2 * self.base,
            deviation=size * self.deviation,
            noise=size * self.noise,
        )

    def mean(self, phi: Floats) -> Floats:
        """Return the mean at rows with all functions of the model, in their precision."""
        kind = phi.dtype.type
        total = np.full(len(phi), kind(self.level))
        for place, weight, center in zip(self.places, self.weights, self.center, strict=True):
            total += kind(weight) * (phi[:, place] - kind(center))
        return total

    def variance(self, phi: Floats) -> Floats:
        """Return the variance at rows with all functions of the model, in their precision."""
        steps = phi[:, self.places] - self.center.astype(phi.dtype)
        total = np.full(len(phi), phi.dtype.type(self.base))
        for number, (row, offset) in enumerate(zip(self.root.astype(phi.dtype), self.offset.astype(phi.dtype), strict=True)):
            part = np.full(len(phi), offset)
            for place in range(number + 1):
                part += row[place] * steps[:, place]
            total += part * part
        return total


def _deviation(posterior: Posterior) -> float:
    """Return the std of the target: that of the noise, and of what the model says at the training rows."""
    penalty = posterior.ridges * (posterior.mean if posterior.mixing is None else posterior.mixing @ posterior.mean) ** 2
    energy = float(((posterior.factor.T @ posterior.mean) ** 2).sum() - penalty.sum())
    return float(np.sqrt(posterior.noise_variance + max(energy, 0.0) / max(posterior.n_samples, 1.0)))

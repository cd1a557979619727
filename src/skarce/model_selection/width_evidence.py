r"""The log evidence of the model with all candidates and one weight precision, as a function of the kernel widths.

With ``covariance="weights"``, the model of the estimators, targets are :math:`t\sim N(0, \sigma^2(I + AA^T/\rho))`, and A are the
kernels at the centers. With ``covariance="kernel"``, targets are :math:`t\sim N(0, \sigma^2(I + C/\rho))`, and the kernel itself is
the covariance C of a Gaussian process. With an intercept, columns and targets are centered and :math:`n = N - 1`. Rows and targets
are multiplied by the square roots of the sample weights, and N is the sum of the weights. With :math:`P = (I + AA^T/\rho)^{-1}` and
the noise at its optimum :math:`a/n`, :math:`a = t^TPt`,

.. math:: L = -\tfrac n2\log a - \tfrac12\log|I + AA^T/\rho| + \text{const}.

With :math:`H = A^TA + \rho I`, :math:`w = H^{-1}A^Tt`, :math:`u = t - Aw`, its derivatives are

.. math::
    \frac{\partial L}{\partial A} = \frac na\,uw^T - AH^{-1}, \qquad
    \frac{\partial L}{\partial\log\rho} = \tfrac12\Bigl(M - \rho\operatorname{tr}H^{-1} - \frac na\rho\,w^Tw\Bigr),

and the slopes of the kernel give the derivatives in the widths (SSGE errata 5.5, GPs-BE errata 4, with the noise profiled). The
optimizer moves, instead of :math:`\rho`, the ratio of the prior variance of the signal to that of the noise,
:math:`\kappa = \operatorname{tr}(AA^T)/(n\rho)`. This ratio keeps its meaning if the widths change. Several outputs share the
widths and :math:`\kappa`, but each has its own noise.

If the prior variance v of the weights is given (``covariance="weights"`` only), the noise is :math:`\sigma^2 = \rho v`,

.. math:: L = -\tfrac n2\log 2\pi\sigma^2 - \frac a{2\sigma^2} - \tfrac12\log|I + AA^T/\rho|,

in :math:`\partial L/\partial A` the factor n/a becomes :math:`1/\sigma^2`, and
:math:`\partial L/\partial\log\rho = \tfrac12(M - \rho\operatorname{tr}H^{-1} - n + (a - \rho\,w^Tw)/\sigma^2)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from skarce._device import namespace, to_device, to_host
from skarce._typing import Floats
from skarce.criteria.one_precision import EvidenceFit
from skarce.model_selection.dense import (
    DeviceFactored,
    Factored,
    add_outer,
    column_products,
    factored,
    squares_of,
    total_square,
    trace,
)
from skarce.model_selection.kernel_slopes import KernelSlopes
from skarce.moments.directions import Directions

COVARIANCES = ("weights", "kernel")
ROUNDING = 1e-14
RATIO_ROWS = 400  # a decomposition of more rows takes longer than several evaluations of the evidence


class KernelPrior(Protocol):
    """A prior on kernels, as rows and centers see them."""

    def at(self, phi: Floats) -> tuple[float, Floats]:
        """Return the log density, and its derivatives in the kernels: one number for each row."""


class Value(NamedTuple):
    """The log evidence at some widths.

    Attributes
    ----------
    log_evidence : the log evidence with all constants
    posterior : the log evidence plus the log priors; the derivatives are those of this sum
    by_widths : derivatives in the logarithms of the widths
    by_ratio : derivative in the logarithm of the ratio kappa
    noise_variances : one for each output
    ridge : rho
    """

    log_evidence: float
    posterior: float
    by_widths: Floats
    by_ratio: float
    noise_variances: Floats
    ridge: float


@dataclass(frozen=True)
class WeightedTargets:
    """Targets as the evidence uses them: centered, and multiplied by the square roots of the weights.

    Attributes
    ----------
    values : the targets, shape (n_rows, n_outputs)
    root : square roots of the sample weights, shape (n_rows,)
    n_samples : n, the sum of the weights; one less if there is an intercept
    direction : the unit vector that the intercept removes, or None if there is no intercept
    """

    values: Any
    root: Any
    n_samples: float
    direction: Any

    def on(self, like: Any) -> WeightedTargets:
        """Return the same next to an array on a device."""
        direction = None if self.direction is None else to_device(self.direction, like)
        return WeightedTargets(to_device(self.values, like), to_device(self.root, like), self.n_samples, direction)

    @classmethod
    def of(cls, targets: Floats, weights: Floats | None, *, fit_intercept: bool) -> WeightedTargets:
        """Center and weight the targets."""
        weights = np.ones(len(targets)) if weights is None else weights
        total, root = float(weights.sum()), np.sqrt(weights)
        if not fit_intercept:
            return cls(targets * root[:, None], root, total, None)
        centered = targets - weights @ targets / total
        return cls(centered * root[:, None], root, total - 1.0, root / np.sqrt(total))

    @cached_property
    def is_weighted(self) -> bool:
        """Whether any weight differs from one."""
        return bool(namespace(self.root).any(self.root != 1.0))

    def centered(self, columns: Floats) -> Floats:
        """Remove from columns, in place, what the intercept explains."""
        if self.direction is not None:
            add_outer(columns, -self.direction[:, None], (self.direction @ columns)[:, None])
        return columns


class WidthEvidence:
    r"""The log evidence and its gradient at any widths, for given rows, targets and centers.

    With a `noise_prior` c the noise variance has the prior density sigma^(2c). It is part of `posterior` and of the gradients:
    -n/2 log a becomes -(n/2 - c) log a, and the noise becomes a/(n - 2c). The `priors` of kernels are part of both too.

    With a `noise_variance` the noise is held at this :math:`\sigma^2`. Then L is
    :math:`-\tfrac n2\log 2\pi\sigma^2 - a/(2\sigma^2) - \tfrac12\log|I + AA^T/\rho|`, and the factor n/a becomes
    :math:`1/\sigma^2` in all derivatives.
    """

    def __init__(
        self,
        kernel: KernelSlopes,
        targets: WeightedTargets,
        covariance: str = "weights",
        weight_variances: Floats | None = None,
        noise_prior: float = 0.0,
        priors: Sequence[KernelPrior] = (),
        noise_variance: float | None = None,
    ) -> None:
        self._kernel, self._targets, self._weight_variances = kernel, targets, weight_variances
        self._priors = priors
        self._held_noise = noise_variance
        self._noise_prior = noise_prior if weight_variances is None and noise_variance is None else 0.0
        self._exponent = targets.n_samples - 2.0 * self._noise_prior  # of the noise, in the likelihood times the prior
        self._evaluate = self._of_weights if covariance == "weights" else self._of_kernel

    def at(self, widths: Floats, ratio: float) -> Value:
        """Return the value at these widths and this ratio kappa of signal to noise."""
        phi, slope = self._kernel.values_and_slopes(widths)
        known = [prior.at(phi) for prior in self._priors]
        seen, by_phi = self._evaluate(phi, ratio)
        for _, by_row in known:
            by_phi += to_device(by_row, by_phi)[:, None]
        by_phi *= slope
        posterior = seen.posterior + sum(log_density for log_density, _ in known)
        return seen._replace(posterior=posterior, by_widths=widths * self._kernel.sums_over_pairs(by_phi))

    def best_ratio(self, widths: Floats) -> float:
        """Return the ratio kappa with the largest evidence at these widths, from one decomposition; of several outputs, the mean.

        The mean is that of the logarithms. If kernels vanish at all rows, the ratio does not matter, and it is 1. The ratio hardly
        depends on the number of rows, so it is computed from a few of them.
        """
        phi, _ = self._kernel.values_and_slopes(widths)
        columns = self._targets.centered(phi * self._targets.root[:, None])
        n_rows = columns.shape[0]
        some = slice(None, None, -(-n_rows // RATIO_ROWS))
        columns, targets = columns[some, :], self._targets.values[some, :]
        n = self._targets.n_samples * columns.shape[0] / n_rows
        directions = Directions.of(squares_of(columns))
        if not len(directions.eigenvalues):
            return 1.0
        projections = to_host(columns.T @ targets)
        given = [None] * self._targets.values.shape[1] if self._weight_variances is None else self._weight_variances.tolist()
        ridges = [
            EvidenceFit.of(directions.eigenvalues, directions.project(b), float(energy), n, variance).best_ridge()
            for b, energy, variance in zip(projections.T, column_products(targets, targets), given, strict=True)
        ]
        return float(directions.eigenvalues.sum() / n / np.exp(np.mean(np.log(ridges))))

    def _of_weights(self, phi: Floats, ratio: float) -> tuple[Value, Floats]:
        """Return the value and its derivative in Phi. The matrix of the weights or of the rows is factorized: the smaller one."""
        t, root = self._targets.values, self._targets.root
        if self._targets.is_weighted:
            phi *= root[:, None]
        raw = total_square(phi)
        columns = self._targets.centered(phi)
        energy = total_square(columns)
        ridge, share = self._ridge(energy, raw, ratio)
        in_weights = columns.shape[1] <= columns.shape[0]
        factors = factored(squares_of(columns if in_weights else columns.T), ridge)
        if in_weights:
            weights = factors.solve(columns.T @ t)
            rest = t - columns @ weights
            by_phi, freedom = factors.shrunk(columns)
        else:
            rest = ridge * factors.solve(t)
            weights = columns.T @ rest / ridge
            by_phi, freedom = factors.shrunk(columns.T)
            by_phi = by_phi.T
        # t'P t = |u|^2 + rho |w|^2 is a sum of squares; t't - t'Phi w would be a difference of large numbers.
        penalty = ridge * column_products(weights, weights)
        left = column_products(rest, rest) + penalty
        noise = self._noise(left, ridge)
        by_ridge = 0.5 * (len(left) * freedom - float((penalty / noise).sum()))
        if self._weight_variances is not None:  # the noise moves with rho
            by_ridge += 0.5 * float((left / noise - self._targets.n_samples).sum())
        by_phi *= -len(left)
        add_outer(by_phi, rest / to_device(noise, rest), weights)
        if energy > 0.0:  # else the kernels do not vary at this width
            columns *= 2.0 * share * by_ridge / energy
            by_phi += columns
        if self._targets.is_weighted:
            by_phi *= root[:, None]
        return self._value(left, noise, factors, share * by_ridge), by_phi

    def _of_kernel(self, phi: Floats, ratio: float) -> tuple[Value, Floats]:
        """Return the same with Phi itself as covariance: rho (C + rho I)^-1 is P."""
        t, root = self._targets.values, self._targets.root
        if self._targets.is_weighted:
            phi *= root[:, None] * root[None, :]
        raw = trace(phi)
        covariance = self._targets.centered(self._targets.centered(phi).T)
        energy = trace(covariance)
        ridge, share = self._ridge(energy, raw, ratio)
        factors = factored(covariance, ridge)
        solved = factors.solve(t)
        left = ridge * column_products(t, solved)
        penalty = left - ridge**2 * column_products(solved, solved)
        noise = self._noise(left, ridge)
        by_ridge = 0.5 * (len(left) * factors.freedom - float((penalty / noise).sum()))
        # The factors of the sums over pairs are symmetric, and a row has distance zero from itself. So the strict lower half of the
        # inverse, counted twice, is enough. The direction of the intercept has no derivative; the inverse has 1/rho there.
        by_phi = factors.half_of_inverse * -float(len(left))
        add_outer(by_phi, solved * to_device(0.5 * ridge / noise, solved), solved)
        if (direction := self._targets.direction) is not None:
            moving = share * by_ridge / energy if energy > 0.0 else 0.0  # no energy: the kernel does not vary at this width
            add_outer(by_phi, ((0.5 * len(left) / ridge - moving) * direction)[:, None], direction[:, None])
        if self._targets.is_weighted:
            by_phi *= root[:, None] * root[None, :]
        return self._value(left, noise, factors, share * by_ridge), by_phi

    def _noise(self, left: Floats, ridge: float) -> Floats:
        """Return the noise of each output: held, or the ridge times the weight variance if that is given, or at its optimum."""
        if self._held_noise is not None:
            return np.full(len(left), self._held_noise)
        return left / self._exponent if self._weight_variances is None else ridge * self._weight_variances

    def _ridge(self, energy: float, raw: float, ratio: float) -> tuple[float, float]:
        """Return rho for kappa, and the share of it that moves with kappa. The other share keeps rho above rounding errors.

        Kernels that vanish at all rows have no energy. Any ridge then gives the same evidence.
        """
        if raw == 0.0:
            return 1.0, 0.0
        moving, floor = energy / (self._targets.n_samples * ratio), ROUNDING * raw
        return moving + floor, moving / (moving + floor)

    def _value(self, left: Floats, noise: Floats, factors: Factored | DeviceFactored, by_ridge: float) -> Value:
        likelihood = self._targets.n_samples * np.log(2.0 * np.pi * noise) + left / noise
        value = -0.5 * (float(likelihood.sum()) + len(left) * factors.log_determinant)
        posterior = value + self._noise_prior * float(np.log(noise).sum())
        return Value(value, posterior, np.empty(0), -by_ridge, noise, factors.ridge)

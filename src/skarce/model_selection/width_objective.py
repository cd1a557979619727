"""The objective of the search for kernel widths: the evidence of some rows, in units in which the first guess is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skarce._scales import check_parameter
from skarce._typing import Floats
from skarce.basis.centers import distinct_rows
from skarce.model_selection.kernel_slopes import KernelSlopes
from skarce.model_selection.width_evidence import Value, WeightedTargets, WidthEvidence

# In units in which the total variance of all inputs is one. Below the lower bound, an input does not matter. Above the upper bound,
# the kernel between any two different rows is zero.
WIDTH_BOUNDS = (1e-6, 1e6)
RATIO_BOUNDS = (1e-6, 1e8)  # bounds of the prior variance of the signal divided by that of the noise
# The noise variance has the prior sigma^(2c) with this c, or with a quarter of n if that is less. If kernels are so narrow that
# each row has its own kernel, signal and noise explain the targets equally well. This prior then prefers noise.
NOISE_PRIOR = 2.0


@dataclass(frozen=True)
class Widths:
    """What `learn_widths` found.

    Attributes
    ----------
    gamma : float or ndarray of shape (n_features,)
        Inverse squared widths, as `KernelBasis` takes them. With one for each input, it is 0 for an input that does not vary.
    log_evidence : float
        The log density of the targets of the rows that were used, with all constants, summed over outputs.
    noise_variance : float or ndarray of shape (n_outputs,)
        Variance of the noise. It is one number if y has one dimension.
    weight_precision : float or ndarray of shape (n_outputs,)
        Precision of the weights. With ``covariance="kernel"`` it is the inverse variance of the process.
    n_evaluations : int
        How often the evidence and its gradient were evaluated, for all starts together.
    n_rows : int
        The number of rows that were used.
    kernel : str
        The kernel: what ``kernel="auto"`` chose, or the one that was asked for.
    """

    gamma: Any
    log_evidence: float
    noise_variance: Any
    weight_precision: Any
    n_evaluations: int
    n_rows: int
    kernel: str


class Model(NamedTuple):
    """The model whose evidence is maximized.

    Attributes
    ----------
    kernel : name of the kernel
    fit_intercept : whether a constant is integrated out
    covariance : ``"weights"`` or ``"kernel"``
    weight_variance : the prior variance of the weights, or None if it is learned
    """

    kernel: str
    fit_intercept: bool
    covariance: str
    weight_variance: Any


class Data(NamedTuple):
    """The rows that widths are learned from.

    Attributes
    ----------
    X : rows of positive weight
    targets : array of shape (n_rows, n_outputs)
    weights : sample weights, or None if all are 1
    centers : centers of the kernels, or None if they are the rows
    """

    X: Floats
    targets: Floats
    weights: Floats | None
    centers: Floats | None

    def without_repeats(self) -> Data:
        """Join rows that repeat both inputs and targets of another row, and scale the weights down to one on average.

        If a target were repeated to the last digit, this would prove that there is no noise. A weight of two would prove the same.

        Rows are put in order, so that the order in which they came does not matter, not even to the last digit.
        """
        joint = np.hstack([self.X, self.targets])
        _, first, number = np.unique(joint, axis=0, return_index=True, return_inverse=True)
        is_whole = self.weights is None and len(first) == len(joint)
        weights = None if is_whole else np.bincount(number.reshape(-1), weights=self.weights)
        data = Data(self.X[first], self.targets[first], weights, self.centers)
        if data.weights is not None and data.weights.sum() > len(data.X):
            data = data._replace(weights=data.weights * (len(data.X) / data.weights.sum()))
        return data

    def thinned(self, n_rows: int, rng: np.random.RandomState) -> Data:
        """Draw at most `n_rows` rows, and at most as many centers, at random."""
        data = self
        if len(self.X) > n_rows:
            kept = np.sort(rng.choice(len(self.X), n_rows, replace=False))
            data = Data(self.X[kept], self.targets[kept], None if self.weights is None else self.weights[kept], self.centers)
        if data.centers is not None and len(data.centers) > n_rows:
            kept = np.sort(rng.choice(len(data.centers), n_rows, replace=False))
            data = data._replace(centers=data.centers[kept])
        return data


@dataclass(frozen=True)
class Scale:
    """The scale of the inputs in which widths of one are a first guess: gamma = width * unit.

    The variances of the scaled inputs add up to one (for absolute differences, their standard deviations). If there is one width
    for each input, all inputs get the same scale; if there is one width for all, their proportions stay. An input that does not
    vary has unit 0.

    Attributes
    ----------
    origin : means of the inputs
    units : one for each input
    factors : multiply the inputs; they are sqrt(unit), or the unit itself if the kernel uses absolute differences
    one_for_all : whether there is one width for all inputs
    """

    origin: Floats
    units: Floats
    factors: Floats
    one_for_all: bool

    @classmethod
    def of(cls, data: Data, kernel: str, *, one_for_all: bool) -> Scale:
        """Return the scale for these rows."""
        origin = np.average(data.X, axis=0, weights=data.weights)
        with np.errstate(over="ignore", invalid="ignore"):
            variances = np.average((data.X - origin) ** 2, axis=0, weights=data.weights)
        if not np.isfinite(variances).all():
            raise ValueError("X is so large that its variance overflows. Scale the inputs, for instance with StandardScaler.")
        # A variance that comes from rounding of the mean counts as zero.
        variances[variances <= 1e-24 * (variances + origin**2)] = 0.0
        if one_for_all:
            variances = np.full(len(variances), variances.mean())
        varies = variances > 0.0
        scales = np.sqrt(np.where(varies, variances, 1.0))
        if kernel == "laplacian":
            factors = varies / (len(variances) * scales)
            return cls(origin, factors, factors, one_for_all)
        factors = varies / (np.sqrt(len(variances)) * scales)
        return cls(origin, factors**2, factors, one_for_all)

    def inputs(self, X: Floats) -> Floats:
        """Return scaled inputs."""
        return (X - self.origin) * self.factors

    def gamma(self, log_widths: Floats) -> Any:
        """Return gamma in the units of the user."""
        if not self.one_for_all:
            return np.exp(log_widths) * self.units
        # If no input varies, any width gives the same model.
        return float(np.exp(log_widths[0]) * self.units[0]) or 1.0

    @property
    def n_widths(self) -> int:
        """The number of widths to learn."""
        return 1 if self.one_for_all else len(self.units)


class Objective:
    """The function that the optimizer minimizes, and the best point so far. Targets are scaled to unit variance."""

    def __init__(self, data: Data, scale: Scale, model: Model) -> None:
        targets = WeightedTargets.of(data.targets, data.weights, fit_intercept=model.fit_intercept)
        self.n_rows, self._scale, self.covariance = len(data.X), scale, model.covariance
        self._kernel = model.kernel
        self._n_samples = targets.n_samples
        energies = np.einsum("no,no->o", targets.values, targets.values)
        raw = np.einsum("no,no->o", data.targets, data.targets)
        self._varies = energies > 1e-24 * raw
        self.can_tell = bool(self._n_samples > 0.0 and self._varies.any() and (scale.units > 0.0).any())
        self._scales = np.sqrt(energies[self._varies] / max(self._n_samples, 1e-300))
        rows = scale.inputs(data.X)
        centers = rows[distinct_rows(rows)] if data.centers is None else scale.inputs(data.centers)
        if model.covariance == "kernel":
            centers = rows
        scaled = replace(targets, values=targets.values[:, self._varies] / self._scales)
        given = None
        if model.weight_variance is not None:
            given = np.broadcast_to(np.asarray(model.weight_variance, dtype=np.float64), self._varies.shape)
            given = np.array(
                [check_parameter("weight_variance", v, v / s**2) for v, s in zip(given[self._varies], self._scales, strict=True)]
            )
        prior = min(NOISE_PRIOR, 0.25 * max(self._n_samples, 0.0))
        self._evidence = WidthEvidence(KernelSlopes(model.kernel, rows, centers), scaled, model.covariance, given, prior)
        self.n_evaluations = 0
        self.best_at: Floats | None = None
        self._best: Value | None = None

    def __call__(self, at: Floats) -> tuple[float, Floats]:
        """Return the negative log evidence with the prior of the noise, and its gradient in the logarithms of widths and ratio."""
        widths = np.broadcast_to(np.exp(at[:-1]), self._scale.units.shape)
        value = self._evidence.at(widths, float(np.exp(at[-1])))
        self.n_evaluations += 1
        if self._best is None or value.posterior > self._best.posterior:
            self._best, self.best_at = value, at.copy()
        by_widths = value.by_widths.sum(keepdims=True) if self._scale.one_for_all else value.by_widths
        return -value.posterior, -np.append(by_widths, value.by_ratio)

    def start_from_process(self, at: Floats) -> Floats:
        """Return a start from the optimum of a Gaussian process: Phi Phi' is about as wide as Phi of half the gamma."""
        return self.start_at(at[:-1] + np.log(2.0))

    def start_at(self, log_widths: Floats) -> Floats:
        """Return a start with these widths and the ratio of largest evidence."""
        log_widths = np.clip(log_widths, *np.log(WIDTH_BOUNDS))
        ratio = self._evidence.best_ratio(np.broadcast_to(np.exp(log_widths), self._scale.units.shape))
        return np.append(log_widths, np.log(np.clip(ratio, *RATIO_BOUNDS)))

    @property
    def log_evidence(self) -> float:
        """The largest log evidence so far, in user units."""
        assert self._best is not None
        return self._best.log_evidence - self._n_samples * float(np.log(self._scales).sum())

    def widths(self, n_evaluations: int) -> Widths:
        """Return the best widths so far, in user units."""
        assert self._best is not None
        assert self.best_at is not None
        noise, precision = np.zeros(len(self._varies)), np.full(len(self._varies), np.inf)
        noise[self._varies] = self._best.noise_variances * self._scales**2
        precision[self._varies] = self._best.ridge / noise[self._varies]
        gamma = self._scale.gamma(self.best_at[:-1])
        return Widths(gamma, self.log_evidence, noise, precision, n_evaluations, self.n_rows, self._kernel)

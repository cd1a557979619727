"""The objective of the search for kernel widths: the evidence of some rows and the priors, where the first guess is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skarce._scales import check_parameter
from skarce._typing import Floats
from skarce.basis.centers import distinct_rows
from skarce.model_selection.ascent import Ending, Summit
from skarce.model_selection.flatness_prior import FlatnessPrior
from skarce.model_selection.kernel_slopes import KernelSlopes
from skarce.model_selection.label_evidence import LabelEvidence
from skarce.model_selection.neighbor_prior import NeighborPrior
from skarce.model_selection.slopes_on_device import DeviceKernelSlopes
from skarce.model_selection.width_data import Data, Scale
from skarce.model_selection.width_evidence import Value, WeightedTargets, WidthEvidence
from skarce.model_selection.width_prior import WidthPrior

# In units in which the total variance of all inputs is one. Below the lower bound, an input does not matter. Above the upper bound,
# the kernel between any two different rows is zero.
WIDTH_BOUNDS = (1e-10, 1e6)
RATIO_BOUNDS = (1e-6, 1e8)  # bounds of the prior variance of the signal divided by that of the noise
# The noise variance has the prior sigma^(2c) with this c, or with a quarter of n if that is less. If kernels are so narrow that
# each row has its own kernel, signal and noise explain the targets equally well. This prior then prefers noise.
NOISE_PRIOR = 2.0
GAUSSIAN, BERNOULLI = "gaussian", "bernoulli"
ALIKE = 1.0  # two points are close to the same maximum if no logarithm that matters differs by more than this
WORTH_DEVICE = 2000  # rows; with fewer, the cores of the host are as fast as the way to a device and back
MATTERS = 0.01  # an input matters if it can change the signal by more than this share of the noise, as variances


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
    n_outliers : int
        The number of rows that were left out because their targets are outliers.
    """

    gamma: Any
    log_evidence: float
    noise_variance: Any
    weight_precision: Any
    n_evaluations: int
    n_rows: int
    kernel: str
    n_outliers: int = 0


class Model(NamedTuple):
    """The model whose evidence is maximized.

    Attributes
    ----------
    kernel : name of the kernel
    fit_intercept : whether a constant is integrated out
    covariance : ``"weights"`` or ``"kernel"``
    weight_variance : the prior variance of the weights, or None if it is learned
    noise_share : the noise variance as a share of the variance of the targets, or None if it is learned
    flatness : the strength of the prior against flat kernels
    likelihood : ``"gaussian"``, or ``"bernoulli"`` for labels that are +1 and -1
    device : an array on the device that computes pairs of many rows, or None if all is computed on the host
    """

    kernel: str
    fit_intercept: bool
    covariance: str
    weight_variance: Any
    noise_share: float | None = None
    flatness: float = 0.0
    likelihood: str = GAUSSIAN
    device: Any = None

    @property
    def learns_noise(self) -> bool:
        """Whether targets have noise of an unknown variance. Labels do not."""
        return self.noise_share is None and self.likelihood == GAUSSIAN

    @property
    def of_process(self) -> Model:
        """A Gaussian process, for a cheaper search. The likelihood of labels is expanded about constant log odds."""
        noise_share = self.noise_share if self.likelihood == GAUSSIAN else 1.0
        return self._replace(covariance="kernel", weight_variance=None, noise_share=noise_share, likelihood=GAUSSIAN)


class Objective:
    """The function that the search maximizes, and the best point so far. Targets are scaled to unit variance."""

    def __init__(self, data: Data, scale: Scale, model: Model, prior: WidthPrior) -> None:
        targets = WeightedTargets.of(data.targets, data.weights, fit_intercept=model.fit_intercept)
        self.n_rows, self.scale, self._covariance = len(data.X), scale, model.covariance
        self._kernel, self._prior = model.kernel, prior
        self._n_samples = targets.n_samples
        energies = np.einsum("no,no->o", targets.values, targets.values)
        raw = np.einsum("no,no->o", data.targets, data.targets)
        self._varies = energies > 1e-24 * raw
        self.can_tell = bool(self._n_samples > 0.0 and self._varies.any() and (scale.units > 0.0).any())
        self._scales = np.sqrt(energies[self._varies] / (self._n_samples if self.can_tell else 1.0))
        if is_labels := model.likelihood == BERNOULLI:
            self._scales = np.ones_like(self._scales)
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
        of_noise = min(NOISE_PRIOR, 0.25 * max(self._n_samples, 0.0))
        priors = (NeighborPrior.of(rows, centers, data.weights), FlatnessPrior.of(model.flatness, len(rows), data.weights))
        kernel = KernelSlopes(model.kernel, rows, centers)
        if model.device is not None and len(rows) >= WORTH_DEVICE and not is_labels:
            kernel, scaled = DeviceKernelSlopes(model.kernel, rows, centers, model.device), scaled.on(model.device)
        self._evidence: WidthEvidence | LabelEvidence
        self._evidence = WidthEvidence(kernel, scaled, model.covariance, given, of_noise, priors, model.noise_share)
        if is_labels:
            self._evidence = LabelEvidence(
                kernel,
                data.targets[:, self._varies],
                data.weights,
                self._evidence,
                covariance=model.covariance,
                priors=priors,
                fit_intercept=model.fit_intercept,
            )
        self.n_evaluations = 0
        self.best_at: Floats | None = None
        self._best: Value | None = None

    def __call__(self, at: Floats) -> tuple[float, Floats]:
        """Return the log evidence with all priors, and its gradient in the logarithms of widths and ratio."""
        widths = np.broadcast_to(np.exp(at[:-1]), self.scale.units.shape)
        value = self._evidence.at(widths, float(np.exp(at[-1])))
        prior, by_prior = self._prior.at(at[:-1])
        value = value._replace(posterior=value.posterior + prior)
        self.n_evaluations += 1
        if self._best is None or value.posterior > self._best.posterior:
            self._best, self.best_at = value, at.copy()
        by_widths = value.by_widths.sum(keepdims=True) if self.scale.one_for_all else value.by_widths
        return value.posterior, np.append(by_widths + by_prior, value.by_ratio)

    def are_alike(self, one: Floats, other: Floats) -> bool:
        """Whether two points belong to the same maximum. Inputs that do not matter at either of them do not count."""
        widest = np.maximum(one, other)
        counts = np.append(widest[:-1] + np.log(np.maximum(self._prior.spans, 1e-300)) + widest[-1] > np.log(MATTERS), True)
        return bool(np.abs(one - other)[counts].max() <= ALIKE)

    def from_process(self, at: Floats) -> Floats:
        """Return the point that corresponds to one of a Gaussian process: Phi Phi' is about as wide as Phi of half the gamma."""
        return at if self._covariance == "kernel" else self.start_at(at[:-1] + np.log(2.0))

    def start_at(self, log_widths: Floats) -> Floats:
        """Return a start with these widths and the ratio of largest evidence."""
        log_widths = np.clip(log_widths, *np.log(WIDTH_BOUNDS))
        ratio = self._evidence.best_ratio(np.broadcast_to(np.exp(log_widths), self.scale.units.shape))
        return np.append(log_widths, np.log(np.clip(ratio, *RATIO_BOUNDS)))

    def best_so_far(self) -> Summit:
        """Return the best point that was evaluated."""
        assert self._best is not None
        assert self.best_at is not None
        return Summit(self.best_at, self._best.posterior, None, Ending.STOPPED)

    @property
    def log_evidence(self) -> float:
        """The largest log evidence so far, in user units."""
        assert self._best is not None
        return self._best.log_evidence - self._n_samples * float(np.log(self._scales).sum())

    def first_guess(self) -> Widths:
        """Return the widths of one, in user units, and no noise: the rows tell nothing."""
        n_outputs = len(self._varies)
        gamma = self.scale.gamma(np.zeros(self.scale.n_widths))
        return Widths(gamma, np.inf, np.zeros(n_outputs), np.full(n_outputs, np.inf), 0, self.n_rows, self._kernel)

    def widths(self, n_evaluations: int) -> Widths:
        """Return the best widths so far, in user units."""
        assert self._best is not None
        assert self.best_at is not None
        noise, precision = np.zeros(len(self._varies)), np.full(len(self._varies), np.inf)
        noise[self._varies] = self._best.noise_variances * self._scales**2
        with np.errstate(over="ignore", divide="ignore"):  # of tiny targets, the precision of weights may be too large for a number
            precision[self._varies] = np.minimum(self._best.ridge / noise[self._varies], np.finfo(float).max)
        gamma = self.scale.gamma(self.best_at[:-1])
        return Widths(gamma, self.log_evidence, noise, precision, n_evaluations, self.n_rows, self._kernel)

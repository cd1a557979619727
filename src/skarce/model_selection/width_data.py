"""The rows that widths are learned from, and the scale of their inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skarce._typing import Floats, Indices

LARGEST_FACTOR = 1e150  # its square is still a number


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

    def without(self, rows: Indices) -> Data:
        """Leave these rows out."""
        weights = None if self.weights is None else np.delete(self.weights, rows)
        return Data(np.delete(self.X, rows, axis=0), np.delete(self.targets, rows, axis=0), weights, self.centers)

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
    is_absolute : whether the kernel uses absolute differences
    """

    origin: Floats
    units: Floats
    factors: Floats
    one_for_all: bool
    is_absolute: bool

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
            return cls(origin, factors, factors, one_for_all, True)
        factors = varies / (np.sqrt(len(variances)) * scales)
        if (factors > LARGEST_FACTOR).any():
            column = int(factors.argmax())
            raise ValueError(
                f"column {column} of X varies by {scales[column]:.3g} about {origin[column]:.3g}, too little for the width of a "
                "kernel to be a number. Subtract a constant from it and multiply it, for instance with StandardScaler."
            )
        return cls(origin, factors**2, factors, one_for_all, False)

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

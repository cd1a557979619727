"""Whole sums of rows on a device. They are added up there, and moved to the host once. The Gram matrix stays there, too."""

from __future__ import annotations

from typing import Any, NamedTuple

from skarce._device import device_of, namespace, to_host
from skarce._parallel import slices
from skarce.basis.on_device import DeviceEvaluation
from skarce.moments.sums import Sums

PANEL = 512  # columns of the Gram matrix at a time; only within a panel both sides of the diagonal are computed


class Moved(NamedTuple):
    """Sums that were moved to the host, and their Gram matrix where it was made."""

    sums: Sums
    gram_there: Any


class DeviceSums:
    """N, the means, and the second moments about the means, as arrays on a device. Parts add up by the rule of `Sums`.

    Parameters
    ----------
    n_candidates, n_outputs : int
        How many functions and targets there are.
    like : array
        An array on the device.
    """

    def __init__(self, n_candidates: int, n_outputs: int, like: Any) -> None:
        xp, device = namespace(like), device_of(like)

        def zeros(*shape: int) -> Any:
            return xp.zeros(shape, dtype=xp.float64, device=device)

        self._n = 0.0
        self._means, self._target_means = zeros(n_candidates), zeros(n_outputs)
        self._gram, self._projections = self._no_products(n_candidates, like), zeros(n_candidates, n_outputs)
        self._energies = zeros(n_outputs)

    def _no_products(self, n_candidates: int, like: Any) -> Any:
        xp = namespace(like)
        return xp.zeros((n_candidates, n_candidates), dtype=xp.float64, device=device_of(like))

    def add(self, evaluation: DeviceEvaluation, targets: Any, weights: Any) -> None:
        """Add rows. Targets of shape (n_rows, n_outputs) and weights, or None, are doubles on the device."""
        for rows, phi in evaluation.blocks():
            self._absorb(phi, targets[rows, :], None if weights is None else weights[rows])

    def include(self, other: DeviceSums) -> None:
        """Add the sums over other rows on the device."""
        if other._n > 0.0:
            self._shift_for(other._n, other._means, other._target_means)
            self._gram += other._gram
            self._projections += other._projections
            self._energies += other._energies

    def moved(self, factor: float = 1.0) -> Moved:
        """Return the sums as NumPy arrays, with the weight of all rows times a factor. This moves them."""
        there = self._whole_gram(factor)
        gram, projections = to_host(there), factor * to_host(self._projections)
        means, target_means, energies = to_host(self._means), to_host(self._target_means), factor * to_host(self._energies)
        return Moved(Sums(factor * self._n, means, target_means, gram, projections, energies), there)

    def _whole_gram(self, factor: float) -> Any:
        """Return the Gram matrix with both halves, times a factor."""
        xp = namespace(self._gram)
        whole = xp.tril(self._gram) + xp.tril(self._gram, k=-1).T
        return whole if factor == 1.0 else factor * whole

    def _absorb(self, phi: Any, targets: Any, weights: Any) -> None:
        """Add a block of rows. `phi` is overwritten."""
        xp = namespace(phi)
        n = float(phi.shape[0]) if weights is None else float(xp.sum(weights))
        if n <= 0.0:
            return
        if weights is None:
            mean, target_mean = xp.mean(phi, axis=0), xp.mean(targets, axis=0)
        else:
            mean, target_mean = weights @ phi / n, weights @ targets / n
        phi -= mean
        targets = targets - target_mean
        if weights is not None:
            root = xp.sqrt(weights)[:, None]
            phi *= root
            targets = targets * root
        self._shift_for(n, mean, target_mean)
        self._add_squares(phi)
        self._projections += phi.T @ targets
        self._energies += xp.sum(targets * targets, axis=0)

    def _add_squares(self, phi: Any) -> None:
        """Add Phi'Phi on and below the diagonal."""
        for columns in slices(phi.shape[1], PANEL):
            self._gram[columns.start :, columns] += phi[:, columns.start :].T @ phi[:, columns]

    def _add_change(self, factor: float, change: Any) -> None:
        """Add what a change of the means contributes to Phi'Phi."""
        self._gram += (factor * change)[:, None] * change[None, :]

    def _shift_for(self, n: float, mean: Any, target_mean: Any) -> None:
        """Update the means for n more rows with these means, and add what that contributes to the second moments."""
        total = self._n + n
        change, target_change = mean - self._means, target_mean - self._target_means
        factor = self._n * n / total
        if factor > 0.0:
            self._add_change(factor, change)
            self._projections += (factor * change)[:, None] * target_change[None, :]
            self._energies += factor * target_change * target_change
        self._means = self._means + change * (n / total)
        self._target_means = self._target_means + target_change * (n / total)
        self._n = total

"""Columns of the Gram matrix of rows on a device, by passes over the rows. Only the columns are moved to the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from skarce._device import device_of, namespace, taken, to_device, to_host
from skarce._scales import negligible
from skarce._typing import Floats, Indices
from skarce.basis.on_device import DeviceEvaluation
from skarce.moments.gram import ColumnGram
from skarce.moments.moments import Moments
from skarce.moments.on_device import DeviceSums
from skarce.moments.passes import Center
from skarce.moments.sums import CONSTANT

# Candidates, targets and weights (or None) at some rows. Each call gives the same rows in the same order.
ReadDevice = Callable[[], Iterable[tuple[DeviceEvaluation, Any, Any]]]


class DeviceSquares(DeviceSums):
    """The same sums with the diagonal of the Gram matrix alone."""

    def _no_products(self, n_candidates: int, like: Any) -> Any:
        xp = namespace(like)
        return xp.zeros((n_candidates,), dtype=xp.float64, device=device_of(like))

    def _add_squares(self, phi: Any) -> None:
        self._gram += namespace(phi).sum(phi * phi, axis=0)

    def _add_change(self, factor: float, change: Any) -> None:
        self._gram += factor * change * change

    def moved_squares(self) -> tuple[float, Floats, Floats, Floats, Floats, Floats]:
        """Return N, the means of candidates and targets, diag(Phi'Phi), Phi'T and diag(T'T) on the host, about the means."""
        arrays = self._means, self._target_means, self._gram, self._projections, self._energies
        return self._n, *(to_host(values) for values in arrays)  # type: ignore[return-value]


class ColumnsOnDevice:
    """Moments by column. This takes one pass now, and one for each later request for columns.

    Parameters
    ----------
    read : callable
        Reads candidates, targets and weights at the rows, block by block.
    about_mean : bool
        Whether moments are about the mean or about zero.
    factor : float
        Factor on the weights of all rows.

    Attributes
    ----------
    n_samples : the sum of the weights
    raw_squares : the sum of the squares of each candidate, about zero
    center : what is subtracted from candidates and targets
    """

    def __init__(self, read: ReadDevice, *, about_mean: bool, factor: float = 1.0) -> None:
        self._read, self._about_mean, self._factor = read, about_mean, factor
        n, means, target_means, squares, projections, energies = self._first_pass().moved_squares()
        self.n_samples, self.raw_squares = factor * n, factor * (squares + n * means**2)
        self.center = Center(means * about_mean, target_means * about_mean)
        if not about_mean:
            squares = squares + n * means**2
            projections, energies = projections + np.multiply.outer(n * means, target_means), energies + n * target_means**2
        self._varies = factor * squares > np.maximum(CONSTANT * self.raw_squares, negligible(self.n_samples))
        self._squares = factor * squares * self._varies
        self._projections, self._energies = factor * projections * self._varies[:, None], factor * energies

    def moments(self) -> list[Moments]:
        """Return one `Moments` for each output, all on one Gram matrix."""
        gram, n = ColumnGram(self._squares, self.columns, self.block), self.n_samples - float(self._about_mean)
        outputs = zip(self._projections.T, self._energies, strict=True)
        return [Moments(gram, np.ascontiguousarray(b), float(tt), n) for b, tt in outputs]

    def columns(self, indices: Indices) -> Floats:
        """Return Phi'Phi_A as rows, in one pass."""
        return self._products(indices, None)

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Return Phi_R'Phi_C, in one pass."""
        return self._products(rows, columns)

    def _first_pass(self) -> DeviceSquares:
        total: DeviceSquares | None = None
        for evaluation, targets, weights in self._read():
            total = total or DeviceSquares(evaluation.n_candidates, targets.shape[1], targets)
            total.add(evaluation, targets, weights)
        assert total is not None  # the sample has found rows
        return total

    def _products(self, left: Indices, right: Indices | None) -> Floats:
        """Return Phi_left'Phi_right. None stands for all candidates."""
        total: Any = 0.0
        for phi, weights in self._centered():
            chosen = taken(phi, left, axis=1)
            chosen = chosen if weights is None else chosen * weights[:, None]
            total = chosen.T @ (phi if right is None else taken(phi, right, axis=1)) + total
        ends = self._varies if right is None else self._varies[right]
        return self._factor * to_host(total) * np.multiply.outer(self._varies[left], ends)

    def _centered(self) -> Iterator[tuple[Any, Any]]:
        """Yield candidates about their center at a few rows, and the weights of these rows."""
        for evaluation, _, weights in self._read():
            for rows, phi in evaluation.blocks():
                phi -= to_device(self.center.candidates, phi)
                yield phi, None if weights is None else weights[rows]

"""The active functions alone, with their matrices on a device: large factorizations and products are made there."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from skarce._device import namespace, taken, to_device, to_host
from skarce._linalg import cholesky_on_device, inverse_of_lower_on_device, with_raised_diagonal
from skarce._typing import Floats, Indices
from skarce.moments.gram import Gram, block_there
from skarce.states.active_block import ActiveBlock
from skarce.states.members import Members
from skarce.states.state import left_of

WORTH_DEVICE = 400  # functions; the matrices of fewer are factorized on the host before they would be on a device


def block_of(gram: Gram, active: Indices, projections: Floats, target_energy: float, ridges: Floats) -> ActiveBlock:
    """Return the active functions on the device of the Gram matrix if it has one and they are many, and else on the host."""
    there = whole_there(gram, len(active))
    if there is None:
        return ActiveBlock(gram.block(active, active), projections, target_energy, ridges)
    return DeviceBlock(block_there(there, active), projections, target_energy, ridges)


def whole_there(gram: Gram, size: int) -> Any:
    """Return all of Phi'Phi on the device of a Gram matrix; None if it has none, or if a model of this size is too small for it."""
    return gram.there if size >= WORTH_DEVICE else None


class DeviceBlock(ActiveBlock):
    """H = G_AA + Lambda at given ridges, as `ActiveBlock` has it. Matrices are on a device, and vectors are on the host.

    Parameters
    ----------
    gram : array on a device, of shape (n_active, n_active)
        G_AA = Phi_A'Phi_A.
    projections : array of shape (n_active,)
        b_A = Phi_A't.
    target_energy : float
        t't.
    ridges : array of shape (n_active,)
        The diagonal of Lambda.
    """

    def __init__(self, gram: Any, projections: Floats, target_energy: float, ridges: Floats) -> None:
        xp = namespace(gram)
        self.gram, self.projections, self.target_energy, self._ridges = gram, projections, target_energy, ridges
        lower = cholesky_on_device(with_raised_diagonal(gram, ridges))
        self._root_there = inverse_of_lower_on_device(lower)
        explained = self._root_there @ to_device(projections, gram)
        self._weights = to_host(self._root_there.T @ explained)
        self.energy = left_of(target_energy, to_host(explained))
        self._log_determinant = float(np.log(to_host(xp.linalg.diagonal(lower)) ** 2 / ridges).sum())

    @property
    def inverse(self) -> Floats:
        return to_host(self.inverse_there)

    @cached_property
    def inverse_there(self) -> Any:
        return self._root_there.T @ self._root_there

    def spread(self) -> Floats:
        return self._spread

    @cached_property
    def _spread(self) -> Floats:
        return to_host(namespace(self.gram).sum(self._root_there * self._root_there, axis=0))

    @cached_property
    def squared_norms(self) -> Floats:  # type: ignore[override]
        return to_host(namespace(self.gram).linalg.diagonal(self.gram))

    def at(self, ridges: Floats) -> DeviceBlock:
        return DeviceBlock(self.gram, self.projections, self.target_energy, ridges)

    def inverse_rows(self, positions: Indices) -> Floats:
        return to_host(taken(self._root_there, positions, axis=1).T @ self._root_there)

    def without(self, positions: Indices, members: Members) -> DeviceBlock:
        """Return only the functions at `positions`. They are factorized again, which is quicker than moving the inverse."""
        gram = block_there(self.gram, positions)
        return DeviceBlock(gram, self.projections[positions], self.target_energy, self.ridges[positions])

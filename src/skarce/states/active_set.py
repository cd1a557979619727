r"""The state of a search: the active candidates, their ridges, and what is left for every other candidate.

Every precision is relative to the noise precision, :math:`\lambda_j = \alpha_j\sigma^2`. So nothing here contains the noise, and
nothing has to be computed again when the noise changes. With the active columns :math:`\Phi`, :math:`H = \Phi^T\Phi + \Lambda` and
:math:`P = I - \Phi H^{-1}\Phi^T`:

=============  ==========================  =======================================================
name           papers                      meaning
=============  ==========================  =======================================================
``ridges``     lambda, zeta                weight precisions relative to the noise precision
``weights``    w = H^-1 Phi't, mu          posterior mean
``leftover``   gamma_m, psi, S/beta        phi_m'P phi_m: how much of a candidate is not covered yet
``alignment``  r_m, o, Q/beta              phi_m'P t: how well a candidate explains the rest
``energy``     a                           t'P t: residual energy plus penalty
``spread``     h_jj                        diag(H^-1): posterior variances relative to the noise
``remainder``  u_m, eps                    phi_m'P^2 phi_m: squared norm of what is left of a candidate
``overlap``    xi_m                        phi_m'P^2 t: how well what is left fits the residual
``residual``   q                           t'P^2 t: residual energy
``freedom``    v                           tr P: degrees of freedom left
=============  ==========================  =======================================================

The last four are kept only if a criterion needs P squared.

The updates are those of Sundararajan, Shevade and Keerthi, appendices V and VI, in terms of moments. With L active functions and
M candidates, an addition, a change or a removal costs O(L M + L^2). A refresh from a Cholesky factor costs O(L^2 M + L^3). If the
factor is so ill-conditioned that quantities with P squared would lose their digits, or if hardly anything of t is left, and if the
rows are still available, the refresh computes these quantities in orthonormal coordinates made from the rows (see
`skarce.states.ridge_fit`), at the same cost. If the rows do not fit into memory, it reads them again (FGCV errata 6).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skarce._device import taken, to_host
from skarce._linalg import (
    GrowingCholesky,
    NotPositiveDefiniteError,
    cholesky,
    cholesky_on_device,
    inverse_of_lower,
    inverse_of_lower_on_device,
    lower_product,
    solve_lower,
    symmetric_inverse,
    with_raised_diagonal,
)
from skarce._typing import Floats, Indices
from skarce.moments import Moments, RowsAnswer, WholeGram
from skarce.moments.gram import block_there
from skarce.states.coordinates import Frame, RowCoordinates
from skarce.states.device_block import whole_there
from skarce.states.ridge_fit import RidgeFit, cover_of, covered
from skarce.states.state import (
    DEPENDENT,
    DEPENDENT_BY_ROWS,
    ILL_CONDITIONED,
    NEARLY_EXACT,
    RESOLUTION,
    State,
    left_of,
    resolved_energy,
)


class _Solution(NamedTuple):
    """Ridge regression in orthonormal coordinates, which a refresh found for an ill-conditioned set."""

    fit: RidgeFit
    frame: Frame


class _Factors:
    """What a refresh leaves for the candidates: L^-1, which is made when somebody asks for it, and L^-1 Phi_A't.

    Parameters
    ----------
    lower : array of shape (n_active, n_active)
        L.
    there : array on a device, or None
        L on the device of a Gram matrix. None is the host alone.
    projections : array of shape (n_active,)
        Phi_A't.
    by_root : bool
        Whether L^-1 Phi_A't is a product with L^-1, so that differences of it and other products with L^-1 keep more digits.
    """

    def __init__(self, lower: Floats, there: Any, projections: Floats, *, by_root: bool) -> None:
        self._lower, self._there = lower, there
        self.explained = self.root @ projections if by_root else solve_lower(lower, projections)

    @cached_property
    def root(self) -> Floats:
        return inverse_of_lower(self._lower) if self._there is None else to_host(self.root_there)

    @cached_property
    def root_there(self) -> Any:
        return inverse_of_lower_on_device(self._there)


class _Shown:
    """A quantity of all candidates, which a set computes when somebody asks for it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, active_set: ActiveSet, owner: type | None = None) -> Floats:
        active_set._show_candidates()
        values: Floats = getattr(active_set, self._name)
        return values

    def __set__(self, active_set: ActiveSet, values: Floats) -> None:
        setattr(active_set, self._name, values)


class ActiveSet(State):
    """Active candidates, each with its own ridge, and the quantities of all candidates given them.

    Parameters
    ----------
    moments : Moments
        What the data say about the candidates.
    active : array of shape (n_active,), default=None
        The candidates to start with. None starts with the empty set.
    ridges : array of shape (n_active,), default=None
        The ridges of these candidates.
    squares : bool, default=False
        Whether to keep the quantities that need P squared.

    Notes
    -----
    A refresh or an addition leaves the rows ``cover`` = L^-1 Phi_A'Phi up to date, where L is the Cholesky factor of H. The next
    addition then costs one product with these rows. A change or a removal works on Phi_A'Phi instead, and ``cover`` is out of date
    afterwards. After a refresh, the quantities of the candidates are computed when they are asked for.
    """

    leftover = _Shown()
    alignment = _Shown()
    remainder = _Shown()
    overlap = _Shown()

    def __init__(
        self, moments: Moments, active: Indices | None = None, ridges: Floats | None = None, *, squares: bool = False
    ) -> None:
        self.moments = moments
        self.has_squares = squares
        self._coordinates: RowCoordinates | None = None
        self._solution: _Solution | None = None
        self._spread: Floats | None = None
        self._unseen: _Factors | None = None
        self._n = 0
        self._index = np.zeros(8, dtype=np.intp)
        self._ridges = np.zeros(8)
        self._rows = np.empty((8, moments.n_candidates))
        self._cover = np.empty((8, moments.n_candidates))
        if active is None or ridges is None:
            self.refresh()
        else:
            self.restart(active, ridges)

    def __len__(self) -> int:
        return self._n

    @property
    def active(self) -> Indices:
        """The active candidates, in the order in which they entered."""
        return self._index[: self._n]

    @property
    def ridges(self) -> Floats:
        return self._ridges[: self._n]

    @property
    def gram_rows(self) -> Floats:
        """Phi_A'Phi, shape (n_active, n_candidates)."""
        return self._rows[: self._n]

    @property
    def gram_block(self) -> Floats:
        """Phi_A'Phi_A."""
        return self.gram_rows[:, self.active]

    @property
    def weights(self) -> Floats:
        """w = H^-1 Phi_A't."""
        if self._solution is not None:
            return self._solution.fit.weights
        return self.factor.solve(self.moments.projections[self.active])

    @property
    def inverse(self) -> Floats:
        """H^-1."""
        return symmetric_inverse(self.factor.lower)

    @property
    def cholesky(self) -> Floats:
        return self.factor.lower

    def spread(self) -> Floats:
        """diag(H^-1), shape (n_active,)."""
        if self._spread is None:
            root = inverse_of_lower(self.factor.lower) if self._unseen is None else self._unseen.root
            self._spread = _squared_norms_of_columns(root)
        return self._spread

    @property
    def log_determinant(self) -> float:
        """log|I + Phi Lambda^-1 Phi'|."""
        return float(np.log(self.factor.lower.diagonal() ** 2 / self.ridges).sum())

    def refresh(self) -> None:
        """Compute everything again, from a Cholesky factor of H, or from the rows if H is ill-conditioned."""
        moments = self.moments
        lower, lower_there = self._factor_or_thin_out()
        self.factor = GrowingCholesky(lower)
        self._solution, self._spread, self._unseen, self._cover_is_fresh = None, None, None, True
        self.is_ill_conditioned, self.dependent = False, DEPENDENT
        if self.has_squares and self._n and self._refresh_ill_conditioned():
            return
        if not self._n:
            self.leftover, self.alignment, self.energy = *self._untouched(), resolved_energy(moments)
            if self.has_squares:
                self.remainder, self.overlap = self._untouched()
                self.residual, self.freedom = self.energy, moments.n_samples
            return
        self._unseen = _Factors(lower, lower_there, moments.projections[self.active], by_root=self.has_squares)
        explained = self._unseen.explained
        self.energy = left_of(resolved_energy(moments), explained)
        if self.has_squares:
            weights = self._unseen.root.T @ explained
            self.residual = max(self.energy - float(self.ridges @ weights**2), RESOLUTION * moments.target_energy)
            self.freedom = moments.n_samples - self._n + float(self.ridges @ self.spread())

    def _untouched(self) -> tuple[Floats, Floats]:
        """Return phi'phi and phi't of all candidates."""
        return self.moments.gram.diagonal.copy(), self.moments.projections.copy()

    def _show_candidates(self) -> None:
        """Compute the quantities of the candidates after a refresh. Joint steps often follow, and then nobody asks for them."""
        if self._unseen is None:
            return
        self.spread()  # from the same root
        factors, self._unseen = self._unseen, None
        # A product with L^-1 is about twice as fast as a triangular solve with n_candidates right-hand sides.
        cover = self._cover[: self._n]
        there = whole_there(self.moments.gram, self._n)
        if there is None:
            lower_product(factors.root, self.gram_rows, out=cover)
        else:
            cover[:] = to_host(factors.root_there @ taken(there, self.active))
        self.leftover, self.alignment = self._untouched()
        self.leftover -= np.einsum("am,am->m", cover, cover)
        self.alignment -= factors.explained @ cover
        if self.has_squares:
            self._show_squares(factors.root, cover, factors.root.T @ factors.explained)

    def _show_squares(self, root: Floats, cover: Floats, weights: Floats) -> None:
        """Compute xi = r - (Z w)'y and u = gamma - y'Z y with y = H^-1 Phi_A'Phi (FGCV errata 5)."""
        ridges, inward = self.ridges, np.empty_like(cover)
        lower_product(root, cover, out=inward, transposed=True)
        self.overlap = self.alignment - (ridges * weights) @ inward
        inward *= np.sqrt(ridges)[:, None]
        self.remainder = self.leftover - np.einsum("am,am->m", inward, inward)

    def _refresh_ill_conditioned(self) -> bool:
        """If H is ill-conditioned and the rows are available, compute everything from them. Return whether this was done."""
        diagonal, rows = self.factor.lower.diagonal(), self.moments.rows
        self.is_ill_conditioned = bool(diagonal.max() ** 2 > ILL_CONDITIONED * diagonal.min() ** 2)
        if rows is None or not (self.is_ill_conditioned or self._is_nearly_exact()):
            return False
        self.is_ill_conditioned = True
        self.dependent = DEPENDENT_BY_ROWS
        if RowCoordinates.are_possible(self.moments):
            self._take_from_coordinates()
        else:
            self._take_from_rows(rows)
        self.freedom = self.moments.n_samples - self._n + float(self.ridges @ self.spread())
        return True

    def _is_nearly_exact(self) -> bool:
        """Tell whether so little of t is left that candidates matter of which moments cannot tell what is left."""
        lower, moments = self.factor.lower, self.moments
        explained = solve_lower(lower, moments.projections[self.active])
        weights = solve_lower(lower, explained, transposed=True)
        residual = left_of(resolved_energy(moments), explained) - float(self.ridges @ weights**2)
        return residual < NEARLY_EXACT * moments.target_energy

    def _take_from_coordinates(self) -> None:
        if self._coordinates is None:
            self._coordinates = RowCoordinates.of(self.moments)
        frame = self._coordinates.spanning(self.active)
        fit = RidgeFit.of(frame, self.active, self.ridges)
        self.leftover, self.alignment, self.remainder, self.overlap = covered(fit, frame)
        self.residual = fit.residual + RESOLUTION * self.moments.target_energy
        self.energy = self.residual + fit.penalty
        self.factor = GrowingCholesky(fit.lower)
        self._solution, self._cover_is_fresh = _Solution(fit, frame), False

    def _take_from_rows(self, rows: RowsAnswer) -> None:
        seen, usable = rows.remainders(self.active, self.ridges), self.moments.gram.diagonal > 0.0
        self.alignment, self.leftover = seen.alignment * usable, seen.leftover * usable
        self.overlap, self.remainder = seen.overlap * usable, seen.remainder * usable
        self.residual = seen.residual + RESOLUTION * self.moments.target_energy
        self.energy = self.residual + seen.penalty
        self.factor = GrowingCholesky(seen.lower)
        lower_product(inverse_of_lower(seen.lower), self.gram_rows, out=self._cover[: self._n])

    def add(self, candidate: int, ridge: float) -> None:
        """Add a candidate (FGCV, appendix VI)."""
        if not self._cover_is_fresh:
            self._refresh_cover()
        self._show_candidates()
        n, self._solution, self._spread = self._n, None, None
        self._reserve(n + 1)
        row, cover = self._rows[n], self._cover[:n]
        row[:] = self.moments.gram.column(candidate)
        pivot = float(np.sqrt(self.leftover[candidate] + ridge))
        own = cover[:, candidate].copy()
        unexplained = self._cover[n]
        np.subtract(row, own @ cover, out=unexplained)
        unexplained *= 1.0 / pivot
        explained = float(self.alignment[candidate]) / pivot
        if self.has_squares:
            self._add_to_squares(candidate, pivot * unexplained, pivot * pivot, explained / pivot)
        self.factor.append_row(own, pivot)
        self._set_energy(self.energy - explained**2)
        self.alignment -= explained * unexplained
        self.leftover -= unexplained * unexplained
        self._index[n] = candidate
        self._ridges[n] = ridge
        self._n = n + 1

    def _refresh_cover(self) -> None:
        if self._solution is None:
            self.refresh()
        if self._solution is not None:
            self._cover[: self._n] = cover_of(*self._solution)
            self._cover_is_fresh = True

    def _add_to_squares(self, candidate: int, mu: Floats, total: float, weight: float) -> None:
        """Update the squares by FGCV, eqs 44 to 47. mu_m = phi_j'P phi_m and nu_m = phi_j'P^2 phi_m belong to the model before."""
        overlap, remainder = float(self.overlap[candidate]), float(self.remainder[candidate])
        nu = mu.copy()
        if self._n:
            inward = self.factor.solve(self.gram_rows[:, candidate])
            nu -= self.factor.solve(self.ridges * inward) @ self.gram_rows
        self.overlap -= mu * ((overlap - weight * remainder) / total) + weight * nu
        self.remainder += mu * ((remainder / total) * mu - 2.0 * nu) / total
        self.freedom -= remainder / total
        self.residual += weight * (weight * remainder - 2.0 * overlap)

    def change(self, position: int, ridge: float) -> None:
        """Give an active candidate another ridge (FGCV, appendix V)."""
        difference = ridge - self._ridges[position]
        column = self._inverse_column(position)
        self._shift(position, column, difference / (1.0 + difference * column[position]))
        self._ridges[position] = ridge
        try:
            self.factor.shift(position, difference)
        except NotPositiveDefiniteError:
            self.refresh()

    def remove(self, position: int) -> None:
        """Remove an active candidate: the limit of an infinite ridge."""
        column = self._inverse_column(position)
        self._shift(position, column, 1.0 / column[position])
        self._compact(np.delete(np.arange(self._n), position))
        try:
            self.factor.remove(position)
        except NotPositiveDefiniteError:
            self.refresh()

    def restart(self, active: Indices, ridges: Floats) -> None:
        """Make exactly these candidates active, with these ridges, and compute everything again."""
        self._n = 0
        self._reserve(len(active))
        self._n = len(active)
        self._index[: self._n] = active
        self._ridges[: self._n] = ridges
        if self._n:
            self._rows[: self._n] = self.moments.gram.columns(active)
        self.refresh()

    def left_of(self, candidates: Indices) -> ActiveSet | None:
        if self.has_squares or not self.moments.gram.is_whole:
            return None
        if not self._cover_is_fresh:
            self._refresh_cover()
        self._show_candidates()
        cover = self._cover[: self._n, candidates]
        gram = WholeGram(self.moments.gram.block(candidates, candidates) - cover.T @ cover)
        left = ActiveSet(Moments(gram, self.alignment[candidates], self.energy, self.moments.n_samples))
        left.energy = self.energy  # what cannot be resolved is in it already
        left.noise = self.noise
        left.dependent = self.dependent * self.moments.gram.diagonal[candidates] / gram.diagonal
        return left

    def snapshot(self) -> Any:
        """Return what `restore` needs to come back to this set."""
        return self.active.copy(), self.ridges.copy(), self.noise

    def restore(self, snapshot: Any) -> None:
        """Come back to the set of a snapshot, and compute everything again."""
        active, ridges, self.noise = snapshot
        self.restart(active, ridges)

    def keep(self, positions: Indices, ridges: Floats) -> None:
        """Keep only the functions at `positions`, with these ridges, and compute everything again."""
        if len(positions) < self._n:
            self._compact(positions)
        self._ridges[: self._n] = ridges
        self.refresh()

    def drift(self) -> float:
        """Return how far the updated quantities are from identities that hold exactly, relative to their size.

        For active j: phi_j'P t = lambda_j w_j, and phi_j'P phi_j = lambda_j (1 - lambda_j h_jj).
        """
        if not self._n:
            return 0.0
        diagonal = self.moments.gram.diagonal[self.active]
        aligned = np.abs(self.alignment[self.active] - self.ridges * self.weights) / np.sqrt(diagonal * self.energy)
        kept = self.ridges * (1.0 - self.ridges * self.spread())
        covered = np.abs(self.leftover[self.active] - kept) / diagonal
        return float(max(aligned.max(), covered.max(), self._drift_of_squares() if self.has_squares else 0.0))

    def _drift_of_squares(self) -> float:
        """Return the drift of two more identities: tr P = n - L + sum lambda_j h_jj and t'P^2 t = t'P t - w'Lambda w."""
        freedom = self.moments.n_samples - self._n + float(self.ridges @ self.spread())
        residual = self.energy - float(self.ridges @ self.weights**2)
        return max(abs(self.freedom - freedom) / self.moments.n_samples, abs(self.residual - residual) / self.energy)

    def has_sign_violation(self) -> bool:
        """Tell whether a sum of squares is negative by more than rounding, so that digits have been lost."""
        slack = DEPENDENT * self.moments.gram.diagonal
        if not self.energy > self._least_energy or bool((self.leftover < -slack).any()):
            return True
        if not self.has_squares:
            return False
        # 0 <= u <= gamma, and (phi'P^2 t)^2 <= u q
        if not (self.residual > 0.0 and self.freedom > 0.0):
            return True
        return bool(((self.remainder < -slack) | (self.remainder > self.leftover + slack)).any())

    @property
    def _least_energy(self) -> float:
        """Less than any energy that is computed from the factor. An update that goes below it has lost all digits."""
        return 0.5 * RESOLUTION * self.moments.target_energy

    def _set_energy(self, energy: float) -> None:
        """Keep the energy positive, so that it has a logarithm until it is computed anew."""
        self.energy = max(energy, self._least_energy)

    def _inverse_column(self, position: int) -> Floats:
        unit = np.zeros(self._n)
        unit[position] = 1.0
        return self.factor.solve(unit)

    def _shift(self, position: int, column: Floats, step: float) -> None:
        moved = column @ self.gram_rows
        weight = float(self.weights[position])
        if self.has_squares:
            self._shift_squares(position, column, step, moved, weight)
        self.alignment += step * weight * moved
        self.leftover += step * moved**2
        self._set_energy(self.energy + step * weight**2)
        self._cover_is_fresh, self._solution, self._spread = False, None, None

    def _shift_squares(self, position: int, column: Floats, step: float, rho: Floats, weight: float) -> None:
        """Update the squares by FGCV, eqs 38 to 41, with the weights and ridges before the change."""
        shrunk = self.ridges * column
        chi = self.factor.solve(shrunk) @ self.gram_rows
        kappa = float(self.weights @ shrunk)
        length = float(column[position] - column @ shrunk)
        self.remainder += step * rho * (2.0 * chi + (step * length) * rho)
        self.overlap += step * (rho * (kappa + step * length * weight) + weight * chi)
        self.freedom += step * length
        self.residual += step * weight * (2.0 * kappa + step * length * weight)

    def _compact(self, positions: Indices) -> None:
        n = len(positions)
        self._rows[:n] = self._rows[positions]
        self._index[:n] = self._index[positions]
        self._ridges[:n] = self._ridges[positions]
        self._n = n

    def _factor_or_thin_out(self) -> tuple[Floats, Any]:
        """Factorize H, also on the device of the Gram matrix. While it is singular, remove the most recent function."""
        while True:
            there = whole_there(self.moments.gram, self._n)
            try:
                if there is None:
                    return cholesky(self.gram_block, self.ridges), None
                lower = cholesky_on_device(with_raised_diagonal(block_there(there, self.active), self.ridges))
                return to_host(lower), lower
            except NotPositiveDefiniteError:
                self._n -= 1

    def _reserve(self, size: int) -> None:
        if size <= len(self._rows):
            return
        kept = min(self._n, len(self._rows))
        for name in ("_index", "_ridges", "_rows", "_cover"):
            old = getattr(self, name)
            larger = np.empty((2 * size, *old.shape[1:]), dtype=old.dtype)
            larger[:kept] = old[:kept]
            setattr(self, name, larger)


def _squared_norms_of_columns(root: Floats) -> Floats:
    """Return diag(H^-1) from L^-1. It is read only, because states hand it out again."""
    diagonal = np.einsum("ij,ij->j", root, root)
    diagonal.flags.writeable = False
    return diagonal

"""Rows in memory. Moments are whole or by column; for columns, Phi is stored if it fits, and evaluated by blocks if not."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import blas

from skarce._memory import fits
from skarce._parallel import for_each, product, slices, squares
from skarce._scales import negligible
from skarce._typing import Floats, Indices
from skarce._validation import check_container
from skarce.basis import Evaluation
from skarce.basis.candidates import KernelEvaluation, TransformerEvaluation
from skarce.basis.sparse_columns import SparseEvaluation
from skarce.basis.tiles import fill_symmetric_blocks
from skarce.designs.centered import centered, not_centered
from skarce.designs.choice import IN_BATCHES, Access, Costs, SparseCosts, choose_kind, require_room_for_columns
from skarce.designs.dask_columns import check_no_names
from skarce.designs.dask_partitions import check_not_lazy
from skarce.designs.design import Design, Recipe, Rows
from skarce.moments import CONSTANT, ColumnGram, Moments, Sums
from skarce.moments.passes import (
    Block,
    Center,
    RowsOfBlocks,
    check_candidates,
    moments_from_sums,
    sparse_moments,
    streamed_moments,
    whole_moments,
)

NEARLY_CONSTANT = 1e-4  # if phi'phi about the mean is below this share of phi'phi, products with raw columns lose digits
WHOLE_ROWS = 1024  # rows that a transformer computes at a time
COLUMNS_AT_A_TIME = 256  # that are evaluated for residuals
PANEL_BYTES = 2**21  # columns are centered and weighted in panels of about this size, which fit into the cache


class InMemoryDesign(Design):
    """Candidates at rows that are all in memory.

    Parameters
    ----------
    candidates : object
        The fitted basis, with `on(X)` and `n_candidates`.
    rows : Rows
        Inputs, targets of shape (n_rows, n_outputs) and weights. Weights count: a row of weight 2 is like two equal rows.
    fit_intercept : bool, default=True
        Whether to integrate out a constant under a flat prior. If so, moments are about the mean, and N becomes N - 1.
    """

    keeps_rows: ClassVar[bool] = True
    counts_worth: ClassVar[bool] = True

    def __init__(self, candidates: Any, rows: Rows, *, fit_intercept: bool = True) -> None:
        self.candidates, self.rows, self.fit_intercept = candidates, rows, fit_intercept
        self._block = Block(candidates.on(rows.X), rows.targets, rows.weights)
        self.n_samples = float(len(rows.targets)) if rows.weights is None else float(rows.weights.sum())

    @classmethod
    def takes(cls, X: Any) -> bool:
        """Take everything that no other design takes."""
        return True

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, recipe: Recipe) -> InMemoryDesign:
        check_container(X, "X")
        check_not_lazy(y, sample_weight)
        check_no_names(X, y, sample_weight)
        rows = recipe.check(X, y, sample_weight)
        return cls(recipe.candidates(rows), rows, fit_intercept=recipe.fit_intercept)

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        evaluation = self._block.evaluation
        shape, symmetric = (evaluation.n_rows, evaluation.n_candidates), evaluation.is_symmetric
        costs = Costs(*shape, evaluation.cost, access, symmetric)
        if isinstance(evaluation, SparseEvaluation):
            costs = SparseCosts(*shape, evaluation.cost, access, n_stored=evaluation.n_stored)
        kind = choose_kind(kind, costs)
        if kind == "whole":
            moments, self._center = whole_moments(self._read, fit_intercept=self.fit_intercept)
        elif isinstance(evaluation, SparseEvaluation):
            moments, self._center = sparse_moments(self._block, fit_intercept=self.fit_intercept)
        elif fits(evaluation.n_rows, evaluation.n_candidates):
            moments, self._center = self._stored_moments(keeps_symmetry=symmetric and access.one_by_one)
        else:
            if isinstance(evaluation, KernelEvaluation):  # refuse now, and not after a pass over all pairs of rows
                require_room_for_columns(costs)
            moments, self._center = streamed_moments(self._read, fit_intercept=self.fit_intercept)
        return moments

    def moments_from(self, sums: Sums) -> list[Moments]:
        """Return one `Moments` for each output from whole sums over these rows, which were added up elsewhere."""
        moments, self._center = moments_from_sums(sums, self._read, fit_intercept=self.fit_intercept)
        return moments

    def evaluation(self, most_held: int = 0) -> tuple[Evaluation, Floats]:
        evaluation, weights = self._block.evaluation, self.rows.row_weights
        return (centered if self.fit_intercept else not_centered)(evaluation, weights, most_held)

    def reweighted(self, output: int, factors: Floats) -> tuple[InMemoryDesign, Moments]:
        """Return a design of one output with the weight of each row times its factor, and its moments.

        The factors say how precise each row is. They do not change the number of observations.
        """
        other = copy(self)
        weights = factors if self._block.weights is None else factors * self._block.weights
        other.rows = Rows(self.rows.X, self.rows.targets[:, [output]], weights)
        other._block = Block(self._block.evaluation, other.rows.targets, weights)
        other.n_samples = float(weights.sum())
        (moments,) = other.moments()
        other.n_samples = self.n_samples
        return other, replace(moments, n_samples=self.n_samples - self.fit_intercept)

    def rows_of(self, indices: Indices) -> tuple[Floats, Floats]:
        return self._block.evaluation.columns(indices) - self.means(indices), self._block.targets - self.target_means

    def residuals(self, indices: Indices, weights: Floats) -> Floats:
        residuals = self._block.targets - self.target_means
        for part in slices(len(indices), COLUMNS_AT_A_TIME):
            columns = self._block.evaluation.columns(indices[part]) - self.means(indices[part])
            residuals -= (columns @ weights[part])[:, None]
        return residuals

    def _read(self) -> tuple[Block]:
        return (self._block,)

    def _mean(self, values: Floats) -> Floats:
        weights = self._block.weights
        return values.mean(axis=0) if weights is None else (weights / self.n_samples) @ values

    def _stored_moments(self, *, keeps_symmetry: bool) -> tuple[list[Moments], Center]:
        """Return moments by column with Phi stored, and the center.

        Each panel of columns is centered and weighted in place while it is in cache. With `keeps_symmetry`, Phi is stored as it is.
        """
        evaluation, root = self._block.evaluation, self._root_weights()
        n, m = evaluation.n_rows, evaluation.n_candidates
        target_means = self._mean(self._block.targets) * self.fit_intercept
        targets = (self._block.targets - target_means) * root
        phi = np.empty((n, m), order="F")
        diagonal, projections, means = np.empty(m), np.empty((m, targets.shape[1])), np.zeros(m)
        raws = np.empty(m)
        has_whole_rows = isinstance(evaluation, TransformerEvaluation)
        if keeps_symmetry:
            fill_symmetric_blocks(evaluation.fill, phi.T)
        elif has_whole_rows:  # a transformer computes all columns, however few are wanted
            for rows in slices(n, WHOLE_ROWS):
                evaluation.fill(rows, slice(0, m), phi[rows])

        def work(columns: slice) -> None:
            panel = phi[:, columns]
            if keeps_symmetry:
                panel = panel.copy(order="F")
            elif not has_whole_rows:
                evaluation.fill(slice(0, n), columns, panel)
            raws[columns] = raw = np.einsum("ij,ij->j", panel, panel)
            if self.fit_intercept:
                means[columns] = self._mean(panel)
                panel -= means[columns]
            if self._block.weights is not None:
                panel *= root
            energy = np.einsum("ij,ij->j", panel, panel)
            constant = energy <= np.maximum(CONSTANT * raw, negligible(self.n_samples))
            panel[:, constant] = 0.0
            diagonal[columns] = np.where(constant, 0.0, energy)
            projections[columns] = panel.T @ targets

        for_each(work, slices(m, max(16, PANEL_BYTES // (8 * n))), operations=20.0 * n * m)
        check_candidates(raws, float(n), lambda: (evaluation,))
        if keeps_symmetry and (diagonal > NEARLY_CONSTANT * (self.n_samples / n) * raws).all():
            gram = ColumnGram(diagonal, *symmetric_products_of(phi, means, root**2))
        else:
            if keeps_symmetry:
                phi -= means
                phi *= root
                phi[:, diagonal == 0.0] = 0.0
            gram = ColumnGram(diagonal, *products_of(phi))
        energies = np.einsum("ij,ij->j", targets, targets)
        center, n_left = Center(means, target_means), self.n_samples - self.fit_intercept
        moments = [
            Moments(gram, np.ascontiguousarray(b), float(tt), n_left, RowsOfBlocks(self._read, center, output))
            for output, (b, tt) in enumerate(zip(projections.T, energies, strict=True))
        ]
        return moments, center

    def _root_weights(self) -> Floats:
        weights = self._block.weights
        return np.ones((1, 1)) if weights is None else np.sqrt(weights)[:, None]


Products = tuple[Callable[[Indices], Floats], Callable[[Indices, Indices], Floats], Callable[[], Floats] | None]


def products_of(phi: Floats) -> Products:
    """Return functions for columns, blocks and (if it fits into the memory budget) all of phi'phi. They keep phi."""

    def columns(indices: Indices) -> Floats:
        return product(phi[:, indices].T, phi)

    def block(rows: Indices, columns: Indices) -> Floats:
        left = phi[:, rows]
        return squares(left) if rows is columns else left.T @ phi[:, columns]

    return columns, block, partial(squares, phi) if fits(phi.shape[1], phi.shape[1]) else None


def symmetric_products_of(phi: Floats, means: Floats, weights: Floats) -> Products:
    """Do the same for a symmetric phi that is not centered: if v has mean zero, (phi - mean)'v = phi v. It reads half of phi."""

    def centered(indices: Indices) -> Floats:
        return phi[:, indices] - means[indices]

    def columns(indices: Indices) -> Floats:
        right = weights * centered(indices)
        if len(indices) == 1:
            return blas.dsymv(1.0, phi, right[:, 0], lower=1)[None]
        return product(right.T, phi)

    def block(rows: Indices, columns: Indices) -> Floats:
        return centered(rows).T @ (weights * centered(columns))

    return columns, block, None

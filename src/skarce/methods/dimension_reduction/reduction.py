"""The directions that explain the target best: several starts, kernels that become narrower, and how many directions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skarce._progress import Quiet, counted, progress
from skarce._typing import Floats, Indices
from skarce.methods.dimension_reduction.contrast import Contrast
from skarce.methods.dimension_reduction.subspaces import Subspace, minimize_over_subspaces

N_FOLDS = 3
ENOUGH_GAIN = 0.02  # one more direction must lower the left-out error by this share


@dataclass(frozen=True)
class Plan:
    """How directions are searched.

    Attributes
    ----------
    width : the width of the kernel, times the square root of the number of directions; inputs have the variance 1
    annealing : factors of the width, one after the other
    ridge : the regularization, epsilon
    """

    n_components: int
    width: float
    annealing: tuple[float, ...]
    ridge: float
    n_starts: int
    n_landmarks: int
    tol: float
    max_iter: int

    @property
    def final_width(self) -> float:
        """The width of the kernel at the end."""
        return self.width * float(np.sqrt(self.n_components))

    def with_components(self, n_components: int) -> Plan:
        """The same plan for another number of directions."""
        return replace(self, n_components=n_components)


@dataclass(frozen=True)
class Reduction:
    """Orthonormal directions in columns, the share of the target that they leave unexplained, and how they were found."""

    directions: Floats
    contrast: float
    n_iter: int
    is_converged: bool
    start_contrasts: Floats


def reduce_inputs(inputs: Floats, targets: Floats, plan: Plan, rng: np.random.RandomState) -> Reduction:
    """The best directions of all starts. Inputs are standardized, and targets are centered features."""
    contrast = Contrast(inputs, targets, draw_landmarks(len(inputs), plan.n_landmarks, rng), plan.ridge)
    starts = counted(_starts(inputs, targets, plan, rng), lambda start: 1, "searching for directions", plan.n_starts, "starts")
    found = [_annealed(contrast, start, plan) for start in starts]
    best = min(found, key=lambda subspace: subspace.score)
    contrasts = np.array([subspace.score for subspace in found])
    return Reduction(best.basis, best.score, best.n_iter, best.slope <= plan.tol, contrasts)


def choose_n_components(inputs: Floats, targets: Floats, plan: Plan, most: int, rng: np.random.RandomState) -> dict[int, float]:
    """The left-out error of each number of directions that was tried: 1, 2, ... until one more does not help."""
    folds = rng.permutation(len(inputs)) % N_FOLDS
    errors: dict[int, float] = {}
    with progress("choosing the number of directions", unit="fits", at_most=most * N_FOLDS) as part:
        for n_components in range(1, most + 1):
            errors[n_components] = _left_out_error(inputs, targets, folds, plan.with_components(n_components), rng, part)
            if enough_components(errors) < n_components:
                break
    return errors


def enough_components(errors: dict[int, float]) -> int:
    """The least number of directions such that one more does not lower the error enough."""
    return next(tried for tried in errors if errors.get(tried + 1, np.inf) > (1.0 - ENOUGH_GAIN) * errors[tried])


def draw_landmarks(n_rows: int, n_landmarks: int, rng: np.random.RandomState) -> Indices:
    """The places of landmarks: all rows, or a sample of them."""
    return np.arange(n_rows) if n_rows <= n_landmarks else np.sort(rng.choice(n_rows, n_landmarks, replace=False))


def _left_out_error(inputs: Floats, targets: Floats, folds: Indices, plan: Plan, rng: np.random.RandomState, part: Quiet) -> float:
    errors = []
    for fold in range(N_FOLDS):
        is_out = folds == fold
        center = targets[~is_out].mean(axis=0)
        kept, kept_targets = inputs[~is_out], targets[~is_out] - center
        found = reduce_inputs(kept, kept_targets, plan, rng)
        contrast = Contrast(kept, kept_targets, draw_landmarks(len(kept), plan.n_landmarks, rng), plan.ridge)
        errors.append(contrast.left_out_share(found.directions, plan.final_width, inputs[is_out], targets[is_out] - center))
        part.step()
    return float(np.mean(errors))


def _annealed(contrast: Contrast, start: Floats, plan: Plan) -> Subspace:
    """Go down from a start, with wide kernels first. They have fewer local minima."""
    found, n_iter = Subspace(start, np.inf, np.inf, 0), 0
    for factor in (*plan.annealing, 1.0):
        score = partial(contrast, width=factor * plan.final_width)
        found = minimize_over_subspaces(score, found.basis, tol=plan.tol, max_iter=plan.max_iter - n_iter)
        n_iter += found.n_iter
    return found._replace(n_iter=n_iter)


def _starts(inputs: Floats, targets: Floats, plan: Plan, rng: np.random.RandomState) -> Iterable[Floats]:
    """The directions of the largest covariances of inputs and features of the target, and then random ones."""
    d, K = inputs.shape[1], plan.n_components
    first = np.linalg.svd(inputs.T @ targets)[0]
    yield first[:, :K]
    for _ in range(plan.n_starts - 1):
        yield np.linalg.qr(rng.normal(size=(d, K)))[0]

"""What the search for precisions asks of a model of a latent function, whether it stands on rows or on sums of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from skarce._linalg import inverse_of_lower, outer, with_raised_diagonal
from skarce._typing import Floats, Indices

Model = TypeVar("Model", bound="LatentModel")


class LatentModel(ABC):
    """The mode of the weights at given precisions, and what follows from it (see `laplace` for the formulas).

    Attributes
    ----------
    precisions : alpha, shape (n,)
    indices : which candidates the functions are, shape (n - n_fixed,)
    n_fixed : 1 if the first function is the constant, whose precision is not learned; else 0
    weights : the mode
    factor : lower Cholesky factor of H
    score : what is maximized, the approximation of log p(t) less the penalty of the precisions
    seconds : how long it took to find the mode; one more model takes about as long
    """

    precisions: Floats
    indices: Indices
    n_fixed: int
    weights: Floats
    factor: Floats
    score: float
    seconds: float

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def learned(self) -> slice:
        """The functions whose precision is learned."""
        return slice(self.n_fixed, None)

    @property
    @abstractmethod
    def largest_curvatures(self) -> Floats:
        """phi'B phi of each function at the largest curvature that the likelihood can have, shape (n,)."""

    @property
    @abstractmethod
    def penalty_rates(self) -> Floats:
        """e / (2 tau^2) of the learned functions."""

    @property
    @abstractmethod
    def third_order_sums(self) -> Floats:
        """Phi'(rho o h) of all functions, shape (n,)."""

    # Other models from this one -------------------------------------------------------------------------------------------

    @abstractmethod
    def at(self, learned_precisions: Floats) -> Self:
        """Return the same functions at other precisions."""

    @abstractmethod
    def with_only(self, keep: Indices, precisions: Floats, start: Floats) -> Self:
        """Return the model with the functions at these places, which have the constant, at other precisions."""

    def without(self, positions: Indices) -> Self:
        """Return the model less the functions at these positions among the learned ones."""
        keep = np.setdiff1d(np.arange(len(self.precisions)), np.asarray(positions) + self.n_fixed)
        return self.with_only(keep, self.precisions[keep], self.weights[keep])

    def settled_by_compiled(self, tolerance: float, max_steps: int) -> tuple[Self, bool] | None:
        """Take joint steps for all precisions in compiled code, as `steps.settle` does.

        Return the model, and whether it has converged; None if there is no such code, or if it finds the functions dependent.
        """
        return None

    # What the neighborhood of the mode says ------------------------------------------------------------------------------

    @cached_property
    def root(self) -> Floats:
        """R with R'R = H^-1."""
        return inverse_of_lower(self.factor)

    @cached_property
    def covariance(self) -> Floats:
        """H^-1."""
        return self.root.T @ self.root

    @property
    def covariance_there(self) -> Any:
        """H^-1 where large matrices are: on a device, or on the host."""
        return self.covariance

    @property
    def spread(self) -> Floats:
        """diag H^-1."""
        return self.covariance.diagonal()

    def times_covariance(self, vector: Floats) -> Floats:
        """Return H^-1 v."""
        return self.covariance @ vector

    @cached_property
    def pull(self) -> Floats:
        """u = H^-1 Phi'(rho o h)."""
        return self.times_covariance(self.third_order_sums)

    @cached_property
    def penalties(self) -> Floats:
        """e / (2 tau^2 alpha) of the learned precisions."""
        return self.penalty_rates / self.precisions[self.learned]

    @property
    def gradient(self) -> Floats:
        """Derivatives of the score by the logarithms of the learned precisions."""
        a, w, u = self.precisions[self.learned], self.weights[self.learned], self.pull[self.learned]
        return 0.5 * (1.0 - a * self.spread[self.learned] - a * w * (w - u)) + self.penalties

    @property
    def negative_hessian(self) -> Any:
        """Second derivatives, B held: diag(s + q)/2 - (v v') o H^-1 - (alpha alpha') o H^-1 o H^-1 / 2 + penalties.

        s = alpha w^2, q = alpha diag H^-1, v = alpha w. The matrix is where `covariance_there` is.
        """
        a, w, inverse = self.precisions[self.learned], self.weights[self.learned], self.covariance_there[self.learned, self.learned]
        matrix = -outer(a * w, a * w, like=inverse) * inverse - 0.5 * outer(a, a, like=inverse) * inverse**2
        return with_raised_diagonal(matrix, self.stiffness)

    @property
    def stiffness(self) -> Floats:
        """(s + q)/2 + penalty: the part of the Hessian that each precision has to itself."""
        a, w = self.precisions[self.learned], self.weights[self.learned]
        return 0.5 * (a * w**2 + a * self.spread[self.learned]) + self.penalties

    @property
    def well_determined(self) -> Floats:
        """gamma = 1 - alpha diag H^-1 of the learned ones."""
        determined = 1.0 - self.precisions * self.spread
        return np.clip(determined[self.learned], 0.0, 1.0)

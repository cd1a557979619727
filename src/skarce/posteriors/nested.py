"""Nested models, with the moments of their functions, so that any of them can be solved again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skarce._typing import Floats, Indices
from skarce.designs.choice import IN_BATCHES, Access
from skarce.designs.design import Design
from skarce.designs.problem import Problem
from skarce.likelihoods import Gaussian
from skarce.moments import Moments, WholeGram
from skarce.moments.passes import Center
from skarce.posteriors.of_fit import judge_of, posterior_of
from skarce.posteriors.posterior import Posterior
from skarce.states.fit import Fit
from skarce.states.journal import TRACE
from skarce.states.outcome import Outcome


@dataclass(frozen=True)
class NestedPath:
    """Models of `least` to `most` functions for one (scaled) target. Each model contains the smaller ones.

    Attributes
    ----------
    members : ndarray of shape (most,)
        The candidates of the largest model, in ascending order.
    places : ndarray of shape (most,)
        Positions in `members`. The first k of them are the model of k functions.
    least : int
        The number of functions of the smallest model.
    ridges : list of ndarray
        The ridges of each size: one for all functions, or one for each function in ascending order of the candidates.
    noises : list of float or None
        The noise variance of each size, if the criterion fixes it. None otherwise.
    worths : ndarray of shape (n_sizes,)
        The worth of each size, which the search maximizes. Sizes above `most` are included.
    gram : ndarray of shape (most, most)
        Phi'Phi of the members.
    projections : ndarray of shape (most,)
        Phi't of the members.
    target_energy : float
        t't.
    n_samples : float
        The number of observations in these moments, without the one that an intercept uses up.
    means : ndarray of shape (most,)
        The means of the members over the data, zero without an intercept.
    target_mean : float
        The mean of the target, zero without an intercept.
    n_total : float
        The number of all observations.
    criterion : Judge
        The criterion that chose the models, for the scaled target.
    target_scale : float
        The factor that the target was multiplied by.
    """

    members: Indices
    places: Indices
    least: int
    ridges: list[Floats]
    noises: list[Any]
    worths: Floats
    gram: Floats
    projections: Floats
    target_energy: float
    n_samples: float
    means: Floats
    target_mean: float
    n_total: float
    criterion: Any
    target_scale: float

    @classmethod
    def of(cls, fit: Fit, problem: Problem, most: int) -> NestedPath:
        """Return the nested models of a fit that have at most `most` functions."""
        nested, moments, design = fit.nested, problem.moments, problem.design
        if nested is None:
            raise ValueError("the models on the way to this fit do not contain one another.")
        kept = slice(0, most - nested.least + 1)
        members = np.sort(nested.order[:most])
        return cls(
            members=members,
            places=np.searchsorted(members, nested.order[:most]),
            least=nested.least,
            ridges=nested.ridges[kept],
            noises=nested.noises[kept],
            worths=nested.worths,
            gram=moments.gram.block(members, members),
            projections=moments.projections[members],
            target_energy=moments.target_energy,
            n_samples=moments.n_samples,
            means=design.means(members),
            target_mean=float(design.target_means[problem.output]),
            n_total=design.n_samples,
            criterion=judge_of(fit),
            target_scale=problem.target_scale,
        )

    @property
    def most(self) -> int:
        """The number of functions of the largest model."""
        return len(self.members)

    def posterior(self, size: int, trace: NDArray[np.void]) -> Posterior:
        """Solve the model of `size` functions again. `trace` holds the steps of the search."""
        criterion, moments = self.criterion, self._moments()
        places = np.sort(self.places[:size])
        ridges, mixing = np.broadcast_to(self.ridges[size - self.least], size).copy(), None
        if criterion.has_final_penalty:
            # The order of entry may matter, and the ridges of the path may be a step behind.
            places = self.places[:size]
            ridges, mixing = criterion.penalty(criterion.new_state(moments, places, ridges), size)
        fit = Fit(places, ridges, Outcome.GOAL_REACHED, mixing, self.noises[size - self.least], judge=criterion)
        posterior = posterior_of(fit, Problem(_Kept(self), 0, Gaussian(), moments, self.target_scale))
        return replace(posterior, active=self.members[posterior.active], trace=trace, n_iter=len(trace), path=self)

    def training_error(self, size: int) -> float:
        """Return the root mean square of what the model of `size` functions leaves of the target, in user units."""
        posterior = self.posterior(size, np.empty(0, dtype=TRACE))
        places = np.searchsorted(self.members, posterior.active)
        energy = self._moments().residual_energy(places, posterior.mean * self.target_scale)
        return float(np.sqrt(max(energy, 0.0) / self.n_total) / self.target_scale)

    def _moments(self) -> Moments:
        return Moments(WholeGram(self.gram), self.projections, self.target_energy, self.n_samples)


class _Kept(Design):
    """A design without rows: the means and moments of the members are enough once a set is chosen."""

    def __init__(self, path: NestedPath) -> None:
        self._path = path
        self.n_samples = path.n_total
        self._center = Center(path.means, np.array([path.target_mean]))

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        return [self._path._moments()]

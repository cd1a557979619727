"""Nested models, and all that it takes to make any of them again: the moments of their functions."""

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
from skarce.states.outcome import Outcome


@dataclass(frozen=True)
class NestedPath:
    """Models of `least` to `most` functions, each contained in the next, for one (scaled) target.

    Attributes
    ----------
    members : the candidates of the largest model, ascending
    places : where in `members` the functions are, those of smaller models first
    ridges : for each size one for all, or one for each function, by ascending candidate
    noises : for each size the noise variance where the criterion holds one, else None
    worths : what the search wants large, also of models above `most`
    gram, projections, target_energy, n_samples : moments of the members
    means, target_mean, n_total : what a design knows of them
    criterion, target_scale : the criterion, and what the target was multiplied by
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
        """Keep the models of at most `most` functions."""
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
        return len(self.members)

    def posterior(self, size: int, trace: NDArray[np.void]) -> Posterior:
        """The model of so many functions, solved afresh; `trace` is that of the search."""
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

    def _moments(self) -> Moments:
        return Moments(WholeGram(self.gram), self.projections, self.target_energy, self.n_samples)


class _Kept(Design):
    """The design of the members, as far as it is asked once a set is chosen."""

    def __init__(self, path: NestedPath) -> None:
        self._path = path
        self.n_samples = path.n_total
        self._center = Center(path.means, np.array([path.target_mean]))

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        return [self._path._moments()]

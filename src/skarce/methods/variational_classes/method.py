"""Variational classification as a method: standardized candidates, one of two bounds, and stricter rules for what stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from skarce._memory import require
from skarce._parallel import slices
from skarce._typing import Floats, Indices
from skarce.basis.candidates import Evaluation
from skarce.designs.problem import Problem
from skarce.likelihoods import Observations
from skarce.methods.latent.landmarks import Landmarks
from skarce.methods.method import Method
from skarce.methods.variational.choice import Chosen, choose, small_enough
from skarce.methods.variational.prior import Prior
from skarce.methods.variational_classes.fake_targets import FakeTargets, run_factorized, run_sweeps
from skarce.methods.variational_classes.jaakkola_jordan import Fitted, run, run_em
from skarce.methods.variational_classes.model import Variational, counts
from skarce.posteriors.latent import LatentFit, LatentPosterior
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

BLOCK_ROWS = 1024  # candidates are evaluated at this many rows at a time
LANDMARKS = Landmarks(most=1000, most_elements=20_000_000)  # all of them are in the model at first


@dataclass(frozen=True)
class Standardized:
    """All candidates that vary, divided by their root mean squares.

    Attributes
    ----------
    design : array of shape (n_rows, n_fixed + n_usable), with the column of the constant first if there is one
    usable : which candidates they are
    scales : root mean squares of all candidates
    means : means of all candidates, zero without a constant
    """

    design: Floats
    usable: Indices
    scales: Floats
    means: Floats

    @classmethod
    def of(cls, evaluation: Evaluation, observations: Observations, means: Floats, *, fit_intercept: bool) -> Standardized:
        """Evaluate the candidates block by block."""
        n, m, n_fixed, weights = evaluation.n_rows, evaluation.n_candidates, int(fit_intercept), counts(observations)
        design = np.empty((n, n_fixed + m))
        design[:, :n_fixed] = observations.constant[:, None]
        for rows in slices(n, BLOCK_ROWS):
            design[rows, n_fixed:] = evaluation.columns(np.arange(m), rows)
        columns = design[:, n_fixed:]
        scales = np.sqrt(np.einsum("i,ij,ij->j", weights, columns, columns) / weights.sum())
        usable = np.flatnonzero(scales > 0.0)
        columns /= np.where(scales > 0.0, scales, 1.0)
        kept = np.concatenate([np.arange(n_fixed), n_fixed + usable])
        return cls(design if len(usable) == m else design[:, kept], usable, scales, means)

    def units(self, candidates: Indices, n_fixed: int) -> Floats:
        """Return what a weight is divided by to be one of the candidate itself, for the constant and these candidates."""
        return np.concatenate([np.ones(n_fixed), self.scales[candidates]])


@dataclass(frozen=True)
class VariationalClassification(Method[LatentFit]):
    """Weights of two classes by lower bounds of the likelihood (Jaakkola and Jordan 2000; Ting et al., section 4.6).

    Parameters
    ----------
    prior : which weights share a precision
    solver : ``"direct"`` takes long steps, each checked by the bound; ``"em"`` those of expectation maximization
    factorized : the form of the paper, with independent weights and a fake target for each
    significance : a stricter rule for what stays; see `choose`
    """

    needs_rows: ClassVar[bool] = True

    prior: Prior = field(default_factory=Prior)
    solver: str = "direct"
    factorized: bool = False
    significance: Any = None

    @property
    def sense(self) -> int:
        return 1

    def n_landmarks(self, n_rows: int) -> int:
        return LANDMARKS.of(n_rows)

    def run(self, problem: Problem, budget: Budget) -> LatentFit:
        return self.run_all([problem], budget)[0]

    def run_all(self, problems: Sequence[Problem], budget: Budget) -> list[LatentFit]:
        """Fit all classes of a design on the same standardized candidates. In a stream, each class has its own past, so its own."""
        if any(problem.design is not problems[0].design for problem in problems):
            return super().run_all(problems, budget)
        evaluation, means = problems[0].evaluation()
        n, m, fit_intercept = evaluation.n_rows, evaluation.n_candidates, problems[0].design.fit_intercept
        labels = self.prior.labels(m)
        self._check_memory(n, m, labels)
        candidates = Standardized.of(evaluation, problems[0].observations, means, fit_intercept=fit_intercept)
        starts = [
            Variational.start(p.observations, candidates.design, candidates.usable, labels, fit_intercept=fit_intercept)
            for p in problems
        ]
        return [
            self._fit(start, candidates, Journal(budget.share(len(starts) - place)))  # the classes share the time
            for place, start in enumerate(starts)
        ]

    def posterior(self, fit: LatentFit, problem: Problem) -> LatentPosterior:
        return LatentPosterior.of(fit, problem.observations.level)

    def _check_memory(self, n: int, m: int, labels: Indices) -> None:
        """Raise if all candidates at all rows need too much memory, or the square matrix of those that may stay."""
        remedy = "Use fewer candidates (KernelBasis(centers=500)), or RelevanceVectorClassifier"
        require(n, m, f"The matrix of all {m} candidates at {n} rows", remedy)
        if self.factorized:
            require(m, m, f"The matrix of all {m} candidates, which factorized=True holds,", f"Use factorized=False. {remedy}")
        if len(np.unique(labels)) < m:
            remedy = f'Use prior="ard", in which no more weights than rows stay. {remedy}'
            require(m, m, f"The covariance of all {m} weights, of which groups stay or leave together,", remedy)

    def _fit(self, start: Variational, candidates: Standardized, journal: Journal) -> LatentFit:
        with journal.shown():
            fitted, outcome = self._fitted(start, journal)
        if outcome is Outcome.CONVERGED and not len(fitted):
            outcome = Outcome.NOTHING_HELPS
        units = candidates.units(fitted.candidates, start.n_fixed)
        return LatentFit.of(
            fitted.candidates,
            fitted.weights / units,
            fitted.model.alpha * units**2,
            fitted.model.precision_at(fitted.weights) * np.multiply.outer(units, units),
            candidates.means,
            score=fitted.bound,
            outcome=outcome,
            trace=journal.trace(),
            own_variance=fitted.own_variance,
        )

    def _fitted(self, start: Variational, journal: Journal) -> tuple[Fitted | FakeTargets, Outcome]:
        """Return where the solver ends, less what the stricter rules take out."""
        n_rows = len(start.observations)
        if self.factorized:
            return self._chosen(*(run_factorized if self.solver == "direct" else run_sweeps)(start, journal), journal, n_rows)
        return self._chosen(*(run if self.solver == "direct" else run_em)(start, journal), journal, n_rows)

    def _chosen(self, model: Chosen, outcome: Outcome, journal: Journal, n_rows: int) -> tuple[Chosen, Outcome]:
        """Apply the stricter rules to a fit that has converged. A fit that a limit ended only gets as small as it has to be."""
        if outcome is Outcome.CONVERGED:
            model, outcome = choose(model, journal, self.significance, journal.budget.max_active)
        return small_enough(model, outcome, journal, n_rows), outcome

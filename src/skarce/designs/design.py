"""Where rows live: the questions that estimators, methods and posteriors ask of a design."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from skarce._typing import Floats, Indices
from skarce.basis import Evaluation, KernelBasis, fit_basis
from skarce.designs.choice import IN_BATCHES, Access
from skarce.designs.problem import Problem
from skarce.likelihoods import Likelihood
from skarce.moments import Moments
from skarce.moments.passes import Center


class Rows(NamedTuple):
    """Checked training rows.

    Attributes
    ----------
    X : inputs, or the raw input of a foreign transformer
    targets : array of shape (n_rows, n_outputs)
    weights : array of shape (n_rows,), or None
    labels : what a transformer is fitted on, if that is not the targets
    is_one_output : whether y had one dimension
    for_widths : rows that kernels learn their widths from, if not these
    """

    X: Any
    targets: Floats
    weights: Floats | None = None
    labels: Any = None
    is_one_output: bool = True
    for_widths: Rows | None = None

    @property
    def y(self) -> Any:
        """The targets as the user gave them: of one output, one dimension."""
        return self.targets[:, 0] if self.targets.shape[1] == 1 and self.is_one_output else self.targets

    @property
    def row_weights(self) -> Floats:
        return np.ones(len(self.targets)) if self.weights is None else self.weights


class Recipe(NamedTuple):
    """How an estimator wants its design made.

    Attributes
    ----------
    check : (X, y, sample_weight) -> Rows, the checks of the estimator
    basis : the transformer, not yet fitted; None for the inputs themselves
    fit_intercept : whether a constant is integrated out
    seed : for samples of rows
    width_options : rows -> options for learning kernel widths
    """

    check: Callable[[Any, Any, Any], Rows]
    basis: Any
    fit_intercept: bool = True
    seed: int = 0
    width_options: Callable[[Rows], dict[str, Any]] = lambda rows: {}

    def candidates(self, rows: Rows) -> Any:
        """Fit the basis. Kernels learn their widths from numbers, and foreign transformers get the labels if there are any."""
        if isinstance(self.basis, KernelBasis):
            rows = rows.for_widths or rows
        y = rows.y if rows.labels is None or isinstance(self.basis, KernelBasis) else rows.labels
        return fit_basis(self.basis, rows.X, y, rows.weights, **self.width_options(rows))

    def takes_every_row(self) -> bool:
        """Whether every distinct row would become a candidate."""
        return isinstance(self.basis, KernelBasis) and self.basis.centers is None


class Design(ABC):
    """Candidates at the rows of a data set, wherever those are.

    Attributes
    ----------
    candidates : the fitted basis
    rows : training rows that stand for all: all of them, or a sample
    fit_intercept : whether a constant under a flat prior is integrated out
    n_samples : the sum of the sample weights
    """

    candidates: Any
    rows: Rows
    fit_intercept: bool
    n_samples: float
    _center: Center

    @classmethod
    def takes(cls, X: Any) -> bool:
        """Tell whether `fit` makes this kind of design of X. Default: no."""
        return False

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, recipe: Recipe) -> Design:
        """Check the data, fit the basis, and put both together. Default: this kind of design is made in another way."""
        raise TypeError(f"{cls.__name__} is not made from X and y.")

    @abstractmethod
    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """Return one `Moments` for each output, all on one Gram matrix.

        `kind` is ``"whole"``, ``"columns"``, or ``"auto"`` for the cheaper of the two within the memory budget. `access` says how
        columns will be asked for.
        """

    @property
    def n_outputs(self) -> int:
        return self.rows.targets.shape[1]

    @property
    def target_means(self) -> Floats:
        """Weighted means of the targets, zero without an intercept; known once moments were asked for."""
        return self._center.targets

    def means(self, indices: Indices) -> Floats:
        """Weighted means of these candidates, zero without an intercept; known once moments were asked for."""
        return self._center.candidates[indices]

    def evaluation(self) -> tuple[Evaluation, Floats]:
        """Return the candidates at the rows about their means, and the means. Default: there are no rows to ask."""
        raise ValueError(
            f"this method weighs the rows again and again, so it needs them in memory, and {type(self).__name__} does not keep "
            "them. Pass arrays X and y to fit."
        )

    def reweighted(self, output: int, factors: Floats) -> tuple[Design, Moments]:
        """Return one output with each row's weight times its factor, and its moments. Default: there are no rows to ask."""
        self.evaluation()
        raise AssertionError("a design with rows says how to weigh them")

    def rows_of(self, indices: Indices) -> tuple[Floats, Floats]:
        """Return Phi_A and the targets about the center, without weights. Default: there are no rows to ask."""
        self.evaluation()
        raise AssertionError("a design with rows gives them")

    def stream(self, problems: Sequence[Problem]) -> Any:
        """Return a stream that goes on from these rows and the moments of their problems; None if that would cost too much."""
        from skarce.designs.stream import StreamDesign  # which inherits from this class

        return StreamDesign.after(self, [problem.moments.scaled(1.0 / problem.target_scale) for problem in problems])

    def problems(self, likelihood: Likelihood, kind: str = "auto", access: Access = IN_BATCHES) -> list[Problem]:
        """Return one problem for each output; its moments, if sums say all, are made here."""
        if not likelihood.has_moments:
            return [Problem(self, output, likelihood) for output in range(self.n_outputs)]
        return [Problem.of_moments(self, output, likelihood, one) for output, one in enumerate(self.moments(kind, access))]

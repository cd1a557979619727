"""Where rows live: what estimators, methods and posteriors may ask of a design."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from skarce._memory import require
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.basis import Evaluation, KernelBasis, fit_basis, learns_widths
from skarce.basis.centers import AUTO_LANDMARKS
from skarce.designs.choice import IN_BATCHES, KEPT_BYTES, NEGLIGIBLE_FLOPS, Access
from skarce.designs.labels import Codes
from skarce.designs.problem import Problem
from skarce.designs.sampling import SAMPLE_ROWS, RowSample
from skarce.designs.worth import Worth
from skarce.likelihoods import Likelihood, Observations
from skarce.moments import FoldSums, Moments
from skarce.moments.passes import Center


class Rows(NamedTuple):
    """Checked training rows. `Recipe.check` makes them from X, y and sample_weight.

    Attributes
    ----------
    X : array of shape (n_rows, n_features)
        Inputs, or whatever the transformer takes if it is not from this package.
    targets : array of shape (n_rows, n_outputs)
        Targets as numbers. One target is one column.
    weights : array of shape (n_rows,) or None
        Sample weights. None gives all rows weight 1.
    labels : array of shape (n_rows,) or None
        What a transformer is fitted on, if that is not the targets.
    is_one_output : bool
        Whether y had one dimension.
    for_widths : Rows or None
        Rows that kernels learn their widths from, if not these.
    share : float
        Factor that the weights have been multiplied by, because the rows depend on each other.
    classes : array of shape (n_classes,) or None
        All values that labels can have, ascending.
    """

    X: Any
    targets: Floats
    weights: Floats | None = None
    labels: Any = None
    is_one_output: bool = True
    for_widths: Rows | None = None
    share: float = 1.0
    classes: Any = None

    @property
    def y(self) -> Any:
        """The targets in the shape in which the user gave them."""
        return self.targets[:, 0] if self.targets.shape[1] == 1 and self.is_one_output else self.targets

    @property
    def row_weights(self) -> Floats:
        """The sample weights as an array."""
        return np.ones(len(self.targets)) if self.weights is None else self.weights

    def at(self, places: Indices) -> Rows:
        """Return the rows at these places."""
        weights = None if self.weights is None else self.weights[places]
        labels = None if self.labels is None else _safe_indexing(self.labels, places)
        inputs = _safe_indexing(self.X, places)
        return Rows(inputs, self.targets[places], weights, labels, self.is_one_output, None, self.share, self.classes)


def any_targets(targets: Floats) -> None:
    """Take all targets."""


class Recipe(NamedTuple):
    """What an estimator hands to `Design.of`: its checks, its basis and its options.

    A design first turns its data, or a sample of it, into arrays, and then calls ``rows = recipe.check(X, y, sample_weight)`` and
    ``candidates = recipe.candidates(rows)``.

    Attributes
    ----------
    check : callable
        (X, y, sample_weight) -> Rows: the checks of the estimator. They raise an error for wrong shapes, missing values and
        impossible targets, and turn labels into numbers. Weights come out as they count if these are all rows.
    basis : transformer or None
        The transformer, not yet fitted. None stands for the inputs themselves.
    fit_intercept : bool
        Whether a constant is integrated out.
    seed : int
        Seed for samples of rows.
    width_options : callable
        rows -> options for learning kernel widths.
    n_landmarks : callable
        number of rows -> how many landmarks ``KernelBasis(centers="auto")`` takes if there are many rows.
    worth : Worth
        What sample weights mean, and how many observations the rows are worth. A design with `counts_worth` that does not give all
        rows to `check` multiplies all weights by its factor.
    needs_rows : str or None
        Why all rows must be in memory, and what to do if they are not. None if they need not be.
    check_targets : callable
        targets of one output at some rows -> None: raises a ValueError for impossible ones. It can be pickled.
    name_inputs : callable
        names -> None: takes the names of the columns of X, or None. Call it after `check` if the data have names and the arrays do
        not.
    wants_folds : callable
        number of rows -> whether a design that keeps no rows makes sums for each fold, to calibrate the model.
    codes : callable or None
        (classes, weight of each) -> Codes, if targets are labels. None if they are numbers.
    """

    check: Callable[..., Rows]
    basis: Any
    fit_intercept: bool = True
    seed: int = 0
    width_options: Callable[[Rows], dict[str, Any]] = lambda rows: {}
    n_landmarks: Callable[[int], int] = lambda n_rows: AUTO_LANDMARKS
    worth: Worth = Worth()
    wants_folds: Callable[[int], bool] = lambda n_rows: False
    codes: Callable[[Any, Floats], Codes] | None = None
    name_inputs: Callable[[Sequence[str] | None], None] = lambda names: None
    needs_rows: str | None = None
    check_targets: Callable[[Floats], None] = any_targets

    def candidates(self, rows: Rows) -> Any:
        """Fit the basis and return its candidates, which have `on(X)`, `select(indices)` and `n_candidates` (see `Design`).

        Kernels, and transformers that contain some, learn their widths from `for_widths`. They never get labels, whose numbers mean
        nothing. Other transformers get the labels if there are any.
        """
        is_for_widths = isinstance(self.basis, KernelBasis) or learns_widths(self.basis)
        if is_for_widths:
            rows = rows.for_widths or rows
        y = rows.y if rows.labels is None or is_for_widths else rows.labels
        landmarks = self.n_landmarks(len(rows.targets))
        return fit_basis(self.basis, rows.X, y, rows.weights, landmarks, **self.width_options(rows))

    @property
    def n_centers(self) -> int | None:
        """How many centers the user asks for, at most. None if the rows decide."""
        centers = self.basis.centers if isinstance(self.basis, KernelBasis) else None
        if centers is None or isinstance(centers, (str, bool)):
            return None
        return int(centers) if isinstance(centers, Integral) else len(centers) if np.ndim(centers) == 2 else None

    def check_centers(self, n_rows: int, kind: str) -> None:
        """Raise a ValueError if more centers are asked for than a sample of `n_rows` rows holds."""
        if n_rows <= SAMPLE_ROWS or not isinstance(self.basis, KernelBasis):
            return
        remedy = "Use KernelBasis(centers=500), or pass an array of centers."
        if self.basis.centers is None:
            raise ValueError(
                f"centers=None would make each of the {n_rows} rows a candidate, but {kind} are not kept in memory. {remedy}"
            )
        if isinstance(self.basis.centers, Integral) and int(self.basis.centers) > SAMPLE_ROWS:
            raise ValueError(
                f"centers={self.basis.centers} is above {SAMPLE_ROWS}, the rows of the sample that centers are taken from: {kind} "
                f"are not kept in memory. {remedy}"
            )

    def codes_of_sample(self, sample: RowSample) -> Codes | None:
        """Return how labels become numbers, by the labels of all rows. None if targets are numbers."""
        if self.codes is None:
            return None
        totals = dict(sorted((label, total) for label, total in sample.labels.items() if total > 0.0))
        if len(totals) < 2:
            raise ValueError(
                f"a classifier needs at least two classes, got {quoted(list(totals))} among the rows of positive weight."
            )
        return self.codes(np.array(list(totals)), np.array(list(totals.values())))

    def rows_of_sample(self, sample: RowSample, codes: Codes | None = None) -> tuple[Rows, float]:
        """Check a sample of the rows, and return it with the factor on the weights of all rows. The sample has it already."""
        weights = sample.row_weights
        known = {} if codes is None else {"classes": codes.classes}
        rows = self.check(sample.X, sample.y, weights, is_whole=sample.is_all, **known)
        if self.worth.is_plain:
            return rows, 1.0
        factor = self.worth.factor(sample.total, sample.n_counted)
        return rows._replace(weights=factor * (np.ones(len(rows.targets)) if weights is None else weights)), factor


class Design(ABC):
    """Candidates at the rows of a data set, wherever these rows are.

    Every design writes `moments`. A design that estimators make from what the user passes to `fit` also writes `takes` and `of`,
    and is listed in `DESIGNS`. If rows can be read block by block, inherit from `BlockDesign`, which has `moments` already.

    A design sets `candidates`, `rows` and `fit_intercept` when it is made. It sets `n_samples` then or in `moments`. Its `moments`
    also sets `_center`, which `target_means` and `means` answer from.

    Attributes
    ----------
    candidates : object
        The fitted basis. `candidates.on(X)` gives the `skarce.basis.Evaluation` of all candidates at the rows X, an array of shape
        (n_rows, n_features), and computes nothing yet. `candidates.select(indices)` gives a transformer for some of the candidates.
        `candidates.n_candidates` is their number.
    rows : Rows
        All training rows, or a sample of them if they are not kept.
    fit_intercept : bool
        Whether a constant under a flat prior is integrated out.
    n_samples : float
        The sum of the sample weights of all rows.
    brings_targets : bool, default=False
        Class attribute: whether X has targets and weights inside. `as_design` then refuses y and sample_weight next to it.
    keeps_rows : bool, default=False
        Class attribute: whether `rows` are all rows, and in memory.
    counts_worth : bool, default=False
        Class attribute: whether `of` follows `Recipe.worth`. `as_design` refuses any other worth than that of plain counts if not.
    has_passes : bool, default=False
        Class attribute: whether rows are not kept, but can be read again by `total`.
    fold_sums : FoldSums or None, default=None
        Sums of five folds of the rows, by hashes of their inputs, if the recipe asked for them and rows are not kept. Available
        after a call of `moments`.
    n_seen : float or None, default=None
        The total weight of all rows that ever came, if they come in batches.
    like : array or None, default=None
        An array on the device of the rows, where large matrices are factorized. None is the host.
    """

    candidates: Any
    rows: Rows
    fit_intercept: bool
    n_samples: float
    brings_targets: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = False
    counts_worth: ClassVar[bool] = False
    has_passes: ClassVar[bool] = False
    fold_sums: FoldSums | None = None
    n_seen: float | None = None
    like: Any = None
    _center: Center | None = None

    @classmethod
    def takes(cls, X: Any) -> bool:
        """Tell whether this kind of design is made for X, which is the first argument of `fit`. Default: no."""
        return False

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, recipe: Recipe) -> Design:
        """Check the data, fit the basis, and return the design. Default: raise, because it is made in another way.

        X, y and sample_weight are what the user passed to `fit`. The recipe has the checks and the basis of the estimator.
        """
        raise TypeError(f"{cls.__name__} cannot be made from X and y.")

    @abstractmethod
    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """Return one `Moments` for each output, all on one Gram matrix.

        `kind` is ``"whole"``, ``"columns"``, or ``"auto"`` for the cheaper of the two within the memory budget. `access` says how
        the method will ask for columns. This also sets `n_samples`, if that was not known before, and `_center`.
        """

    @property
    def n_outputs(self) -> int:
        """The number of targets."""
        return self.rows.targets.shape[1]

    @property
    def target_means(self) -> Floats:
        """Weighted means of the targets, or zero without an intercept. Available after a call of `moments`."""
        return self._known_center().targets

    def means(self, indices: Indices) -> Floats:
        """Return weighted means of these candidates, or zero without an intercept. Available after a call of `moments`."""
        return self._known_center().candidates[indices]

    def _known_center(self) -> Center:
        if self._center is None:
            raise RuntimeError(f"the means are not known yet: call moments() of this {type(self).__name__} first.")
        return self._center

    @property
    def n_counted(self) -> float:
        """The number of rows of positive weight, times the share of an observation that each is worth."""
        return self.rows.share * float(np.count_nonzero(self.rows.row_weights))

    def observations(self, output: int, likelihood: Likelihood) -> Observations:
        """Return the targets of one output, with their weights."""
        targets, weights = self.rows.targets[:, output], self.rows.weights
        return Observations.of(likelihood, targets, weights, has_constant=self.fit_intercept)

    def evaluation(self, most_held: int = 0) -> tuple[Evaluation, Floats]:
        """Return the candidates at the rows about their means, and the means. Default: raise, because no rows are kept.

        If there are at most `most_held` values, they may be computed at once and held in memory.
        """
        raise ValueError(
            "this method changes the weights of the rows again and again, so it needs them in memory, but row blocks and Dask data "
            "are not kept there. Pass arrays X and y to fit."
        )

    def total(self, work: Callable[[Any], Any], add: Callable[[list[Any]], Any]) -> Any:
        """Return the sum of ``work(rows)`` over all blocks of rows, which have `X`, `targets` and `weights`. Default: raise."""
        self.evaluation()
        raise AssertionError("a design with passes must override total")

    def require_room(self, n_rows: int, n_columns: int, what: str, remedy: str) -> None:
        """Raise a ValueError if what a pass makes, an array of this shape, does not fit into memory. Default: one counts."""
        require(n_rows, n_columns, what, remedy)

    def reweighted(self, output: int, factors: Floats) -> tuple[Design, Moments]:
        """Return a design of one output with the weight of each row times its factor, and its moments. Default: raise."""
        self.evaluation()
        raise AssertionError("a design that keeps its rows must override reweighted")

    def rows_of(self, indices: Indices) -> tuple[Floats, Floats]:
        """Return Phi_A and the targets about the center, without weights. Default: raise, because no rows are kept."""
        self.evaluation()
        raise AssertionError("a design that keeps its rows must override rows_of")

    def residuals(self, indices: Indices, weights: Floats) -> Floats:
        """Return T - Phi_A w about the center, without row weights, shape (n_rows, n_outputs). Default: raise."""
        self.evaluation()
        raise AssertionError("a design that keeps its rows must override residuals")

    def stream(self, problems: Sequence[Problem]) -> Any:
        """Return a stream that goes on from these rows and the moments of their problems; None if that would cost too much."""
        from skarce.designs.stream import StreamDesign  # which inherits from this class

        return StreamDesign.after(self, [problem.moments.scaled(1.0 / problem.target_scale) for problem in problems])

    def latent_stream(self, likelihood: Likelihood, posteriors: Sequence[Any]) -> Any:
        """Return a stream that goes on from these rows and the models of their latent functions; None if that costs too much."""
        from skarce.designs.latent_stream import LatentStream  # which inherits from this class

        m = self.candidates.n_candidates
        if not self.keeps_rows or 8 * m * m > KEPT_BYTES or len(self.rows.targets) * float(m) ** 2 > NEGLIGIBLE_FLOPS:
            return None
        stream = LatentStream(self.candidates, self.n_outputs, fit_intercept=self.fit_intercept)
        return stream.with_batch(self.rows).latent_stream(likelihood, posteriors)

    def problems(self, likelihood: Likelihood, kind: str = "auto", access: Access = IN_BATCHES) -> list[Problem]:
        """Return one problem for each output. Moments are computed here if the likelihood needs nothing else."""
        if not likelihood.has_moments:
            return [Problem(self, output, likelihood) for output in range(self.n_outputs)]
        return [Problem.of_moments(self, output, likelihood, one) for output, one in enumerate(self.moments(kind, access))]

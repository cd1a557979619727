"""Search strategies guided by the evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from skarce._parameters import check_budget, check_choice
from skarce._text import quoted
from skarce.criteria import SharedEvidence
from skarce.estimators.nested import NestedRegressor
from skarce.methods.selection import Selection
from skarce.posteriors.nested import NestedPath
from skarce.searches import Backward, BestAction, Floating, Forward, Oscillating, PlusTakeAway, Search
from skarce.searches.spanning_start import SpanningStart

SEARCHES: dict[str, Callable[[], Any]] = {
    "forward": lambda: Forward(16, 0.0, share=0.3),  # the stopping rule of the paper, as in the other searches
    "plus-take-away": lambda: PlusTakeAway(2, 1),
    "floating": Floating,
    "oscillating": lambda: Oscillating(5),
    "backward": Backward,
    "best-action": BestAction,
}
STARTS = ("auto", "empty")
TO_THE_SEARCH = ("n_basis", "initial", "always_in")


class EvidenceSearchRegressor(NestedRegressor):
    r"""Searches from feature selection, guided by the evidence.

    All weights have one precision. Functions are added and removed one at a time, always by the change that gives the largest
    evidence [2]_. Then the precision of the weights and the noise are re-estimated. The result is the best model that the
    search saw [1]_.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 1400. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
        All weights share one precision, so the scale of the columns matters.
    search : str or search object, default="forward"
        Order in which sets are tried: ``"forward"``, ``"plus-take-away"`` (add two, remove one), ``"floating"``, ``"oscillating"``
        (swings of up to 5), ``"backward"`` (from all candidates), ``"best-action"`` (until no single action helps), or an object of
        `skarce.searches` with other settings.
    reestimate : {"tight", "paper"}, default="tight"
        How the two precisions follow the set. ``"tight"`` puts them at the maximum of the evidence. ``"paper"`` iterates from the
        values of the previous set until they change by less than a tenth of their widths.
    start : {"auto", "empty"}, default="auto"
        Where the search starts. ``"empty"`` starts from the empty model, as in the paper. If kernels are wide, no single one may
        help a small model, although many together would, and the search stops too early. ``"auto"`` then starts again from
        functions that span the others, and takes the model with more evidence. It is ``"empty"`` for ``reestimate="paper"``, for
        ``"backward"``, and if `n_basis`, `initial` or `always_in` is given.
    n_basis : int or None, default=None
        Exact number of functions, whatever the evidence says. With several targets, it applies to each target. Not available for
        ``"best-action"``. None lets the evidence decide.
    initial : array-like of int or None, default=None
        Candidates to start from. ``"floating"`` first removes those that it does not need. A search that grows takes at most
        `max_active` or `n_basis` of them. Not available for ``"best-action"``.
    always_in : array-like of int or None, default=None
        Candidates that are in the model from the start and stay there. Not available for ``"best-action"``.
    keep_path : bool, default=False
        Whether `with_n_basis` and `with_tol` can also return models larger than the final one, as far as the search went. Only for
        ``"forward"`` and ``"backward"``.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It is integrated out, and its uncertainty is part of the predictive std.
    tol : float, default=1e-3
        Smallest gain in log evidence that counts.
    max_iter : int, default=100000
        Maximum number of steps. A ConvergenceWarning is issued if it is reached.
    max_active : int or None, default=None
        Maximum number of basis functions. With several targets, the limit applies to each target.
    max_time : float or None, default=None
        Time limit in seconds. The best model so far is returned with a ConvergenceWarning.
    weights : {"counts", "relative"}, default="counts"
        What `sample_weight` means. With ``"counts"``, weight 2 equals the same row twice. With ``"relative"``, only ratios matter:
        weights are rescaled so that those of rows with positive weight have mean one.
    effective_samples : float, "auto" or None, default=None
        How many observations the rows are worth together, if they depend on each other. All weights are multiplied by one factor
        for that. None is the sum of the weights, and a number below 1 is a share of it. ``"auto"`` estimates the number from the
        autocorrelation of the residuals of a first fit; rows must be in order of time.
    calibrate_std : {"auto", True, False} or splitter, default="auto"
        Whether to scale the predictive std by what left-out rows say. True fits the model again on five parts of the rows, at the
        same candidates and widths, and scales the std by the root mean square of (target - prediction) / std over left-out rows.
        ``"auto"`` does so if kernels or widths were learned and there are at most 50,000 rows, or if the data determine more than a
        tenth as many weights as there are rows. A splitter of scikit-learn, or an iterable of (train, test) indices, says which
        rows to leave out.
    moments : {"auto", "whole", "columns"}, default="auto"
        How much of the Gram matrix of the candidates is computed. ``"whole"`` computes all of it. ``"columns"`` computes one column
        for each function that enters. ``"auto"`` decides by a cost model and the memory budget (a quarter of scikit-learn's
        ``working_memory``).
    verbose : int, default=0
        Verbosity level. 1 shows progress and prints a few lines, 2 also prints a line for every step.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, for the learning of kernel widths, and for samples of rows. Pass an int for reproducible
        landmarks and widths.

    Attributes
    ----------
    active_ : ndarray of shape (n_active,)
        Indices of the active functions among the candidates, in ascending order. With several targets, the functions that any
        target uses.
    coef_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Weight of each column of the basis, 0 if it is not in the model. Only available if the basis is not one of
        kernels.
    coef_std_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Standard deviation of each of these weights, 0 if a column is not in the model. Only available if the basis is not one of
        kernels.
    dual_coef_ : ndarray of shape (n_active,) or (n_outputs, n_active)
        Weights of the kernels in the model. A weight is 0 if a target does not use the kernel. Only available if the basis is one
        of kernels.
    intercept_ : float or ndarray of shape (n_outputs,)
        Constant of the model. 0.0 if ``fit_intercept=False``.
    weight_precision_ : ndarray of shape (n_active,) or (n_outputs, n_active)
        Prior precision alpha, the same for all weights. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise.
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate, 1 - alpha Sigma_ii, from 0 (left out) to 1. With several targets,
        the largest value over the targets.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Log evidence of the model in user units, eq. (4) of [1]_ with max(gamma, 1) well-determined weights, summed over the
        targets. It has two terms more than `criterion_` of `EvidenceRegressor` and others, so compare it only with its own kind.
    criterion_sense_ : int
        1: a larger `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each operation, with the fields ``action`` (``add`` or ``delete``), ``index``, ``criterion`` and ``n_active``,
        and with several targets ``output``. If operations are undone, a row ``undo`` follows, and its index says how many rows back
        the restored model is.
    posterior_ : Posterior or list of Posterior
        Posterior distribution of the weights. A list with one entry for each target if `y` is two-dimensional.
    n_iter_ : int
        Number of steps, summed over the targets.
    n_effective_ : float
        Number of observations that the rows are worth: the sum of their weights, or what `effective_samples` has made of it.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    RelevanceVectorRegressor : Evidence with one precision for each weight.
    EvidenceRegressor : The same prior with all candidates, without a search.
    SparseRegressor : Any criterion with any search.
    RegularizedForwardRegressor : Forward selection by GCV.

    Notes
    -----
    With :math:`\lambda = \alpha/\beta`, :math:`a = t^TPt`, :math:`P = (I + \Phi\Phi^T/\lambda)^{-1}` and :math:`\gamma`
    well-determined weights, eq. (4) of [1]_ is

    .. math::
        \log P(t|A) = -\tfrac12\Bigl[n\log\frac{2\pi}{\beta} + \log\Bigl|I + \frac{\Phi\Phi^T}{\lambda}\Bigr| + \beta a
            - \log\frac2\gamma - \log\frac2{n-\gamma}\Bigr].

    Thorough searches (floating, oscillating) often find smaller models with more evidence than forward selection, at a higher cost.
    One precision for all weights makes the model depend on the scale of the columns: standardize inputs of different units. The
    evidence of a sparse model prefers kernels that are too narrow, so choose the width by ``KernelBasis(gamma="evidence")`` or by
    cross validation.

    References
    ----------
    .. [1] Barrio, I., Romero, E. and Belanche, L. Search strategies guided by the evidence for the selection of basis functions in
       regression.
    .. [2] MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4, 415-447.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import EvidenceSearchRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = EvidenceSearchRegressor(search="floating").fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    5 functions, 1.01 +- 0.11
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        search: Any = "forward",
        reestimate: str = "tight",
        start: str = "auto",
        n_basis: int | None = None,
        initial: Any = None,
        always_in: Any = None,
        keep_path: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        max_active: int | None = None,
        max_time: float | None = None,
        weights: str = "counts",
        effective_samples: Any = None,
        calibrate_std: Any = "auto",
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.search = search
        self.reestimate = reestimate
        self.start = start
        self.n_basis = n_basis
        self.initial = initial
        self.always_in = always_in
        self.keep_path = keep_path
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.weights = weights
        self.effective_samples = effective_samples
        self.calibrate_std = calibrate_std
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _check_limits(self) -> None:
        super()._check_limits()
        search = self._strategy()
        check_budget(search.n_basis, self.max_active)

    def _method(self) -> Selection:
        check_choice("start", self.start, STARTS)
        criterion, search = SharedEvidence(self.reestimate), self._strategy()
        return Selection(criterion, search, second_start=self._second_start(search), keep_path=self.keep_path)

    def _second_start(self, search: Search) -> SpanningStart | None:
        """Return where the search begins again if it may have stopped too early. None if the start or the size is given."""
        is_given = any(getattr(search, name, None) is not None for name in TO_THE_SEARCH)
        is_alone = self.start == "empty" or self.reestimate == "paper" or isinstance(search, Backward)
        return None if is_given or is_alone else SpanningStart(self._seed())

    def _size_with(self, path: NestedPath, tol: float) -> int:
        return self._strategy().replay(path.worths, path.least, path.n_samples, tol)

    def _strategy(self) -> Search:
        """Return the search with the parameters of this estimator."""
        search = SEARCHES[self.search]() if isinstance(self.search, str) and self.search in SEARCHES else self.search
        if isinstance(search, type) and issubclass(search, Search):
            raise ValueError(f"search must be an object, but {search.__name__} is a class. Write {search.__name__}().")
        if not isinstance(search, Search):
            raise ValueError(f"search must be one of {list(SEARCHES)}, or an object of skarce.searches, got {quoted(search)}.")
        given = {name: getattr(self, name) for name in TO_THE_SEARCH if getattr(self, name) is not None}
        if not given.keys() <= {field.name for field in fields(search)}:
            raise ValueError(f"{type(search).__name__} does not take {', '.join(given)}. Use another search.")
        twice = [name for name in given if getattr(search, name) is not None]
        if twice:
            raise ValueError(f"{', '.join(twice)} is given twice, here and in {type(search).__name__}(...). Remove one of them.")
        return replace(search, **given) if given else search

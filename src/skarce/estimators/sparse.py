"""Regression by any criterion and any search."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from skarce._text import quoted
from skarce.criteria import Criterion, IndividualEvidence
from skarce.estimators.nested import NestedRegressor
from skarce.methods.selection import Selection
from skarce.posteriors.nested import NestedPath
from skarce.searches import BestAction, GreedyBatches, Search


class SparseRegressor(NestedRegressor):
    r"""Sparse regression by any criterion and any search.

    A criterion says what makes a set of functions good. A search says in which order sets are tried. Most methods of this package
    are one pair of the two, and this class takes every other pair, also with your own classes.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    criterion : Criterion or None, default=None
        Object of `skarce.criteria` that judges sets of functions. None is ``IndividualEvidence()``.
    search : Search or None, default=None
        Object of `skarce.searches` that tries sets of functions. None is ``BestAction()``.
    keep_path : bool, default=False
        Whether `with_n_basis` and `with_tol` can also return models larger than the final one, as far as the search went. Only for
        searches that only add or only remove functions.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. Its uncertainty is part of the predictive std.
    tol : float, default=1e-3
        Tolerance. The smallest gain in the score of the criterion that counts: log evidence, or -(N/2) log V for GCV. `Forward` and
        `PenalizedError` have their own thresholds.
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
        Prior precision of each weight. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise.
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate, from 0 (left out) to 1. With several targets, the largest value
        over the targets.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Value of the criterion in user units, summed over the targets.
    criterion_sense_ : int
        1 if a larger `criterion_` is better (evidence), -1 if a smaller one is better (GCV).
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each step, with the fields ``action``, ``index``, ``criterion`` and ``n_active``, and with several targets
        ``output``.
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
    RelevanceVectorRegressor : `IndividualEvidence` with `BestAction` or `GreedyBatches`.
    FastGCVRegressor : `GCV` with `BestAction` or `GreedyBatches`.
    EvidenceSearchRegressor : `SharedEvidence` with a choice of searches.
    OrthogonalLeastSquaresRegressor : `ExplainedVariance` with `Forward`.

    Notes
    -----
    A search looks for the set of functions, with their ridges :math:`\Lambda`, that has the largest score. For the default
    criterion this is the log evidence with the noise at its best value,

    .. math::
        L(\Lambda) = -\tfrac N2\log t^TPt - \tfrac12\log|I + \Phi\Lambda^{-1}\Phi^T| + \text{const}, \qquad
        P = (I + \Phi\Lambda^{-1}\Phi^T)^{-1},

    and `BestAction` takes the best single addition, change or removal until none helps [1]_. GCV [2]_ and searches from feature
    selection [3]_ are other choices. A criterion and a search that do not go together raise an error in `fit`.

    The class is good for comparisons and for new criteria. The named estimators have better defaults for their pair, such as pools
    of candidates on large problems.

    References
    ----------
    .. [1] Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS.
    .. [2] Sundararajan, S., Shevade, S. and Keerthi, S. S. Fast generalized cross validation algorithm for sparse model learning.
    .. [3] Barrio, I., Romero, E. and Belanche, L. Search strategies guided by the evidence for the selection of basis functions in
       regression.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import SparseRegressor
    >>> from skarce.criteria import IndividualEvidence
    >>> from skarce.searches import BestAction
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> y = 3.0 * X[:, 4] - 2.0 * X[:, 7] + 0.1 * X[:, 0] ** 2
    >>> model = SparseRegressor("passthrough", criterion=IndividualEvidence(), search=BestAction()).fit(X, y)
    >>> bool(model.relevance_[[4, 7]].min() > 0.99)
    True
    """

    def __init__(
        self,
        basis: Any = "auto",
        criterion: Any = None,
        search: Any = None,
        *,
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
        self.criterion = criterion
        self.search = search
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

    def _method(self) -> Selection:
        criterion = IndividualEvidence() if self.criterion is None else self.criterion
        search = BestAction() if self.search is None else self.search
        if not isinstance(criterion, Criterion):
            raise TypeError(
                f"criterion must be an object of skarce.criteria, such as GCV(), or None, got {quoted(self.criterion)}."
            )
        if not isinstance(search, Search):
            raise TypeError(f"search must be an object of skarce.searches, such as BestAction(), or None, got {quoted(search)}.")
        start = self._spanning_start() if search.starts_anywhere and criterion.has_own_ridges else None
        second_look = self._takes_second_look("fast" if isinstance(search, GreedyBatches) else "sequential")
        return Selection(criterion, search, start, second_look=second_look, keep_path=self.keep_path)

    def _size_with(self, path: NestedPath, tol: float) -> int:
        method = self._method()
        has_own_tol = method.criterion.with_tol(tol) is not None
        worths = method.criterion.rejudged(path.worths, path.least, path.n_samples, len(self.relevance_), tol)
        return method.search.replay(worths, path.least, path.n_samples, self.tol if has_own_tol else tol)

    def _ask_for(self, n_basis: int | None) -> None:
        search: Any = self._method().search
        if any(field.name == "n_basis" for field in fields(search)):  # else no parameter of the search asks for a size
            self.search = replace(search, n_basis=n_basis)

    def _tolerate(self, tol: float) -> None:
        changed = self._method().criterion.with_tol(tol)
        if changed is None:
            super()._tolerate(tol)
        else:
            self.criterion = changed

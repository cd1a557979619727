"""Regression by generalized cross validation, with one ridge for each weight."""

from __future__ import annotations

from typing import Any

from skarce._parameters import check_choice
from skarce.criteria import GCV
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.held_precision import HeldPrecision
from skarce.methods.method import HALF, MomentMethod
from skarce.methods.selection import Selection
from skarce.searches import BestAction, GreedyBatches, Pools

SOLVERS = ("fast", "sequential")
NOISE_UPDATES = ("held", "paper")


class FastGCVRegressor(SparseRegressorBase):
    r"""Sparse regression by generalized cross validation, with one ridge for each weight.

    Functions are added, changed and deleted, always by the change that lowers the generalized cross validation error most [1]_.
    Nothing is left to tune. Models are somewhat larger and fit somewhat closer than those of the relevance vector machine.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 1500. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    solver : {"fast", "sequential"}, default="fast"
        Algorithm. ``"fast"`` adds functions in greedy batches and re-estimates all ridges together by Newton steps.
        ``"sequential"`` takes the best single action in each step, as the paper does. Both end in a model that no single change
        improves by more than `tol`, but not always in the same model.
    noise_update : {"held", "paper"}, default="held"
        What is held while the noise is re-estimated. ``"held"`` holds the ridges, so that V falls in every step. ``"paper"`` holds
        the precisions (ridge / noise variance) as the printed algorithm does, with its lower bound of 1/N on them (for targets of
        unit variance). V may then rise between steps, and the model depends on the bound. ``"paper"`` is meant for comparison and
        is always sequential.
    size_prior : "auto" or None, default="auto"
        What happens if candidates are more than half as many as rows, and the model uses many degrees of freedom: more than half as
        many as rows if candidates are kernels, or a tenth if they are inputs. ``"auto"`` then compares the model with a few
        functions, which a search finds with a prior on the size of the set. If those are worth more, they are the only candidates.
        The fast solver ends at half of the rows. None keeps the model, as in the paper, and goes on to the end.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It uses one degree of freedom, and its uncertainty is part of the predictive std.
    tol : float, default=1e-3
        Tolerance. The fit has converged if no single change lowers (N/2) log V by more than `tol`. This is about the scale of a log
        evidence. In relative terms, V would fall by less than 2 tol / N. Gains below 1e-9 are rounding and never count.
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
        Verbosity level. 1 shows progress and prints a few lines, 2 also prints a line for every step, except for steps that
        compiled code takes together. The printed score is the criterion up to a constant.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, for the learning of kernel widths, for the pool of candidates on large problems, and for samples
        of rows. Pass an int for reproducible landmarks and widths. The pool has a fixed seed if None.

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
        Precision of each weight: its ridge divided by the noise variance. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise: q / v, the squared error divided by the degrees of freedom left (eq. 8 of [1]_).
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
        Generalized cross validation error V = N q / v^2 of the model, in the units of the squared target, summed over the targets.
    criterion_sense_ : int
        -1: a smaller `criterion_` is better.
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
    LocalRidgeRegressor : The same criterion, starting from the full model.
    RelevanceVectorRegressor : The same kind of model by evidence.
    RegularizedForwardRegressor : Forward selection by GCV with one ridge for all weights.
    CriterionSearch : Choice of the kernel width by GCV, with a charge for the search.

    Notes
    -----
    With ridges :math:`Z = \operatorname{diag}\zeta` and :math:`P = I - \Phi(\Phi^T\Phi + Z)^{-1}\Phi^T`, the method minimizes

    .. math:: V = N q / v^2, \qquad q = t^TP^2t, \quad v = \operatorname{tr}P

    over one ridge for each candidate [2]_. Most ridges go to infinity. V contains no noise variance, and its best ridges do not
    depend on the units of the target. With an intercept, v counts from N - 1.

    The method is good at close fits of data with little noise. Its weaknesses: GCV does not know that functions were chosen from
    many candidates, so it overfits if kernels are narrow. It has many local minima, and the smallest V is not always the best
    prediction. Choose the kernel width by cross validation or by `CriterionSearch`.

    References
    ----------
    .. [1] Sundararajan, S., Shevade, S. and Keerthi, S. S. Fast generalized cross validation algorithm for sparse model learning.
    .. [2] Golub, G. H., Heath, M. and Wahba, G. (1979). Generalized cross-validation as a method for choosing a good ridge
       parameter. Technometrics 21, 215-223.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import FastGCVRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = FastGCVRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"at 1.5: {mean[0]:.2f} +- {std[0]:.2f}, GCV {model.criterion_:.4f}")
    at 1.5: 1.00 +- 0.11, GCV 0.0108
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        solver: str = "fast",
        noise_update: str = "held",
        size_prior: str | None = "auto",
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
        self.solver = solver
        self.noise_update = noise_update
        self.size_prior = size_prior
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

    def _method(self) -> MomentMethod:
        for name, known in (("solver", SOLVERS), ("noise_update", NOISE_UPDATES)):
            check_choice(name, getattr(self, name), known)
        if self.noise_update == "paper":
            return HeldPrecision(crowded=self._crowded())
        crowded, second_look = self._crowded(), self._takes_second_look(self.solver)
        batches = GreedyBatches(pools=Pools(random_state=self._seed()), most_used=1.0 if crowded is None else HALF)
        search = BestAction() if self.solver == "sequential" else batches
        return Selection(GCV(), search, self._spanning_start(), second_look=second_look, crowded=crowded)

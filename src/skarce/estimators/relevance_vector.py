"""Relevance vector regression."""

from __future__ import annotations

from typing import Any

from skarce._parameters import check_choice
from skarce.criteria import IndividualEvidence
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.method import MomentMethod
from skarce.methods.selection import Selection
from skarce.searches import BestAction, GreedyBatches, Pools

SOLVERS = ("fast", "sequential", "em")


class RelevanceVectorRegressor(SparseRegressorBase):
    r"""Relevance vector machine for regression.

    Each weight has its own prior precision. Maximizing the evidence sends most precisions to infinity, and the functions that are
    left are the model [1]_ [2]_. Noise, precisions and the kernel are learned, so nothing is left to tune.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    solver : {"fast", "sequential", "em"}, default="fast"
        Algorithm. ``"fast"`` adds functions in greedy batches and re-estimates all precisions together by Newton steps.
        ``"sequential"`` takes the best single action in each step [2]_. ``"em"`` starts from all candidates [1]_. All three end in
        a model that no single change improves by more than `tol`, but not always in the same model.
    noise_variance : float or None, default=None
        Variance of the noise, if it is known. None learns it.
    size_prior : "auto" or None, default="auto"
        What happens if candidates are more than half as many as rows, and the model uses many degrees of freedom: more than half as
        many as rows if candidates are kernels, or a tenth if they are inputs. ``"auto"`` then compares the model with a few
        functions, which a search finds with a prior on the size of the set. If those are worth more, they are the only candidates.
        None keeps the model, as in the papers. So does a known `noise_variance`.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It is integrated out, and its uncertainty is part of the predictive std.
    tol : float, default=1e-3
        Tolerance. The fit has converged if no single change raises the log evidence by more than `tol`. Gains below
        1e-9 are rounding and never count.
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
        Prior precision alpha of each weight. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise.
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate, 1 - alpha_i Sigma_ii, from 0 (left out) to 1. With several
        targets, the largest value over the targets.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Log evidence: the log density of the targets in their own units, with all constants (with an intercept: of their N - 1
        contrasts), summed over the targets.
    criterion_sense_ : int
        1: a larger `criterion_` is better.
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
    FastGCVRegressor : The same kind of model by generalized cross validation.
    EvidenceSearchRegressor : Evidence with one precision for all weights, and a choice of searches.
    RelevanceVectorClassifier : Relevance vector machine for classes.
    VBLSRegressor : A stricter and cheaper bound on the evidence, for linear models with many inputs.

    Notes
    -----
    The model is :math:`t = \Phi w + e` with :math:`w_j \sim N(0, 1/\alpha_j)` and normal noise of variance :math:`\sigma^2`. With
    the ridges :math:`\lambda_j = \alpha_j\sigma^2` and the noise at its best value :math:`t^TPt/N`, the log evidence is

    .. math::
        L(\Lambda) = -\tfrac N2\log t^TPt - \tfrac12\log|I + \Phi\Lambda^{-1}\Phi^T| + \text{const}, \qquad
        P = (I + \Phi\Lambda^{-1}\Phi^T)^{-1}.

    It contains no noise, so the model does not depend on the units of the target.

    The method is good at compact models with error bars. Its weaknesses: the evidence has many local maxima, so nearly equal models
    may have different functions. The evidence of a sparse model prefers kernels that are too narrow, so choose the width by
    ``KernelBasis(gamma="evidence")`` or by cross validation. Far from the data the plain std falls to the noise; see
    ``std="augmented"`` in `predict`.

    References
    ----------
    .. [1] Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. JMLR 1, 211-244.
    .. [2] Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import RelevanceVectorRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = RelevanceVectorRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    4 functions, 1.01 +- 0.11
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        solver: str = "fast",
        noise_variance: float | None = None,
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
        self.noise_variance = noise_variance
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
        check_choice("solver", self.solver, SOLVERS)
        criterion = IndividualEvidence(self.noise_variance)
        crowded = self._crowded(applies=self.noise_variance is None)
        if self.solver == "em":
            from skarce.methods.relevance_em import RelevanceEM

            return RelevanceEM(criterion, crowded)
        search = BestAction() if self.solver == "sequential" else GreedyBatches(pools=Pools(random_state=self._seed()))
        second_look = self._takes_second_look(self.solver)
        return Selection(criterion, search, self._spanning_start(), second_look=second_look, crowded=crowded)

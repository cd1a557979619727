"""Relevance vector regression."""

from __future__ import annotations

from typing import Any

from skarce.criteria import IndividualEvidence
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.method import MomentMethod
from skarce.methods.relevance_em import RelevanceEM
from skarce.methods.selection import Selection
from skarce.searches import BestAction, GreedyBatches, Pools

SOLVERS = ("fast", "sequential", "em")


class RelevanceVectorRegressor(SparseRegressorBase):
    """Relevance vector machine for regression: a few kernel functions, each with a precision learned by evidence.

    Every weight has a prior precision of its own; maximising the evidence drives most of them to infinity, and what is left is the
    model (Tipping 2001; Tipping and Faul 2003). Noise and precisions are learned, so nothing is left to tune but the kernel. The
    noise is profiled out: the model does not depend on the units of the target.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a transformer
        its output columns.
    solver : {"fast", "sequential", "em"}, default="fast"
        ``"fast"`` adds functions in greedy batches and re-estimates all precisions by Newton steps; ``"sequential"`` takes the
        best single action per step (Tipping and Faul); ``"em"`` starts from all candidates (Tipping 2001). All end in a model that
        no single change improves by more than `tol`; they may be different ones.
    noise_variance : float, default=None
        The variance of the noise where it is known; None learns it.
    fit_intercept : bool, default=True
        An unpenalised constant, integrated out; its uncertainty is part of the std.
    tol : float, default=1e-3
        The fit has converged when no single change raises the log evidence by more than this.
    max_iter : int, default=100000
        Steps at most; a fit that ends there warns.
    max_active : int, default=None
        Basis functions at most. With several targets, so many for each.
    max_time : float, default=None
        Seconds after which the best model so far is returned, with a warning.
    moments : {"auto", "whole", "columns"}, default="auto"
        How much of the Gram matrix of the candidates is kept; ``"auto"`` decides by a cost model and the memory budget
        (a quarter of scikit-learn's ``working_memory``).
    verbose : int, default=0
        1 prints a line now and then, 2 a line for every step but those that compiled code takes in one go. The score printed
        is the criterion up to a constant.
    random_state : int, RandomState or None, default=None
        Seeds the pool of candidates on large problems, and landmarks; None uses a fixed seed for the pool.

    Attributes
    ----------
    active_ : array of shape (n_active,)
        The candidates in the model, ascending.
    coef_ : array of shape (n_active,) or (n_outputs, n_active)
        Their weights.
    intercept_ : float or array of shape (n_outputs,)
    weight_precision_ : array like `coef_`
        alpha, infinite where an output does not use a function.
    noise_variance_ : float or array of shape (n_outputs,)
    relevance_vectors_ : array of shape (n_active, n_features)
        The centers of the active functions (kernel bases only).
    relevance_ : array of shape (n_candidates,)
        1 - alpha_i Sigma_ii: how well the data determine each weight, 0 for functions left out.
    basis_ : transformer
        The active functions only.
    criterion_ : float
        The log evidence: the log density of the targets, with all constants, summed over outputs.
    criterion_sense_ : int
        1: larger is better.
    outcome_ : Outcome
        How the fit ended, in words.
    trace_ : structured array
        One row per step: action, index, criterion, n_active.
    posterior_ : Posterior, or a list of one per output
    n_iter_ : int

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. JMLR 1, 211-244.
    Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS.

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
    7 functions, 1.02 +- 0.11
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        solver: str = "fast",
        noise_variance: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.solver = solver
        self.noise_variance = noise_variance
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> MomentMethod:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {list(SOLVERS)}, got {self.solver!r}.")
        criterion = IndividualEvidence(self.noise_variance)
        if self.solver == "em":
            return RelevanceEM(criterion)
        search = BestAction() if self.solver == "sequential" else GreedyBatches(pools=Pools(random_state=self._seed()))
        return Selection(criterion, search, self._spanning_start())

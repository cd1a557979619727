"""Orthogonal least squares."""

from __future__ import annotations

from typing import Any

from skarce.criteria import Criterion, ExplainedVariance
from skarce.estimators.forward_selection import ForwardRegressor


class OrthogonalLeastSquaresRegressor(ForwardRegressor):
    """Orthogonal least squares: the function that explains most of what is left, one after the other, without a penalty.

    Each step takes the candidate that, made orthogonal to those already in, reduces the squared error most (Chen, Cowan and Grant
    1991). Of the models on the way the one with the least generalized cross validation (or what `stop` names) is kept.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a transformer
        its output columns.
    stop : {"gcv", "bic", "variance"}, default="gcv"
        How models on the way are judged: by generalized cross validation N q / v^2, by n log q + L log n (smaller models), or
        whether the unexplained share of the variance has come down to `unexplained`.
    patience : int, default=2
        The search ends when so many additions in a row did not improve on the best model.
    unexplained : float, default=0.01
        The share of the variance that may be left, for ``stop="variance"``.
    n_basis : int, default=None
        Exactly so many functions, whatever `stop` says; fewer only where the candidates that are left depend on those in the model.
        With several targets, so many for each.
    keep_path : bool, default=False
        Keep what `with_n_basis` needs for models larger than the final one, as far as the search went.
    fit_intercept : bool, default=True
        An unpenalised constant; its uncertainty is part of the std.
    tol : float, default=1e-4
        The least relative reduction of GCV that counts as an improvement.
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
        1 prints a line now and then, 2 a line for every step.
    random_state : int, RandomState or None, default=None
        Seeds landmarks.

    Attributes
    ----------
    active_ : array of shape (n_active,)
        The candidates in the model, ascending; `trace_` has the order in which they came.
    coef_ : array of shape (n_active,) or (n_outputs, n_active)
        Their weights, those of least squares.
    intercept_ : float or array of shape (n_outputs,)
    weight_precision_ : array like `coef_`
        0: there is no prior. Infinite where an output does not use a function.
    noise_variance_ : float or array of shape (n_outputs,)
        The squared error over N - L (with an intercept N - 1 - L), unbiased but for the choice of functions.
    relevance_vectors_ : array of shape (n_active, n_features)
        The centers of the active functions (kernel bases only).
    relevance_ : array of shape (n_candidates,)
        1 for the functions in the model, 0 for those left out.
    basis_ : transformer
        The active functions only.
    criterion_ : float
        Generalized cross validation of the model, N q / v^2, in the units of the squared target; summed over outputs.
    criterion_sense_ : int
        -1: smaller is better.
    outcome_ : Outcome
        How the fit ended, in words.
    trace_ : structured array
        One row per addition: action, index, criterion (GCV, whatever `stop` is), n_active. The last ones may be beyond the model.
    posterior_ : Posterior, or a list of one per output
    n_iter_ : int

    References
    ----------
    Chen, S., Cowan, C. F. N. and Grant, P. M. (1991). Orthogonal least squares learning algorithm for radial basis function
    networks. IEEE Transactions on Neural Networks 2, 302-309.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import OrthogonalLeastSquaresRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = OrthogonalLeastSquaresRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    7 functions, 1.01 +- 0.10
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        stop: str = "gcv",
        patience: int = 2,
        unexplained: float = 0.01,
        n_basis: int | None = None,
        keep_path: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100_000,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.stop = stop
        self.patience = patience
        self.unexplained = unexplained
        self.n_basis = n_basis
        self.keep_path = keep_path
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _criterion(self) -> Criterion:
        return ExplainedVariance(self.stop, self.unexplained)

"""Regularised forward selection."""

from __future__ import annotations

from typing import Any

from skarce.criteria import Criterion, OrthogonalGCV, SharedGCV
from skarce.estimators.forward_selection import ForwardRegressor

PENALTIES = ("weights", "orthogonal")


class RegularizedForwardRegressor(ForwardRegressor):
    """Regularised forward selection: one function after the other by GCV, with one ridge that GCV chooses too.

    Each step takes the candidate with which generalized cross validation is least at the ridge of the moment, and then
    moves the ridge to its best value for the new set (Orr 1995). Of the models on the way the one with the least GCV is kept.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a transformer
        its output columns.
    ridge : "gcv" or float, default="gcv"
        The weight of the penalty. A number fixes it in the units of phi'phi, the sum of a candidate's squares over the rows (about
        the mean where there is an intercept): a function by itself with phi'phi = ridge gets half its least squares weight.
    penalize : {"weights", "orthogonal"}, default="weights"
        What the ridge penalises: the squared weights, or those of the functions made orthogonal in the order in which they enter,
        as in Orr's package. The two give different models.
    patience : int, default=2
        The search ends when so many additions in a row did not improve on the best model.
    n_basis : int, default=None
        Exactly so many functions, whatever GCV says; fewer only where the candidates that are left depend on those in the model.
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
        Their weights.
    intercept_ : float or array of shape (n_outputs,)
    weight_precision_ : array like `coef_`
        ridge / noise variance, the same for all; with ``penalize="orthogonal"`` that of the orthogonalised weights. Infinite where
        an output does not use a function.
    noise_variance_ : float or array of shape (n_outputs,)
        q / v, the squared error over the degrees of freedom left.
    relevance_vectors_ : array of shape (n_active, n_features)
        The centers of the active functions (kernel bases only).
    relevance_ : array of shape (n_candidates,)
        How well the data determine each weight (each orthogonalised weight), 0 for functions left out.
    basis_ : transformer
        The active functions only.
    criterion_ : float
        Generalized cross validation of the model, N q / v^2, in the units of the squared target; summed over outputs.
    criterion_sense_ : int
        -1: smaller is better.
    outcome_ : Outcome
        How the fit ended, in words.
    trace_ : structured array
        One row per addition: action, index, criterion, n_active. The last ones may be beyond the model.
    posterior_ : Posterior, or a list of one per output
    n_iter_ : int

    References
    ----------
    Orr, M. J. L. (1995). Regularisation in the selection of radial basis function centers. Neural Computation 7, 606-623.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import RegularizedForwardRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = RegularizedForwardRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    10 functions, 1.00 +- 0.10
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        ridge: float | str = "gcv",
        penalize: str = "weights",
        patience: int = 2,
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
        self.ridge = ridge
        self.penalize = penalize
        self.patience = patience
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
        if self.penalize not in PENALTIES:
            raise ValueError(f"penalize must be one of {list(PENALTIES)}, got {self.penalize!r}.")
        return OrthogonalGCV(self.ridge) if self.penalize == "orthogonal" else SharedGCV(self.ridge)

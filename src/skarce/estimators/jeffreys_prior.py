"""Regression with a Jeffreys prior: adaptive sparseness."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.jeffreys import Jeffreys


class JeffreysPriorRegressor(SparseRegressorBase):
    """A few functions by a Jeffreys prior on the variance of every weight: nothing to tune but the kernel (adaptive sparseness).

    Expectation maximisation from a ridge estimate with all candidates: each weight is penalised by the inverse of its own square,
    small ones vanish, and the noise is estimated along the way (Figueiredo 2003). The objective has no lower bound and many local
    minima, so **the result depends on the start**: a larger `initial_ridge` keeps fewer functions. Where all candidates together
    fit everything (narrow kernels, more inputs than rows), the noise goes to its lower bound and nearly as many functions as rows
    stay; `outcome_` then is ``NO_NOISE``.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a transformer
        its output columns.
    initial_ridge : float, default=0.01
        The ridge of the start, in the units of phi'phi: the sum of a candidate's squares over the rows, about the mean where there
        is an intercept.
    fit_intercept : bool, default=True
        An unpenalised constant; it takes one degree of freedom.
    tol : float, default=1e-4
        The fit has converged when no weight changes by more than this share of sigma / |phi|, its standard deviation were it alone.
    max_iter : int, default=10000
        Iterations at most.
    max_active : int, default=None
        Where more are left, those that are missed least are taken out one after the other, and the iteration goes on with the
        others. With several targets, so many for each.
    max_time : float, default=None
        Seconds after which the model so far is returned, with a warning; no step is begun that would not end in time. The least
        is the time for a ridge estimate with all candidates and its std.
    moments, verbose, random_state
        As in `RelevanceVectorRegressor`.

    Attributes
    ----------
    criterion_ : float
        GCV of the model: V = N q / v^2 in the units of the squared target; smaller is better (`criterion_sense_` is -1).
    noise_variance_ : float or array of shape (n_outputs,)
        q / v, the residual energy over the degrees of freedom left. (The iteration itself uses q / N, which is smaller.)
    trace_ : structured array
        One row per iteration.
    active_, coef_, intercept_, weight_precision_, relevance_, basis_, relevance_vectors_, outcome_, n_iter_, posterior_
        As in `RelevanceVectorRegressor`.

    See Also
    --------
    RelevanceVectorRegressor : one precision per weight too, but by the evidence.

    References
    ----------
    Figueiredo, M. A. T. (2003). Adaptive sparseness for supervised learning. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 25, 1150-1159.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import JeffreysPriorRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = JeffreysPriorRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    5 functions, 1.01 +- 0.11
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        initial_ridge: float = 0.01,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.initial_ridge = initial_ridge
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> Jeffreys:
        given = self.initial_ridge
        is_number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
        if not (is_number and 0.0 < given < float("inf")):
            raise ValueError(f"initial_ridge must be positive and finite, got {given!r}.")
        return Jeffreys(float(given))

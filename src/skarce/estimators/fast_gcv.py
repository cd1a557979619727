"""Regression by generalized cross validation with one ridge per weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce.criteria import GCV
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.held_precision import HeldPrecision
from skarce.methods.local_ridge import LocalRidge
from skarce.methods.method import MomentMethod
from skarce.methods.selection import Selection
from skarce.searches import BestAction, GreedyBatches, Pools

SOLVERS = ("fast", "sequential")
NOISE_UPDATES = ("held", "paper")


class FastGCVRegressor(SparseRegressorBase):
    """A few kernel functions, each with a ridge of its own, chosen by generalized cross validation.

    Functions are added, their ridges re-estimated, and superfluous ones deleted, wherever that lowers the GCV error
    V = N |t - y|^2 / (tr P)^2 most (Sundararajan, Shevade and Keerthi). V contains no noise and its best ridges do not depend on
    the units of the target, so nothing is left to tune but the kernel. Compared with the relevance vector machine, models are
    somewhat larger and fit somewhat closer.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a transformer
        its output columns.
    solver : {"fast", "sequential"}, default="fast"
        ``"fast"`` adds functions in greedy batches and re-estimates all ridges by Newton steps; ``"sequential"`` takes the best
        single action per step, as the paper does. Both end in a model that no single change improves by more than `tol`; they may
        be different ones.
    noise_update : {"held", "paper"}, default="held"
        ``"held"`` keeps the ridges when the noise moves, so that V falls in every step. ``"paper"`` keeps the precisions
        (ridge / noise variance) as the printed algorithm does, with its floor of 1/N on them (for targets of unit variance): V may
        then rise between steps, and the model depends on the floor. It is there for comparison, and is always sequential.
    fit_intercept : bool, default=True
        An unpenalised constant; it takes one degree of freedom.
    tol : float, default=1e-3
        The fit has converged when no single change lowers (N/2) log V by more than this, about the scale of a log evidence. In
        relative terms, V would fall by less than 2 tol / N.
    max_iter, max_active, max_time, moments, verbose, random_state
        As in `RelevanceVectorRegressor`.

    Attributes
    ----------
    criterion_ : float
        V = N q / v^2 in the units of the squared target; smaller is better (`criterion_sense_` is -1).
    noise_variance_ : float or array of shape (n_outputs,)
        q / v, the residual energy over the degrees of freedom left (eq. 8).
    active_, coef_, intercept_, weight_precision_, relevance_, basis_, relevance_vectors_, outcome_, trace_, n_iter_, posterior_
        As in `RelevanceVectorRegressor`.

    See Also
    --------
    LocalRidgeRegressor : the same criterion from the full model, one ridge after the other.
    RelevanceVectorRegressor : the same kind of model by evidence.

    References
    ----------
    Sundararajan, S., Shevade, S. and Keerthi, S. S. Fast generalized cross validation algorithm for sparse model learning.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import FastGCVRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = FastGCVRegressor().fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}, GCV {model.criterion_:.4f}")
    6 functions, 1.00 +- 0.10, GCV 0.0109
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        solver: str = "fast",
        noise_update: str = "held",
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
        self.noise_update = noise_update
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> MomentMethod:
        for name, known in (("solver", SOLVERS), ("noise_update", NOISE_UPDATES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {list(known)}, got {getattr(self, name)!r}.")
        if self.noise_update == "paper":
            return HeldPrecision()
        search = BestAction() if self.solver == "sequential" else GreedyBatches(pools=Pools(random_state=self._seed()))
        return Selection(GCV(), search, self._spanning_start())


class LocalRidgeRegressor(SparseRegressorBase):
    """Orr's local smoothing: from the full model, every ridge in turn to the least GCV error, until a cycle changes nothing.

    All candidates are in at the start; most ridges go to infinity, and what is left is the model. A cycle costs
    O(n_candidates * n_active^2), so this is for up to a thousand candidates or so; `FastGCVRegressor` minimises the same criterion
    from the empty model.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
    initial_ridge : float, default=None
        The ridge of every candidate at the start, in the units of their squares; None takes the one that minimises GCV as a common
        ridge. The result depends on it.
    readmit : bool, default=True
        Whether a candidate whose ridge went to infinity is tried again in later cycles. Only then no single change of the result
        lowers GCV; without it only changes of what is left are excluded.
    fit_intercept : bool, default=True
        An unpenalised constant; it takes one degree of freedom.
    tol : float, default=1e-3
        The significant decrease: the fit ends after a cycle that lowers (N/2) log V by no more than this.
    max_iter : int, default=1000
        Cycles at most.
    max_active : int, default=None
        Of the result only the functions of largest effect are kept, this many at most. With several targets, so many for each.
    max_time : float, default=None
        Seconds after which the model so far is returned, with a warning. The first factorisation of all candidates, and what the
        result takes, come on top: some seconds for thousands of them.
    moments, verbose, random_state
        As in `RelevanceVectorRegressor`.

    Attributes
    ----------
    criterion_, noise_variance_
        As in `FastGCVRegressor`.
    trace_ : structured array
        One row per cycle.
    active_, coef_, intercept_, weight_precision_, relevance_, basis_, relevance_vectors_, outcome_, n_iter_, posterior_
        As in `RelevanceVectorRegressor`.

    References
    ----------
    Orr, M. J. L. (1995). Local smoothing of radial basis function networks. International Symposium on Neural Networks.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import LocalRidgeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (100, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 100)
    >>> model = LocalRidgeRegressor().fit(X, y)
    >>> bool(abs(model.predict([[1.5]])[0] - 1.0) < 0.1)
    True
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        initial_ridge: float | None = None,
        readmit: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.initial_ridge = initial_ridge
        self.readmit = readmit
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> LocalRidge:
        given = self.initial_ridge
        is_number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
        if given is not None and not (is_number and 0.0 < given < float("inf")):
            raise ValueError(f"initial_ridge must be positive and finite, or None; got {self.initial_ridge!r}.")
        return LocalRidge(None if given is None else float(given), self.readmit)

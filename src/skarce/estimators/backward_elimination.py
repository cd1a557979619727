"""Sparse Gaussian processes by backward elimination."""

from __future__ import annotations

from typing import Any

from skarce._validation import check_budget, check_weight_variance
from skarce.designs import Rows
from skarce.estimators.nested import NestedRegressor
from skarce.methods.elimination.method import Elimination
from skarce.methods.elimination.path import DIRECTIONS, STOPS, StopRule
from skarce.methods.method import Method
from skarce.posteriors.nested import NestedPath


class BackwardEliminationRegressor(NestedRegressor):
    r"""All functions by evidence, then one after the other is left out as long as that costs little.

    The model with all candidates, one precision for their weights and the noise are learned by evidence (with
    ``KernelBasis(gamma="ard")`` also a width for each input). Then the function whose removal raises the penalised error
    f = \|t - Phi w\|^2 + rho \|w\|^2 least goes, again and again (Bo, Wang and Jiao). What is left predicts nearly as well as all.
    The way down is recorded: `with_n_basis` and `with_tol` give the other models on it.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What is in at first: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a
        transformer its output columns. The method of the paper is ``KernelBasis(gamma="ard")``.
    weight_variance : "learned" or float, default="learned"
        The prior variance of the weights, for targets scaled so that they span [-1, 1]; 1.0 is the model of the paper. Targets,
        predictions and attributes are in user units all the same.
    direction : {"backward", "forward"}, default="backward"
        ``"forward"`` starts from none and adds the function with which f falls most, until the same rule is met.
    stop : {"total", "step"}, default="total"
        ``"total"``: the smallest model whose f is above that of the full model by no more than the share `tol`. ``"step"``: the
        last one before a step that would raise f by more than the share `tol` of itself (forward: that would lower it by no more).
    n_basis : int, default=None
        Exactly so many functions, whatever `stop` says. With several targets, so many for each.
    keep_path : bool, default=False
        Keep what models larger than the final one are made from: the Gram matrix of all candidates.
    fit_intercept : bool, default=True
        An unpenalised constant, which stays; its uncertainty is part of the std.
    tol : float, default=0.05
        The tolerance of the stop rule; about 0.001 for ``stop="step"``.
    max_iter : int, default=100000
        Steps at most; a fit that ends there before its model is found warns.
    max_active : int, default=None
        Basis functions at most. With several targets, so many for each.
    max_time : float, default=None
        Seconds for learning the widths of the basis, which ends there with a warning. One model with all functions and the
        elimination come on top: together they take as long as a few steps of the learning, and are not cut short.
    moments : {"auto", "whole", "columns"}, default="auto"
        The whole Gram matrix is needed in any case; ``"columns"`` computes it from Phi where that is stored.
    verbose : int, default=0
        1 prints a line now and then, 2 a line for every step.
    random_state : int, RandomState or None, default=None
        Seeds landmarks and the learning of widths.

    Attributes
    ----------
    active_ : array of shape (n_active,)
        The candidates in the model, ascending; `trace_` has the order in which they went (or came).
    coef_ : array of shape (n_active,) or (n_outputs, n_active)
        Their weights, solved afresh for these functions.
    weight_precision_ : array like `coef_`
        The same for all; its ratio to the precision of the noise is that of the full model.
    noise_variance_ : float or array of shape (n_outputs,)
        At its best for the functions that are left, with that ratio held; with a given `weight_variance` the squared error of the
        weights over what is left of n once they are counted, \|t - Phi w\|^2 / (n - gamma), which for all functions is the same.
    criterion_ : float
        The log evidence of the sparse model: the log density of the targets (with an intercept: of their N - 1 contrasts), with all
        constants, summed over outputs.
    trace_ : structured array
        One row per step: action, index, criterion (the log evidence), n_active, increment (by how much f rises or falls) and
        objective (f), both in the units of the squared target. Backwards it goes on to the empty model.
    outcome_ : Outcome
    intercept_, relevance_, basis_, relevance_vectors_, posterior_, n_iter_, criterion_sense_
        As in `RelevanceVectorRegressor`.

    References
    ----------
    Bo, L., Wang, L. and Jiao, L. Sparse Gaussian processes using backward elimination.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import BackwardEliminationRegressor, KernelBasis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = BackwardEliminationRegressor(KernelBasis(gamma="evidence")).fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    53 functions, 1.00 +- 0.11
    >>> smaller = model.with_n_basis(7)
    >>> print(f"{len(smaller.active_)} functions, {smaller.predict([[1.5]])[0]:.2f}")
    7 functions, 0.99
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        weight_variance: float | str = "learned",
        direction: str = "backward",
        stop: str = "total",
        n_basis: int | None = None,
        keep_path: bool = False,
        fit_intercept: bool = True,
        tol: float = 0.05,
        max_iter: int = 100_000,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.weight_variance = weight_variance
        self.direction = direction
        self.stop = stop
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

    def _check_limits(self) -> None:
        super()._check_limits()
        for name, known in (("direction", DIRECTIONS), ("stop", STOPS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {list(known)}, got {getattr(self, name)!r}.")
        check_budget(self.n_basis, self.max_active)

    def _method(self) -> Elimination:
        return Elimination(self._rule(self.tol), check_weight_variance(self.weight_variance), self.n_basis, self.keep_path)

    def _width_options(self, rows: Rows, method: Method[Any]) -> dict[str, Any]:
        """Widths have all of the time."""
        return {**super()._width_options(rows, method), "max_time": self.max_time}

    def _size_with(self, path: NestedPath, tol: float) -> int:
        return self._rule(tol).size(-path.worths, path.least)

    def _rule(self, tol: float) -> StopRule:
        return StopRule(self.stop, tol, self.direction)

"""Stepwise regression, the classical rival."""

from __future__ import annotations

from typing import Any

from skarce.estimators.regressor import SparseRegressorBase
from skarce.estimators.tested_coefficients import TestedCoefficients
from skarce.methods.stepwise import Stepwise

DIRECTIONS = ("both", "forward", "backward")


class StepwiseRegressor(TestedCoefficients, SparseRegressorBase):
    """Least squares on inputs that enter and leave one at a time by F tests.

    It is here to be compared with: tests after a selection promise more than they hold, inputs that say nearly the same confuse
    it, and where inputs are more than rows it may go on until nothing is left to tell the noise (`max_active` is a remedy).

    Parameters
    ----------
    basis : "passthrough", "rbf" or transformer, default="passthrough"
    direction : {"both", "forward", "backward"}, default="both"
        ``"both"`` adds the most significant input and takes out those that have become insignificant; ``"backward"`` begins with
        all inputs, which must be fewer than rows.
    enter : float, default=0.05
        An input enters with a p value below this.
    leave : float, default=0.1
        And leaves with one above this; not below `enter`.
    fit_intercept, tol, max_iter, max_active, max_time, moments, verbose, random_state
        As in `VBLSRegressor`; `max_iter` is the number of steps, `tol` is not used.

    Attributes
    ----------
    active_, coef_, intercept_, relevance_, noise_variance_, posterior_, trace_, criterion_, outcome_
        As in `VBLSRegressor` with ``prior="none"``: the noise is |t - Phi w|^2 over the degrees of freedom left, the criterion the
        log likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import StepwiseRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 20))
    >>> y = 3 * X[:, 2] - X[:, 11] + rng.normal(0, 0.5, 200)
    >>> StepwiseRegressor(enter=0.001).fit(X, y).active_
    array([ 2, 11])
    """

    def __init__(
        self,
        basis: Any = "passthrough",
        *,
        direction: str = "both",
        enter: float = 0.05,
        leave: float = 0.1,
        fit_intercept: bool = True,
        tol: float = 0.0,
        max_iter: int = 10_000,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.direction = direction
        self.enter = enter
        self.leave = leave
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> Stepwise:
        if self.direction not in DIRECTIONS:
            raise ValueError(f"direction must be one of {list(DIRECTIONS)}, got {self.direction!r}.")
        if not 0.0 < self.enter <= self.leave <= 1.0:
            raise ValueError(f"enter and leave must be levels with 0 < enter <= leave <= 1, got {self.enter!r} and {self.leave!r}.")
        return Stepwise(self.direction, self.enter, self.leave)

"""Variational Bayesian least squares."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from skarce._validation import check_forgetting, check_significance
from skarce.basis import KernelBasis
from skarce.estimators.regressor import SparseRegressorBase
from skarce.estimators.tested_coefficients import TestedCoefficients
from skarce.methods.variational.method import VariationalLeastSquares
from skarce.methods.variational.prior import Prior
from skarce.methods.variational.student_noise import RobustLeastSquares
from skarce.posteriors.variational import VariationalPosterior
from skarce.states.outcome import Outcome

PRIORS = ("none", "shared", "ard")
CHOICES = {
    "solver": ("direct", "em"),
    "start": ("auto", "all", "both"),
    "factorized": (False, True),
    "posterior": ("gaussian", "student-t"),
    "noise": ("gaussian", "student-t"),
    "restarts": ("doubling", "always"),
}
NOTHING_LEFT = (
    "Least squares with as many candidates as rows fits any target, and leaves nothing to tell the noise: neither its std nor its "
    'tests mean anything. Use prior="ard" or "shared".'
)
COLLAPSED = (
    'The factorized form of prior="shared" has collapsed to a model without weights, as it does if their mean squared t statistic '
    "is below about 4 or rows are few. Use factorized=False."
)


class VBLSRegressor(TestedCoefficients, SparseRegressorBase):
    """Variational Bayesian least squares: a linear model that finds out which of its inputs matter.

    Every weight has a precision of its own (or shares one with others), learned with the noise by maximising a lower bound on
    the density of the targets. Weights that the data do not support go to zero. The bound is cheaper and stricter than the
    evidence of the relevance vector machine: an input stays for a t statistic of about 2, there for 1. With ``basis="rbf"`` it
    is the VBLS-RVM of the paper.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="passthrough"
        ``"passthrough"`` is the inputs themselves, ``"rbf"`` is `KernelBasis` at the training inputs, a transformer its output
        columns.
    prior : {"ard", "shared", "none"} or array of shape (n_candidates,), default="ard"
        ``"ard"`` is one precision for each weight, ``"shared"`` one for all, ``"none"`` least squares; an array has a label for
        each candidate, and those of equal label share a precision, so that they stay or go together. Precisions are those of
        standardised candidates, so units do not matter.
    posterior : {"gaussian", "student-t"}, default="gaussian"
        What `coef_marginals` and `coef_interval` are made of. The weights are the same.
    solver : {"direct", "em"}, default="direct"
        ``"direct"`` solves ridge regressions, some tens of them; ``"em"`` makes the paper's sweeps, thousands of them (on kernels
        many more), to the fixed points that the direct solver has from all candidates.
    start : {"auto", "all", "both"}, default="auto"
        ``"all"`` begins with all candidates, as the paper does. ``"both"`` (direct solver, ``"ard"``) also begins with none, adds
        what stands out among so many candidates, and takes the model that is worth more: fewer inputs, and where inputs are about
        as many as rows a fraction of the error. ``"auto"`` is ``"all"`` on kernels, which predict better when more of them overlap,
        else ``"both"``.
    factorized : bool, default=False
        With ``prior="shared"``: the paper's form, which takes the weights for independent and collapses to none where their
        mean squared t statistic is below about 4. The default takes their full covariance, which is Bayesian ridge regression.
    noise : {"gaussian", "student-t"}, default="gaussian"
        ``"student-t"`` is for targets with outliers: rows far from the fit count less. It needs the rows in memory and the direct
        solver, and reads them some ten to thirty times.
    degrees_of_freedom : float or None, default=None
        Of Student's t noise, above 2; None learns them, between 2.1 and 1000.
    significance : None, float or "bound", default=None
        A stricter rule for what stays (direct solver, ``"ard"`` or labels): the level of a t test with the full covariance (an F
        test for a group), or ``"bound"``, which takes candidates out as long as the bound grows.
    forgetting : float, default=1.0
        In `partial_fit` what was seen before counts this many times as much with every further batch; 1 never forgets.
    restarts : {"doubling", "always"}, default="doubling"
        In `partial_fit` the model follows the stream by a few steps after each batch (``"ard"`` or labels, direct solver) and is
        solved afresh whenever the rows seen have doubled; ``"always"`` solves afresh after each batch, which is `fit` on all rows.
    fit_intercept : bool, default=True
        An unpenalised constant, integrated out; its uncertainty is part of the std.
    tol : float, default=1e-8
        The fit has converged when no weight moves the fit by more than this share of the target.
    max_iter : int, default=10000
        Solutions, or sweeps, at most; a fit that ends there warns.
    max_active : int, default=None
        Candidates at most; of more, the strongest. With several targets, so many for each.
    max_time : float, default=None
        Seconds after which the best model so far is returned, with a warning.
    moments : {"auto", "whole", "columns"}, default="auto"
        How much of the Gram matrix of the candidates is kept; ``"auto"`` decides by a cost model and the memory budget.
    verbose : int, default=0
        1 prints a line now and then, 2 a line for every step.
    random_state : int, RandomState or None, default=None
        Seeds landmarks and the learning of widths.

    Attributes
    ----------
    active_ : array of shape (n_active,)
        The candidates in the model, ascending.
    coef_ : array of shape (n_active,) or (n_outputs, n_active)
    relevance_ : array of shape (n_candidates,)
        gamma: how well the data determine each weight, 0 for candidates left out.
    criterion_ : float
        The lower bound on the log density of the targets (with an intercept: of their N - 1 contrasts), up to the constant of a
        hyperprior that is flat in log alpha; a candidate that is left out contributes nothing. With ``"shared"`` the log evidence,
        with ``"none"`` the log likelihood.
    trace_ : structured array
        One row per solution or sweep. The bound never falls, but where `significance` or `max_active` take something out.
    intercept_, weight_precision_, noise_variance_, basis_, relevance_vectors_, posterior_, outcome_, n_iter_, criterion_sense_
        As in `RelevanceVectorRegressor`; without a prior the noise is |t - Phi w|^2 / (N - rank).

    References
    ----------
    Ting, J.-A., D'Souza, A., Vijayakumar, S. and Schaal, S. Efficient learning and feature selection in high-dimensional
    regression.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import VBLSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 20))
    >>> y = 3 * X[:, 2] - X[:, 11] + rng.normal(0, 0.5, 200)
    >>> model = VBLSRegressor(significance=0.01).fit(X, y)
    >>> model.active_
    array([ 2, 11])
    >>> model.coef_.round(1)
    array([ 3., -1.])
    >>> model.coef_interval().round(2)
    array([[ 2.95,  3.09],
           [-1.05, -0.92]])
    """

    def __init__(
        self,
        basis: Any = "passthrough",
        *,
        prior: Any = "ard",
        posterior: str = "gaussian",
        solver: str = "direct",
        start: str = "auto",
        factorized: bool = False,
        noise: str = "gaussian",
        degrees_of_freedom: float | None = None,
        significance: Any = None,
        forgetting: float = 1.0,
        restarts: str = "doubling",
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_iter: int = 10_000,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.prior = prior
        self.posterior = posterior
        self.solver = solver
        self.start = start
        self.factorized = factorized
        self.noise = noise
        self.degrees_of_freedom = degrees_of_freedom
        self.significance = significance
        self.forgetting = forgetting
        self.restarts = restarts
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    # What a fitted model tells --------------------------------------------------------------------------------------------

    def coef_marginals(self) -> Any:
        """The paper's posterior of single weights, a frozen `scipy.stats` distribution: normal, or Student's t.

        The paper takes the weights for independent given the fake targets, so these are narrower than `coef_interval` by a factor
        of about the square root of the number of inputs that matter.
        """
        posterior = self._only_posterior()
        if not posterior.is_factorized:
            raise ValueError(
                'prior="shared" with factorized=False and prior="none" have no factorised posterior: use coef_interval.'
            )
        return posterior.marginals(self.posterior)

    # Fitting --------------------------------------------------------------------------------------------------------------

    def _method(self) -> VariationalLeastSquares | RobustLeastSquares:
        self._check_choices()
        method = VariationalLeastSquares(
            prior=Prior(self.prior),
            solver=self.solver,
            grows=not self._is_on_kernels() if self.start == "auto" else self.start == "both",
            factorized=self.factorized,
            significance=self.significance,
            follows=self.restarts == "doubling",
        )
        return method if self.noise == "gaussian" else RobustLeastSquares(method, self.degrees_of_freedom)

    def _check_streaming(self) -> None:
        if self.noise != "gaussian":
            raise AttributeError(
                'partial_fit keeps no rows, and noise="student-t" weighs them again and again. Use noise="gaussian".'
            )

    def _warnings(self, posteriors: list[VariationalPosterior]) -> list[str]:
        messages, prior = super()._warnings(posteriors), Prior(self.prior)
        outcomes = [posterior.outcome for posterior in posteriors]
        if prior.is_shared and self.factorized and Outcome.NOTHING_HELPS in outcomes:
            messages.append(COLLAPSED)
        if prior.is_none and Outcome.NO_NOISE in outcomes:
            messages.append(NOTHING_LEFT)
        return messages

    def _check_choices(self) -> None:
        Prior(self.prior).check(PRIORS)
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {list(known)}, got {getattr(self, name)!r}.")
        freedom = self.degrees_of_freedom
        if freedom is not None and not (isinstance(freedom, Real) and 2.0 < float(freedom) < np.inf):
            raise ValueError(
                f"degrees_of_freedom must be a finite number above 2, or None to learn it; got {freedom!r}. For infinity use "
                'noise="gaussian".'
            )
        if freedom is not None and self.noise == "gaussian":
            raise ValueError(f'degrees_of_freedom={freedom!r} is for noise="student-t", and this noise is normal.')
        check_forgetting(self.forgetting)
        if self.noise == "student-t" and self.solver != "direct":
            raise ValueError(f'noise="student-t" needs solver="direct", got solver={self.solver!r}.')
        check_significance(self.significance, self.solver, self.prior)

    def _is_on_kernels(self) -> bool:
        return isinstance(self.basis, KernelBasis) or (isinstance(self.basis, str) and self.basis == "rbf")

"""Variational Bayesian least squares."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skarce._typing import Indices
from skarce._validation import check_forgetting
from skarce.basis import KernelBasis
from skarce.criteria import IndividualEvidence
from skarce.criteria.variational import LikelihoodWithoutPrior, VariationalBound
from skarce.designs import InMemoryDesign, StreamDesign
from skarce.estimators.base import MomentRegressor, Search
from skarce.estimators.tested_coefficients import TestedCoefficients
from skarce.estimators.variational_parameters import check_prior, check_significance, group_labels
from skarce.methods.variational.choice import choose
from skarce.methods.variational.direct import Model, climb, resume, run_direct
from skarce.methods.variational.growth import run_from_both_ends
from skarce.methods.variational.stream import follow
from skarce.methods.variational.student_noise import run_student
from skarce.methods.variational.sweeps import run_em
from skarce.methods.variational.together import run_shared, run_without_prior
from skarce.moments import Moments
from skarce.moments.moments import power_of_two_near
from skarce.posteriors.of_fit import Design, posterior_of
from skarce.posteriors.posterior import Posterior
from skarce.posteriors.variational import VariationalPosterior
from skarce.states.fit import Fit
from skarce.states.journal import Journal
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


class VBLSRegressor(TestedCoefficients, MomentRegressor):
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

    def _criterion(self) -> Any:
        self._check_choices()
        if self._is_prior("none"):
            return LikelihoodWithoutPrior()
        return IndividualEvidence() if self._has_full_covariance() else VariationalBound()

    def _search(self, criterion: Any, moments: Moments, journal: Journal) -> Fit:
        labels = self._labels(moments.n_candidates)
        if self._is_prior("none"):
            found = run_without_prior(moments, journal) if self.solver == "direct" else run_em(moments, journal, None)
        elif self._has_full_covariance():
            found = run_shared(moments, journal, self.solver)
        elif self.solver == "em":
            found = run_em(moments, journal, labels)
        else:
            run = run_from_both_ends if self._starts_from_both_ends(labels) else run_direct
            return self._chosen(run(moments, journal, labels), journal)
        return self._strongest(found, moments)

    def _chosen(self, model: Model, journal: Journal) -> Fit:
        """What is left by the stricter rules, where there are any."""
        model, outcome = choose(model, journal, self.significance, self.max_active)
        return model.found(outcome)

    def _strongest(self, found: Fit, moments: Moments) -> Fit:
        """No more than `max_active` of a model of all, those whose weights move the fit most."""
        if self.max_active is None or len(found.active) <= self.max_active:
            return found
        lengths = moments.gram.diagonal[found.active]
        weights = found.weights
        if weights is None:
            weights = moments.projections[found.active] / (lengths + found.ridges)
        kept = np.sort(np.argsort(-(weights**2) * lengths, kind="stable")[: self.max_active])
        return Fit(found.active[kept], found.ridges[kept], Outcome.SIZE_LIMIT)

    def _solve(
        self, criterion: Any, moments: Moments, design: Design, output: int, journal: Journal, search: Search | None = None
    ) -> Posterior:
        search = self._following(criterion, design, output) if isinstance(design, StreamDesign) else None
        posterior, freedom = super()._solve(criterion, moments, design, output, journal, search), np.inf
        if self.noise == "student-t" and posterior.outcome not in (Outcome.CONSTANT_TARGET, Outcome.TOO_LITTLE_DATA):
            posterior, freedom, moments = self._with_heavy_tails(criterion, moments, design, output, Journal(journal.limits))
        labels = self._labels(moments.n_candidates)
        _, number, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        is_factorized = isinstance(criterion, VariationalBound) and not isinstance(criterion, LikelihoodWithoutPrior)
        if is_factorized and self._is_prior("shared") and posterior.outcome is Outcome.NOTHING_HELPS:
            warnings.warn(
                'The factorised form of prior="shared" has collapsed to a model without weights, as it does where their mean '
                "squared t statistic is below about 4 or rows are few. Use factorized=False.",
                ConvergenceWarning,
                stacklevel=5,
            )
        if self._is_prior("none") and posterior.outcome is Outcome.NO_NOISE:
            warnings.warn(NOTHING_LEFT, ConvergenceWarning, stacklevel=5)
        return VariationalPosterior.of(
            posterior,
            lengths=moments.gram.diagonal[posterior.active],
            group_sizes=sizes[number[posterior.active]].astype(np.float64),
            is_factorized=is_factorized,
            noise_freedom=freedom,
        )

    def _following(self, criterion: Any, stream: StreamDesign, output: int) -> Search | None:
        """How to go on from the model of the last batch, or None where it is time to solve afresh."""
        follows = type(criterion) is VariationalBound and self.solver == "direct" and self.restarts == "doubling"
        if not follows or not hasattr(self, "posterior_") or stream.n_seen >= 2.0 * stream.n_solved:
            stream.n_solved = stream.n_seen if output == stream.n_outputs - 1 else stream.n_solved
            return None
        posterior = self.posterior_ if isinstance(self.posterior_, Posterior) else self.posterior_[output]
        last = Fit(posterior.active, posterior.ridges, posterior.outcome)

        def search(criterion: Any, moments: Moments, journal: Journal) -> Fit:
            model = follow(moments, journal, self._labels(moments.n_candidates), last)
            return self._chosen(model, journal)._replace(outcome=journal.exhausted() or Outcome.FOLLOWING)

        return search

    def _with_heavy_tails(
        self, criterion: Any, moments: Moments, design: Design, output: int, journal: Journal
    ) -> tuple[Posterior, float, Moments]:
        """The fit with Student's t noise, its degrees of freedom, and the moments of the weighted rows."""
        if not isinstance(design, InMemoryDesign):
            raise ValueError(
                'noise="student-t" weighs rows again and again, so it needs them in memory: pass arrays X and y to fit.'
            )
        factor = 1.0 / power_of_two_near(float(np.sqrt(moments.target_energy / moments.n_samples)))

        def fit(weighted: Moments, last: Fit | None) -> Fit:
            inner = Journal(journal.limits)
            if last is None or not len(last.active) or type(criterion) is not VariationalBound:
                return self._search(criterion, weighted, inner)
            model = resume(weighted, self._labels(weighted.n_candidates), last)
            climb(model, inner)
            return self._chosen(model, inner)

        form = "none" if self._is_prior("none") else "full" if self._has_full_covariance() else "factorized"
        robust = run_student(design, output, factor, fit, form, self.degrees_of_freedom, journal)
        posterior = posterior_of(criterion, robust.moments, robust.design, 0, robust.found, journal, factor)
        trace, in_user_units = journal.trace(), robust.moments.n_samples * float(np.log(factor))
        trace["criterion"] += in_user_units
        return replace(posterior, criterion=robust.bound + in_user_units, trace=trace), robust.freedom, robust.moments

    def _check_choices(self) -> None:
        check_prior(self.prior, PRIORS)
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

    def _is_prior(self, name: str) -> bool:
        return isinstance(self.prior, str) and self.prior == name

    def _starts_from_both_ends(self, labels: Indices) -> bool:
        """Groups cannot grow one by one."""
        is_on_kernels = isinstance(self.basis, KernelBasis) or (isinstance(self.basis, str) and self.basis == "rbf")
        wanted = not is_on_kernels if self.start == "auto" else self.start == "both"
        return wanted and len(np.unique(labels)) == len(labels)

    def _has_full_covariance(self) -> bool:
        return self._is_prior("shared") and not self.factorized

    def _labels(self, n_candidates: int) -> Indices:
        return group_labels(self.prior, n_candidates)

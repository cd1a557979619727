"""Variational Bayesian classification."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from skarce._memory import fits, memory_budget
from skarce._parallel import slices
from skarce._typing import Floats, Indices
from skarce.basis import KernelBasis
from skarce.basis.candidates import Evaluation
from skarce.estimators.classifier import LatentClassifier
from skarce.estimators.tested_coefficients import TestedCoefficients
from skarce.estimators.variational_parameters import check_prior, check_significance, group_labels
from skarce.likelihoods import Labels
from skarce.methods.variational.choice import Chosen, choose
from skarce.methods.variational_classes.fake_targets import FakeTargets, run_factorized, run_sweeps
from skarce.methods.variational_classes.jaakkola_jordan import Fitted, run, run_em
from skarce.methods.variational_classes.model import Variational
from skarce.posteriors.latent import LatentPosterior
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

PRIORS = ("ard", "shared")
SOLVERS = ("direct", "em")
BLOCK_ROWS = 1024  # of candidates that are evaluated at a time
MANY_ROWS, LANDMARKS = 3000, 2000  # above so many rows, so many centres stand for all


class VBLSClassifier(TestedCoefficients, LatentClassifier):
    """Variational Bayesian classification by the bound of Jaakkola and Jordan: all candidates, of which most fade.

    The likelihood of every row is replaced by the best of a family of Gaussian lower bounds, and the precisions of the weights
    maximise the bound on the evidence that follows. With ``basis="rbf"`` it is the VBLS-RVM of the paper for two classes.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter. All candidates are in at first, so above 3000 rows kernels have 2000 landmarks as centres unless `basis`
        says otherwise, and `fit` warns of it.
    prior : {"ard", "shared"} or array of shape (n_candidates,), default="ard"
        One precision for each weight, one for all, or one for all candidates of an equal label. Precisions are those of
        standardised candidates, so units do not matter.
    solver : {"direct", "em"}, default="direct"
        ``"direct"`` takes long steps, each checked by the bound, and candidates leave on the way; ``"em"`` takes the sure ones of
        expectation maximisation, in the factorised form the paper's sweeps, thousands of them, to fixed points of the same bound
        (not always the same one; on kernels the sweeps do not get there).
    factorized : bool, default=False
        The paper's form, with independent weights and a fake target for each, a looser bound; it may collapse, with
        ``prior="shared"`` most of all. The default takes the full covariance of the weights.
    significance : None, float or "bound", default=None
        A stricter rule for what stays (direct solver, ``"ard"`` or labels): the level of a test of each weight against zero, by the
        full covariance (a chi-squared test for a group), or ``"bound"``, which takes candidates out as long as the bound grows.
    class_weight : dict, "balanced" or None, default=None
        A factor for the weight of the rows of each class; ``"balanced"`` makes all classes weigh the same.
    fit_intercept : bool, default=True
        A constant that is always in; the level at the middle of the data has a prior N(0, 10^2).
    tol : float, default=1e-4
        The fit has converged when three steps in a row raise the bound by less than this.
    max_iter : int, default=10000
        Steps at most; a fit that ends there warns.
    max_active : int, default=None
        Candidates at most, for each class; of more, the strongest.
    max_time : float, default=None
        Seconds after which the model so far is returned, with a warning.
    verbose : int, default=0
        1 prints a line now and then, 2 a line for every step.
    random_state : int, RandomState or None, default=None
        Seeds landmarks and the learning of widths.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    active_ : array of shape (n_active,)
        The candidates in the model, ascending.
    coef_ : array of shape (n_active,) or (n_classes, n_active)
    criterion_ : float
        The lower bound on the log evidence at the precisions found, summed over classes.
    intercept_, weight_precision_, relevance_, basis_, relevance_vectors_, posterior_, outcome_, trace_, n_iter_, criterion_sense_
        As in `RelevanceVectorClassifier`.

    References
    ----------
    Jaakkola, T. S. and Jordan, M. I. (2000). Bayesian parameter estimation via variational methods. Statistics and Computing 10.
    Ting, J.-A., D'Souza, A., Vijayakumar, S. and Schaal, S. Efficient learning and feature selection in high-dimensional
    regression. Section 4.6.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from skarce import VBLSClassifier
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> model = VBLSClassifier().fit(X, y)
    >>> print(f"{len(model.active_)} functions, accuracy {model.score(X, y):.2f}")
    6 functions, accuracy 0.92
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        prior: Any = "ard",
        solver: str = "direct",
        factorized: bool = False,
        significance: Any = None,
        class_weight: Any = None,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000,
        max_active: int | None = None,
        max_time: float | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.prior = prior
        self.solver = solver
        self.factorized = factorized
        self.significance = significance
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_prior(self.prior, PRIORS)
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {list(SOLVERS)}, got {self.solver!r}.")
        if not isinstance(self.factorized, (bool, np.bool_)):
            raise ValueError(f"factorized must be True or False, got {self.factorized!r}.")
        check_significance(self.significance, self.solver, self.prior)

    def _fitted_basis(self, X: Any, y: Any, targets: Floats, weights: Floats) -> Any:
        basis = self._seeded_basis()
        n_rows = _num_samples(X)
        if isinstance(basis, KernelBasis) and basis.centers is None and basis.kernel != "precomputed" and n_rows > MANY_ROWS:
            warnings.warn(
                f"{n_rows} rows: {LANDMARKS} landmarks are the candidates, as all of them have to be held at once. "
                "Choose with KernelBasis(centers=...).",
                UserWarning,
                stacklevel=3,
            )
            seed = 0 if basis.random_state is None else basis.random_state
            basis = KernelBasis(**{**basis.get_params(deep=False), "centers": LANDMARKS, "random_state": seed})
        return self._fit_basis(basis, X, y, targets, weights)

    def _solve(self, evaluation: Evaluation, means: Floats, problems: list[Labels], limits: Budget) -> list[LatentPosterior]:
        n, m = evaluation.n_rows, evaluation.n_candidates
        if not fits(n, m):
            raise ValueError(
                f"VBLSClassifier holds all {m} candidates at {n} rows, above the budget of {memory_budget() / 2**20:.0f} MiB. "
                "Use fewer (KernelBasis(centers=500)), RelevanceVectorClassifier, or sklearn.set_config(working_memory=...)."
            )
        design, usable, sizes = self._standardized(evaluation, problems[0].weights)
        labels = group_labels(self.prior, m)
        starts = [Variational.start(p, design, usable, labels, fit_intercept=self.fit_intercept) for p in problems]
        return [self._posterior(start, means, sizes, Journal(limits, self.verbose)) for start in starts]

    def _standardized(self, evaluation: Evaluation, weights: Floats) -> tuple[Floats, Indices, Floats]:
        """All candidates that vary, divided by their size, after the constant; which they are, and the sizes of all."""
        n, m, n_fixed = evaluation.n_rows, evaluation.n_candidates, int(self.fit_intercept)
        design = np.ones((n, n_fixed + m))
        for rows in slices(n, BLOCK_ROWS):
            design[rows, n_fixed:] = evaluation.columns(np.arange(m), rows)
        columns = design[:, n_fixed:]
        sizes = np.sqrt(np.einsum("i,ij,ij->j", weights, columns, columns) / weights.sum())
        usable = np.flatnonzero(sizes > 0.0)
        columns /= np.where(sizes > 0.0, sizes, 1.0)
        kept = np.concatenate([np.arange(n_fixed), n_fixed + usable])
        return design if len(usable) == m else design[:, kept], usable, sizes

    def _posterior(self, start: Variational, means: Floats, sizes: Floats, journal: Journal) -> LatentPosterior:
        fitted, outcome = self._fitted(start, journal)
        if outcome is Outcome.CONVERGED and not len(fitted):
            outcome = Outcome.NOTHING_HELPS
        units = np.concatenate([np.ones(int(self.fit_intercept)), sizes[fitted.candidates]])
        return LatentPosterior.of(
            fitted.candidates,
            fitted.weights / units,
            fitted.model.precision_at(fitted.weights) * np.multiply.outer(units, units),
            fitted.model.alpha * units**2,
            means,
            criterion=fitted.bound,
            outcome=outcome,
            trace=journal.trace(),
            n_iter=journal.n_steps,
            own_variance=fitted.total if isinstance(fitted, FakeTargets) else 0.0,
        )

    def _fitted(self, start: Variational, journal: Journal) -> tuple[Fitted | FakeTargets, Outcome]:
        """Where the solver ends, less what the stricter rules take out."""
        if self.factorized:
            fake, outcome = (run_factorized if self.solver == "direct" else run_sweeps)(start, journal)
            return (fake, outcome) if outcome is not Outcome.CONVERGED else self._chosen(fake, journal)
        full, outcome = (run if self.solver == "direct" else run_em)(start, journal)
        return (full, outcome) if outcome is not Outcome.CONVERGED else self._chosen(full, journal)

    def _chosen(self, model: Chosen, journal: Journal) -> tuple[Chosen, Outcome]:
        return choose(model, journal, self.significance, self.max_active)

"""Variational Bayesian classification."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from skarce._validation import check_significance
from skarce.basis import KernelBasis
from skarce.designs import RowBlocks
from skarce.estimators.classifier import LatentClassifier
from skarce.estimators.tested_coefficients import TestedCoefficients
from skarce.methods.variational.prior import Prior
from skarce.methods.variational_classes.method import VariationalClassification

PRIORS = ("ard", "shared")
SOLVERS = ("direct", "em")
MANY_ROWS, LANDMARKS = 3000, 2000  # above this many rows, this many centers stand for all


class VBLSClassifier(TestedCoefficients, LatentClassifier):
    """Variational Bayesian classification by the bound of Jaakkola and Jordan: all candidates, of which most fade.

    The likelihood of every row is replaced by the best of a family of Gaussian lower bounds, and the precisions of the weights
    maximize the bound on the evidence that follows. With ``basis="rbf"`` it is the VBLS-RVM of the paper for two classes.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a transformer
        its output columns. All candidates are in at first. So above 3000 rows kernels have 2000 landmarks as centers, with a
        warning, unless `basis` says otherwise.
    prior : {"ard", "shared"} or array-like of shape (n_candidates,), default="ard"
        One precision for each weight, one for all, or one for all candidates with the same label. Precisions are those of
        standardized candidates, so units do not matter.
    solver : {"direct", "em"}, default="direct"
        ``"direct"`` takes long steps, each checked by the bound, and candidates leave on the way. ``"em"`` takes the sure ones of
        expectation maximization, and in the factorized form the sweeps of the paper, thousands of them. Both end at fixed points
        of the same bound, which are not always the same; on kernels the sweeps do not get there.
    factorized : bool, default=False
        The form of the paper, with independent weights and a fake target for each, a looser bound. It may collapse, with
        ``prior="shared"`` most of all. The default uses the full covariance of the weights.
    significance : None, float or "bound", default=None
        A stricter rule for what stays (direct solver, ``"ard"`` or labels): the level of a test of each weight against zero, by the
        full covariance (a chi-squared test for a group), or ``"bound"``, which takes candidates out as long as the bound grows.
    class_weight : dict, "balanced" or None, default=None
        A factor for the weight of the rows of each class. ``"balanced"`` makes all classes weigh the same.
    fit_intercept : bool, default=True
        A constant that is always in. The level at the center of the data has the prior N(0, 10^2).
    tol : float, default=1e-4
        The fit has converged when three steps in a row raise the bound by less than this.
    max_iter : int, default=10000
        Maximum number of steps for each class. A ConvergenceWarning is issued if it is reached.
    max_active : int, default=None
        Maximum number of candidates for each class; of more, the strongest stay.
    max_time : float, default=None
        Seconds after which the model so far is returned, with a ConvergenceWarning.
    verbose : int, default=0
        1 prints a line now and then, 2 a line for every step.
    random_state : int, RandomState or None, default=None
        Seeds landmarks and the learning of widths.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    active_ : ndarray of shape (n_active,)
        The candidates in the model, ascending; with more than two classes, those of all classes together.
    coef_ : ndarray of shape (n_active,) or (n_classes, n_active)
        Their weights in the log odds.
    intercept_ : float or ndarray of shape (n_classes,)
        The constant in the log odds.
    weight_precision_ : ndarray of shape (n_active,) or (n_classes, n_active)
        Prior precisions alpha of the weights, infinite if a class does not use a function.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        The centers of the active functions (kernel bases only).
    relevance_ : ndarray of shape (n_candidates,)
        1 - alpha_i Sigma_ii: how well the data determine each weight, 0 for functions left out.
    basis_ : transformer
        The active functions only.
    criterion_ : float
        The lower bound on the log evidence at the precisions found, summed over classes.
    criterion_sense_ : int
        1: larger is better.
    outcome_ : Outcome
        How the fit ended, in words.
    trace_ : structured ndarray
        One row per step: action, index (-1 for several at once), criterion, n_active, and with more than two classes output.
    posterior_ : LatentPosterior, or a list of one per class
        The weights with their uncertainty.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    RelevanceVectorClassifier : The evidence by the Laplace approximation, which scales to more candidates.
    VBLSRegressor : The method for numbers.

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

    def _method(self) -> VariationalClassification:
        prior = Prior(self.prior)
        prior.check(PRIORS)
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {list(SOLVERS)}, got {self.solver!r}.")
        if not isinstance(self.factorized, (bool, np.bool_)):
            raise ValueError(f"factorized must be True or False, got {self.factorized!r}.")
        check_significance(self.significance, self.solver, self.prior)
        return VariationalClassification(prior, self.solver, bool(self.factorized), self.significance)

    def _basis_for(self, X: Any) -> Any:
        basis, n_rows = super()._basis_for(X), 0 if isinstance(X, RowBlocks) else _num_samples(X)
        is_at_rows = isinstance(basis, KernelBasis) and basis.centers is None and basis.kernel != "precomputed"
        if not is_at_rows or n_rows <= MANY_ROWS:
            return basis
        warnings.warn(
            f"{n_rows} rows: {LANDMARKS} landmarks are the candidates, as all of them have to be held at once. "
            "Choose with KernelBasis(centers=...).",
            UserWarning,
            stacklevel=4,
        )
        seed = 0 if basis.random_state is None else basis.random_state
        return KernelBasis(**{**basis.get_params(deep=False), "centers": LANDMARKS, "random_state": seed})

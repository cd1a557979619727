"""Relevance vector classification."""

from __future__ import annotations

from typing import Any

from skarce.estimators.classifier import LatentClassifier
from skarce.methods.latent.sparse import SparseLatent


class RelevanceVectorClassifier(LatentClassifier):
    """Relevance vector machine for classification: a few kernel functions, each with a precision learned by evidence.

    The log odds are a weighted sum of functions. Every weight has a prior precision of its own, and the precisions maximize the
    evidence by the Laplace approximation, which drives most of them to infinity (Tipping 2001; Tipping and Faul 2003). Nothing is
    left to tune but the kernel, and no matrix of rows by rows is ever formed (``solver="fast"``).

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What may enter: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a transformer
        its output columns.
    solver : {"fast", "em"}, default="fast"
        ``"fast"`` adds functions to an empty model, re-estimates and deletes, on pools of candidates. ``"em"`` starts from all
        candidates (Tipping 2001), then goes on as ``"fast"`` does. Both end in a model that no single change improves by more than
        `tol`; they may be different ones.
    class_weight : dict, "balanced" or None, default=None
        A factor for the weight of the rows of each class. ``"balanced"`` makes all classes weigh the same.
    fit_intercept : bool, default=True
        A constant that is always in. The level at the center of the data has the prior N(0, 10^2).
    tol : float, default=1e-3
        The fit has converged when no single change raises the log evidence by more than this.
    max_iter : int, default=100000
        Maximum number of steps for each class. A ConvergenceWarning is issued if it is reached.
    max_active : int, default=None
        Maximum number of basis functions for each class.
    max_time : float, default=None
        Seconds after which the best model so far is returned, with a ConvergenceWarning.
    verbose : int, default=0
        1 prints a line now and then, 2 a line for every step.
    random_state : int, RandomState or None, default=None
        Seeds the first pool of candidates, and landmarks. None uses a fixed seed for the pool.

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
        The log evidence by the Laplace approximation, less a weak penalty of prior variances beyond what log odds are believed
        to reach (a scale of 10), summed over classes.
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
    VBLSClassifier : A lower bound of the evidence, with precisions that groups of candidates may share.
    RelevanceVectorPoissonRegressor : The same method for counts.
    RelevanceVectorRegressor : The same for numbers with normal noise.

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. JMLR 1, 211-244.
    Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS.
    MacKay, D. J. C. (1992). The evidence framework applied to classification networks. Neural Computation 4, 720-736.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from skarce import RelevanceVectorClassifier
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> model = RelevanceVectorClassifier().fit(X, y)
    >>> print(f"{len(model.active_)} functions, accuracy {model.score(X, y):.2f}")
    5 functions, accuracy 0.90
    >>> model.predict_proba([[0.0, 1.0]]).round(2)
    array([[0.91, 0.09]])
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        solver: str = "fast",
        class_weight: Any = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        max_active: int | None = None,
        max_time: float | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.solver = solver
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> SparseLatent:
        return SparseLatent(self.solver, random_state=self._seed())

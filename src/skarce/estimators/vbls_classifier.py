"""Variational Bayesian classification."""

from __future__ import annotations

from typing import Any

from skarce._parameters import check_choice, check_flag, check_significance
from skarce.estimators.classifier_streaming import StreamingClassifier
from skarce.estimators.tested_coefficients import TestedCoefficients
from skarce.methods.variational.prior import Prior
from skarce.methods.variational_classes.method import VariationalClassification

PRIORS = ("ard", "shared")
SOLVERS = ("direct", "em")


class VBLSClassifier(TestedCoefficients, StreamingClassifier):
    r"""Variational Bayesian classification by the bound of Jaakkola and Jordan.

    All candidates are in the model at the start, and most of them fade. The likelihood of each row is replaced by the best of a
    family of Gaussian lower bounds [1]_, and the precisions of the weights maximize the resulting bound on the evidence. With
    ``basis="rbf"`` this is the VBLS-RVM of [2]_ for two classes. More classes have one latent function each, against the rest.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000 (2e7 divided by the number of rows, 1000 at most). The evidence chooses the kernel
        function, and learns its widths. ``"rbf"`` is `KernelBasis()`: Gaussian kernels at the same places, with one width by a
        quick rule. ``"passthrough"`` uses the input columns themselves. A scikit-learn transformer uses its output columns. All
        candidates are in memory at first.
    prior : {"ard", "shared"} or array-like of shape (n_candidates,), default="ard"
        Which weights share a precision. ``"ard"`` is one precision for each weight, ``"shared"`` is one for all. An array has a
        label for each candidate: candidates with the same label share a precision, so they stay or leave together. Precisions refer
        to standardized candidates, so units do not matter.
    solver : {"direct", "em"}, default="direct"
        Algorithm. ``"direct"`` takes long steps, each checked by the bound, and candidates leave on the way. ``"em"`` takes the
        safe steps of expectation maximization (with ``factorized=True`` the sweeps of the paper), thousands of them, to fixed
        points of the same bound. They are not always the same, and on kernels the sweeps are too slow to reach one.
    factorized : bool, default=False
        True is the form of the paper, with independent weights and a fake target for each. Its bound is looser and it may collapse
        to no weights, mostly with ``prior="shared"``. False uses the full covariance of the weights.
    significance : float, "bound" or None, default=None
        Stricter rule for what stays (direct solver, ``"ard"`` or labels). A number is the level of a test of each weight against
        zero with the full covariance (a chi-squared test for a group). ``"bound"`` removes candidates as long as the bound grows.
        None keeps everything that the bound supports.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of the rows of each class. ``"balanced"`` gives all classes the same total weight. None changes
        nothing.
    fit_intercept : bool, default=True
        Whether to add a constant. The latent function at the center of the data has the prior N(0, 10^2).
    tol : float, default=1e-4
        Tolerance. The fit has converged if three steps in a row raise the bound by less than `tol`.
    max_iter : int, default=10000
        Maximum number of steps. With more than two classes, the limit applies to each class. With `significance`, the steps of the
        smaller models that are tried count too. A ConvergenceWarning is issued if it is reached.
    max_active : int or None, default=None
        Maximum number of basis functions. With more than two classes, the limit applies to each class. The strongest functions are
        kept.
    max_time : float or None, default=None
        Time limit in seconds for the whole fit, learned kernel widths included. Classes share it. The best model so far is
        returned with a ConvergenceWarning. One model of every class is always computed. It has at most as many functions as there
        are rows (but 1000 if rows are fewer).
    weights : {"counts", "relative"}, default="counts"
        What `sample_weight` means. With ``"counts"``, weight 2 equals the same row twice. With ``"relative"``, only ratios matter:
        weights are rescaled so that those of rows with positive weight have mean one.
    effective_samples : float, "auto" or None, default=None
        How many observations the rows are worth together, if they depend on each other. All weights are multiplied by one factor
        for that. None is the sum of the weights, and a number below 1 is a share of it. ``"auto"`` estimates the number from the
        autocorrelation of the Pearson residuals of a first fit; rows must be in order of time.
    calibrate_proba : {"auto", True, False} or splitter, default="auto"
        Whether to divide log odds, about those of the shares of the classes, by a temperature that left-out rows ask for. True fits
        the model again on five parts of the rows, at the same candidates and widths, and takes the temperature with the smallest
        log loss over left-out rows. ``"auto"`` does so if there are fewer than 1000 rows. A
        splitter of scikit-learn, or an iterable of (train, test) indices, says which rows to leave out.
    verbose : int, default=0
        Verbosity level. 1 shows progress and prints a few lines, 2 also prints a line for every step.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, for the learning of kernel widths, and for samples of rows. Pass an int for reproducible
        landmarks and widths.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    active_ : ndarray of shape (n_active,)
        Indices of the active functions among the candidates, in ascending order. With more than two classes, the functions that any
        class uses.
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Weight of each column of the basis in the log odds, 0 if it is not in the model. Only available if the basis
        is not one of kernels.
    coef_std_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Standard deviation of each of these weights, 0 if a column is not in the model. Only available if the basis is not one of
        kernels.
    dual_coef_ : ndarray of shape (1, n_active) or (n_classes, n_active)
        Weights of the kernels in the model, in the log odds. With more than two classes, one row for each class, and 0 if a class
        does not use the kernel. Only available if the basis is one of kernels.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constant of the log odds. 0.0 if ``fit_intercept=False``.
    weight_precision_ : ndarray of shape (n_active,) or (n_classes, n_active)
        Prior precision of each weight. It is infinite if a class does not use the function.
    temperature_ : float
        Number that log odds, about those of the shares of the classes, are divided by, which left-out rows have asked for. 1.0 if
        the model is not calibrated. `latent` and `posterior_` are those of the model, without it.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate, from 0 (left out) to 1. With more than two classes, the largest
        value over the classes.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Lower bound on the log evidence at the learned precisions, summed over the classes.
    criterion_sense_ : int
        1: a larger `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each step, with the fields ``action``, ``index`` (-1 for several functions at once), ``criterion`` and
        ``n_active``, and with more than two classes ``output``.
    posterior_ : LatentPosterior or list of LatentPosterior
        Posterior distribution of the weights. A list with one entry for each class if there are more than two classes.
    n_iter_ : int
        Number of steps, summed over the classes.
    n_effective_ : float
        Number of observations that the rows are worth: the sum of their weights, or what `effective_samples` has made of it.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    RelevanceVectorClassifier : The Laplace approximation, from the empty model. It scales to more rows.
    VBLSRegressor : The same idea for regression.
    sklearn.calibration.CalibratedClassifierCV : Calibrates probabilities from few rows.
    sklearn.linear_model.LogisticRegression : Linear classification with one penalty.

    Notes
    -----
    With the logistic function g, for every :math:`\xi`

    .. math::
        \log g(x) \ge \log g(\xi) + \tfrac12(x - \xi) - \lambda(\xi)(x^2 - \xi^2), \qquad \lambda(\xi) = \frac{\tanh(\xi/2)}{4\xi}.

    The right side is quadratic in x, so the weights have a normal posterior. The :math:`\xi` of all rows, the weights and the
    precisions are re-estimated in turn, and each step raises the bound.

    The method is good at selecting inputs, and its bound is a better guide to the kernel width than the evidence of the relevance
    vector machine. All candidates have to fit into memory. Without a temperature, probabilities are too confident if rows are few.
    Intervals of weights are computed from the curvature of the likelihood, because the bound is overconfident.

    References
    ----------
    .. [1] Jaakkola, T. S. and Jordan, M. I. (2000). Bayesian parameter estimation via variational methods. Statistics and Computing
       10.
    .. [2] Ting, J.-A., D'Souza, A., Vijayakumar, S. and Schaal, S. Efficient learning and feature selection in high-dimensional
       regression. Section 4.6.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from skarce import VBLSClassifier
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> model = VBLSClassifier().fit(X, y)
    >>> print(f"{len(model.active_)} functions, accuracy {model.score(X, y):.2f}")
    7 functions, accuracy 0.92
    """

    def __init__(
        self,
        basis: Any = "auto",
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
        weights: str = "counts",
        effective_samples: Any = None,
        calibrate_proba: Any = "auto",
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
        self.weights = weights
        self.effective_samples = effective_samples
        self.calibrate_proba = calibrate_proba
        self.verbose = verbose
        self.random_state = random_state

    def _check_streaming(self) -> None:
        if self.factorized:
            raise AttributeError(
                "partial_fit keeps a full matrix of all weights, but factorized=True has none. Use factorized=False."
            )

    def _method(self) -> VariationalClassification:
        prior = Prior(self.prior)
        prior.check(PRIORS)
        check_choice("solver", self.solver, SOLVERS)
        check_flag("factorized", self.factorized)
        check_significance(self.significance, self.solver, self.prior)
        return VariationalClassification(prior, self.solver, bool(self.factorized), self.significance)

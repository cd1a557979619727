"""Relevance vector classification."""

from __future__ import annotations

from typing import Any

from skarce.estimators.classifier_streaming import StreamingClassifier
from skarce.methods.latent.sparse import SparseLatent


class RelevanceVectorClassifier(StreamingClassifier):
    r"""Relevance vector machine for classification.

    The log odds are a weighted sum of functions, and each weight has its own prior precision. Maximizing the evidence sends most
    precisions to infinity, and the functions that are left are the model [1]_ [2]_. Two classes have one latent function. More
    classes have one each, against the rest.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000 (1e7 divided by the number of rows, 100 at least and 1000 at most). The evidence
        chooses the kernel function, and learns its widths. ``"rbf"`` is `KernelBasis()`: Gaussian kernels at the same places, with
        one width by a quick rule. ``"passthrough"`` uses the input columns themselves. A scikit-learn transformer uses its output
        columns.
    solver : {"fast", "em"}, default="fast"
        Algorithm. ``"fast"`` starts from the empty model, and adds, re-estimates and deletes functions on pools of candidates.
        ``"em"`` starts from all candidates [1]_, then goes on as ``"fast"`` does. Both end in a model that no single change
        improves by more than `tol`, but not always in the same model.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of the rows of each class. ``"balanced"`` gives all classes the same total weight. None changes
        nothing.
    fit_intercept : bool, default=True
        Whether to add a constant. The latent function at the center of the data has the prior N(0, 10^2).
    tol : float, default=1e-3
        Tolerance. The fit has converged if no single change raises the log evidence by more than `tol`.
    max_iter : int, default=100000
        Maximum number of steps. With more than two classes, the limit applies to each class. A ConvergenceWarning is issued if it
        is reached.
    max_active : int or None, default=None
        Maximum number of basis functions. With more than two classes, the limit applies to each class.
    max_time : float or None, default=None
        Time limit in seconds for the whole fit, learned kernel widths included. Classes share it. The best model so far is
        returned with a ConvergenceWarning.
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
        log loss over left-out rows. ``"auto"`` does
        so if there are fewer than 1000 rows. A splitter of scikit-learn, or an iterable of
        (train, test) indices, says which rows to leave out.
    verbose : int, default=0
        Verbosity level. 1 shows progress and prints a few lines, 2 also prints a line for every step.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, for the learning of kernel widths, for the first pool of candidates, and for samples of rows.
        Pass an int for reproducible landmarks and widths. The pool has a fixed seed if None.

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
        Prior precision alpha of each weight. It is infinite if a class does not use the function.
    temperature_ : float
        Number that log odds, about those of the shares of the classes, are divided by, which left-out rows have asked for. 1.0 if
        the model is not calibrated. `latent` and `posterior_` are those of the model, without it.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate, 1 - alpha_i Sigma_ii, from 0 (left out) to 1. With more than two
        classes, the largest value over the classes.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Log evidence by the Laplace approximation, minus a weak penalty on prior variances beyond the scale of 10 that log odds are
        believed to reach, summed over the classes.
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
    VBLSClassifier : A variational bound in place of the Laplace approximation.
    RelevanceVectorRegressor : Relevance vector machine for regression.
    sklearn.calibration.CalibratedClassifierCV : Calibrates probabilities from few rows.
    sklearn.svm.SVC : Another sparse kernel classifier, without uncertainty.

    Notes
    -----
    With labels 0 and 1, the logistic function g and the posterior mode :math:`\hat w`, the Laplace approximation of the log
    evidence is [3]_

    .. math::
        \log p(t) \approx \sum_n\log p(t_n|\hat f_n) - \tfrac12\hat w^TA\hat w + \tfrac12\log|A| - \tfrac12\log|\Phi^TB\Phi + A|,

    with :math:`\hat f = \Phi\hat w`, :math:`A = \operatorname{diag}\alpha` and
    :math:`B = \operatorname{diag}g(\hat f)(1 - g(\hat f))`. No matrix of rows by rows is formed with ``solver="fast"``.
    Probabilities are means over the posterior.

    The method is good at very small models with probabilities. Its evidence prefers kernels that are too narrow, so choose the
    width by ``KernelBasis(gamma="evidence")`` or by cross validation. Without a temperature, probabilities are too confident if
    rows are few, and too cautious if the classes are nearly separable. Large class weights can make kernels fit single rows.

    References
    ----------
    .. [1] Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. JMLR 1, 211-244.
    .. [2] Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS.
    .. [3] MacKay, D. J. C. (1992). The evidence framework applied to classification networks. Neural Computation 4, 720-736.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from skarce import RelevanceVectorClassifier
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> model = RelevanceVectorClassifier().fit(X, y)
    >>> print(f"{len(model.active_)} functions, accuracy {model.score(X, y):.2f}")
    4 functions, accuracy 0.90
    >>> model.predict_proba([[0.0, 1.0]]).round(2)
    array([[0.88, 0.12]])
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        solver: str = "fast",
        class_weight: Any = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        max_active: int | None = None,
        max_time: float | None = None,
        weights: str = "counts",
        effective_samples: Any = None,
        calibrate_proba: Any = "auto",
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
        self.weights = weights
        self.effective_samples = effective_samples
        self.calibrate_proba = calibrate_proba
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> SparseLatent:
        return SparseLatent(self.solver, random_state=self._seed())

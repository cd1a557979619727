"""Kernel matching pursuit for labels."""

from __future__ import annotations

from typing import Any

from skarce._parameters import check_budget, check_choice, check_count
from skarce.estimators.classifier import LatentClassifier
from skarce.methods.pursuit import LogisticPursuit
from skarce.methods.pursuit.row_pursuit import VARIANTS


class KernelMatchingPursuitClassifier(LatentClassifier):
    r"""Kernel matching pursuit with the logistic loss, for labels.

    Functions enter one after the other, by the gradient of the loss [1]_. Two classes have one latent function, the log odds. More
    classes have one each, against the rest.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    variant : {"back-fitting", "pre-fitting", "basic"}, default="back-fitting"
        Which function enters, and which weights move then. ``"basic"``: the function with the largest correlation with the slopes
        of the loss, and only its weight moves. A function can be chosen again. ``"back-fitting"``: the same choice, then all
        weights move, by Newton's method. ``"pre-fitting"``: the function that gains most if all weights move, as far as a parabola
        tells.
    patience : int, default=16
        Number of steps without improvement after which the search ends. Wide kernels resemble each other, and the first ones may
        help only together, so a search with little patience can end with one function. With
        ``variant="basic"``, moves of weights that improve the model before them do not count: it may be on its way out of a dip.
    n_basis : int or None, default=None
        Exact number of functions. With more than two classes, it applies to each class. None lets the evidence decide.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of the rows of each class. ``"balanced"`` gives all classes the same total weight. None changes
        nothing.
    fit_intercept : bool, default=True
        Whether to add a constant. The latent function at the center of the data has the prior N(0, 10^2).
    tol : float, default=1e-3
        Tolerance. The smallest gain of the log evidence that counts as an improvement.
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
        Verbosity level. 1 prints a line now and then, 2 prints a line for every step.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, and for the learning of kernel widths. Pass an int for reproducible landmarks and widths.

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
        Precision of the fixed prior of each weight. It is infinite if a class does not use the function.
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
        Log evidence by the Laplace approximation with the fixed prior of the weights, summed over the classes.
    criterion_sense_ : int
        1: a larger `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each step, with the fields ``action`` (``add``, or ``change`` if the basic variant moves a weight again),
        ``index``, ``criterion`` and ``n_active``, and with more than two classes ``output``.
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
    KernelMatchingPursuitRegressor : The same for numbers, with squared or Huber's loss.
    RelevanceVectorClassifier : Learns a precision for each weight; its models are smaller.

    Notes
    -----
    With labels 0 and 1 the loss is :math:`l = \log(1 + e^f) - tf`. The slopes :math:`g_i = t_i - 1/(1 + e^{-f_i})` choose the
    candidate with the largest :math:`(\varphi^Tg)^2/\varphi^T\varphi`; pre-fitting divides by what the model has left of
    :math:`\varphi^TB\varphi`, with the curvatures B of the loss.

    Separable classes would let weights grow without end. So each function has a weak prior: what it adds to the log odds has the
    standard deviation 10 over the rows, and so has the constant. The number of functions makes the log evidence at this prior
    large. Without a learned precision for each weight, many functions cost little: give `n_basis` for a small model.

    The rows must be in memory.

    References
    ----------
    .. [1] Vincent, P. and Bengio, Y. (2002). Kernel matching pursuit. Machine Learning 48, 165-187.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from skarce import KernelMatchingPursuitClassifier
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> model = KernelMatchingPursuitClassifier("rbf", n_basis=5).fit(X, y)
    >>> print(f"{len(model.active_)} functions, accuracy {model.score(X, y):.2f}")
    5 functions, accuracy 0.91
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        variant: str = "back-fitting",
        patience: int = 16,
        n_basis: int | None = None,
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
        self.variant = variant
        self.patience = patience
        self.n_basis = n_basis
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

    def _method(self) -> LogisticPursuit:
        check_choice("variant", self.variant, VARIANTS)
        return LogisticPursuit(self.variant, self.patience, self.n_basis)

    def _check_limits(self) -> None:
        super()._check_limits()
        check_count("patience", self.patience)
        check_budget(self.n_basis, self.max_active)

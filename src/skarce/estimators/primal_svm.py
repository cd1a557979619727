"""Support vector machines with few functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._atomic import snapshot
from skarce._available import available_if
from skarce._device import stacked
from skarce._parameters import as_number, check_count
from skarce._text import quoted
from skarce._typing import Floats
from skarce.designs import Design
from skarce.estimators.calibration import print_calibration
from skarce.estimators.classifier import LatentClassifier, labels_at
from skarce.estimators.on_basis import in_type_of
from skarce.estimators.on_dask import lazy_on_dask
from skarce.methods.primal_svm import PrimalSVM
from skarce.model_selection.calibration import temperature
from skarce.model_selection.cross_fitting import LeftOut


def offers_probabilities(estimator: Any) -> bool:
    """Return True if margins were calibrated, or will be. Raise an AttributeError if not."""
    found = vars(estimator).get("temperature_")
    is_off = estimator.calibrate_proba is False if found is None else not np.isfinite(found)
    if is_off and estimator.calibrate_proba is False:
        raise AttributeError(
            "margins are no probabilities, and this model is not calibrated. Fit it with calibrate_proba=True, or use "
            "RelevanceVectorClassifier."
        )
    if is_off:
        raise AttributeError(
            "margins are no probabilities, and this model could not be calibrated: rows must be left out for that, but all are "
            "equal, they are too few or not in memory, or max_time came first. With calibrate_proba=True, fit warns and says which."
            " Fit on more distinct rows, or use RelevanceVectorClassifier."
        )
    return True


class PrimalSVMClassifier(LatentClassifier):
    r"""Support vector machine with few functions, trained in the primal.

    Functions enter one by one, each as the best of some candidates drawn at random, and Newton steps on the rows that violate the
    margin move the weights [1]_. Two classes have one margin. More classes have one each, against the rest.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    C : float, default=1.0
        Weight of the loss relative to the penalty. Smaller is smoother.
    n_candidates : int, default=59
        Number of candidates, drawn at random, that are compared before one of them enters. 59 hold one of the best twentieth with a
        probability of 95 %.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of the rows of each class. ``"balanced"`` gives all classes the same total weight. None changes
        nothing.
    fit_intercept : bool, default=True
        Whether to add a constant. It has no penalty.
    tol : float, default=1e-3
        Tolerance. The search ends if three additions in a row have lowered the objective by less than this share of it.
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
        Whether probabilities are offered. A margin is no probability, so the model is fitted again on five parts of the rows, at
        the same candidates and widths, and margins are divided by the temperature with the smallest log loss over left-out rows.
        The fit takes about six times as long. With False there is no `predict_proba`. A splitter of scikit-learn, or an iterable of
        (train, test) indices, says which rows to leave out. ``"auto"`` is True if the rows are in memory.
    verbose : int, default=0
        Verbosity level. 1 prints a line now and then, 2 prints a line for every step.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, for the learning of kernel widths, and for the candidates that are compared. Pass an int for
        reproducible landmarks and widths. The candidates have a fixed seed if None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    active_ : ndarray of shape (n_active,)
        Indices of the active functions among the candidates, in ascending order. With more than two classes, the functions that any
        class uses.
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Weight of each column of the basis in the margin, 0 if it is not in the model. Only available if the basis
        is not one of kernels.
    coef_std_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        How far each of these weights may move at little cost, by the curvature of the objective, 0 if a column is not in the model.
        Only available if the basis is not one of kernels.
    dual_coef_ : ndarray of shape (1, n_active) or (n_classes, n_active)
        Weights of the kernels in the model, in the margin. With more than two classes, one row for each class, and 0 if a class
        does not use the kernel. Only available if the basis is one of kernels.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constant of the margin. 0.0 if ``fit_intercept=False``.
    weight_precision_ : ndarray of shape (n_active,) or (n_classes, n_active)
        Precision of each weight by the penalty K alone, 1 / (K^-1)_ii. It is infinite if a class does not use the function.
    temperature_ : float
        Number that margins are divided by to become log odds, which left-out rows have asked for. NaN if the model is not
        calibrated.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate, 1 - alpha_i Sigma_ii, from 0 (left out) to 1. alpha_i is
        `weight_precision_`, and Sigma the inverse of the second derivatives of the objective. With more than two classes, the
        largest value over the classes.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        The objective J, summed over the classes. Compare it only at the same `C`.
    criterion_sense_ : int
        -1: a smaller `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each addition, with the fields ``action``, ``index``, ``criterion`` and ``n_active``, and with more than two
        classes ``output``.
    posterior_ : LatentPosterior or list of LatentPosterior
        Weights, and the curvature of the objective at them. A list with one entry for each class if there are more than two
        classes. It is no distribution: an SVM has no likelihood.
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
    RelevanceVectorClassifier : Fewer functions and probabilities, without a parameter like `C`.
    KernelMatchingPursuitClassifier : Functions enter by the gradient of the logistic loss.
    sklearn.svm.SVC : All support vectors are functions of the model.

    Notes
    -----
    With labels :math:`t = \pm1`, the objective is [1]_

    .. math:: J = \tfrac12w^TKw + \tfrac C2\sum_i\max(0, 1 - t_if_i)^2, \qquad f = b + \Phi w,

    with the kernel matrix K of the chosen centers. If functions are not kernels, K is diagonal, with their variances over the rows.
    Candidates are compared by how much J falls if their weight moves alone. All weights move again each time the set has grown by a
    tenth. At the end the gradient of J is zero over all weights, which proves the minimum for these functions.

    `decision_function` returns margins f, and `predict` their sign. `max_active` sets the size of the model; without it, functions
    enter as long as they help by more than `tol`.

    If rows are not in memory (`RowBlocks`, Dask, a device), functions are chosen at a sample of at most 20,000 of them, in which
    each row counts for several. Then Newton steps, each of which is a pass over all rows, move the weights to the minimum of J over
    all rows. `trace_` has the steps at the sample.

    References
    ----------
    .. [1] Keerthi, S. S., Chapelle, O. and DeCoste, D. (2006). Building support vector machines with reduced classifier complexity.
       JMLR 7, 1493-1515.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from skarce import PrimalSVMClassifier
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> model = PrimalSVMClassifier("rbf", max_active=10).fit(X, y)
    >>> print(f"{len(model.active_)} functions, accuracy {model.score(X, y):.2f}")
    10 functions, accuracy 0.91
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        C: float = 1.0,
        n_candidates: int = 59,
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
        self.C = C
        self.n_candidates = n_candidates
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

    @lazy_on_dask
    def predict(self, X: Any) -> Any:
        """Return the class of the largest margin for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Class labels.
        """
        model = snapshot(self)
        margins = model._margins(model._checked_queries(X))
        return labels_at(model.classes_, stacked([0.0 * margins, margins], axis=1) if margins.ndim == 1 else margins)

    @lazy_on_dask
    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """Return the margin of each row: of the second class, or of each class against the rest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Only False: other classifiers return the standard deviation of log odds, but a margin has none.

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Margins. Beyond -1 and 1 a training row costs nothing.
        """
        if return_std:
            raise ValueError(
                "margins have no std. predict_proba says how sure the model is; log odds of VBLSClassifier have a std."
            )
        model = snapshot(self)
        X = model._checked_queries(X)
        return in_type_of(X, model._margins(X))

    predict_proba = available_if(offers_probabilities)(LatentClassifier.predict_proba)
    predict_log_proba = available_if(offers_probabilities)(LatentClassifier.predict_log_proba)

    def _margins(self, X: Any) -> Floats:
        return self._latent_at(X)[0]

    def _moderated(self, X: Any) -> tuple[Floats, Floats]:
        margins, std = self._latent_at(X)
        return margins / self.temperature_, std

    def _method(self) -> PrimalSVM:
        if not 0.0 < as_number(self.C) < np.inf:
            raise ValueError(f"C must be positive and finite, got {quoted(self.C)}.")
        check_count("n_candidates", self.n_candidates)
        return PrimalSVM(as_number(self.C), int(self.n_candidates), self._seed())

    def _is_advised(self, design: Design) -> bool:
        return True

    def _keep_calibration(self, left_out: LeftOut | None) -> list[str]:
        self.temperature_ = np.nan
        if left_out is not None:
            center = np.zeros(left_out.targets.shape[1])
            self.temperature_ = temperature(left_out.means, left_out.targets, left_out.weights, center)
            print_calibration("temperature", self.temperature_, self.verbose)
        return []

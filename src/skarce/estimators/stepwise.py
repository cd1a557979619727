"""Stepwise regression by F tests."""

from __future__ import annotations

from typing import Any

from skarce._parameters import as_number, check_choice
from skarce._text import quoted
from skarce.estimators.regressor import SparseRegressorBase
from skarce.estimators.tested_coefficients import TestedCoefficients
from skarce.methods.stepwise import Stepwise

DIRECTIONS = ("both", "forward", "backward")


class StepwiseRegressor(TestedCoefficients, SparseRegressorBase):
    r"""Stepwise least squares: inputs enter and leave one at a time by F tests.

    This is the classical method [1]_ [2]_, meant for comparison.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="passthrough"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    direction : {"both", "forward", "backward"}, default="both"
        ``"both"`` adds the most significant input and removes those that have become insignificant. ``"forward"`` only adds.
        ``"backward"`` starts from all inputs and only removes, and needs fewer inputs than rows.
    enter : float, default=0.05
        An input enters if its p-value is below this level.
    leave : float, default=0.1
        An input leaves if its p-value is above this level. It must be at least `enter`.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It uses one degree of freedom, and its uncertainty is part of the predictive std.
    tol : float, default=0.0
        Not used, present for API consistency.
    max_iter : int, default=10000
        Maximum number of steps. A ConvergenceWarning is issued if it is reached.
    max_active : int or None, default=None
        Maximum number of basis functions. With several targets, the limit applies to each target.
    max_time : float or None, default=None
        Time limit in seconds. The best model so far is returned with a ConvergenceWarning.
    weights : {"counts", "relative"}, default="counts"
        What `sample_weight` means. With ``"counts"``, weight 2 equals the same row twice. With ``"relative"``, only ratios matter:
        weights are rescaled so that those of rows with positive weight have mean one.
    effective_samples : float, "auto" or None, default=None
        How many observations the rows are worth together, if they depend on each other. All weights are multiplied by one factor
        for that. None is the sum of the weights, and a number below 1 is a share of it. ``"auto"`` estimates the number from the
        autocorrelation of the residuals of a first fit; rows must be in order of time.
    calibrate_std : {"auto", True, False} or splitter, default="auto"
        Whether to scale the predictive std by what left-out rows say. True fits the model again on five parts of the rows, at the
        same candidates and widths, and scales the std by the root mean square of (target - prediction) / std over left-out rows.
        ``"auto"`` does so if kernels or widths were learned and there are at most 50,000 rows, or if the data determine more than a
        tenth as many weights as there are rows. A splitter of scikit-learn, or an iterable of (train, test) indices, says which
        rows to leave out.
    moments : {"auto", "whole", "columns"}, default="auto"
        How much of the Gram matrix of the candidates is computed. ``"whole"`` computes all of it. ``"columns"`` computes one column
        for each function that enters. ``"auto"`` decides by a cost model and the memory budget (a quarter of scikit-learn's
        ``working_memory``).
    verbose : int, default=0
        Verbosity level. 1 shows progress and prints a few lines, 2 also prints a line for every step.
    random_state : int, RandomState instance or None, default=None
        Seed for landmark centers, for the learning of kernel widths, and for samples of rows. Pass an int for reproducible
        landmarks and widths.

    Attributes
    ----------
    active_ : ndarray of shape (n_active,)
        Indices of the active functions among the candidates, in ascending order. With several targets, the functions that any
        target uses.
    coef_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Weight of each column of the basis, 0 if it is not in the model. Only available if the basis is not one of
        kernels.
    coef_std_ : ndarray of shape (n_columns,) or (n_outputs, n_columns)
        Standard deviation of each of these weights, 0 if a column is not in the model. Only available if the basis is not one of
        kernels.
    dual_coef_ : ndarray of shape (n_active,) or (n_outputs, n_active)
        Weights of the kernels in the model. A weight is 0 if a target does not use the kernel. Only available if the basis is one
        of kernels.
    intercept_ : float or ndarray of shape (n_outputs,)
        Constant of the model. 0.0 if ``fit_intercept=False``.
    weight_precision_ : ndarray of shape (n_active,) or (n_outputs, n_active)
        Prior precision of each weight: 0, because there is no prior. It is infinite if a target does not use the input.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise: \|t - Phi w\|^2 divided by the degrees of freedom left.
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        1 for inputs in the model, 0 for all others.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Log likelihood, summed over the targets.
    criterion_sense_ : int
        1: a larger `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each step, with the fields ``action`` (``add`` or ``remove``), ``index``, ``criterion`` and ``n_active``, and
        with several targets ``output``.
    posterior_ : VariationalPosterior or list of VariationalPosterior
        Distribution of the weights. A list with one entry for each target if `y` is two-dimensional.
    n_iter_ : int
        Number of steps, summed over the targets.
    n_effective_ : float
        Number of observations that the rows are worth: the sum of their weights, or what `effective_samples` has made of it.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    VBLSRegressor : Selects inputs by a Bayesian bound.
    OrthogonalLeastSquaresRegressor : Forward selection by GCV or BIC.
    sklearn.feature_selection.SequentialFeatureSelector : Stepwise selection by cross validation.

    Notes
    -----
    An input that lowers the squared error q to :math:`q'`, and leaves v degrees of freedom, enters if

    .. math:: F = \frac{(q - q')\,v}{q'}

    has a p-value below `enter` under the F distribution with 1 and v degrees of freedom. The same test decides what leaves.

    The method is easy to explain. Its p-values promise more than they hold, because inputs are tested after they were selected.
    Nearly dependent inputs confuse it. If there are more inputs than rows, it may go on until no degrees of freedom are left;
    `max_active` helps.

    References
    ----------
    .. [1] Efroymson, M. A. (1960). Multiple regression analysis. In Ralston, A. and Wilf, H. S. (eds.), Mathematical methods for
       digital computers. Wiley.
    .. [2] Draper, N. R. and Smith, H. (1998). Applied regression analysis, 3rd edition. Wiley.

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
        weights: str = "counts",
        effective_samples: Any = None,
        calibrate_std: Any = "auto",
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
        self.weights = weights
        self.effective_samples = effective_samples
        self.calibrate_std = calibrate_std
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> Stepwise:
        check_choice("direction", self.direction, DIRECTIONS)
        enter, leave = as_number(self.enter), as_number(self.leave)
        if not 0.0 < enter <= leave <= 1.0:
            raise ValueError(
                f"enter and leave must satisfy 0 < enter <= leave <= 1, got {quoted(self.enter)} and {quoted(self.leave)}."
            )
        return Stepwise(self.direction, enter, leave)

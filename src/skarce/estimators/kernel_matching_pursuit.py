"""Kernel matching pursuit."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._parameters import as_number, check_choice
from skarce._text import quoted
from skarce.criteria import Criterion, ExplainedVariance
from skarce.estimators.forward_selection import ForwardRegressor
from skarce.methods.method import Method
from skarce.methods.pursuit import BasicPursuit, CorrelationOrder, HuberPursuit
from skarce.methods.pursuit.row_pursuit import VARIANTS

LOSSES = ("squared", "huber")


class KernelMatchingPursuitRegressor(ForwardRegressor):
    r"""Kernel matching pursuit: functions enter one by one, by their correlation with the residual.

    Of all candidates, the one that resembles the residual most enters, and weights move to make the loss small [1]_.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    variant : {"back-fitting", "pre-fitting", "basic"}, default="back-fitting"
        Which function enters, and which weights move then. ``"basic"``: the function with the largest correlation with the
        residual, and only its weight moves. A function can be chosen again. ``"back-fitting"``: the same choice, then all weights
        move (orthogonal matching pursuit). ``"pre-fitting"``: the function that leaves the smallest error after all weights have
        moved (orthogonal least squares).
    loss : {"squared", "huber"}, default="squared"
        What is made small. ``"huber"`` is for targets with outliers: beyond `threshold` the loss grows linearly. It needs the rows
        in memory. For labels, see `KernelMatchingPursuitClassifier`.
    threshold : float, default=1.345
        Where Huber's loss becomes linear, in units of the scale of the residuals. With 1.345 it keeps 95 % of the efficiency of
        least squares if the noise is normal. Only used if ``loss="huber"``.
    patience : int, default=16
        Number of steps without improvement after which the search ends. Wide kernels resemble each other, and the first ones may
        help only together, so a search with little patience can end with one function. With
        ``loss="huber"`` and ``variant="basic"``, moves of weights that improve the model before them do not count: it may be on
        its way out of a dip.
    n_basis : int or None, default=None
        Exact number of functions. With several targets, it applies to each target. The model has fewer functions only if the
        remaining candidates depend on those in the model. None lets generalized cross validation decide.
    size_prior : "auto" or None, default="auto"
        What happens if candidates are more than half as many as rows, and the model uses many degrees of freedom: more than half as
        many as rows if candidates are kernels, or a tenth if they are inputs. ``"auto"`` then compares the model with a few
        functions, which a search finds with a prior on the size of the set. If those are worth more, they are the only candidates.
        None keeps the model. So do `n_basis` and ``loss="huber"``.
    keep_path : bool, default=False
        Whether `with_n_basis` and `with_tol` can also return models larger than the final one, as far as the search went. They are
        for squared loss with back-fitting or pre-fitting.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It uses one degree of freedom, and its uncertainty is part of the predictive std.
    tol : float, default=1e-4
        Smallest relative reduction of GCV that counts as an improvement.
    max_iter : int, default=100000
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
        rows to leave out. With ``loss="huber"``, the median takes the place of the root mean square: the std is that of most rows,
        and does not cover outliers.
    moments : {"auto", "whole", "columns"}, default="auto"
        How much of the Gram matrix of the candidates is computed. ``"whole"`` computes all of it. ``"columns"`` computes one column
        for each function that enters. ``"auto"`` decides by a cost model and the memory budget (a quarter of scikit-learn's
        ``working_memory``).
    verbose : int, default=0
        Verbosity level. 1 prints a line now and then, 2 prints a line for every step.
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
        Prior precision of each weight: 0, because there is no prior. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise: the squared error divided by N - L for L functions (N - 1 - L with an intercept), or by the trace of
        the basic variant. With ``loss="huber"`` it is the squared scale of the residuals, of which outliers are no part.
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        1 for functions in the model, 0 for all others.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Generalized cross validation error V = N q / v^2 of the model, in the units of the squared target, summed over the targets.
        With ``loss="huber"``, q is twice the loss.
    criterion_sense_ : int
        -1: a smaller `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each step, with the fields ``action`` (``add``, or ``change`` if the basic variant moves a weight again),
        ``index``, ``criterion`` and ``n_active``, and with several targets ``output``. The last rows may be beyond the final model.
    posterior_ : Posterior or list of Posterior
        Posterior distribution of the weights. A list with one entry for each target if `y` is two-dimensional.
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
    OrthogonalLeastSquaresRegressor : Pre-fitting of squared loss, with other rules to stop.
    KernelMatchingPursuitClassifier : The same with the logistic loss, for labels.
    VBLSRegressor : With ``noise="student-t"``, a Bayesian method for targets with outliers.

    Notes
    -----
    Let :math:`g_i = -\partial l(t_i, f_i)/\partial f_i` be the slopes of the loss at the model, which are the residuals for squared
    loss. Back-fitting and the basic variant take the candidate with the largest

    .. math:: \frac{(\varphi^Tg)^2}{\varphi^T\varphi}.

    Pre-fitting takes the largest :math:`(\varphi^Tg)^2/\varphi^TP\varphi`, where P projects away from the functions in the model.
    With Huber's loss P is that of Newton's method, so this is the gain by a parabola.

    With squared loss the search needs sums over the rows only, so it takes `RowBlocks` and Dask data. The number of functions makes
    GCV small, :math:`V = Nq/v^2` with v = N - L (N - 1 - L with an intercept). The residual of the basic variant is a product R of
    projections times the target [2]_, and :math:`v = \operatorname{tr}R`. Its std is that of least squares on the same functions.

    Huber's loss [3]_ has the scale of the residuals, their median absolute value over 0.6745 times sqrt(N / v), computed after each
    step. In V, twice the loss takes the place of the squares.

    References
    ----------
    .. [1] Vincent, P. and Bengio, Y. (2002). Kernel matching pursuit. Machine Learning 48, 165-187.
    .. [2] Mallat, S. and Zhang, Z. (1993). Matching pursuits with time-frequency dictionaries. IEEE Transactions on Signal
       Processing 41, 3397-3415.
    .. [3] Huber, P. J. (1981). Robust statistics. Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import KernelMatchingPursuitRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> y[::20] += 5.0
    >>> model = KernelMatchingPursuitRegressor("rbf", loss="huber", n_basis=6).fit(X, y)
    >>> mean = model.predict([[1.5]])
    >>> print(f"{len(model.active_)} functions, {mean[0]:.1f}")
    6 functions, 1.0
    """

    _instead_of_rows = 'loss="squared"'

    def __init__(
        self,
        basis: Any = "auto",
        *,
        variant: str = "back-fitting",
        loss: str = "squared",
        threshold: float = 1.345,
        patience: int = 16,
        n_basis: int | None = None,
        size_prior: str | None = "auto",
        keep_path: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 100_000,
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
        self.variant = variant
        self.loss = loss
        self.threshold = threshold
        self.patience = patience
        self.n_basis = n_basis
        self.size_prior = size_prior
        self.keep_path = keep_path
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

    def _criterion(self) -> Criterion:
        return ExplainedVariance() if self.variant == "pre-fitting" else CorrelationOrder()

    def _method(self) -> Method[Any]:
        self._check_choices()
        if self.loss == "huber":
            return HuberPursuit(self.variant, as_number(self.threshold), self.patience, as_number(self.tol), self.n_basis)
        if self.variant == "basic":
            return BasicPursuit(self.patience, as_number(self.tol), self.n_basis, self._crowded(applies=self._judges_size()))
        return super()._method()

    def _expects_outliers(self) -> bool:
        return bool(self.loss == "huber")

    def _why_no_path(self) -> str:
        choice = 'loss="huber"' if self.loss == "huber" else 'variant="basic"' if self.variant == "basic" else None
        if choice is None:
            return super()._why_no_path()
        return f"{choice} keeps no models of other sizes. Fit again with the n_basis or tol that you want."

    def _check_choices(self) -> None:
        check_choice("variant", self.variant, VARIANTS)
        if isinstance(self.loss, str) and self.loss == "logistic":
            raise ValueError('loss="logistic" is for labels, and this is a regressor. Use KernelMatchingPursuitClassifier.')
        check_choice("loss", self.loss, LOSSES)
        if not 0.0 < as_number(self.threshold) < np.inf:
            raise ValueError(f"threshold must be positive and finite, got {quoted(self.threshold)}.")

    def _check_streaming(self) -> None:
        if self.loss != "squared":
            raise AttributeError(
                f"partial_fit and fit_moments keep no rows, but loss={quoted(self.loss)} needs them for its slopes. Use "
                'loss="squared".'
            )

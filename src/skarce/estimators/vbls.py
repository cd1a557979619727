"""Variational Bayesian least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._parameters import as_number, check_choice, check_flag, check_forgetting, check_significance
from skarce._text import quoted
from skarce.estimators.regressor import SparseRegressorBase
from skarce.estimators.row_by_row import RowByRow
from skarce.estimators.tested_coefficients import TestedCoefficients
from skarce.methods.variational.method import VariationalLeastSquares
from skarce.methods.variational.prior import Prior
from skarce.methods.variational.student_noise import RobustLeastSquares
from skarce.posteriors.variational import VariationalPosterior
from skarce.states.outcome import Outcome

PRIORS = ("none", "shared", "ard")
CHOICES = {
    "solver": ("direct", "em"),
    "start": ("auto", "all", "both"),
    "posterior": ("gaussian", "student-t"),
    "noise": ("gaussian", "student-t"),
    "restarts": ("doubling", "always"),
}
NOTHING_LEFT = (
    "Least squares with as many candidates as rows fits any target, so the noise cannot be estimated: neither std nor tests mean "
    'anything. Use prior="ard" or "shared".'
)
COLLAPSED = (
    'The factorized form of prior="shared" has collapsed to a model without weights, as it does if their mean squared t statistic '
    "is below about 4 or rows are few. Use factorized=False."
)


class VBLSRegressor(TestedCoefficients, RowByRow, SparseRegressorBase):
    r"""Variational Bayesian least squares: a linear model that finds out which inputs matter.

    Each weight has its own precision, or shares one with other weights. Precisions and noise maximize a lower bound on the density
    of the targets, and weights without support go to zero [1]_. With ``basis="rbf"`` this is the VBLS-RVM of the paper.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="passthrough"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 2000. The evidence chooses the kernel function, and learns its widths. ``"rbf"`` is
        `KernelBasis()`: Gaussian kernels at the same places, with one width by a quick rule. ``"passthrough"`` uses the input
        columns themselves. A scikit-learn transformer uses its output columns.
    prior : {"ard", "shared", "none"} or array-like of shape (n_candidates,), default="ard"
        Which weights share a precision. ``"ard"`` is one precision for each weight, ``"shared"`` is one for all, ``"none"`` is
        least squares. An array has a label for each candidate: candidates with the same label share a precision, so they stay or
        leave together. Precisions refer to standardized candidates, so units do not matter.
    posterior : {"gaussian", "student-t"}, default="gaussian"
        Distribution that `coef_marginals` uses. The weights are the same. `coef_interval` and `coef_tests` always use Student's t,
        because the noise is estimated.
    solver : {"direct", "em"}, default="direct"
        Algorithm. ``"direct"`` solves some tens of ridge regressions. ``"em"`` makes the sweeps of the paper, thousands of them (on
        kernels many more), to the fixed points that the direct solver reaches from all candidates.
    start : {"auto", "all", "both"}, default="auto"
        Where the search starts. ``"all"`` starts from all candidates, as the paper does. ``"both"`` (direct solver and ``"ard"``
        only) also starts from none, adds what stands out among the candidates, and takes the better model: fewer inputs, and a much
        smaller error if there are about as many inputs as rows. ``"auto"`` is ``"all"`` for kernels, which predict better if more
        of them overlap, and ``"both"`` otherwise.
    factorized : bool, default=False
        Only for ``prior="shared"``. True is the form of the paper with independent weights. It collapses to no weights if their
        mean squared t statistic is below about 4. False uses the full covariance, which is Bayesian ridge regression.
    noise : {"gaussian", "student-t"}, default="gaussian"
        Distribution of the noise. ``"student-t"`` is for targets with outliers: rows far from the fit count less. It needs the rows
        in memory and the direct solver, and reads them ten to thirty times.
    degrees_of_freedom : float or None, default=None
        Degrees of freedom of Student's t noise, above 2. None learns them, between 2.1 and 1000.
    significance : float, "bound" or None, default=None
        Stricter rule for what stays (direct solver, ``"ard"`` or labels). A number is the level of a t test with the full
        covariance (an F test for a group). ``"bound"`` removes candidates as long as the bound grows. None keeps everything that
        the bound supports.
    forgetting : float, default=1.0
        Factor on the weight of all earlier batches at each call of `partial_fit`. 1.0 never forgets.
    restarts : {"doubling", "always"}, default="doubling"
        When `partial_fit` solves from scratch. ``"doubling"`` takes a few steps after each batch (``"ard"`` or labels, direct
        solver), and solves from scratch when the number of rows has doubled. After a batch of a single row, weights and noise are
        exact for the present ridges, which take one step; pruned inputs are tested again after some rows. ``"always"`` solves from
        scratch after each batch, which gives the same model as `fit` on all rows.
    fit_intercept : bool, default=True
        Whether to add an unpenalized constant. It is integrated out, and its uncertainty is part of the predictive std.
    tol : float, default=1e-8
        Tolerance. The fit has converged if no weight changes the fit by more than this share of the target.
    max_iter : int, default=10000
        Maximum number of steps. A ConvergenceWarning is issued if it is reached. A step is one solution, or one sweep. With
        ``noise="student-t"`` it is one round of row weights, and the limit also applies to the steps within each round. With
        `significance`, the steps of the smaller models that are tried count too.
    max_active : int or None, default=None
        Maximum number of basis functions. With several targets, the limit applies to each target. The strongest functions are kept.
    max_time : float or None, default=None
        Time limit in seconds. The best model so far is returned with a ConvergenceWarning.
        With the direct solver it has at most as many functions as there are rows (but 1000 if rows are fewer).
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
        Prior precision of each weight. It is infinite if a target does not use the function.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Variance of the noise. For ``prior="none"`` it is \|t - Phi w\|^2 / (N - rank).
    std_scale_ : float or ndarray of shape (n_outputs,)
        Factor on the std of `predict`, which left-out rows have asked for. 1.0 if the model is not calibrated. `posterior_` and
        `noise_variance_` are those of the model, without this factor.
    relevance_ : ndarray of shape (n_candidates,)
        How well the data determine the weight of each candidate, gamma, from 0 (left out) to 1. With several targets, the largest
        value over the targets.
    basis_ : transformer
        Fitted basis, reduced to the active functions.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        Centers of the active functions. Only available for kernels other than ``"precomputed"``.
    criterion_ : float
        Lower bound on the log density of the targets (with an intercept: of their N - 1 contrasts), up to the constant of a
        hyperprior that is flat in log alpha, summed over the targets. A candidate that is left out contributes nothing. It is the
        log evidence for ``prior="shared"``, and the log likelihood for ``prior="none"``.
    criterion_sense_ : int
        1: a larger `criterion_` is better.
    outcome_ : Outcome
        How the fit ended. Its text gives advice.
    trace_ : structured ndarray of shape (n_steps,)
        One row for each solution or sweep, with the fields ``action``, ``index`` (-1 for several at once), ``criterion`` and
        ``n_active``, and with several targets ``output``. The bound never falls, except if `significance` or `max_active` remove
        something.
    posterior_ : VariationalPosterior or list of VariationalPosterior
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
    RelevanceVectorRegressor : The evidence itself. It keeps weaker inputs too.
    VBLSClassifier : The same idea for classes.
    StepwiseRegressor : The classical method that selects inputs.
    sklearn.linear_model.ARDRegression : Relevance determination with all inputs by the evidence.

    Notes
    -----
    Let h be the squared norm of a candidate about its mean, :math:`\lambda = s\alpha` its ridge, :math:`u = \lambda/h`, and s the
    noise variance, divided among the candidates in shares :math:`\omega`. The bound is

    .. math::
        L = -\tfrac n2\log 2\pi s - \frac{|t - \Phi w|^2 + w^T\Lambda w}{2s} + \tfrac12\sum\log(1-\gamma), \qquad
        \gamma = \frac{1}{1+\omega u}, \quad \omega = \frac{\gamma}{\sum\gamma}.

    It needs no inverse, only weights, so it is cheaper than the evidence of the relevance vector machine. It is also stricter: an
    input stays if its t statistic is about 2 or more, and about 1 or more in the relevance vector machine.

    The method is good at many inputs of which few matter, also with more inputs than rows, outliers or streams. It has many fixed
    points, so nearly equal inputs may replace each other. A large group of weak inputs can vanish: use ``prior="shared"`` if
    everything matters a little.

    With ``noise="student-t"`` rows have weights :math:`\tau`, and with weighted rows alone the covariance of the weights would be
    :math:`s(\Phi^TT\Phi+\Lambda)^{-1}`. That is too small, because nobody knows which rows are outliers. So :math:`\Phi^TT\Phi` is
    multiplied by the share of the information that this leaves [2]_, the inverse of the sandwich variance [3]_. For many rows of
    Student's t noise it is :math:`(\nu+1)/(\nu+3)` [4]_. The std of weights, their tests and intervals, and the std of predictions
    have it; the bound, and what it chooses, do not. It assumes that the noise does not depend on the inputs.

    References
    ----------
    .. [1] Ting, J.-A., D'Souza, A., Vijayakumar, S. and Schaal, S. Efficient learning and feature selection in high-dimensional
       regression.
    .. [2] Louis, T. A. Finding the observed information matrix when using the EM algorithm. Journal of the Royal Statistical
       Society B 44, 1982.
    .. [3] Huber, P. J. Robust Statistics. Wiley, 1981, section 7.6.
    .. [4] Lange, K. L., Little, R. J. A. and Taylor, J. M. G. Robust statistical modeling using the t distribution. Journal of the
       American Statistical Association 84, 1989.

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
    >>> model.coef_[model.active_].round(1)
    array([ 3., -1.])
    >>> model.coef_interval().round(2)
    array([[ 2.95,  3.09],
           [-1.05, -0.92]])
    """

    _instead_of_rows = 'noise="gaussian"'

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
        weights: str = "counts",
        effective_samples: Any = None,
        calibrate_std: Any = "auto",
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
        self.weights = weights
        self.effective_samples = effective_samples
        self.calibrate_std = calibrate_std
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    # Fitted model -------------------------------------------------------------------------------------------------------

    def coef_marginals(self) -> Any:
        """Return the paper's posterior of single weights, with independent weights.

        The paper assumes that the weights are independent given the fake targets. These distributions are therefore narrower than
        `coef_interval`, by a factor of about the square root of the number of inputs that matter.

        Returns
        -------
        marginals : frozen distribution of scipy.stats
            Normal, or Student's t with ``posterior="student-t"``, with one entry for each active weight.
        """
        posterior = self._only_posterior()
        if not posterior.is_factorized:
            raise ValueError(
                'prior="shared" with factorized=False and prior="none" have no factorized posterior. Use coef_interval.'
            )
        return posterior.marginals(self.posterior)

    # Fitting --------------------------------------------------------------------------------------------------------------

    def _method(self) -> VariationalLeastSquares | RobustLeastSquares:
        self._check_choices()
        method = VariationalLeastSquares(
            prior=Prior(self.prior),
            solver=self.solver,
            grows=not self._is_on_kernels() if self.start == "auto" else self.start == "both",
            factorized=self.factorized,
            significance=self.significance,
            follows=self.restarts == "doubling",
        )
        return method if self.noise == "gaussian" else RobustLeastSquares(method, self.degrees_of_freedom)

    def _check_streaming(self) -> None:
        if self.noise != "gaussian":
            raise AttributeError(
                'partial_fit and fit_moments keep no rows, but noise="student-t" needs them to update their weights. Use '
                'noise="gaussian".'
            )

    def _is_doubtful(self, posterior: VariationalPosterior) -> bool:
        """Whether the outcome always deserves a warning. Least squares without noise has a warning of its own."""
        return posterior.outcome.deserves_a_warning

    def _warnings(self, posteriors: list[VariationalPosterior]) -> list[str]:
        messages, prior = super()._warnings(posteriors), Prior(self.prior)
        outcomes = [posterior.outcome for posterior in posteriors]
        if prior.is_shared and self.factorized and Outcome.NOTHING_HELPS in outcomes:
            messages.append(COLLAPSED)
        if prior.is_none and Outcome.NO_NOISE in outcomes:
            messages.append(NOTHING_LEFT)
        return messages

    def _check_choices(self) -> None:
        Prior(self.prior).check(PRIORS)
        for name, known in CHOICES.items():
            check_choice(name, getattr(self, name), known)
        check_flag("factorized", self.factorized)
        freedom = self.degrees_of_freedom
        if freedom is not None and not 2.0 < as_number(freedom) < np.inf:
            raise ValueError(
                f"degrees_of_freedom must be a finite number above 2, or None to learn it, got {quoted(freedom)}. For infinity use "
                'noise="gaussian".'
            )
        if freedom is not None and self.noise == "gaussian":
            raise ValueError(f'degrees_of_freedom={quoted(freedom)} needs noise="student-t", got noise="gaussian".')
        check_forgetting(self.forgetting)
        if self.noise == "student-t" and self.solver != "direct":
            raise ValueError(f'noise="student-t" needs solver="direct", got solver={quoted(self.solver)}.')
        check_significance(self.significance, self.solver, self.prior)

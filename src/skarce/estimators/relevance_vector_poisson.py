"""Relevance vector regression of counts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import column_or_1d

from skarce._atomic import snapshot
from skarce._available import available_if
from skarce._device import sqrt, to_device, to_host
from skarce._parameters import check_count, check_coverage, generator_of
from skarce._scales import check_targets
from skarce._typing import Floats
from skarce._validation import checked_array, numeric_targets
from skarce.designs import Design, Rows, Worth
from skarce.estimators.base import as_counts
from skarce.estimators.calibration import print_calibration
from skarce.estimators.latent_streaming import LatentStreaming
from skarce.estimators.on_basis import in_type_of
from skarce.estimators.on_dask import lazy_on_dask
from skarce.estimators.on_device import check_on_host
from skarce.estimators.rows_in_memory import FIT_OR_BATCHES, SOME_ROWS, takes_rows_in_memory
from skarce.estimators.score_on_dask import DEVIANCE_RANGE, EXPLAINED_DEVIANCE, NO_EVENT, score_on_dask
from skarce.estimators.streaming import can_stream
from skarce.likelihoods import Poisson
from skarce.likelihoods.poisson import count_quantiles, drawn_counts, variance_stabilized
from skarce.methods.latent import SparseLatent
from skarce.methods.latent.landmarks import Landmarks
from skarce.model_selection.calibration import dispersion
from skarce.model_selection.cross_fitting import LeftOut
from skarce.posteriors.latent import LatentPosterior

# Counts say more than labels do, so more functions stay, and every step costs more.
LANDMARKS = Landmarks(most=1500, most_elements=4_500_000)


class RelevanceVectorPoissonRegressor(RegressorMixin, LatentStreaming):
    r"""Relevance vector machine for counts.

    The log rate is a weighted sum of a few functions. The target is a count. If rows were observed for different times, or over
    different areas, the target is the rate (count over exposure) and ``sample_weight`` is the exposure, as in scikit-learn's
    `PoissonRegressor`. Every weight has its own prior precision. The precisions maximize the evidence by the Laplace
    approximation, which drives most of them to infinity. Nothing is left to tune.

    Parameters
    ----------
    basis : {"auto", "rbf", "passthrough"} or transformer, default="auto"
        Candidate basis functions. ``"auto"`` is ``KernelBasis("auto", gamma="learned")``: kernels at the training inputs, or at
        landmarks if there are more than 3000 (4.5e6 divided by the number of rows, 100 at least). The evidence chooses the kernel
        function, and learns its widths. ``"rbf"`` is `KernelBasis()`: Gaussian kernels at the same places, with one width by a
        quick rule. ``"passthrough"`` uses the input columns themselves. A scikit-learn transformer uses its output columns.
    solver : {"fast", "em"}, default="fast"
        ``"fast"`` adds functions to an empty model, re-estimates and deletes, on pools of candidates. ``"em"`` starts from all
        candidates (Tipping 2001), then goes on as ``"fast"`` does. Both end in a model that no single change improves by more than
        `tol`; they may be different ones.
    fit_intercept : bool, default=True
        A constant that is always in. Its prior is N(log of the mean rate, 10^2), so that the unit of exposure does not matter.
        Without it, the prior of the log rate is centered at zero.
    tol : float, default=1e-3
        The fit has converged when no single change raises the log evidence by more than this.
    max_iter : int, default=100000
        Maximum number of steps. A ConvergenceWarning is issued if it is reached.
    max_active : int, default=None
        Maximum number of basis functions.
    max_time : float, default=None
        Seconds after which the best model so far is returned, with a ConvergenceWarning. Learned kernel widths are included.
    weights : {"counts", "relative"}, default="counts"
        What `sample_weight` means. With ``"counts"`` it is an exposure, or weight 2 equals the same row twice. With ``"relative"``,
        only ratios matter: weights are rescaled so that those of rows with positive weight have mean one.
    effective_samples : float, "auto" or None, default=None
        How many observations the rows are worth together, if they depend on each other. All weights are multiplied by one factor
        for that. None is the number of rows with positive weight, and a number below 1 is a share of it. ``"auto"`` estimates the
        number from the autocorrelation of the Pearson residuals of a first fit; rows must be in order of time.
    calibrate_proba : {"auto", True, False} or splitter, default="auto"
        Whether to multiply the variance of new counts by a dispersion that left-out rows ask for. True fits the model again on five
        parts of the rows, at the same candidates and widths, and takes the dispersion, at least 1, with the smallest log loss over
        left-out rows. ``"auto"`` does so if there are fewer than 1000 rows. A splitter of
        scikit-learn, or an iterable of (train, test) indices, says which rows to leave out.
    verbose : int, default=0
        1 shows progress and prints a few lines, 2 also prints a line for every step.
    random_state : int, RandomState or None, default=None
        Seeds the first pool of candidates, and landmarks. None uses a fixed seed for the pool.

    Attributes
    ----------
    active_ : ndarray of shape (n_active,)
        The candidates in the model, ascending.
    coef_ : ndarray of shape (n_columns,)
        Weight of each column of the basis in the log rate, 0 if it is not in the model. Only available if the basis
        is not one of kernels.
    coef_std_ : ndarray of shape (n_columns,)
        Standard deviation of each of these weights, 0 if a column is not in the model. Only available if the basis is not one of
        kernels.
    dual_coef_ : ndarray of shape (n_active,)
        Weights of the kernels in the model, in the log rate. Only available if the basis is one of kernels.
    intercept_ : float
        The constant in the log rate.
    weight_precision_ : ndarray of shape (n_active,)
        Prior precisions alpha of the weights.
    relevance_vectors_ : ndarray of shape (n_active, n_features)
        The centers of the active functions (kernel bases only).
    temperature_ : float
        Factor on the variance of new counts, which left-out rows have asked for. 1.0 if the model is not calibrated. `latent` and
        `posterior_` are those of the model, without it.
    relevance_ : ndarray of shape (n_candidates,)
        1 - alpha_i Sigma_ii: how well the data determine each weight, 0 for functions left out.
    basis_ : transformer
        The active functions only.
    criterion_ : float
        The log evidence by the Laplace approximation, less a weak penalty of prior variances beyond what log rates are believed to
        reach (a scale of 10). Rates and exposures change it by a constant, so compare it only for the same targets and weights.
    criterion_sense_ : int
        1: larger is better.
    outcome_ : Outcome
        How the fit ended, in words.
    trace_ : structured ndarray
        One row per step: action, index (-1 for several at once), criterion, n_active.
    posterior_ : LatentPosterior
        The weights with their uncertainty.
    n_iter_ : int
        Number of steps.
    n_effective_ : float
        Number of observations that the rows are worth: the number of rows, or what `effective_samples` has made of it.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    See Also
    --------
    RelevanceVectorClassifier : The same method for classes.
    RelevanceVectorRegressor : The same for numbers with normal noise.
    sklearn.linear_model.PoissonRegressor : All inputs with one penalty, without uncertainty.

    Notes
    -----
    With the log rate :math:`f = \Phi w + b`, the row :math:`(t, c)` of a rate t and an exposure c has the log likelihood
    :math:`c\,(tf - e^f - \log t!)`. With :math:`B = \operatorname{diag}(ce^f)` and :math:`H = \Phi^TB\Phi + A` at the mode,

    .. math:: \log p(t) \approx \log p(t|\hat w) - \tfrac12\hat w^TA\hat w + \tfrac12\log|A| - \tfrac12\log|H|.

    At a new row f has the mode m and the variance v (`latent`). The rate is taken for a gamma variable whose logarithm has this
    mode and curvature: the posterior of f is not symmetric, and a normal distribution would exaggerate rates by orders of magnitude
    if nothing was counted nearby. The prediction is its mean, :math:`\mu = e^m`, and a new count with exposure c is negative
    binomial with mean :math:`c\mu` and variance :math:`c\mu + v(c\mu)^2`, the Poisson noise and the uncertainty of the rate. With
    an intercept the predictions for the training rows, times their exposures, add up to what was counted, but for the weak prior of
    the constant.

    Kernel widths are learned from the square roots of the rates, whose noise
    hardly depends on the rate, with exposures relative to their mean.

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. JMLR 1, 211-244.
    Tipping, M. E. and Faul, A. C. (2003). Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS.
    McCullagh, P. and Nelder, J. A. (1989). Generalized Linear Models. Chapman and Hall, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import RelevanceVectorPoissonRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (400, 1))
    >>> days = rng.uniform(1, 10, 400)
    >>> counts = rng.poisson(days * np.exp(1 + np.sin(X[:, 0])))
    >>> model = RelevanceVectorPoissonRegressor().fit(X, counts / days, sample_weight=days)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.1f} +- {std[0]:.1f} events a day")
    3 functions, 7.4 +- 2.8 events a day
    """

    def __init__(
        self,
        basis: Any = "auto",
        *,
        solver: str = "fast",
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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,)
            Counts, or rates (counts divided by exposures). Not negative, and not all zero.
        sample_weight : array-like of shape (n_samples,), default=None
            Exposures of rates. For counts, the number of times that each row counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return super().fit(X, y, sample_weight)

    @available_if(can_stream)
    @takes_rows_in_memory(FIT_OR_BATCHES)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Update the model with a batch of rows.

        The batch is fitted next to what is left of earlier ones: their log likelihood, expanded to second order about the model of
        its time. So many small batches give a similar model as `fit` on all rows, but not the same. A batch is added as a whole or
        not at all. The method is available if the candidates are fixed in advance: ``basis="passthrough"``, a transformer, or
        kernels at given centers or landmarks. Landmarks, widths and all else that a basis learns come from the first batch, in
        which at least one event must be counted. Streams are not calibrated.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of the batch.
        y : array-like of shape (n_samples,)
            Counts, or rates.
        sample_weight : array-like of shape (n_samples,), default=None
            Exposures of rates. For counts, the number of times that each row counts.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._absorb(X, y, sample_weight)

    @lazy_on_dask
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the count per unit of exposure, and how far a new count with unit exposure may be from it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Also return the standard deviation of a new count with unit exposure: Poisson noise and uncertainty of the rate, times
            the square root of `temperature_`.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only with ``return_std=True``.
        """
        model = snapshot(self)
        X = model._checked_queries(X)
        predicted, variance = model._mean_and_variance(X)
        predictions = (predicted, sqrt(variance)) if return_std else (predicted,)
        return in_type_of(X, *predictions, may_be_infinite=True)

    @lazy_on_dask
    def predict_interval(self, X: Any, coverage: float = 0.95) -> tuple[Floats, Floats]:
        """Return intervals that cover new counts with unit exposure.

        A new count is negative binomial, with the mean and the std of `predict`. If this std is below that of a Poisson
        distribution, the count is Poisson. The ends are the quantiles at (1 - coverage) / 2 and (1 + coverage) / 2, so they are
        whole numbers, and the intervals cover at least the share that is asked for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.95
            Share of new counts that the intervals are to cover, between 0 and 1.

        Returns
        -------
        lower : ndarray of shape (n_samples,)
        upper : ndarray of shape (n_samples,)
        """
        share = check_coverage(coverage)
        model = snapshot(self)
        X = model._checked_queries(X)
        tails = 0.5 * np.array([[1.0 - share], [1.0 + share]])
        mean, variance = model._mean_and_variance(X)
        quantiles = count_quantiles(tails, to_host(mean), to_host(variance))  # on the host: devices do not have them
        lower, upper = in_type_of(X, *(to_device(ends, mean) for ends in quantiles), may_be_infinite=True)
        return lower, upper

    @takes_rows_in_memory(SOME_ROWS)
    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Floats:
        """Draw new counts with unit exposure from the predictive distribution.

        Each draw has one set of weights for all rows, so the rates of a draw go together. Each rate has a gamma distribution, and
        each count is Poisson given its rate. If `temperature_` is above 1, counts are drawn with as much more variance. Mean and
        standard deviation of the draws are those of `predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws. Pass an int for the same draws in every call.

        Returns
        -------
        y_samples : ndarray of shape (n_samples_X, n_samples)
            Counts.
        """
        model = snapshot(self)
        check_count("n_samples", n_samples)
        rng = generator_of(random_state)
        X = model._checked_queries(X)
        check_on_host(X, "sample_y")
        posterior, (mean, std) = model.posterior_, model._latent_at(X)
        normals = rng.standard_normal((posterior.n_parameters, int(n_samples)))
        deviations = [posterior.deviations(model._phi(part), normals) for part in model._parts(X)]
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.concatenate(deviations) / std[:, None]
        factor = getattr(model, "temperature_", 1.0)
        return in_type_of(X, drawn_counts(scores, mean[:, None], std[:, None] ** 2, factor, rng), may_be_infinite=True)

    def _mean_and_variance(self, X: Any) -> tuple[Floats, Floats]:
        """Mean and variance of new counts with unit exposure at checked inputs."""
        mean, std = self._latent_at(X)
        likelihood, factor = self._likelihood(), getattr(self, "temperature_", 1.0)  # a model of an older version has none
        return likelihood.mean(mean, std**2), likelihood.variance(mean, std**2) * factor

    def _worth(self) -> Worth:
        return super()._worth()._replace(counts_rows=True)

    def _n_effective(self, design: Design) -> float:
        """Return the number of rows of positive weight, times their share. A sum of exposures has units."""
        return design.n_counted

    def _keep(self, posteriors: list[LatentPosterior], design: Design) -> None:
        super()._keep(posteriors, design)
        self._share = design.rows.share

    def _keep_calibration(self, left_out: LeftOut | None) -> list[str]:
        self.temperature_ = 1.0
        if left_out is not None:
            exposures, mean, variance = left_out.weights / self._share, left_out.means[:, 0], left_out.variances[:, 0]
            # k events in an exposure c have the latent function f + log c.
            latent, likelihood = mean + np.log(exposures), self._likelihood()
            counts = exposures * left_out.targets[:, 0]
            self.temperature_ = dispersion(counts, likelihood.mean(latent, variance), likelihood.variance(latent, variance))
            print_calibration("temperature", self.temperature_, self.verbose)
        return []

    @score_on_dask(EXPLAINED_DEVIANCE)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return D^2, the share of the Poisson deviance that the model explains: 1 is perfect, 0 is the mean rate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), `skarce.designs.RowBlocks`, or a Dask array or frame
        y : array-like of shape (n_samples,) or str, default=None
            Counts, or rates. A name stands for a column of X, if that is a Dask data frame. With `RowBlocks`, they come from
            the blocks, and y and `sample_weight` must be None.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            The exposures of rates.

        Returns
        -------
        score : float
            NaN, with a warning, if there is no event in y: then there is no deviance to explain.
        """
        from sklearn.metrics import d2_tweedie_score  # slow to import

        if not np.any(checked_array(y, "y", ensure_2d=False, dtype=np.float64)):
            warnings.warn(NO_EVENT, UndefinedMetricWarning, stacklevel=2)
            return float("nan")
        predicted = np.clip(self.predict(X).astype(np.float64), *DEVIANCE_RANGE)
        return float(d2_tweedie_score(y, predicted, sample_weight=sample_weight, power=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _method(self) -> SparseLatent:
        return SparseLatent(self.solver, random_state=self._seed(), landmarks=LANDMARKS)

    def _likelihood(self) -> Poisson:
        return Poisson()

    def _checked_rows(
        self, probe: Any, X: Any, y: Any, sample_weight: Any, *, is_first: bool = True, is_whole: bool = True
    ) -> Rows:
        X, y = self._checked_pair(probe, X, y, is_first=is_first, y_numeric=True)
        targets = column_or_1d(numeric_targets(y), warn=True)
        weights = as_counts(self, sample_weight, X)
        likelihood = self._likelihood()
        counted = [] if is_first and is_whole else [1.0]  # among other rows, so that nothing may be counted in these
        likelihood.check_targets(np.append(targets, counted))
        likelihood.check_targets(np.append(targets if weights is None else targets[weights > 0.0], counted))
        check_targets(targets[:, None], is_first=is_first)
        stabilized, relative = variance_stabilized(targets, weights)
        return Rows(X, targets[:, None], weights, for_widths=Rows(X, stabilized[:, None], relative))

"""Factor analysis of inputs and targets together, as a regression."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from skarce._atomic import become, snapshot, unfitted_twin
from skarce._parallel import blas_threads
from skarce._parameters import as_number, check_choice, check_count, check_coverage, check_verbose, is_count
from skarce._progress import progress, shown
from skarce._scales import SQUARED, check_targets, checked_counts, checked_scales, standardized_inputs
from skarce._text import quoted
from skarce._typing import Floats
from skarce._validation import quietly_validated, validated_weights
from skarce.designs import RowBlocks
from skarce.designs.column_sums import column_sums
from skarce.designs.dask_partitions import is_dask
from skarce.estimators.callbacks import CallbackSupport, called_back
from skarce.estimators.on_dask import lazy_on_dask
from skarce.estimators.rows_in_memory import check_in_memory
from skarce.estimators.score_on_dask import R2, score_on_dask
from skarce.methods.factors import (
    Conditional,
    Spread,
    fit_by_em,
    fit_directly,
    information_scores,
    left_out_scores,
    standardized,
    standardized_sums,
)
from skarce.moments.folds import fold_numbers
from skarce.states.outcome import Outcome

NOISES = ("diagonal", "isotropic")
SOLVERS = ("direct", "em")
RULES = ("cv", "bic")
MOST_FACTORS = 50  # that are tried by default
NO_ROWS_LEFT_OUT = (
    'n_factors="cv" leaves some of them out. Use n_factors="bic" or a number, which take sums, or pass arrays, such as a sample of '
    "the rows."
)


class JointFactorRegressor(MultiOutputMixin, RegressorMixin, CallbackSupport, BaseEstimator):
    r"""Regression by factor analysis, or by principal components, of inputs and targets together.

    A few hidden factors, and noise in every column, explain inputs and targets. Predictions are the distribution of the targets,
    given the inputs that are known: inputs that are missing (NaN) in a prediction need no imputation. This suits many inputs that
    all measure a few quantities with noise, such as sensors and spectra.

    Parameters
    ----------
    n_factors : int, "cv" or "bic", default="cv"
        Number of factors. ``"cv"`` chooses the one with the largest density of left-out targets, given their inputs. ``"bic"``
        chooses the one with the best Bayesian information criterion of inputs and targets, which is quicker and takes fewer.
    noise : {"diagonal", "isotropic"}, default="diagonal"
        ``"diagonal"`` is factor analysis: each column has its own noise. With ``"isotropic"`` all columns have the same noise, as a
        share of their variances. These are the (probabilistic) principal components of inputs and targets.
    solver : {"direct", "em"}, default="direct"
        ``"direct"`` maximizes the likelihood over the noise with the best loadings for each; principal components have a closed
        form. ``"em"`` is the classic expectation maximization, which needs many more steps for the same maximum.
    max_factors : int or None, default=None
        Largest number of factors that ``"cv"`` and ``"bic"`` try. None is one less than the number of columns of X and y, but at
        most 50.
    tol : float, default=1e-5
        The fit has converged if no derivative of the log likelihood of a row by the logarithm of a noise variance is larger.
    max_iter : int, default=1000
        Largest number of steps.
    verbose : int, default=0
        With 1, progress on standard error.

    Attributes
    ----------
    n_factors_ : int
        Number of factors.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients of the inputs if all of them are known.
    intercept_ : float or ndarray of shape (n_outputs,)
        Prediction at zero.
    x_loadings_ : ndarray of shape (n_features, n_factors)
        Loadings of the inputs: how much a factor, which has the variance one, adds to each of them. They are known up to a
        rotation of the factors.
    y_loadings_ : ndarray of shape (n_outputs, n_factors)
        Loadings of the targets.
    x_mean_ : ndarray of shape (n_features,)
        Means of the inputs.
    x_scale_ : ndarray of shape (n_features,)
        Standard deviations of the inputs. An input that does not vary has the scale 1 or its absolute value.
    y_mean_ : ndarray of shape (n_outputs,)
        Means of the targets.
    y_scale_ : ndarray of shape (n_outputs,)
        Standard deviations of the targets. They are 0 for targets that do not vary.
    conditional_ : Conditional
        The distribution of targets given inputs, in units of the standard deviations.
    x_noise_variance_ : ndarray of shape (n_features,)
        Noise variances of the inputs.
    noise_variance_ : float or ndarray of shape (n_outputs,)
        Noise variances of the targets, given the factors. Predictions add the uncertainty of the factors.
    log_likelihood_ : float
        Log density of inputs and targets.
    scores_ : dict
        Score of each number of factors that was tried: log densities of left-out targets, divided by their number, or minus half of
        the information criterion. It is empty if `n_factors` is given.
    n_iter_ : int
        Steps of the last fit. A closed form is one step.
    outcome_ : Outcome
        How the fit ended.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    VBLSRegressor : Chooses inputs, while this model mixes all of them.
    KernelDimensionReduction : Directions of the inputs that matter to the target, linear or not.

    Notes
    -----
    Columns are divided by their standard deviations first, so units do not matter. Rows are
    :math:`z = (x, y) = m + Wv + \epsilon` with :math:`v\sim N(0, I)` and :math:`\epsilon\sim N(0, \Psi)`.
    :math:`\Psi` is diagonal [1]_, or a multiple of the identity [2]_. The coefficients are equation (9) of [3]_,

    .. math:: b = \Psi_x^{-1}W_x(I + W_x^T\Psi_x^{-1}W_x)^{-1}W_y^T.

    Noise variances are at least 1e-6 of the variance of their column. The likelihood may have several maxima; this is the one
    that Joereskog's start leads to. The std does not count the uncertainty of loadings and noise, so it is too small if there are
    few rows for the number of columns.

    References
    ----------
    .. [1] Rubin, D. B. and Thayer, D. T. (1982). EM algorithms for ML factor analysis. Psychometrika, 47, 69-76.
    .. [2] Tipping, M. E. and Bishop, C. M. (1999). Probabilistic principal component analysis. Journal of the Royal Statistical
       Society B, 61, 611-622.
    .. [3] Ting, J.-A., D'Souza, A., Vijayakumar, S. and Schaal, S. (2010). Efficient learning and feature selection in
       high-dimensional regression. Neural Computation, 22, 831-886.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import JointFactorRegressor
    >>> rng = np.random.default_rng(0)
    >>> factors = rng.normal(size=(200, 2))
    >>> X = factors @ rng.normal(size=(2, 8)) + rng.normal(0, 0.3, (200, 8))
    >>> y = factors[:, 0] + rng.normal(0, 0.1, 200)
    >>> model = JointFactorRegressor().fit(X, y)
    >>> model.n_factors_
    2
    >>> X[0, :4] = np.nan
    >>> mean, std = model.predict(X[:2], return_std=True)
    >>> bool(std[0] > std[1])
    True
    """

    def __init__(
        self,
        n_factors: Any = "cv",
        *,
        noise: str = "diagonal",
        solver: str = "direct",
        max_factors: int | None = None,
        tol: float = 1e-5,
        max_iter: int = 1000,
        verbose: int = 0,
    ) -> None:
        self.n_factors = n_factors
        self.noise = noise
        self.solver = solver
        self.max_factors = max_factors
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the factors of inputs and targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), `skarce.designs.RowBlocks`, or a Dask array or frame
            Training inputs, without missing values. `RowBlocks` bring targets and weights. They and Dask data are added up in one
            pass, which needs `n_factors` to be ``"bic"`` or a number.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), str or list of str, default=None
            Targets. Names stand for columns of X, if that is a Dask data frame.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights count rows: weight 2 is the same as the row twice.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._check_parameters()
        with called_back(self, X, y, sample_weight) as tell:
            twin = unfitted_twin(self)
            with shown(self.verbose), blas_threads(1):
                if is_dask(X) or isinstance(X, RowBlocks):
                    twin._learn_sums(X, y, sample_weight)
                else:
                    twin._learn(*_checked_rows(twin, X, y, sample_weight))
            tell(twin)
        if not twin.outcome_.is_converged:
            warnings.warn(twin.outcome_.value, ConvergenceWarning, stacklevel=2)
        return become(self, twin)

    @lazy_on_dask
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets from the inputs that are known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Values that are missing are NaN.
        return_std : bool, default=False
            Whether to return the standard deviation of a new target, noise included.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted means.
        std : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Standard deviations. Only returned if `return_std` is True.
        """
        check_is_fitted(self)
        model = snapshot(self)
        X = model._checked_inputs(X)
        mean, variance = model.conditional_.predict(standardized_inputs(X, model.x_mean_, model.x_scale_))
        shape = (len(X), *np.shape(model.intercept_))
        mean = (model.y_mean_ + model.y_scale_ * mean).reshape(shape)
        return (mean, (model.y_scale_ * np.sqrt(variance)).reshape(shape)) if return_std else mean

    @score_on_dask(R2)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2, the share of the variance of the targets that the predictions explain, averaged over several targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), `skarce.designs.RowBlocks`, or a Dask array or frame
            Test inputs. Values that are missing are NaN.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), str or list of str, default=None
            Targets. Names stand for columns of X, if that is a Dask data frame. With `RowBlocks`, they come from the blocks, and y
            and `sample_weight` must be None.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Sample weights.

        Returns
        -------
        score : float
            1 is perfect, 0 is the mean of the targets.
        """
        return float(super().score(X, y, sample_weight))

    @lazy_on_dask
    def predict_interval(self, X: Any, coverage: float = 0.95) -> tuple[Floats, Floats]:
        """Return intervals that cover new targets: the mean, and the std of `predict` times a quantile of the normal distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Values that are missing are NaN.
        coverage : float, default=0.95
            Share of new targets that the intervals are to cover, between 0 and 1.

        Returns
        -------
        lower : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Lower ends.
        upper : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Upper ends.
        """
        reach = stats.norm.ppf(0.5 + 0.5 * check_coverage(coverage))
        mean, std = self.predict(X, return_std=True)
        return mean - reach * std, mean + reach * std

    def _checked_inputs(self, X: Any) -> Floats:
        """Return inputs like those of the fit, checked. Missing values are NaN."""
        return np.asarray(quietly_validated(self, X, reset=False, ensure_all_finite="allow-nan"), dtype=np.float64)

    @property
    def outcome_(self) -> Outcome:
        """How the fit ended. It is not saved, because skops does not construct enumerations."""
        if "_is_converged" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no outcome_ before fit.")
        return Outcome.CONVERGED if self._is_converged else Outcome.STEP_LIMIT

    def _learn(self, X: Floats, y: Floats, weights: Floats) -> None:
        """Set all fitted attributes. Weights are positive."""
        rows, center, scale = standardized(np.column_stack([X, y]), weights)
        self._check_room(rows.shape[1])
        spread = Spread.of(rows, weights)
        self.scores_ = self._scores_by_rows(X, rows, weights, spread) if self.n_factors == "cv" else self._scores(spread)
        self._find_factors(spread, scale)
        self._set_units(center, scale, np.ptp(y, axis=0) > 0.0, is_one=y.ndim == 1)

    def _learn_sums(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Do the same from sums over `RowBlocks` or Dask data."""
        if self.n_factors == "cv":
            check_in_memory(self, X, "fit", NO_ROWS_LEFT_OUT)
        sums, n_inputs, is_one = column_sums(self, X, y, sample_weight)
        self._check_room(len(sums.candidate_means))
        spread, center, scale, varies = standardized_sums(sums)
        self.scores_ = self._scores(spread)
        self._find_factors(spread, scale)
        self._set_units(center, scale, varies[n_inputs:], is_one=is_one)

    def _find_factors(self, spread: Spread, scale: Floats) -> None:
        """Set the model of columns in these units, with the best number of factors."""
        self.n_factors_ = max(self.scores_, key=lambda tried: self.scores_[tried]) if self.scores_ else int(self.n_factors)
        fit = fit_by_em if self.solver == "em" else fit_directly
        options: dict[str, Any] = {"isotropic": self.noise == "isotropic", "tol": float(self.tol), "max_iter": int(self.max_iter)}
        with progress("fitting factors"):
            model = fit(spread, self.n_factors_, **options)
        self.n_iter_, self._is_converged = model.n_iter, model.is_converged
        self.log_likelihood_ = model.log_likelihood(spread) - spread.n_samples * float(np.log(scale).sum())
        self.conditional_ = Conditional.of(model, self.n_features_in_)

    def _set_units(self, center: Floats, scale: Floats, varies: Floats, *, is_one: bool) -> None:
        """Set what is in the units of the user. Targets that do not vary have the scale zero."""
        found, n_inputs = self.conditional_, self.n_features_in_
        self.x_mean_, self.y_mean_ = center[:n_inputs], center[n_inputs:]
        self.x_scale_, self.y_scale_ = scale[:n_inputs], np.where(varies, scale[n_inputs:], 0.0)
        self.x_loadings_ = found.input_loadings * self.x_scale_[:, None]
        self.y_loadings_ = found.target_loadings * self.y_scale_[:, None]
        self.x_noise_variance_, noise = found.input_noise * self.x_scale_**2, found.target_noise * self.y_scale_**2
        coefficients = self.y_scale_[:, None] * found.coefficients() / self.x_scale_
        intercepts = self.y_mean_ - coefficients @ self.x_mean_
        one = 0 if is_one else slice(None)
        self.coef_, self.intercept_, self.noise_variance_ = coefficients[one], intercepts[one], noise[one]

    def _scores(self, spread: Spread) -> dict[int, float]:
        """The information criterion of each number of factors that is tried, or none if the number is given."""
        if not isinstance(self.n_factors, str):
            return {}
        return information_scores(spread, self._most_factors(spread), isotropic=self.noise == "isotropic")

    def _scores_by_rows(self, X: Floats, rows: Floats, weights: Floats, spread: Spread) -> dict[int, float]:
        """The density of left-out targets for each number of factors that is tried."""
        most = self._most_factors(spread)
        return left_out_scores(rows, weights, fold_numbers(X), X.shape[1], most, isotropic=self.noise == "isotropic")

    def _most_factors(self, spread: Spread) -> int:
        return min(MOST_FACTORS if self.max_factors is None else int(self.max_factors), spread.rank(), spread.n_columns - 1)

    def _check_parameters(self) -> None:
        check_choice("noise", self.noise, NOISES)
        check_choice("solver", self.solver, SOLVERS)
        check_count("max_iter", self.max_iter)
        check_verbose(self.verbose)
        if self.max_factors is not None:
            check_count("max_factors", self.max_factors)
        if not 0.0 < as_number(self.tol) < np.inf:
            raise ValueError(f"tol must be a positive and finite number, got {quoted(self.tol)}.")
        if not (is_count(self.n_factors) or (isinstance(self.n_factors, str) and self.n_factors in RULES)):
            raise ValueError(f'n_factors must be "cv", "bic" or a whole number of at least 1, got {quoted(self.n_factors)}.')

    def _check_room(self, n_columns: int) -> None:
        if not isinstance(self.n_factors, str) and self.n_factors >= n_columns:
            raise ValueError(
                f"n_factors={quoted(self.n_factors)} must be smaller than the number of columns of X and y together, which is "
                f"{n_columns}."
            )


def _checked_rows(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Floats, Floats, Floats]:
    """Return checked inputs, targets and weights of the rows with a positive weight. Names of features are set on the estimator."""
    X, y = quietly_validated(estimator, X, y, y_numeric=True, multi_output=True)
    weights = checked_counts(validated_weights(sample_weight, X))
    counted = weights > 0.0
    X, y, weights = np.asarray(X, dtype=np.float64)[counted], np.asarray(y, dtype=np.float64)[counted], weights[counted]
    check_targets(y.reshape(len(y), -1))
    return checked_scales(X, SQUARED), y, weights

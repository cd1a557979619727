"""Locally weighted projection regression."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from skarce._atomic import become, snapshot, unfitted_twin
from skarce._parallel import blas_threads
from skarce._parameters import (
    as_number,
    check_choice,
    check_count,
    check_coverage,
    check_finite_share,
    check_verbose,
    is_count,
    seeded,
)
from skarce._progress import progress, shown
from skarce._scales import center_and_spread
from skarce._text import quoted
from skarce._typing import Floats
from skarce._validation import quietly_validated
from skarce.estimators.callbacks import CallbackSupport, called_back
from skarce.estimators.lwpr_checks import check_near, check_share, checked_norm, checked_rows
from skarce.estimators.on_dask import lazy_on_dask
from skarce.estimators.rows_in_memory import EACH_BATCH, FIT_BATCHES, takes_rows_in_memory
from skarce.estimators.score_on_dask import R2, score_on_dask
from skarce.methods.lwpr import FEWEST_ROWS, LocalModels, Settings, choose_metric

METRICS = ("diagonal", "full")
MOST_PROJECTIONS = 10  # by default
MOST_PASSES = 1000
NO_LIMIT = 2**53  # fields: no computer has room for so many
TOO_MANY_FIELDS = (
    "max_fields={} receptive fields do not cover the inputs, so some rows taught only fields far from them. Raise max_fields or "
    "add_below, lower initial_metric, or leave out inputs that do not matter."
)


class LWPRRegressor(RegressorMixin, CallbackSupport, BaseEstimator):
    r"""Locally weighted projection regression: local linear models, learned row by row.

    Each receptive field has a center, a distance metric and a linear model by partial least squares [1]_. Fields are added where
    there are none, and removed where two overlap. Memory does not grow with the number of rows, and old rows are slowly forgotten.
    This makes the method one for long streams, and for functions that change.

    Parameters
    ----------
    metric : {"diagonal", "full"}, default="diagonal"
        Whether the metric of a field scales each input, or also rotates them. A full metric has d (d + 1) / 2 elements
        for d inputs.
    initial_metric : float or "auto", default="auto"
        Metric of a new field: this number times the identity, in units of the scaled inputs. Large numbers make narrow fields.
        ``"auto"`` tries six values and keeps the one with the least error on left-out rows of `fit`, or of the first batch of
        `partial_fit`. With fewer than 10 rows it is 30 divided by the variance of all inputs together, in units of
        `norm_in`.
    learning_rate : float, default=1.0
        Step size of the metrics, in relative units. With 0.0 they stay as they are.
    penalty : float, default=0.3
        How much narrow fields cost: this number times the squared error of the field, times the logarithm of one plus the squared
        elements of its metric over those of `initial_metric`. It keeps fields from becoming ever narrower. 0.0 lets them.
    add_below : float, default=0.1
        A row at which the activations of all fields are below this value gets its own field.
    prune_above : float, default=0.7
        If the activations of two fields at a row are above this value, the worse one is removed. 1.0 removes none.
    projection_gain : float, default=0.7
        A field gets one more projection if the last one has lowered its squared left-out error at least to this share.
    max_projections : int or None, default=None
        Largest number of projections in a field. None is the number of inputs, but at most 10.
    max_fields : int, default=1000
        Largest number of fields. A ConvergenceWarning is issued if it is reached.
    forgetting : float, default=0.99999
        Factor by which what a field has seen counts less after each of its rows, in the long run. 1.0 forgets nothing. A smaller
        value follows changes faster: 0.999 remembers about 1000 rows in each field.
    initial_forgetting : float, default=0.999
        The same for a new field, whose first rows were seen with wrong directions and metrics.
    forgetting_pace : float, default=0.9999
        How slowly forgetting moves from the initial to the final value: it is multiplied by this number, and the rest is taken
        from the final value.
    n_passes : int, default=10
        Number of passes of `fit` over the rows, at most 1000, each in another random order. `partial_fit` passes once, in the given
        order.
    norm_in : float, array-like of shape (n_features,) or None, default=None
        Scale of each input: distances are measured in these units. None is the standard deviation of the rows of `fit`, or of the
        first batch of `partial_fit`; a column that is constant there has its absolute value as its scale, or 1.
    verbose : int, default=0
        Whether to show how many rows are learned: 1 prints a line now and then, or draws a bar in a terminal.
    random_state : int, RandomState instance or None, default=None
        Seed for the order of rows in `fit`, and for the choice of `initial_metric`. None is a fixed seed: the same data give the
        same model.

    Attributes
    ----------
    n_fields_ : int
        Number of receptive fields.
    centers_ : ndarray of shape (n_fields, n_features)
        Centers of the fields.
    metrics_ : ndarray of shape (n_fields, n_features) or (n_fields, n_features, n_features)
        Distance metrics of the fields, in the units of X: their diagonals, or whole matrices.
    n_projections_ : ndarray of shape (n_fields,)
        Number of projections in each field.
    initial_metric_ : float
        Metric of new fields, in units of the scaled inputs.
    input_scale_ : ndarray of shape (n_features,)
        Scale of each input.
    n_samples_seen_ : int
        Number of rows that were learned. Several passes count once.
    models_ : LocalModels
        All numbers of the fields.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    VBLSRegressor : A sparse Bayesian model with `partial_fit`, linear or on kernels at given centers.
    RelevanceVectorRegressor : A few kernels, for data that fit into memory.

    Notes
    -----
    A field with center c and metric D has the activation

    .. math:: w = \exp\left(-\tfrac12 (x - c)^TD(x - c)\right)

    at x, and predictions are averages of all fields, weighted by their activations. A linear model of all rows has the small weight
    0.001 everywhere, and takes over where no field is active. The predictive variance is that of the mixture: the noise of the
    fields, the uncertainty of their linear models, and how far their predictions are apart.

    The order of rows matters, and a batch of n rows is the same as n batches of one row. There are no sample weights: a row of
    weight 2 would not be the same as the row twice.

    References
    ----------
    .. [1] Vijayakumar, S., D'Souza, A. and Schaal, S. (2005). Incremental online learning in high dimensions. Neural Computation,
       17, 2602-2634.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import LWPRRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2000, 2))
    >>> y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + rng.normal(0, 0.1, 2000)
    >>> model = LWPRRegressor(random_state=0).fit(X[:1500], y[:1500])
    >>> bool(model.score(X[1500:], y[1500:]) > 0.95)
    True
    >>> mean, std = model.partial_fit(X[1500:], y[1500:]).predict([[0.0, 0.0]], return_std=True)
    >>> mean.shape, std.shape
    ((1,), (1,))
    """

    def __init__(
        self,
        *,
        metric: str = "diagonal",
        initial_metric: Any = "auto",
        learning_rate: float = 1.0,
        penalty: float = 0.3,
        add_below: float = 0.1,
        prune_above: float = 0.7,
        projection_gain: float = 0.7,
        max_projections: int | None = None,
        max_fields: int = 1000,
        forgetting: float = 0.99999,
        initial_forgetting: float = 0.999,
        forgetting_pace: float = 0.9999,
        n_passes: int = 10,
        norm_in: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.initial_metric = initial_metric
        self.learning_rate = learning_rate
        self.penalty = penalty
        self.add_below = add_below
        self.prune_above = prune_above
        self.projection_gain = projection_gain
        self.max_projections = max_projections
        self.max_fields = max_fields
        self.forgetting = forgetting
        self.initial_forgetting = initial_forgetting
        self.forgetting_pace = forgetting_pace
        self.n_passes = n_passes
        self.norm_in = norm_in
        self.verbose = verbose
        self.random_state = random_state

    @takes_rows_in_memory(FIT_BATCHES)
    def fit(self, X: Any, y: Any) -> Any:
        """Learn the rows in several passes, each in another random order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        settings, rng = self._settings(), seeded(self.random_state)
        with called_back(self, X, y, None) as tell:
            twin = unfitted_twin(self)
            X, y = checked_rows(twin, X, y, is_first=True)
            with shown(self.verbose), blas_threads(1):
                model = self._empty(X, y)
                settings = self._with_metric(settings, model, X, y, self.n_passes, rng)
                model = model.trained(X, y, settings, self.n_passes, rng)
            self._set_fitted(twin, model, settings, len(y))
            tell(twin)
        return become(self, twin)

    @takes_rows_in_memory(EACH_BATCH)
    def partial_fit(self, X: Any, y: Any) -> Any:
        """Learn a batch of rows in the given order, after all earlier ones.

        A batch is learned as a whole or not at all: if the call raises, the model stays as it was. The first batch sets the scales
        of inputs and target, and the width of new fields. It needs at least 10 rows, unless `norm_in` and `initial_metric` are
        given. A call copies all fields, so batches of some hundred rows are faster than single rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of the batch.
        y : array-like of shape (n_samples,)
            Targets of the batch.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        settings, rng = self._settings(), seeded(self.random_state)
        is_first = not hasattr(self, "models_")
        twin = unfitted_twin(self) if is_first else copy(self)
        X, y = checked_rows(twin, X, y, is_first=is_first)
        with shown(self.verbose), blas_threads(1):
            if is_first:
                self._check_first_batch(len(y))
                model = self._empty(X, y)
                settings = self._with_metric(settings, model, X, y, 1, rng)
            else:
                model, settings = self._continued(settings)
            check_near(model, X, y)
            with progress("learning", len(y), "rows") as part:
                model = model.learned(X, y, settings, part)
        self._set_fitted(twin, model, settings, len(y) + getattr(self, "n_samples_seen_", 0))
        return become(self, twin)

    @lazy_on_dask
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets, and perhaps their standard deviations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return the standard deviation of a new target, noise included.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            Predicted means.
        std : ndarray of shape (n_samples,)
            Standard deviations. Only returned if `return_std` is True.
        """
        check_is_fitted(self)
        model = snapshot(self)
        X = model._checked_inputs(X)
        mean, variance = model.models_.predict(X, Settings().settled_weight, with_variance=return_std)
        return mean if variance is None else (mean, np.sqrt(variance))

    @score_on_dask(R2)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2, the share of the variance of the target that the predictions explain.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), `skarce.designs.RowBlocks`, or a Dask array or frame
            Test inputs.
        y : array-like of shape (n_samples,) or str, default=None
            Targets. A name stands for a column of X, if that is a Dask data frame. With `RowBlocks`, they come from the blocks, and
            y and `sample_weight` must be None.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Sample weights.

        Returns
        -------
        score : float
            1 is perfect, 0 is the mean of the target.
        """
        return float(super().score(X, y, sample_weight))

    @lazy_on_dask
    def predict_interval(self, X: Any, coverage: float = 0.95) -> tuple[Floats, Floats]:
        """Return intervals that cover new targets: the mean, and the std of `predict` times a quantile of the normal distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.95
            Share of new targets that the intervals are to cover, between 0 and 1.

        Returns
        -------
        lower : ndarray of shape (n_samples,)
            Lower ends.
        upper : ndarray of shape (n_samples,)
            Upper ends.
        """
        reach = stats.norm.ppf(0.5 + 0.5 * check_coverage(coverage))
        mean, std = self.predict(X, return_std=True)
        return mean - reach * std, mean + reach * std

    @property
    def n_fields_(self) -> int:
        """Number of receptive fields."""
        return self._models("n_fields_").n_fields

    @property
    def centers_(self) -> Floats:
        """Centers of the fields."""
        model = self._models("centers_")
        return model.input_offset + model.input_scale * model.layout.part(model.state, "center")

    @property
    def metrics_(self) -> Floats:
        """Distance metrics of the fields, in the units of X."""
        model = self._models("metrics_")
        roots = model.layout.part(model.state, "metric") / model.input_scale
        return np.einsum("kij,kil->kjl", roots, roots) if model.is_full else roots**2

    @property
    def n_projections_(self) -> Floats:
        """Number of projections in each field."""
        model = self._models("n_projections_")
        return model.layout.part(model.state, "n_projections").astype(np.intp)

    @property
    def input_scale_(self) -> Floats:
        """Scale of each input."""
        return self._models("input_scale_").input_scale

    def _checked_inputs(self, X: Any) -> Floats:
        """Return inputs like those of the fit, checked."""
        X = np.asarray(quietly_validated(self, X, reset=False), dtype=np.float64)
        check_near(self.models_, X)
        return X

    def _models(self, name: str) -> LocalModels:
        if "models_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before fit or partial_fit.")
        return self.models_

    def _settings(self) -> Settings:
        """Return the parameters that steer learning. Raise a ValueError if one is wrong."""
        check_choice("metric", self.metric, METRICS)
        check_verbose(self.verbose)
        if not (is_count(self.n_passes) and self.n_passes <= MOST_PASSES):
            raise ValueError(f"n_passes must be a whole number from 1 to {MOST_PASSES}, got {quoted(self.n_passes)}.")
        check_count("max_fields", self.max_fields)
        if self.max_projections is not None:
            check_count("max_projections", self.max_projections)
        check_finite_share("learning_rate", self.learning_rate)
        check_finite_share("penalty", self.penalty)
        for name in ("forgetting", "initial_forgetting", "forgetting_pace", "prune_above", "projection_gain"):
            check_share(name, getattr(self, name))
        if not 0.0 < as_number(self.add_below) < as_number(self.prune_above):
            raise ValueError(
                f"add_below must be above 0 and below prune_above, got add_below={quoted(self.add_below)} and "
                f"prune_above={quoted(self.prune_above)}."
            )
        is_auto = isinstance(self.initial_metric, str) and self.initial_metric == "auto"
        if not (is_auto or 0.0 < as_number(self.initial_metric) < np.inf):
            raise ValueError(f'initial_metric must be "auto" or a positive and finite number, got {quoted(self.initial_metric)}.')
        return Settings(
            add_below=float(self.add_below),
            prune_above=float(self.prune_above),
            projection_gain=float(self.projection_gain),
            initial_forgetting=float(self.initial_forgetting),
            final_forgetting=float(self.forgetting),
            forgetting_pace=float(self.forgetting_pace),
            learning_rate=float(self.learning_rate),
            penalty=float(self.penalty),
            initial_metric=np.nan if is_auto else float(self.initial_metric),
            max_fields=float(min(self.max_fields, NO_LIMIT)),
        )

    def _with_metric(
        self, settings: Settings, model: LocalModels, X: Floats, y: Floats, n_passes: int, rng: np.random.RandomState
    ) -> Settings:
        """Return the settings with the metric of new fields, chosen if it is not given."""
        if not np.isnan(settings.initial_metric):
            return settings
        return replace(settings, initial_metric=choose_metric(model, X, y, settings, n_passes, rng))

    def _empty(self, X: Floats, y: Floats) -> LocalModels:
        """Return a model without fields, with scales from these rows."""
        most = min(X.shape[1], MOST_PROJECTIONS) if self.max_projections is None else min(self.max_projections, X.shape[1])
        center, spread = center_and_spread(X)
        scale = spread if self.norm_in is None else checked_norm(self.norm_in, X.shape[1])
        target_center, target_spread = center_and_spread(y[:, None])
        target = (float(target_center[0]), float(target_spread[0]))
        return LocalModels.empty(most, self.metric == "full", (center, scale), target)

    def _check_first_batch(self, n_rows: int) -> None:
        is_auto = isinstance(self.initial_metric, str)
        if n_rows < FEWEST_ROWS and (is_auto or self.norm_in is None):
            raise ValueError(
                f"the first batch has {n_rows} rows, but scales of inputs and the width of fields come from it, which takes at "
                f"least {FEWEST_ROWS}. Pass a larger first batch, or give norm_in and initial_metric."
            )

    def _continued(self, settings: Settings) -> tuple[LocalModels, Settings]:
        """Return the model of earlier batches, and settings for later ones."""
        model: LocalModels = self.models_
        if model.is_full != (self.metric == "full"):
            raise ValueError(f"metric={self.metric!r} differs from that of earlier batches. Begin again with clone(model).")
        if np.isnan(settings.initial_metric):
            settings = replace(settings, initial_metric=self.initial_metric_)
        return model, settings

    def _set_fitted(self, twin: Any, model: LocalModels, settings: Settings, n_seen: int) -> None:
        """Give the twin its fitted attributes. A warning may be an error."""
        before = self.n_fields_ if "models_" in vars(twin) else 0
        twin.models_, twin.initial_metric_, twin.n_samples_seen_ = model, settings.initial_metric, n_seen
        if model.n_fields >= self.max_fields > before:
            warnings.warn(TOO_MANY_FIELDS.format(self.max_fields), ConvergenceWarning, stacklevel=3)

"""Base of all regressors: validation of targets, predictions with uncertainty, streams."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from skarce._atomic import snapshot
from skarce._device import joined, sqrt, stacked, taken, to_device
from skarce._memory import require
from skarce._parallel import blas_threads
from skarce._parameters import check_count, check_coverage, generator_of
from skarce._scales import CANDIDATES, SQUARED, check_targets, checked_scales
from skarce._text import quoted
from skarce._typing import Floats
from skarce._validation import checked_array, checked_table, validated
from skarce.basis import KernelBasis, learns_widths, takes_arrays
from skarce.designs import Design, RowBlocks, Rows
from skarce.estimators.base import checked_weights
from skarce.estimators.calibration import MANY_ROWS, Calibrated, print_calibration
from skarce.estimators.on_basis import check_has_posterior, in_type_of, sparse_format
from skarce.estimators.on_dask import lazy_on_dask
from skarce.estimators.on_device import check_on_host
from skarce.estimators.rows_in_memory import SOME_ROWS, takes_rows_in_memory
from skarce.estimators.score_on_dask import R2, score_on_dask
from skarce.estimators.streaming import Streaming
from skarce.estimators.trust import scale_and_remarks, scale_from_sums
from skarce.methods.method import HALF, Method
from skarce.model_selection.cross_fitting import LeftOut
from skarce.model_selection.cross_fitting_sums import LeftOutSums
from skarce.posteriors.augmentation import Augmentation
from skarce.posteriors.posterior import Posterior
from skarce.searches.spanning_start import SpanningStart
from skarce.states.outcome import Outcome

ARRAYS_OF_COVARIANCE = 4  # a covariance may take as much memory as this many arrays
CROWDED_KERNELS, CROWDED_INPUTS = 0.5, 0.1  # functions per row; for inputs this is the old rule of ten rows per weight


class SparseRegressorBase(RegressorMixin, Streaming, Calibrated):
    """Base of the regressors with normal noise."""

    calibration_parameter = "calibrate_std"
    calibrate_std: Any = False  # of a model of an older version, which has neither this nor `std_scale_`
    std_scale_: Any

    @lazy_on_dask
    def predict(self, X: Any, return_std: bool = False, std: str = "plain", return_cov: bool = False) -> Any:
        """Predict targets, and optionally the standard deviation or the covariance of new observations.

        Predictions are computed in double precision, and returned in single precision if X is an array of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to also return the standard deviation of a new observation. It contains the noise and the uncertainty of
            intercept and weights, times the factor `std_scale_` that left-out rows have asked for.
        std : {"plain", "augmented"}, default="plain"
            Far from the data, the ``"plain"`` std falls to that of the noise, because all functions of a sparse model vanish there.
            ``"augmented"`` adds one more function at each query point, with the prior variance of the signal [1]_. Its std grows to
            that of the target far from the data. It needs a kernel basis. `std_scale_` is not a factor on what it adds.
        return_cov : bool, default=False
            Whether to also return the covariance of new observations at all rows. They share the weights, so their errors go
            together. Its diagonal has the squares of the ``"plain"`` std, and all of it has the square of `std_scale_` as a factor.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predicted targets.
        std : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Standard deviations. Only returned if ``return_std=True``.
        cov : ndarray of shape (n_samples, n_samples) or (n_samples, n_samples, n_outputs)
            Covariances. Only returned if ``return_cov=True``.

        References
        ----------
        .. [1] Rasmussen, C. E. and Quinonero-Candela, J. (2005). Healing the relevance vector machine through augmentation. ICML.
        """
        model = snapshot(self)
        check_has_posterior(model)
        _check_request(return_std, std, return_cov)
        X = model._checked_queries(X)
        with blas_threads(1), np.errstate(over="ignore", invalid="ignore"):
            if std == "augmented" or return_cov:
                check_on_host(X, "std='augmented' and return_cov=True")
            if return_std:
                return in_type_of(X, *model._means_and_stds(X, model._augmentation() if std == "augmented" else None))
            mean = joined([model._mean(part) for part in model._parts(X)])
            return in_type_of(X, mean, model._covariance(X)) if return_cov else in_type_of(X, mean)

    @score_on_dask(R2)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2, the share of the variance of the targets that the predictions explain, averaged over several targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), `skarce.designs.RowBlocks`, or a Dask array or frame
            Test inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), str or list of str, default=None
            Targets. Names stand for columns of X, if that is a Dask data frame. With `RowBlocks`, they come from
            the blocks, and y and `sample_weight` must be None.
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
        """Return intervals that cover new targets.

        They are centered at the predicted targets. Their half width is the std of `predict`, times a quantile of the normal
        distribution, or of Student's t distribution if the noise is of that kind.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        coverage : float, default=0.95
            Share of new targets that the intervals are to cover, between 0 and 1.

        Returns
        -------
        lower : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Lower ends.
        upper : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Upper ends.
        """
        model = snapshot(self)
        check_is_fitted(model, "posterior_")
        share = check_coverage(coverage)
        quantiles = [posterior.quantile(0.5 + 0.5 * share) for posterior in model._posteriors()]
        X = model._checked_queries(X)
        with blas_threads(1), np.errstate(over="ignore", invalid="ignore"):
            mean, std = model._means_and_stds(X, None)
            half = std * (to_device(np.array(quantiles), std) if isinstance(model.posterior_, list) else quantiles[0])
            lower, upper = in_type_of(X, mean - half, mean + half)
        return lower, upper

    @takes_rows_in_memory(SOME_ROWS)
    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Floats:
        """Draw new observations from the predictive distribution.

        Each draw has one set of weights for all rows, and noise of its own for each row. So the draws of a column have the
        covariance that ``predict(X, return_cov=True)`` gives. The noise is normal, or of Student's t distribution if the model has
        such. Deviations from the predicted targets are multiplied by `std_scale_`.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Inputs.
        n_samples : int, default=1
            Number of draws.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws. Pass an int for the same draws in every call.

        Returns
        -------
        y_samples : ndarray of shape (n_samples_X, n_samples) or (n_samples_X, n_outputs, n_samples)
            The draws.
        """
        model = snapshot(self)
        check_is_fitted(model, "posterior_")
        check_count("n_samples", n_samples)
        rng = generator_of(random_state)
        X = model._checked_queries(X)
        check_on_host(X, "sample_y")
        with blas_threads(1), np.errstate(over="ignore", invalid="ignore"):
            return in_type_of(X, model._draws(X, int(n_samples), rng))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    # Fitting ------------------------------------------------------------------------------------------------------------

    def _checked_rows(
        self, probe: Any, X: Any, y: Any, sample_weight: Any, *, is_first: bool = True, is_whole: bool = True
    ) -> Rows:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Pass y, or RowBlocks with both X and y."
            )
        basis = self._seeded_basis()
        if takes_arrays(basis):
            X, y = validated(probe, X, y, reset=is_first, accept_sparse=sparse_format(basis))
        else:
            checked_table(probe, X, reset=is_first)
            y = checked_array(y, "y", ensure_2d=False, dtype=np.float64)
            check_consistent_length(X, y)
        y = np.asarray(y, dtype=np.float64)
        targets = y[:, None] if y.ndim == 1 else y
        if takes_arrays(basis):
            X = checked_scales(X, CANDIDATES if basis is None else SQUARED, is_first=is_first)
        check_targets(targets, is_first=is_first)
        return Rows(X, targets, checked_weights(self, sample_weight, X), is_one_output=y.ndim == 1)

    def _is_doubtful(self, posterior: Any) -> bool:
        """Whether the outcome of a model deserves a warning. A target without noise does not, unless the model interpolates it."""
        interpolates = posterior.outcome is Outcome.NO_NOISE and len(posterior.active) > HALF * posterior.n_samples
        return interpolates or super()._is_doubtful(posterior)

    def _crowded(self, *, applies: bool = True) -> float | None:
        """Return the share of rows above which a few functions may take the place of the model, for methods with `size_prior`.

        Kernels resemble each other, so a good model may need many of them. None if the prior is off or does not apply.
        """
        size_prior = self.size_prior  # type: ignore[attr-defined]
        if size_prior is not None and not (isinstance(size_prior, str) and size_prior == "auto"):
            raise ValueError(f'size_prior must be "auto" or None, got {quoted(size_prior)}.')
        if size_prior is None or not applies:
            return None
        return CROWDED_KERNELS if self._is_on_kernels() else CROWDED_INPUTS

    def _width_options(self, rows: Rows, method: Method[Any], names: Any) -> dict[str, Any]:
        return {**super()._width_options(rows, method, names), "robust": True}

    def _spanning_start(self) -> SpanningStart | None:
        """Return functions to start from, because wide kernels look alike; None is the empty model."""
        return SpanningStart(self._seed()) if self._has_wide_kernels() else None

    def _takes_second_look(self, solver: str) -> bool:
        """Whether a search may have stopped too early at a small model: kernels of a given width may be wide."""
        return solver == "fast" and self._is_on_kernels() and not self._has_wide_kernels()

    def _keep(self, posteriors: list[Posterior], design: Design) -> None:
        rows = design.rows
        self._keep_models(posteriors, design.candidates, is_one=rows.is_one_output)
        noises = [p.noise_variance for p in posteriors]
        self.noise_variance_ = noises[0] if rows.is_one_output else np.array(noises)
        self._augmentation_rows = Augmentation.rows_of(design.candidates, rows.X, rows.weights, self.random_state)

    def _wants_folds(self, n_rows: int) -> bool:
        """Whether the std is to be calibrated: if asked for, or if widths are learned from few rows. Rows must be independent."""
        if self.effective_samples is not None:
            return False
        if isinstance(self.calibrate_std, str):
            return n_rows <= MANY_ROWS and learns_widths(self._seeded_basis())
        return self.calibrate_std is True or (isinstance(self.calibrate_std, np.bool_) and bool(self.calibrate_std))

    def _expects_outliers(self) -> bool:
        """Whether the noise is that of most rows, and others may be anywhere."""
        return False

    def _keep_calibration(self, left_out: LeftOut | LeftOutSums | None) -> list[str]:
        posteriors = self._posteriors()
        scales, remarks = np.ones(len(posteriors)), []
        if left_out is not None:
            for output, posterior in enumerate(posteriors):
                is_doubted = self._is_doubtful(posterior)  # there is a warning about it already
                if isinstance(left_out, LeftOutSums):
                    scales[output], said = scale_from_sums(left_out, output, is_doubted=is_doubted)
                else:
                    scales[output], said = scale_and_remarks(
                        left_out,
                        output,
                        posterior.noise_freedom,
                        is_doubted=is_doubted,
                        expects_outliers=self._expects_outliers(),
                    )
                remarks += said
            print_calibration("std scale", scales, self.verbose)
        self.std_scale_ = scales if isinstance(self.posterior_, list) else float(scales[0])
        return list(dict.fromkeys(remarks))

    # Predicting ---------------------------------------------------------------------------------------------------------

    def _checked_queries(self, X: Any) -> Any:
        if isinstance(X, RowBlocks):
            raise TypeError("predict takes one array at a time. Call it for the X of each row block.")
        return self._checked_inputs(X)

    def _means_and_stds(self, X: Any, augment: Augmentation | None) -> tuple[Floats, Floats]:
        means, stds = zip(*(self._mean_and_std(part, augment) for part in self._parts(X)), strict=True)
        return joined(list(means)), joined(list(stds))

    def _covariance(self, X: Any) -> Floats:
        n, posteriors = _num_samples(X), self._posteriors()
        require(n, n * len(posteriors), f"the covariance of {n} rows", "Predict fewer rows", ARRAYS_OF_COVARIANCE)
        phi = np.concatenate([self._phi(part) for part in self._parts(X)])
        outputs = zip(posteriors, self._places, self._scales(), strict=True)
        matrices = [scale**2 * posterior.joint_covariance(phi[:, place]) for posterior, place, scale in outputs]
        return np.stack(matrices, axis=-1) if isinstance(self.posterior_, list) else matrices[0]

    def _draws(self, X: Any, n_draws: int, rng: np.random.RandomState) -> Floats:
        n, posteriors = _num_samples(X), self._posteriors()
        normals = [rng.standard_normal((posterior.n_parameters, n_draws)) for posterior in posteriors]
        draws = np.stack([posterior.draw_noise((n, n_draws), rng) for posterior in posteriors], axis=1)
        start = 0
        for part in self._parts(X):
            phi = self._phi(part)
            rows = slice(start, start + len(phi))
            for output, (posterior, place, scale) in enumerate(zip(posteriors, self._places, self._scales(), strict=True)):
                draws[rows, output] += posterior.deviations(phi[:, place], normals[output])
                draws[rows, output] *= scale
                draws[rows, output] += posterior.predict(phi[:, place])[:, None]
            start = rows.stop
        return draws if isinstance(self.posterior_, list) else draws[:, 0]

    def _scales(self) -> Floats:
        """The factor on the std of each output. A model of an older version has none."""
        return np.broadcast_to(getattr(self, "std_scale_", 1.0), len(self._posteriors()))

    def _mean(self, X: Any) -> Floats:
        return self._level_and(self._phi(X))

    def _level_and(self, phi: Any) -> Any:
        """Return the predicted targets at rows with these active candidates."""
        return phi @ to_device(self._weights.T, phi) + to_device(np.asarray(self.intercept_), phi)

    def _mean_and_std(self, X: Any, augment: Augmentation | None) -> tuple[Floats, Floats]:
        phi = self._phi(X)
        variances = []
        for posterior, place, scale in zip(self._posteriors(), self._places, self._scales(), strict=True):
            variance = posterior.variance(taken(phi, place, axis=1)) * float(scale) ** 2
            if augment is not None:
                variance = variance + augment.extra_variance(posterior, self.basis_.select(place), X, phi[:, place])
            variances.append(variance)
        std = sqrt(stacked(variances, axis=1))
        return self._level_and(phi), std if isinstance(self.posterior_, list) else std[:, 0]

    def _augmentation(self) -> Augmentation:
        if self._augmentation_rows is None and isinstance(self.basis_, KernelBasis) and self.basis_.kernel_ != "precomputed":
            raise ValueError(
                "std='augmented' compares with rows, but this model was fitted to sums of them. Pass a random sample of the rows "
                "as the third argument of fit_moments, as in fit_moments(basis, sums, X_sample), or use std='plain'."
            )
        if self._augmentation_rows is None:
            raise ValueError(
                "std='augmented' adds a kernel at each query point, so it needs a KernelBasis other than 'precomputed', but this "
                f"model has basis={quoted(self.basis)}. Use std='plain'."
            )
        return Augmentation(*self._augmentation_rows)


def _check_request(return_std: bool, std: str, return_cov: bool) -> None:
    if std not in ("plain", "augmented"):
        raise ValueError(f"std must be 'plain' or 'augmented', got {quoted(std)}.")
    if return_std and return_cov:
        raise RuntimeError(
            "At most one of return_std or return_cov can be requested: the diagonal of the covariance has the squares of the std."
        )
    if return_cov and std == "augmented":
        raise ValueError(
            "return_cov=True is for std='plain': std='augmented' adds another function at each row, and these have no joint "
            "distribution."
        )

"""What estimators with latent functions share: their mean and standard deviation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skarce._atomic import snapshot
from skarce._device import joined, sqrt, stacked, taken
from skarce._parallel import blas_threads
from skarce._scales import CANDIDATES, SQUARED, checked_scales
from skarce._typing import Floats
from skarce._validation import check_dense, check_kind, checked_table, quietly_validated, validated_with_labels
from skarce.basis import takes_arrays
from skarce.designs import Design
from skarce.estimators.calibration import Calibrated
from skarce.estimators.on_basis import check_finite, in_type_of, sparse_format
from skarce.estimators.on_dask import lazy_on_dask
from skarce.posteriors.latent import LatentPosterior

FEW_ROWS = 1000  # a model of fewer rows is likely to be too sure of itself, and five refits take little time


class LatentEstimator(Calibrated):
    """Base of the estimators whose targets arise from latent functions by a likelihood that is not normal."""

    calibration_parameter = "calibrate_proba"
    calibrate_proba: Any = False  # of a model of an older version, which has neither this nor `temperature_`
    temperature_: float

    def _is_advised(self, design: Design) -> bool:
        return len(design.rows.targets) < FEW_ROWS

    @lazy_on_dask
    def latent(self, X: Any) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the latent function: the log odds of a class, or the log rate of counts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        mean, std : ndarrays of shape (n_samples,), or (n_samples, n_classes) if there are more than two classes
            In single precision if X is, like all predictions.
        """
        model = snapshot(self)
        X = model._checked_queries(X)
        mean, std = in_type_of(X, *model._latent_at(X))
        return mean, std

    def _checked_queries(self, X: Any) -> Any:
        """Check that the model is fitted, and check the inputs of a prediction."""
        check_is_fitted(self, "posterior_")
        return self._checked_inputs(X)

    def _latent_at(self, X: Any) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the latent function at checked inputs, in double precision."""
        with blas_threads(1), np.errstate(over="ignore", invalid="ignore"):
            means, variances = zip(*(self._latent_of(self._phi(part)) for part in self._parts(X)), strict=True)
            mean, std = joined(list(means)), sqrt(joined(list(variances)))
        check_finite(mean, std)
        return (mean, std) if isinstance(self.posterior_, list) else (mean[:, 0], std[:, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.sparse = self._takes_sparse()
        return tags

    def _checked_pair(self, probe: Any, X: Any, y: Any, *, is_first: bool = True, **options: Any) -> tuple[Any, Any]:
        """Check X and y together if the basis takes arrays; a foreign transformer gets X as it is."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        basis = self._seeded_basis()
        if takes_arrays(basis):
            check = quietly_validated if options else validated_with_labels
            X, y = check(probe, X, y, reset=is_first, accept_sparse=sparse_format(basis), **options)
            return checked_scales(X, CANDIDATES if basis is None else SQUARED, is_first=is_first), y
        checked_table(probe, X, reset=is_first)
        check_dense(y)
        check_kind(y, "y")
        check_consistent_length(X, y)
        return X, y

    def _keep(self, posteriors: list[LatentPosterior], design: Design) -> None:
        self._keep_models(posteriors, design.candidates, is_one=design.rows.is_one_output)

    def _latent_of(self, phi: Any) -> tuple[Any, Any]:
        """Mean and variance of each latent function, shapes (n_samples, n_functions)."""
        pairs = [(p, taken(phi, place, axis=1)) for p, place in zip(self._posteriors(), self._places, strict=True)]
        return stacked([p.predict(own) for p, own in pairs], axis=1), stacked([p.variance(own) for p, own in pairs], axis=1)

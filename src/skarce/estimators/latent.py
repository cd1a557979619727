"""What estimators with latent functions share: their mean and standard deviation."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted, validate_data

from skarce._parallel import blas_threads
from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.designs import Design, RowBlocks
from skarce.estimators.base import SparseEstimator
from skarce.estimators.on_basis import takes_arrays
from skarce.posteriors.latent import LatentPosterior

FEWEST_LANDMARKS = 20
MOST_ELEMENTS = 20_000_000  # of the matrix of all landmarks at all rows: 160 MB, and tens of seconds on two cores


class LatentEstimator(SparseEstimator):
    """Base of the estimators whose targets arise from latent functions by a likelihood that is not normal."""

    _many_rows: ClassVar[int] = 5000  # above this many rows, landmarks stand for all
    _most_landmarks: ClassVar[int] = 500

    def latent(self, X: Any) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the latent function: the log odds of a class, or the log rate of counts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        mean, std : ndarrays of shape (n_samples,), or (n_samples, n_classes) if there are more than two classes
        """
        check_is_fitted(self, "posterior_")
        X = self._checked_inputs(X)
        with blas_threads(1):
            means, variances = zip(*(self._latent_of(self._phi(part)) for part in self._parts(X)), strict=True)
        mean, std = np.concatenate(means), np.sqrt(np.concatenate(variances))
        return (mean, std) if isinstance(self.posterior_, list) else (mean[:, 0], std[:, 0])

    def _basis_for(self, X: Any) -> Any:
        """Return the basis. If it chooses its centers itself and rows are many, it gets landmarks, with a warning."""
        basis = super()._basis_for(X)
        is_free = isinstance(basis, KernelBasis) and self._chooses_centers_of(basis)
        n_rows = 0 if isinstance(X, RowBlocks) or not is_free else _num_samples(X)
        if n_rows <= self._many_rows:
            return basis
        n_landmarks = max(FEWEST_LANDMARKS, min(self._most_landmarks, MOST_ELEMENTS // n_rows))
        warnings.warn(
            f"{n_rows} rows: kernels are centered at {n_landmarks} landmarks only, because this method passes over all rows again "
            "and again. Choose with KernelBasis(centers=...).",
            UserWarning,
            stacklevel=4,
        )
        seed = 0 if basis.random_state is None else basis.random_state
        return KernelBasis(**{**basis.get_params(deep=False), "centers": n_landmarks, "random_state": seed})

    def _chooses_centers_of(self, basis: KernelBasis) -> bool:
        """Tell whether the centers are not the choice of the user, who gave ``"rbf"`` or ``centers="auto"``."""
        return isinstance(self.basis, str) or isinstance(basis.centers, str)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_pairwise()
        return tags

    def _checked_pair(self, probe: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        """Check X and y together if the basis takes arrays; a foreign transformer gets X as it is."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if takes_arrays(self._seeded_basis()):
            return validate_data(probe, X, y, dtype=[np.float64, np.float32], **options)
        validate_data(probe, X, skip_check_array=True)
        check_consistent_length(X, y)
        return X, y

    def _keep(self, posteriors: list[LatentPosterior], design: Design) -> None:
        self._keep_models(posteriors, design.candidates, is_one=design.rows.is_one_output)

    def _latent_of(self, phi: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of each latent function, shapes (n_samples, n_functions)."""
        pairs = [(posterior, phi[:, place]) for posterior, place in zip(self._posteriors(), self._places, strict=True)]
        return np.stack([p.predict(own) for p, own in pairs], axis=1), np.stack([p.variance(own) for p, own in pairs], axis=1)

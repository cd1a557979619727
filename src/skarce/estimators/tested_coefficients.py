"""What a linear model tells of its weights: which candidates matter, how sure each weight is, tests against zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from skarce._typing import Floats
from skarce.methods.variational.precisions import RELEVANT
from skarce.posteriors.posterior import CoefficientTests


class TestedCoefficients:
    """Adds `get_support`, `coef_tests` and `coef_interval` to an estimator."""

    posterior_: Any
    relevance_: Floats

    def get_support(self, indices: bool = False) -> Any:
        """Which candidates are relevant (`relevance_` above 0.5), as a mask or as indices."""
        check_is_fitted(self, "posterior_")
        mask = self.relevance_ > RELEVANT
        return np.flatnonzero(mask) if indices else mask

    def coef_tests(self) -> CoefficientTests:
        """Tests of each weight against zero: t statistics with the full covariance, degrees of freedom, p values.

        They take the inputs in the model for given. Inputs that were chosen because they stand out look more significant than they
        are: test them on rows that had no part in the choice. NaN where no rows are left to tell the noise.
        """
        return self._only_posterior().coefficient_tests()

    def coef_interval(self, level: float = 0.95) -> Floats:
        """Intervals of the weights, shape (n_active, 2), by the full covariance.

        They hold a weight with probability `level` if its input was in the model from the start; for inputs that were chosen by
        the same rows, and for weights that the prior shrinks, they hold it less often. Normal, or for regressors with
        ``posterior="student-t"`` Student's t with N - Gamma degrees of freedom, which allows for the noise being estimated.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be between 0 and 1, got {level!r}.")
        posterior = self._only_posterior()
        freedom = np.inf if getattr(self, "posterior", "student-t") == "gaussian" else posterior.degrees_of_freedom
        reach = stats.t.ppf(0.5 + 0.5 * level, freedom) * posterior.coefficient_std
        return posterior.mean[:, None] + np.multiply.outer(reach, [-1.0, 1.0])

    def _only_posterior(self) -> Any:
        check_is_fitted(self, "posterior_")
        if isinstance(self.posterior_, list):
            raise ValueError(
                "the model has several outputs or classes: ask posterior_[k] for its coefficient_std and coefficient_tests()."
            )
        return self.posterior_

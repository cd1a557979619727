"""Which candidates matter, intervals of weights, and tests of weights against zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from skarce._parameters import as_number
from skarce._text import quoted
from skarce._typing import Floats
from skarce.methods.variational.precisions import RELEVANT
from skarce.posteriors.posterior import CoefficientTests


class TestedCoefficients:
    """Adds `coef_tests` and `coef_interval` to an estimator. Its `get_support` marks candidates with `relevance_` above 0.5."""

    posterior_: Any
    relevance_: Floats

    def _support(self) -> Any:
        """Return the relevant candidates: those with `relevance_` above 0.5."""
        return self.relevance_ > RELEVANT

    def coef_tests(self) -> CoefficientTests:
        """Test each weight against zero, with the full covariance.

        The tests assume that the inputs of the model were given. Inputs that were selected by the same rows look more significant
        than they are: test them on other rows.

        Returns
        -------
        tests : CoefficientTests
            Named tuple of ``statistic`` (t statistics, shape (n_active,)), ``degrees_of_freedom`` (float) and ``p_value``
            (two-sided, shape (n_active,)). NaN if no degrees of freedom are left for the noise.
        """
        return self._only_posterior().coefficient_tests()

    def coef_interval(self, level: float = 0.95) -> Floats:
        """Return intervals of the weights, with the full covariance.

        An interval contains the weight with probability `level` if the input was given. The probability is lower for inputs that
        were selected by the same rows, and for weights that the prior shrinks. The distribution is that of `coef_tests`: an
        interval excludes zero exactly if the p value is below ``1 - level``. For regressors it is Student's t with the degrees of
        freedom that are left for the noise, because the noise is estimated. For classes and counts it is normal.

        Parameters
        ----------
        level : float, default=0.95
            Probability that an interval contains its weight, between 0 and 1.

        Returns
        -------
        intervals : ndarray of shape (n_active, 2)
            Lower and upper ends. NaN if no degrees of freedom are left for the noise.
        """
        check_level(level)
        posterior = self._only_posterior()
        reach = interval_reach(level, posterior.coefficient_tests().degrees_of_freedom) * posterior.coefficient_std
        return posterior.mean[:, None] + np.multiply.outer(reach, [-1.0, 1.0])

    def _only_posterior(self) -> Any:
        check_is_fitted(self, "posterior_")
        if isinstance(self.posterior_, list):
            raise ValueError(
                "The model has several targets or classes. Use posterior_[k].coefficient_std and posterior_[k].coefficient_tests()."
            )
        return self.posterior_


def check_level(level: Any) -> None:
    """Raise a ValueError if the level of an interval is not between 0 and 1."""
    if not 0.0 < as_number(level) < 1.0:
        raise ValueError(f"level must be between 0 and 1, got {quoted(level)}.")


def interval_reach(level: float, degrees_of_freedom: float) -> float:
    """Return how many std an interval of a weight reaches to each side: where the p value is 1 - level. NaN without freedom."""
    return float(stats.t.isf(0.5 * (1.0 - level), degrees_of_freedom))

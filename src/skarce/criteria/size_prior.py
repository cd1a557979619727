r"""A prior on the size of a set, and what noise alone would gain.

A search that picks k of d candidates has :math:`\binom dk` sets to pick from, and the best of them stands out by chance. With a
prior under which every size is equally likely, and so is every set of that size, the log evidence L of a set becomes

.. math:: L - \log\binom dk.

One precision per weight needs another charge. A function that explains one row alone, with noise as its target t of variance s,
raises the log evidence by :math:`-\frac12\log(t^2/s)` on average if its precision fits that row, because the best precision is
:math:`1/t^2`. The mean of :math:`-\frac12\log\chi^2_1` is :math:`\frac12(\gamma + \log 2)`, with Euler's constant :math:`\gamma`. A
model that interpolates noise gains this much per function, so each function pays as much.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

NOISE_GAIN = 0.5 * float(np.euler_gamma + np.log(2.0))  # of the log evidence, for each function that fits the noise of one row


def log_number_of_sets(n_candidates: int, size: int) -> float:
    """Return the logarithm of the number of sets of this size."""
    return float(gammaln(n_candidates + 1) - gammaln(size + 1) - gammaln(n_candidates - size + 1))


def charge_for(n_candidates: int, size: int) -> float:
    """Return what a search pays for a model of this size: the log number of sets, and what noise gains."""
    return log_number_of_sets(n_candidates, size) + NOISE_GAIN * size


def charge_for_next(n_candidates: int, size: int) -> float:
    """Return what a model of this size pays for one more candidate. It is never negative, or large sets would be cheap."""
    return max(charge_for(n_candidates, size + 1) - charge_for(n_candidates, size), 0.0)

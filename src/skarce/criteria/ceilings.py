r"""How good a set of functions can be at best, if we only know how much of the target it leaves unexplained.

Least squares on the set leaves R of the target's energy t't, and explains E = t't - R. With ridges,
:math:`P = (I + \Phi\Lambda^{-1}\Phi^T)^{-1}` has eigenvalues between 0 and 1, and those other than 1 belong to directions in the
span of the set. The target has its whole E in one direction of this span, so no ridges do better than a P that shrinks this
direction alone, by a factor x:

- :math:`t^TPt = R + Ex` and :math:`\log|I + \Phi\Lambda^{-1}\Phi^T| = -\log x` for the evidence,
- :math:`t^TP^2t = R + Ex^2` and :math:`\operatorname{tr}P = n - 1 + x` for generalized cross validation.

The best x has a closed form in both cases. All of these bounds fall if R grows.
"""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats


def most_evidence(left: Floats, target_energy: float, n_samples: float, noise_variance: float | None = None) -> Floats:
    """Return the largest log evidence up to a constant: -(n/2) log(t'P t) + (1/2) log x, or with -t'P t / (2 noise)."""
    explained = np.maximum(target_energy - left, 0.0)
    if noise_variance is not None:
        shrunk = _share(noise_variance, explained)
        return 0.5 * (np.log(shrunk) - (left + explained * shrunk) / noise_variance)
    shrunk = _share(left, max(n_samples - 1.0, 0.0) * explained)
    return 0.5 * (np.log(shrunk) - n_samples * np.log(left + explained * shrunk))


def most_gcv(left: Floats, target_energy: float, n_samples: float) -> Floats:
    """Return the largest score of generalized cross validation: -(n/2) log(q / v^2)."""
    explained, others = np.maximum(target_energy - left, 0.0), max(n_samples - 1.0, 0.0)
    shrunk = _share(left, others * explained)
    return n_samples * (np.log(others + shrunk) - 0.5 * np.log(left + explained * shrunk**2))


def _share(part: Floats | float, whole: Floats) -> Floats:
    """Return part / whole, but at most 1."""
    return np.divide(part, whole, out=np.ones_like(whole), where=whole > part)

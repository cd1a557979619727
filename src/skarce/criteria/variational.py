r"""The lower bound of variational Bayesian least squares, with everything but weights and precisions at its best value.

Ting, D'Souza, Vijayakumar and Schaal give each candidate m a fake target with its own variance :math:`\psi_m`. The sum of these
variances is the noise variance s. Each weight has a precision :math:`\alpha_m`. Let :math:`\lambda=s\alpha`,
:math:`h=\mathrm{diag}(\Phi^T\Phi)`, :math:`u_m=\lambda_m/h_m`, :math:`\omega_m=\psi_m/s`. If the fake targets and the variances of
the weights have their best values, the bound for N rows is (VBLS errata 3.2, hyperpriors flat in :math:`\log\alpha`)

.. math:: L = -\tfrac N2\log 2\pi s - \tfrac1{2s}\bigl(|t-\Phi\mu|^2 + \mu^T\Lambda\mu\bigr) + \tfrac12\sum_m\log(1-\gamma_m),
    \qquad \gamma_m = \frac1{1+\omega_mu_m}, \quad \sum_m\omega_m = 1.

The evidence has :math:`-\frac12\log|I+\Phi\Lambda^{-1}\Phi^T|` instead of the last sum. A candidate that is left out
(:math:`u\to\infty`) contributes nothing, so models of different sizes can be compared. For given u the best shares are
:math:`\omega_m=\gamma_m/\Gamma` with :math:`\Gamma=\sum\gamma`, hence :math:`\gamma = 2/(1+\sqrt{1+4u/\Gamma})`.

For fixed weights, L is concave in the logarithms of precisions, shares and noise. So it has a single maximum over them, which is
cheap to find. For fixed ridges, the best weights are those of ridge regression. Alternating between the two never lowers L.

Candidates of a group g share :math:`u_g`: one precision for all their weights, in units of standard deviations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skarce._typing import Floats
from skarce.states.judge import Judge
from skarce.states.members import Members

SETTLED = 1e-13  # the relative change of Gamma at which the iterations stop


def determination(relative_ridges: Floats, sizes: Floats | None = None, start: float | None = None) -> tuple[Floats, float]:
    r"""Return gamma and its sum at the best shares, for relative ridges u of candidates, or of groups with these sizes.

    This is Newton's method on :math:`\log\sum\gamma(\Gamma)-\log\Gamma`, whose slope in :math:`\log\Gamma` is between -1 and -1/2.
    It starts at a Gamma that is near, if one is known.
    """
    sizes = np.ones(len(relative_ridges)) if sizes is None else sizes
    if not len(relative_ridges):
        return np.empty(0), 0.0
    total = float(sizes.sum()) if start is None else start
    for _ in range(100):
        root = np.sqrt(1.0 + 4.0 * relative_ridges / total)
        determined = 2.0 / (1.0 + root)
        weight = sizes * determined
        sum_now = float(weight.sum())
        growth = 0.5 * float(weight @ ((root - 1.0) / root)) / sum_now
        step = float(np.log(sum_now / total)) / (1.0 - growth)
        total *= float(np.exp(step))
        if abs(step) < SETTLED:
            break
    return 2.0 / (1.0 + np.sqrt(1.0 + 4.0 * relative_ridges / total)), total


def log_undetermined(relative_ridges: Floats, determined: Floats, total: float) -> Floats:
    """Return log(1 - gamma) = log(omega u / (1 + omega u)) with omega = gamma / Gamma, computed without a difference."""
    with np.errstate(divide="ignore"):
        return np.log(determined**2 * relative_ridges / total)


def bound(n_samples: float, energy: float, noise: float, relative_ridges: Floats, sizes: Floats | None = None) -> float:
    """Return L without its constant -(N/2) log(2 pi). `energy` is the residual energy plus the penalty at relative ridges u."""
    sizes = np.ones(len(relative_ridges)) if sizes is None else sizes
    return bound_at(n_samples, energy, noise, relative_ridges, sizes, *determination(relative_ridges, sizes))


def bound_at(
    n_samples: float, energy: float, noise: float, relative_ridges: Floats, sizes: Floats, determined: Floats, total: float
) -> float:
    """Return the same if gamma and its sum are known."""
    complexity = float(sizes @ log_undetermined(relative_ridges, determined, total)) if len(relative_ridges) else 0.0
    return 0.5 * (complexity - n_samples * float(np.log(noise)) - energy / noise)


@dataclass(frozen=True)
class VariationalBound(Judge):
    """The lower bound of Ting et al. on the log density of the targets."""

    def score(self, members: Members, n_samples: float) -> float:
        """Return L without its constant."""
        return bound(n_samples, members.energy, self.noise_at(members, n_samples), members.ridges / members.squared_norms)

    def value(self, score: Any, n_samples: float, n_total: float, target_scale: float) -> Any:
        """Return the bound on the log density of the targets, from scores for the targets multiplied by `target_scale`."""
        return score if n_samples <= 0.0 else score + n_samples * (np.log(target_scale) - 0.5 * np.log(2.0 * np.pi))

    def noise_at(self, members: Members, n_samples: float) -> float:
        """Return the noise variance that was learned, or else (|t - Phi w|^2 + w'Lambda w) / N."""
        return members.energy / n_samples if members.noise is None else members.noise


@dataclass(frozen=True)
class LikelihoodWithoutPrior(VariationalBound):
    """The log likelihood of least squares: the bound if the weights are parameters without a prior."""

    kind: ClassVar[str] = "LikelihoodWithoutPrior"

    def score(self, members: Members, n_samples: float) -> float:
        return -0.5 * n_samples * (float(np.log(members.energy / n_samples)) + 1.0)

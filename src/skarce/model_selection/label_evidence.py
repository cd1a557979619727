r"""The log evidence of labels as a function of the kernel widths, by the approximation of Laplace.

Log odds of a one are :math:`f\sim N(0, vC + \tau^2\,11^T)`: a Gaussian process with variance v and mean zero over the rows, and a
constant with standard deviation :math:`\tau = 10`. C is the centered kernel, or :math:`\Phi\Phi^T`, centered, with
``covariance="weights"``. With K for the whole covariance, the mode :math:`f = Ka`, the weights c of the rows,
:math:`W_i = c_ig_i(1 - g_i)` and :math:`B = I + W^{1/2}KW^{1/2}`,

.. math:: L = \log p(t|f) - \tfrac12a^Tf - \tfrac12\log|B|.

W moves with the mode and the mode with the widths. With :math:`R = W^{1/2}B^{-1}W^{1/2}`,
:math:`s_i = -\tfrac12(1 - B^{-1}_{ii})(1 - 2g_i)` and :math:`u = s - RKs`,

.. math:: \frac{\partial L}{\partial K} = \tfrac12\bigl(aa^T - R + ua^T + au^T\bigr)

(Rasmussen and Williams 2006, section 5.5.1; :math:`(1 - B^{-1}_{ii})/W_i` is the posterior variance of :math:`f_i`). Several
classes share the widths and v; their log evidences are added up.

If classes are separable, the evidence hardly falls as v grows. So :math:`v\bar e`, the prior variance that the process gives the
log odds, is exponentially distributed with mean :math:`2\tau^2`, as in `skarce.methods.latent`.

The optimizer moves :math:`\kappa = v\bar e\,\bar w`. Here :math:`\bar w` is the mean of p(1 - p) over classes of share p. So
:math:`\kappa` is the ratio of the signal to the noise if the likelihood is expanded about constant log odds, as `WidthEvidence`
with held noise does. A maximum of one is a good start for the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.special import expit, log_expit

from skarce._linalg import cholesky_of_nearly_singular
from skarce._parallel import add_squares, product
from skarce._typing import Floats
from skarce.likelihoods import Bernoulli
from skarce.model_selection.kernel_slopes import KernelSlopes
from skarce.model_selection.width_evidence import ROUNDING, KernelPrior, Value, WidthEvidence

MODE = 1e-8  # the step of Newton that promises no more nats than this is the last one
NEAR_MODE = 1e-6  # below this, a step that promises almost as much as the one before is rounding
NEWTON_STEPS, HALVINGS = 100, 30


class LabelEvidence:
    """The log evidence of labels and its gradient at any widths, for given rows.

    Parameters
    ----------
    kernel : the kernel between rows and centers
    signs : labels as +1 and -1, shape (n_rows, n_classes)
    weights : sample weights, or None if all are 1
    expanded : the evidence of the same labels, expanded about constant log odds
    covariance : ``"weights"`` or ``"kernel"``
    priors : priors of the kernels
    fit_intercept : whether log odds have a constant
    """

    def __init__(
        self,
        kernel: KernelSlopes,
        signs: Floats,
        weights: Floats | None,
        expanded: WidthEvidence,
        *,
        covariance: str = "kernel",
        priors: Sequence[KernelPrior] = (),
        fit_intercept: bool = True,
    ) -> None:
        self._kernel, self._priors, self._expanded = kernel, priors, expanded
        self._is_kernel, self._fit_intercept = covariance == "kernel", fit_intercept
        counts = np.ones(len(signs)) if weights is None else weights
        self._shares = counts / counts.sum()
        self._modes = [_Mode(column, counts) for column in signs.T]
        means = self._shares @ signs
        self._curvature = float(np.mean(1.0 - means**2)) / 4.0  # p(1 - p) with p = (1 + mean)/2

    def best_ratio(self, widths: Floats) -> float:
        """Return a good ratio kappa at these widths: the best one of the expansion about constant log odds."""
        return self._expanded.best_ratio(widths)

    def at(self, widths: Floats, ratio: float) -> Value:
        """Return the value at these widths and this ratio kappa."""
        phi, slope = self._kernel.values_and_slopes(widths)
        known = [prior.at(phi) for prior in self._priors]
        raw = phi if self._is_kernel else _squares(phi)
        covariance = self._centered(raw)
        energy, least = float(self._shares @ covariance.diagonal()), ROUNDING * float(self._shares @ raw.diagonal())
        variance = ratio / (self._curvature * energy) if energy > least else 0.0  # else the kernel does not vary at this width
        value, by_covariance = self._summed(variance * covariance)
        by_ratio = variance * float(np.vdot(by_covariance, covariance))
        by_covariance *= variance
        if variance > 0.0:  # v falls if the energy grows
            by_covariance.flat[:: len(raw) + 1] -= by_ratio / energy * self._shares
        by_phi = self._centered_slope(by_covariance)
        if not self._is_kernel:
            by_phi = 2.0 * product(by_phi, phi)
        for _, by_row in known:
            by_phi += by_row[:, None]
        by_phi *= slope
        penalty = ratio / self._curvature / (2.0 * Bernoulli.latent_scale**2)
        posterior = value - penalty + sum(log_density for log_density, _ in known)
        by_widths = widths * self._kernel.sums_over_pairs(by_phi)
        noise = np.full(len(self._modes), 1.0 / self._curvature)
        return Value(value, posterior, by_widths, by_ratio - penalty, noise, energy / ratio)

    def _centered(self, covariance: Floats) -> Floats:
        """Return the covariance of a signal less its mean over the rows, if there is a constant."""
        if not self._fit_intercept:
            return covariance
        means = covariance @ self._shares
        return covariance - (means[:, None] + means) + float(self._shares @ means)

    def _centered_slope(self, by_covariance: Floats) -> Floats:
        """Return the derivative in the covariance, given that in the centered covariance."""
        if not self._fit_intercept:
            return by_covariance
        sums = by_covariance.sum(axis=1) - 0.5 * float(by_covariance.sum()) * self._shares
        removed = np.multiply.outer(self._shares, sums)
        return by_covariance - (removed + removed.T)

    def _summed(self, covariance: Floats) -> tuple[float, Floats]:
        """Return the sum over classes of the log evidence, and its derivative in the covariance of the log odds."""
        if self._fit_intercept:
            covariance = covariance + Bernoulli.latent_scale**2
        total, by_covariance = 0.0, np.zeros_like(covariance)
        for mode in self._modes:
            total += mode.log_evidence(covariance, by_covariance)
        lower = np.tril(by_covariance, -1)
        return total, lower + lower.T + np.diag(by_covariance.diagonal())


class _Slopes(NamedTuple):
    """At some log odds: the first derivative of the log likelihood, minus the second, and 1 - 2g."""

    first: Floats
    curvature: Floats
    skew: Floats


class _Mode:
    """The mode of the log odds of one class. It starts at the mode for the covariance before.

    With signs, classes that change places change signs only, to the last digit.
    """

    def __init__(self, signs: Floats, counts: Floats) -> None:
        self._signs, self._counts = signs, counts
        self._latent = np.zeros(len(signs))

    def log_evidence(self, covariance: Floats, by_covariance: Floats) -> float:
        """Return the log evidence, and add its derivative in the covariance to the lower half of the array."""
        newton, a, move = self._find(covariance)
        root, lower = newton.root, newton.lower
        inverse, _ = lapack.dpotri(lower, lower=1)
        pull = -0.5 * (1.0 - inverse.diagonal()) * newton.slopes.skew
        # B is from before the last step, which changes -log|B|/2 by this product.
        value = self._log_posterior(a, self._latent) - float(np.log(lower.diagonal()).sum()) + float(pull @ move)
        moved = pull - newton.solve(covariance @ pull)
        inverse *= 0.5 * root
        inverse *= root[:, None]
        by_covariance -= inverse
        # a a'/2 + (u a' + a u')/2 = (h a' + a h')/2 with h = a/2 + u
        half = 0.5 * a + moved
        by_covariance += 0.5 * product(np.column_stack([half, a]), np.stack([a, half]))
        return value

    def _find(self, covariance: Floats) -> tuple[_Newton, Floats, Floats]:
        """Go to the mode by Newton's method with step halving. Return the last step, a at its end, and its change of f."""
        a = _Newton.of(covariance, self._slopes(self._latent)).target(self._latent)
        self._latent = covariance @ a
        if not self._log_posterior(a, self._latent) > self._log_posterior(0.0 * a, 0.0 * a):
            a, self._latent = 0.0 * a, 0.0 * a
        before = np.inf
        for _ in range(NEWTON_STEPS):
            newton = _Newton.of(covariance, self._slopes(self._latent))
            step = newton.target(self._latent) - a
            move = covariance @ step
            promised = float((newton.slopes.first - a) @ move)
            is_last = promised <= MODE or (promised <= NEAR_MODE and promised > 0.25 * before)
            share = 1.0 if is_last else self._share_of_step(a, step, move)
            a, self._latent, before = a + share * step, self._latent + share * move, promised
            if is_last or share == 0.0:
                break
        return newton, a, share * move

    def _share_of_step(self, a: Floats, step: Floats, move: Floats) -> float:
        """Return how much of a step to take: it is halved until the log posterior rises. 0 if it does not."""
        before = self._log_posterior(a, self._latent)
        for share in 0.5 ** np.arange(HALVINGS):
            if self._log_posterior(a + share * step, self._latent + share * move) > before:
                return float(share)
        return 0.0

    def _slopes(self, latent: Floats) -> _Slopes:
        wrong, right = expit(-self._signs * latent), expit(self._signs * latent)
        return _Slopes(self._counts * self._signs * wrong, self._counts * wrong * right, self._signs * (wrong - right))

    def _log_posterior(self, dual: Floats, latent: Floats) -> float:
        return float(self._counts @ log_expit(self._signs * latent)) - 0.5 * float(dual @ latent)


class _Newton(NamedTuple):
    """A step of Newton's method at some log odds.

    Attributes
    ----------
    covariance : K
    slopes : derivatives of the log likelihood
    root : the square root of W
    lower : the Cholesky factor of B
    """

    covariance: Floats
    slopes: _Slopes
    root: Floats
    lower: Floats

    @classmethod
    def of(cls, covariance: Floats, slopes: _Slopes) -> _Newton:
        root = np.sqrt(slopes.curvature)
        matrix = covariance * root
        matrix *= root[:, None]
        matrix.flat[:: len(matrix) + 1] += 1.0
        return cls(covariance, slopes, root, cholesky_of_nearly_singular(matrix))

    def solve(self, right: Floats) -> Floats:
        """Return R times a vector."""
        solved, _ = lapack.dpotrs(self.lower, self.root * right, lower=1)
        return self.root * solved

    def target(self, latent: Floats) -> Floats:
        """Return a at the end of the step."""
        right = self.slopes.curvature * latent + self.slopes.first
        return right - self.solve(self.covariance @ right)


def _squares(phi: Floats) -> Floats:
    """Return Phi Phi'."""
    gram = np.zeros((len(phi), len(phi)))
    add_squares(phi.T, gram)
    return gram

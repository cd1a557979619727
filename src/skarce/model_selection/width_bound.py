r"""One kernel width by the variational bound, under a prior (Ting et al., section 5.2, with the sign of eq. 45 corrected)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_X_y

from skarce._text import quoted
from skarce._typing import Floats
from skarce.basis.widths import scale_gamma

SCANNED = 7  # number of values of log gamma, within two standard deviations of its prior mean
HALVINGS = 8  # how often the interval between the neighbors of the best value is halved


class WidthByBound(NamedTuple):
    """What `width_by_bound` found.

    Attributes
    ----------
    gamma : float
        The inverse squared width with the largest bound.
    bound : float
        The bound at this width plus the log prior density, up to a constant.
    model : estimator
        The model fitted with this width.
    n_fits : int
        The number of models that were fitted.
    """

    gamma: float
    bound: float
    model: Any
    n_fits: int


def width_by_bound(estimator: Any, X: Any, y: Any, *, prior_spread: float = 1.5) -> WidthByBound:
    r"""Choose the gamma of rbf kernels that maximizes the variational bound of a `VBLSRegressor` under a log-normal prior.

    Parameters
    ----------
    estimator : VBLSRegressor
        The model, with rbf kernels at the training rows and a factorized bound. It is cloned for every width and not changed.
    X : array-like of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Targets.
    prior_spread : float, default=1.5
        Standard deviation of log gamma under the prior.

    Returns
    -------
    found : WidthByBound
        A named tuple with the width `gamma`, its `bound`, the fitted `model`, and the number of fits `n_fits`.

    See Also
    --------
    learn_widths : Widths by the evidence, also one for each input.
    skarce.VBLSRegressor : The model whose bound is maximized.
    skarce.CriterionSearch : Chooses any parameter by the criterion of a model.

    Notes
    -----
    With the bound :math:`L(\gamma)` of the fitted model, the function maximizes

    .. math:: L(\gamma) - \frac{(\log\gamma - \log\gamma_0)^2}{2 s^2},

    with s = `prior_spread` and :math:`\gamma_0` the value of ``gamma="scale"``. The paper warns against maximizing without a prior:
    very narrow kernels fit anything. The bound jumps if another set of kernels enters the model. So a scan over
    :math:`\log\gamma_0\pm 2s` comes first. Then the sign of the derivative halves the interval around the best value of the scan.

    References
    ----------
    Ting, J.-A., D'Souza, A., Vijayakumar, S. and Schaal, S. Efficient learning and feature selection in high-dimensional
    regression. Section 5.2, with the sign of eq. 45 corrected.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import VBLSRegressor
    >>> from skarce.model_selection import width_by_bound
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-10, 10, (100, 1))
    >>> found = width_by_bound(VBLSRegressor("rbf"), X, np.sinc(X[:, 0] / np.pi) + rng.uniform(-0.2, 0.2, 100))
    >>> bool(0.03 < found.gamma < 0.5)
    True
    """
    if not prior_spread > 0.0:
        raise ValueError(f"prior_spread must be positive, got {quoted(prior_spread)}.")
    X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    middle = float(np.log(scale_gamma(X, None)))
    fits: dict[float, tuple[float, Any]] = {}

    def value(x: float) -> float:
        if x not in fits:
            model = clone(estimator).set_params(basis__gamma=float(np.exp(x))).fit(X, y)
            fits[x] = model.criterion_ - 0.5 * ((x - middle) / prior_spread) ** 2, model
        return fits[x][0]

    scan = (middle + prior_spread * np.linspace(-2.0, 2.0, SCANNED)).tolist()
    best = int(np.argmax([value(x) for x in scan]))
    left, right = scan[max(best - 1, 0)], scan[min(best + 1, SCANNED - 1)]
    at = scan[best]
    for _ in range(HALVINGS):
        slope = float(np.exp(at)) * bound_slope(fits[at][1], X, y) - (at - middle) / prior_spread**2
        left, right = (at, right) if slope > 0.0 else (left, at)
        at = 0.5 * (left + right)
        value(at)
    chosen = max(fits, key=lambda x: fits[x][0])
    return WidthByBound(float(np.exp(chosen)), *fits[chosen], len(fits))


def bound_slope(model: Any, X: Floats, y: Floats) -> float:
    r"""Return the derivative in gamma of the bound of a fitted model with rbf kernels (VBLS errata 3.10).

    .. math:: \frac{dL}{d\gamma} = -\frac1s r^T(D\circ K)\mu + \sum_j\frac{\gamma_j}{h_j}\sum_i k_{ij}d_{ij}k_{ij},

    where K is centered by column and D are the squared distances. All else is at its optimum, so its derivatives do not count.
    """
    from sklearn.metrics.pairwise import euclidean_distances  # slow to import

    posterior = model.posterior_
    if isinstance(posterior, list) or not posterior.is_factorized:
        raise ValueError('width_by_bound needs one output and a factorized bound: prior="ard", group labels, or factorized=True.')
    distances = euclidean_distances(X, model.relevance_vectors_, squared=True)
    kernel = np.exp(-model.basis_.gamma_ * distances)
    change = distances * kernel
    if posterior.fit_intercept:
        kernel = kernel - kernel.mean(axis=0)
        change = change - change.mean(axis=0)
    residual = y - model.predict(X)
    squared_norms = np.einsum("ij,ij->j", kernel, kernel)
    overlap = np.einsum("ij,ij->j", kernel, change)
    fit = -float(residual @ (change @ posterior.mean)) / posterior.noise_variance
    return fit + float((posterior.well_determined / squared_norms) @ overlap)

r"""One kernel width by the variational bound, under a prior (Ting et al., section 5.2, with the sign of eq. 45 put right)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_X_y

from skarce._typing import Floats
from skarce.basis.widths import scale_gamma

SCANNED = 7  # values of log gamma over two standard deviations of its prior to either side
HALVINGS = 8  # of the interval between the neighbours of the best one


class WidthByBound(NamedTuple):
    """The width, the bound there (with the log prior, up to a constant), the model, and how many were fitted."""

    gamma: float
    bound: float
    model: Any
    n_fits: int


def width_by_bound(estimator: Any, X: Any, y: Any, *, prior_spread: float = 1.5) -> WidthByBound:
    r"""The gamma of rbf kernels at the training inputs that maximizes the bound of a `VBLSRegressor` under a log-normal prior.

    The prior is centered at ``gamma="scale"``. The paper warns of maximising without one: very narrow kernels fit anything. The
    bound jumps where another set of kernels takes over, so a scan comes first, and the gradient then halves the interval around
    its best.

    Parameters
    ----------
    estimator : VBLSRegressor
        With a kernel basis. It is cloned for every width.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    prior_spread : float, default=1.5
        Standard deviation of log gamma.

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
        raise ValueError(f"prior_spread must be positive, got {prior_spread!r}.")
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
    r"""The derivative of the bound of a fitted model with rbf kernels in gamma (VBLS errata 3.10).

    .. math:: \frac{dL}{d\gamma} = -\frac1s r^T(D\circ K)\mu + \sum_j\frac{\gamma_j}{h_j}\sum_i k_{ij}d_{ij}k_{ij},

    K about its column means, D the squared distances. All else is at its best, so its derivatives do not count.
    """
    posterior = model.posterior_
    if isinstance(posterior, list) or not posterior.is_factorized:
        raise ValueError('the slope is that of the factorised bound of one output: prior="ard", labels, or factorized=True.')
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

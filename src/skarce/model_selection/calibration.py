r"""What left-out rows say about the uncertainty of a model: one factor on the std, one temperature, one dispersion.

A fit chooses functions and estimates the noise on the same rows. If it chooses among many functions, the noise that it finds is too
small, and no formula of the posterior knows of it. Rows that took no part in a fit do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, log_expit, log_softmax

from skarce._typing import Floats, Indices
from skarce.model_selection.far_off import FEWEST_ROWS, STD_OF_MEDIAN, far_off

EXPECTED_ROWS = 10.0  # rows that are as the model expects; they count if the left-out rows ask for a smaller std
UNUSUAL = 3.0  # robust standard deviations of a target from the median
MOST = 0.5  # outliers hold more than this share of all squared errors
TOO_SURE = 5.0  # on real tables, factors on the std are between 1 and 3 unless something is wrong
NOTICEABLE = 0.1  # errors of left-out rows, in standard deviations of the target
MOST_ROUNDS = 200  # of the scale of Student's t, which converges in some tens
SETTLED = 1e-10
PRIOR_OF_LOG = float(np.log(2.0))  # a temperature is believed to be within a factor of about two of one
LOG_BOUNDS = (-5.0, 5.0)  # of the logarithm of a temperature
REACH = 1e-4  # around a minimum that was found by values, for the zero of the slope
LEAST_LOG_DENSITY = -1e6  # of a count; below it, all are equally impossible


def std_scale(
    errors: Floats,
    variances: Floats,
    weights: Floats,
    freedom: float = np.inf,
    expected_rows: float = EXPECTED_ROWS,
    *,
    of_bulk: bool = False,
) -> float:
    r"""Return the factor on the std: the root mean square of error / std over left-out rows.

    For Student's t noise, whose squares may vary without bound, it is the scale of most likelihood. With z = error / std, and
    :math:`u = \nu/(\nu - 2)` the variance of Student's t, it solves

    .. math:: c^2 = u\,\langle\tau z^2\rangle, \qquad \tau = \frac{\nu + 1}{\nu + uz^2/c^2}.

    Rows whose std is zero are not counted: no factor changes it. The factor is 1 if no row is left, or if all errors are zero. Few
    rows are not believed if they ask for less: below one, `expected_rows` more with an error of one std each are counted.

    Parameters
    ----------
    errors : ndarray of shape (n_left_out,)
        Targets minus predictions.
    variances : ndarray of shape (n_left_out,)
        Variances of new targets.
    weights : ndarray of shape (n_left_out,)
        Sample weights.
    freedom : float, default=inf
        Degrees of freedom of the noise.
    expected_rows : float, default=10
        Rows that are as the model expects.
    of_bulk : bool, default=False
        Whether the median of the absolute values takes the place of the root mean square. So the noise of a robust loss is found,
        too: it is that of most rows, and no std covers the outliers.
    """
    counts = (variances > 0.0) & (weights > 0.0)
    if not counts.any():
        return 1.0
    shares = weights[counts] / weights[counts].sum()
    with np.errstate(over="ignore"):
        squares = errors[counts] ** 2 / variances[counts]
        square = _median_square(squares, shares) if of_bulk else _mean_square(squares, shares, freedom)
    if not 0.0 < square < np.inf:
        return 1.0
    return _with_expected_rows(square, float(weights[counts].sum()), expected_rows)


def std_scale_of_sums(squares: float, variances: float, n_rows: float) -> float:
    """Return the factor on the std from sums over left-out rows: of their squared errors, and of the variances of new targets."""
    square = squares / variances if variances > 0.0 else 0.0
    return _with_expected_rows(square, n_rows, EXPECTED_ROWS) if 0.0 < square < np.inf else 1.0


def _with_expected_rows(square: float, n_rows: float, expected_rows: float) -> float:
    """Return the factor whose square left-out rows ask for. If it is below one, rows that are as expected count too."""
    return float(np.sqrt(square if square >= 1.0 else (n_rows * square + expected_rows) / (n_rows + expected_rows)))


def outlying(targets: Floats, errors: Floats, variances: Floats, weights: Floats) -> Indices:
    """Return the few left-out rows with unusual targets and errors far beyond the others, if they hold most of all squared errors.

    They would decide the factor on the std, and with normal noise the other rows would get intervals that are far too wide. A row
    with a usual target may be far off because its inputs are unusual. Then it is the model that is wrong, and the row counts.
    """
    counts = np.flatnonzero((variances > 0.0) & (weights > 0.0))
    if not len(counts):
        return counts
    with np.errstate(over="ignore"):
        squares = errors[counts] ** 2 / variances[counts]
    rows = far_off(np.sqrt(squares)[:, None])
    distances = np.abs(targets - np.median(targets))
    rows = rows[distances[counts[rows]] > UNUSUAL * STD_OF_MEDIAN * np.median(distances)]
    energies = weights[counts] * squares
    return counts[rows] if energies[rows].sum() > MOST * energies.sum() else counts[:0]


def is_too_sure(scale: float, errors: Floats, targets: Floats, weights: Floats) -> bool:
    """Tell whether left-out rows are much farther off than the model expects, by a distance that matters.

    Without noise, a good model has tiny errors and an even smaller std. This is fine.
    """
    if len(errors) < FEWEST_ROWS:
        return False
    spread = np.average((targets - np.average(targets, weights=weights)) ** 2, weights=weights)
    return scale > TOO_SURE and np.average(errors**2, weights=weights) > NOTICEABLE**2 * spread


def _mean_square(squares: Floats, shares: Floats, freedom: float) -> float:
    scale = float(shares @ squares)
    if np.isinf(freedom) or not 0.0 < scale < np.inf:
        return scale
    unit = freedom / (freedom - 2.0)  # the variance of Student's t
    for _ in range(MOST_ROUNDS):
        before, weights = scale, (freedom + 1.0) / (freedom + unit * squares / scale)
        scale = unit * float(shares @ (weights * squares))
        if abs(scale - before) <= SETTLED * scale:
            break
    return scale


def _median_square(squares: Floats, shares: Floats) -> float:
    """Return the weighted median of the squares, over that of a squared standard normal variable."""
    order = np.argsort(squares, kind="stable")
    total = np.cumsum(shares[order])
    return STD_OF_MEDIAN**2 * float(squares[order[np.searchsorted(total, 0.5 * total[-1])]])


def about(log_odds: Floats, center: Floats, divisor: float) -> Floats:
    """Return log odds with their distance from the center divided."""
    return center + (log_odds - center) / divisor


def log_odds_of_shares(targets: Floats, weights: Floats) -> Floats:
    """Return the log odds of the share of each class, which are finite because half a row is added on both sides."""
    inside = weights @ targets
    return np.log(inside + 0.5) - np.log(weights.sum() - inside + 0.5)


def temperature(log_odds: Floats, targets: Floats, weights: Floats, center: Floats) -> float:
    """Return the temperature T that makes the log loss of left-out rows smallest, with a weak prior around one.

    The distance of log odds from their center, the shares of the classes, is divided by T: a model that knows nothing has T = inf
    and predicts these shares. The prior, normal in log T with a standard deviation of log 2, decides if there are no left-out rows,
    and keeps T positive if these are separated without an error.

    Parameters
    ----------
    log_odds : ndarray of shape (n_left_out, n_functions)
        Log odds of the second class, or of each class against the rest.
    targets : ndarray of shape (n_left_out, n_functions)
        Ones and zeros: whether the row is of this class.
    weights : ndarray of shape (n_left_out,)
        Sample weights.
    center : ndarray of shape (n_functions,)
        Log odds of the shares of the classes.
    """

    def loss(log_temperature: float) -> float:
        scaled = about(log_odds, center, np.exp(log_temperature))
        return log_loss(scaled, targets, weights) + 0.5 * (log_temperature / PRIOR_OF_LOG) ** 2

    def slope(log_temperature: float) -> float:
        scaled = about(log_odds, center, np.exp(log_temperature))
        by_log_odds = slopes_of_log_loss(scaled, targets, weights)
        return -float(np.vdot(by_log_odds, scaled - center)) + log_temperature / PRIOR_OF_LOG**2

    return float(np.exp(_refined(slope, _least(loss, LOG_BOUNDS))))


def _refined(slope: Callable[[float], float], at: float) -> float:
    """Return the zero of the slope near a minimum. The values of a function determine its minimum to half of their digits only."""
    low, high = at - REACH, at + REACH
    return float(brentq(slope, low, high, xtol=1e-14)) if slope(low) < 0.0 < slope(high) else at


def log_loss(log_odds: Floats, targets: Floats, weights: Floats) -> float:
    """Return the sum of -log p of the classes of all rows."""
    if log_odds.shape[1] == 1:
        sides = np.where(targets[:, 0] > 0.5, log_odds[:, 0], -log_odds[:, 0])
        return -float(weights @ log_expit(sides))
    return -float(weights @ (targets * log_softmax(log_expit(log_odds), axis=1)).sum(axis=1))


def slopes_of_log_loss(log_odds: Floats, targets: Floats, weights: Floats) -> Floats:
    """Return the derivatives of `log_loss` in the log odds. With s = expit(f) and p = s / sum(s) they are -w (t - p)(1 - s)."""
    if log_odds.shape[1] == 1:
        return -weights[:, None] * ((targets > 0.5) - expit(log_odds))
    return -weights[:, None] * (targets - np.exp(log_softmax(log_expit(log_odds), axis=1))) * expit(-log_odds)


def _least(loss: Callable[[float], float], bounds: tuple[float, float]) -> float:
    return float(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-8}).x)


def dispersion(counts: Floats, means: Floats, variances: Floats) -> float:
    """Return the factor on the variances of counts so that the log loss of left-out rows is smallest, with the same weak prior.

    It is at least one: no count varies less than a Poisson count. Squared errors divided by variances would not do, because the
    mean of a count that was not expected at all may be tiny.

    Parameters
    ----------
    counts : ndarray of shape (n_left_out,)
        Counts of left-out rows. Each row is one count, whatever its exposure, which is part of its mean and variance.
    means, variances : ndarrays of shape (n_left_out,)
        Their means and variances by the refits.
    """
    from skarce.likelihoods.poisson import count_log_density

    known = (means > 0.0) & (means < np.inf) & (variances < np.inf)

    def loss(log_factor: float) -> float:
        densities = count_log_density(counts[known], means[known], np.exp(log_factor) * variances[known])
        return 0.5 * (log_factor / PRIOR_OF_LOG) ** 2 - float(np.maximum(densities, LEAST_LOG_DENSITY).sum())

    return float(np.exp(_least(loss, (0.0, LOG_BOUNDS[1]))))

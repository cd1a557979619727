"""Whether intervals keep their promise on given rows: coverage at all levels, z scores, and width against error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_consistent_length

from skarce._parameters import check_coverage
from skarce._text import quoted
from skarce._typing import Floats
from skarce._validation import checked_array
from skarce.inspection.predictor import Predictor, predictor_of
from skarce.inspection.tables import check_no_text

LEVELS = np.append(np.arange(0.05, 0.96, 0.05), 0.99)  # of the intervals whose coverage is counted
COVERAGE = 0.95  # of the intervals whose width is compared with errors


@dataclass(frozen=True)
class IntervalCheck:
    """What rows say about the intervals of their predictions.

    Attributes
    ----------
    levels : ndarray of shape (n_levels,)
        The coverage that intervals promise.
    shares : ndarray of shape (n_levels,)
        The share of targets in them.
    z_scores : ndarray of shape (n_rows,)
        (target - mean) / std. If the target was transformed before the fit, this is on the scale of the model.
    errors : ndarray of shape (n_rows,)
        Target - mean, in the units of the data.
    half_widths : ndarray of shape (n_rows,)
        Half of the width of the interval at `coverage`, in the units of the data.
    coverage : float
        The level of `half_widths`.
    noise_freedom : float
        Degrees of freedom of Student's t noise, infinite for normal noise.
    has_whole_ends : bool
        Whether the ends of intervals are whole numbers, as those of counts. Such intervals cover at least as much as they promise.
    """

    levels: Floats
    shares: Floats
    z_scores: Floats
    errors: Floats
    half_widths: Floats
    coverage: float = COVERAGE
    noise_freedom: float = np.inf
    has_whole_ends: bool = False

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.errors)

    def chance(self, share: float = COVERAGE) -> tuple[Floats, Floats]:
        """Return between which shares chance leaves those of a perfect model, with this probability, if rows are independent."""
        tail = 0.5 * (1.0 - check_coverage(share))
        ends = (stats.binom.ppf(q, self.n_rows, self.levels) / self.n_rows for q in (tail, 1.0 - tail))
        lower, upper = ends
        return lower, upper

    def error_by_width(self, n_bins: int = 8) -> tuple[Floats, Floats]:
        """Return the root mean squares of half widths and of errors in groups of equal size, from narrow to wide intervals."""
        order = np.argsort(self.half_widths, kind="stable")
        groups = np.array_split(order, min(n_bins, self.n_rows))
        widths, errors = ([_root_mean_square(values[group]) for group in groups] for values in (self.half_widths, self.errors))
        return np.array(widths), np.array(errors)

    def density(self, z: Floats) -> Floats:
        """Return the density of z scores that the model expects: normal, or Student's t of unit variance."""
        if np.isinf(self.noise_freedom):
            return np.asarray(stats.norm.pdf(z))
        scale = np.sqrt((self.noise_freedom - 2.0) / self.noise_freedom)
        return np.asarray(stats.t.pdf(z, self.noise_freedom, scale=scale))


def check_intervals(model: Any, X: Any, y: Any, *, target: Any = None, levels: Any = None, caller: str = "") -> IntervalCheck:
    """Compare the intervals of a fitted regressor with the targets of rows that it has not seen.

    Parameters
    ----------
    model : estimator
        A fitted regressor of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
    X, y : array-likes
        Rows that were not used for the fit, and their targets.
    target : int or str, default=None
        Which target, if there are several, by number or name of its column in y.
    levels : array-like of shape (n_levels,), default=None
        Levels between 0 and 1. None stands for 5 %, 10 %, ..., 95 % and 99 %.
    caller : str, default=""
        Who asks, for messages.
    """
    check_no_text(X)
    predictor = predictor_of(model, target, caller or "check_intervals", X, y)
    every = predictor.targets(y)
    check_consistent_length(X, every)
    at, targets = _checked_levels(levels), predictor.of_target(every)
    lower, upper = predictor.interval(X, COVERAGE)
    return IntervalCheck(
        levels=at,
        shares=coverage_curve(targets, [predictor.interval(X, level) for level in at]),
        z_scores=predictor.z_scores(X, every),
        errors=targets - predictor.mean(X),
        half_widths=0.5 * (upper - lower),
        noise_freedom=_noise_freedom(predictor),
        has_whole_ends=predictor.found.has_counts,
    )


def check_predictions(y: Any, mean: Any, std: Any, levels: Any = None) -> IntervalCheck:
    """Compare normal predictions, of any model, with targets."""
    names = ("y", "mean", "std")
    y, mean, std = (
        checked_array(values, name, ensure_2d=False, dtype=np.float64) for values, name in zip((y, mean, std), names, strict=True)
    )
    for values, name in ((y, "y"), (mean, "mean"), (std, "std")):
        if values.ndim != 1:
            raise ValueError(f"{name} must have one dimension, got shape {values.shape}. Pass one target at a time.")
    check_consistent_length(y, mean, std)
    if not (std > 0.0).all():
        raise ValueError(f"std must be positive, got {std.min():.6g} in row {std.argmin()}.")
    at = _checked_levels(levels)
    reach = stats.norm.ppf(0.5 + 0.5 * at)
    shares = coverage_curve(y, [(mean - times * std, mean + times * std) for times in reach])
    return IntervalCheck(at, shares, (y - mean) / std, y - mean, float(stats.norm.ppf(0.5 + 0.5 * COVERAGE)) * std)


def coverage_curve(y: Floats, intervals: Any) -> Floats:
    """Return the share of targets in each of several lists of intervals. A list has two arrays, lower and upper ends.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0.0, 1.0, 2.0])
    >>> coverage_curve(y, [(y - 1.0, y + 1.0), (np.zeros(3), np.ones(3))]).round(2)
    array([1.  , 0.67])
    """
    return np.array([np.mean((lower <= y) & (y <= upper)) for lower, upper in intervals])


def _checked_levels(levels: Any) -> Floats:
    if levels is None:
        return LEVELS
    at = np.asarray(checked_array(levels, "levels", ensure_2d=False, dtype=np.float64))
    if at.ndim != 1 or not ((at > 0.0) & (at < 1.0)).all():
        raise ValueError(f"levels must be a list of numbers above 0 and below 1, got {quoted(levels)}.")
    return np.sort(at)


def _noise_freedom(predictor: Predictor) -> float:
    if not predictor.found.has_functions:
        return np.inf
    posterior = predictor.found.model._posteriors()[predictor.output]
    return float(getattr(posterior, "noise_freedom", np.inf))  # counts have no noise of their own


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values))))

"""The ranges of magnitudes in which all methods compute the same model in any units, and the checks of them.

Sums over the rows have squares of targets and of distances between inputs. Squares of candidates enter such sums too, and products
of two sums enter criteria: the fourth power of their magnitude, times the sample weights, must neither overflow nor underflow. The
precision of a weight is a squared candidate divided by a squared target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, issparse

from skarce._typing import Floats, Indices


class Range(NamedTuple):
    """The largest absolute value of a column is at least `smallest` and at most `largest`, or it is zero."""

    smallest: float
    largest: float

    def __str__(self) -> str:
        return f"{self.smallest:g} to {self.largest:g}"


SQUARED = Range(1e-151, 1e151)  # of targets, and of inputs of kernels: their squares are sums of a million numbers at least
CANDIDATES = Range(1e-60, 1e60)  # of inputs and outputs of transformers that are candidates, and of kernels
RATIO = Range(1e-152, 1e152)  # of candidates to a target: its square is a precision
CONSTANT = 1e-12  # a column whose standard deviation is a smaller share of its largest absolute value is constant
FARTHEST = 1e150  # in standard deviations: squares of inputs that are farther away overflow
NEGLIGIBLE = 1e-75  # a kernel whose root mean square is smaller is zero, next to others in range
SINGLE_SMALLEST, SINGLE_LARGEST = 1e-15, 1e15  # inputs in single precision that are out of this range are computed in double
LEAST_WEIGHT, MOST_WEIGHT = 1e-15, 1e15  # the largest sample weight is in this range
NEGLIGIBLE_WEIGHT = 1e-30  # a sample weight below this share of the largest is zero: it is far below the rounding of all sums
SMALLEST_PARAMETER, LARGEST_PARAMETER = 1e-150, 1e150  # of parameters such as ridges, next to squared columns in range
CANDIDATES_IN_RANGE = (
    f"candidates must be finite and in the range {CANDIDATES}. Scale the inputs, for instance with StandardScaler, or choose other "
    "parameters of the basis."
)


def largest_of(values: Any) -> Floats:
    """Return the largest absolute value of each column (of an array with one dimension: of all values). NaN stays NaN."""
    if issparse(values):
        values = csc_array(values)
        return np.maximum(values.max(axis=0).toarray(), -values.min(axis=0).toarray()).ravel().astype(np.float64)
    return np.maximum(values.max(axis=0), -values.min(axis=0)).astype(np.float64, copy=False)


def center_and_spread(values: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of each column. A constant column has its absolute value as spread, or 1."""
    largest = np.abs(values).max(axis=0)
    unit = np.where(largest > 0.0, largest, 1.0)
    scaled = values / unit
    center = np.average(scaled, axis=0, weights=weights)
    spread = np.sqrt(np.average((scaled - center) ** 2, axis=0, weights=weights))
    return center * unit, np.where(spread > CONSTANT, spread, 1.0) * unit


def standardized_inputs(X: Floats, mean: Floats, scale: Floats) -> Floats:
    """Return inputs in units of their standard deviations. NaN stays NaN. Raise a ValueError if a row is too far."""
    with np.errstate(over="ignore"):
        inputs = X / scale - mean / scale
    far = np.where(np.isnan(inputs), 0.0, np.abs(inputs))
    if not (far <= FARTHEST).all():
        row, column = np.unravel_index(np.argmax(far), far.shape)
        raise ValueError(
            f"row {row} of X has a value in column {column} that is {far[row, column]:.3g} standard deviations away from the "
            f"mean of the rows of fit, but at most {FARTHEST:g} are possible. Check the units of X."
        )
    return inputs


def checked_scales(X: Any, limits: Range = SQUARED, *, is_first: bool = True, name: str = "X") -> Any:
    """Return X, in double precision if its squares are too large or too small for single precision.

    Raise a ValueError if a column of X is out of the range `limits`. Later batches of a stream (`is_first=False`) may be small, but
    not large.
    """
    if not X.shape[0] or _are_ordinary(X, limits):
        return X
    largest = largest_of(X)
    remedy = "Scale the inputs: multiply the column by {}, or use StandardScaler."
    _check(largest, limits, f"column {{}} of {name}", remedy, is_first)
    is_extreme = X.dtype == np.float32 and ((largest > SINGLE_LARGEST) | ((largest > 0.0) & (largest < SINGLE_SMALLEST))).any()
    return X.astype(np.float64) if is_extreme else X


def _are_ordinary(X: Any, limits: Range) -> bool:
    """Tell whether all columns are surely in range, by their sums of squares, which take a tenth of the time of their extremes."""
    least, most = (SINGLE_SMALLEST, SINGLE_LARGEST) if X.dtype == np.float32 else limits
    squares = np.asarray(X.multiply(X).sum(axis=0)).ravel() if issparse(X) else np.einsum("ij,ij->j", X, X)
    return bool((squares >= X.shape[0] * least**2).all() and (squares <= most**2).all())


def check_largest(largest: Floats, limits: Range, name: str, remedy: str) -> None:
    """Raise a ValueError if the largest absolute value of a column is too large. Others of its rows may not be known yet."""
    _check(largest, limits, name, remedy, both=False)


def check_targets(targets: Floats, *, is_first: bool = True) -> None:
    """Raise a ValueError if a target, which is a column of `targets`, is out of range."""
    if len(targets) and not _are_ordinary(targets, SQUARED):
        name = "y" if targets.shape[1] == 1 else "column {} of y"
        _check(largest_of(targets), SQUARED, name, "Multiply y by {}.", is_first)


def check_block(values: Floats) -> None:
    """Raise a ValueError if candidates at some training rows are not finite or too large. They may be small: other rows may not."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))  # NaN if a value is NaN
    if not largest <= CANDIDATES.largest:
        raise ValueError(f"a candidate has a value of {largest:.3g} at a training row, but {CANDIDATES_IN_RANGE}")


def check_overflow(phi: Floats, name: str) -> None:
    """Raise a ValueError if functions at rows of a prediction have overflowed. `name` is what they are."""
    wrong = ~np.isfinite(phi).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"the {name} at row {np.flatnonzero(wrong)[0]} of X are too large for floating-point numbers ({wrong.sum()} of "
            f"{len(phi)} rows). Check the units of X, or scale it, for instance with StandardScaler."
        )


def check_squares(squares: Floats, total: float, largest: Callable[[Indices], Floats], *, have_own_units: bool) -> None:
    """Raise a ValueError if candidates are out of range or not finite. `squares` are diag(Phi'W Phi), and `total` is the sum of W.

    `largest` returns the largest absolute value of each of some candidates. It is called only if their squares are so small that
    they may have underflowed. Candidates that have their own units must all be in range. Kernels share their units: the largest
    one must be in range, and others may be much smaller, because kernels are small far from their centers.
    """
    if not len(squares) or not total > 0.0:
        return
    if not np.isfinite(squares).all():
        wrong = int(np.flatnonzero(~np.isfinite(squares))[0])
        raise ValueError(f"the squares of candidate {wrong} overflow, but {CANDIDATES_IN_RANGE}")
    name, remedy = "candidate {}", "Scale the inputs, for instance with StandardScaler, or choose other parameters of the basis."
    _check(np.sqrt(np.where(squares > CANDIDATES.largest, squares / total, 0.0)), CANDIDATES, name, remedy)
    small = np.flatnonzero(squares < CANDIDATES.smallest**2 * total)
    if len(small) == len(squares) or (have_own_units and len(small)):
        sizes = np.zeros(len(squares))
        sizes[small] = largest(small)
        _check(sizes if have_own_units else np.full(1, sizes.max()), CANDIDATES, name, remedy)


def check_ratio(candidates: float, target: float) -> None:
    """Raise a ValueError if the precisions of weights would overflow. Both are root mean squares, and a target of zero fits all."""
    if target > 0.0 and candidates > 0.0 and not RATIO.smallest <= candidates / target <= RATIO.largest:
        raise ValueError(
            f"the largest candidate is of size {candidates:.3g} and the target of size {target:.3g}, but their ratio must be in "
            f"the range {RATIO}. Scale the inputs, for instance with StandardScaler, or multiply y by {_factor(target)}."
        )


def negligible(total: float) -> float:
    """Return the sum of squares below which a candidate is zero, if `total` is the sum of the weights."""
    return NEGLIGIBLE**2 * total


def checked_counts(weights: Floats, *, is_all: bool = True) -> Floats:
    """Return sample weights with negligible ones set to zero. Raise a ValueError if the largest is out of range.

    Those of a block of rows (`is_all=False`) may all be small or zero, because other blocks may have larger ones.
    """
    top = float(weights.max(initial=0.0)) if is_all else max(float(weights.max(initial=0.0)), LEAST_WEIGHT)
    if top == 0.0:
        raise ValueError("sample_weight must not be zero for every row.")
    if not LEAST_WEIGHT <= top <= MOST_WEIGHT:
        raise ValueError(
            f"the largest sample weight is {top:.3g}, but weights are counts, and the largest must be in the range "
            f"{LEAST_WEIGHT:g} to {MOST_WEIGHT:g}. Multiply sample_weight by {_factor(top)}."
        )
    tiny = (weights > 0.0) & (weights < NEGLIGIBLE_WEIGHT * top)
    return np.where(tiny, 0.0, weights) if tiny.any() else weights


def check_parameter(name: str, given: Any, in_data_units: float) -> float:
    """Return a parameter in the units of the scaled data. Raise a ValueError if it is so far off that products would overflow."""
    if in_data_units != 0.0 and not SMALLEST_PARAMETER <= in_data_units <= LARGEST_PARAMETER:
        raise ValueError(
            f"{name}={float(given):g} is {in_data_units:.3g} if the target has a variance of about 1, but it must be in the range "
            f"{SMALLEST_PARAMETER:g} to {LARGEST_PARAMETER:g}. Choose a value near the scale of the data."
        )
    return in_data_units


def _check(largest: Floats, limits: Range, name: str, remedy: str, both: bool = True) -> None:
    wrong = (largest > limits.largest) | ((largest > 0.0) & (largest < limits.smallest) & both)
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        size = float(largest[place])
        raise ValueError(
            f"{name.format(place)} has a largest absolute value of {size:.3g}, but it must be 0 or in the range {limits}. "
            f"{remedy.format(_factor(size))}"
        )


def _factor(size: float) -> str:
    """Return the power of ten that brings a size near one, in words that Python understands."""
    return f"1e{-round(float(np.log10(size)))}"

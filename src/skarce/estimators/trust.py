"""What left-out rows say about one target of a regressor: the factor on its std, and warnings for the user."""

from __future__ import annotations

import numpy as np

from skarce._text import listed
from skarce._typing import Floats, Indices
from skarce.model_selection.calibration import (
    EXPECTED_ROWS,
    NOTICEABLE,
    is_too_sure,
    outlying,
    std_scale,
    std_scale_of_sums,
)
from skarce.model_selection.calibration import TOO_SURE as MUCH_TOO_SURE
from skarce.model_selection.cross_fitting import LeftOut
from skarce.model_selection.cross_fitting_sums import LeftOutSums
from skarce.model_selection.far_off import FEWEST_ROWS

ADVICE_ON_OUTLIERS = (
    'correct these rows, leave them out, or give them weight 0. VBLSRegressor("auto", noise="student-t") is pulled less.'
)
OUTLIERS = (
    "Targets are far from what a model of the other rows predicts, up to {times:.3g} times the usual error: rows {rows} (the first "
    "row is 0). The std does not count them, but they pull predictions towards them. If they are mistakes, " + ADVICE_ON_OUTLIERS
)
ADVICE_IF_TOO_SURE = 'Try basis="passthrough", fewer inputs, VBLSRegressor, or more rows.'
TOO_SURE = (
    "Left-out rows are {scale:.3g} times as far from the predictions as the model expects: it fits its own rows much better than "
    "new ones. The std takes that into account, but predictions may be poor. " + ADVICE_IF_TOO_SURE
)


def scale_and_remarks(
    left_out: LeftOut, output: int, freedom: float, *, is_doubted: bool, expects_outliers: bool = False
) -> tuple[float, list[str]]:
    """Return the factor on the std of one target, and warnings. Outliers do not count for the factor; they are named.

    A method that expects outliers, such as one with a robust loss, has a std for the other rows, so most rows decide about the
    factor. If a model is doubted already, nothing more is said about how sure it is.
    """
    targets, errors = left_out.targets[:, output], left_out.targets[:, output] - left_out.means[:, output]
    variances, weights, remarks = left_out.variances[:, output], left_out.weights, []
    far = np.empty(0, dtype=np.intp)
    if np.isinf(freedom) and not expects_outliers:
        far = outlying(targets, errors, variances, weights)
    usual = np.delete(np.arange(len(errors)), far)
    if len(far):
        rows = np.sort(left_out.places[far])
        remarks.append(OUTLIERS.format(times=_times_the_usual(errors, far), rows=listed([int(row) for row in rows])))
    # If outliers made the noise too large, there is a reason to believe in a smaller std.
    expected = 0.0 if len(far) else EXPECTED_ROWS
    scale = std_scale(errors[usual], variances[usual], weights[usual], freedom, expected, of_bulk=expects_outliers)
    if not is_doubted and is_too_sure(scale, errors[usual], targets[usual], weights[usual]):
        remarks.append(TOO_SURE.format(scale=scale))
    return scale, remarks


def scale_from_sums(left_out: LeftOutSums, output: int, *, is_doubted: bool) -> tuple[float, list[str]]:
    """Return the same from sums: the root of all squared errors divided by all variances. No row is known to be an outlier."""
    scale = std_scale_of_sums(float(left_out.squares[output]), float(left_out.variances[output]), left_out.weight)
    notices = left_out.squares[output] > NOTICEABLE**2 * left_out.spread[output]
    is_sure = not is_doubted and scale > MUCH_TOO_SURE and notices and left_out.weight >= FEWEST_ROWS
    return scale, [TOO_SURE.format(scale=scale)] if is_sure else []


def _times_the_usual(errors: Floats, far: Indices) -> float:
    sizes = np.abs(errors)
    return float(sizes[far].max() / max(np.median(sizes), np.finfo(float).tiny))

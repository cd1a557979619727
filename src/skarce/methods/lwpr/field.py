"""One receptive field and one row: the equations of locally weighted projection regression in NumPy.

Vijayakumar, D'Souza and Schaal (2005), Incremental online learning in high dimensions, Neural Computation 17. Six things differ
from the paper. Sums are taken around the means *before* the row, with the weight that makes them the exact moments around the final
means. The matrix `spread`, of which the paper keeps the diagonal, is whole. Left-out errors know how many copies of a row are in
the sums, so that several passes over the same rows do not look like more rows. Steps of the metric are relative to its size and to
the error, and smaller in fields that have seen little. The penalty of narrow fields is relative to the error and to the metric of
new fields. If a direction turns around, its sums do so, too: with one input the local model is weighted least squares, exactly.

Compiled code (`_lwpr.c`) does the same; the tests compare the two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skarce._typing import Floats
from skarce.methods.lwpr.layout import Layout, Settings

FIRST_PROJECTIONS = 2  # a new field has two, so that the gain of the second is known
LEAST_LEFT_OUT = 0.1  # a row keeps at least this share of its residual, if it counts too much to be left out
LARGEST_STEP = 0.03  # of a metric, relative to its norm
CAUTION = 200.0  # a field of this weight takes half as large steps as one of very large weight
LEAST_ERROR = 1e-6  # added to the squared error in the denominator of a step


class Field:
    """A field as views of its row of numbers."""

    def __init__(self, row: Floats, layout: Layout) -> None:
        self.row, self.layout = row, layout

    def __getitem__(self, name: str) -> Floats:
        return self.row[self.layout.places[name]].reshape(self.layout.shapes[name])

    def number(self, name: str) -> float:
        return float(self.row[self.layout.places[name].start])

    def put(self, name: str, value: float) -> None:
        self.row[self.layout.places[name].start] = value

    @property
    def n_projections(self) -> int:
        return int(self.number("n_projections"))


class Scores(NamedTuple):
    """What a row looks like to a field: its scores after the constant, its leverage, and its residuals."""

    scores: Floats
    precisions: Floats  # 1 / W, 1 / SS_1, ...
    residual: float  # after the update
    left_out: float  # of the field without this row
    leverage: float  # of all copies of the row


def start(field: Field, center: Floats, settings: Settings) -> None:
    """Make a new field, which has seen no rows."""
    d = len(center)
    field.row[:] = 0.0
    field["center"][...] = center
    side = np.sqrt(settings.initial_metric)
    field["metric"][...] = side * np.eye(d) if field.layout.is_full else side
    field.put("n_projections", min(FIRST_PROJECTIONS, field.layout.max_projections))
    field.put("forgetting", settings.initial_forgetting)


def activation(field: Field, x: Floats) -> float:
    """Return w = exp(-(x - c)'D(x - c) / 2), eq. 2 of the paper."""
    offset = x - field["center"]
    scaled = field["metric"] @ offset if field.layout.is_full else field["metric"] * offset
    return float(np.exp(-0.5 * (scaled @ scaled)))


def is_settled(field: Field, settings: Settings) -> bool:
    return field.number("evidence") >= settings.settled_weight


def left_out_error(field: Field) -> float:
    """Return the mean squared left-out error with all projections."""
    evidence = field.number("evidence")
    return float(field["errors"][field.n_projections]) / evidence if evidence > 0.0 else np.inf


def update(field: Field, x: Floats, y: float, w: float, settings: Settings) -> None:
    """Learn one row with activation w: means and projections, the metric, and perhaps one more projection."""
    fade(field, settings)
    if field.number("weight") == 0.0:
        field["mean"][...] = x
        field.put("level", y)
        field.put("weight", w)
        return
    seen = update_projections(field, x, y, w, settings.copies)
    if is_settled(field, settings) and settings.learning_rate > 0.0:
        move_metric(field, x, w, cost_slope(field, seen), settings)
    remember(field, seen, w)
    if gains_by_projections(field, settings):
        add_projection(field)


def fade(field: Field, settings: Settings) -> None:
    """Forget a little, and then less: the sums of table 2 of the paper, before the row is added."""
    forgetting, pace = field.number("forgetting"), settings.forgetting_pace
    field.row[field.layout.first_sum :] *= forgetting
    field.put("forgetting", pace * forgetting + (1.0 - pace) * settings.final_forgetting)


def update_projections(field: Field, x: Floats, y: float, w: float, copies: float) -> Scores:
    """Partial least squares, one row after another, table 2 of the paper.

    With z = x - x0 around the old mean, the sum of w z z' around the new mean grows by w W z z' / (W + w), exactly.
    """
    before, n = field.number("weight"), field.n_projections
    weight = before + w
    share = before / weight  # (x - new mean) = share (x - old mean)
    z, residual = x - field["mean"], y - field.number("level")
    field["mean"][...] += (w / weight) * z
    field.put("level", field.number("level") + (w / weight) * residual)
    field.put("weight", weight)
    field.put("evidence", field.number("evidence") + w)
    expected, leverage = residual, w / weight
    scores, precisions = np.ones(n + 1), np.full(n + 1, 1.0 / weight)
    field["errors"][0] += w * left_out(expected, leverage, copies) ** 2
    for r in range(n):
        u, growth = field["directions"][r], w * share * residual
        if u @ u + growth * (u @ z) < 0.0:
            turn_around(field, r)
        u += growth * z
        length = np.sqrt(u @ u)
        s = float(z @ u) / length if length > 0.0 else 0.0
        squares, products = field["squares"][r], field["products"][r]
        expected -= s * products / squares if squares > 0.0 else 0.0
        field["squares"][r] = squares = squares + w * share * s * s
        field["products"][r] = products = products + w * share * s * residual
        field["loadings"][r] += w * share * s * z
        scores[r + 1], precisions[r + 1] = share * s, 1.0 / squares if squares > 0.0 else 0.0
        if squares > 0.0:
            residual -= s * products / squares
            z = z - s * field["loadings"][r] / squares
        leverage += w * scores[r + 1] ** 2 * precisions[r + 1]
        field["errors"][r + 1] += w * left_out(expected, leverage, copies) ** 2
    without = left_out(expected, leverage, copies)
    return Scores(scores, precisions, expected * max(1.0 - leverage, 0.0), without, copies * leverage)


def turn_around(field: Field, r: int) -> None:
    """Change the sign of what earlier rows have said about a direction that is about to point the other way."""
    field["products"][r] *= -1.0
    field["loadings"][r] *= -1.0
    field["pull"][r + 1] *= -1.0
    field["spread"][r + 1] *= -1.0
    field["spread"][:, r + 1] *= -1.0


def left_out(expected: float, leverage: float, copies: float) -> float:
    """Return the residual of a field that has not seen the row, from the residual before this copy of it was added.

    After the update the residual is (1 - h) times that, and without all copies it is this divided by 1 - copies h.
    """
    return expected * max(1.0 - leverage, 0.0) / max(1.0 - copies * leverage, LEAST_LEFT_OUT)


def cost_slope(field: Field, seen: Scores) -> float:
    r"""Return the derivative of the leave-one-out cost J by the weight of the row that was just seen.

    .. math::
        J = \frac1W \sum_i w_i e_{-i}^2, \quad e_{-i} = \frac{e_i}{1 - w_i q_i'Pq_i}, \quad
        W \frac{\partial J}{\partial w} = e_-^2 - J - 2 e\, q'P \sum_i \frac{w_i e_{-i} q_i}{1 - h_i}
        - 2\, q'P \sum_i \frac{w_i^2 e_{-i}^2 q_i q_i'}{1 - h_i} Pq

    The scores q begin with the constant, and P is diagonal, because the scores of partial least squares are orthogonal. Sums are
    over the other rows: the left-out error of a row does not depend on its own weight. Table 3 of the paper has the same sums.
    """
    n = field.n_projections + 1
    direction = seen.scores * seen.precisions
    slope = seen.left_out**2 - left_out_error(field)
    slope -= 2.0 * seen.residual * float(direction @ field["pull"][:n])
    slope -= 2.0 * float(direction @ field["spread"][:n, :n] @ direction)
    return slope / field.number("weight")


def move_metric(field: Field, x: Floats, w: float, slope: float, settings: Settings) -> None:
    r"""Take a gradient step of the cost and of the penalty in M, eq. 11 and table 3 of the paper."""
    offset, metric = x - field["center"], field["metric"]
    price = penalty_slope(field, settings) * w / field.number("weight")
    if field.layout.is_full:
        by_weight = -w * np.triu(np.outer(metric @ offset, offset))
        by_penalty = price * np.triu(metric @ (metric.T @ metric))
    else:
        by_weight = -w * metric * offset**2
        by_penalty = price * metric**3
    squared_norm = float(np.sum(metric**2))
    step = settings.learning_rate * step_size(field, squared_norm) * (slope * by_weight + by_penalty)
    length, most = np.sqrt(np.sum(step**2)), LARGEST_STEP * np.sqrt(squared_norm)
    metric -= step * (most / length) if length > most else step


def penalty_slope(field: Field, settings: Settings) -> float:
    r"""Return a number c such that c M M'M is the gradient of the penalty :math:`\gamma J\log(1 + \|D\|^2 / (d\,D_0^2))` in M.

    J is the left-out error and counts as constant, and D_0 the metric of new fields. The paper has :math:`\gamma\|D\|^2 / d`. Then
    one value of gamma cannot suit narrow and wide fields, or targets with little and much noise.
    """
    metric = field["metric"]
    squares = float(np.sum((metric.T @ metric) ** 2 if field.layout.is_full else metric**4))
    price = settings.penalty * (left_out_error(field) + LEAST_ERROR)
    return 4.0 * price / (len(metric) * settings.initial_metric**2 + squares)


def step_size(field: Field, squared_norm: float) -> float:
    """Return the factor that makes a learning rate of one sensible in all units of inputs and targets.

    It turns slopes of the error by elements of M into slopes of its logarithm by the logarithm of their size. A field that has
    seen little takes smaller steps, because its slopes are noisy.
    """
    weight = field.number("weight")
    return squared_norm / field.layout.n_inputs / (left_out_error(field) + LEAST_ERROR) * weight / (weight + CAUTION)


def remember(field: Field, seen: Scores, w: float) -> None:
    """Add to the sums that later rows need for their slopes, and to the noise."""
    n = field.n_projections + 1
    rest = max(1.0 - seen.leverage, LEAST_LEFT_OUT)
    field.put("noise", field.number("noise") + w * seen.residual * seen.left_out)
    field["pull"][:n] += w * seen.left_out / rest * seen.scores
    field["spread"][:n, :n] += (w * seen.left_out) ** 2 / rest * np.outer(seen.scores, seen.scores)


def gains_by_projections(field: Field, settings: Settings) -> bool:
    """Tell whether the last projection lowers the left-out error so much that another one may, too."""
    n = field.n_projections
    if n == field.layout.max_projections or not is_settled(field, settings):
        return False
    return bool(field["errors"][n] < settings.projection_gain * field["errors"][n - 1])


def add_projection(field: Field) -> None:
    """Add a projection, and compare errors from here on."""
    field.put("n_projections", field.n_projections + 1)
    field.put("evidence", 0.0)
    field.put("noise", 0.0)
    field["errors"][...] = 0.0

"""The charts of reports, each made from plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import norm

from skarce._typing import Floats
from skarce.report.calibration import Curve
from skarce.report.inputs import Input
from skarce.report.markup import Markup
from skarce.report.numbers import percent, plural, rounded
from skarce.report.svg import Axis, Chart

FAR_APART = 5.0  # errors of which the largest is this many times the smallest are on a logarithmic axis
MOST_POINTS = 2_000  # rows in a chart
MOST_ROWS = 20  # functions or inputs in a chart
ROW_HEIGHT = 18
LETTER = 6.4
LONGEST_LABEL = 26
REACH = 4.0  # z scores beyond this are shown at the end of the axis
NORMAL_95 = 1.96  # half of the width of a 95 % interval in stds
N_BARS = 32
ON_TOP = ("data", "main", "accent")  # classes of points, in the order in which they are drawn: the best one hides others
WIDE = 720  # of a chart that has the page for itself


def size_chart(
    key: str,
    points: Sequence[tuple[str, float, float, float, str]],
    error_name: str,
    needed: Sequence[str] = (),
    form: Callable[[float], str] = rounded,
    *,
    width: int = WIDE,
) -> Markup:
    """Error against the number of functions. A point has a name, functions, error, spread, and a class of marks.

    The methods `needed`, the best one and those at the ends have labels in any case, others if there is room.
    """
    names, sizes, errors, spreads, _ = zip(*points, strict=True)
    low = np.maximum(np.array(errors) - np.array(spreads), 0.0)
    is_log = min(errors) > 0.0 and max(errors) > FAR_APART * min(errors) and low.min() > 0.0
    ends = np.concatenate([low, np.array(errors) + np.array(spreads)])
    best = int(np.argmin(errors))
    chart = Chart(
        key,
        f"{error_name} and number of functions of {plural(len(points), 'method')}",
        f"The smallest {error_name} is {form(errors[best])} ({names[best]}, {rounded(sizes[best], 3)} functions). "
        f"The smallest model is {names[int(np.argmin(sizes))]} with {rounded(min(sizes), 3)} functions.",
        Axis.over([max(each, 0.5) for each in sizes], "functions in the model (logarithmic)", is_log=True),
        Axis.over(ends, f"{error_name}, mean and spread over folds", is_log=is_log, form=form),
        width=width,
    )
    for _, n_functions, error, spread, class_ in points:
        at = max(n_functions, 0.5)
        chart.line(np.array([at, at]), np.array([max(error - spread, 0.0), error + spread]), f"faint {class_}")
    for name, n_functions, error, spread, class_ in sorted(points, key=lambda point: ON_TOP.index(point[4])):
        words = f"{name}: {error_name} {form(error)} ± {form(spread)}, {rounded(n_functions, 3)} functions"
        chart.point(max(n_functions, 0.5), error, class_, words)
    at_ends = {names[int(end(values))] for end in (np.argmin, np.argmax) for values in (sizes, errors)}
    labeled = {*needed, *at_ends}
    for name, n_functions, error, _, class_ in sorted(points, key=lambda point: (point[0] not in labeled, point[4] == "data")):
        style = "strong" if class_ == "accent" else ""
        chart.label(max(n_functions, 0.5), error, name, style, is_needed=name in labeled)
    return chart.write()


def calibration_chart(key: str, curves: Sequence[Curve], *, of_classes: bool, marked: Sequence[str] = ()) -> Markup:
    """What was promised against what happened; the first curve is the one that matters, and those `marked` have their names."""
    first = curves[0]
    names = ("mean probability", "frequency") if of_classes else ("coverage promised", "share of rows covered")
    worst = int(np.argmax(np.abs(first.happened - first.promised)))
    chart = Chart(
        key,
        f"Calibration of {first.name}",
        f"A perfect model is on the diagonal. The point of {first.name} farthest from it: {percent(first.promised[worst])} "
        f"promised, {percent(first.happened[worst])} happened.",
        Axis(0.0, 1.0, names[0], form=lambda value: percent(value, 0)),
        Axis(0.0, 1.0, names[1], form=lambda value: percent(value, 0)),
    )
    chart.line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "ideal")
    for curve in curves[:0:-1]:
        chart.line(curve.promised, curve.happened, "faint", curve.name)
    chart.line(first.promised, first.happened, "main", first.name)
    for promised, happened, n_rows in zip(first.promised, first.happened, first.n_rows, strict=True):
        words = f"{percent(promised)} promised, {percent(happened)} of {plural(int(n_rows), 'row')} happened"
        chart.point(float(promised), float(happened), "main", words)
    for curve in curves[1:]:
        if curve.name in marked:
            chart.label(float(curve.promised[-2]), float(curve.happened[-2]), curve.name)
    return chart.write()


def z_chart(key: str, z: Floats, name: str) -> Markup:
    """The distribution of errors over their std, next to the normal one."""
    counts, edges = np.histogram(np.clip(z, -REACH, REACH), bins=N_BARS, range=(-REACH, REACH))
    density = counts / (len(z) * (edges[1] - edges[0]))
    at = np.linspace(-REACH, REACH, 81)
    below, above = int((z < -REACH).sum()), int((z > REACH).sum())
    chart = Chart(
        key,
        f"Errors of {name} over their std",
        f"Mean {rounded(float(z.mean()), 2)}, standard deviation {rounded(float(z.std()), 3)}; 0 and 1 are perfect. "
        f"{beyond_words(z)}",
        Axis(-REACH, REACH, "(target − prediction) / std"),
        Axis(0.0, 1.08 * max(float(density.max()), 0.4), "density"),
    )
    for low, high, share, number in zip(edges[:-1], edges[1:], density, counts, strict=True):
        if number:
            words = f"{rounded(low, 3)} to {rounded(high, 3)}: {plural(int(number), 'row')}"
            chart.bar((float(low) + 0.02, float(high) - 0.02), (0.0, float(share)), "data", words)
    chart.line(at, norm.pdf(at), "main", "normal density")
    chart.reserve(at, norm.pdf(at))
    chart.reserve(0.5 * (edges[:-1] + edges[1:]), density)
    for number, place, height in ((below, -REACH, density[0]), (above, REACH, density[-1])):
        if number:
            chart.label(place, float(height), f"{plural(number, 'row')} beyond", is_needed=True)
    return chart.write()


def beyond_words(z: Floats) -> str:
    """How many rows are beyond the ends of the axis, which the outermost bars hold."""
    beyond = int((np.abs(z) > REACH).sum())
    if not beyond:
        return f"No row is beyond ±{REACH:g}."
    return f"{plural(beyond, 'row is', 'rows are')} beyond ±{REACH:g}, in the outermost bars."


def residual_chart(key: str, predicted: Floats, true: Floats, name: str, target: str) -> Markup:
    """Left-out targets against their predictions."""
    rows = np.unique(np.linspace(0, len(true) - 1, min(len(true), MOST_POINTS)).astype(np.intp))
    shown, ends = np.concatenate([predicted[rows], true[rows]]), "; the line is where both are equal"
    chart = Chart(
        key,
        f"Predictions of {name} and true values of {target}",
        f"{plural(len(rows), 'row')}{ends}. Their correlation is {rounded(_correlation(predicted, true), 3)}.",
        Axis.over(shown, "predicted"),
        Axis.over(shown, "true"),
    )
    both = np.array([chart.x.low, chart.x.high])
    chart.cloud(predicted[rows], true[rows], "main")
    chart.line(both, both, "ideal")
    return chart.write()


def error_chart(key: str, predicted: Floats, true: Floats, name: str) -> Markup:
    """Errors of left-out rows against their predictions: a trend or a funnel says what the model misses."""
    rows = np.unique(np.linspace(0, len(true) - 1, min(len(true), MOST_POINTS)).astype(np.intp))
    errors = true - predicted
    largest = int(np.abs(errors).argmax())
    chart = Chart(
        key,
        f"Errors of {name}",
        f"{plural(len(rows), 'row')}. The largest error is {rounded(float(errors[largest]))}, at a prediction of "
        f"{rounded(float(predicted[largest]))}.",
        Axis.over(predicted[rows], "predicted"),
        Axis.over(errors[rows], "true − predicted"),
    )
    chart.cloud(predicted[rows], errors[rows], "main")
    chart.line(np.array([chart.x.low, chart.x.high]), np.zeros(2), "ideal")
    return chart.write()


def weights_chart(key: str, names: Sequence[str], weights: Floats, stds: Floats) -> Markup:
    """Weights with 95 % intervals, one row each. Margins have none."""
    names, weights, stds = names[:MOST_ROWS], weights[:MOST_ROWS], stds[:MOST_ROWS]
    reach = NORMAL_95 * np.nan_to_num(stds)
    label = "weight, with its 95 % interval" if reach.any() else "weight"
    chart = _rows_chart(
        key,
        "Weights of the functions",
        f"{plural(len(names), 'function')}. The largest weight is {rounded(float(weights[np.abs(weights).argmax()]))}.",
        Axis.over(np.concatenate([weights - reach, weights + reach, [0.0]]), label),
        names,
    )
    chart.line(np.zeros(2), np.array([chart.y.low, chart.y.high]), "ideal")
    for place, (name, weight, half) in enumerate(zip(names, weights, reach, strict=True)):
        at = float(-place)
        chart.line(np.array([weight - half, weight + half]), np.array([at, at]), "main")
        chart.point(float(weight), at, "main", f"{name}: {rounded(float(weight))} ± {rounded(float(half / NORMAL_95), 3)} (std)")
    return chart.write()


def inputs_chart(key: str, inputs: Sequence[Input], label: str, title: str) -> Markup:
    """A number of each input, such as how much it matters, one bar each."""
    shown = inputs[:MOST_ROWS]
    values = np.array([each.value for each in shown])
    chart = _rows_chart(
        key,
        title,
        f"The first input is {shown[0].name}, with {rounded(shown[0].value, 3)} ({label}).",
        Axis.over(np.append(values, 0.0), label),
        [each.name for each in shown],
    )
    for place, each in enumerate(shown):
        words = f"{each.name}: {rounded(each.value, 3)} ± {rounded(each.spread, 2)}"
        chart.bar((0.0, each.value), (-place - 0.32, -place + 0.32), "main", words)
    return chart.write()


def _rows_chart(key: str, title: str, description: str, x: Axis, names: Sequence[str]) -> Chart:
    labels = [name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…" for name in names]
    left = int(12 + LETTER * max(map(len, labels)) + 6)
    height = 60 + ROW_HEIGHT * max(len(labels), 3)
    return Chart(key, title, description, x, Axis.of_words(labels), height=height, left=max(left, 40))


def _correlation(a: Floats, b: Floats) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0.0 and np.ptp(b) > 0.0 else 0.0

"""What displays draw, on real axes of matplotlib: lines, bands and names against the models."""

import re
import sys
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import (
    BackwardEliminationRegressor,
    JointFactorRegressor,
    KernelBasis,
    LaplacePriorRegressor,
    LWPRRegressor,
    OrthogonalLeastSquaresRegressor,
    PolynomialChaosBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.inspection import FunctionsDisplay, InputsDisplay, IntervalsDisplay, PathDisplay, PredictionDisplay
from skarce.inspection.functions import ranked_functions
from skarce.inspection.palette import DARK, LIGHT
from tests.estimator_lists import LATENT, REGRESSORS, WITHOUT_BASIS

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, (60, 3))
Y = 2 * np.sin(X[:, 0]) + 0.3 * X[:, 1] + RNG.normal(0, 0.1, 60)
ONE, TWO = X[:, :1], X[:, :2]
FRAME = pd.DataFrame(X, columns=["east", "north", "depth"])
NAMED_Y = pd.Series(Y, name="heat")
KERNELS = KernelBasis(gamma=0.2)
MODEL = RelevanceVectorRegressor(KernelBasis(gamma=0.5)).fit(ONE, Y)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labeled(ax):
    """Lines, bands and other artists by their labels."""
    return {artist.get_label(): artist for artist in [*ax.lines, *ax.collections, *ax.containers] if artist.get_label()[0] != "_"}


def points_of(line):
    return np.column_stack(line.get_data())


def in_order(points):
    return points[np.lexsort(points.T)]


# Predictions ----------------------------------------------------------------------------------------------------------


def test_a_curve_has_its_band_its_data_and_its_centers():
    display = PredictionDisplay.from_estimator(MODEL, ONE, Y, coverage=0.9)
    drawn, grid = labeled(display.ax_), np.linspace(ONE.min(), ONE.max(), 200)
    np.testing.assert_allclose(points_of(drawn["mean"]), np.column_stack([grid, MODEL.predict(grid[:, None])]))
    lower, upper = MODEL.predict_interval(grid[:, None], 0.9)
    corners = drawn["90 % of new targets"].get_paths()[0].vertices
    for at in (0, 77, 199):
        heights = corners[np.isclose(corners[:, 0], grid[at]), 1]
        assert (heights.min(), heights.max()) == pytest.approx((lower[at], upper[at]))
    np.testing.assert_allclose(in_order(points_of(drawn["data"])), in_order(np.column_stack([ONE, Y])))
    chosen = MODEL.basis_.center_indices_
    np.testing.assert_allclose(in_order(points_of(drawn["chosen centers"])), in_order(np.column_stack([ONE, Y])[chosen]))
    assert display.figure_ is display.ax_.figure
    assert list(display.axes_) == [display.ax_]


@pytest.mark.parametrize("with_targets", [True, False])
def test_centers_that_are_not_among_the_rows_are_on_the_curve(with_targets):
    ends = np.sort(MODEL.relevance_vectors_[:, 0])[[0, -1]] + [0.01, 0.01]  # the first center is beyond, the last is inside
    others = np.linspace(*ends, 30)[:, None]
    display = PredictionDisplay.from_estimator(MODEL, others, np.sin(others[:, 0]) if with_targets else None)
    points = points_of(labeled(display.ax_)["chosen centers"])
    centers = np.sort(MODEL.relevance_vectors_, axis=0)[1:]
    assert len(centers)
    np.testing.assert_allclose(in_order(points), in_order(np.column_stack([centers, MODEL.predict(centers)])), atol=1e-3)
    assert ("data" in labeled(display.ax_)) is with_targets


def test_a_pipeline_and_a_transformed_target_show_the_units_of_the_data():
    inner = make_pipeline(StandardScaler(), RelevanceVectorRegressor(KERNELS))
    model = TransformedTargetRegressor(inner, transformer=StandardScaler()).fit(FRAME[["east"]], NAMED_Y)
    display = PredictionDisplay.from_estimator(model, FRAME[["east"]], NAMED_Y)
    drawn = labeled(display.ax_)
    x, mean = drawn["mean"].get_data()
    np.testing.assert_allclose(mean, model.predict(pd.DataFrame({"east": x})))
    chosen = model.regressor_[-1].basis_.center_indices_
    np.testing.assert_allclose(in_order(points_of(drawn["chosen centers"])), in_order(np.column_stack([ONE, Y])[chosen]))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("east", "heat")


def test_two_inputs_are_a_map():
    model = RelevanceVectorRegressor(KERNELS).fit(FRAME[["east", "north"]], NAMED_Y)
    display = PredictionDisplay.from_estimator(model, FRAME[["east", "north"]], NAMED_Y, grid_resolution=12)
    ax = display.ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")
    (panel,) = display.panels
    mesh = next(one for one in ax.collections if isinstance(one, matplotlib.collections.QuadMesh))
    at = mesh.get_coordinates().reshape(-1, 2)
    expected = model.predict(pd.DataFrame(at, columns=["east", "north"]))
    np.testing.assert_allclose(np.ravel(mesh.get_array()), expected)
    half = (panel.upper - panel.lower) / 2
    (lines,) = [one for one in ax.collections if isinstance(one, matplotlib.contour.QuadContourSet)]
    assert ((half.min() < lines.levels) & (lines.levels < half.max())).any()
    chosen = points_of(labeled(ax)["chosen centers"])
    np.testing.assert_allclose(in_order(chosen), in_order(model.relevance_vectors_))
    assert "heat" in [other.get_ylabel() for other in display.figure_.axes]


def test_more_inputs_are_averages_with_deciles():
    model = RelevanceVectorRegressor(KERNELS).fit(FRAME, NAMED_Y)
    display = PredictionDisplay.from_estimator(model, FRAME, NAMED_Y, grid_resolution=5)
    assert [ax.get_xlabel() for ax in display.axes_] == list(FRAME.columns)
    assert {ax.get_ylabel() for ax in display.axes_} == {"average heat"}
    drawn = labeled(display.axes_[1])
    x, mean = drawn["average prediction"].get_data()
    for value, height in zip(x, mean, strict=True):
        assert height == pytest.approx(model.predict(FRAME.assign(north=value)).mean())
    assert "95 % interval of the average" in drawn
    ticks = [one for one in display.axes_[1].collections if isinstance(one, matplotlib.collections.LineCollection)][-1]
    assert [segment[0, 0] for segment in ticks.get_segments()] == pytest.approx(FRAME["north"].quantile(np.arange(1, 10) / 10))


def test_of_many_inputs_those_that_move_the_prediction_are_shown():
    wide = np.column_stack([RNG.uniform(-3, 3, (60, 8)), X[:, :2]])
    model = VBLSRegressor().fit(wide, Y)
    display = PredictionDisplay.from_estimator(model, wide)
    assert [ax.get_xlabel() for ax in display.axes_[:2]] == ["x8", "x9"]
    assert len(display.axes_) == 6


def test_features_may_be_chosen():
    model = RelevanceVectorRegressor(KERNELS).fit(FRAME, Y)
    display = PredictionDisplay.from_estimator(model, FRAME, features=["depth", ("east", "north")], grid_resolution=4)
    assert [ax.get_xlabel() for ax in display.axes_] == ["depth", "east"]
    alone = PredictionDisplay.from_estimator(model, FRAME, features=("east", "north"), grid_resolution=4)
    assert alone.ax_.get_legend() is None  # an averaged map has nothing to name
    with pytest.raises(ValueError, match="feature 'west' is not a name of one column of X, which has 'east', 'north', 'depth'"):
        PredictionDisplay.from_estimator(model, FRAME, features="west")
    with pytest.raises(ValueError, match="Did you mean 'depth'"):
        PredictionDisplay.from_estimator(model, FRAME, features=["dpeth"])


@pytest.mark.parametrize("name", ["houses.csv", Path("houses.csv")])
def test_the_name_of_a_file_is_no_table(name):
    for draw in (PredictionDisplay, IntervalsDisplay, InputsDisplay):
        with pytest.raises(TypeError, match=r"X must have rows and columns, got .*houses.csv.*a text.*read it first"):
            draw.from_estimator(MODEL, name, Y)


def test_curves_share_their_y_axis_and_the_one_that_moves_most_comes_first():
    swapped = FRAME[["depth", "north", "east"]]
    model = VBLSRegressor().fit(swapped, Y)
    display = PredictionDisplay.from_estimator(model, swapped)
    assert [ax.get_xlabel() for ax in display.axes_[:2]] == ["east", "north"]
    assert len({ax.get_ylim() for ax in display.axes_}) == 1
    for ax in display.axes_:
        drawn = labeled(ax)["average prediction"].get_ydata()
        assert ax.get_ylim()[0] < drawn.min() <= drawn.max() < ax.get_ylim()[1]
    free = PredictionDisplay.from_estimator(model, swapped, sharey=False)
    assert len({ax.get_ylim() for ax in free.axes_}) == 3
    chosen = PredictionDisplay.from_estimator(model, swapped, features=["north", "east"])
    assert [ax.get_xlabel() for ax in chosen.axes_] == ["north", "east"]


def test_long_names_are_in_several_lines():
    name = "the temperature of the water at the outlet of the pump in degrees"
    model = VBLSRegressor().fit(FRAME.rename(columns={"east": name}), Y)
    ax = PredictionDisplay.from_estimator(model, FRAME.rename(columns={"east": name}), features=0).ax_
    lines = ax.get_xlabel().split("\n")
    assert " ".join(lines) == name
    assert max(map(len, lines)) <= 36
    rows = InputsDisplay.from_estimator(model).ax_.get_yticklabels()
    assert max(len(row.get_text()) for row in rows) == 30


@pytest.mark.parametrize("edges", [[0.0], [-0.7, 0.7]], ids=["two classes", "three classes"])
def test_classes_of_an_averaged_map_are_named(edges):
    labels = np.digitize(Y, edges)
    model = RelevanceVectorClassifier(KERNELS).fit(X, labels)
    display = PredictionDisplay.from_estimator(model, X, labels, features=[2, (0, 1)], grid_resolution=5)
    named = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert named == [str(label) for label in np.unique(labels)]


@pytest.mark.parametrize("n_classes", [3, 6])
@pytest.mark.parametrize("has_labels", [True, False])
def test_the_legend_of_many_classes_with_long_names_leaves_the_map_its_room(n_classes, has_labels):
    names = np.array([f"{kind} with a rather long name" for kind in ("grass", "forest", "water", "sand", "rock", "ice")])
    labels = names[np.argsort(np.argsort(TWO[:, 0])) * n_classes // len(TWO)]
    model = RelevanceVectorClassifier(KERNELS).fit(TWO, labels)
    display = PredictionDisplay.from_estimator(model, TWO, labels if has_labels else None, grid_resolution=5)
    display.figure_.canvas.draw()
    legend, panel, whole = (each.get_window_extent() for each in (display.ax_.get_legend(), display.ax_, display.figure_))
    assert whole.x0 <= legend.x0 < legend.x1 <= whole.x1
    assert whole.y0 <= legend.y0 < legend.y1 <= whole.y1
    assert panel.width > 0.75 * whole.width
    assert panel.height > 0.55 * 3.6 * display.figure_.dpi
    assert len(display.ax_.get_legend().get_texts()) >= n_classes


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_values_of_a_column_of_text_are_a_category(missing):
    kind = pd.Series(np.where(X[:, 2] > 0, "up", "down"), dtype=object)
    kind[[3, 8, 30]] = missing
    frame = FRAME.assign(kind=kind)
    model = make_pipeline(_encoder(), VBLSRegressor()).fit(frame, Y)
    ax = PredictionDisplay.from_estimator(model, frame, features="kind").ax_
    assert [label.get_text() for label in ax.get_xticklabels()] == ["down", "up", "(missing)"]
    without = frame.assign(kind=pd.Series([missing] * len(frame), dtype=object))
    assert ax.containers[0][0].get_ydata()[2] == pytest.approx(model.predict(without).mean())
    assert "kind" in [ax.get_xlabel() for ax in PredictionDisplay.from_estimator(model, frame).axes_]


def test_categories_are_dots_with_intervals():
    frame = FRAME.assign(kind=np.where(X[:, 2] > 0, "up", "down"))
    model = make_pipeline(_encoder(), VBLSRegressor()).fit(frame, Y)
    ax = PredictionDisplay.from_estimator(model, frame, features="kind").ax_
    assert [label.get_text() for label in ax.get_xticklabels()] == ["down", "up"]
    dots = ax.containers[0][0].get_ydata()
    np.testing.assert_allclose(dots, [model.predict(frame.assign(kind=kind)).mean() for kind in ("down", "up")])
    with pytest.raises(ValueError, match="a map needs two inputs with numbers, but 'kind' has categories"):
        PredictionDisplay.from_estimator(model, frame, features=("kind", "east"), grid_resolution=4)


def _encoder():
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    return make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["east", "north", "depth"]))


def test_counts_show_their_rate():
    counts = RNG.poisson(np.exp(Y))
    model = RelevanceVectorPoissonRegressor(KERNELS).fit(ONE, counts)
    x, mean = labeled(PredictionDisplay.from_estimator(model, ONE, counts, band="mean").ax_)["mean"].get_data()
    np.testing.assert_allclose(mean, model.predict(x[:, None]))


def ticks_inside(axis):
    low, high = sorted(axis.get_view_interval())
    return [tick for tick in axis.get_majorticklocs() if low <= tick <= high]


def test_axes_of_counts_have_whole_numbers():
    counts = RNG.poisson(np.exp(0.5 * Y + 1))
    model = RelevanceVectorPoissonRegressor(KERNELS).fit(ONE, counts)
    ax = PredictionDisplay.from_estimator(model, ONE, counts).ax_
    for highest in range(2, 40):
        ax.set_ylim(0, highest + 0.5)
        assert all(float(tick).is_integer() for tick in ticks_inside(ax.yaxis)), highest


def test_the_legend_hides_no_curve_and_no_band():
    x = np.linspace(-2, 2, 200)[:, None]
    y = np.sin(3 * x[:, 0]) + RNG.normal(0, 0.1, 200)
    display = PredictionDisplay.from_estimator(RelevanceVectorRegressor(KernelBasis(gamma=2.0)).fit(x, y), x, y)
    display.figure_.canvas.draw()
    box, ax = display.ax_.get_legend().get_window_extent(), display.ax_
    of_curve = ax.transData.transform(points_of(labeled(ax)["mean"]))
    of_band = ax.transData.transform(labeled(ax)["95 % of new targets"].get_paths()[0].vertices)
    assert box.count_contains(of_curve) == box.count_contains(of_band) == 0
    whole = display.figure_.get_window_extent()
    assert box.y1 <= whole.y1


def test_a_legend_with_room_stays_on_the_axes():
    x = np.linspace(-2, 2, 100)[:, None]
    ax = PredictionDisplay.from_estimator(VBLSRegressor().fit(x, x[:, 0]), x, x[:, 0] + RNG.normal(0, 0.1, 100)).ax_
    assert ax.get_legend().get_window_extent().y1 <= ax.get_window_extent().y1


def test_two_classes_are_a_curve_of_the_second():
    labels = np.where(Y > 0, "hot", "cold")
    model = RelevanceVectorClassifier(KERNELS).fit(ONE, labels)
    ax = PredictionDisplay.from_estimator(model, ONE, labels).ax_
    x, probability = labeled(ax)["hot"].get_data()
    np.testing.assert_allclose(probability, model.predict_proba(x[:, None])[:, 1])
    assert "cold" not in labeled(ax)
    assert any(np.array_equal(line.get_ydata(), [0.5, 0.5]) for line in ax.lines)
    with pytest.raises(ValueError, match=r"y has labels that the model does not know: 'warm'. Its classes are"):
        PredictionDisplay.from_estimator(model, ONE, np.where(Y > 0, "warm", "cold"))


def test_several_classes_have_a_curve_each():
    labels = np.digitize(Y, [-0.7, 0.7])
    model = RelevanceVectorClassifier(KERNELS).fit(ONE, labels)
    drawn = labeled(PredictionDisplay.from_estimator(model, ONE, labels).ax_)
    ax = plt.gcf().axes[0]
    assert not any(np.array_equal(line.get_ydata(), [0.5, 0.5]) for line in ax.lines)  # no boundary of three
    for place in range(3):
        x, probability = drawn[str(place)].get_data()
        np.testing.assert_allclose(probability, model.predict_proba(x[:, None])[:, place])


@pytest.mark.parametrize("edges", [[0.0], [-0.7, 0.7]], ids=["two classes", "three classes"])
def test_classes_on_a_map_have_boundaries_where_the_most_probable_one_changes(edges):
    labels = np.digitize(Y, edges)
    model = RelevanceVectorClassifier(KERNELS).fit(TWO, labels)
    display = PredictionDisplay.from_estimator(model, TWO, labels, grid_resolution=40)
    lines = [one for one in display.ax_.collections if isinstance(one, matplotlib.contour.QuadContourSet)]
    points = np.vstack([path.vertices for one in lines for path in one.get_paths()])
    best_two = np.sort(model.predict_proba(points), axis=1)[:, -2:]
    assert len(points) > 30
    assert np.quantile(best_two[:, 1] - best_two[:, 0], 0.95) < 0.05  # lines are straight between points of the grid
    for place in np.unique(labels):
        np.testing.assert_allclose(in_order(points_of(labeled(display.ax_)[str(place)])), in_order(TWO[labels == place]))


def test_each_target_can_be_shown():
    both = pd.DataFrame({"heat": Y, "cold": 5 - Y})
    model = RelevanceVectorRegressor(KERNELS).fit(ONE, both)
    display = PredictionDisplay.from_estimator(model, ONE, both, target=1)
    x, mean = labeled(display.ax_)["mean"].get_data()
    np.testing.assert_allclose(mean, model.predict(x[:, None])[:, 1])
    assert display.ax_.get_ylabel() == "cold"
    assert PredictionDisplay.from_estimator(model, ONE, both, target="cold").ax_.get_ylabel() == "cold"
    unnamed = PredictionDisplay.from_estimator(model, ONE, both.to_numpy(), target="y1")
    assert unnamed.ax_.get_ylabel() == "y1"
    np.testing.assert_array_equal(labeled(unnamed.ax_)["mean"].get_ydata(), mean)
    IntervalsDisplay.from_estimator(model, ONE, both, target="cold", kind="z")
    with pytest.raises(ValueError, match="the model has several targets: choose one with target=0 or target='heat'"):
        PredictionDisplay.from_estimator(model, ONE, both)
    with pytest.raises(ValueError, match=r"target must be one of the targets, \[0, 1\] or \['heat', 'cold'\], got 'warm'"):
        PredictionDisplay.from_estimator(model, ONE, both, target="warm")
    with pytest.raises(ValueError, match="3 features"):
        PredictionDisplay.from_estimator(model, X, both)  # wrong columns are said first
    for other in (IntervalsDisplay, InputsDisplay):
        with pytest.raises(ValueError, match="3 features"):
            other.from_estimator(model, X, both)


def test_a_constant_input_can_be_drawn_as_a_curve_but_not_on_a_map():
    flat = np.column_stack([X[:, 0], np.ones(60)])
    model = VBLSRegressor().fit(flat, Y)
    PredictionDisplay.from_estimator(model, flat, features=1).figure_.canvas.draw()
    with pytest.raises(ValueError, match="a map needs two inputs that vary, but 'x1' has one value in X"):
        PredictionDisplay.from_estimator(model, flat)


@pytest.mark.parametrize(
    ("rows", "y", "message"),
    [
        (X, Y, "3 features"),
        (np.where(ONE > 0, ONE, np.nan), Y, "NaN"),
        (ONE, Y[:-1], "inconsistent numbers of samples"),
        (ONE, np.where(Y > 0, Y, np.inf), "infinity"),
    ],
    ids=["too many inputs", "missing inputs", "short y", "infinite y"],
)
def test_wrong_data_are_refused(rows, y, message):
    with pytest.raises(ValueError, match=message):
        PredictionDisplay.from_estimator(MODEL, rows, y)


# Path, functions, inputs ----------------------------------------------------------------------------------------------


def test_a_nested_path_has_criterion_and_error_and_marks_the_model():
    model = OrthogonalLeastSquaresRegressor(KERNELS, keep_path=True).fit(ONE, Y)
    display = PathDisplay.from_estimator(model, ONE, Y)
    upper, lower = display.axes_
    np.testing.assert_array_equal(points_of(upper.lines[0]), np.column_stack([model.trace_["n_active"], model.trace_["criterion"]]))
    n = len(model.active_)
    error = np.sqrt(np.mean((Y - model.predict(ONE)) ** 2))
    assert points_of(upper.lines[1])[0] == pytest.approx((n, model.criterion_))
    assert points_of(lower.lines[1])[0] == pytest.approx((n, error))
    assert upper.lines[1].get_label() == f"chosen: {n} function{'' if n == 1 else 's'}"
    assert upper.get_xlim() == lower.get_xlim()
    assert lower.get_ylabel() == "RMS error of\nthe given rows"
    assert upper.lines[0].get_marker() == "o"


def test_a_path_of_many_models_is_a_line_without_dots():
    rows = RNG.uniform(-3, 3, (120, 1))
    targets = np.sin(3 * rows[:, 0]) + RNG.normal(0, 0.1, 120)
    model = BackwardEliminationRegressor(KernelBasis(gamma=1.0), keep_path=True).fit(rows, targets)
    assert len(model.trace_) > 60
    upper, lower = PathDisplay.from_estimator(model).axes_
    assert upper.lines[0].get_marker() == "None"
    assert lower.lines[0].get_marker() == "o"  # errors are computed of few of them


def test_other_paths_have_steps():
    display = PathDisplay.from_estimator(make_pipeline(StandardScaler(), RelevanceVectorRegressor(KERNELS)).fit(ONE, Y))
    upper, lower = display.axes_
    assert (upper.get_ylabel(), lower.get_ylabel(), lower.get_xlabel()) == ("log evidence", "number of\nfunctions", "step")
    assert upper.get_title(loc="left") == ""
    given = PathDisplay.from_estimator(RelevanceVectorRegressor(KERNELS).fit(ONE, Y), ONE, Y).axes_
    assert given[1].get_ylabel() == "number of\nfunctions"
    for highest in range(2, 30):
        lower.set_ylim(0, highest + 0.5)
        assert all(float(tick).is_integer() for tick in ticks_inside(lower.yaxis)), highest
    assert given[0].get_title(loc="left") == "no errors at the given rows: the models on the way are not nested"


def test_penalties_are_drawn_from_large_to_small():
    model = LaplacePriorRegressor(KERNELS).fit(ONE, Y)
    upper, lower = PathDisplay.from_estimator(model).axes_
    for ax in (upper, lower):
        left, right = ax.get_xlim()
        assert left >= model.trace_["penalty"].max() > model.trace_["penalty"].min() >= right
        assert ax.get_xscale() == "log"
    assert points_of(upper.lines[1])[0] == pytest.approx((model.penalty_, model.criterion_))


def test_functions_are_named_and_the_rest_is_counted():
    model = RelevanceVectorRegressor("passthrough").fit(FRAME, Y)
    found = ranked_functions(model)
    ax = FunctionsDisplay.from_estimator(model, max_functions=1).ax_
    assert [label.get_text() for label in ax.get_yticklabels()] == found.names[:1]
    container = ax.containers[0]
    assert points_of(container[0]).tolist() == [[found.weights[0], 0.0]]
    (segment,) = container[2][0].get_segments()
    assert segment[:, 0] == pytest.approx([found.lower[0], found.upper[0]])
    more = len(found) - 1
    assert f"and {more} more function{'' if more == 1 else 's'}" in [text.get_text() for text in ax.texts]
    assert f"{found.relevance[0]:.2f}" in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("scale", [1e-7, 1.0, 400_000.0, 1.23e9])
def test_numbers_below_a_list_do_not_touch(scale):
    model = VBLSRegressor(prior="none").fit(FRAME.rename(columns={"depth": "d" * 10}), scale * Y)
    assert_apart(FunctionsDisplay.from_estimator(model))


def assert_apart(display):
    """Tick labels of the x axis that are drawn do not overlap."""
    display.figure_.canvas.draw()
    left, right = display.ax_.get_xlim()
    ticks = [tick for tick in display.ax_.get_xticklabels() if left <= tick.get_position()[0] <= right]
    boxes = sorted((tick.get_window_extent().x0, tick.get_window_extent().x1) for tick in ticks)
    assert len(boxes) > 1
    assert all(end < start for (_, end), (start, _) in pairwise(boxes))


def test_a_model_without_functions_is_an_empty_list():
    model = RelevanceVectorRegressor(KERNELS).fit(ONE, np.ones(60))
    display = FunctionsDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    assert display.ax_.get_yticklabels() == []
    assert display.ax_.get_title(loc="left") == "0 of 60 functions"


def test_inputs_are_bars_for_widths_and_dots_for_coefficients():
    kernels = RelevanceVectorRegressor(KernelBasis(gamma=[1.0, 0.25, 0.01])).fit(FRAME, Y)
    ax = InputsDisplay.from_estimator(kernels).ax_
    assert [label.get_text() for label in ax.get_yticklabels()] == ["east", "north", "depth"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([1.0, 0.5, 0.1])
    assert "not how large its effect is" in ax.get_title(loc="left")
    ax = InputsDisplay.from_estimator(kernels, FRAME, NAMED_Y).ax_
    assert ax.get_yticklabels()[0].get_text() == "east"
    assert ax.get_xlabel() == "added to the mean squared error by\nshuffling, with the std of shuffles"
    assert ax.get_title(loc="left") == ""
    linear = VBLSRegressor().fit(FRAME, Y)
    ax = InputsDisplay.from_estimator(linear, FRAME, max_inputs=1).ax_
    assert ax.get_xlabel() == "coefficient per std of the column,\nwith 95 % intervals"
    chaos = VBLSRegressor(PolynomialChaosBasis(2)).fit(FRAME / 3, Y)
    ax = InputsDisplay.from_estimator(chaos).ax_
    assert ax.get_xlim()[0] == 0.0
    with pytest.raises(ValueError, match="needs one width for each input"):
        InputsDisplay.from_estimator(RelevanceVectorRegressor(KERNELS).fit(FRAME, Y))


# Intervals ------------------------------------------------------------------------------------------------------------


def test_intervals_have_three_panels():
    display = IntervalsDisplay.from_estimator(MODEL, ONE, Y)
    coverage, scores, width = display.axes_
    mean, std = MODEL.predict(ONE, return_std=True)
    x, shares = labeled(coverage)["60 rows"].get_data()
    at = int(np.argmin(np.abs(x - 0.95)))
    lower, upper = MODEL.predict_interval(ONE, 0.95)
    assert shares[at] == np.mean((lower <= Y) & (upper >= Y))
    heights = [bar.get_height() * bar.get_width() * 60 for bar in scores.patches]
    assert sum(heights) == pytest.approx(60)
    edges = [bar.get_x() for bar in scores.patches]
    inside = np.abs((Y - mean) / std) < 5
    assert np.average(np.array(edges) + 0.2, weights=heights) == pytest.approx(((Y - mean) / std)[inside].mean(), abs=0.2)
    np.testing.assert_allclose(points_of(width.lines[0])[:, 1], np.abs(Y - mean))


def test_scores_far_out_are_counted_in_the_last_bars():
    y = np.array([0.0, 100.0, -100.0, 1.0, -77.0, *np.zeros(5)])
    ax = IntervalsDisplay.from_predictions(y, np.zeros(10), np.ones(10), kind="z").ax_
    heights = np.array([bar.get_height() * bar.get_width() * 10 for bar in ax.patches])
    assert heights[[0, -1]] == pytest.approx([2, 1])
    assert heights.sum() == pytest.approx(10)
    assert [text.get_text() for text in ax.texts] == ["3 beyond ±5,\nin the last bars"]
    near = IntervalsDisplay.from_predictions(y / 100, np.zeros(10), np.ones(10), kind="z").ax_
    assert len(near.texts) == 0


def test_intervals_of_counts_say_that_they_cover_more():
    counts = RNG.poisson(np.exp(Y))
    model = RelevanceVectorPoissonRegressor(KERNELS).fit(ONE, counts)
    ax = IntervalsDisplay.from_estimator(model, ONE, counts, kind="coverage").ax_
    assert "cover at least as much" in ax.texts[0].get_text()
    assert len(IntervalsDisplay.from_estimator(MODEL, ONE, Y, kind="coverage").ax_.texts) == 0


@pytest.mark.parametrize("spread", [0.0, 1e-9, 1e-4, 0.3])
def test_widths_that_are_nearly_equal_have_ticks_apart(spread):
    stds = 0.123456 * (1 + spread * np.linspace(0, 1, 60))
    display = IntervalsDisplay.from_predictions(Y / 10, np.zeros(60), stds, kind="width")
    assert_apart(display)
    left, right = display.ax_.get_xlim()
    assert left < 1.96 * stds[0] <= 1.96 * stds[-1] < right


def test_a_handful_of_rows_is_too_few():
    with pytest.warns(UserWarning, match=r"IntervalsDisplay got 9 rows, too few .* Pass 10 rows or more, best 100"):
        IntervalsDisplay.from_estimator(MODEL, ONE[:9], Y[:9])
    IntervalsDisplay.from_estimator(MODEL, ONE[:10], Y[:10])


def test_kinds_of_panels_are_chosen_and_checked():
    display = IntervalsDisplay.from_estimator(MODEL, ONE, Y, kind=["width", "coverage"])
    assert [ax.get_xlabel() for ax in display.axes_] == ["half width of the interval", "promised coverage"]
    for wrong in ("size", [], ["z", "z"]):
        with pytest.raises(ValueError, match="kind must be one of"):
            IntervalsDisplay.from_estimator(MODEL, ONE, Y, kind=wrong)
    classifier = RelevanceVectorClassifier(KERNELS).fit(ONE, Y > 0)
    with pytest.raises(TypeError, match=r"IntervalsDisplay is for regressors.*got RelevanceVectorClassifier.*CalibrationDisplay"):
        IntervalsDisplay.from_estimator(classifier, ONE, Y > 0)


# All ------------------------------------------------------------------------------------------------------------------

LINEAR = VBLSRegressor().fit(ONE, Y)
DRAWN = {
    "PredictionDisplay": lambda model, **options: PredictionDisplay.from_estimator(model, ONE, Y, **options),
    "PathDisplay": lambda model, **options: PathDisplay.from_estimator(model, **options),
    "FunctionsDisplay": lambda model, **options: FunctionsDisplay.from_estimator(model, **options),
    "InputsDisplay": lambda model, **options: InputsDisplay.from_estimator(model, **options),
    "IntervalsDisplay": lambda model, **options: IntervalsDisplay.from_estimator(model, ONE, Y, **options),
}
N_PANELS = {"PathDisplay": 2, "IntervalsDisplay": 3}


@pytest.mark.parametrize("name", DRAWN)
def test_axes_can_be_given(name):
    n_panels = N_PANELS.get(name, 1)
    figure, axes = plt.subplots(1, n_panels, squeeze=False)
    display = DRAWN[name](LINEAR, ax=axes[0, 0] if n_panels == 1 else axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes[0])
    assert len(plt.get_fignums()) == 1
    with pytest.raises(ValueError, match=rf"{name} draws {n_panels} panels? here, but ax has 5 axes"):
        DRAWN[name](LINEAR, ax=plt.subplots(1, 5)[1])
    with pytest.raises(TypeError, match="ax must be axes of matplotlib, or an array of them, got 'here'"):
        DRAWN[name](LINEAR, ax="here")


@pytest.mark.parametrize("name", DRAWN)
def test_a_display_can_be_drawn_again(name):
    display = DRAWN[name](LINEAR)
    first = display.figure_
    assert display.plot() is display
    assert display.figure_ is not first


@pytest.mark.parametrize(("style", "palette"), [("default", LIGHT), ("dark_background", DARK)])
@pytest.mark.parametrize("name", DRAWN)
def test_colors_follow_the_background(name, style, palette):
    with plt.style.context(style):
        display = DRAWN[name](LINEAR)
        used = set()
        for ax in display.axes_:
            used |= {matplotlib.colors.to_hex(line.get_color()).lower() for line in ax.lines}
            used |= {matplotlib.colors.to_hex(bar.get_facecolor()).lower() for bar in ax.patches}
    other = DARK if palette is LIGHT else LIGHT
    assert palette.main.lower() in used
    assert not {other.main.lower(), other.accent.lower()} & used


@pytest.mark.parametrize("name", DRAWN)
def test_models_must_be_fitted_and_ours(name):
    with pytest.raises(NotFittedError):
        DRAWN[name](VBLSRegressor())
    with pytest.raises(NotFittedError):
        DRAWN[name](make_pipeline(StandardScaler(), VBLSRegressor()))
    with pytest.raises(TypeError, match=rf"{name} needs an estimator of skarce, a pipeline that ends in one, or a search for one"):
        DRAWN[name](Ridge().fit(ONE, Y))


@pytest.mark.parametrize("name", DRAWN)
def test_searches_show_their_best_model(name):
    search = GridSearchCV(make_pipeline(StandardScaler(), VBLSRegressor()), {"vblsregressor__prior": ["ard"]}, cv=2).fit(ONE, Y)
    assert len(DRAWN[name](search).axes_) == N_PANELS.get(name, 1)


@pytest.mark.parametrize("name", DRAWN)
def test_without_matplotlib_the_message_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError,
        match=rf'{name} draws with matplotlib, which is not installed. In the folder of the source, run: pip install "\.\[plot\]"',
    ):
        DRAWN[name](LINEAR)


# Models without functions and weights ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fields():
    return make_pipeline(StandardScaler(), LWPRRegressor()).fit(FRAME, NAMED_Y)


def test_local_models_show_their_intervals():
    model = LWPRRegressor().fit(ONE, Y)
    display = PredictionDisplay.from_estimator(model, ONE, Y, coverage=0.9)
    (panel,) = display.panels
    for shown, expected in zip((panel.lower, panel.upper), model.predict_interval(panel.grids[0][:, None], 0.9), strict=True):
        np.testing.assert_allclose(shown, expected)
    assert set(labeled(display.ax_)) == {"mean", "90 % of new targets", "data"}
    check = IntervalsDisplay.from_estimator(model, ONE, Y).check
    mean, std = model.predict(ONE, return_std=True)
    np.testing.assert_allclose(check.z_scores, (Y - mean) / std)


def test_joint_factors_show_predictions_intervals_and_inputs():
    model = JointFactorRegressor().fit(FRAME, np.column_stack([Y, -Y]))
    display = PredictionDisplay.from_estimator(model, FRAME, features="east", target=1, grid_resolution=5)
    table = FRAME.assign(east=FRAME["east"].max())
    assert display.panels[0].mean[-1] == pytest.approx(model.predict(table)[:, 1].mean())
    check = IntervalsDisplay.from_estimator(model, FRAME, np.column_stack([Y, -Y]), target=0).check
    mean, std = model.predict(FRAME, return_std=True)
    np.testing.assert_allclose(check.z_scores, (Y - mean[:, 0]) / std[:, 0])
    one = JointFactorRegressor().fit(FRAME, NAMED_Y)
    assert InputsDisplay.from_estimator(one, FRAME, NAMED_Y).relevance.names[0] == "east"
    with pytest.raises(TypeError, match="needs a model that is a sum of functions with weights, got JointFactorRegressor"):
        FunctionsDisplay.from_estimator(one)


def test_averages_of_local_models_have_no_band(fields):
    display = PredictionDisplay.from_estimator(fields, FRAME, NAMED_Y, features="east", grid_resolution=5)
    assert set(labeled(display.ax_)) == {"average prediction"}
    table = FRAME.assign(east=FRAME["east"].max())
    assert display.panels[0].mean[-1] == pytest.approx(fields.predict(table).mean())
    with pytest.raises(ValueError, match="band='mean' needs the posterior of the weights, which LWPRRegressor does not have"):
        PredictionDisplay.from_estimator(fields, FRAME, NAMED_Y, band="mean")


def test_inputs_of_local_models_are_shuffled(fields):
    assert InputsDisplay.from_estimator(fields, FRAME, NAMED_Y).relevance.names[0] == "east"


@pytest.mark.parametrize("display", [FunctionsDisplay, PathDisplay, InputsDisplay])
def test_what_local_models_do_not_have_is_said(display, fields):
    with pytest.raises(TypeError, match="needs a model that is a sum of functions with weights, got LWPRRegressor"):
        display.from_estimator(fields)


OF_FUNCTIONS = (FunctionsDisplay, PathDisplay, InputsDisplay)


def test_the_page_names_all_models_that_these_displays_refuse():
    page = (Path(__file__).parents[2] / "docs" / "pictures.md").read_text(encoding="utf-8")
    exception = " ".join(page.split()).partition("There is one exception: ")[2].partition(". ")[0]
    assert set(re.findall(r"`(\w+Regressor)`", exception)) == {estimator.__name__ for estimator in WITHOUT_BASIS}
    assert all(f"`{display.__name__}`" in exception for display in OF_FUNCTIONS)


@pytest.mark.parametrize("display", OF_FUNCTIONS)
@pytest.mark.parametrize("estimator", [*REGRESSORS, *LATENT], ids=lambda each: each.__name__)
def test_all_other_models_are_taken(estimator, display):
    targets = {"Classifier": Y > 0, "PoissonRegressor": RNG.poisson(np.exp(0.3 * Y))}
    y = next((values for ending, values in targets.items() if estimator.__name__.endswith(ending)), Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = estimator(basis="passthrough").fit(FRAME, y)
    assert len(display.from_estimator(model).axes_)


def test_a_name_of_a_target_without_y_is_answered_with_what_works():
    model = VBLSRegressor().fit(FRAME, pd.DataFrame({"heat": Y, "neg": -Y}))
    with pytest.raises(ValueError, match=r"got 'neg'. A model does not keep the names of its targets.*the number of its column"):
        FunctionsDisplay.from_estimator(model, target="neg")
    assert "north" in str(FunctionsDisplay.from_estimator(model, target=1).functions.names)
    both = pd.DataFrame({"heat": Y, "neg": -Y})
    assert PredictionDisplay.from_estimator(model, FRAME, both, target="neg").ax_.get_ylabel() == "average neg"
    with pytest.raises(ValueError, match=r"got 'cold'\.$"):
        PredictionDisplay.from_estimator(model, FRAME, both, target="cold")

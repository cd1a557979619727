"""Pictures of predictions with their uncertainty, by one or two inputs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length

from skarce._typing import Floats
from skarce.inspection.dependence import Dependence, Request
from skarce.inspection.displays.curves import draw_curve
from skarce.inspection.displays.drawing import (
    Display,
    axes_for,
    draw_legend_above,
    draw_legend_in_a_free_place,
    make_room_for_legends,
)
from skarce.inspection.displays.maps import draw_map
from skarce.inspection.shown_rows import ShownRows
from skarce.inspection.tables import Features, checked_rows, features_asked, is_numeric
from skarce.inspection.unwrapping import names_of_targets

NAME = "PredictionDisplay"
MOST_PANELS = 6  # inputs that are shown if none are named
COARSE = {"resolution": 5, "max_rows": 100, "band": None}  # to see which inputs move the prediction
DEFAULT_RESOLUTION = {1: 200, 2: 50}  # values of each input, by the number of inputs in a panel


class PredictionDisplay(Display):
    """Predictions of a model with their uncertainty, by one or two inputs.

    Use `from_estimator` to make one. Each panel shows one input as a curve, or two as a map.

    - If a panel has all inputs of the model, it shows `predict`, the interval of new targets, the data, and circles around the
      rows that are centers of kernels in the model. A map has lines of half the width of the interval: ``coverage=0.683`` makes
      them lines of the std. Centers that are not among the rows are circles on the curve.
    - If there are other inputs, it shows the prediction averaged over the rows (partial dependence). Ticks at the bottom are
      deciles of the rows. Then the band is that of the averaged function, not of new targets: it has the uncertainty of the
      weights, also as far as it is the same for all rows, but no noise.
    - Models of counts show the rate.
    - Classifiers show probabilities, without a band, because probabilities contain the uncertainty already. Lines on maps are
      where the most probable class changes.

    Parameters
    ----------
    panels : list of Dependence
        What each panel shows.
    rows : ShownRows, default=None
        Rows, their targets, and which of them are centers. None shows no data.
    target_name : str, default="y"
        Name of the target.

    Attributes
    ----------
    axes_ : ndarray of matplotlib.axes.Axes
        The axes, one for each panel.
    ax_ : matplotlib.axes.Axes
        The first of them.
    figure_ : matplotlib.figure.Figure
        Their figure.

    See Also
    --------
    IntervalsDisplay : Whether intervals keep their promise.
    sklearn.inspection.PartialDependenceDisplay : Averages for any model, without bands.

    Notes
    -----
    The band of an average over rows is exact for regression. For counts and for targets that a `TransformedTargetRegressor`
    transforms, weights are moved along the direction in which the average grows fastest, to both ends of the interval of the
    average along this direction.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from skarce import RelevanceVectorRegressor
    >>> from skarce.inspection import PredictionDisplay
    >>> X = np.linspace(-5, 5, 100)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 100)
    >>> display = PredictionDisplay.from_estimator(RelevanceVectorRegressor("rbf").fit(X, y), X, y)
    >>> display.ax_.get_xlabel()
    'x0'
    """

    def __init__(self, panels: list[Dependence], *, rows: ShownRows | None = None, target_name: str = "y") -> None:
        self.panels = panels
        self.rows = rows
        self.target_name = target_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: Any = None,
        target: Any = None,
        band: Any = "auto",
        coverage: float = 0.95,
        grid_resolution: int | None = None,
        max_rows: int = 500,
        random_state: Any = 0,
        sharey: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draw predictions of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows. They say between which values inputs are shown, and averages are over them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets. They are drawn if a panel has all inputs of the model. Averages over other inputs are not comparable to
            single targets, so then y only gives the target its name.
        features : int, str, tuple of two or list of these, default=None
            Which inputs are shown, by number or name. A tuple of two is a map, and a list has several panels. None shows the only
            input, or both as a map, or, of more inputs, the six that move the averaged prediction most, in this order.
        target : int or str, default=None
            Which target, if there are several, by number, or by the name of its column in y. Without names they are y0, y1, ...
        band : {"auto", "targets", "mean"} or None, default="auto"
            ``"targets"`` is the interval of new targets, ``"mean"`` that of the function without noise. ``"auto"`` is
            ``"targets"``, but ``"mean"`` for averages. None draws no band. Averages of `LWPRRegressor` have none.
        coverage : float, default=0.95
            The probability of the band, between 0 and 1.
        grid_resolution : int, default=None
            How many values of each input are predicted. None stands for 200 on a curve and 50 on a map.
        max_rows : int, default=500
            How many rows are averaged over. If there are more, they are drawn at random.
        random_state : int, RandomState instance or None, default=0
            Seed of that draw.
        sharey : bool, default=True
            Whether all curves have the same y axis, so that inputs that matter little look so.
        ax : matplotlib.axes.Axes or array of them, default=None
            Axes to draw on, one for each panel. None makes a new figure.

        Returns
        -------
        display : PredictionDisplay
            The display that was drawn.
        """
        X = checked_rows(X)
        options = {"target": target, "coverage": coverage, "random_state": random_state, "caller": NAME}
        resolution = DEFAULT_RESOLUTION[1] if grid_resolution is None else grid_resolution
        request = Request.of(estimator, X, y, band=band, max_rows=max_rows, resolution=resolution, **options)
        if features is None:
            asked = _all_or_most_moving(Request.of(estimator, X, y, **{**options, **COARSE}))
        else:
            asked = features_asked(features, request.names)
        if grid_resolution is None:
            panels = [request.with_resolution(DEFAULT_RESOLUTION[len(each)]).at(each) for each in asked]
        else:
            panels = [request.at(each) for each in asked]
        rows = ShownRows.of(request, _checked_targets(request, X, y))
        return cls(panels, rows=rows, target_name=_name_of(y, request)).plot(ax, sharey=sharey)

    def plot(self, ax: Any = None, *, sharey: bool = True) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or array of them, default=None
            Axes to draw on, one for each panel. None makes a new figure.
        sharey : bool, default=True
            Whether all curves have the same y axis, so that inputs that matter little look so.

        Returns
        -------
        display : PredictionDisplay
            This display.
        """
        axes = axes_for(ax, len(self.panels), NAME)
        for one, panel in zip(axes, self.panels, strict=True):
            (draw_curve if len(panel.features) == 1 else draw_map)(one, panel, self.rows, self.target_name)
        if sharey:
            _share_y([one for one, panel in zip(axes, self.panels, strict=True) if len(panel.features) == 1])
        above = self._name_all(axes)
        if ax is None:
            make_room_for_legends(above)
        self._keep(axes)
        return self

    def _name_all(self, axes: list[Any]) -> list[Any]:
        """Draw legends, and return the axes that have them above. Averages of one kind have the same one, so the first has it."""
        named, above = set(), []
        for one, panel in zip(axes, self.panels, strict=True):
            kind = len(panel.features)
            if (kind not in named or not panel.is_average) and _draw_legend_of(one, panel):
                above.append(one)
            named.add(kind)
        return above


def _draw_legend_of(ax: Any, panel: Dependence) -> bool:
    """Draw the legend of a panel, and return whether it is above the axes."""
    if not _is_full(panel):
        return draw_legend_in_a_free_place(ax)
    draw_legend_above(ax)
    return True


def _is_full(panel: Dependence) -> bool:
    """Whether no corner of a panel is free for a legend: maps, and dots at categories."""
    return len(panel.features) == 2 or not is_numeric(panel.grids[0])


def _all_or_most_moving(coarse: Request) -> list[Features]:
    """Return all inputs in one panel if they are one or two, else those that move the averaged prediction most."""
    n_inputs = len(coarse.names)
    if n_inputs <= 2:
        return [tuple(range(n_inputs))]
    moves = np.array([np.ptp(coarse.at((place,)).mean, axis=0).max() for place in range(n_inputs)])
    return [(int(place),) for place in np.argsort(-moves, kind="stable")[:MOST_PANELS]]


def _share_y(axes: list[Any]) -> None:
    """Give all axes the smallest limits that show what each of them shows."""
    if axes:
        ends = np.array([ax.get_ylim() for ax in axes])
        for ax in axes:
            ax.set_ylim(ends[:, 0].min(), ends[:, 1].max())


def _checked_targets(request: Request, X: Any, y: Any) -> Floats | None:
    """Return the targets of the rows, those of classifiers as places among the classes."""
    if y is None:
        return None
    check_consistent_length(X, y)
    return request.class_places(y) if is_classifier(request.found.model) else request.targets(y)


def _name_of(y: Any, request: Request) -> str:
    """Return the name of the target."""
    outputs, columns = request.found.outputs, getattr(y, "columns", None)
    if outputs is not None and not is_classifier(request.found.model):
        return names_of_targets(y, len(outputs))[request.output]
    name = getattr(y, "name", None) if columns is None else columns[0]
    return "y" if name is None else str(name)

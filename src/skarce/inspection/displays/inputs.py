"""A picture of which inputs matter."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skarce._parameters import check_count
from skarce.inspection.displays.drawing import (
    Display,
    axes_for,
    draw_intervals,
    draw_legend,
    draw_list,
    list_size,
    palette_of,
    text_color,
)
from skarce.inspection.inputs import COEFFICIENTS, SOBOL, InputRelevance, input_relevance

NAME = "InputsDisplay"


class InputsDisplay(Display):
    """Which inputs matter, the one that matters most first.

    Use `from_estimator` to make one. What is shown depends on the model:

    - Models on inputs or on the columns of a transformer show coefficients with their intervals.
    - Kernels with one learned width for each input show 1 / length: the prediction changes quickly along an input with a short
      length, and not at all along one with a length far beyond the data.
    - Models on `PolynomialChaosBasis` show Sobol indices: shares of the variance of the prediction. Dots are total indices with
      their intervals, and bars are first-order ones, of the input alone.

    Parameters
    ----------
    relevance : InputRelevance
        Names, values and intervals, the input that matters most first.

    Attributes
    ----------
    axes_ : ndarray of matplotlib.axes.Axes
        The axes, one.
    ax_ : matplotlib.axes.Axes
        The axes.
    figure_ : matplotlib.figure.Figure
        Their figure.

    See Also
    --------
    FunctionsDisplay : The functions in the model.
    skarce.inspection.sobol_indices : The shares of the variance as numbers.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from skarce import VBLSRegressor
    >>> from skarce.inspection import InputsDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = 1.0 + 3.0 * X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.5, 100)
    >>> display = InputsDisplay.from_estimator(VBLSRegressor().fit(X, y))
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['x1', 'x3']
    """

    def __init__(self, relevance: InputRelevance) -> None:
        self.relevance = relevance

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, target: Any = None, level: float = 0.95, max_inputs: int = 15, ax: Any = None
    ) -> Self:
        """Draw which inputs of a fitted model matter.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
        X : array-like of shape (n_samples, n_features), default=None
            Rows whose standard deviations make inputs of different units comparable: coefficients and 1 / lengths are then those
            per standard deviation of the input. Without them, coefficients are in order of their ratio to their own std.
        target : int or label, default=None
            Which target or class, if there are several with functions of their own.
        level : float, default=0.95
            Probability that an interval contains its value, between 0 and 1.
        max_inputs : int, default=15
            How many inputs are shown. A note says how many more there are.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display : InputsDisplay
            The display that was drawn.
        """
        check_count("max_inputs", max_inputs)
        return cls(input_relevance(estimator, X, target=target, level=level, caller=NAME)).plot(ax, max_inputs=max_inputs)

    def plot(self, ax: Any = None, *, max_inputs: int = 15) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on. None makes a new figure.
        max_inputs : int, default=15
            How many inputs are shown.

        Returns
        -------
        display : InputsDisplay
            This display.
        """
        check_count("max_inputs", max_inputs)
        relevance, shown = self.relevance, slice(0, int(max_inputs))
        names = relevance.names[shown]
        (ax,) = axes_for(ax, 1, NAME, size=list_size(len(names)))
        self._draw_values(ax, shown)
        draw_list(ax, names, len(relevance) - len(names), "input")
        interval = f", with {100.0 * relevance.level:.4g} % intervals" if relevance.kind == COEFFICIENTS else ""
        ax.set_xlabel(relevance.label + interval)
        if relevance.n_left_out:
            ax.set_title(f"{len(relevance)} of {len(relevance) + relevance.n_left_out} columns", loc="left", fontsize="medium")
        self._keep([ax])
        return self

    def _draw_values(self, ax: Any, shown: slice) -> None:
        relevance, palette = self.relevance, palette_of(ax)
        values = relevance.values[shown]
        if relevance.lower is None or relevance.upper is None:
            ax.barh(np.arange(len(values)), values, height=0.6, color=palette.main)
            return
        label = None
        if relevance.kind == SOBOL and relevance.first is not None:
            ax.barh(np.arange(len(values)), relevance.first[shown], height=0.6, color=palette.main, alpha=0.45, label="first order")
            label = f"total, {100.0 * relevance.level:.4g} % interval"
        else:
            ax.axvline(0.0, color=text_color(ax), linewidth=0.8, zorder=0)
        draw_intervals(ax, values, relevance.lower[shown], relevance.upper[shown], palette.accent if label else palette.main, label)
        if label:
            ax.set_xlim(left=0.0)
            draw_legend(ax, loc="lower right")

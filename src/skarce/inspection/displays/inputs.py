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
    wrapped,
)
from skarce.inspection.inputs import BY_SHUFFLING, COEFFICIENTS, SOBOL, WIDTHS, InputRelevance, input_relevance

NAME = "InputsDisplay"
NO_EFFECT = "how quickly the prediction bends along each input,\nnot how large its effect is (for that, pass X and y)"


class InputsDisplay(Display):
    """Which inputs matter, the one that matters most first.

    Use `from_estimator` to make one. With rows and targets, ``from_estimator(model, X, y)``, it shows for any model what shuffling
    each column of X adds to the loss on these rows, with the std over the shuffles: the size of an effect. Columns that a pipeline
    encodes count as one input. Without targets, what is shown depends on the model:

    - Models on inputs or on the columns of a transformer show coefficients with their intervals.
    - Kernels with one learned width for each input show 1 / length: the prediction changes quickly along an input with a short
      length, and not at all along one with a length far beyond the data. A length does not measure the size of an effect: an input
      with a large linear effect has a long length, and a rare category may have a short one.
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
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        target: Any = None,
        level: float = 0.95,
        max_inputs: int = 15,
        ax: Any = None,
    ) -> Self:
        """Draw which inputs of a fitted model matter.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
        X : array-like of shape (n_samples, n_features), default=None
            Rows whose standard deviations make inputs of different units comparable: coefficients and 1 / lengths are then those
            per standard deviation of the input. Without them, coefficients are in order of their ratio to their own std.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets of these rows. With them, the rise of the loss by shuffling each column of X is shown: of the mean squared
            error, of the log loss for classes, of the mean Poisson deviance for counts. Rows that were not used for the fit
            are best.
        target : int, str or label, default=None
            Which target or class, if there are several with functions of their own. Columns of y name targets. None for a
            classifier whose inputs are shuffled.
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
        return cls(input_relevance(estimator, X, y, target=target, level=level, caller=NAME)).plot(ax, max_inputs=max_inputs)

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
        ends = {COEFFICIENTS: f", with {100.0 * relevance.level:.4g} % intervals", BY_SHUFFLING: ", with the std of shuffles"}
        ax.set_xlabel(wrapped(relevance.label + ends.get(relevance.kind, "")))
        if relevance.kind == WIDTHS:
            ax.set_title(NO_EFFECT, loc="left", fontsize="small")
        elif relevance.n_left_out:
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

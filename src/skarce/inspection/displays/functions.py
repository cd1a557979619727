"""A picture of the functions in a model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skarce._parameters import check_count
from skarce.inspection.displays.drawing import Display, axes_for, draw_intervals, draw_list, list_size, palette_of, text_color
from skarce.inspection.functions import RankedFunctions, ranked_functions

NAME = "FunctionsDisplay"


class FunctionsDisplay(Display):
    """The functions in a model, the most relevant first: weights with their intervals.

    Use `from_estimator` to make one. The numbers on the right are the relevance: how well the data determine the weight, from 0
    (the prior does) to 1. The intercept is not shown. The intervals assume that the functions were given. Functions that were
    selected by the same rows look clearer than they are.

    Parameters
    ----------
    functions : RankedFunctions
        Names, weights, intervals and relevance, the most relevant first.

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
    skarce.inspection.summary : The same numbers as a table.
    InputsDisplay : Which inputs matter.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from skarce import RelevanceVectorRegressor
    >>> from skarce.inspection import FunctionsDisplay
    >>> X = np.linspace(-5, 5, 100)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 100)
    >>> display = FunctionsDisplay.from_estimator(RelevanceVectorRegressor("rbf").fit(X, y))
    >>> display.ax_.get_xlabel()
    'weight, with 95 % intervals'
    """

    def __init__(self, functions: RankedFunctions) -> None:
        self.functions = functions

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, target: Any = None, level: float = 0.95, max_functions: int = 15, ax: Any = None
    ) -> Self:
        """Draw the functions of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
        target : int or label, default=None
            Which target or class, if there are several with functions of their own.
        level : float, default=0.95
            Probability that an interval contains its weight, between 0 and 1.
        max_functions : int, default=15
            How many functions are shown. A note says how many more there are.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display : FunctionsDisplay
            The display that was drawn.
        """
        check_count("max_functions", max_functions)
        return cls(ranked_functions(estimator, target=target, level=level, caller=NAME)).plot(ax, max_functions=max_functions)

    def plot(self, ax: Any = None, *, max_functions: int = 15) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on. None makes a new figure.
        max_functions : int, default=15
            How many functions are shown.

        Returns
        -------
        display : FunctionsDisplay
            This display.
        """
        check_count("max_functions", max_functions)
        functions, shown = self.functions, slice(0, int(max_functions))
        names = functions.names[shown]
        (ax,) = axes_for(ax, 1, NAME, size=list_size(len(names)))
        palette = palette_of(ax)
        ax.axvline(0.0, color=text_color(ax), linewidth=0.8, zorder=0)
        draw_intervals(ax, functions.weights[shown], functions.lower[shown], functions.upper[shown], palette.main)
        draw_list(ax, names, len(functions) - len(names), "function")
        for place, relevance in enumerate(functions.relevance[shown]):
            _beside(ax, f"{relevance:.2f}", place)
        _beside(ax, "relevance", -0.75)
        has_intervals = bool(np.isfinite(functions.lower).all())
        ax.set_xlabel(f"weight, with {100.0 * functions.level:.4g} % intervals" if has_intervals else "weight")
        ax.set_title(f"{len(functions)} of {functions.n_candidates} functions", loc="left", fontsize="medium")
        self._keep([ax])
        return self


def _beside(ax: Any, text: str, place: float) -> None:
    """Write a text on the right of a row."""
    ax.text(1.02, place, text, transform=ax.get_yaxis_transform(), va="center", fontsize="small")

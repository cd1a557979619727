"""A picture of the way to a model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from skarce.inspection.displays.drawing import Display, axes_for, count_on, draw_legend, hide_frame, palette_of
from skarce.inspection.path import BY_PENALTY, PathValues, path_values

NAME = "PathDisplay"
MOST_DOTS = 60  # of more, a line alone is clearer
NOT_NESTED = "no errors at the given rows: the models on the way are not nested"


class PathDisplay(Display):
    """The way to a model: the criterion, and the number of functions or the error. The chosen model is marked.

    Use `from_estimator` to make one. If each model on the way contains the smaller ones (`OrthogonalLeastSquaresRegressor`,
    `RegularizedForwardRegressor`, `BackwardEliminationRegressor`, `EvidenceSearchRegressor` with ``search="forward"``), the lower
    panel has their errors by the number of functions. Other models show the criterion and the number of functions step by step.
    `LaplacePriorRegressor` shows them by the penalty.

    Parameters
    ----------
    values : PathValues
        The criterion, the number of functions, and the errors of nested models.

    Attributes
    ----------
    axes_ : ndarray of matplotlib.axes.Axes
        The axes: of the criterion, and of the error or the number of functions.
    ax_ : matplotlib.axes.Axes
        The first of them.
    figure_ : matplotlib.figure.Figure
        Their figure.

    See Also
    --------
    skarce.OrthogonalLeastSquaresRegressor.with_n_basis : Another model on the way, without a new fit.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from skarce import OrthogonalLeastSquaresRegressor
    >>> from skarce.inspection import PathDisplay
    >>> X = np.linspace(-5, 5, 100)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 100)
    >>> model = OrthogonalLeastSquaresRegressor("rbf").fit(X, y)
    >>> display = PathDisplay.from_estimator(model)
    >>> [ax.get_ylabel() for ax in display.axes_]
    ['criterion\\n(smaller is better)', 'RMS error of\\nthe fitted rows']
    """

    def __init__(self, values: PathValues) -> None:
        self.values = values

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, target: Any = None, ax: Any = None) -> Self:
        """Draw the way to a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
        X, y : array-likes, default=None
            Rows for the errors of nested models, best those that were not used for the fit. None shows the errors of the rows of
            the fit, which fall with every function. With ``keep_path=True``, models larger than the chosen one have errors too.
            If models are not nested, a title says that there are no errors.
        target : int or label, default=None
            Which target or class, if there are several with functions of their own.
        ax : array of two matplotlib.axes.Axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display : PathDisplay
            The display that was drawn.
        """
        return cls(path_values(estimator, X, y, target=target, caller=NAME)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : array of two matplotlib.axes.Axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display : PathDisplay
            This display.
        """
        axes = axes_for(ax, 2, NAME, n_columns=1, size=(5.4, 2.2))
        values, (upper, lower) = self.values, axes
        self._draw(upper, values.places, values.criterion, values.chosen)
        upper.set_ylabel(values.criterion_name.replace(" (", "\n("))
        if len(values.errors):
            at_chosen = [place for place, size in enumerate(values.error_sizes) if size == values.n_functions[values.chosen]]
            self._draw(lower, values.error_sizes, values.errors, *at_chosen)
            lower.set_ylabel(f"RMS error of\n{'the given rows' if values.is_held_out else 'the fitted rows'}")
        else:
            self._draw(lower, values.places, values.n_functions, values.chosen)
            lower.set_ylabel("number of\nfunctions")
            lower.set_ylim(bottom=0.0)
            count_on(lower.yaxis)
            if values.is_held_out:
                upper.set_title(NOT_NESTED, loc="left", fontsize="small")
        for one in axes:
            self._finish(one)
        ends = np.array([one.get_xlim() for one in axes])
        widest = (max(ends[:, 0]), min(ends[:, 1])) if values.axis == BY_PENALTY else (min(ends[:, 0]), max(ends[:, 1]))
        for one in axes:
            one.set_xlim(widest)
        lower.set_xlabel(values.axis)
        draw_legend(upper)
        self._keep(axes)
        return self

    def _draw(self, ax: Any, places: Any, values: Any, *chosen: int) -> None:
        palette = palette_of(ax)
        dots = {"marker": "o", "markersize": 3.5} if len(places) <= MOST_DOTS else {}
        ax.plot(places, values, color=palette.main, linewidth=1.6, **dots)
        for place in chosen:
            n = self.values.n_functions[self.values.chosen]
            label = f"chosen: {n} function{'' if n == 1 else 's'}"
            style = {"markersize": 10, "markerfacecolor": "none", "markeredgewidth": 2.0, "zorder": 3}
            ax.plot(places[place], values[place], "o", color=palette.accent, label=label, **style)

    def _finish(self, ax: Any) -> None:
        hide_frame(ax)
        if self.values.axis == BY_PENALTY:
            ax.set_xscale("log")
            ax.set_xlim(*sorted(ax.get_xlim(), reverse=True))
        else:
            count_on(ax.xaxis)

"""A picture of whether intervals keep their promise."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy import stats

from skarce._text import quoted
from skarce.inspection.displays.drawing import Display, axes_for, draw_legend, hide_frame, palette_of, spread_ticks, text_color
from skarce.inspection.intervals import IntervalCheck, check_intervals, check_predictions

NAME = "IntervalsDisplay"
WHOLE_ENDS = "counts: whole-number ends\ncover at least as much\nas they promise"
KINDS = ("coverage", "z", "width")
WIDEST_Z = 5.0  # z scores beyond are counted in the last bar
N_BARS = 25
HEADROOM = 1.3  # above the largest error or bar, for the legend
LEAST_SPAN = 0.1  # of the axis of widths, relative to the largest: less is no difference
FEWEST_ROWS = 10  # fewer cannot tell good intervals from bad ones
FEWEST_ROWS_TO_GROUP = 40  # rows for the line of errors by width


class IntervalsDisplay(Display):
    """Whether intervals keep their promise on rows that were not used for the fit.

    Use `from_estimator` or `from_predictions` to make one. The panels are

    ``"coverage"``
        The share of targets in intervals of 5 %, 10 %, ..., 95 % and 99 %. On the diagonal, intervals keep their promise. Below it
        they are too narrow, and above it too wide. The band has the shares that chance would give to a perfect model, if rows are
        independent: at each level, 95 % of such shares are in it. Intervals of counts end at whole numbers, so they cover at least
        as much as they promise, and the line is above the diagonal even for a perfect model.
    ``"z"``
        Errors divided by their std, with the density that the model expects. Bars at the ends count everything beyond, and a note
        says how much that is.
    ``"width"``
        The size of each error against half of the width of the 95 % interval. Errors below the diagonal are inside. The line is the
        root mean square of errors in groups of equal size: it rises if wide intervals are wide for a reason. The dotted line is
        where it belongs.

    Parameters
    ----------
    check : IntervalCheck
        Coverage, z scores, errors and widths.

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
    sklearn.calibration.CalibrationDisplay : The same for the probabilities of a classifier.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from skarce import RelevanceVectorRegressor
    >>> from skarce.inspection import IntervalsDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = RelevanceVectorRegressor("rbf").fit(X[:100], y[:100])
    >>> display = IntervalsDisplay.from_estimator(model, X[100:], y[100:], kind="coverage")
    >>> display.ax_.get_xlabel()
    'promised coverage'
    """

    def __init__(self, check: IntervalCheck) -> None:
        self.check = check

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, kind: Any = KINDS, target: Any = None, levels: Any = None, ax: Any = None
    ) -> Self:
        """Compare the intervals of a fitted regressor with the targets of rows.

        Parameters
        ----------
        estimator : estimator
            A fitted regressor of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
        X : array-like of shape (n_samples, n_features)
            Rows that were not used for the fit.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        kind : {"coverage", "z", "width"} or a list of them, default=("coverage", "z", "width")
            Which panels are drawn.
        target : int or str, default=None
            Which target, if there are several, by number, or by the name of its column in y. Without names they are y0, y1, ...
        levels : array-like, default=None
            Levels between 0 and 1 whose coverage is counted. None stands for 5 %, 10 %, ..., 95 % and 99 %.
        ax : matplotlib.axes.Axes or array of them, default=None
            Axes to draw on, one for each panel. None makes a new figure.

        Returns
        -------
        display : IntervalsDisplay
            The display that was drawn.
        """
        kinds = _checked_kinds(kind)
        return cls(check_intervals(estimator, X, y, target=target, levels=levels, caller=NAME)).plot(ax, kind=kinds)

    @classmethod
    def from_predictions(cls, y: Any, mean: Any, std: Any, *, kind: Any = KINDS, levels: Any = None, ax: Any = None) -> Self:
        """Compare normal predictions of any model with the targets of rows.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Targets of rows that were not used for the fit.
        mean : array-like of shape (n_samples,)
            Their predicted means.
        std : array-like of shape (n_samples,)
            Their predicted standard deviations.
        kind : {"coverage", "z", "width"} or a list of them, default=("coverage", "z", "width")
            Which panels are drawn.
        levels : array-like, default=None
            Levels between 0 and 1 whose coverage is counted. None stands for 5 %, 10 %, ..., 95 % and 99 %.
        ax : matplotlib.axes.Axes or array of them, default=None
            Axes to draw on, one for each panel. None makes a new figure.

        Returns
        -------
        display : IntervalsDisplay
            The display that was drawn.
        """
        kinds = _checked_kinds(kind)
        return cls(check_predictions(y, mean, std, levels)).plot(ax, kind=kinds)

    def plot(self, ax: Any = None, *, kind: Any = KINDS) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or array of them, default=None
            Axes to draw on, one for each panel. None makes a new figure.
        kind : {"coverage", "z", "width"} or a list of them, default=("coverage", "z", "width")
            Which panels are drawn.

        Returns
        -------
        display : IntervalsDisplay
            This display.
        """
        kinds = _checked_kinds(kind)
        _warn_of_few_rows(self.check)
        axes = axes_for(ax, len(kinds), NAME, size=(3.9, 3.6))
        draw = {"coverage": self._draw_coverage, "z": self._draw_z_scores, "width": self._draw_widths}
        for one, panel in zip(axes, kinds, strict=True):
            draw[panel](one)
            hide_frame(one)
        self._keep(axes)
        return self

    def _draw_coverage(self, ax: Any) -> None:
        check, palette = self.check, palette_of(ax)
        lower, upper = check.chance()
        ax.fill_between(check.levels, lower, upper, color=palette.data, alpha=palette.band_alpha, linewidth=0, label="chance")
        ax.plot([0, 1], [0, 1], ":", color=text_color(ax), linewidth=1.0)
        ax.plot(check.levels, check.shares, "o-", color=palette.main, markersize=4, linewidth=1.6, label=f"{check.n_rows} rows")
        ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="promised coverage", ylabel="share of targets inside")
        if check.has_whole_ends:
            _note(ax, WHOLE_ENDS, "bottom")
        draw_legend(ax, loc="upper left")

    def _draw_z_scores(self, ax: Any) -> None:
        check, palette = self.check, palette_of(ax)
        edges = np.linspace(-WIDEST_Z, WIDEST_Z, N_BARS + 1)
        counts, _ = np.histogram(np.clip(check.z_scores, -WIDEST_Z, WIDEST_Z), edges)
        heights = counts / (check.n_rows * (edges[1] - edges[0]))
        ax.bar(edges[:-1], heights, np.diff(edges), align="edge", color=palette.main, alpha=0.55, label="rows")
        grid = np.linspace(-WIDEST_Z, WIDEST_Z, 201)
        ax.plot(grid, check.density(grid), color=palette.accent, linewidth=1.8, label="expected")
        ax.set(xlim=(-WIDEST_Z, WIDEST_Z), xlabel="z = (target - mean) / std", ylabel="density")
        ax.set_ylim(0.0, HEADROOM * max(heights.max(), check.density(np.zeros(1))[0]))
        n_beyond = int(np.sum(np.abs(check.z_scores) > WIDEST_Z))
        if n_beyond:
            _note(ax, f"{n_beyond} beyond ±{WIDEST_Z:g},\nin the last bars", "top")
        draw_legend(ax, loc="upper left")

    def _draw_widths(self, ax: Any) -> None:
        check, palette = self.check, palette_of(ax)
        ax.plot(check.half_widths, np.abs(check.errors), ".", color=palette.data, markersize=5, zorder=1)
        ends = np.array([check.half_widths.min(), check.half_widths.max()])
        ax.plot(ends, ends, "--", color=text_color(ax), linewidth=1.0, label=f"{100.0 * check.coverage:.4g} % interval")
        if check.n_rows >= FEWEST_ROWS_TO_GROUP:
            widths, errors = check.error_by_width()
            reach = stats.norm.ppf(0.5 + 0.5 * check.coverage)
            ax.plot(widths, errors, "o-", color=palette.accent, markersize=4, linewidth=1.6, label="RMS error")
            ax.plot(ends, ends / reach, ":", color=palette.accent, linewidth=1.4, label="where it belongs")
        ax.set(xlabel="half width of the interval", ylabel="size of the error")
        ax.set_ylim(0.0, HEADROOM * max(np.abs(check.errors).max(), ends[1]))
        if np.ptp(ends) < LEAST_SPAN * ends[1]:
            ax.set_xlim(ends.mean() - 0.5 * LEAST_SPAN * ends[1], ends.mean() + 0.5 * LEAST_SPAN * ends[1])
        spread_ticks(ax)
        draw_legend(ax, loc="upper left")


def _note(ax: Any, text: str, side: str) -> None:
    """Write a short text on the right, at the top or at the bottom."""
    ax.annotate(text, (0.98, 0.98 if side == "top" else 0.02), xycoords="axes fraction", ha="right", va=side, fontsize="small")


def _warn_of_few_rows(check: IntervalCheck) -> None:
    if check.n_rows < FEWEST_ROWS:
        rows = f"{check.n_rows} row{'' if check.n_rows == 1 else 's'}"
        warnings.warn(
            f"{NAME} got {rows}, too few to tell good intervals from bad ones. Pass {FEWEST_ROWS} rows or more, best 100, or "
            "predictions of all rows by cross-validation to from_predictions.",
            UserWarning,
            stacklevel=3,
        )


def _checked_kinds(kind: Any) -> tuple[str, ...]:
    kinds = (kind,) if isinstance(kind, str) else tuple(kind)
    if not kinds or len(set(kinds)) < len(kinds) or not set(kinds) <= set(KINDS):
        raise ValueError(f"kind must be one of {list(KINDS)} or a list of different ones, got {quoted(kind)}.")
    return kinds

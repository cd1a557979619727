r"""How predictions depend on one or two inputs: at rows if there are no other inputs, else averaged over the others.

The band of an averaged prediction is that of the average, with the correlations of the rows. Let :math:`f_i` be the function of
the model at row i, with the inputs in question set to a point of the grid, and :math:`h` what makes a prediction of it (the
exponential for counts, the inverse of a transformation of the target, or nothing). The weights are uncertain, so
:math:`f_i + a_i^Tz` with standard normal z are its values. The average :math:`R = \mathrm{mean}_i h(f_i)` grows fastest along
:math:`d = \mathrm{mean}_i h'(f_i)a_i`. The ends of the band are the averages at the weights q standard deviations along this
direction, :math:`\mathrm{mean}_i h(f_i \pm q a_i^Td/|d|)`. For regression without a transformation this is :math:`R\pm q|d|`, the
exact interval. At a single row it is exact too, :math:`h(f\pm q|a|)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import is_classifier

from skarce._parallel import blas_threads
from skarce._parameters import check_choice, check_count, check_coverage, generator_of
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce.estimators.relevance_vector_poisson import RelevanceVectorPoissonRegressor
from skarce.inspection.predictor import Predictor, class_places
from skarce.inspection.tables import Features, column, grid_of, with_values
from skarce.inspection.unwrapping import Unwrapped, names_of_inputs, unwrapped_predictor

BANDS = ("auto", "targets", "mean")
ROWS_AT_ONCE = 16_384
SMALL_STEP = 1e-4  # of a numerical derivative, in standard deviations of the function


@dataclass(frozen=True)
class Dependence:
    """Predictions on a grid of one or two inputs.

    Attributes
    ----------
    features : tuple of int
        The inputs, one or two.
    names : tuple of str
        Their names.
    grids : tuple of ndarray
        The values of each of them.
    mean : ndarray of shape (n_values,) or (n_first, n_second), for classifiers with one more axis, the classes
        Predicted targets or rates, or probabilities, averaged over the rows if there are other inputs.
    lower, upper : ndarray of the same shape, or None
        The ends of the band.
    band : {"targets", "mean"} or None
        Whether the band is that of new targets, or that of the mean.
    coverage : float
        The probability of the band.
    is_average : bool
        Whether there are other inputs, over which the predictions are averaged.
    classes : ndarray or None
        The classes of a classifier.
    has_counts : bool
        Whether targets are counts, so that whole numbers are enough for an axis.
    """

    features: Features
    names: tuple[str, ...]
    grids: tuple[Any, ...]
    mean: Floats
    lower: Floats | None
    upper: Floats | None
    band: str | None
    coverage: float
    is_average: bool
    classes: Any = None
    has_counts: bool = False


@dataclass(frozen=True)
class Request:
    """What is to be computed of a model.

    Attributes
    ----------
    found : the model, and what stands around it
    X : rows, checked
    names : names of their columns
    output : the place of the target
    band : "auto", "targets", "mean" or None
    coverage : the probability of the band
    resolution : values of each input
    rows : the rows that are averaged over
    """

    found: Unwrapped
    X: Any
    names: list[str]
    output: int
    band: str | None
    coverage: float
    resolution: int
    rows: Indices

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        target: Any = None,
        band: Any = "auto",
        coverage: float = 0.95,
        resolution: int = 100,
        max_rows: int = 500,
        random_state: Any = 0,
        caller: str = "dependence",
    ) -> Request:
        """Check the parameters. `X` has rows and columns. Columns of `y` name the targets."""
        if band is not None:
            check_choice("band", band, BANDS)
        check_count("grid_resolution", resolution, 2)
        check_count("max_rows", max_rows)
        found = unwrapped_predictor(model, caller)
        if is_classifier(found.model):
            if band in ("targets", "mean"):
                raise ValueError(f"band must be 'auto' or None for a classifier, whose probabilities have no band, got {band!r}.")
            if target is not None:
                raise ValueError(f"target must be None for a classifier: all classes are shown, got {quoted(target)}.")
        if band == "mean" and not found.has_functions:
            name = type(found.model).__name__
            raise ValueError(f"band='mean' needs the posterior of the weights, which {name} does not have. Use 'auto' or None.")
        found.model._checked_inputs(found.inputs(X))
        output = 0 if is_classifier(found.model) else found.output(target, y)
        rows = np.arange(len(X))
        if len(rows) > max_rows:
            rows = np.sort(generator_of(random_state).choice(rows, max_rows, replace=False))
        return cls(found, X, names_of_inputs(model, X), output, band, check_coverage(coverage), int(resolution), rows)

    def with_resolution(self, resolution: int) -> Request:
        """Return the same with another number of values of each input."""
        return replace(self, resolution=resolution)

    def targets(self, y: Any) -> Floats:
        """Return checked values of the target."""
        predictor = Predictor(self.found, self.output)
        return predictor.of_target(predictor.targets(y))

    def class_places(self, y: Any) -> Indices:
        """Return the places of labels among the classes."""
        return class_places(self.found.model.classes_, y)

    def at(self, features: Features) -> Dependence:
        """Return predictions on the grid of one or two inputs."""
        is_average = len(features) < len(self.names)
        grids = tuple(grid_of(column(self.X, place), self.resolution, self.names[place], few=is_average) for place in features)
        points = [axis.ravel() for axis in np.meshgrid(*grids, indexing="ij")]
        rows = self.rows if is_average else self.rows[:1]
        band = self._band(is_average=is_average)
        parts = [self._part(part, len(part[0]), rows, features, band) for part in _slices(points, len(rows))]
        shape = tuple(len(grid) for grid in grids)
        mean, lower, upper = (
            None if parts[0][which] is None else _reshaped(np.concatenate([part[which] for part in parts]), shape)
            for which in range(3)
        )
        assert mean is not None
        names = tuple(self.names[place] for place in features)
        classes = getattr(self.found.model, "classes_", None)
        counts = self.found.has_counts
        return Dependence(features, names, grids, mean, lower, upper, band, self.coverage, is_average, classes, counts)

    def _band(self, *, is_average: bool) -> str | None:
        if self.band is None or is_classifier(self.found.model):
            return None
        if is_average and self.band == "targets":
            raise ValueError(
                "band='targets' is for predictions at rows, but these are averaged over other inputs, so they are no prediction of "
                "any new target. Use band='mean'."
            )
        if self.band != "auto":
            return self.band
        return "targets" if not is_average else "mean" if self.found.has_functions else None

    def _part(self, points: list[Any], n_points: int, rows: Indices, features: Features, band: str | None) -> tuple[Any, ...]:
        """Return mean, lower and upper ends at some points of the grid."""
        table = with_values(self.X, np.tile(rows, n_points), features, [np.repeat(values, len(rows)) for values in points])
        if is_classifier(self.found.model):
            return _averaged(self.found.model.predict_proba(self.found.inputs(table)), n_points), None, None
        predictor = Predictor(self.found, self.output)
        mean = _averaged(predictor.mean(table), n_points)
        if band is None:
            return mean, None, None
        ends = predictor.interval(table, self.coverage) if band == "targets" else self._mean_band(table, n_points)
        return mean, *ends

    def _mean_band(self, table: Any, n_points: int) -> tuple[Floats, Floats]:
        """Return the ends of the band of averaged predictions."""
        model, reach = self.found.model, stats.norm.ppf(0.5 + 0.5 * self.coverage)
        with blas_threads(1):
            phi = model._phi(model._checked_inputs(self.found.inputs(table)))
            values = phi @ model._weights.T + model.intercept_
            response = _Response(self.found, values, self.output)
            deviations = self._deviations(phi, response.slopes(), n_points)
        lower, upper = (_averaged(response.moved(sign * reach * deviations), n_points) for sign in (-1.0, 1.0))
        return np.minimum(lower, upper), np.maximum(lower, upper)

    def _deviations(self, phi: Floats, slopes: Floats, n_points: int) -> Floats:
        """Return how far the function moves at each row, if the weights move by one std in the direction of its point."""
        model = self.found.model
        posterior, places = model._posteriors()[self.output], model._places[self.output]
        phi = phi[:, places].reshape(n_points, -1, len(places))
        slopes = slopes.reshape(n_points, -1, 1)
        total = slopes.sum(axis=1)
        weighted = (slopes * phi).sum(axis=1) / np.where(total == 0.0, 1.0, total)
        directions = posterior.deviations(weighted, np.eye(posterior.n_parameters))
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        directions = directions / np.where(lengths == 0.0, 1.0, lengths)
        moves = [posterior.deviations(rows, direction[:, None])[:, 0] for rows, direction in zip(phi, directions, strict=True)]
        scales = np.broadcast_to(getattr(model, "std_scale_", 1.0), len(model._posteriors()))
        return np.concatenate(moves) * float(scales[self.output])


@dataclass(frozen=True)
class _Response:
    """What is predicted if the function of one target has given values."""

    found: Unwrapped
    values: Floats
    output: int

    def moved(self, moves: Floats) -> Floats:
        """Return predictions if the function of the target moves by these values."""
        values = self.values.copy()
        (values if values.ndim == 1 else values[:, self.output])[:] += moves
        if isinstance(self.found.model, RelevanceVectorPoissonRegressor):
            values = np.exp(values)
        predictions = self.found.original_targets(values)
        return predictions if predictions.ndim == 1 else predictions[:, self.output]

    def slopes(self) -> Floats:
        """Return the derivative of predictions by the values of the function. Only ratios of them matter."""
        values = self.values if self.values.ndim == 1 else self.values[:, self.output]
        if not self.found.target_steps and not isinstance(self.found.model, RelevanceVectorPoissonRegressor):
            return np.ones(len(values))
        step = SMALL_STEP * (float(np.std(values)) or 1.0)
        return (self.moved(np.full(len(values), step)) - self.moved(np.full(len(values), -step))) / (2.0 * step)


def _slices(points: list[Any], n_rows: int) -> Iterator[list[Any]]:
    at_once = max(1, ROWS_AT_ONCE // n_rows)
    for start in range(0, len(points[0]), at_once):
        yield [values[start : start + at_once] for values in points]


def _averaged(values: Floats, n_points: int) -> Floats:
    """Return means over the rows of each point. Rows of a point follow one another."""
    return np.asarray(values, dtype=np.float64).reshape(n_points, -1, *values.shape[1:]).mean(axis=1)


def _reshaped(values: Floats, shape: tuple[int, ...]) -> Floats:
    return values.reshape(*shape, *values.shape[1:])

"""Fitted transformers of scikit-learn and of skarce as plain stages."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from math import factorial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from skarce._text import listed, quoted
from skarce._typing import Floats
from skarce.basis import KernelBasis, PolynomialChaosBasis, ProcessBasis, SelectedColumns
from skarce.basis.input_distributions import InputDistribution, input_distributions
from skarce.estimators.kernel_dimension_reduction import KernelDimensionReduction
from skarce.export.columns import Column, Columns, Lookup, Number
from skarce.export.inputs import Gaps, code_of, is_missing
from skarce.export.kernel_units import KernelUnits
from skarce.export.stages import Chain, Kernels, Mixture, Products, SideBySide, Spline, Splines, pruned, simplified

BEFORE = "Transform the columns before the pipeline, and pass the exported model transformed columns."
UNSEEN_TEXT = "\x00a text that no table has\x00"


class ExportError(ValueError):
    """A part of a model that cannot be exported, and what would do."""


class UnknownModelError(ExportError, TypeError):
    """A model of a class that has no export."""


class ImpreciseError(ExportError):
    """An export that would be too far from Python.

    Attributes
    ----------
    difference : how far, in a clause
    advice : what would do
    """

    def __init__(self, difference: str, advice: str) -> None:
        super().__init__(difference, advice)
        self.difference, self.advice = difference, advice

    def __str__(self) -> str:
        """Return both."""
        return f"{self.difference}, so nothing was written. {self.advice}"


@dataclass(frozen=True)
class Raw:
    """A column as it came.

    Attributes
    ----------
    place : its place among the raw inputs
    fill : the text that an imputer puts in the place of missing text; None if there is no imputer
    fills_none : whether that is None, and not NaN
    is_number : whether an imputer of numbers was at it
    """

    place: int
    fill: Any = None
    fills_none: bool = False
    is_number: bool = False

    def gaps(self, categories: tuple[Any, ...]) -> Gaps:
        """Return the codes of missing text in an encoder with these categories."""
        filled = None if self.fill is None else code_of(self.fill, categories)
        nan, none = code_of(np.nan, categories), code_of(None, categories)
        if self.fill is not None and self.fills_none:
            return Gaps(nan, filled)
        return Gaps(nan if self.fill is None else filled, none)


@dataclass
class Reader:
    """Reads fitted transformers, and notes which raw inputs are categories.

    Attributes
    ----------
    texts : for each raw input of text its categories, in the order of their codes
    keys : for each raw input of numbers that an encoder takes the numbers that it knows
    gaps : for each raw input of text the codes that stand for missing text
    """

    texts: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    keys: dict[int, Floats] = field(default_factory=dict)
    gaps: dict[int, Gaps] = field(default_factory=dict)

    def read(self, transformer: Any, raw: list[Raw | None]) -> tuple[Chain, list[Raw | None]]:
        """Return the stages of a transformer, and which of its outputs are raw columns."""
        if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
            return (Columns.identity(len(raw)),), raw
        for kind, method in _METHODS.items():
            if isinstance(transformer, kind):
                return method(self, transformer, raw)
        for kind, stages in _STAGES.items():
            if isinstance(transformer, kind):
                chain = stages(transformer, len(raw))
                return chain, [None] * chain[-1].n_outputs
        known = sorted(_NAMES.get(kind, kind.__name__) for kind in (*_METHODS, *_STAGES))
        raise ExportError(f"{_named(transformer)} cannot be exported. {BEFORE} What can be exported is {', '.join(known)}.")

    def _pipeline(self, pipeline: Pipeline, raw: list[Raw | None]) -> tuple[Chain, list[Raw | None]]:
        chain: Chain = (Columns.identity(len(raw)),)
        for _, step in pipeline.steps:
            stages, raw = self.read(step, raw)
            chain = (*chain, *stages)
        return simplified(chain), raw

    def _side_by_side(self, union: FeatureUnion, raw: list[Raw | None]) -> tuple[Chain, list[Raw | None]]:
        if union.transformer_weights:
            raise ExportError("transformer_weights of a FeatureUnion cannot be exported. Leave them out and fit again.")
        parts = [self.read(part, raw) for _, part in union.transformer_list if not _is_dropped(part)]
        return _together([chain for chain, _ in parts], [kept for _, kept in parts], len(raw))

    def _column_transformer(self, transformer: ColumnTransformer, raw: list[Raw | None]) -> tuple[Chain, list[Raw | None]]:
        chains, kept = [], []
        for _, part, columns in transformer.transformers_:
            if _is_dropped(part):
                continue
            places = _places(columns, transformer)
            if not len(places):
                continue
            chain, own = self.read(part, [raw[place] for place in places])
            chains.append(simplified((Columns.taking(np.asarray(places), len(raw)), *chain)))
            kept.append(own)
        return _together(chains, kept, len(raw))

    def _imputer(self, imputer: SimpleImputer, raw: list[Raw | None]) -> tuple[Chain, list[Raw | None]]:
        is_text = np.asarray(imputer.statistics_).dtype.kind in "OUS"
        if is_text and any(isinstance(value, str) for value in imputer.statistics_):
            if imputer.add_indicator or any(column is None for column in raw):
                raise ExportError("a SimpleImputer of text must come first, without add_indicator.")
            pairs, fills_none = zip(raw, imputer.statistics_, strict=True), imputer.missing_values is None
            filled = [Raw(column.place, fill, fills_none) for column, fill in pairs if column is not None]
            return (Columns.identity(len(raw)),), list(filled)
        if not (isinstance(imputer.missing_values, float) and np.isnan(imputer.missing_values)):
            raise ExportError(
                f"SimpleImputer(missing_values={quoted(imputer.missing_values)}) cannot be exported. Missing numbers must be NaN."
            )
        statistics = np.asarray(imputer.statistics_, dtype=np.float64)
        items: list[Column] = [Number(place, missing=float(fill)) for place, fill in enumerate(statistics) if not np.isnan(fill)]
        if imputer.add_indicator:
            items += [Lookup(int(place), (), (), 0.0, 1.0) for place in imputer.indicator_.features_]
        columns = [raw[item.source] if isinstance(item, Number) else None for item in items]
        kept = [None if column is None else Raw(column.place, is_number=True) for column in columns]
        return (Columns(tuple(items), len(raw)),), list(kept)

    def _encoder(self, encoder: Any, raw: list[Raw | None]) -> tuple[Chain, list[Raw | None]]:
        """Ask the encoder what it makes of every category, one column at a time."""
        first = [categories[0] for categories in encoder.categories_]
        items: list[Column] = []
        for place, categories in enumerate(encoder.categories_):
            is_text = np.asarray(categories).dtype.kind in "OUS"
            keys, gap = self._codes_of(raw[place], categories) if is_text else (self._keys_of(raw[place], categories), None)
            table = np.array([_encoded(encoder, _with(first, place, category)) for category in categories])
            otherwise = _unseen(encoder, first, place, is_text=is_text)
            for column in range(len(items), len(items) + _n_outputs_of(encoder, place, table.shape[1])):
                items.append(_lookup(place, keys, table[:, column], float(otherwise[column]), gap))
        return (Columns(tuple(items), len(raw)),), [None] * len(items)

    def _codes_of(self, column: Raw | None, categories: Any) -> tuple[Floats, int | None]:
        """Return the codes of texts, and which stands for missing text. Note them for the raw input."""
        if column is None or column.is_number:
            raise ExportError("text must reach its encoder as it came, or through a SimpleImputer; another step changed it.")
        texts = tuple(categories)
        known = self.texts.setdefault(column.place, texts)
        if len(known) != len(texts) or any(a != b for a, b in zip(known, texts, strict=True) if not is_missing(a)):
            raise ExportError(f"two encoders know other categories of one input: {listed(known)} and {listed(texts)}.")
        gaps = self.gaps[column.place] = column.gaps(texts)
        return np.arange(len(texts), dtype=np.float64), gaps.code

    def _keys_of(self, column: Raw | None, categories: Any) -> Floats:
        """Return categories that are numbers. Note them for the raw input."""
        keys = np.asarray(categories, dtype=np.float64)
        if column is not None:
            self.keys.setdefault(column.place, keys)
        return keys


def _unseen(encoder: Any, first: list[Any], place: int, *, is_text: bool) -> Floats:
    """Return what the encoder makes of a category that it has not seen: zeros if it raises."""
    if getattr(encoder, "handle_unknown", "ignore") == "error":
        return np.zeros_like(_encoded(encoder, first))
    largest = 0.0 if is_text else np.nanmax(np.abs(np.asarray(encoder.categories_[place], dtype=np.float64)))
    return _encoded(encoder, _with(first, place, UNSEEN_TEXT if is_text else 2.0 * largest + 1.0))


def _n_outputs_of(encoder: Any, place: int, n_outputs: int) -> int:
    """Return how many outputs an input of an encoder has."""
    if not isinstance(encoder, OneHotEncoder):
        return n_outputs // len(encoder.categories_)
    infrequent = getattr(encoder, "infrequent_categories_", None)
    rare = None if infrequent is None else infrequent[place]
    n_levels = len(encoder.categories_[place]) - (0 if rare is None else len(rare) - 1)
    return n_levels - int(encoder.drop_idx_ is not None and encoder.drop_idx_[place] is not None)


def _lookup(source: int, keys: Floats, results: Floats, otherwise: float, gap: int | None) -> Lookup:
    """Return a lookup without the keys that give what any other number gives. NaN gives what the key at `gap` does, if any."""
    is_missing = np.isnan(keys)
    kept = (results != otherwise) & ~is_missing
    missing = float(results[is_missing][0]) if is_missing.any() else otherwise if gap is None else float(results[gap])
    return Lookup(source, tuple(map(float, keys[kept])), tuple(map(float, results[kept])), otherwise, missing)


def _encoded(encoder: Any, row: list[Any]) -> Floats:
    cells = np.empty((1, len(row)), dtype=object)
    cells[0] = row
    with warnings.catch_warnings():  # about names of columns, and about categories that were not seen
        warnings.simplefilter("ignore")
        values = encoder.transform(cells)
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)[0]


def _with(row: list[Any], place: int, value: Any) -> list[Any]:
    return [*row[:place], value, *row[place + 1 :]]


def _is_dropped(part: Any) -> bool:
    return isinstance(part, str) and part == "drop"


def _places(columns: Any, transformer: ColumnTransformer) -> list[int]:
    """Return the places of the columns of a part: names, numbers, slices or masks."""
    n_inputs = transformer.n_features_in_
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            raise ExportError("a ColumnTransformer with slices of names cannot be exported. List the names of its columns.")
        return list(range(n_inputs))[columns]
    columns = list(columns)
    if columns and all(isinstance(column, (bool, np.bool_)) for column in columns):
        return [place for place, is_in in enumerate(columns) if is_in]
    names = list(getattr(transformer, "feature_names_in_", ()))
    return [names.index(column) if isinstance(column, str) else int(column) % n_inputs for column in columns]


def _together(chains: list[Chain], kept: list[list[Raw | None]], n_inputs: int) -> tuple[Chain, list[Raw | None]]:
    return simplified((SideBySide(tuple(chains), n_inputs),)), [column for part in kept for column in part]


# Transformers of numbers ------------------------------------------------------------------------------------------------------


def _standard_scaler(scaler: StandardScaler, n_inputs: int) -> Chain:
    return _scaled(n_inputs, scaler.mean_ if scaler.with_mean else None, scaler.scale_ if scaler.with_std else None)


def _robust_scaler(scaler: RobustScaler, n_inputs: int) -> Chain:
    return _scaled(n_inputs, scaler.center_, scaler.scale_)


def _max_abs_scaler(scaler: MaxAbsScaler, n_inputs: int) -> Chain:
    chain = _scaled(n_inputs, None, scaler.scale_)
    return _kept_in(chain, -1.0, 1.0) if getattr(scaler, "clip", False) else chain


def _min_max_scaler(scaler: MinMaxScaler, n_inputs: int) -> Chain:
    chain = _scaled(n_inputs, -scaler.min_ / scaler.scale_, 1.0 / scaler.scale_)
    return _kept_in(chain, *map(float, scaler.feature_range)) if scaler.clip else chain


def _scaled(n_inputs: int, centers: Any, scales: Any) -> Chain:
    centers = np.zeros(n_inputs) if centers is None else centers
    scales = np.ones(n_inputs) if scales is None else scales
    places = range(n_inputs)
    return (Columns(tuple(Number(place, float(centers[place]), 1.0 / float(scales[place])) for place in places), n_inputs),)


def _kept_in(chain: Chain, lower: float, upper: float) -> Chain:
    (columns,) = chain
    assert isinstance(columns, Columns)
    return (Columns(tuple(item.kept_in(lower, upper) for item in columns.items), columns.n_inputs),)


def _function(transformer: FunctionTransformer, n_inputs: int) -> Chain:
    if transformer.func is not None:
        raise ExportError(
            f"FunctionTransformer({_named(transformer.func)}) cannot be exported, because its formula is not known. {BEFORE}"
        )
    return (Columns.identity(n_inputs),)


def _selector(selector: Any, n_inputs: int) -> Chain:
    return (Columns.taking(selector.get_support(indices=True), n_inputs),)


def _principal_components(pca: PCA, n_inputs: int) -> Chain:
    scales = np.sqrt(np.maximum(pca.explained_variance_, np.finfo(float).eps)) if pca.whiten else np.ones(len(pca.components_))
    matrix = pca.components_ / scales[:, None]
    return Columns(tuple(Number(i, float(mean)) for i, mean in enumerate(pca.mean_)), n_inputs), Mixture(
        matrix, np.zeros(len(matrix))
    )


def _reduced(reduction: KernelDimensionReduction, n_inputs: int) -> Chain:
    components = reduction.components_
    return *_scaled(n_inputs, reduction.mean_, reduction.scale_), Mixture(components, np.zeros(len(components)))


def _powers(transformer: PolynomialFeatures, n_inputs: int) -> Chain:
    degrees = np.asarray(transformer.powers_, dtype=np.intp)
    shape = (n_inputs, max(int(degrees.max(initial=0)), 1))
    return (Products(degrees, np.zeros(shape), np.zeros(shape), np.ones(shape)),)


def _chaos(basis: PolynomialChaosBasis, n_inputs: int) -> Chain:
    distributions = input_distributions(basis.distributions_, n_inputs)
    columns = Columns(tuple(_standard_position(place, one) for place, one in enumerate(distributions)), n_inputs)
    most = max(int(basis.multi_indices_.max(initial=0)), 1)
    shift, back, gain = np.zeros((n_inputs, most)), np.zeros((n_inputs, most)), np.ones((n_inputs, most))
    for place, one in enumerate(distributions):
        centers, squares = one.family.recurrence(np.arange(most + 1, dtype=np.float64), *one.shapes)
        roots = np.sqrt(squares[1:])
        shift[place], back[place, 1:], gain[place] = centers[:-1], roots[:-1], 1.0 / roots
    return columns, Products(np.asarray(basis.multi_indices_, dtype=np.intp), shift, back, gain)


def _standard_position(place: int, one: InputDistribution) -> Number:
    if one.family.is_interval:
        return Number(place, one.loc + 0.5 * one.scale, 2.0 / one.scale)
    return Number(place, one.loc, 1.0 / one.scale)


def _spline_transformer(transformer: SplineTransformer, n_inputs: int) -> Chain:
    if getattr(transformer, "handle_missing", "error") != "error":
        raise ExportError('SplineTransformer(handle_missing="zeros") cannot be exported. Put a SimpleImputer before it.')
    splines = Splines(tuple(_spline(transformer, place) for place in range(n_inputs)), n_inputs)
    if transformer.include_bias:
        return (splines,)
    each = splines.parts[0].coefficients.shape[2]
    kept = [place for place in range(splines.n_outputs) if (place + 1) % each]
    return (splines.only(np.array(kept, dtype=np.intp))[0],)


def _spline(transformer: SplineTransformer, place: int) -> Spline:
    spline, degree, way = transformer.bsplines_[place], transformer.degree, transformer.extrapolation
    knots = np.unique(spline.t[degree : len(spline.t) - degree])
    if len(knots) < 2:
        raise ExportError(f"SplineTransformer has one knot only for input {place}, which does not vary. Leave it out.")
    lower, upper = float(knots[0]), float(knots[-1])
    starts, origins = knots[1:-1], knots[:-1]
    pieces = [_derivatives(spline, origin, degree) for origin in origins]
    if way == "linear":
        beyond = [_derivatives(spline, end, min(degree, 1)) for end in (lower, upper)]
        width = max(degree, 1) + 1
        pieces = [_padded(piece, width) for piece in (beyond[0], *pieces, beyond[1])]
        starts, origins = np.concatenate([[lower], starts, [upper]]), np.concatenate([[lower], origins, [upper]])
    coefficients = np.array(pieces)
    if way in ("constant", "error"):
        return Spline(place, starts, origins, coefficients, lower, upper)
    if way == "periodic":
        return Spline(place, starts, origins, coefficients, lower, period=upper - lower)
    return Spline(place, starts, origins, coefficients)


def _derivatives(spline: Any, origin: float, degree: int) -> Floats:
    """Return the coefficients of the polynomials at the right of a point, from the constant on."""
    return np.array([np.asarray(spline(origin, nu=order)) / factorial(order) for order in range(degree + 1)])


def _padded(piece: Floats, n_rows: int) -> Floats:
    return np.vstack([piece, np.zeros((n_rows - len(piece), piece.shape[1]))])


def _kernels(basis: KernelBasis, n_inputs: int) -> Chain:
    kind = basis.kernel_
    if not isinstance(kind, str) or kind == "precomputed":
        what = 'kernel="precomputed"' if isinstance(kind, str) else f"the kernel function {_named(kind)}"
        raise ExportError(f"{what} cannot be exported, because its formula is not known. Use one of the named kernels.")
    if kind == "polynomial" and not (float(basis.degree).is_integer() and basis.degree >= 1):
        raise ExportError(f"a polynomial kernel of degree {basis.degree:g} cannot be exported. Use a whole degree of at least 1.")
    units = KernelUnits.of(basis)
    used = np.flatnonzero(units.scale > 0.0)
    numbers = tuple(Number(int(place), float(units.origin[place]), float(units.scale[place])) for place in used)
    return Columns(numbers, n_inputs), Kernels(kind, units.centers(basis.centers_), float(basis.coef0), int(basis.degree))


def _process(basis: ProcessBasis, n_inputs: int) -> Chain:
    inverse = np.linalg.solve(basis.root_, np.eye(len(basis.root_)))
    return *_kernels(basis.kernels_, n_inputs), Mixture(np.tril(inverse), np.zeros(len(inverse)))


_METHODS: dict[Any, Callable[..., tuple[Chain, list[Raw | None]]]] = {
    Pipeline: Reader._pipeline,
    FeatureUnion: Reader._side_by_side,
    ColumnTransformer: Reader._column_transformer,
    SimpleImputer: Reader._imputer,
    OneHotEncoder: Reader._encoder,
    OrdinalEncoder: Reader._encoder,
    TargetEncoder: Reader._encoder,
}
_STAGES: dict[Any, Callable[[Any, int], Chain]] = {
    StandardScaler: _standard_scaler,
    RobustScaler: _robust_scaler,
    MaxAbsScaler: _max_abs_scaler,
    MinMaxScaler: _min_max_scaler,
    FunctionTransformer: _function,
    SelectorMixin: _selector,
    PCA: _principal_components,
    KernelDimensionReduction: _reduced,
    PolynomialFeatures: _powers,
    PolynomialChaosBasis: _chaos,
    SplineTransformer: _spline_transformer,
    KernelBasis: _kernels,
    ProcessBasis: _process,
}


_NAMES = {SelectorMixin: "selectors such as SelectKBest", FunctionTransformer: "FunctionTransformer without a function"}


def _named(value: Any) -> str:
    """Return a transformer or a function as Python writes it, without addresses in memory."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", getattr(value, "__name__", None) or quoted(value))


def read_basis(reader: Reader, basis: Any, raw: list[Raw | None]) -> Chain:
    """Return the stages of the basis of a fitted model, which may be some columns of a transformer."""
    if not isinstance(basis, SelectedColumns):
        return reader.read(basis, raw)[0]
    chain, _ = reader.read(basis.transformer, raw)
    kept, used = pruned(chain, np.asarray(basis.indices, dtype=np.intp))
    return (Columns.taking(used, len(raw)), *kept)

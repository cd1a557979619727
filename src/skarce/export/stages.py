"""The steps from a raw row to the functions of a model, as plain numbers. Every exporter writes these few kinds of steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np

from skarce._typing import Floats, Indices
from skarce.export.columns import Columns

VANISHED = 1000.0  # distance beyond which Matern kernels are zero in double precision
PRODUCT_KINDS = ("polynomial", "linear", "sigmoid", "cosine")


class Stage(Protocol):
    """A step that turns some columns into others, row by row."""

    @property
    def n_inputs(self) -> int:
        """The number of columns that it takes."""
        ...

    @property
    def n_outputs(self) -> int:
        """The number of columns that it gives."""
        ...

    def values(self, rows: Floats) -> Floats:
        """Evaluate at rows, in their precision, shape (n_rows, n_outputs)."""
        ...

    def only(self, outputs: Indices) -> tuple[Stage, Indices]:
        """Return a stage with these outputs only, and the inputs that it needs."""
        ...


Chain: TypeAlias = tuple[Stage, ...]


@dataclass(frozen=True)
class Kernels:
    """Kernels at centers. Widths are in the scale of inputs and centers, so there is no gamma.

    ==============  =======================================
    ``rbf``         exp(-r^2), r = |u - v|
    ``laplacian``   exp(-|u - v|_1)
    ``matern32``    (1 + r) exp(-r)
    ``matern52``    (1 + r + r^2 / 3) exp(-r)
    ``polynomial``  (u'v + coef0)^degree, a whole degree
    ``linear``      u'v
    ``sigmoid``     tanh(u'v + coef0)
    ``cosine``      u'v / |u|; the centers have length 1
    ==============  =======================================
    """

    kind: str
    centers: Floats
    coef0: float = 0.0
    degree: int = 1

    @property
    def n_inputs(self) -> int:
        """The number of inputs."""
        return self.centers.shape[1]

    @property
    def n_outputs(self) -> int:
        """The number of centers."""
        return len(self.centers)

    def values(self, rows: Floats) -> Floats:
        """Evaluate at rows, in their precision, shape (n_rows, n_outputs)."""
        centers = self.centers.astype(rows.dtype)
        total = np.zeros((len(rows), len(centers)), dtype=rows.dtype)
        with np.errstate(over="ignore"):
            for u, v in zip(rows.T, centers.T, strict=True):  # one input after the other, as a loop over them adds up
                total += self._term(u[:, None], v)
        return self._shaped(total, rows)

    def diagonal(self, rows: Floats) -> Floats:
        """Return k(u, u) at each row."""
        squares = (rows * rows).sum(axis=1)
        if self.kind == "cosine":
            return (squares > 0).astype(rows.dtype)
        return self._shaped(squares, rows) if self.kind in PRODUCT_KINDS else np.ones_like(squares)

    def only(self, outputs: Indices) -> tuple[Kernels, Indices]:
        """Return a stage with these outputs only, and the inputs that it needs."""
        return replace(self, centers=self.centers[outputs]), np.arange(self.n_inputs)

    def _term(self, u: Floats, v: Floats) -> Floats:
        if self.kind in PRODUCT_KINDS:
            return u * v
        return np.abs(u - v) if self.kind == "laplacian" else (u - v) ** 2

    def _shaped(self, total: Floats, rows: Floats) -> Floats:
        kind = total.dtype.type
        if self.kind in ("rbf", "laplacian"):
            return np.exp(-total)
        if self.kind in ("matern32", "matern52"):
            r = np.minimum(np.sqrt(total), kind(VANISHED))
            return (kind(1) + r + (r * r * kind(1 / 3) if self.kind == "matern52" else kind(0))) * np.exp(-r)
        if self.kind == "polynomial":
            return whole_power(total + kind(self.coef0), self.degree)
        if self.kind == "sigmoid":
            return np.tanh(total + kind(self.coef0))
        if self.kind == "cosine":
            length = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
            return np.divide(total, length, out=np.zeros_like(total), where=length > 0)
        return total


@dataclass(frozen=True)
class Products:
    """Products of polynomials of single inputs, p_0 = 1, p_(n+1) = ((z - a_n) p_n - b_n p_(n-1)) g_n.

    Attributes
    ----------
    degrees : ndarray of shape (n_outputs, n_inputs)
        The degree of each input in each product.
    shift, back, gain : ndarrays of shape (n_inputs, largest degree)
        a, b and g. They are 0, 0 and 1 for plain powers.
    """

    degrees: Indices
    shift: Floats
    back: Floats
    gain: Floats

    @property
    def n_inputs(self) -> int:
        """The number of inputs."""
        return self.degrees.shape[1]

    @property
    def n_outputs(self) -> int:
        """The number of products."""
        return len(self.degrees)

    @property
    def largest(self) -> Indices:
        """The largest degree of each input."""
        return np.asarray(self.degrees.max(axis=0, initial=0))

    def values(self, rows: Floats) -> Floats:
        """Evaluate at rows, in their precision, shape (n_rows, n_outputs)."""
        found = np.ones((len(rows), self.n_outputs), dtype=rows.dtype)
        for place, largest in enumerate(self.largest):
            table = self._table(rows[:, place], place, int(largest))
            for output, degree in enumerate(self.degrees[:, place]):
                if degree:
                    found[:, output] *= table[degree]
        return found

    def _table(self, z: Floats, place: int, largest: int) -> list[Floats]:
        kind = z.dtype.type
        table = [np.ones_like(z)]
        for n in range(largest):
            value = (z - kind(self.shift[place, n])) * table[n]
            if n > 0:
                value -= kind(self.back[place, n]) * table[n - 1]
            table.append(value * kind(self.gain[place, n]))
        return table

    def only(self, outputs: Indices) -> tuple[Products, Indices]:
        """Return a stage with these outputs only, and the inputs that it needs."""
        degrees = self.degrees[outputs]
        used = np.flatnonzero(degrees.any(axis=0))
        most = int(degrees.max(initial=0))
        tables = (table[used, :most] for table in (self.shift, self.back, self.gain))
        return Products(degrees[:, used], *tables), used


@dataclass(frozen=True)
class Spline:
    """Piecewise polynomials of one input.

    Attributes
    ----------
    source : place of the input
    starts : ndarray of shape (n_pieces - 1,), where each piece but the first begins
    origins : ndarray of shape (n_pieces,), which is subtracted from x in each piece
    coefficients : ndarray of shape (n_pieces, degree + 1, n_outputs), from the constant on
    lower, upper : x is kept in this interval
    period : x is moved by multiples of it into [lower, lower + period). 0 if there is none.
    """

    source: int
    starts: Floats
    origins: Floats
    coefficients: Floats
    lower: float = -np.inf
    upper: float = np.inf
    period: float = 0.0

    def values(self, x: Floats) -> Floats:
        """Evaluate in the precision of x, shape (n_rows, n_outputs)."""
        kind = x.dtype.type
        if self.period:
            x = x - kind(self.period) * np.floor((x - kind(self.lower)) / kind(self.period))
        x = np.minimum(np.maximum(x, kind(self.lower)), kind(self.upper))
        piece = np.searchsorted(self.starts.astype(x.dtype), x, side="right")
        z = (x - self.origins.astype(x.dtype)[piece])[:, None]
        coefficients = self.coefficients.astype(x.dtype)[piece]
        total = coefficients[:, -1]
        for degree in range(coefficients.shape[1] - 2, -1, -1):
            total = total * z + coefficients[:, degree]
        return total


@dataclass(frozen=True)
class Splines:
    """Splines of some inputs, side by side."""

    parts: tuple[Spline, ...]
    n_inputs: int

    @property
    def n_outputs(self) -> int:
        """The number of splines."""
        return sum(part.coefficients.shape[2] for part in self.parts)

    def values(self, rows: Floats) -> Floats:
        """Evaluate at rows, in their precision, shape (n_rows, n_outputs)."""
        found = [part.values(rows[:, part.source]) for part in self.parts]
        return np.concatenate(found, axis=1) if found else np.empty((len(rows), 0), dtype=rows.dtype)

    def only(self, outputs: Indices) -> tuple[Stage, Indices]:
        """Return a stage with these outputs only, and the inputs that it needs. Outputs may be in any order."""
        order = np.argsort(outputs, kind="stable")
        ascending = np.asarray(outputs)[order]
        parts, start = [], 0
        for part in self.parts:
            stop = start + part.coefficients.shape[2]
            own = ascending[(ascending >= start) & (ascending < stop)] - start
            if len(own):
                parts.append(replace(part, coefficients=part.coefficients[:, :, own]))
            start = stop
        used = np.array([part.source for part in parts], dtype=np.intp)
        splines = Splines(tuple(replace(part, source=place) for place, part in enumerate(parts)), len(used))
        if (order == np.arange(len(order))).all():
            return splines, used
        back = Columns.taking(np.argsort(order), len(order))
        return SideBySide(((splines, back),), len(used)), used


@dataclass(frozen=True)
class Mixture:
    """Weighted sums of columns: matrix @ x + offset."""

    matrix: Floats
    offset: Floats

    @property
    def n_inputs(self) -> int:
        """The number of inputs."""
        return self.matrix.shape[1]

    @property
    def n_outputs(self) -> int:
        """The number of sums."""
        return len(self.matrix)

    def values(self, rows: Floats) -> Floats:
        """Evaluate at rows, in their precision, shape (n_rows, n_outputs)."""
        total = np.broadcast_to(self.offset.astype(rows.dtype), (len(rows), self.n_outputs)).copy()
        for x, weights in zip(rows.T, self.matrix.T.astype(rows.dtype), strict=True):
            total += x[:, None] * weights
        return total

    def only(self, outputs: Indices) -> tuple[Mixture, Indices]:
        """Return a stage with these outputs only, and the inputs that it needs."""
        used = np.flatnonzero(self.matrix[outputs].any(axis=0))
        return Mixture(self.matrix[np.ix_(outputs, used)], self.offset[outputs]), used


@dataclass(frozen=True)
class SideBySide:
    """Several chains on the same inputs. Their outputs stand side by side."""

    parts: tuple[Chain, ...]
    n_inputs: int

    @property
    def n_outputs(self) -> int:
        """The number of columns of all chains."""
        return sum(part[-1].n_outputs for part in self.parts)

    def values(self, rows: Floats) -> Floats:
        """Evaluate at rows, in their precision, shape (n_rows, n_outputs)."""
        found = [values_of(part, rows) for part in self.parts]
        return np.concatenate(found, axis=1) if found else np.empty((len(rows), 0), dtype=rows.dtype)

    def only(self, outputs: Indices) -> tuple[SideBySide, Indices]:
        """Return a stage with these outputs only, and the inputs that it needs. Neighbors of one part stay together."""
        starts = np.cumsum([0, *(part[-1].n_outputs for part in self.parts)])
        owners = np.searchsorted(starts, outputs, side="right") - 1
        breaks = np.flatnonzero(np.diff(owners)) + 1
        runs = [run for run in np.split(np.asarray(outputs, dtype=np.intp), breaks) if len(run)]
        kept = [pruned(self.parts[owner], run - starts[owner]) for run, owner in zip(runs, owners[np.r_[0, breaks]], strict=False)]
        used = np.unique(np.concatenate([inputs for _, inputs in kept])) if kept else np.empty(0, dtype=np.intp)
        chains = [simplified((Columns.taking(np.searchsorted(used, inputs), len(used)), *chain)) for chain, inputs in kept]
        return SideBySide(tuple(chains), len(used)), used


def values_of(chain: Chain, rows: Floats) -> Floats:
    """Return the outputs of the last stage at rows."""
    for stage in chain:
        rows = stage.values(rows)
    return rows


def pruned(chain: Chain, outputs: Indices) -> tuple[Chain, Indices]:
    """Return a chain that computes only these outputs, and the inputs that it needs."""
    kept: list[Stage] = []
    for stage in reversed(chain):
        if not len(outputs):  # what comes before is not needed
            return (Columns((), 0), *kept), outputs
        stage, outputs = stage.only(outputs)
        kept.insert(0, stage)
    return tuple(kept), outputs


def simplified(chain: Chain) -> Chain:
    """Return the same with neighboring columns joined, also inside of parts, and without columns that change nothing."""
    found: list[Stage] = []
    for stage in _flat(chain):
        if isinstance(stage, Columns) and found and isinstance(found[-1], Columns):
            joined = found[-1].then(stage)
            if joined is not None:
                found[-1] = joined
                continue
        found.append(stage)
    return tuple(found)


def _flat(chain: Chain) -> list[Stage]:
    """Return the stages. Parts side by side that are columns only become one stage of columns."""
    found: list[Stage] = []
    for stage in chain:
        if isinstance(stage, SideBySide):
            parts = tuple(simplified(part) for part in stage.parts)
            if len(parts) == 1:
                found.extend(parts[0])
                continue
            if all(len(part) == 1 and isinstance(part[0], Columns) for part in parts):
                items = tuple(item for part in parts for item in part[0].items)  # type: ignore[attr-defined]
                found.append(Columns(items, stage.n_inputs))
                continue
            stage = replace(stage, parts=parts)
        found.append(stage)
    return found


def whole_power(values: Floats, degree: int) -> Floats:
    """Return a power by repeated multiplication, as the exported code does it."""
    result = values
    for _ in range(degree - 1):
        result = result * values
    return result
